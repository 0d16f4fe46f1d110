//! Requests and replies over real sockets, with a host that answers as JavaScript does.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use leat_message::Reason;
use support::{ACK, END, Engine, Host, INTERIM, KEEP, Record, Replies, head};

const CREDIT_BYTES: usize = leat_script::CREDIT_BYTES;

fn started() -> (Engine, Host) {
    let (seed, host) = Host::lane();
    (Engine::start([seed]), host)
}

/// How a reason is told: none is nought.
fn told(reason: Reason) -> u32 {
    reason as u32 + 1
}

#[test]
fn a_request_is_told_with_its_spans_and_answered_verbatim() {
    let (engine, mut host) = started();
    let mut client = engine.client();
    client.send("GET /a?b=c HTTP/1.1\r\nHost: leat.test\r\nX-Own:  v \r\n\r\n");
    let Record::Open { connection, server, remote, local, remote_port, local_port, flags, .. } = host.next() else {
        panic!("a connection comes first");
    };
    assert_eq!((server, flags), (0, 0));
    assert_eq!((remote.as_str(), local.as_str()), ("127.0.0.1", "127.0.0.1"));
    assert_eq!(local_port, u32::from(engine.address.port()));
    assert_ne!(remote_port, 0);
    let Record::Request { flags, exchange, connection: of, method, minor, target, head: text, length, fields } =
        host.next()
    else {
        panic!("then its request");
    };
    assert_eq!((of, method, minor, target.as_str()), (connection, leat_message::Method::Get as u32 + 1, 1, "/a?b=c"));
    assert_eq!(text, "GET /a?b=c HTTP/1.1\r\nHost: leat.test\r\nX-Own:  v \r\n\r\n");
    assert_eq!((flags, length), (1, 0xffff_ffff));
    let fields: Vec<_> = fields.iter().map(|(id, name, value)| (*id, name.as_str(), value.as_str())).collect();
    assert_eq!(fields, [(leat_message::Name::Host as u32, "Host", "leat.test"), (0, "X-Own", "v")]);
    host.send(Replies::new().whole(exchange, "hello"));
    assert_eq!(client.until("hello"), b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
    // The connection goes on.
    client.get("/again");
    let exchange = host.request();
    host.send(Replies::new().whole(exchange, "again"));
    assert_eq!(client.response().text(), "again");
    drop(client);
    assert_eq!(host.next(), Record::Closed { connection, reason: 0 });
}

#[test]
fn a_small_body_comes_with_its_length_and_its_end() {
    let (engine, mut host) = started();
    let mut client = engine.client();
    client.send("POST / HTTP/1.1\r\nhost: leat.test\r\ncontent-length: 7\r\n\r\n");
    let Record::Open { .. } = host.next() else { panic!() };
    let Record::Request { exchange, flags, length, .. } = host.next() else { panic!() };
    assert_eq!((flags, length), (3, 7));
    client.send("first");
    assert_eq!(host.body(exchange, 5), b"first");
    client.send("-2");
    assert_eq!(host.body(exchange, 2), b"-2");
    assert_eq!(host.next(), Record::End { exchange, trailers: vec![] });
    host.send(Replies::new().whole(exchange, "ok"));
    assert_eq!(client.response().text(), "ok");
}

#[test]
fn trailers_come_with_the_end() {
    let (engine, mut host) = started();
    let mut client = engine.client();
    client.send("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n");
    let exchange = host.request();
    assert_eq!(host.body(exchange, 3), b"abc");
    assert_eq!(host.next(), Record::End { exchange, trailers: vec![("X-Sum".into(), "1".into())] });
    host.send(Replies::new().whole(exchange, ""));
    assert_eq!(client.response().status, 200);
}

/// Heads that are longer than a slab, with others between their parts and less memory than they need.
#[test]
fn a_head_that_is_longer_than_a_slab_comes_in_parts() {
    let (seed, mut host) = Host::with_slabs(2);
    let engine = Engine::generous([seed]);
    let mut clients: Vec<_> = (0..4).map(|_| engine.client()).collect();
    let value = |number: usize| format!("{number}").repeat(50_000 + number * 33_333);
    for (number, client) in clients.iter_mut().enumerate() {
        client.send(format!("GET /{number} HTTP/1.1\r\nHost: leat.test\r\nX-Long: {}\r\n\r\n", value(number)));
    }
    let mut records = std::collections::HashMap::<u32, Vec<u32>>::new();
    let mut seen = 0;
    while seen < clients.len() {
        let request = match host.about_exchange() {
            Record::Part { exchange, total, at, words } => {
                let record = records.entry(exchange).or_default();
                assert_eq!(record.len() * 4, at as usize, "parts come in their order");
                record.extend(words);
                if record.len() * 4 < total as usize {
                    continue;
                }
                assert_eq!(record.len() * 4, total as usize);
                let mut decoded = support::decode(record, 0, total);
                assert_eq!(decoded.len(), 1);
                decoded.remove(0)
            }
            whole => whole,
        };
        let Record::Request { exchange, target, fields, .. } = request else { panic!("{request:?}") };
        let number: usize = target[1..].parse().unwrap();
        assert_eq!((fields[1].1.as_str(), &fields[1].2), ("X-Long", &value(number)));
        host.send(Replies::new().whole(exchange, &target));
        assert_eq!(clients[number].response().text(), target);
        seen += 1;
    }
    // The connection goes on.
    clients[3].get("/after");
    let exchange = host.request();
    host.send(Replies::new().whole(exchange, "x"));
    assert_eq!(clients[3].response().text(), "x");
}

#[test]
fn a_client_that_goes_between_the_parts_of_its_head_is_told_of() {
    let (seed, mut host) = Host::with_slabs(2);
    let engine = Engine::generous([seed]);
    let mut client = engine.client();
    client.send(format!("GET / HTTP/1.1\r\nHost: leat.test\r\nX-Long: {}\r\n\r\n", "x".repeat(400_000)));
    let Record::Part { exchange, at: 0, .. } = host.about_exchange() else { panic!() };
    // No memory for the rest, until the client has gone.
    host.lend(1);
    client.reset();
    host.lend(2);
    let mut last = host.about_exchange();
    while matches!(last, Record::Part { .. }) {
        last = host.about_exchange();
    }
    assert_eq!(last, Record::Gone { exchange, reason: told(Reason::PeerReset) });
}

#[test]
fn a_body_stops_at_its_credit_and_goes_on_when_javascript_reads() {
    let (engine, mut host) = started();
    let mut client = engine.client();
    let size = CREDIT_BYTES + 100_000;
    client.send(format!("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: {size}\r\n\r\n"));
    let exchange = host.request();
    let sent = std::thread::spawn(move || {
        let body: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
        client.send(&body);
        client
    });
    let mut body = host.body(exchange, CREDIT_BYTES);
    assert_eq!(body.len(), CREDIT_BYTES, "not a byte more than the credit");
    // Another exchange shows that the engine has had its turn and sent no more.
    let mut other = engine.client();
    other.get("/other");
    let second = host.request();
    host.send(Replies::new().whole(second, "x").read(exchange, 40_000));
    assert_eq!(other.response().text(), "x");
    body.extend(host.body(exchange, 40_000));
    assert_eq!(body.len(), CREDIT_BYTES + 40_000);
    host.send(Replies::new().read(exchange, 60_000).read(exchange, 1_000_000));
    body.extend(host.body(exchange, 60_000));
    assert_eq!(host.next(), Record::End { exchange, trailers: vec![] });
    assert!(body.iter().enumerate().all(|(at, byte)| *byte == (at % 251) as u8), "every byte, in order");
    host.send(Replies::new().whole(exchange, "done"));
    assert_eq!(sent.join().unwrap().response().text(), "done");
}

/// Pieces of every size, so that they meet the end of a slab in every way.
#[test]
fn no_byte_of_a_body_is_lost_where_a_slab_ends() {
    let (engine, mut host) = started();
    let mut client = engine.client();
    client.send("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3000000\r\n\r\n");
    let exchange = host.request();
    host.send(Replies::new().read(exchange, 3_000_000));
    let sender = std::thread::spawn(move || {
        let body: Vec<u8> = (0..3_000_000).map(|at| (at % 251) as u8).collect();
        let mut at = 0;
        for size in (1..).map(|step| step * 37 % 9_001 + 1) {
            if at == body.len() {
                return client;
            }
            let end = (at + size).min(body.len());
            client.send(&body[at..end]);
            at = end;
        }
        client
    });
    let body = host.body(exchange, 3_000_000);
    assert!(body.iter().enumerate().all(|(at, byte)| *byte == (at % 251) as u8), "every byte, in order");
    assert_eq!(host.next(), Record::End { exchange, trailers: vec![] });
    drop(sender.join().unwrap());
}

#[test]
fn a_reply_in_parts_keeps_the_connection_if_its_last_record_says_so() {
    let (engine, mut host) = started();
    let mut client = engine.client();
    client.get("/");
    let exchange = host.request();
    host.send(Replies::new().head(exchange, 0, &head(9), "one"));
    client.until("one");
    host.send(Replies::new().data(exchange, ACK, "", &[b"tw", b"o"]));
    client.until("two");
    assert_eq!(host.next(), Record::Writable { exchange });
    host.send(Replies::new().data(exchange, 0, "six", &[]).end(exchange, KEEP));
    client.until("six");
    client.get("/next");
    let exchange = host.request();
    host.send(Replies::new().head(exchange, 0, &head(1), "").data(exchange, END, "x", &[]));
    assert_eq!(client.response().text(), "x");
    client.expect_end();
}

#[test]
fn a_client_that_reads_nothing_holds_the_acknowledgement() {
    let (engine, mut host) = started();
    let mut client = engine.client();
    client.get("/");
    let exchange = host.request();
    let part = vec![b'p'; 1024 * 1024];
    let size = 16 * part.len();
    host.send(Replies::new().head(exchange, 0, &head(size), ""));
    for _ in 0..16 {
        host.send(Replies::new().data(exchange, ACK, "", &[&part]));
    }
    // Sockets hold some of it; the last of the sixteen can't have been taken before the client reads.
    let mut other = engine.client();
    other.get("/other");
    let mut taken = 0;
    let second = loop {
        match host.about_exchange() {
            Record::Writable { exchange: of } if of == exchange => taken += 1,
            Record::Request { exchange, .. } => break exchange,
            record => panic!("{record:?}"),
        }
    };
    assert!(taken < 16, "acknowledged what nobody has taken");
    host.send(Replies::new().whole(second, "x").end(exchange, KEEP));
    other.response();
    client.until("\r\n\r\n");
    client.discard(size as u64);
    while taken < 16 {
        assert_eq!(host.about_exchange(), Record::Writable { exchange });
        taken += 1;
    }
}

#[test]
fn interim_heads_go_ahead_and_never_behind_the_final_one() {
    let (engine, mut host) = started();
    let mut client = engine.client();
    client.send("POST / HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n");
    let Record::Open { .. } = host.next() else { panic!() };
    let Record::Request { exchange, flags, .. } = host.next() else { panic!() };
    assert_eq!(flags, 1 | 2);
    let go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    host.send(Replies::new().head(exchange, INTERIM, go_on, ""));
    assert_eq!(client.until("\r\n\r\n"), go_on.as_bytes());
    client.send("hi");
    assert_eq!(host.body(exchange, 2), b"hi");
    let hints = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n";
    host.send(
        Replies::new()
            .head(exchange, INTERIM, hints, "")
            .head(exchange, 0, &head(2), "o")
            .head(exchange, INTERIM, hints, "")
            .data(exchange, END | KEEP, "k", &[]),
    );
    let response = client.response();
    assert_eq!((response.interim.as_slice(), response.text()), (&[103][..], "ok"));
}

#[test]
fn an_exchange_that_is_taken_over_is_bytes_both_ways() {
    let (engine, mut host) = started();
    let mut client = engine.client();
    client.send("GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: own\r\n\r\nearly");
    let Record::Open { connection, .. } = host.next() else { panic!() };
    let Record::Request { exchange, flags, .. } = host.next() else { panic!() };
    assert_eq!(flags & 4, 4);
    host.send(Replies::new().opaque(exchange).data(exchange, ACK, "HTTP/1.1 101 Own\r\n\r\n", &[b"\x00\xff"]));
    assert_eq!(client.until([0, 255]), b"HTTP/1.1 101 Own\r\n\r\n\x00\xff");
    let mut records = vec![host.next(), host.next()];
    records.sort_by_key(|record| matches!(record, Record::Writable { .. }));
    assert_eq!(records, [Record::Data { exchange, bytes: b"early".to_vec() }, Record::Writable { exchange }]);
    client.send("more").close_write();
    assert_eq!(host.body(exchange, 4), b"more");
    assert_eq!(host.next(), Record::Eof { exchange });
    host.send(Replies::new().data(exchange, 0, "bye", &[]).end(exchange, 0));
    assert_eq!(client.rest(), b"bye");
    assert_eq!(host.next(), Record::Closed { connection, reason: 0 });
}

#[test]
fn our_end_of_a_tunnel_leaves_the_other_direction_open() {
    let (engine, mut host) = started();
    let mut client = engine.client();
    client.send("CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n");
    let exchange = host.request();
    host.send(Replies::new().opaque(exchange).data(exchange, 0, "go", &[]).end(exchange, 0));
    assert_eq!(client.until("go"), b"go");
    client.expect_end();
    client.send("still here").close_write();
    assert_eq!(host.body(exchange, 10), b"still here");
    assert_eq!(host.next(), Record::Eof { exchange });
    assert!(matches!(host.next(), Record::Closed { .. }));
}

#[test]
fn bytes_that_are_no_request_are_javascripts_to_answer() {
    let (engine, mut host) = started();
    let mut client = engine.client();
    client.send("what is this\r\n\r\n");
    let Record::Open { connection, .. } = host.next() else { panic!() };
    let record = host.next();
    let Record::Fault { exchange, connection: of, reason, bytes } = record else { panic!("{record:?}") };
    assert_eq!((of, bytes.as_slice()), (connection, &b"what is this\r\n\r\n"[..]));
    assert_ne!(reason, 0);
    host.send(Replies::new().data(exchange, END, "own words", &[]));
    assert_eq!(client.rest(), b"own words");
    assert_eq!(host.next(), Record::Closed { connection, reason });
}

#[test]
fn a_body_that_breaks_the_rules_is_a_fault_of_its_exchange() {
    let (engine, mut host) = started();
    let mut client = engine.client();
    client.send("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n");
    let exchange = host.request();
    client.send("zz\r\n");
    let Record::Fault { exchange: of, reason, bytes, .. } = host.next() else { panic!() };
    assert_eq!((of, bytes.len()), (exchange, 0));
    assert_ne!(reason, 0);
    // A whole reply that was on its way already is as good as raw bytes.
    host.send(Replies::new().whole(exchange, "too late"));
    assert_eq!(client.response().text(), "too late");
    client.expect_end();
}

#[test]
fn an_abort_cuts_off_without_a_word() {
    let (engine, mut host) = started();
    for begun in [false, true] {
        let mut client = engine.client();
        client.get("/");
        let exchange = host.request();
        let replies = Replies::new();
        let replies = if begun { replies.head(exchange, 0, &head(100), "part") } else { replies };
        host.send(replies.abort(exchange));
        let rest = client.rest();
        assert_eq!(rest.ends_with(b"part"), begun, "{rest:?}");
        assert!(begun || rest.is_empty(), "{rest:?}");
        let ended = match host.about_exchange() {
            Record::Gone { exchange: of, reason } if of == exchange => reason,
            record => panic!("{record:?}"),
        };
        assert_eq!(ended, told(Reason::LaneAborted));
    }
}

#[test]
fn javascript_is_told_of_a_client_that_is_gone() {
    let (engine, mut host) = started();
    let client = {
        let mut client = engine.client();
        client.get("/");
        client
    };
    let exchange = host.request();
    client.reset();
    assert_eq!(host.next(), Record::Gone { exchange, reason: told(Reason::PeerReset) });
    // JavaScript has the last word.
    host.send(Replies::new().abort(exchange));
    assert!(matches!(host.next(), Record::Closed { .. }));
    // What comes late hits nobody: not the one that has its place now.
    let mut next = engine.client();
    next.get("/next");
    let second = host.request();
    assert_ne!(exchange, second);
    host.send(Replies::new().whole(exchange, "wrong").abort(exchange).read(exchange, 5).whole(second, "right"));
    assert_eq!(next.response().text(), "right");
}

#[test]
fn a_clients_end_is_told_from_its_reset_and_from_idleness() {
    let (seed, mut host) = Host::lane();
    let engine = Engine::impatient([seed]);
    // With an exchange under way, and between two.
    for reset in [true, false] {
        let reason = told(if reset { Reason::PeerReset } else { Reason::PeerEnded });
        let mut client = engine.client();
        client.get("/");
        let exchange = host.request();
        if reset {
            client.reset()
        } else {
            drop(client)
        }
        assert_eq!(host.about_exchange(), Record::Gone { exchange, reason });
        host.send(Replies::new().abort(exchange));
        assert!(matches!(host.next(), Record::Closed { .. }));

        let mut client = engine.client();
        client.get("/");
        let Record::Open { connection, .. } = host.next() else { panic!() };
        let exchange = host.request();
        host.send(Replies::new().whole(exchange, "x"));
        client.response();
        if reset {
            client.reset()
        } else {
            drop(client)
        }
        assert_eq!(host.next(), Record::Closed { connection, reason: if reset { reason } else { 0 } });
    }
    let mut client = engine.client();
    client.get("/");
    let Record::Open { connection, .. } = host.next() else { panic!() };
    let exchange = host.request();
    host.send(Replies::new().whole(exchange, "x"));
    client.response();
    client.expect_end();
    assert_eq!(host.next(), Record::Closed { connection, reason: told(Reason::TimeIdle) });
}

/// Whether what follows is a body or another protocol's is JavaScript's word.
#[test]
fn what_follows_a_request_to_upgrade_waits_for_a_decision() {
    let (seed, mut host) = Host::lane();
    let engine = Engine::generous([seed]);
    for upgrades in [true, false] {
        let mut client = engine.client();
        client.send(
            "POST / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: x\r\ntransfer-encoding: chunked\r\n\r\n\
             4\r\nbody\r\n0\r\n\r\n",
        );
        let Record::Open { .. } = host.next() else { panic!() };
        let Record::Request { exchange, flags, .. } = host.next() else { panic!() };
        assert_eq!(flags, 1 | 2 | 4);
        // Another connection shows that the engine has had its turn.
        let mut other = engine.client();
        other.get("/other");
        let second = host.request();
        host.send(Replies::new().whole(second, "x"));
        drop(other.response());
        drop(other);
        assert!(matches!(host.next(), Record::Closed { .. }));
        let replies = if upgrades { Replies::new().opaque(exchange) } else { Replies::new() };
        host.send(replies.read(exchange, 1_000));
        if upgrades {
            assert_eq!(host.body(exchange, 14), b"4\r\nbody\r\n0\r\n\r\n");
            host.send(Replies::new().end(exchange, 0).abort(exchange));
        } else {
            assert_eq!(host.body(exchange, 4), b"body");
            assert_eq!(host.next(), Record::End { exchange, trailers: vec![] });
            host.send(Replies::new().whole(exchange, "x"));
            assert_eq!(client.response().text(), "x");
        }
        drop(client);
        while !matches!(host.next(), Record::Closed { .. }) {}
    }
}

#[test]
fn a_tunnel_is_told_of_its_clients_reset() {
    let (engine, mut host) = started();
    let mut client = engine.client();
    client.send("GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n");
    let exchange = host.request();
    host.send(Replies::new().opaque(exchange).data(exchange, 0, "there", &[]));
    client.until("there");
    client.reset();
    assert_eq!(host.about_exchange(), Record::Gone { exchange, reason: told(Reason::PeerReset) });
}

#[test]
fn javascript_may_end_a_connection_by_a_reset() {
    let (engine, mut host) = started();
    // In place of a reply, in the middle of one, between two, and in a tunnel; beside each what ends in the ordinary way.
    for when in 0..4 {
        for reset in [true, false] {
            let mut client = engine.client();
            client.send("GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n");
            let Record::Open { connection, .. } = host.next() else { panic!() };
            let exchange = host.request();
            let mut replies = match when {
                0 => Replies::new(),
                1 => Replies::new().head(exchange, 0, &head(9), "there"),
                2 => Replies::new().whole(exchange, "there"),
                _ => Replies::new().opaque(exchange).data(exchange, 0, "there", &[]),
            };
            if when > 0 {
                host.send(replies);
                client.until("there");
                replies = Replies::new();
            }
            host.send(match (when, reset) {
                (2, true) => replies.reset(connection),
                (2, false) => replies.destroy(connection),
                (_, true) => replies.abort_by_reset(exchange),
                (_, false) => replies.abort(exchange),
            });
            assert_eq!(client.was_reset(), reset, "{when}");
            while !matches!(host.next(), Record::Closed { .. }) {}
        }
    }
}

#[test]
fn connections_are_closed_and_destroyed_by_javascript_and_their_numbers_are_nobody_elses() {
    let (engine, mut host) = started();
    let mut first = engine.client();
    first.get("/");
    let Record::Open { connection, .. } = host.next() else { panic!() };
    let Record::Request { exchange, .. } = host.next() else { panic!() };
    // In the middle of an exchange: its reply still comes, and says nothing of it.
    host.send(Replies::new().close(connection).whole(exchange, "last"));
    assert_eq!(first.response().text(), "last");
    first.expect_end();
    assert_eq!(host.next(), Record::Closed { connection, reason: 0 });

    let mut second = engine.client();
    second.get("/");
    let Record::Open { connection: successor, .. } = host.next() else { panic!() };
    let Record::Request { exchange, .. } = host.next() else { panic!() };
    assert_ne!(connection, successor);
    // Late words for the first one don't hit the one that has its place.
    host.send(Replies::new().destroy(connection).close(connection).whole(exchange, "fine"));
    assert_eq!(second.response().text(), "fine");
    second.get("/more");
    let Record::Request { .. } = host.next() else { panic!() };
    host.send(Replies::new().destroy(successor));
    assert_eq!(second.rest(), b"");
    assert_eq!(host.next(), Record::Closed { connection: successor, reason: 0 });
}

#[test]
fn requests_of_many_sockets_come_in_few_batches_and_batches_are_used_again() {
    let (engine, mut host) = started();
    let mut clients: Vec<_> = (0..32).map(|_| engine.client()).collect();
    let mut memory = std::collections::HashSet::new();
    for _ in 0..20 {
        clients.iter_mut().for_each(|client| {
            client.get("/");
        });
        let mut replies = Replies::new();
        for _ in 0..32 {
            let exchange = host.request();
            replies = replies.whole(exchange, "hello");
        }
        let mut batch = host.port.batch();
        replies.fill(&mut batch);
        memory.insert(batch.bytes.as_ptr() as usize);
        host.port.send(batch);
        clients.iter_mut().for_each(|client| assert_eq!(client.response().text(), "hello"));
    }
    assert!(memory.len() < 10, "of 20 batches {} had memory of their own", memory.len());
}
