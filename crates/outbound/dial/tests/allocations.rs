//! What an exchange over a pooled connection costs: no allocation, and over HTTP/1.1 nothing held between exchanges or while an
//! answer is waited for.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod scripted;

use std::rc::Rc;
use std::task::Poll;

use leat_dial::{Call, Endpoint, Pools};
use leat_message::{Length, Piece};
use leat_testkit::Counting;
use scripted::*;

#[global_allocator]
static COUNTING: Counting = Counting;

/// One exchange, written so that it allocates nothing itself.
async fn exchange(pools: &Rc<Pools>, endpoint: &Rc<Endpoint>, length: Length, body: &[u8]) -> usize {
    let mut call = match pools.try_lease(endpoint) {
        Some(call) => call,
        None => pools.lease(endpoint).await.unwrap(),
    };
    call.request(b"POST", b"up.example", "http", b"/path");
    call.field(b"host", b"up.example");
    call.field(b"user-agent", b"test");
    call.length(length);
    let mut sent = 0;
    while sent < body.len() {
        sent += std::future::poll_fn(|cx| call.poll_send(cx, &body[sent..])).await.unwrap();
    }
    if length == Length::Stream {
        call.end(None);
    }
    std::future::poll_fn(|cx| call.poll_flush(cx)).await.unwrap();
    assert_eq!(std::future::poll_fn(|cx| call.poll_response(cx)).await.unwrap(), 200);
    assert_eq!(call.response().fields().len(), 2);
    let mut got = 0;
    loop {
        let count = std::future::poll_fn(|cx| read(&mut call, cx)).await;
        if count == 0 {
            return got;
        }
        got += count;
        call.consume(count);
    }
}

fn read(call: &mut Call, cx: &mut std::task::Context<'_>) -> Poll<usize> {
    call.poll_body(cx).map(|piece| match piece.unwrap() {
        Piece::Data(bytes) => bytes.len(),
        Piece::End => 0,
    })
}

#[test]
fn a_pooled_exchange_allocates_nothing_and_holds_nothing_afterwards() {
    // The peer runs on a thread of its own, so that only this side is counted.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        use std::io::{Read, Write};
        for stream in listener.incoming() {
            std::thread::spawn(move || {
                let mut stream = stream.unwrap();
                let mut seen = Vec::new();
                let mut block = [0; 4096];
                loop {
                    match stream.read(&mut block) {
                        Ok(count) if count > 0 => seen.extend_from_slice(&block[..count]),
                        _ => return,
                    }
                    if seen.ends_with(b"body") || seen.ends_with(b"body\r\n0\r\n\r\n") {
                        seen.clear();
                        let head = "HTTP/1.1 200 OK\r\ncontent-type: a/b\r\ntransfer-encoding: chunked\r\n\r\n";
                        stream.write_all(format!("{head}5\r\nhello\r\n0\r\n\r\n").as_bytes()).unwrap();
                    }
                }
            });
        }
    });
    on_core(async {
        let (pools, endpoint) = (pools(), h1(address));
        for (length, body) in [(Length::Known(4), b"body"), (Length::Stream, b"body")] {
            for _ in 0..3 {
                assert_eq!(exchange(&pools, &endpoint, length, body).await, 5);
            }
            // Several rounds, since the sweep of unused connections may fall into one.
            let mut least = u64::MAX;
            for _ in 0..5 {
                let before = Counting::of_thread().count;
                for _ in 0..100 {
                    assert_eq!(exchange(&pools, &endpoint, length, body).await, 5);
                }
                least = least.min(Counting::of_thread().count - before);
            }
            assert_eq!(least, 0, "{length:?}");
        }
        assert_eq!(pools.stats_of(&endpoint).connects, 1);

        // 100 connections at once, each with its buffers, then all unused.
        let before = leat_stream::memory::in_use();
        let mut calls = Vec::new();
        for _ in 0..100 {
            let mut call = pools.lease(&endpoint).await.unwrap();
            call.request(b"POST", b"up.example", "http", b"/path");
            call.length(Length::Known(4));
            std::future::poll_fn(|cx| call.poll_send(cx, b"body")).await.unwrap();
            std::future::poll_fn(|cx| call.poll_response(cx)).await.unwrap();
            calls.push(call);
        }
        assert!(leat_stream::memory::in_use() > before + 1_500_000);
        for mut call in calls {
            while std::future::poll_fn(|cx| read(&mut call, cx)).await > 0 {
                call.consume(5);
            }
        }
        assert_eq!(pools.stats_of(&endpoint).idle, 100);
        assert!(leat_stream::memory::in_use() <= before + 256 * 1024);

        // 100 that wait for an answer hold no memory for it.
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = h1(silent.local_addr().unwrap());
        let mut calls = Vec::new();
        for _ in 0..100 {
            let mut call = pools.lease(&endpoint).await.unwrap();
            call.request(b"GET", b"up.example", "http", b"/path");
            call.length(Length::None);
            std::future::poll_fn(|cx| call.poll_flush(cx)).await.unwrap();
            let answer = std::future::poll_fn(|cx| Poll::Ready(call.poll_response(cx))).await;
            assert!(answer.is_pending());
            calls.push(call);
        }
        assert!(leat_stream::memory::in_use() <= before + 256 * 1024);
        drop(calls);
    });
}

/// An HTTP/2 server on a thread of its own, so that only this side is counted.
fn h2_server() -> std::net::SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        listener.set_nonblocking(true).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        tokio::task::LocalSet::new().block_on(&runtime, async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let (stream, _) = listener.accept().await.unwrap();
            let fields = &[("content-type", "a/b"), ("x-b", "c")];
            let script = move |(_, mut request, mut answer): scripted::streams::Asked| async move {
                scripted::streams::read_all(request.body_mut()).await;
                let mut body = answer.send_response(scripted::streams::head(200, fields), false).unwrap();
                body.send_data("hello".into(), true).unwrap();
            };
            scripted::streams::serve(h2::server::Builder::new(), stream, script, usize::MAX).await;
        });
    });
    address
}

#[test]
fn an_exchange_over_http_2_allocates_nothing() {
    let address = h2_server();
    on_core(async {
        let (pools, endpoint) = (pools(), scripted::streams::h2c(address));
        for (length, body) in [(Length::Known(4), b"body"), (Length::Stream, b"body")] {
            for _ in 0..10 {
                assert_eq!(exchange(&pools, &endpoint, length, body).await, 5);
            }
            let mut least = u64::MAX;
            for _ in 0..5 {
                let before = Counting::of_thread().count;
                for _ in 0..100 {
                    assert_eq!(exchange(&pools, &endpoint, length, body).await, 5);
                }
                least = least.min(Counting::of_thread().count - before);
            }
            assert_eq!(least, 0, "{length:?}");
        }
        assert_eq!(pools.stats_of(&endpoint).connects, 1);

        // 100 at once, and then none: what they took is given back.
        let before = leat_stream::memory::in_use();
        let mut calls = Vec::new();
        for _ in 0..100 {
            let mut call = pools.lease(&endpoint).await.unwrap();
            call.request(b"POST", b"up.example", "http", b"/path");
            call.length(Length::Known(4));
            std::future::poll_fn(|cx| call.poll_send(cx, b"body")).await.unwrap();
            calls.push(call);
        }
        for call in &mut calls {
            std::future::poll_fn(|cx| call.poll_response(cx)).await.unwrap();
        }
        for mut call in calls {
            while std::future::poll_fn(|cx| read(&mut call, cx)).await > 0 {
                call.consume(5);
            }
        }
        assert_eq!((pools.stats_of(&endpoint).in_use, pools.stats_of(&endpoint).connects), (0, 1));
        assert!(leat_stream::memory::in_use() <= before + 256 * 1024);
    });
}
