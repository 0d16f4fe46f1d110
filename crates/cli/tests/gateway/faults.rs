//! Routes that fail, or are closed, because the configuration says so.

use std::time::{Duration, Instant};

use leat_testkit::{Leat, Peer};

use crate::support::{OK, answers, config, is_problem, url};

fn gateway(route: &str) -> Leat {
    Leat::gateway(
        &format!("listeners: 127.0.0.1:0\nworkers: 1\nroutes:\n  - {{ name: r, {route}, respond: {{ body: in }} }}\n"),
        1,
    )
}

#[test]
fn a_fault_answers_with_its_status() {
    for status in [400, 418, 503, 599] {
        let leat = gateway(&format!("faults: {{ status: {status} }}"));
        let mut client = leat.connect();
        is_problem(&client.get("/").response(), status, "fault.status");
        // The connection lives.
        is_problem(&client.get("/").response(), status, "fault.status");
    }
}

#[test]
fn a_fault_strikes_so_many_requests_and_no_others() {
    let leat = gateway("faults: { percent: 30, status: 503 }");
    let mut client = leat.connect();
    let struck = (0..1_000).filter(|_| client.get("/").response().status == 503).count();
    // Eight standard deviations to each side: a fair lot is outside once in 10^15 runs.
    assert!((184..=416).contains(&struck), "{struck}");

    let leat = gateway("faults: { header: x-fault, status: 503 }");
    let mut client = leat.connect();
    assert_eq!(client.get("/").response().text(), "in");
    client.send("GET / HTTP/1.1\r\nhost: h\r\nX-Fault: 1\r\n\r\n");
    is_problem(&client.response(), 503, "fault.status");
}

#[test]
fn a_fault_holds_a_request_and_no_other() {
    const DELAY: Duration = Duration::from_millis(300);
    let leat = gateway("faults: { header: x-slow, delay: 300ms }");
    let (mut slow, mut fast) = (leat.connect(), leat.connect());
    let started = Instant::now();
    slow.send("GET / HTTP/1.1\r\nhost: h\r\nx-slow: 1\r\n\r\n");
    assert_eq!(fast.get("/").response().text(), "in");
    assert!(started.elapsed() < DELAY, "{:?}", started.elapsed());
    assert_eq!(slow.response().text(), "in");
    assert!(started.elapsed() >= DELAY, "{:?}", started.elapsed());
}

#[test]
fn a_fault_resets_the_connection() {
    let leat = gateway("faults: { reset: true }");
    let mut client = leat.connect();
    client.get("/");
    assert!(client.was_reset(), "the connection ended in another way");
}

#[test]
fn a_request_that_is_held_reaches_the_upstream_after_all() {
    let peer = Peer::listen([answers(OK, 1)]);
    let leat = Leat::gateway(&config(url(&peer), "", "", "faults: { delay: 50ms }", ""), 1);
    let mut client = leat.connect();
    client.send("POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 2\r\n\r\nhi");
    assert_eq!(client.response().text(), "ok");
    let received = peer.finish();
    assert!(received.first().is_some_and(|bytes| bytes.ends_with(b"hi")));
}

#[test]
fn a_closed_route_is_open_for_those_it_names() {
    for (maintenance, wanted) in [
        ("{}", Some(None)),
        ("{ retry_after: 10m }", Some(Some("600"))),
        ("{ except: 10.0.0.0/8, retry_after: 90s }", Some(Some("90"))),
        ("{ except: 127.0.0.0/8 }", None),
    ] {
        let leat = gateway(&format!("maintenance: {maintenance}"));
        let response = leat.connect().get("/").response();
        match wanted {
            None => assert_eq!(response.text(), "in"),
            Some(retry_after) => {
                is_problem(&response, 503, "route.maintenance");
                assert_eq!(response.field("retry-after"), retry_after, "{maintenance}");
            }
        }
    }
}
