//! Exchanges over HTTP/1.1 with peers that behave, and with peers that do not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod scripted;

use std::cell::RefCell;
use std::rc::Rc;
use std::task::Poll;

use leat_dial::EndpointLimits;
use leat_dial::Protocol;
use leat_message::{Length, Piece, Reason};
use scripted::*;

/// What a response is expected to become.
struct Case {
    name: &'static str,
    answer: &'static str,
    status: u16,
    body: &'static str,
    reusable: bool,
}

#[test]
fn responses_are_delimited_as_their_heads_say() {
    let cases = [
        Case {
            name: "content-length",
            answer: "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello",
            status: 200,
            body: "hello",
            reusable: true,
        },
        Case { name: "no content", answer: "HTTP/1.1 204 No Content\r\n\r\n", status: 204, body: "", reusable: true },
        Case {
            name: "not modified announces what it does not send",
            answer: "HTTP/1.1 304 Not Modified\r\ncontent-length: 99\r\n\r\n",
            status: 304,
            body: "",
            reusable: true,
        },
        Case {
            name: "chunked",
            answer: "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3;x=y\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n",
            status: 200,
            body: "hello",
            reusable: true,
        },
        Case {
            name: "until close",
            answer: "HTTP/1.1 200 OK\r\n\r\nhello",
            status: 200,
            body: "hello",
            reusable: false,
        },
        Case {
            name: "connection: close",
            answer: "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nhi",
            status: 200,
            body: "hi",
            reusable: false,
        },
        Case {
            name: "HTTP/1.0",
            answer: "HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nhi",
            status: 200,
            body: "hi",
            reusable: false,
        },
        Case {
            name: "bytes behind the response",
            answer: "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi there",
            status: 200,
            body: "hi",
            reusable: false,
        },
    ];
    for case in cases {
        on_core(async {
            let answer = case.answer;
            let address = peer(move |_, mut conn| async move {
                conn.head().await;
                conn.send(answer).await;
                if !answer.contains("\r\n\r\nhello") || answer.contains("length") {
                    conn.hold().await;
                }
            })
            .await;
            let (pools, endpoint) = (pools(), h1(address));
            let answer = fetch(&pools, &endpoint, &get("/")).await.unwrap();
            assert_eq!((answer.status, answer.text().as_str()), (case.status, case.body), "{}", case.name);
            assert_eq!(pools.stats_of(&endpoint).idle, usize::from(case.reusable), "{}", case.name);
            assert_eq!(pools.stats_of(&endpoint).open, usize::from(case.reusable), "{}", case.name);
        });
    }
}

#[test]
fn a_response_split_at_every_byte_is_the_same() {
    on_core(async {
        let answer = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n\
            HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: 1\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\nX-T: 2\r\n\r\n";
        let address = peer(move |number, mut conn| async move {
            conn.head().await;
            let (first, second) = answer.split_at(number);
            conn.send(first).await;
            tokio::task::yield_now().await;
            settle().await;
            conn.send(second).await;
        })
        .await;
        let pools = pools();
        // A fresh connection each time, so that its number is the place of the split.
        let limits = EndpointLimits { idle_time_ms: 0, ..EndpointLimits::default() };
        let endpoint = endpoint(address, Protocol::H1, limits);
        for _ in 0..answer.len() {
            let answer = fetch(&pools, &endpoint, &get("/")).await.unwrap();
            assert_eq!(answer.interims, [103]);
            assert_eq!(answer.text(), "abc");
            assert_eq!(answer.field("X-A"), Some("1"));
            assert_eq!(answer.trailers, [("X-T".to_owned(), "2".to_owned())]);
        }
    });
}

#[test]
fn requests_arrive_as_they_were_written() {
    let big = vec![b'x'; 200_000];
    let chunks = |body: &[u8]| -> Vec<u8> {
        let mut out = Vec::new();
        for part in body.chunks(64 * 1024) {
            out.extend_from_slice(format!("{:x}\r\n", part.len()).as_bytes());
            out.extend_from_slice(part);
            out.extend_from_slice(b"\r\n");
        }
        out
    };
    let head = |method: &str, framing: &str| format!("{method} /p?q HTTP/1.1\r\nHost: up.example\r\n{framing}\r\n");
    let trailers = Ask { trailers: vec![("X-Sum", "9")], ..post("/p?q", Length::Stream, "abc") };
    let forbidden = Ask { trailers: vec![("Content-Length", "9")], ..post("/p?q", Length::Stream, "abc") };
    let cases: Vec<(Ask, Vec<u8>)> = vec![
        (get("/p?q"), head("GET", "").into()),
        (post("/p?q", Length::Known(0), ""), head("POST", "content-length: 0\r\n").into()),
        (post("/p?q", Length::Known(3), "abc"), [head("POST", "content-length: 3\r\n").as_bytes(), b"abc"].concat()),
        (
            post("/p?q", Length::Known(200_000), big.clone()),
            [head("POST", "content-length: 200000\r\n").as_bytes(), &big].concat(),
        ),
        (
            post("/p?q", Length::Stream, "abc"),
            [head("POST", "transfer-encoding: chunked\r\n").as_bytes(), b"3\r\nabc\r\n0\r\n\r\n"].concat(),
        ),
        (
            post("/p?q", Length::Stream, big.clone()),
            [head("POST", "transfer-encoding: chunked\r\n").as_bytes(), &chunks(&big), b"0\r\n\r\n"].concat(),
        ),
        (
            trailers,
            [head("POST", "transfer-encoding: chunked\r\n").as_bytes(), b"3\r\nabc\r\n0\r\nX-Sum: 9\r\n\r\n"].concat(),
        ),
        (forbidden, [head("POST", "transfer-encoding: chunked\r\n").as_bytes(), b"3\r\nabc\r\n0\r\n\r\n"].concat()),
    ];
    for (ask, wanted) in cases {
        on_core(async {
            let got = Rc::new(RefCell::new(Vec::new()));
            let (seen, len) = (Rc::clone(&got), wanted.len());
            let address = peer(move |_, mut conn| {
                let seen = Rc::clone(&seen);
                async move {
                    let bytes = conn.bytes(len).await;
                    seen.borrow_mut().extend(bytes);
                    conn.send("HTTP/1.1 204 No Content\r\n\r\n").await;
                    conn.hold().await;
                }
            })
            .await;
            let (pools, endpoint) = (pools(), h1(address));
            assert_eq!(fetch(&pools, &endpoint, &ask).await.unwrap().status, 204);
            assert!(
                *got.borrow() == wanted,
                "{}",
                String::from_utf8_lossy(&got.borrow()[..got.borrow().len().min(300)])
            );
            assert_eq!(pools.stats_of(&endpoint).idle, 1);
        });
    }
}

#[test]
fn head_and_first_bytes_leave_in_one_write() {
    on_core(async {
        for (length, body) in [(Length::Known(3), vec![b'a'; 3]), (Length::Known(60_000), vec![b'b'; 60_000])] {
            let first = Rc::new(RefCell::new(0));
            let seen = Rc::clone(&first);
            let address = peer(move |_, conn| {
                let seen = Rc::clone(&seen);
                async move {
                    conn.0.readable().await.unwrap();
                    let mut bytes = vec![0; 200_000];
                    *seen.borrow_mut() = conn.0.try_read(&mut bytes).unwrap();
                    conn.hold().await;
                }
            })
            .await;
            let pools = pools();
            let endpoint = h1(address);
            let mut call = pools.lease(&endpoint).await.unwrap();
            begin(&mut call, &post("/", length, ""));
            std::future::poll_fn(|cx| {
                assert!(call.poll_send(cx, &body).is_ready());
                call.poll_flush(cx)
            })
            .await
            .unwrap();
            eventually("the peer reads", || *first.borrow() > body.len()).await;
        }
    });
}

#[test]
fn an_early_response_is_read_while_the_request_is_sent() {
    on_core(async {
        let address = peer(|_, mut conn| async move {
            conn.head().await;
            conn.send("HTTP/1.1 413 Content Too Large\r\ncontent-length: 3\r\n\r\nbig").await;
            // Reads nothing more: the request's body can never be sent whole.
            std::future::pending::<()>().await;
        })
        .await;
        for length in [Length::Known(50_000_000), Length::Stream] {
            let (pools, endpoint) = (pools(), h1(address));
            let answer = fetch(&pools, &endpoint, &post("/", length, vec![0; 50_000_000])).await.unwrap();
            assert_eq!((answer.status, answer.text().as_str()), (413, "big"));
            assert_eq!(
                pools.stats_of(&endpoint).open,
                0,
                "the request is unfinished, so the connection is no more used"
            );
        }
    });
}

#[test]
fn an_early_response_is_read_although_the_peer_has_closed() {
    on_core(async {
        let address = peer(|_, mut conn| async move {
            conn.head().await;
            conn.send("HTTP/1.1 401 Unauthorized\r\nconnection: close\r\ncontent-length: 2\r\n\r\nno").await;
            // Closed with unread bytes, which resets the connection.
        })
        .await;
        let (pools, endpoint) = (pools(), h1(address));
        let mut call = pools.lease(&endpoint).await.unwrap();
        let ask = post("/", Length::Known(3_000_000), vec![0; 1_000_000]);
        let answer = drive(&mut call, &ask).await.unwrap();
        assert_eq!((answer.status, answer.text().as_str()), (401, "no"));
        // What is sent now goes nowhere, and is no error.
        settle().await;
        for _ in 0..2 {
            std::future::poll_fn(|cx| call.poll_send(cx, &[0; 1_000_000])).await.unwrap();
        }
    });
}

#[test]
fn a_peer_that_does_not_read_holds_the_sender_up() {
    on_core(async {
        let address = peer(|_, conn| async move {
            let _open = conn;
            std::future::pending::<()>().await;
        })
        .await;
        for length in [Length::Known(u64::MAX), Length::Stream] {
            let (pools, endpoint) = (pools(), h1(address));
            let mut call = pools.lease(&endpoint).await.unwrap();
            begin(&mut call, &post("/", length, ""));
            let mut sent = 0u64;
            let block = vec![0; 128 * 1024];
            for _ in 0..200 {
                let polled = std::future::poll_fn(|cx| Poll::Ready(call.poll_send(cx, &block))).await;
                match polled {
                    Poll::Ready(taken) => sent += taken.unwrap() as u64,
                    Poll::Pending => settle().await,
                }
            }
            assert!(sent < 20_000_000, "took {sent} bytes that nobody reads");
        }
    });
}

#[test]
fn a_slow_peer_gets_every_byte() {
    on_core(async {
        let size = 3_000_000;
        let address = peer(move |_, mut conn| async move {
            let head = conn.head().await;
            let mut body = Vec::new();
            while body.len() < size {
                settle().await;
                if head.contains("chunked") {
                    let line = conn.until(b"\r\n").await;
                    let len = usize::from_str_radix(std::str::from_utf8(&line[..line.len() - 2]).unwrap(), 16).unwrap();
                    body.extend(conn.bytes(len).await);
                    conn.bytes(2).await;
                } else {
                    body.extend(conn.bytes(60_000).await);
                }
            }
            let right = body.len() == size && body.iter().enumerate().all(|(at, &byte)| byte == (at % 251) as u8);
            conn.send(format!("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n{right:<5}")).await;
        })
        .await;
        let body: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
        for length in [Length::Known(size as u64), Length::Stream] {
            let (pools, endpoint) = (pools(), h1(address));
            assert_eq!(fetch(&pools, &endpoint, &post("/", length, body.clone())).await.unwrap().text(), "true ");
        }
    });
}

#[test]
fn interim_responses_are_passed_on_and_bounded() {
    on_core(async {
        let many = peer(|_, mut conn| async move {
            conn.head().await;
            conn.send("HTTP/1.1 100 Continue\r\n\r\n".repeat(3)).await;
            conn.send("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
            conn.hold().await;
        })
        .await;
        let endless = peer(|_, mut conn| async move {
            conn.head().await;
            conn.send("HTTP/1.1 102 Processing\r\n\r\n".repeat(100)).await;
            conn.hold().await;
        })
        .await;
        let pools = pools();
        let answer = fetch(&pools, &h1(many), &get("/")).await.unwrap();
        assert_eq!((answer.interims.as_slice(), answer.status), (&[100, 100, 100][..], 200));
        assert_eq!(fetch(&pools, &h1(endless), &get("/")).await.unwrap_err(), Reason::UpstreamInvalid);
    });
}

#[test]
fn what_is_no_response_is_refused_with_a_reason() {
    let long = format!("HTTP/1.1 200 OK\r\nx: {}\r\n", "a".repeat(70_000));
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "x: y\r\n".repeat(300));
    let cases: Vec<(String, Reason, bool)> = vec![
        ("SSH-2.0-OpenSSH_9.2\r\n".into(), Reason::UpstreamInvalid, true),
        ("\0\0\0\u{6}\u{4}\0\0\0\0\0".into(), Reason::UpstreamInvalid, true),
        ("HTTP/2.0 200 OK\r\n\r\n".into(), Reason::UpstreamInvalid, true),
        ("HTTP/1.1 99 X\r\n\r\n".into(), Reason::UpstreamInvalid, true),
        ("HTTP/1.1 200 OK\nx: y\n\n".into(), Reason::UpstreamInvalid, true),
        ("HTTP/1.1 200 OK\r\nx : y\r\n\r\n".into(), Reason::UpstreamInvalid, true),
        ("HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab".into(), Reason::UpstreamInvalid, true),
        (
            "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n".into(),
            Reason::UpstreamInvalid,
            true,
        ),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-1\r\n".into(), Reason::UpstreamInvalid, true),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n".into(), Reason::UpstreamInvalid, true),
        (long, Reason::UpstreamHeadBytes, true),
        (many, Reason::UpstreamHeadBytes, true),
        ("".into(), Reason::UpstreamReset, false),
        ("HTTP/1.1 200".into(), Reason::UpstreamReset, false),
        ("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhel".into(), Reason::UpstreamReset, false),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel".into(), Reason::UpstreamReset, false),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nhel\r\n0\r\n".into(), Reason::UpstreamReset, false),
    ];
    for (answer, reason, hold) in cases {
        on_core(async {
            let name = answer.chars().take(60).collect::<String>();
            let address = peer(move |_, mut conn| {
                let answer = answer.clone();
                async move {
                    conn.head().await;
                    conn.send(answer).await;
                    if hold {
                        conn.hold().await;
                    }
                }
            })
            .await;
            let (pools, endpoint) = (pools(), h1(address));
            let mut call = pools.lease(&endpoint).await.unwrap();
            assert_eq!(drive(&mut call, &get("/")).await, Err(reason), "{name:?}");
            assert_eq!(call.response_started(), !name.is_empty(), "{name:?}");
            assert_eq!(call.detail().is_some(), reason != Reason::UpstreamReset, "{name:?}");
            drop(call);
            assert_eq!(pools.stats_of(&endpoint).open, 0, "{name:?}");
        });
    }
}

#[test]
fn a_reset_in_the_middle_of_a_body_is_no_end() {
    on_core(async {
        for head in ["content-length: 9\r\n", "transfer-encoding: chunked\r\n", ""] {
            let address = peer(move |_, mut conn| async move {
                conn.head().await;
                conn.send(format!("HTTP/1.1 200 OK\r\n{head}\r\n3\r\nabc")).await;
                settle().await;
                conn.reset();
            })
            .await;
            let (pools, endpoint) = (pools(), h1(address));
            assert_eq!(fetch(&pools, &endpoint, &get("/")).await.unwrap_err(), Reason::UpstreamReset, "{head}");
        }
    });
}

#[test]
fn a_reset_while_the_request_is_sent_is_told_by_the_response() {
    on_core(async {
        let address = peer(|_, mut conn| async move {
            conn.head().await;
            conn.reset();
        })
        .await;
        for length in [Length::Known(50_000_000), Length::Stream] {
            let (pools, endpoint) = (pools(), h1(address));
            let mut call = pools.lease(&endpoint).await.unwrap();
            let ask = post("/", length, vec![0; 50_000_000]);
            assert_eq!(drive(&mut call, &ask).await, Err(Reason::UpstreamReset));
            assert!(call.body_taken() && !call.was_reused() && !call.response_started());
        }
    });
}

#[test]
fn a_head_request_has_no_body_to_read() {
    on_core(async {
        let address = repeating("HTTP/1.1 200 OK\r\ncontent-length: 1234\r\n\r\n").await;
        let (pools, endpoint) = (pools(), h1(address));
        let ask = Ask { method: "HEAD", ..get("/") };
        for _ in 0..2 {
            let answer = fetch(&pools, &endpoint, &ask).await.unwrap();
            assert_eq!((answer.length, answer.field("content-length")), (Length::None, Some("1234")));
        }
        assert_eq!((pools.stats_of(&endpoint).connects, pools.stats_of(&endpoint).reuses), (1, 1));
    });
}

#[test]
fn sending_other_than_announced_is_our_own_fault_and_costs_the_connection() {
    on_core(async {
        let address = peer(|_, conn| conn.hold()).await;
        let (pools, endpoint) = (pools(), h1(address));

        let mut call = pools.lease(&endpoint).await.unwrap();
        begin(&mut call, &post("/", Length::Known(2), ""));
        let sent = std::future::poll_fn(|cx| call.poll_send(cx, b"abc")).await;
        assert_eq!(sent, Err(Reason::HandlerFailed));
        drop(call);

        let mut call = pools.lease(&endpoint).await.unwrap();
        begin(&mut call, &post("/", Length::Known(2), ""));
        std::future::poll_fn(|cx| call.poll_send(cx, b"a")).await.unwrap();
        call.end(None);
        assert_eq!(std::future::poll_fn(|cx| call.poll_flush(cx)).await, Err(Reason::HandlerFailed));
        drop(call);
        assert_eq!(pools.stats_of(&endpoint).open, 0);
    });
}

#[test]
fn a_protocol_that_was_not_asked_for_is_refused_and_ends_the_connection() {
    on_core(async {
        let address = peer(|number, mut conn| async move {
            // The connection may have served another exchange, which asked.
            if number > 0 {
                conn.head().await;
                conn.send("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
            }
            conn.head().await;
            let early = if number == 2 { "HTTP/1.1 103 Early Hints\r\n\r\n" } else { "" };
            conn.send(format!(
                "{early}HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\nhello"
            ))
            .await;
            conn.hold().await;
        })
        .await;
        let (pools, endpoint) = (pools(), h1(address));
        let upgrade = Ask { fields: vec![("Connection", "Upgrade"), ("Upgrade", "echo")], ..get("/") };
        let connect = Ask { method: "CONNECT", ..get("ignored") };
        for (before, ask) in [(None, get("/")), (Some(&upgrade), get("/")), (Some(&upgrade), connect)] {
            if let Some(ask) = before {
                assert_eq!(fetch(&pools, &endpoint, ask).await.unwrap().status, 200);
            }
            assert_eq!(fetch(&pools, &endpoint, &ask).await, Err(Reason::UpstreamUpgrade), "{}", ask.method);
            assert_eq!(pools.stats_of(&endpoint).open, 0);
        }
        // Asked again it says the same, so that nobody who waits for a final head waits for ever.
        let mut call = pools.lease(&endpoint).await.unwrap();
        assert_eq!(drive(&mut call, &get("/")).await.unwrap().status, 200);
        drop(call);
        let mut call = pools.lease(&endpoint).await.unwrap();
        begin(&mut call, &get("/"));
        for _ in 0..2 {
            assert_eq!(std::future::poll_fn(|cx| call.poll_response(cx)).await, Err(Reason::UpstreamUpgrade));
        }
    });
}

#[test]
fn a_tunnel_carries_bytes_both_ways_and_closes_by_halves() {
    on_core(async {
        let address = peer(|_, mut conn| async move {
            let head = conn.head().await;
            let status = if head.starts_with("CONNECT up.example HTTP/1.1\r\n") {
                "200 OK"
            } else {
                "101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo"
            };
            // The first bytes of the tunnel come with the head.
            conn.send(format!("HTTP/1.1 {status}\r\n\r\nhello")).await;
            let all = conn.rest().await;
            conn.send(all).await;
        })
        .await;
        let upgrade = Ask { fields: vec![("connection", "upgrade"), ("upgrade", "echo")], ..get("/") };
        for ask in [upgrade, Ask { method: "CONNECT", ..get("ignored") }] {
            let (pools, endpoint) = (pools(), h1(address));
            let mut call = pools.lease(&endpoint).await.unwrap();
            let answer = drive(&mut call, &ask).await.unwrap();
            assert_eq!(answer.length, Length::Tunnel);
            let sent: Vec<u8> = (0..300_000u32).map(|at| at as u8).collect();
            let mut at = 0;
            while at < sent.len() {
                at += std::future::poll_fn(|cx| call.poll_send(cx, &sent[at..])).await.unwrap();
            }
            call.end(None);
            std::future::poll_fn(|cx| call.poll_flush(cx)).await.unwrap();
            let mut got = Vec::new();
            loop {
                let count = std::future::poll_fn(|cx| {
                    call.poll_body(cx).map(|piece| match piece.unwrap() {
                        Piece::Data(bytes) => {
                            got.extend_from_slice(bytes);
                            bytes.len()
                        }
                        Piece::End => 0,
                    })
                })
                .await;
                if count == 0 {
                    break;
                }
                call.consume(count);
            }
            assert!(got == [b"hello", &sent[..]].concat());
            drop(call);
            assert_eq!(pools.stats_of(&endpoint).open, 0);
        }
    });
}
