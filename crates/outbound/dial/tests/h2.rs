//! Exchanges over HTTP/2.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod scripted;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use bytes::Bytes;
use h2::Reason as Code;
use http::{HeaderMap, Response};
use leat_dial::{EndpointLimits, Protocol};
use leat_message::{Length, Piece, Reason};
use scripted::streams::*;
use scripted::*;

#[test]
fn heads_bodies_and_trailers_go_both_ways() {
    on_core(async {
        let seen = Rc::new(RefCell::new(None));
        let address = {
            let seen = Rc::clone(&seen);
            server(h2::server::Builder::new(), move |(_, mut request, mut answer): Asked| {
                let seen = Rc::clone(&seen);
                async move {
                    let body = read_all(request.body_mut()).await;
                    let trailers = request.body_mut().trailers().await.unwrap();
                    let (parts, _) = request.into_parts();
                    *seen.borrow_mut() = Some((parts, body.clone(), trailers));
                    let mut out = answer.send_response(head(200, &[("x-a", "1"), ("x-a", "2")]), false).unwrap();
                    out.send_data(body.into(), false).unwrap();
                    let mut trailers = HeaderMap::new();
                    trailers.insert("grpc-status", "0".parse().unwrap());
                    out.send_trailers(trailers).unwrap();
                }
            })
            .await
        };
        let (pools, endpoint) = (pools(), h2c(address));
        let ask = Ask {
            fields: vec![
                ("Host", "up.example"),
                ("X-Custom", "Value"),
                ("TE", "trailers"),
                ("Connection", "keep-alive"),
                ("Keep-Alive", "timeout=5"),
            ],
            trailers: vec![("X-Sum", "9")],
            ..post("/p?q", Length::Stream, "hello")
        };
        let answer = fetch(&pools, &endpoint, &ask).await.unwrap();
        assert_eq!((answer.status, answer.length, answer.text().as_str()), (200, Length::Stream, "hello"));
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(answer.fields, [pair("x-a", "1"), pair("x-a", "2")]);
        assert_eq!(answer.trailers, [pair("grpc-status", "0")]);
        let (parts, body, trailers) = seen.borrow_mut().take().unwrap();
        assert_eq!((parts.method.as_str(), parts.uri.to_string().as_str()), ("POST", "http://up.example/p?q"));
        let names: Vec<&str> = parts.headers.keys().map(|name| name.as_str()).collect();
        assert_eq!(names, ["x-custom", "te"]);
        assert_eq!(body, b"hello");
        assert_eq!(trailers.unwrap().get("x-sum").unwrap(), "9");
    });
}

#[test]
fn lengths_are_announced_and_the_last_frame_ends_the_stream() {
    on_core(async {
        let address = server(h2::server::Builder::new(), |(_, mut request, mut answer): Asked| async move {
            let length = request.headers().get("content-length").map(|value| value.to_str().unwrap().to_owned());
            let no_body = request.body().is_end_stream();
            let body = read_all(request.body_mut()).await;
            let text = format!("{length:?} {no_body} {}", body.len());
            let length = text.len().to_string();
            let response = Response::builder().header("content-length", length).body(()).unwrap();
            answer.send_response(response, false).unwrap().send_data(text.into(), true).unwrap();
        })
        .await;
        let (pools, endpoint) = (pools(), h2c(address));
        for (ask, wanted) in [
            (get("/"), "None true 0"),
            (post("/", Length::Known(0), ""), "Some(\"0\") true 0"),
            (post("/", Length::Known(5), "hello"), "Some(\"5\") false 5"),
            (post("/", Length::Stream, ""), "None false 0"),
            (post("/", Length::Known(3_000_000), vec![7; 3_000_000]), "Some(\"3000000\") false 3000000"),
        ] {
            let answer = fetch(&pools, &endpoint, &ask).await.unwrap();
            assert_eq!(answer.text(), wanted);
            assert_eq!(answer.length, Length::Known(wanted.len() as u64));
        }
        assert_eq!((pools.stats_of(&endpoint).connects, pools.stats_of(&endpoint).reuses), (1, 4));
    });
}

#[test]
fn a_response_of_a_head_alone_stays_one() {
    on_core(async {
        let address = server(h2::server::Builder::new(), |(_, request, mut answer): Asked| async move {
            let fields: &[_] = match request.method().as_str() {
                "HEAD" => &[("content-length", "1234")],
                _ => &[("grpc-status", "5"), ("grpc-message", "none")],
            };
            answer.send_response(head(200, fields), true).unwrap();
        })
        .await;
        let (pools, endpoint) = (pools(), h2c(address));
        let answer = fetch(&pools, &endpoint, &get("/")).await.unwrap();
        assert_eq!((answer.length, answer.field("grpc-status")), (Length::None, Some("5")));
        assert!(answer.body.is_empty() && answer.trailers.is_empty());
        let answer = fetch(&pools, &endpoint, &Ask { method: "HEAD", ..get("/") }).await.unwrap();
        assert_eq!((answer.length, answer.field("content-length")), (Length::None, Some("1234")));
    });
}

#[test]
fn a_request_that_the_peer_did_nothing_with_is_marked() {
    on_core(async {
        for (code, refused) in [(Code::REFUSED_STREAM, true), (Code::INTERNAL_ERROR, false), (Code::CANCEL, false)] {
            let address = server(h2::server::Builder::new(), move |(_, _, mut answer): Asked| async move {
                answer.send_reset(code);
            })
            .await;
            let (pools, endpoint) = (pools(), h2c(address));
            let mut call = pools.lease(&endpoint).await.unwrap();
            assert_eq!(drive(&mut call, &get("/")).await, Err(Reason::UpstreamReset));
            assert_eq!((call.was_refused(), call.response_started()), (refused, false), "{code:?}");
        }
    });
}

#[test]
fn a_stream_that_is_cut_off_is_no_end() {
    on_core(async {
        let address = server(h2::server::Builder::new(), |(number, _, mut answer): Asked| async move {
            let fields: &[_] = if number == 2 { &[("content-length", "9")] } else { &[] };
            let mut body = answer.send_response(head(200, fields), false).unwrap();
            body.send_data("half".into(), false).unwrap();
            settle().await;
            body.send_reset(if number == 2 { Code::NO_ERROR } else { Code::INTERNAL_ERROR });
        })
        .await;
        let (pools, endpoint) = (pools(), h2c(address));
        for _ in 0..3 {
            let mut call = pools.lease(&endpoint).await.unwrap();
            assert_eq!(drive(&mut call, &get("/")).await, Err(Reason::UpstreamReset));
            assert!(call.response_started() && !call.was_refused());
        }
        // The connection outlives its streams.
        assert_eq!(pools.stats_of(&endpoint).connects, 1);
    });
}

#[test]
fn an_early_response_ends_the_exchange() {
    on_core(async {
        let address = server(h2::server::Builder::new(), |(_, _body, mut answer): Asked| async move {
            let mut body = answer.send_response(head(413, &[]), false).unwrap();
            // The request is let go unread, which resets the stream with NO_ERROR behind the response.
            body.send_data("big".into(), true).unwrap();
        })
        .await;
        let (pools, endpoint) = (pools(), h2c(address));
        for length in [Length::Known(50_000_000), Length::Stream] {
            let answer = fetch(&pools, &endpoint, &post("/", length, vec![0; 50_000_000])).await.unwrap();
            assert_eq!((answer.status, answer.text().as_str()), (413, "big"));
        }
        assert_eq!((pools.stats_of(&endpoint).connects, pools.stats_of(&endpoint).in_use), (1, 0));
    });
}

#[test]
fn a_reader_that_waits_holds_the_peer_up_and_then_gets_everything() {
    on_core(async {
        let sent = Rc::new(Cell::new(0usize));
        let address = {
            let sent = Rc::clone(&sent);
            server(h2::server::Builder::new(), move |(_, _, mut answer): Asked| {
                let sent = Rc::clone(&sent);
                async move {
                    let mut body = answer.send_response(head(200, &[]), false).unwrap();
                    for _ in 0..1_000 {
                        body.reserve_capacity(10_000);
                        while body.capacity() < 10_000 {
                            if std::future::poll_fn(|cx| body.poll_capacity(cx)).await.is_none() {
                                return;
                            }
                        }
                        body.send_data(vec![1; 10_000].into(), false).unwrap();
                        sent.set(sent.get() + 10_000);
                    }
                    body.send_data(Bytes::new(), true).unwrap();
                }
            })
            .await
        };
        let limits = EndpointLimits { h2_stream_window_bytes: 200_000, ..EndpointLimits::default() };
        let (pools, endpoint) = (pools(), endpoint(address, Protocol::H2c, limits));
        let mut call = pools.lease(&endpoint).await.unwrap();
        begin(&mut call, &get("/"));
        std::future::poll_fn(|cx| call.poll_response(cx)).await.unwrap();
        for _ in 0..20 {
            settle().await;
        }
        assert!(sent.get() <= 200_000, "{}", sent.get());
        let mut got = 0;
        loop {
            let count = std::future::poll_fn(|cx| {
                call.poll_body(cx).map(|piece| match piece.unwrap() {
                    // Taken in small bites.
                    Piece::Data(bytes) => bytes.len().min(3_000),
                    Piece::End => 0,
                })
            })
            .await;
            if count == 0 {
                break;
            }
            got += count;
            call.consume(count);
        }
        assert_eq!(got, 10_000_000);
    });
}

#[test]
fn a_peer_that_does_not_read_holds_the_sender_up() {
    on_core(async {
        let address = server(h2::server::Builder::new(), |asked: Asked| async move {
            let _held = asked;
            std::future::pending::<()>().await;
        })
        .await;
        let (pools, endpoint) = (pools(), h2c(address));
        let mut call = pools.lease(&endpoint).await.unwrap();
        begin(&mut call, &post("/", Length::Stream, ""));
        let (mut sent, mut held) = (0, 0);
        let block = vec![0; 128 * 1024];
        while held < 10 {
            match std::future::poll_fn(|cx| std::task::Poll::Ready(call.poll_send(cx, &block))).await {
                std::task::Poll::Ready(taken) => sent += taken.unwrap(),
                std::task::Poll::Pending => {
                    held += 1;
                    settle().await;
                }
            }
        }
        // The window of a stream before the peer opens it further (RFC 9113 section 6.9.2).
        assert_eq!(sent, 65_535);
    });
}

#[test]
fn interim_responses_are_passed_on() {
    on_core(async {
        let address = server(h2::server::Builder::new(), |(_, _, mut answer): Asked| async move {
            answer.send_informational(head(103, &[("link", "</a>")]).map(|()| ())).unwrap();
            settle().await;
            answer.send_response(head(204, &[]), true).unwrap();
        })
        .await;
        let answer = fetch(&pools(), &h2c(address), &get("/")).await.unwrap();
        assert_eq!((answer.interims.as_slice(), answer.status), (&[103][..], 204));
    });
}

#[test]
fn a_switch_of_protocols_is_refused() {
    on_core(async {
        let address = server(h2::server::Builder::new(), |(_, _, mut answer): Asked| async move {
            answer.send_informational(head(101, &[]).map(|()| ())).unwrap();
            settle().await;
            let _ = answer.send_response(head(204, &[]), true);
        })
        .await;
        let upgrade = Ask { fields: vec![("Connection", "Upgrade"), ("Upgrade", "echo")], ..get("/") };
        for ask in [get("/"), upgrade] {
            assert_eq!(fetch(&pools(), &h2c(address), &ask).await, Err(Reason::UpstreamUpgrade));
        }
    });
}

#[test]
fn connect_opens_a_tunnel() {
    on_core(async {
        let address = server(h2::server::Builder::new(), |(_, mut request, mut answer): Asked| async move {
            assert_eq!((request.method().as_str(), request.uri().to_string().as_str()), ("CONNECT", "up.example"));
            let mut body = answer.send_response(head(200, &[]), false).unwrap();
            let bytes = read_all(request.body_mut()).await;
            body.send_data(bytes.into(), true).unwrap();
        })
        .await;
        let (pools, endpoint) = (pools(), h2c(address));
        let mut call = pools.lease(&endpoint).await.unwrap();
        let answer = drive(&mut call, &Ask { method: "CONNECT", ..get("ignored") }).await.unwrap();
        assert_eq!(answer.length, Length::Tunnel);
        assert_eq!(std::future::poll_fn(|cx| call.poll_send(cx, b"ping")).await.unwrap(), 4);
        call.end(None);
        std::future::poll_fn(|cx| call.poll_body(cx).map(|piece| assert_eq!(piece, Ok(Piece::Data(b"ping"))))).await;
        call.consume(4);
        std::future::poll_fn(|cx| call.poll_body(cx).map(|piece| assert_eq!(piece, Ok(Piece::End)))).await;
    });
}

#[test]
fn what_http_2_cannot_carry_is_refused_before_it_is_sent() {
    on_core(async {
        let (pools, endpoint) = (pools(), h2c(server(h2::server::Builder::new(), ok).await));
        let spaced = Ask { fields: vec![("x-a", "a\nb")], ..get("/") };
        for (ask, reason) in [(get("/<"), Reason::LineTargetInvalid), (spaced, Reason::HeadControlByte)] {
            assert_eq!(fetch(&pools, &endpoint, &ask).await, Err(reason));
        }
        let options = Ask { method: "OPTIONS", ..get("*") };
        assert_eq!(fetch(&pools, &endpoint, &options).await.unwrap().text(), "ok");
        assert_eq!((pools.stats_of(&endpoint).connects, pools.stats_of(&endpoint).in_use), (1, 0));
    });
}
