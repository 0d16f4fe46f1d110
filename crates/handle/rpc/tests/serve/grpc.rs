//! gRPC over HTTP/2: answers, deadlines, cancellation, both directions at once, back pressure.

use std::future::poll_fn;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::service::{read, text};
use crate::support::{RECEIVE_BYTES_MAX, Server, block_on, call, enveloped, http2, request};

#[test]
fn unary_calls_are_answered_with_trailers() {
    let server = Server::start();
    block_on(async {
        let (mut client, _connection) = http2(&server).await;
        let large = "x".repeat(RECEIVE_BYTES_MAX);
        for (method, fields, body, status, answer) in [
            ("Echo", &[][..], enveloped(0, &text("hello")), "0", Some("hello")),
            ("Ready", &[], enveloped(0, b""), "0", Some("ready")),
            ("Echo", &[("content-type", "application/grpc+json")], enveloped(0, b"{}"), "0", None),
            ("Fail", &[], enveloped(0, b""), "5", None),
            ("Nope", &[], enveloped(0, b""), "12", None),
            ("Echo", &[], Vec::new(), "12", None),
            ("Echo", &[], enveloped(0, &text(&large)), "8", None),
            ("Echo", &[], vec![0, 0, 0, 0, 9, 1], "3", None),
            ("Echo", &[("grpc-timeout", "1 S")], enveloped(0, b""), "3", None),
            ("Echo", &[("grpc-encoding", "snappy")], enveloped(0, b""), "12", None),
            ("Wait", &[("grpc-timeout", "30m")], enveloped(0, b""), "4", None),
        ] {
            let reply = call(&mut client, request(method, fields), body).await.unwrap();
            assert_eq!(reply.status(), Some(status), "{method} {fields:?}: {reply:?}");
            if let Some(answer) = answer {
                assert_eq!(reply.body, enveloped(0, &text(answer)), "{method}");
            }
        }
    });
}

#[test]
fn a_stream_that_is_open_is_refused_at_once() {
    let server = Server::start();
    block_on(async {
        let (mut client, _connection) = http2(&server).await;
        for (method, fields, status) in [
            ("Nope", &[][..], "12"),
            ("Chat", &[("grpc-timeout", "1 S")], "3"),
            ("Chat", &[("grpc-encoding", "snappy")], "12"),
        ] {
            let (response, _stream) = client.send_request(request(method, fields), false).unwrap();
            // Well before the time for which the server would wait for the client's end.
            let response = tokio::time::timeout(Duration::from_millis(1_000), async {
                let (head, mut body) = response.await?.into_parts();
                while poll_fn(|cx| body.poll_data(cx)).await.transpose()?.is_some() {}
                let trailers = poll_fn(|cx| body.poll_trailers(cx)).await?.unwrap_or_default();
                let found = head.headers.get("grpc-status").or(trailers.get("grpc-status")).cloned();
                Ok::<_, h2::Error>(found)
            });
            let found = response.await.unwrap_or_else(|_| panic!("{method} {fields:?} waits")).unwrap();
            assert_eq!(found.as_ref().map(|value| value.as_bytes()), Some(status.as_bytes()), "{method} {fields:?}");
        }
    });
}

#[test]
fn binary_metadata_comes_and_goes_as_bytes() {
    let server = Server::start();
    block_on(async {
        let (mut client, _connection) = http2(&server).await;
        let reply = call(&mut client, request("Echo", &[("x-in-bin", "AP8=,YQ")]), enveloped(0, b"")).await.unwrap();
        let values = |map: &http::HeaderMap, name| -> Vec<String> {
            map.get_all(name).iter().map(|value| value.to_str().unwrap().to_owned()).collect()
        };
        assert_eq!(values(&reply.head, "x-out-bin"), ["AP8", "YQ"]);
        assert_eq!(values(&reply.trailers, "x-trail-bin"), ["AP8", "YQ"]);
    });
}

#[test]
fn a_deadline_and_a_client_that_goes_drop_the_service() {
    let server = Server::start();
    block_on(async {
        let (mut client, _connection) = http2(&server).await;
        call(&mut client, request("Wait", &[("grpc-timeout", "20m")]), enveloped(0, b"")).await.unwrap();
        assert_eq!(server.seen.dropped.load(Ordering::SeqCst), 1);
        let (response, mut stream) = client.send_request(request("Wait", &[]), false).unwrap();
        stream.send_data(enveloped(0, b"").into(), true).unwrap();
        // What is reset before it was looked at is no call: this reply comes behind its beginning.
        call(&mut client, request("Echo", &[]), enveloped(0, b"")).await.unwrap();
        stream.send_reset(h2::Reason::CANCEL);
        drop(response);
        // The next reply on the same connection comes behind the reset.
        call(&mut client, request("Echo", &[]), enveloped(0, b"")).await.unwrap();
        for _ in 0..500 {
            if server.seen.dropped.load(Ordering::SeqCst) == 2 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the call went on without its client");
    });
}

#[test]
fn both_directions_go_at_once() {
    let server = Server::start();
    block_on(async {
        let (mut client, _connection) = http2(&server).await;
        let (response, mut stream) = client.send_request(request("Chat", &[]), false).unwrap();
        let mut response = Some(response);
        let mut body = None;
        for word in ["one", "two", "three"] {
            stream.send_data(enveloped(0, &text(word)).into(), false).unwrap();
            if let Some(response) = response.take() {
                body = Some(response.await.unwrap().into_body());
            }
            let body = body.as_mut().unwrap();
            let piece = poll_fn(|cx| body.poll_data(cx)).await.unwrap().unwrap();
            assert_eq!(read(&piece[5..]), format!("{word}!"));
        }
        stream.send_data(Default::default(), true).unwrap();
        let body = body.as_mut().unwrap();
        assert!(poll_fn(|cx| body.poll_data(cx)).await.is_none());
        let trailers = poll_fn(|cx| body.poll_trailers(cx)).await.unwrap().unwrap();
        assert_eq!(trailers.get("grpc-status").unwrap(), "0");
    });
}

#[test]
fn client_streams_are_gathered_and_server_streams_end_with_trailers() {
    let server = Server::start();
    block_on(async {
        let (mut client, _connection) = http2(&server).await;
        let body = ["a", "b", "c"].map(|word| enveloped(0, &text(word))).concat();
        let reply = call(&mut client, request("Join", &[]), body).await.unwrap();
        assert_eq!((reply.status(), &reply.body), (Some("0"), &enveloped(0, &text("a+b+c"))));
        let reply = call(&mut client, request("Count", &[]), enveloped(0, &text("3"))).await.unwrap();
        assert_eq!(reply.body, ["0", "1", "2"].map(|word| enveloped(0, &text(word))).concat());
        assert_eq!(reply.head.get("x-head").unwrap(), "1");
        assert_eq!(reply.trailers.get("x-trail").unwrap(), "2");
    });
}

#[test]
fn a_client_that_reads_nothing_holds_the_service_up() {
    let server = Server::start();
    block_on(async {
        let (mut client, _connection) = http2(&server).await;
        let (response, mut stream) = client.send_request(request("Flood", &[]), false).unwrap();
        stream.send_data(enveloped(0, b"").into(), true).unwrap();
        let _body = response.await.unwrap().into_body();
        // Other calls go on beside it, and give the flood time to rise.
        for _ in 0..200 {
            call(&mut client, request("Echo", &[]), enveloped(0, b"")).await.unwrap();
        }
        let sent = server.seen.sent.load(Ordering::SeqCst);
        // The client's window, what a stream may hold, and what waits in front of it.
        assert!((10..300).contains(&sent), "{sent} KB were taken from the service");
    });
}
