//! The engine's side of a lane, with the host of the lane's own tests.

use leat_script::CREDIT_BYTES;
use leat_testkit::Client;

use crate::support::{ACK, END, Engine, Host, KEEP, Record, Replies, head};
use crate::{COUNTED, ROUNDS, WARM_UP};

/// A path through a lane.
pub(crate) struct LanePath {
    pub(crate) name: &'static str,
    request: &'static str,
    /// How the host answers the request, once its body has come.
    answer: fn(Replies, u32) -> Replies,
    /// Requests at once, on as many connections.
    connections: usize,
}

pub(crate) const PATHS: [LanePath; 4] = [
    LanePath { name: "h1 lane", request: GET, answer: whole, connections: 1 },
    LanePath { name: "h1 lane, 16 connections at once (all of them)", request: GET, answer: whole, connections: 16 },
    LanePath { name: "h1 lane, POST with a small body", request: POST, answer: whole, connections: 1 },
    LanePath { name: "h1 lane, reply in three parts", request: GET, answer: parts, connections: 1 },
];

const GET: &str = "GET /users/12 HTTP/1.1\r\nhost: leat.test\r\nuser-agent: test\r\naccept: */*\r\n\r\n";
const POST: &str = "POST /users HTTP/1.1\r\nhost: leat.test\r\ncontent-length: 5\r\n\r\nhello";

fn whole(replies: Replies, exchange: u32) -> Replies {
    replies.whole(exchange, "Hello world!\n")
}

fn parts(replies: Replies, exchange: u32) -> Replies {
    let replies = replies.head(exchange, 0, &head(9), "one").data(exchange, ACK, "", &[b"two"]);
    replies.data(exchange, END | KEEP, "six", &[])
}

/// Allocations of the engine's thread for each request, or for all that come at once.
pub(crate) fn count(path: &'static LanePath) -> u64 {
    let (seed, mut host) = Host::lane();
    let engine = Engine::start([seed]);
    let mut clients: Vec<Client> = (0..path.connections).map(|_| engine.client()).collect();
    let rounds = WARM_UP + COUNTED * (ROUNDS as u64 + 1);
    let answering = std::thread::spawn(move || {
        for _ in 0..rounds {
            let mut replies = Replies::new();
            for _ in 0..path.connections {
                let exchange = host.request_with_body(CREDIT_BYTES);
                replies = (path.answer)(replies, exchange);
            }
            host.send(replies);
        }
        // What comes last is said of connections that end.
        while !matches!(host.next(), Record::Closed { .. }) {}
    });
    let mut ask = || {
        clients.iter_mut().for_each(|client| {
            client.send(path.request);
        });
        clients.iter_mut().for_each(|client| {
            client.response();
        });
    };
    (0..WARM_UP).for_each(|_| ask());
    if std::env::var("LEAT_TRACE_ALLOCATIONS").is_ok_and(|name| name == path.name) {
        engine.trace(100);
    }
    (0..COUNTED).for_each(|_| ask());
    engine.trace(0);
    let counts = (0..ROUNDS).map(|_| {
        let before = engine.allocations();
        (0..COUNTED).for_each(|_| ask());
        engine.allocations().since(before).count
    });
    let least = counts.min().unwrap();
    drop(clients);
    answering.join().unwrap();
    (least + COUNTED / 2) / COUNTED
}
