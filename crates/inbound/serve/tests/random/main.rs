//! Mutilated requests of the corpus, in pieces of any size, against whole connections: whatever arrives, a connection
//! answers in well-formed replies, and ends soon after its client has. The same every time: the numbers come from a fixed
//! seed, and time stands still while there is something to do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod corpus;
mod handler;
mod mutation;
mod replies;

use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use leat_message::{Address, Limits, Peer, Profile, Scheme};
use leat_serve::{OnError, Protocol, Service, Site};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::task::LocalSet;

use handler::Behaviours;
use mutation::Random;

/// Connections of a run.
const CONNECTIONS: u64 = 20_000;
/// After its client has ended a connection may drain, linger and wait for half-closed clients; not longer.
const END_WITHIN: Duration = Duration::from_secs(60);
/// Pieces that the bytes are sent in, at most.
const PIECES_MAX: usize = 12;

#[tokio::test(start_paused = true)]
async fn a_connection_answers_in_whole_replies_and_ends_whatever_arrives() {
    let cases = corpus::requests();
    let local = LocalSet::new();
    local.spawn_local(leat_stream::clock::run());
    local
        .run_until(async {
            for seed in 0..CONNECTIONS {
                let mut random = Random::new(seed);
                let bytes = mutation::bytes(&mut random, &cases);
                let protocol = if random.below(8) == 0 { Protocol::Sniff } else { Protocol::Http1 };
                let profile = if random.below(2) == 0 { Profile::Compatible } else { Profile::Strict };
                let got = connection(&mut random, &bytes, protocol, profile).await;
                let shown = || {
                    format!("seed {seed}: {}", bytes.escape_ascii().to_string().chars().take(2_000).collect::<String>())
                };
                let got = got.unwrap_or_else(|| panic!("the connection does not end; {}", shown()));
                if protocol == Protocol::Sniff && bytes.starts_with(b"PRI * HTTP/2.0") {
                    continue;
                }
                if let Err(wrong) = replies::check(&got) {
                    panic!("{wrong}; {}\nanswered {}", shown(), got.escape_ascii());
                }
            }
        })
        .await;
}

/// What a connection answers; `None` if it does not end.
async fn connection(random: &mut Random, bytes: &[u8], protocol: Protocol, profile: Profile) -> Option<Vec<u8>> {
    let (client, server) = UnixStream::pair().unwrap();
    let site = Site {
        handler: Behaviours,
        limits: Limits::default(),
        profile,
        on_error: if random.below(2) == 0 { OnError::Close } else { OnError::Continue },
        drain_grace_ms: 100,
    };
    let peer = Peer { remote: Address::Unix, local: Address::Unix, scheme: Scheme::Http, tls: None };
    let mut serving = pin!(leat_serve::serve(server.into(), Vec::new(), protocol, Rc::new(peer), Service::new(site)));
    let (mut receive, mut send) = client.into_split();
    let mut sizes = Vec::new();
    for _ in 0..random.below(PIECES_MAX) {
        sizes.push(1 + random.below(bytes.len().max(1)));
    }
    let sending = async move {
        let mut rest = bytes;
        for size in sizes {
            let (piece, behind) = rest.split_at(size.min(rest.len()));
            rest = behind;
            if send.write_all(piece).await.is_err() {
                return;
            }
            // The connection is polled in between, so that it meets the piece alone.
            tokio::task::yield_now().await;
        }
        let _ = send.write_all(rest).await;
        let _ = send.shutdown().await;
    };
    let receiving = async move {
        let mut got = Vec::new();
        let _ = receive.read_to_end(&mut got).await;
        got
    };
    let all = async {
        let ((), (), got) = tokio::join!(serving.as_mut(), sending, receiving);
        got
    };
    tokio::time::timeout(END_WITHIN, all).await.ok()
}
