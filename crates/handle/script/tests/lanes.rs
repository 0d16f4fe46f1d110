//! Lanes as wholes: memory that runs out, hosts that end, that don't come, and that lie.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use leat_message::{Exchange, Handler, Reason};
use leat_script::{Arrival, Batch, Buffer, Control, Group, Lane, Plan, SLAB_BYTES, SLABS_MAX, Script};
use leat_testkit::{RecordedExchange, eventually};
use support::{END, Engine, Host, KEEP, Record, Replies, head};
use tokio::task::{LocalSet, spawn_local};

#[test]
fn requests_wait_for_memory_and_lose_nothing() {
    let (seed, mut host) = Host::with_slabs(0);
    let engine = Engine::start([seed]);
    let long = "x".repeat(7_000);
    let mut clients: Vec<_> = (0..32).map(|_| engine.client()).collect();
    for (number, client) in clients.iter_mut().enumerate() {
        client.send(format!("GET /{number} HTTP/1.1\r\nhost: a\r\nx-long: {long}\r\n\r\n"));
    }
    // Two slabs at a time, which is the least: that one is full is only seen by what stands in the next one.
    host.lend(2);
    let (mut opened, mut seen) = (0, vec![false; 32]);
    while seen.contains(&false) {
        match host.next() {
            Record::Open { remote, remote_port, local_port, .. } => {
                opened += 1;
                assert_eq!((remote.as_str(), local_port), ("127.0.0.1", u32::from(engine.address.port())));
                assert_ne!(remote_port, 0);
            }
            Record::Request { target, exchange, fields, .. } => {
                assert_eq!(fields[1].2, long);
                let number: usize = target[1..].parse().unwrap();
                assert!(!std::mem::replace(&mut seen[number], true), "{target} came twice");
                host.send(Replies::new().whole(exchange, &target));
            }
            record => panic!("{record:?}"),
        }
    }
    assert_eq!(opened, 32);
    for (number, client) in clients.iter_mut().enumerate() {
        assert_eq!(client.response().text(), format!("/{number}"));
    }
}

#[test]
fn a_body_waits_for_memory_too() {
    let (seed, mut host) = Host::with_slabs(2);
    let engine = Engine::start([seed]);
    let mut client = engine.client();
    client.send("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 200000\r\n\r\n");
    let exchange = host.request();
    client.send_bytes(200_000);
    assert_eq!(host.body(exchange, 200_000), vec![b'x'; 200_000]);
    assert_eq!(host.next(), Record::End { exchange, trailers: vec![] });
}

#[test]
fn no_more_slabs_are_lent_than_can_be_told_apart() {
    let (seed, mut host) = Host::with_slabs(SLABS_MAX);
    let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| host.lend(SLABS_MAX + 1)));
    assert!(refused.is_err());
    host.lend(SLABS_MAX);
    // Nothing is broken by having tried.
    let engine = Engine::start([seed]);
    engine.client().get("/");
    host.request();
}

/// A host that ends in the middle: its requests without a reply's head get the engine's answer, those with one are cut,
/// and the connection goes on with another host.
#[test]
fn another_host_takes_the_next_requests_of_a_connection() {
    let (first, mut leaving) = Host::lane();
    let (second, mut staying) = Host::lane();
    let engine = Engine::start([first, second]);
    let mut clients = [engine.client(), engine.client(), engine.client(), engine.client()];
    // One after the other, so that the lanes take turns.
    let mut at_leaving = Vec::new();
    for (index, client) in clients.iter_mut().enumerate() {
        client.get("/");
        let (leaves, exchange) = eventually("a request at one of the hosts", || {
            [(true, &mut leaving), (false, &mut staying)].into_iter().find_map(|(leaves, host)| match host.now()? {
                Record::Request { exchange, .. } => Some((leaves, exchange)),
                _ => None,
            })
        });
        if leaves {
            at_leaving.push((index, exchange));
        } else {
            staying.send(Replies::new().whole(exchange, "stays"));
            assert_eq!(client.response().text(), "stays");
        }
    }
    let [(unanswered, _), (begun, exchange)] = at_leaving[..] else { panic!("two each: {at_leaving:?}") };
    leaving.send(Replies::new().head(exchange, 0, &head(100), "part"));
    clients[begun].until("part");
    drop(leaving);
    assert_eq!(clients[begun].rest(), b"");
    let response = clients[unanswered].response();
    assert_eq!(response.status, 503);
    assert!(response.text().contains("lane.gone"), "{}", response.text());
    clients[unanswered].get("/again");
    let exchange = staying.request();
    staying.send(Replies::new().whole(exchange, "taken over"));
    assert_eq!(clients[unanswered].response().text(), "taken over");
    // With no host left there is nobody to ask.
    drop(staying);
    clients[unanswered].get("/nobody");
    assert_eq!(clients[unanswered].response().status, 503);
}

/// What was said before the end still arrives, however large it is.
#[test]
fn a_host_that_ends_is_heard_to_its_last_word() {
    let (seed, mut host) = Host::lane();
    let engine = Engine::start([seed]);
    let (mut small, mut large) = (engine.client(), engine.client());
    small.get("/");
    let first = host.request();
    large.get("/");
    let second = host.request();
    let body = vec![b'b'; 20_000_000];
    let replies = Replies::new().whole(first, "small").head(second, 0, &head(body.len()), "");
    host.send(replies.data(second, END | KEEP, "", &[&body]));
    drop(host);
    assert_eq!(small.response().text(), "small");
    large.until("\r\n\r\n");
    large.discard(body.len() as u64);
}

struct Nobody;

impl Control for Nobody {
    fn close(&self) {}
    fn destroy(&self, _reset: bool) {}
}

#[test]
fn a_handshake_that_failed_is_told_to_one_of_the_servers() {
    alone(async {
        let (seed, mut host) = Host::lane();
        let lane = Lane::new(seed);
        spawn_local(Rc::clone(&lane).run());
        let group = Group::default();
        let remote = Arrival { remote: "10.0.0.1".into(), remote_port: 7, ..Arrival::default() };
        let arrival = Arrival { local: "::1".into(), local_port: 8, ..remote };
        // Nobody there to tell.
        group.unshaken(&arrival, "NONE", "none");
        group.join(&lane, 5);
        group.unshaken(&arrival, "ERR_ODD", "how odd");
        let record = loop {
            tokio::task::yield_now().await;
            if let Some(record) = host.now() {
                break record;
            }
        };
        let [remote, local, code, words] = ["10.0.0.1", "::1", "ERR_ODD", "how odd"].map(String::from);
        assert_eq!(record, Record::Unshaken { server: 5, ports: (7, 8), remote, local, code, words });
        std::mem::forget(host);
    });
}

/// A lane and its host on one thread, and a connection of it.
struct Rig {
    host: RefCell<Host>,
    script: Script,
}

impl Rig {
    fn new(slabs: usize) -> Self {
        let (seed, host) = Host::with_slabs(slabs);
        let lane = Lane::new(seed);
        spawn_local(Rc::clone(&lane).run());
        let group = Rc::new(Group::default());
        group.join(&lane, 0);
        let exchange = RecordedExchange::new("GET", "/");
        let script = group.connect(Arrival::default(), exchange.peer(), Rc::new(Nobody)).unwrap();
        Self { host: RefCell::new(host), script }
    }

    /// Gives the exchange to the host, who answers the id of its request with `answer`.
    async fn answered(
        &self,
        exchange: &mut RecordedExchange,
        answer: impl FnOnce(u32, &mut Host),
    ) -> Result<(), Reason> {
        let mut answer = Some(answer);
        let mut outcome = pin!(self.script.exchange(Plan::Request, exchange));
        for _ in 0..1_000 {
            // Others have their turn in between.
            tokio::task::yield_now().await;
            if let Poll::Ready(outcome) = poll_fn(|cx| Poll::Ready(outcome.as_mut().poll(cx))).await {
                return outcome.map_err(|fault| fault.reason);
            }
            let record = self.host.borrow_mut().now();
            if let Some(Record::Request { exchange: id, .. }) = record {
                answer.take().unwrap()(id, &mut self.host.borrow_mut());
            }
        }
        panic!("the exchange does not end");
    }
}

/// Runs both sides of a lane on this thread, with a clock that jumps. The rig is forgotten in the end: a host that ends
/// waits for the engine's thread, which would be its own.
fn alone(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    LocalSet::new().block_on(&runtime, async {
        spawn_local(leat_stream::clock::run());
        test.await;
    });
}

#[test]
fn a_host_that_lends_nothing_for_thirty_seconds_is_blocked() {
    alone(async {
        let rig = Rig::new(0);
        let mut exchange = RecordedExchange::new("GET", "/");
        let start = tokio::time::Instant::now();
        let outcome = rig.script.exchange(Plan::Request, &mut exchange).await;
        assert_eq!(outcome.unwrap_err().reason, Reason::LaneBlocked);
        let waited = start.elapsed();
        assert!((Duration::from_secs(29)..Duration::from_secs(31)).contains(&waited), "{waited:?}");
        std::mem::forget(rig);
    });
}

#[test]
fn a_reply_is_written_in_the_order_of_its_records() {
    alone(async {
        let rig = Rig::new(4);
        let mut exchange = RecordedExchange::new("GET", "/").with_slow_client(3);
        let outcome = rig.answered(&mut exchange, |id, host| {
            host.send(Replies::new().head(id, 0, &head(12), "one ").data(id, 0, "two ", &[b"th", b"re"]).data(
                id,
                END,
                "",
                &[b"e"],
            ));
        });
        assert_eq!(outcome.await, Ok(()));
        assert_eq!((exchange.status(), exchange.verbatim_head()), (200, head(12).as_bytes()));
        assert_eq!(exchange.reply_body(), b"one two three");
        assert!(!exchange.keeps_alive() && exchange.is_complete());
        std::mem::forget(rig);
    });
}

/// Makes the batch for an exchange.
type Lie = Box<dyn Fn(u32) -> Batch>;

/// Batches as a buggy host could send them. The contract of the exchange is held by the recorded one, which panics where
/// it is not.
#[test]
fn a_host_that_lies_breaks_nothing() {
    const MAX: u32 = u32::MAX;
    alone(async {
        let rig = Rig::new(4);
        let cases: Vec<(&str, Lie)> = vec![
            ("a text longer than the batch", Box::new(|id| batch(&[1 | 1 << 8, id, MAX, 0, 200, 5], b"HTTP/", 5, &[]))),
            (
                "a head longer than its text",
                Box::new(|id| batch(&[1 | 1 << 8, id, 5, 0, 200, MAX], b"HTTP/secret", 11, &[])),
            ),
            (
                "more buffers than there are",
                Box::new(|id| batch(&[1 | 1 << 8, id, 5, MAX, 200, 5], b"HTTP/data", 5, &[4])),
            ),
            (
                "buffers longer than the batch",
                Box::new(|id| batch(&[1 | 1 << 8, id, 5, 2, 200, 5], b"HTTP/data", 5, &[MAX, MAX])),
            ),
            ("more text than bytes", Box::new(|id| batch(&[1 | 1 << 8, id, 9, 0, 200, 5], b"HTTP/", 900, &[9]))),
            ("a status that is none", Box::new(|id| batch(&[1 | 1 << 8, id, 5, 0, MAX, 5], b"HTTP/", 5, &[]))),
            ("a kind that is none", Box::new(|id| batch(&[77 | 1 << 8, id, 5, 0, 0, 5], b"HTTP/", 5, &[]))),
            ("data without a head", Box::new(|id| batch(&[2, id, 5, 0, 0, 0], b"HTTP/", 5, &[]))),
            ("an end without a head", Box::new(|id| batch(&[3, id, 5, 0, 0, 0], b"HTTP/", 5, &[]))),
            (
                "two heads",
                Box::new(|id| batch(&[1, id, 5, 0, 200, 5, 1 | 1 << 8, id, 5, 0, 200, 5], b"HTTP/HTTP/", 10, &[])),
            ),
            (
                "an interim head with an end, then one without",
                Box::new(|id| batch(&[1 | 9 << 8, id, 5, 0, 100, 5, 3, id, 0, 0, 0, 0], b"HTTP/", 5, &[])),
            ),
            (
                "trailers that are no lines",
                Box::new(|id| batch(&[1, id, 5, 0, 200, 5, 3, id, 6, 0, 1, 0], b"HTTP/:\n\r:: ", 11, &[])),
            ),
            ("half a record behind a whole one", Box::new(|id| batch(&[5, id, 0, 0, 0, 0, 1, id, 3], b"", 0, &[]))),
            (
                "credit without end",
                Box::new(|id| batch(&[4, id, 0, 0, MAX, 0, 4, id, 0, 0, MAX, 0, 5, id, 0, 0, 0, 0], b"", 0, &[])),
            ),
            (
                "for others",
                Box::new(|id| {
                    batch(
                        &[8, MAX, 0, 0, 0, 0, 7, 12, 0, 0, 0, 0, 1, !id, 1, 1, 1, 1, 5, id, 0, 0, 0, 0],
                        b"x",
                        1,
                        &[7],
                    )
                }),
            ),
        ];
        for (what, make) in cases {
            let mut exchange = RecordedExchange::new("POST", "/").with_body("body");
            let outcome = rig.answered(&mut exchange, |id, host| host.port.send(make(id))).await;
            println!("{what}: {outcome:?}, {exchange:?}");
            let head = exchange.verbatim_head();
            assert!(head.is_empty() || head == b"HTTP/", "{what}: {head:?}");
            assert!(!exchange.reply_body().starts_with(b"secret"), "{what}");
            assert!(outcome.is_ok() == exchange.is_complete(), "{what}: {outcome:?}");
        }
        std::mem::forget(rig);
    });
}

fn batch(words: &[u32], bytes: &[u8], text_bytes: usize, buffers: &[u32]) -> Batch {
    Batch {
        words: words.to_vec(),
        bytes: bytes.to_vec(),
        text_bytes,
        buffers: buffers.iter().map(|&len| Buffer::Copied(len as usize)).collect(),
    }
}

/// Batches of words that mean something about half the time, from a generator that always gives the same ones.
#[test]
fn a_host_that_babbles_breaks_nothing() {
    alone(async {
        let rig = Rig::new(4);
        let mut seed = 0x2545_f491_4f6c_dd1d_u64;
        let mut random = move |below: u32| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed >> 33) as u32 % below
        };
        for _ in 0..3_000 {
            let mut exchange = RecordedExchange::new("POST", "/").with_body("body");
            if random(2) == 0 {
                exchange = exchange.with_slow_client(1 + random(5) as usize);
            }
            let outcome = rig.answered(&mut exchange, |id, host| {
                let mut words = Vec::new();
                for _ in 0..1 + random(6) {
                    let flags = random(32);
                    let kind = 1 + random(8);
                    let target = if random(8) == 0 { random(u32::MAX) } else { id };
                    let small =
                        |random: &mut dyn FnMut(u32) -> u32| if random(8) == 0 { random(u32::MAX) } else { random(9) };
                    words.extend([
                        kind | flags << 8,
                        target,
                        small(&mut random),
                        random(3),
                        small(&mut random) + 199,
                        small(&mut random),
                    ]);
                }
                // So that each ends.
                words.extend([5, id, 0, 0, 0, 0]);
                let text_bytes = random(40) as usize;
                let buffers = [random(9), random(9), random(u32::MAX)];
                host.port.send(batch(&words, &[b'x'; 40], text_bytes, &buffers));
            });
            // Whether it was a reply is not the question, that there is an end is.
            let _ = outcome.await;
        }
        std::mem::forget(rig);
    });
}

/// A connection's record that finds no room is written later, with its offset made right.
#[test]
fn what_is_said_late_is_said_right_and_in_order() {
    let (seed, mut host) = Host::with_slabs(0);
    let engine = Engine::start([seed]);
    let mut gone = engine.client();
    gone.get("/");
    gone.reset();
    let mut client = engine.client();
    client.get("/");
    // The first one has come and gone before there is any memory, or is still to go.
    host.lend(2);
    let Record::Open { connection: first, remote, local, .. } = host.next() else { panic!("the first connection") };
    assert_eq!((remote.as_str(), local.as_str()), ("127.0.0.1", "127.0.0.1"));
    let mut opened = vec![first];
    let exchange = loop {
        match host.next() {
            Record::Open { connection, remote, local, .. } => {
                assert_eq!((remote.as_str(), local.as_str()), ("127.0.0.1", "127.0.0.1"));
                opened.push(connection);
            }
            Record::Closed { connection, .. } => assert!(opened.contains(&connection), "closed before it was opened"),
            Record::Gone { .. } => {}
            Record::Request { connection, exchange, .. } if connection != first => {
                assert!(opened.contains(&connection), "a request of a connection that is not known");
                break exchange;
            }
            Record::Request { .. } => {}
            record => panic!("{record:?}"),
        }
    };
    host.send(Replies::new().whole(exchange, "fine"));
    assert_eq!(client.response().text(), "fine");
}

#[test]
fn what_waits_for_the_host_is_counted() {
    let (seed, mut host) = Host::lane();
    let engine = Engine::start([seed]);
    let mut client = engine.client();
    client.get("/");
    let exchange = host.request();
    host.send(Replies::new().whole(exchange, "x"));
    client.response();
    let load = |count: &std::sync::atomic::AtomicU64| count.load(std::sync::atomic::Ordering::Relaxed);
    let counts = host.port.counts();
    assert_eq!((load(&counts.requests), load(&counts.connections), load(&counts.records)), (1, 1, 2));
    assert_eq!(load(&counts.published_bytes), load(&counts.taken_bytes));
    assert!((1..SLAB_BYTES as u64).contains(&load(&counts.taken_bytes)));
    assert!(load(&counts.wakes) <= 2 && load(&counts.flushes) == 1);
}
