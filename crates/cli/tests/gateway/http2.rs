//! HTTP/2 on either side, and on both.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;

use leat_testkit::{Folder, Leat, Peer, Script};
use tokio::task::spawn_blocking;

use crate::h2_peers::{connect, listed, piece, request, reset, response, rest, run, server, trailers};
use crate::support::{BARE, config, url};

#[test]
fn http2_becomes_http1() {
    run(async {
        let reply = "HTTP/1.1 201 Created\r\nX-A: 1\r\nset-cookie: a=1\r\nset-cookie: b=2\r\nkeep-alive: timeout=9\r\n\
                     connection: x-hop\r\nx-hop: 1\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n";
        let peer = Peer::listen([Script::new()
            .expect(
                "POST /x?y=1 HTTP/1.1\r\nhost: leat.test:81\r\nx-a: 1\r\nx-a: 2\r\ncookie: a=1; b=2; c=3\r\n\
                 transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nx-sum: 9\r\n\r\n",
            )
            .send(reply)]);
        let leat = Leat::gateway(&config(url(&peer), BARE, "", "", ""), 1);
        let mut client = connect(leat.address(0)).await;
        let fields = [("cookie", "a=1"), ("x-a", "1"), ("cookie", "b=2; c=3"), ("x-a", "2")];
        let (answer, mut out) =
            client.send_request(request("POST", "http://leat.test:81/x?y=1", &fields), false).unwrap();
        out.send_data("hello".into(), false).unwrap();
        out.send_trailers(trailers(&[("x-sum", "9")])).unwrap();
        let answer = answer.await.unwrap();
        assert_eq!(answer.status(), 201);
        let mut got = listed(answer.headers());
        got.retain(|line| !line.starts_with("date: "));
        assert_eq!(got, ["x-a: 1", "set-cookie: a=1", "set-cookie: b=2"]);
        assert_eq!(rest(&mut answer.into_body()).await, (b"ok".to_vec(), vec!["x-sum: 1".to_owned()]));
        spawn_blocking(|| peer.finish()).await.unwrap();
    });
}

#[test]
fn lengths_survive_the_way_from_http2_to_http1_and_back() {
    run(async {
        let peer = Peer::listen([Script::new()
            .expect("PUT / HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\n\r\nhello")
            .send("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
            .expect("HEAD / HTTP/1.1\r\nhost: h\r\n\r\n")
            .send("HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n")
            .expect("GET /304 HTTP/1.1\r\nhost: h\r\n\r\n")
            .send("HTTP/1.1 304 Not Modified\r\netag: \"x\"\r\n\r\n")
            .expect("POST /empty HTTP/1.1\r\nhost: h\r\n\r\n")
            .send("HTTP/1.1 204 No Content\r\n\r\n")]);
        let leat = Leat::gateway(&config(url(&peer), BARE, "", "", ""), 1);
        let mut client = connect(leat.address(0)).await;
        let (answer, mut out) =
            client.send_request(request("PUT", "http://h/", &[("content-length", "5")]), false).unwrap();
        out.send_data("hello".into(), true).unwrap();
        let answer = answer.await.unwrap();
        assert_eq!(answer.headers()["content-length"], "2");
        assert_eq!(rest(&mut answer.into_body()).await.0, b"ok");
        for (method, path, status, length) in
            [("HEAD", "", 200, Some("99")), ("GET", "304", 304, None), ("POST", "empty", 204, None)]
        {
            let (answer, _) = client.send_request(request(method, &format!("http://h/{path}"), &[]), true).unwrap();
            let answer = answer.await.unwrap();
            assert_eq!(answer.status().as_u16(), status);
            assert_eq!(answer.headers().get("content-length").map(|value| value.to_str().unwrap()), length, "{path}");
            assert!(rest(&mut answer.into_body()).await.0.is_empty());
        }
        spawn_blocking(|| peer.finish()).await.unwrap();
    });
}

#[test]
fn http1_becomes_http2() {
    run(async {
        let seen = Rc::new(RefCell::new(Vec::new()));
        let heads = Rc::clone(&seen);
        let upstream = server(None, move |asked, mut answer| {
            let (line, fields) = (format!("{} {}", asked.method(), asked.uri()), listed(asked.headers()));
            let heads = Rc::clone(&heads);
            async move {
                let (body, sums) = rest(&mut asked.into_body()).await;
                heads.borrow_mut().push((line, fields, body, sums));
                let fields = [("x-a", "1"), ("set-cookie", "a=1"), ("set-cookie", "b=2")];
                let mut out = answer.send_response(response(200, &fields), false).unwrap();
                out.send_data("ok".into(), false).unwrap();
                out.send_trailers(trailers(&[("x-sum", "1")])).unwrap();
            }
        })
        .await;
        let leat = Leat::gateway(&config(format!("h2c://{upstream}"), BARE, "", "", ""), 1);
        let mut client = leat.connect();
        let answer = spawn_blocking(move || {
            client.send(
                "POST /x?y HTTP/1.1\r\nX-A: 1\r\nHost: Leat.test\r\nConnection: x-hop\r\nx-hop: 1\r\nTE: trailers\r\n\
                 transfer-encoding: chunked\r\nx-A: 2\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 9\r\n\r\n",
            );
            client.response()
        })
        .await
        .unwrap();
        assert_eq!((answer.status, answer.text(), answer.field("transfer-encoding")), (200, "ok", Some("chunked")));
        assert_eq!(answer.fields_named("set-cookie"), ["a=1", "b=2"]);
        assert_eq!(answer.trailers, [("x-sum".to_owned(), b"1".to_vec())]);
        let (line, mut fields, body, sums) = seen.borrow_mut().remove(0);
        fields.sort();
        assert_eq!((line.to_lowercase().as_str(), body), ("post http://leat.test/x?y", b"hello".to_vec()));
        assert_eq!(
            (fields, sums),
            (vec!["te: trailers".into(), "x-a: 1".into(), "x-a: 2".into()], vec!["x-sum: 9".into()])
        );
    });
}

#[test]
fn a_trailer_that_http1_must_not_carry_is_left_out() {
    run(async {
        let upstream = server(None, |_, mut answer| async move {
            let mut out = answer.send_response(response(200, &[]), false).unwrap();
            out.send_data("ok".into(), false).unwrap();
            out.send_trailers(trailers(&[("content-type", "text/plain"), ("x-sum", "1")])).unwrap();
        })
        .await;
        let leat = Leat::gateway(&config(format!("h2c://{upstream}"), BARE, "", "", ""), 1);
        let mut client = leat.connect();
        let answer = spawn_blocking(move || client.get("/").response()).await.unwrap();
        assert_eq!((answer.status, answer.text()), (200, "ok"));
    });
}

#[test]
fn an_upstream_over_tls_is_verified_and_spoken_to_in_http2() {
    run(async {
        let folder = Folder::new();
        let authority_key = rcgen::KeyPair::generate().unwrap();
        let mut parameters = rcgen::CertificateParams::new(Vec::new()).unwrap();
        parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let authority = parameters.self_signed(&authority_key).unwrap();
        let issuer = rcgen::Issuer::new(parameters, authority_key);
        let key = rcgen::KeyPair::generate().unwrap();
        let own = rcgen::CertificateParams::new(["up.test".to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
        folder.write("ca.pem", authority.pem());
        folder.write("other.pem", rcgen::generate_simple_self_signed(["x".to_owned()]).unwrap().cert.pem());
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut tls = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![own.der().clone()], key.serialize_der().try_into().unwrap())
            .unwrap();
        tls.alpn_protocols = vec![b"h2".to_vec()];
        let lines = Rc::new(RefCell::new(Vec::new()));
        let seen = Rc::clone(&lines);
        let upstream = server(Some(Arc::new(tls)), move |asked, mut answer| {
            seen.borrow_mut().push(asked.uri().to_string());
            async move {
                answer.send_response(response(200, &[]), true).unwrap();
            }
        })
        .await;
        let text = |name: &str, ca: &str| {
            format!(
                "listeners: 127.0.0.1:0\nworkers: 1\n{BARE}\nroutes: [{{ match: {{ prefix: / }}, proxy: up }}]\nupstreams:\n  \
                 up: {{ endpoints: \"h2://{upstream}\", tls: {{ ca: {ca}, server_name: {name} }} }}\n"
            )
        };
        let leat = Leat::gateway_in(folder, &text("up.test", "ca.pem"), 1);
        let address = leat.address(0);
        let get = move || spawn_blocking(move || leat_testkit::Client::connect(address).get("/x").response().status);
        assert_eq!(get().await.unwrap(), 200);
        // The scheme is that of the connection it came over.
        assert_eq!(*lines.borrow(), ["https://leat.test/x"]);
        let mut leat = leat;
        for (name, ca) in [("other.test", "ca.pem"), ("up.test", "other.pem")] {
            leat.rewrite(&text(name, ca));
            let before = leat.log().iter().filter(|line| line.contains("\"reloaded\"")).count();
            leat.reload();
            let leat_ref = &mut leat;
            leat_testkit::eventually("the reload", || {
                (leat_ref.log().iter().filter(|line| line.contains("\"reloaded\"")).count() > before).then_some(())
            });
            assert_eq!(get().await.unwrap(), 502, "{name} {ca}");
        }
        assert_eq!(lines.borrow().len(), 1);
    });
}

#[test]
fn a_stream_that_the_upstream_refused_is_tried_again_whatever_its_method() {
    run(async {
        let count = Rc::new(Cell::new(0));
        let counted = Rc::clone(&count);
        let upstream = server(None, move |_, mut answer| {
            counted.set(counted.get() + 1);
            match counted.get() {
                1 => answer.send_reset(h2::Reason::REFUSED_STREAM),
                _ => drop(answer.send_response(response(200, &[]), true).unwrap()),
            }
            async {}
        })
        .await;
        let leat = Leat::gateway(&config(format!("h2c://{upstream}"), BARE, "", "", ""), 1);
        let mut client = leat.connect();
        let status = spawn_blocking(move || {
            client.send("POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 0\r\n\r\n").response().status
        });
        assert_eq!(status.await.unwrap(), 200);
        assert_eq!(count.get(), 2);
    });
}

#[test]
fn a_client_that_cancels_resets_the_upstreams_stream() {
    run(async {
        let (told, hears) = tokio::sync::oneshot::channel();
        let told = Rc::new(Cell::new(Some(told)));
        let upstream = server(None, move |asked, mut answer| {
            let told = told.take();
            async move {
                let _body = asked.into_body();
                let mut out = answer.send_response(response(200, &[]), false).unwrap();
                out.send_data("x".into(), false).unwrap();
                let code = reset(&mut out).await;
                told.unwrap().send(code).unwrap();
            }
        })
        .await;
        let leat = Leat::gateway(&config(format!("h2c://{upstream}"), BARE, "", "", ""), 1);
        let mut client = connect(leat.address(0)).await;
        let (answer, mut out) = client.send_request(request("POST", "http://h/", &[]), false).unwrap();
        let mut body = answer.await.unwrap().into_body();
        piece(&mut body).await;
        out.send_reset(h2::Reason::CANCEL);
        assert_eq!(hears.await.unwrap(), h2::Reason::CANCEL);
    });
}

#[test]
fn early_hints_reach_a_client_of_http2() {
    run(async {
        let hints = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\nconnection: close\r\n\r\n";
        let ok = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
        let peer = Peer::listen([Script::new().expect_head().send(hints).send(ok)]);
        let leat = Leat::gateway(&config(url(&peer), BARE, "", "", ""), 1);
        let mut client = connect(leat.address(0)).await;
        let (mut answer, _) = client.send_request(request("GET", "http://h/", &[]), true).unwrap();
        let interim = poll_fn(|cx| answer.poll_informational(cx)).await.expect("early hints").unwrap();
        assert_eq!((interim.status().as_u16(), listed(interim.headers())), (103, vec!["link: </a>".to_owned()]));
        assert_eq!(answer.await.unwrap().status(), 200);
    });
}

#[test]
fn a_body_that_is_cut_off_resets_the_clients_stream() {
    run(async {
        let peer = Peer::listen([Script::new()
            .expect_head()
            .send("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello")
            .close()]);
        let leat = Leat::gateway(&config(url(&peer), BARE, "", "", ""), 1);
        let mut client = connect(leat.address(0)).await;
        let (answer, _) = client.send_request(request("GET", "http://h/", &[]), true).unwrap();
        match answer.await {
            // Where the end was seen before anything was sent, there is still time for an error.
            Ok(answer) if answer.status() == 502 => {}
            Ok(answer) => {
                let mut body = answer.into_body();
                let mut last = body.data().await;
                while let Some(Ok(_)) = last {
                    last = body.data().await;
                }
                assert!(last.is_some_and(|end| end.is_err()), "the stream looks complete");
            }
            Err(error) => panic!("{error}"),
        }
    });
}

#[test]
fn a_tunnel_of_http2_reaches_a_server_of_http1() {
    run(async {
        let asked = "CONNECT db.test:5432 HTTP/1.1\r\nhost: db.test:5432\r\n\r\n";
        let peer = Peer::listen([Script::new()
            .expect(asked)
            .send("HTTP/1.1 200 OK\r\n\r\nhello")
            .expect("ping")
            .send("pong")
            .close()]);
        let leat = Leat::gateway(&config(url(&peer), BARE, "", "match: { method: CONNECT }", ""), 1);
        let mut client = connect(leat.address(0)).await;
        let mut asked = request("CONNECT", "http://h/", &[]);
        *asked.uri_mut() = "db.test:5432".parse().unwrap();
        let (answer, mut out) = client.send_request(asked, false).unwrap();
        let answer = answer.await.unwrap();
        assert_eq!(answer.status(), 200);
        let mut body = answer.into_body();
        assert_eq!(piece(&mut body).await.unwrap(), "hello");
        out.send_data("ping".into(), false).unwrap();
        assert_eq!(piece(&mut body).await.unwrap(), "pong");
        out.send_data(bytes::Bytes::new(), true).unwrap();
        assert!(rest(&mut body).await.0.is_empty());
    });
}
