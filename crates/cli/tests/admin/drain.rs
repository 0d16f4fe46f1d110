//! An endpoint is drained: no new requests, and what is under way goes on.

use leat_testkit::{Gate, Leat, Peer, Script, eventually};
use serde_json::{Value, json};

use crate::asked::{gateway, get, json, post, refusal, with_admin};
use crate::support::{Load, Manner, Upstream, metric};

fn config(upstreams: &[&Upstream], more: &str) -> String {
    let urls: Vec<String> = upstreams.iter().map(|upstream| format!("'http://{}'", upstream.address())).collect();
    format!(
        "workers: 2\nroutes: [{{ proxy: up }}]\nupstreams: {{ up: {{ endpoints: [{}]{more} }} }}\n",
        urls.join(", ")
    )
}

fn endpoint(leat: &mut Leat, at: usize) -> Value {
    get(leat, "/upstreams/up")["endpoints"][at].clone()
}

fn requests(leat: &mut Leat, at: usize) -> u64 {
    endpoint(leat, at)["requests"].as_u64().unwrap()
}

fn drain(leat: &mut Leat, upstream: &Upstream, what: &str) -> Value {
    json(&post(leat, &format!("/upstreams/up/endpoints/{}/{what}", upstream.address()), ""))
}

#[test]
fn no_request_fails_when_an_endpoint_is_drained_under_load_and_it_gets_no_more() {
    let [a, b] = ["a", "b"].map(Upstream::start);
    for policies in ["", ", balance: least_request, outliers: {}, retry: {}", ", balance: peak_ewma"] {
        let mut leat = gateway(&config(&[&a, &b], policies));
        let load =
            Load::start(leat.address(0), &[Manner::KeepAlive, Manner::KeepAlive, Manner::Fresh], &["/", "/slow"]);
        load.wait_answered(40);
        let answer = drain(&mut leat, &a, "drain");
        assert_eq!(answer["drain"], json!({ "endpoints": 1, "changed": 1 }), "{answer}");
        assert_eq!(answer["upstream"]["endpoints"][0]["draining"], true, "{answer}");
        eventually("the endpoint is empty", || (endpoint(&mut leat, 0)["requests_under_way"] == 0).then_some(()));
        // A request's count comes with its end.
        let before = requests(&mut leat, 0);
        load.wait_answered(40);
        assert_eq!(requests(&mut leat, 0), before, "{policies}");
        for number in 0..5 {
            leat.rewrite(&with_admin(&config(&[&a, &b], &format!("{policies}, queue_max: {}", 100 + number))));
            assert_eq!(json(&post(&mut leat, "/reload", ""))["reloaded"], true);
            load.wait_answered(20);
            assert_eq!(
                (requests(&mut leat, 0), &endpoint(&mut leat, 0)["draining"]),
                (before, &json!(true)),
                "{policies}"
            );
        }
        assert_eq!(drain(&mut leat, &a, "drain")["drain"], json!({ "endpoints": 1, "changed": 0 }));
        drain(&mut leat, &a, "undrain");
        eventually("requests for it again", || (requests(&mut leat, 0) > before).then_some(()));
        let outcome = load.finish();
        assert_eq!(
            (outcome.failures, outcome.refused),
            (Vec::new(), 0),
            "{policies}: after {} replies",
            outcome.answered
        );
    }
}

#[test]
fn what_is_under_way_goes_on_and_is_counted_until_it_ends() {
    let gate = Gate::new();
    let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n";
    let switch = "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n";
    let stream = Script::new().expect_head().send(head).wait(&gate).send("3\r\ntwo\r\n0\r\n\r\n");
    let tunnel = Script::new().expect_head().send(switch).expect("ping").wait(&gate).send("pong").close();
    let peer = Peer::listen([stream, tunnel]);
    let mut leat = gateway(&format!(
        "workers: 1\nroutes: [{{ proxy: up }}]\nupstreams: {{ up: {{ endpoints: 'http://{}' }} }}\n",
        peer.address()
    ));
    let mut streaming = leat.connect();
    streaming.get("/").until("one");
    let mut socket = leat.connect();
    socket.send("GET / HTTP/1.1\r\nhost: h\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");
    assert_eq!(socket.response().status, 101);
    socket.send("ping");
    let admin = leat.admin();
    let url = format!("http%3A%2F%2F{}", peer.address());
    json(&post(&mut leat, &format!("/upstreams/up/endpoints/{url}/drain"), ""));
    assert_eq!(endpoint(&mut leat, 0)["requests_under_way"], 2);
    let labels = format!("{{upstream=\"up\",endpoint=\"http://{}\"}}", peer.address());
    let shown = |name: &str| metric(admin, &format!("{name}{labels}"));
    assert_eq!((shown("leat_upstream_requests_under_way"), shown("leat_upstream_draining")), (2, 1));
    let refused = leat.connect().get("/").response();
    assert_eq!(refusal(&refused), (503, "upstream.draining".to_owned()));
    gate.open();
    streaming.until("two\r\n0\r\n\r\n");
    assert_eq!(socket.until("pong"), b"pong");
    drop(socket);
    eventually("the endpoint is empty", || (endpoint(&mut leat, 0)["requests_under_way"] == 0).then_some(()));
}

#[test]
fn an_endpoint_that_went_and_came_again_is_not_drained_and_one_that_stays_is() {
    let [a, b, c] = ["a", "b", "c"].map(Upstream::start);
    let mut leat = gateway(&config(&[&a, &b], ""));
    drain(&mut leat, &a, "drain");
    drain(&mut leat, &b, "drain");
    leat.rewrite(&with_admin(&config(&[&c, &b], "")));
    post(&mut leat, "/reload", "");
    assert_eq!(
        (&endpoint(&mut leat, 0)["draining"], &endpoint(&mut leat, 1)["draining"]),
        (&json!(false), &json!(true))
    );
    leat.rewrite(&with_admin(&config(&[&a, &b], "")));
    post(&mut leat, "/reload", "");
    assert_eq!(
        (&endpoint(&mut leat, 0)["draining"], &endpoint(&mut leat, 1)["draining"]),
        (&json!(false), &json!(true))
    );
    assert_eq!(leat.connect().get("/").response().text(), "a");
    for path in ["/upstreams/up/endpoints/127.0.0.1:1/drain", "/upstreams/none/endpoints/127.0.0.1:1/drain"] {
        assert_eq!(refusal(&post(&mut leat, path, "")), (404, "admin.unknown".to_owned()));
    }
    // The token goes from the file, and with it who could undrain: what is drained is not forgotten.
    leat.rewrite(&config(&[&a, &b], "").replace("workers", "listeners: 127.0.0.1:0\nadmin: 127.0.0.1:0\nworkers"));
    leat.reload();
    eventually("the token to go", || (get(&mut leat, "/info")["writes"] == false).then_some(()));
    assert_eq!(endpoint(&mut leat, 1)["draining"], true);
}
