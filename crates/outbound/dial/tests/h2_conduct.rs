//! HTTP/2 connections with peers that send frames by hand: how they end, and that nobody waits in vain or spins.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod scripted;

use std::cell::Cell;
use std::rc::Rc;
use std::task::Poll;

use leat_dial::{EndpointLimits, Protocol};
use leat_message::{Length, Reason};
use scripted::frames::*;
use scripted::streams::{h2c, spawn_fetch};
use scripted::*;

#[test]
fn an_error_of_the_connection_ends_it_with_a_code_and_all_requests_on_it() {
    let late = |frames: Vec<u8>| [reset(1, CANCEL), frames].concat();
    let cases: Vec<(&str, Vec<u8>, u32)> = vec![
        ("a frame that is too long", frame(0xee, 0, 0, &[0; 16_385]), FRAME_SIZE_ERROR),
        ("a push", frame(PUSH_PROMISE, END_HEADERS, 1, &[0, 0, 0, 2]), PROTOCOL_ERROR),
        ("a stream of its own", answer(2, "200", &[], true), PROTOCOL_ERROR),
        ("a stream that will be", answer(99, "200", &[], true), PROTOCOL_ERROR),
        ("DATA of a stream that will be", data(99, b"x", false), PROTOCOL_ERROR),
        ("a window of a stream that will be", window_update(99, 1), PROTOCOL_ERROR),
        ("a reset of a stream that will be", reset(99, CANCEL), PROTOCOL_ERROR),
        ("a block that is none", frame(HEADERS, END_HEADERS, 1, &[0x80]), COMPRESSION_ERROR),
        ("an index that nobody has", frame(HEADERS, END_HEADERS, 1, &[0xff, 0x80, 0x01]), COMPRESSION_ERROR),
        ("too wide a window", window_update(0, 0x7fff_ffff), FLOW_CONTROL_ERROR),
        ("no window", window_update(0, 0), PROTOCOL_ERROR),
        ("pushes", setting(2, 1), PROTOCOL_ERROR),
        ("a narrow frame", setting(5, 1), PROTOCOL_ERROR),
        ("half a setting", frame(SETTINGS, 0, 0, &[0; 5]), FRAME_SIZE_ERROR),
        ("a later goodbye", [go_away(3, 0), go_away(5, 0)].concat(), PROTOCOL_ERROR),
        ("PING", frame(PING, 0, 0, &[0; 8]).repeat(500), ENHANCE_YOUR_CALM),
        ("SETTINGS", setting(4, 1).repeat(500), ENHANCE_YOUR_CALM),
        ("unknown frames", frame(0xee, 0, 1, b"x").repeat(500), ENHANCE_YOUR_CALM),
        ("empty DATA", [answer(1, "200", &[], false), data(1, b"", false).repeat(500)].concat(), ENHANCE_YOUR_CALM),
        ("CONTINUATION", [frame(HEADERS, 0, 1, &[]), frame(9, 0, 1, b"").repeat(50)].concat(), ENHANCE_YOUR_CALM),
        (
            "an endless head",
            [frame(HEADERS, 0, 1, &[]), frame(9, 0, 1, &[0; 16_000]).repeat(9)].concat(),
            ENHANCE_YOUR_CALM,
        ),
        ("WINDOW_UPDATE", window_update(0, 1).repeat(21_000), ENHANCE_YOUR_CALM),
        ("resets of what is over", late(reset(1, CANCEL).repeat(500)), ENHANCE_YOUR_CALM),
        ("DATA of what is over", late(data(1, b"x", false).repeat(30_000)), ENHANCE_YOUR_CALM),
    ];
    on_core(async {
        for (name, bytes, code) in cases {
            let told = Rc::new(Cell::new(None));
            let address = {
                let (told, bytes) = (Rc::clone(&told), bytes.clone());
                framed(frame(SETTINGS, 0, 0, &[]), move |number, mut conn| {
                    let (told, bytes) = (Rc::clone(&told), bytes.clone());
                    async move {
                        if number > 0 {
                            return serve(conn).await;
                        }
                        conn.next(HEADERS).await;
                        conn.next(HEADERS).await;
                        let (mut reads, mut writes) = conn.0.into_split();
                        // Both at once: it takes no more once it has heard enough.
                        tokio::task::spawn_local(async move {
                            use tokio::io::AsyncWriteExt;
                            let _ = writes.write_all(&bytes).await;
                            std::future::pending::<()>().await;
                        });
                        let mut all = Vec::new();
                        use tokio::io::AsyncReadExt;
                        let _ = reads.read_to_end(&mut all).await;
                        told.set(frames(&all).iter().find(|frame| frame.kind == GOAWAY).map(|frame| frame.number(4)));
                    }
                })
                .await
            };
            let (pools, endpoint) = (pools(), h2c(address));
            let mut calls = [pools.lease(&endpoint).await.unwrap(), pools.lease(&endpoint).await.unwrap()];
            let asks = [get("/"), get("/")];
            let [first, second] = &mut calls;
            let (_, reason) = tokio::join!(drive(first, &asks[0]), drive(second, &asks[1]));
            assert_eq!(reason, Err(Reason::UpstreamInvalid), "{name}");
            drop(calls);
            eventually(name, || told.get() == Some(code)).await;
            assert_eq!(fetch(&pools, &endpoint, &get("/")).await.unwrap().text(), "ok", "{name}");
            assert_eq!(pools.stats_of(&endpoint).connects, 2, "{name}");
        }
    });
}

#[test]
fn a_goodbye_says_which_requests_are_safe_to_repeat() {
    on_core(async {
        let address = framed(frame(SETTINGS, 0, 0, &[]), |number, mut conn| async move {
            if number > 0 {
                return serve(conn).await;
            }
            conn.next(HEADERS).await;
            conn.next(HEADERS).await;
            conn.send(go_away(1, NO_ERROR)).await;
            settle().await;
            conn.send(ok(1)).await;
            conn.hold().await;
        })
        .await;
        let (pools, endpoint) = (pools(), h2c(address));
        let mut calls = [pools.lease(&endpoint).await.unwrap(), pools.lease(&endpoint).await.unwrap()];
        let mut late = pools.lease(&endpoint).await.unwrap();
        let [first, second] = &mut calls;
        let asks = [get("/"), get("/")];
        let (answers, refused) = tokio::join!(drive(first, &asks[0]), drive(second, &asks[1]));
        assert_eq!((answers.unwrap().text().as_str(), refused), ("ok", Err(Reason::UpstreamReset)));
        assert!(second.was_refused() && !second.response_started() && !first.was_refused());
        // One that had its seat before: nothing goes out.
        assert_eq!(drive(&mut late, &get("/")).await, Err(Reason::UpstreamReset));
        assert!(late.was_refused());
        drop((calls, late));
        assert_eq!(fetch(&pools, &endpoint, &get("/")).await.unwrap().text(), "ok");
        eventually("the first is gone", || pools.stats_of(&endpoint).open == 1).await;
    });
}

#[test]
fn a_connection_that_breaks_is_not_known_to_have_done_nothing() {
    on_core(async {
        let address = framed(frame(SETTINGS, 0, 0, &[]), |_, mut conn| async move {
            conn.next(HEADERS).await;
        })
        .await;
        let (pools, endpoint) = (pools(), h2c(address));
        let mut call = pools.lease(&endpoint).await.unwrap();
        assert_eq!(drive(&mut call, &get("/")).await, Err(Reason::UpstreamReset));
        assert!(!call.was_refused() && !call.response_started());
    });
}

#[test]
fn the_peers_limit_of_streams_is_kept_whenever_it_changes() {
    on_core(async {
        // None at first: they come later.
        let address = framed(setting(3, 0), |_, mut conn| async move {
            settle().await;
            conn.send(setting(3, 2)).await;
            let first = conn.next(HEADERS).await.unwrap();
            let second = conn.next(HEADERS).await.unwrap();
            // One from here on, though two are in use.
            conn.send(setting(3, 1)).await;
            conn.send(ok(first.stream)).await;
            settle().await;
            conn.send(frame(PING, 0, 0, b"12345678")).await;
            // Nothing is opened as long as the second is.
            loop {
                let frame = conn.frame().await.unwrap();
                assert!(frame.kind != HEADERS);
                if frame.kind == PING {
                    break;
                }
            }
            conn.send(ok(second.stream)).await;
            serve(conn).await;
        })
        .await;
        let limits = EndpointLimits { h2_connections_max: 1, ..EndpointLimits::default() };
        let (pools, endpoint) = (pools(), endpoint(address, Protocol::H2c, limits));
        let tasks: Vec<_> = (0..5).map(|_| spawn_fetch(&pools, &endpoint)).collect();
        for task in tasks {
            assert_eq!(task.await.unwrap().unwrap(), "ok");
        }
        assert_eq!((pools.stats_of(&endpoint).connects, pools.stats_of(&endpoint).waiting), (1, 0));
    });
}

#[test]
fn a_request_that_finds_fewer_streams_than_it_was_promised_goes_nowhere() {
    on_core(async {
        let address = framed(setting(3, 2), |_, mut conn| async move {
            let first = conn.next(HEADERS).await.unwrap();
            conn.send(setting(3, 1)).await;
            conn.next(DATA).await;
            conn.send(ok(first.stream)).await;
            serve(conn).await;
        })
        .await;
        let (pools, endpoint) = (pools(), h2c(address));
        let mut first = pools.lease(&endpoint).await.unwrap();
        let mut second = pools.lease(&endpoint).await.unwrap();
        begin(&mut first, &post("/", Length::Stream, ""));
        eventually("the limit arrives", || pools.try_lease(&endpoint).is_none()).await;
        settle().await;
        assert_eq!(drive(&mut second, &get("/")).await, Err(Reason::UpstreamReset));
        assert!(second.was_refused());
        drop(second);
        first.end(None);
        assert_eq!(std::future::poll_fn(|cx| first.poll_response(cx)).await, Ok(200));
        drop(first);
        assert_eq!(fetch(&pools, &endpoint, &get("/")).await.unwrap().text(), "ok");
    });
}

/// Nanoseconds that this thread has run.
fn busy_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn whoever_waits_takes_no_time() {
    on_core(async {
        // A peer that reads nothing, with a request that would never end; one that answers nothing; and one that sends no more.
        let address = framed(setting(4, 0x7fff_ffff), |_, mut conn| async move {
            conn.send(window_update(0, 0x7000_0000)).await;
            let _held = conn;
            std::future::pending::<()>().await;
        })
        .await;
        let (pools, endpoint) = (pools(), h2c(address));
        let mut silent = pools.lease(&endpoint).await.unwrap();
        begin(&mut silent, &get("/"));
        let (pools_, endpoint_) = (Rc::clone(&pools), Rc::clone(&endpoint));
        let upload = tokio::task::spawn_local(async move {
            fetch(&pools_, &endpoint_, &post("/", Length::Stream, vec![0; 50_000_000])).await
        });
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        assert!(std::future::poll_fn(|cx| Poll::Ready(silent.poll_response(cx))).await.is_pending());
        let before = busy_ns();
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        let busy = busy_ns() - before;
        assert!(busy < 60_000_000, "{busy} ns of 300 ms");
        assert!(!upload.is_finished());
        upload.abort();
    });
}

#[test]
fn pings_are_answered_and_settings_acknowledged() {
    on_core(async {
        let address = framed(frame(SETTINGS, 0, 0, &[]), |_, mut conn| async move {
            conn.next(HEADERS).await;
            conn.send([frame(PING, 0, 0, b"12345678"), setting(4, 70_000)].concat()).await;
            let pong = conn.next(PING).await.unwrap();
            assert_eq!((pong.flags, &pong.payload[..]), (1, &b"12345678"[..]));
            let ack = conn.next(SETTINGS).await.unwrap();
            assert_eq!((ack.flags, ack.payload.len()), (1, 0));
            conn.send(ok(1)).await;
            conn.hold().await;
        })
        .await;
        assert_eq!(fetch(&pools(), &h2c(address), &get("/")).await.unwrap().text(), "ok");
    });
}

#[test]
fn a_connection_that_nobody_needs_says_goodbye() {
    on_core(async {
        let told = Rc::new(Cell::new(None));
        let address = {
            let told = Rc::clone(&told);
            framed(frame(SETTINGS, 0, 0, &[]), move |_, mut conn| {
                let told = Rc::clone(&told);
                async move {
                    conn.next(HEADERS).await;
                    conn.send(ok(1)).await;
                    let goodbye = conn.next(GOAWAY).await.unwrap();
                    assert!(conn.frame().await.is_none());
                    told.set(Some((goodbye.number(0), goodbye.number(4))));
                }
            })
            .await
        };
        let (pools, endpoint) = (pools(), h2c(address));
        fetch(&pools, &endpoint, &get("/")).await.unwrap();
        pools.retire(|_| false);
        eventually("the goodbye", || told.get() == Some((0, NO_ERROR))).await;
    });
}

#[test]
fn a_peer_that_writes_before_it_reads_on_is_read_meanwhile() {
    on_core(async {
        const STREAMS: u32 = 4;
        let settings = [setting(4, 0x7fff_ffff), window_update(0, 0x7000_0000)].concat();
        let address = framed(settings, |_, mut conn| async move {
            socket2::SockRef::from(&conn.0).set_send_buffer_size(16 * 1024).unwrap();
            for _ in 0..STREAMS {
                conn.next(HEADERS).await;
            }
            for stream in (0..STREAMS).map(|number| 2 * number + 1) {
                conn.send(answer(stream, "200", &[], false)).await;
                conn.send(data(stream, &[7; 16 * 1024], false).repeat(60)).await;
            }
            // Only now it reads what was sent all the time.
            let mut ended = 0;
            while ended < STREAMS {
                let frame = conn.next(DATA).await.unwrap();
                ended += u32::from(frame.flags & END_STREAM != 0);
            }
            for stream in (0..STREAMS).map(|number| 2 * number + 1) {
                conn.send(data(stream, b"", true)).await;
            }
            conn.hold().await;
        })
        .await;
        let (pools, endpoint) = (pools(), h2c(address));
        let tasks: Vec<_> = (0..STREAMS)
            .map(|_| {
                let (pools, endpoint) = (Rc::clone(&pools), Rc::clone(&endpoint));
                tokio::task::spawn_local(async move {
                    fetch(&pools, &endpoint, &post("/", Length::Stream, vec![0; 4_000_000])).await
                })
            })
            .collect();
        for task in tasks {
            assert_eq!(task.await.unwrap().unwrap().body.len(), 60 * 16 * 1024);
        }
    });
}

#[test]
fn a_peer_that_does_not_read_is_not_waited_for_in_the_end() {
    on_core(async {
        let ended = Rc::new(Cell::new(false));
        let settings = [setting(4, 0x7fff_ffff), window_update(0, 0x7000_0000)].concat();
        let address = {
            let ended = Rc::clone(&ended);
            framed(settings, move |_, mut conn| {
                let ended = Rc::clone(&ended);
                async move {
                    conn.next(HEADERS).await;
                    // It reads nothing for longer than it is waited for, and then finds the end.
                    tokio::time::sleep(std::time::Duration::from_millis(2_600)).await;
                    let rest = conn.rest().await;
                    ended.set(!frames(&rest).iter().any(|frame| frame.kind == GOAWAY));
                }
            })
            .await
        };
        let (pools, endpoint) = (pools(), h2c(address));
        let (pools_, endpoint_) = (Rc::clone(&pools), Rc::clone(&endpoint));
        let upload = tokio::task::spawn_local(async move {
            fetch(&pools_, &endpoint_, &post("/", Length::Stream, vec![0; 50_000_000])).await
        });
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        upload.abort();
        settle().await;
        pools.retire(|_| false);
        assert_eq!(pools.stats_of(&endpoint).open, 0);
        tokio::time::sleep(std::time::Duration::from_millis(2_500)).await;
        eventually("its end is found", || ended.get()).await;
    });
}
