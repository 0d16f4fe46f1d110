//! Exchanges over HTTP/2 with peers that send frames by hand: what the h2 crate would not send.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod scripted;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use leat_h2::hpack::{Decoder, Sensitivity};
use leat_message::{Length, Reason};
use scripted::frames::*;
use scripted::streams::{h2c, spawn_fetch};
use scripted::*;

#[test]
fn requests_are_one_block_in_their_order_with_secrets_apart() {
    on_core(async {
        let seen = Rc::new(RefCell::new(Vec::new()));
        let address = {
            let seen = Rc::clone(&seen);
            framed(frame(SETTINGS, 0, 0, &[]), move |_, mut conn| {
                let seen = Rc::clone(&seen);
                async move {
                    let mut decoder = Decoder::new(4_096);
                    while let Some(request) = conn.next(HEADERS).await {
                        let mut fields = Vec::new();
                        let decoded = decoder.decode(&request.payload, 1 << 16, &mut |name, value, sensitivity| {
                            let mark = if sensitivity == Sensitivity::NeverIndexed { "!" } else { "" };
                            fields.push(format!("{}={}{mark}", name.escape_ascii(), value.escape_ascii()));
                        });
                        assert_eq!((decoded, request.flags), (Ok(()), END_HEADERS));
                        seen.borrow_mut().push(fields);
                        conn.send(ok(request.stream)).await;
                    }
                }
            })
            .await
        };
        let ask = Ask {
            fields: vec![
                ("Accept", "a/b"),
                ("Host", "up.example"),
                ("Cookie", "a=1; b=2"),
                ("X-Mine", "1"),
                ("TE", "trailers"),
                ("Authorization", "none"),
                ("X-Request-Id", "r"),
                ("Traceparent", "t"),
                ("Forwarded", "f"),
                ("X-Forwarded-For", "g"),
                ("Connection", "x"),
                ("Content-Length", "2"),
            ],
            ..post("/p?q", Length::Known(2), "hi")
        };
        let (pools, endpoint) = (pools(), h2c(address));
        for _ in 0..4 {
            assert_eq!(fetch(&pools, &endpoint, &ask).await.unwrap().text(), "ok");
        }
        let expected = [
            ":method=POST",
            ":scheme=http",
            ":path=/p?q!",
            ":authority=up.example",
            "accept=a/b",
            "cookie=a=1; b=2!",
            "x-mine=1",
            "te=trailers",
            "authorization=none!",
            "x-request-id=r!",
            "traceparent=t!",
            "forwarded=f!",
            "x-forwarded-for=g!",
            "content-length=2",
        ];
        assert_eq!(*seen.borrow(), vec![expected; 4]);
    });
}

#[test]
fn requests_of_one_turn_leave_in_one_write() {
    on_core(async {
        use tokio::io::AsyncReadExt;
        let reads = Rc::new(RefCell::new(Vec::new()));
        let address = {
            let reads = Rc::clone(&reads);
            framed(frame(SETTINGS, 0, 0, &[]), move |_, mut conn| {
                let reads = Rc::clone(&reads);
                async move {
                    let first = conn.next(HEADERS).await.unwrap();
                    conn.send(ok(first.stream)).await;
                    let mut block = vec![0; 64 * 1024];
                    loop {
                        let count = conn.0.read(&mut block).await.unwrap_or(0);
                        if count == 0 {
                            return;
                        }
                        let heads: Vec<u32> = frames(&block[..count])
                            .iter()
                            .filter(|frame| frame.kind == HEADERS)
                            .map(|frame| frame.stream)
                            .collect();
                        conn.send(heads.iter().flat_map(|&stream| ok(stream)).collect::<Vec<u8>>()).await;
                        reads.borrow_mut().push(heads.len());
                    }
                }
            })
            .await
        };
        let (pools, endpoint) = (pools(), h2c(address));
        fetch(&pools, &endpoint, &get("/")).await.unwrap();
        for _ in 0..3 {
            let tasks: Vec<_> = (0..20).map(|_| spawn_fetch(&pools, &endpoint)).collect();
            for task in tasks {
                assert_eq!(task.await.unwrap().unwrap(), "ok");
            }
        }
        assert_eq!(reads.borrow().iter().copied().filter(|&heads| heads > 0).collect::<Vec<_>>(), [20, 20, 20]);
    });
}

#[test]
fn a_response_that_is_none_fails_its_request_alone() {
    let (long, longest) = ("x".repeat(1_000), "y".repeat(9_000));
    let too_many: Vec<(&str, &str)> = (0..201).map(|_| ("a", "b")).collect();
    let too_long: Vec<(&str, &str)> = (0..8).map(|_| ("a", &longest[..])).collect();
    let in_frames = |stream: u32, fields: &[(&str, &str)]| {
        let block = block(&[&[(":status", "200")], fields].concat());
        let mut frames = Vec::new();
        for (at, piece) in block.chunks(16_000).enumerate() {
            let flags = if (at + 1) * 16_000 >= block.len() { END_HEADERS } else { 0 };
            frames.extend(frame(if at == 0 { HEADERS } else { 9 }, flags, stream, piece));
        }
        frames
    };
    type Answer<'a> = Box<dyn Fn(u32) -> Vec<u8> + 'a>;
    let head = |fields: &'static [(&'static str, &'static str)]| -> Answer<'static> {
        Box::new(move |stream| frame(HEADERS, END_HEADERS | END_STREAM, stream, &block(fields)))
    };
    let get_ = get("/");
    let asks_head = Ask { method: "HEAD", ..get("/") };
    let cases: Vec<(&str, &Ask, Answer<'_>, Reason)> = vec![
        ("no status", &get_, head(&[("a", "b")]), Reason::UpstreamInvalid),
        ("a status that is none", &get_, head(&[(":status", "2x0")]), Reason::UpstreamInvalid),
        ("a status that nobody knows", &get_, head(&[(":status", "600")]), Reason::UpstreamInvalid),
        ("a path", &get_, head(&[(":status", "200"), (":path", "/")]), Reason::UpstreamInvalid),
        ("upper case", &get_, head(&[(":status", "200"), ("A", "b")]), Reason::UpstreamInvalid),
        ("a line break", &get_, head(&[(":status", "200"), ("a", "b\r\nc: d")]), Reason::UpstreamInvalid),
        ("a control", &get_, head(&[(":status", "200"), ("a", "\x01")]), Reason::UpstreamInvalid),
        ("connection", &get_, head(&[(":status", "200"), ("connection", "close")]), Reason::UpstreamInvalid),
        ("chunked", &get_, head(&[(":status", "200"), ("transfer-encoding", "chunked")]), Reason::UpstreamInvalid),
        (
            "two lengths",
            &get_,
            head(&[(":status", "200"), ("content-length", "0"), ("content-length", "1")]),
            Reason::UpstreamInvalid,
        ),
        (
            "a length without a body",
            &get_,
            head(&[(":status", "200"), ("content-length", "1")]),
            Reason::UpstreamInvalid,
        ),
        ("an interim end", &get_, head(&[(":status", "103")]), Reason::UpstreamInvalid),
        ("DATA first", &get_, Box::new(|stream| data(stream, b"x", true)), Reason::UpstreamInvalid),
        (
            "a second head",
            &get_,
            Box::new(|stream| answer(stream, "200", &[], false).repeat(2)),
            Reason::UpstreamInvalid,
        ),
        (
            "too much",
            &get_,
            Box::new(|stream| {
                [answer(stream, "200", &[("content-length", "1")], false), data(stream, b"xy", true)].concat()
            }),
            Reason::UpstreamInvalid,
        ),
        (
            "too little",
            &get_,
            Box::new(|stream| {
                [answer(stream, "200", &[("content-length", "3")], false), data(stream, b"xy", true)].concat()
            }),
            Reason::UpstreamInvalid,
        ),
        ("a body of HEAD", &asks_head, Box::new(ok), Reason::UpstreamInvalid),
        (
            "a body of 204",
            &get_,
            Box::new(|stream| [answer(stream, "204", &[], false), data(stream, b"x", true)].concat()),
            Reason::UpstreamInvalid,
        ),
        (
            "seventeen interim heads",
            &get_,
            Box::new(|stream| answer(stream, "103", &[], false).repeat(17)),
            Reason::UpstreamInvalid,
        ),
        (
            "too many fields",
            &get_,
            Box::new(|stream| answer(stream, "200", &too_many, true)),
            Reason::UpstreamHeadBytes,
        ),
        (
            "too many of an interim head",
            &get_,
            Box::new(|stream| answer(stream, "103", &too_many, false)),
            Reason::UpstreamInvalid,
        ),
        ("a head that is too long", &get_, Box::new(|stream| in_frames(stream, &too_long)), Reason::UpstreamInvalid),
        ("too wide a window", &get_, Box::new(|stream| window_update(stream, 0x7fff_ffff)), Reason::UpstreamInvalid),
        ("no window", &get_, Box::new(|stream| window_update(stream, 0)), Reason::UpstreamInvalid),
        ("a reset", &get_, Box::new(|stream| reset(stream, CANCEL)), Reason::UpstreamReset),
        ("a refusal", &get_, Box::new(|stream| reset(stream, REFUSED_STREAM)), Reason::UpstreamReset),
    ];
    on_core(async {
        for (name, ask, make, reason) in cases {
            // Made before, since the peer's task outlives them.
            let answers: Rc<Vec<Vec<u8>>> = Rc::new([1, 3].iter().map(|&stream| make(stream)).collect());
            let address = answering(move |stream| match answers.get(stream as usize / 2) {
                Some(answer) => answer.clone(),
                None => ok(stream),
            })
            .await;
            let (pools, endpoint) = (pools(), h2c(address));
            for _ in 0..2 {
                assert_eq!(fetch(&pools, &endpoint, ask).await, Err(reason), "{name}");
            }
            assert_eq!(fetch(&pools, &endpoint, &get("/")).await.unwrap().text(), "ok", "{name}");
            assert_eq!((pools.stats_of(&endpoint).connects, pools.stats_of(&endpoint).in_use), (1, 0), "{name}");
        }
        // As much as may be.
        let fields: Vec<(String, String)> = (0..60).map(|number| (format!("x-{number}"), long.clone())).collect();
        let listed: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (&name[..], &value[..])).collect();
        let long = [in_frames(1, &listed), data(1, b"ok", true)].concat();
        let address = answering(move |_| long.clone()).await;
        let answer = fetch(&pools(), &h2c(address), &get("/")).await.unwrap();
        assert_eq!((answer.text().as_str(), answer.fields), ("ok", fields));
    });
}

#[test]
fn responses_without_a_body_say_so() {
    on_core(async {
        for (method, status, fields, ends, length) in [
            ("HEAD", "200", &[("content-length", "5")][..], true, Length::None),
            ("HEAD", "200", &[("content-length", "5")], false, Length::None),
            ("GET", "204", &[], false, Length::None),
            ("GET", "304", &[("content-length", "5")], true, Length::None),
            ("GET", "304", &[("content-length", "5")], false, Length::None),
            ("GET", "200", &[("content-length", "0")], true, Length::Known(0)),
            ("GET", "200", &[], true, Length::None),
            ("GET", "200", &[], false, Length::Stream),
        ] {
            let address = answering(move |stream| {
                [answer(stream, status, fields, ends), if ends { Vec::new() } else { data(stream, b"", true) }].concat()
            })
            .await;
            let (pools, endpoint) = (pools(), h2c(address));
            for _ in 0..2 {
                let answer = fetch(&pools, &endpoint, &Ask { method, ..get("/") }).await.unwrap();
                assert_eq!((answer.length, answer.body.len()), (length, 0), "{method} {status} {ends}");
            }
            assert_eq!(pools.stats_of(&endpoint).connects, 1);
        }
    });
}

#[test]
fn what_still_comes_for_a_request_that_was_given_up_is_ignored() {
    on_core(async {
        const GIVEN_UP: usize = 8;
        let codes = Rc::new(RefCell::new(Vec::new()));
        let address = {
            let codes = Rc::clone(&codes);
            framed(frame(SETTINGS, 0, 0, &[]), move |_, mut conn| {
                let codes = Rc::clone(&codes);
                async move {
                    for _ in 0..GIVEN_UP {
                        let stream = conn.next(HEADERS).await.unwrap().stream;
                        conn.send(answer(stream, "200", &[], false)).await;
                        let frame = conn.next(RST_STREAM).await.unwrap();
                        // As much as its window has room for. Together that is twice the window of the connection.
                        conn.send(data(stream, &[0; 16_000], false).repeat(64)).await;
                        conn.send(frame_of_trailers(stream)).await;
                        codes.borrow_mut().push((frame.stream, frame.number(0)));
                    }
                    serve(conn).await;
                }
            })
            .await
        };
        let (pools, endpoint) = (pools(), h2c(address));
        for number in 0..GIVEN_UP {
            let mut call = pools.lease(&endpoint).await.unwrap();
            begin(&mut call, &get("/"));
            assert_eq!(std::future::poll_fn(|cx| call.poll_response(cx)).await, Ok(200));
            drop(call);
            let told = (2 * number as u32 + 1, CANCEL);
            eventually("the peer hears of it", || codes.borrow().last() == Some(&told)).await;
        }
        assert_eq!(fetch(&pools, &endpoint, &get("/")).await.unwrap().text(), "ok");
        assert_eq!(pools.stats_of(&endpoint).connects, 1);
    });
}

#[test]
fn a_response_that_is_whole_before_its_request_ends_the_exchange() {
    // Whatever follows it, and whether its end was said or not.
    let ends: [(&str, Vec<u8>, bool); 6] = [
        ("an end and a reset", [data(1, b"big", true), reset(1, NO_ERROR)].concat(), true),
        ("a reset that means no error", [data(1, b"big", false), reset(1, NO_ERROR)].concat(), true),
        ("an end and an error", [data(1, b"big", true), reset(1, CANCEL)].concat(), true),
        ("an error", [data(1, b"big", false), reset(1, CANCEL)].concat(), false),
        ("an end and a goodbye", [data(1, b"big", true), go_away(1, ENHANCE_YOUR_CALM)].concat(), true),
        ("an end", data(1, b"big", true), true),
    ];
    on_core(async {
        for (name, end, is_whole) in ends {
            let address = {
                let end = end.clone();
                framed(frame(SETTINGS, 0, 0, &[]), move |_, mut conn| {
                    let end = end.clone();
                    async move {
                        conn.next(DATA).await;
                        conn.send([answer(1, "413", &[], false), end].concat()).await;
                        conn.hold().await;
                    }
                })
                .await
            };
            for length in [Length::Known(5_000_000), Length::Stream] {
                let answer = fetch(&pools(), &h2c(address), &post("/", length, vec![0; 5_000_000])).await;
                match is_whole {
                    true => assert_eq!(answer.unwrap().text(), "big", "{name}"),
                    false => assert_eq!(answer, Err(Reason::UpstreamReset), "{name}"),
                }
            }
        }
    });
}

#[test]
fn a_response_is_read_to_its_end_though_its_connection_is_gone() {
    on_core(async {
        let address = framed(frame(SETTINGS, 0, 0, &[]), |_, mut conn| async move {
            conn.next(HEADERS).await;
            let body = data(1, &[7; 10_000], false).repeat(20);
            let trailers = frame_of_trailers(1);
            conn.send([answer(1, "200", &[], false), body, trailers].concat()).await;
        })
        .await;
        let (pools, endpoint) = (pools(), h2c(address));
        let mut call = pools.lease(&endpoint).await.unwrap();
        begin(&mut call, &get("/"));
        assert_eq!(std::future::poll_fn(|cx| call.poll_response(cx)).await, Ok(200));
        eventually("the connection is gone", || pools.stats_of(&endpoint).open == 0).await;
        let mut got = 0;
        loop {
            let count = lent(&mut call).await.min(999);
            call.consume(count);
            got += count;
            if count == 0 {
                break;
            }
        }
        assert_eq!((got, call.trailers().map(strings)), (200_000, Some(vec![("x".to_owned(), "y".to_owned())])));
    });
}

#[test]
fn what_nobody_reads_yet_is_counted_as_memory_and_ends_at_the_window() {
    on_core(async {
        const WINDOW_BYTES: usize = 1024 * 1024;
        let sent = Rc::new(Cell::new(0));
        let address = {
            let sent = Rc::clone(&sent);
            framed(frame(SETTINGS, 0, 0, &[]), move |_, mut conn| {
                let sent = Rc::clone(&sent);
                async move {
                    conn.next(HEADERS).await;
                    conn.send(answer(1, "200", &[], false)).await;
                    // No more than the stream's window.
                    for _ in 0..64 {
                        conn.send(data(1, &[7; 16 * 1024], false)).await;
                        sent.set(sent.get() + 16 * 1024);
                    }
                    let mut given = 0;
                    while given < WINDOW_BYTES / 2 {
                        let Some(frame) = conn.next(WINDOW_UPDATE).await else { return };
                        given += if frame.stream == 1 { frame.number(0) as usize } else { 0 };
                    }
                    conn.send(data(1, b"end", true)).await;
                    conn.hold().await;
                }
            })
            .await
        };
        let before = leat_stream::memory::in_use();
        let (pools, endpoint) = (pools(), h2c(address));
        let mut call = pools.lease(&endpoint).await.unwrap();
        begin(&mut call, &get("/"));
        assert_eq!(std::future::poll_fn(|cx| call.poll_response(cx)).await, Ok(200));
        eventually("all is sent", || sent.get() == WINDOW_BYTES).await;
        settle().await;
        let slack = leat_stream::memory::SETTLE_BYTES as usize + 64 * 1024;
        assert!(leat_stream::memory::in_use() + slack >= before + WINDOW_BYTES);
        // What is lent counts until it is given back.
        let taken = lent(&mut call).await;
        assert!(taken > 100_000 && leat_stream::memory::in_use() + slack >= before + WINDOW_BYTES);
        let mut got = 0;
        loop {
            let count = lent(&mut call).await.min(5_000);
            if count == 0 {
                break;
            }
            call.consume(count);
            got += count;
        }
        assert_eq!(got, WINDOW_BYTES + 3);
        assert!(leat_stream::memory::in_use() <= before + slack);
    });
}
