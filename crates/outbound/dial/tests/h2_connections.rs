//! HTTP/2 connections: how they are shared, waited for, and let go.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod scripted;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use h2::Reason as Code;
use leat_dial::{Endpoint, EndpointLimits, Protocol, Target, Trust};
use leat_message::Reason;
use scripted::streams::*;
use scripted::*;
use tokio::net::TcpListener;

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
