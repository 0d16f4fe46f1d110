//! gRPC, and what it is made of: streams both ways and trailers.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::time::Duration;

use leat_testkit::Leat;

use crate::h2_peers::{connect, listed, piece, request, response, rest, run, server, trailers};
use crate::support::{BARE, config};

const GRPC: &[(&str, &str)] = &[("te", "trailers"), ("content-type", "application/grpc"), ("grpc-timeout", "1S")];

#[test]
fn a_grpc_stream_passes_unharmed_both_ways() {
    run(async {
        let seen = Rc::new(RefCell::new(Vec::new()));
        let heads = Rc::clone(&seen);
        let upstream = server(None, move |asked, mut answer| {
            let (line, fields) = (format!("{} {}", asked.method(), asked.uri()), listed(asked.headers()));
            heads.borrow_mut().push((line, fields));
            async move {
                let mut body = asked.into_body();
                let mut out =
                    answer.send_response(response(200, &[("content-type", "application/grpc")]), false).unwrap();
                while let Some(message) = piece(&mut body).await {
                    out.send_data(message, false).unwrap();
                }
                out.send_trailers(trailers(&[("grpc-status", "0"), ("grpc-message", "fine"), ("x-bin", "AA==")]))
                    .unwrap();
            }
        })
        .await;
        let leat = Leat::gateway(&config(format!("h2c://{upstream}"), BARE, "", "", ""), 1);
        let mut client = connect(leat.address(0)).await;
        let asked = request("POST", "http://leat.test/pkg.Service/Chat", GRPC);
        let (answer, mut out) = client.send_request(asked, false).unwrap();
        out.send_data("first".into(), false).unwrap();
        let answer = answer.await.unwrap();
        assert_eq!(
            (answer.status().as_u16(), &answer.headers()["content-type"]),
            (200, &"application/grpc".parse().unwrap())
        );
        let mut body = answer.into_body();
        assert_eq!(piece(&mut body).await.unwrap(), "first", "an answer comes before the request's end");
        out.send_data("second".into(), false).unwrap();
        assert_eq!(piece(&mut body).await.unwrap(), "second");
        out.send_data("third".into(), true).unwrap();
        let wanted = ["grpc-status: 0", "grpc-message: fine", "x-bin: AA=="].map(str::to_owned).to_vec();
        assert_eq!(rest(&mut body).await, (b"third".to_vec(), wanted));
        let (line, mut fields) = seen.borrow_mut().remove(0);
        fields.sort();
        assert_eq!(line, "POST http://leat.test/pkg.Service/Chat");
        assert_eq!(fields, ["content-type: application/grpc", "grpc-timeout: 1S", "te: trailers"]);
    });
}

#[test]
fn a_grpc_answer_of_trailers_alone_stays_one() {
    run(async {
        let upstream = server(None, |_, mut answer| async move {
            let fields = [("content-type", "application/grpc"), ("grpc-status", "12")];
            answer.send_response(response(200, &fields), true).unwrap();
        })
        .await;
        let leat = Leat::gateway(&config(format!("h2c://{upstream}"), BARE, "", "", ""), 1);
        let mut client = connect(leat.address(0)).await;
        let (answer, mut out) = client.send_request(request("POST", "http://h/s/m", GRPC), false).unwrap();
        // A client may still be sending.
        out.send_data("message".into(), false).unwrap();
        let answer = answer.await.unwrap();
        assert!(answer.body().is_end_stream(), "the head ends the stream");
        assert_eq!(answer.headers()["grpc-status"], "12");
        assert!(!answer.headers().contains_key("content-length"));
    });
}

#[test]
fn a_grpc_stream_may_pause_for_longer_than_other_bodies_take() {
    const PAUSE: Duration = Duration::from_millis(900);
    let json: &[(&str, &str)] = &[("content-type", "application/json")];
    run(async {
        let upstream = server(None, |asked, mut answer| async move {
            rest(&mut asked.into_body()).await;
            answer.send_response(response(200, &[("grpc-status", "0")]), true).unwrap();
        })
        .await;
        let root = format!("{BARE}\nlimits: {{ body_time: 600ms, throughput_grace: 300ms }}");
        for (what, fields, route, proxy, status) in [
            ("a call", GRPC, "", "", 200),
            ("a route that times them", GRPC, "limits: { body_time: 300ms }", "", 408),
            ("a client that is silent for too long", GRPC, "", "idle_time: 300ms", 408),
            ("another body", json, "", "", 408),
        ] {
            let leat = Leat::gateway(&config(format!("h2c://{upstream}"), &root, proxy, route, ""), 1);
            let mut client = connect(leat.address(0)).await;
            let (answer, mut out) = client.send_request(request("POST", "http://h/s/m", fields), false).unwrap();
            out.send_data("first".into(), false).unwrap();
            tokio::time::sleep(PAUSE).await;
            let _ = out.send_data("second".into(), true);
            assert_eq!(answer.await.unwrap().status().as_u16(), status, "{what}");
        }
    });
}

#[test]
fn a_large_body_obeys_the_windows_of_both_sides() {
    run(async {
        let upstream = server(None, |asked, mut answer| async move {
            let (body, _) = rest(&mut asked.into_body()).await;
            let mut out = answer.send_response(response(200, &[]), false).unwrap();
            out.reserve_capacity(body.len());
            let mut body = bytes::Bytes::from(body);
            while !body.is_empty() {
                let room = poll_fn(|cx| out.poll_capacity(cx)).await.unwrap().unwrap();
                let part = body.split_to(room.min(body.len()));
                out.send_data(part, body.is_empty()).unwrap();
            }
        })
        .await;
        let leat = Leat::gateway(&config(format!("h2c://{upstream}"), BARE, "", "", ""), 1);
        let mut client = connect(leat.address(0)).await;
        let (answer, mut out) = client.send_request(request("PUT", "http://h/", &[]), false).unwrap();
        out.reserve_capacity(3_000_000);
        let mut left = bytes::Bytes::from((0..3_000_000).map(|at| (at % 251) as u8).collect::<Vec<_>>());
        let whole = left.clone();
        while !left.is_empty() {
            let room = poll_fn(|cx| out.poll_capacity(cx)).await.unwrap().unwrap();
            let part = left.split_to(room.min(left.len()));
            out.send_data(part, left.is_empty()).unwrap();
        }
        let (body, _) = rest(&mut answer.await.unwrap().into_body()).await;
        assert!(body == whole, "{} of {} bytes", body.len(), whole.len());
    });
}
