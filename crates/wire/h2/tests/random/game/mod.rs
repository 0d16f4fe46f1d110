//! One game: a script of bytes chooses what the client sends and what the server does. It is played twice, once with all
//! that the client sends in one piece and once with it in many; both must come out alike.

mod answers;
mod caller;
mod client;
pub(crate) mod duel;
mod frames;
mod server;
mod source;
mod view;

use answers::Answers;
use caller::Caller;
use client::Client;
pub(crate) use duel::duel;
use leat_h2::Settings;
use server::{Options, Server};
use source::Source;

/// What happened in games.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// Requests that the server was told of.
    pub(crate) requests: u64,
    /// Replies that the client got to their end.
    pub(crate) whole_replies: u64,
    /// Games at whose end all that was held could be sent.
    pub(crate) settled: u64,
    /// Bytes of requests' bodies, and of replies'.
    pub(crate) body_bytes: u64,
    pub(crate) data_bytes: u64,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.whole_replies += other.whole_replies;
        self.settled += other.settled;
        self.body_bytes += other.body_bytes;
        self.data_bytes += other.data_bytes;
    }
}

/// How what the client sends is cut.
#[derive(Clone, Copy, Debug)]
enum Cut {
    Nowhere,
    /// Into pieces that follow from this.
    Pieces(u32),
}

impl Cut {
    /// The length of the next piece.
    fn len(&mut self) -> usize {
        match self {
            Self::Nowhere => usize::MAX,
            Self::Pieces(state) => {
                *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                [1, 1, 2, 3, 9, 10, 60, 1_000][(*state >> 29) as usize]
            }
        }
    }
}

/// Plays a game.
///
/// # Panics
/// Where something comes out that may not.
pub(crate) fn play(script: &[u8]) -> Tally {
    let (tally, trace) = play_once(script, Cut::Nowhere);
    let seed = script.iter().fold(7, |sum: u32, &byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    let (_, other) = play_once(script, Cut::Pieces(seed));
    for (step, (one, other)) in trace.iter().zip(&other).enumerate() {
        assert!(one == other, "step {step}:\n{one}\nor, in pieces,\n{other}");
    }
    assert_eq!(trace.len(), other.len());
    tally
}

/// Plays a game the other way round: the server is the random one.
///
/// # Panics
/// Where something comes out that may not.
pub(crate) fn call(script: &[u8]) -> Tally {
    let (tally, trace) = call_once(script, Cut::Nowhere);
    let seed = script.iter().fold(7, |sum: u32, &byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    let (_, other) = call_once(script, Cut::Pieces(seed));
    for (step, (one, other)) in trace.iter().zip(&other).enumerate() {
        assert!(one == other, "step {step}:\n{one}\nor, in pieces,\n{other}");
    }
    assert_eq!(trace.len(), other.len());
    tally
}

fn call_once(script: &[u8], cut: Cut) -> (Tally, Vec<String>) {
    let source = &mut Source::new(script);
    let settings = settings(source);
    let (keeps_written, opens_each) = (source.once_in(2), source.once_in(2));
    let mut answers = Answers::new();
    let mut caller = Caller::new(Options { settings, cut, keeps_written, opens_each });
    let mut bytes = Vec::new();
    answers.begin(source, &mut bytes);
    while !caller.is_lost() {
        answers.frames(caller.opened(), source, &mut bytes);
        caller.receive(&std::mem::take(&mut bytes), source, &mut answers);
        caller.act(source);
        if source.is_empty() {
            break;
        }
    }
    caller.settle(source, &mut answers);
    caller.result()
}

fn settings(source: &mut Source<'_>) -> Settings {
    Settings {
        streams_max: source.pick(&[100, 5, 1]),
        stream_window_bytes: source.pick(&[262_144, 65_535, 1_000]),
        connection_window_bytes: source.pick(&[1 << 20, 65_535]),
        head_bytes_max: source.pick(&[16_384, 400]),
        output_bytes_max: source.pick(&[65_536, 5_000, 200]),
    }
}

fn play_once(script: &[u8], cut: Cut) -> (Tally, Vec<String>) {
    let source = &mut Source::new(script);
    let settings = settings(source);
    let (keeps_written, opens_each) = (source.once_in(2), source.once_in(2));
    let mut client = Client::new();
    let mut server = Server::new(Options { settings, cut, keeps_written, opens_each });
    let mut bytes = Vec::new();
    client.begin(source, &mut bytes);
    while !server.is_lost() {
        client.frames(source, &mut bytes);
        server.receive(&std::mem::take(&mut bytes), source, &client.heads);
        server.act(source);
        if source.is_empty() {
            break;
        }
    }
    server.settle(source, &client.heads);
    server.result()
}
