//! Exchanges over shared HTTP/2 connections.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod scripted;

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason as Code, RecvStream};
use http::{HeaderMap, Request, Response};
use leat_dial::{Endpoint, EndpointLimits, Protocol, Target, Trust};
use leat_message::{Length, Piece, Reason};
use scripted::*;
use tokio::net::TcpListener;

/// What a scripted server gets for each request: its number on the connection, the request, and how to answer.
type Asked = (usize, Request<RecvStream>, SendResponse<Bytes>);

/// Starts an HTTP/2 server on plain TCP; `script` runs for each request as a task of its own.
async fn server<F, Fut>(builder: h2::server::Builder, script: F) -> SocketAddr
where
    F: Fn(Asked) -> Fut + Clone + 'static,
    Fut: Future<Output = ()> + 'static,
{
    peer(move |_, conn| serve(builder.clone(), conn.0, script.clone(), usize::MAX)).await
}

/// Serves one connection; says goodbye after `requests`.
async fn serve<S, F, Fut>(builder: h2::server::Builder, stream: S, script: F, requests: usize)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
    F: Fn(Asked) -> Fut,
    Fut: Future<Output = ()> + 'static,
{
    let Ok(mut connection) = builder.handshake::<_, Bytes>(stream).await else { return };
    for number in 1.. {
        let Some(Ok((request, answer))) = connection.accept().await else { return };
        tokio::task::spawn_local(script((number - 1, request, answer)));
        if number == requests {
            connection.graceful_shutdown();
        }
    }
}

fn h2c(address: SocketAddr) -> Rc<Endpoint> {
    endpoint(address, Protocol::H2c, EndpointLimits::default())
}

fn head(status: u16, fields: &[(&'static str, &'static str)]) -> Response<()> {
    let mut response = Response::builder().status(status);
    for (name, value) in fields {
        response = response.header(*name, *value);
    }
    response.body(()).unwrap()
}

/// Reads a whole body, giving the window back.
async fn read_all(body: &mut RecvStream) -> Vec<u8> {
    let mut all = Vec::new();
    while let Some(Ok(bytes)) = body.data().await {
        body.flow_control().release_capacity(bytes.len()).unwrap();
        all.extend_from_slice(&bytes);
    }
    all
}

async fn ok((_, mut request, mut answer): Asked) {
    read_all(request.body_mut()).await;
    if let Ok(mut body) = answer.send_response(head(200, &[]), false) {
        let _ = body.send_data("ok".into(), true);
    }
}

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
fn many_requests_share_one_connection() {
    on_core(async {
        let (pools, endpoint) = (pools(), h2c(server(h2::server::Builder::new(), ok).await));
        let tasks: Vec<_> = (0..100).map(|_| spawn_fetch(&pools, &endpoint)).collect();
        for task in tasks {
            assert_eq!(task.await.unwrap().unwrap(), "ok");
        }
        let stats = pools.stats_of(&endpoint);
        assert_eq!((stats.connects, stats.reuses, stats.open, stats.idle, stats.in_use), (1, 99, 1, 1, 0));
    });
}

fn spawn_fetch(
    pools: &Rc<leat_dial::Pools>,
    endpoint: &Rc<Endpoint>,
) -> tokio::task::JoinHandle<Result<String, Reason>> {
    let (pools, endpoint) = (Rc::clone(pools), Rc::clone(endpoint));
    tokio::task::spawn_local(async move { Ok(fetch(&pools, &endpoint, &get("/")).await?.text()) })
}

#[test]
fn beyond_the_stream_limit_a_few_connections_are_opened_then_requests_wait() {
    on_core(async {
        let now = Rc::new(Cell::new(0usize));
        let most = Rc::new(Cell::new(0usize));
        let mut builder = h2::server::Builder::new();
        builder.max_concurrent_streams(3);
        let address = {
            let (now, most) = (Rc::clone(&now), Rc::clone(&most));
            server(builder, move |asked| {
                let (now, most) = (Rc::clone(&now), Rc::clone(&most));
                async move {
                    now.set(now.get() + 1);
                    most.set(most.get().max(now.get()));
                    settle().await;
                    ok(asked).await;
                    now.set(now.get() - 1);
                }
            })
            .await
        };
        let limits = EndpointLimits { h2_connections_max: 2, ..EndpointLimits::default() };
        let (pools, endpoint) = (pools(), endpoint(address, Protocol::H2c, limits));
        let tasks: Vec<_> = (0..40).map(|_| spawn_fetch(&pools, &endpoint)).collect();
        for task in tasks {
            assert_eq!(task.await.unwrap().unwrap(), "ok");
        }
        assert_eq!(pools.stats_of(&endpoint).connects, 2);
        assert!(most.get() <= 6, "{}", most.get());
        assert_eq!((pools.stats_of(&endpoint).waiting, pools.stats_of(&endpoint).in_use), (0, 0));
    });
}

#[test]
fn after_a_goodbye_new_requests_take_a_new_connection_and_old_ones_end() {
    on_core(async {
        let address = peer(|_, conn| serve(h2::server::Builder::new(), conn.0, slow, 2)).await;
        let (pools, endpoint) = (pools(), h2c(address));
        for _ in 0..3 {
            let tasks: Vec<_> = (0..2).map(|_| spawn_fetch(&pools, &endpoint)).collect();
            for task in tasks {
                assert_eq!(task.await.unwrap().unwrap(), "ok");
            }
            eventually("the goodbye arrives", || pools.try_lease(&endpoint).is_none()).await;
        }
        assert_eq!(pools.stats_of(&endpoint).connects, 3);
    });
}

#[test]
fn a_connection_that_only_sees_its_last_streams_out_takes_no_place() {
    on_core(async {
        let address = peer(|number, conn| {
            let script = move |(_, request, answer): Asked| async move {
                if number == 0 {
                    std::future::pending::<()>().await;
                }
                ok((0, request, answer)).await;
            };
            serve(h2::server::Builder::new(), conn.0, script, 1)
        })
        .await;
        let limits = EndpointLimits { h2_connections_max: 1, ..EndpointLimits::default() };
        let (pools, endpoint) = (pools(), endpoint(address, Protocol::H2c, limits));
        let mut long = pools.lease(&endpoint).await.unwrap();
        begin(&mut long, &get("/"));
        eventually("the goodbye arrives", || pools.try_lease(&endpoint).is_none()).await;
        assert_eq!(fetch(&pools, &endpoint, &get("/")).await.unwrap().text(), "ok");
        assert_eq!(pools.stats_of(&endpoint).connects, 2);
        assert!(std::future::poll_fn(|cx| std::task::Poll::Ready(long.poll_response(cx))).await.is_pending());
    });
}

async fn slow(asked: Asked) {
    settle().await;
    settle().await;
    ok(asked).await;
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
fn a_dropped_exchange_is_cancelled_and_its_room_is_free() {
    on_core(async {
        let codes = Rc::new(RefCell::new(Vec::new()));
        let mut builder = h2::server::Builder::new();
        builder.max_concurrent_streams(1);
        let address = {
            let codes = Rc::clone(&codes);
            server(builder, move |(number, request, mut answer): Asked| {
                let codes = Rc::clone(&codes);
                async move {
                    if number == 1 {
                        let code = std::future::poll_fn(|cx| answer.poll_reset(cx)).await;
                        codes.borrow_mut().push(code.unwrap());
                    } else {
                        ok((number, request, answer)).await;
                    }
                }
            })
            .await
        };
        let limits = EndpointLimits { h2_connections_max: 1, ..EndpointLimits::default() };
        let (pools, endpoint) = (pools(), endpoint(address, Protocol::H2c, limits));
        fetch(&pools, &endpoint, &get("/")).await.unwrap();
        let mut call = pools.lease(&endpoint).await.unwrap();
        begin(&mut call, &get("/"));
        settle().await;
        let waiting = spawn_fetch(&pools, &endpoint);
        settle().await;
        assert_eq!(pools.stats_of(&endpoint).waiting, 1);
        drop(call);
        assert_eq!(waiting.await.unwrap().unwrap(), "ok");
        eventually("the peer sees the reset", || *codes.borrow() == [Code::CANCEL]).await;
        assert_eq!(pools.stats_of(&endpoint).connects, 1);
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
fn a_peer_that_speaks_something_else_is_refused_and_not_waited_for() {
    on_core(async {
        for garbage in ["HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n", ""] {
            let address = peer(move |_, mut conn| async move {
                conn.until(b"SM\r\n\r\n").await;
                conn.send(garbage).await;
                if !garbage.is_empty() {
                    conn.hold().await;
                }
            })
            .await;
            let (pools, endpoint) = (pools(), h2c(address));
            let reason = fetch(&pools, &endpoint, &get("/")).await.unwrap_err();
            let wanted = if garbage.is_empty() { Reason::UpstreamConnect } else { Reason::UpstreamInvalid };
            assert_eq!(reason, wanted);
            eventually("the connection is gone", || pools.stats_of(&endpoint).open == 0).await;
        }
    });
}

#[test]
fn all_who_wait_for_a_connection_learn_that_it_failed() {
    on_core(async {
        let address = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        let (pools, endpoint) = (pools(), h2c(address));
        let tasks: Vec<_> = (0..10).map(|_| spawn_fetch(&pools, &endpoint)).collect();
        for task in tasks {
            assert_eq!(task.await.unwrap(), Err(Reason::UpstreamConnect));
        }
        assert_eq!((pools.stats_of(&endpoint).open, pools.stats_of(&endpoint).waiting), (0, 0));
    });
}

#[test]
fn a_connection_whose_peer_has_fallen_silent_is_given_up() {
    on_core(async {
        // The first connection is served for one request; from then on nobody reads what arrives on it.
        let address = peer(|number, conn| async move {
            let mut connection = h2::server::handshake(conn.0).await.unwrap();
            while let Some(Ok((request, answer))) = connection.accept().await {
                tokio::task::spawn_local(ok((0, request, answer)));
                if number == 0 {
                    let _ = tokio::time::timeout(std::time::Duration::from_millis(50), connection.accept()).await;
                    std::future::pending::<()>().await;
                }
            }
        })
        .await;
        let limits = EndpointLimits { h2_ping_time_ms: 100, ..EndpointLimits::default() };
        let (pools, endpoint) = (pools(), endpoint(address, Protocol::H2c, limits));
        fetch(&pools, &endpoint, &get("/")).await.unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(80)).await;
        let mut other = pools.lease(&endpoint).await.unwrap();
        let mut call = pools.lease(&endpoint).await.unwrap();
        begin(&mut call, &get("/"));
        settle().await;
        drop(call);
        // Whoever else is on it learns of it too.
        assert_eq!(drive(&mut other, &get("/")).await, Err(Reason::UpstreamReset));
        assert_eq!(pools.stats_of(&endpoint).open, 0);
        assert_eq!(fetch(&pools, &endpoint, &get("/")).await.unwrap().text(), "ok");
    });
}

#[test]
fn a_request_that_was_given_up_costs_a_living_connection_nothing() {
    on_core(async {
        let address = server(h2::server::Builder::new(), |(number, request, answer): Asked| async move {
            if number == 0 {
                std::future::pending::<()>().await;
            }
            ok((number, request, answer)).await;
        })
        .await;
        let limits = EndpointLimits { h2_ping_time_ms: 100, ..EndpointLimits::default() };
        let (pools, endpoint) = (pools(), endpoint(address, Protocol::H2c, limits));
        let mut call = pools.lease(&endpoint).await.unwrap();
        begin(&mut call, &get("/"));
        settle().await;
        drop(call);
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        fetch(&pools, &endpoint, &get("/")).await.unwrap();
        assert_eq!(pools.stats_of(&endpoint).connects, 1);
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

#[test]
fn an_unused_connection_closes_after_its_time() {
    on_core(async {
        let open = Rc::new(Cell::new(0));
        let address = {
            let open = Rc::clone(&open);
            peer(move |_, conn| {
                let open = Rc::clone(&open);
                async move {
                    open.set(open.get() + 1);
                    serve(h2::server::Builder::new(), conn.0, ok, usize::MAX).await;
                    open.set(open.get() - 1);
                }
            })
            .await
        };
        let limits = EndpointLimits { idle_time_ms: 100, ..EndpointLimits::default() };
        let (pools, endpoint) = (pools(), endpoint(address, Protocol::H2c, limits));
        fetch(&pools, &endpoint, &get("/")).await.unwrap();
        assert_eq!((open.get(), pools.stats_of(&endpoint).open), (1, 1));
        eventually("the connection is closed", || open.get() == 0).await;
        assert_eq!(pools.stats_of(&endpoint).open, 0);
    });
}

#[test]
fn http_2_over_tls_is_chosen_by_alpn() {
    on_core(async {
        let key = rcgen::generate_simple_self_signed(["up.example".to_owned()]).unwrap();
        let mut config =
            rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_no_client_auth()
                .with_single_cert(
                    vec![key.cert.der().clone()],
                    rustls_pki_types::PrivateKeyDer::Pkcs8(key.signing_key.serialize_der().into()),
                )
                .unwrap();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
        let address = peer(move |_, conn| {
            let acceptor = acceptor.clone();
            async move {
                let stream = acceptor.accept(conn.0).await.unwrap();
                assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
                serve(h2::server::Builder::new(), stream, ok, usize::MAX).await;
            }
        })
        .await;
        let (target, trust) = (Target::parse(&address.to_string()).unwrap(), Trust::pem(key.cert.pem().as_bytes()));
        let limits = EndpointLimits::default();
        let endpoint =
            Endpoint::new(target, Protocol::H2Tls, Some(trust.unwrap()), Some("up.example"), limits).unwrap();
        let (pools, endpoint) = (pools(), Rc::new(endpoint));
        let tasks: Vec<_> = (0..20).map(|_| spawn_fetch(&pools, &endpoint)).collect();
        for task in tasks {
            assert_eq!(task.await.unwrap().unwrap(), "ok");
        }
        assert_eq!(pools.stats_of(&endpoint).connects, 1);
    });
}
