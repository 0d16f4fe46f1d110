//! What is tried again where the configuration asks for it.

use std::time::{Duration, Instant};

use leat_testkit::{Client, Leat, Peer, Script, eventually};

use crate::backend::{Backend, ILL, Manner, WELL, config};
use crate::support::{self, OK, is_problem};

const FAST: &str = "backoff: 1ms, backoff_max: 2ms";

fn gateway(backends: &[&Backend], retry: &str) -> Leat {
    Leat::gateway(&config(backends, "", &format!("retry: {{ {FAST}, {retry} }}")), 1)
}

/// Sends one request to a gateway before two endpoints, of which the first behaves as given and the second is well.
fn first_of_two(manner: Manner, retry: &str, request: &str) -> (u16, String, [usize; 2]) {
    let [a, b] = [Backend::start("a", manner), Backend::start("b", WELL)];
    let leat = gateway(&[&a, &b], retry);
    let mut client = leat.connect();
    client.send(request);
    let response = client.response();
    (response.status, response.text().to_owned(), [a.requests(), b.requests()])
}

#[test]
fn an_outcome_is_tried_again_where_the_method_and_the_list_allow() {
    let get = "GET / HTTP/1.1\r\nhost: h\r\n\r\n";
    let put = "PUT / HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\n\r\nhello";
    let post = "POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\n\r\nhello";
    for (request, manner, retry, again) in [
        (get, ILL, "", true),
        (get, Manner::Answer(500, ""), "", false),
        (get, Manner::Answer(500, ""), "statuses: 500", true),
        (get, Manner::Answer(404, ""), "", false),
        (get, ILL, "retries_max: 0", false),
        (get, Manner::Close, "", true),
        (put, ILL, "", true),
        (put, Manner::Close, "", true),
        (put, ILL, "body_bytes_max: 4B", false),
        (post, ILL, "", false),
        (post, Manner::Close, "", false),
        (post, Manner::Answer(429, ""), "", true),
        (post, Manner::Answer(429, ""), "body_bytes_max: 4B", false),
        (post, ILL, "statuses_any_method: 503", true),
        (get, Manner::Answer(503, "retry-after: 0\r\n"), "", true),
        (get, Manner::Answer(503, "retry-after: 2\r\n"), "", false),
    ] {
        let (status, text, requests) = first_of_two(manner.clone(), retry, request);
        let case = format!("{request:?} {manner:?} {retry}");
        let body = if request.contains("hello") { "hello" } else { "" };
        if again {
            assert_eq!((status, text, requests), (200, format!("b{body}"), [1, 1]), "{case}");
        } else {
            assert_ne!(status, 200, "{case}");
            assert_eq!(requests, [1, 0], "{case}");
        }
    }
}

#[test]
fn a_body_of_unknown_length_comes_again_over_the_same_connection() {
    let ill = "HTTP/1.1 503 X\r\ncontent-length: 0\r\n\r\n";
    let script = Script::new().expect_until("\r\n0\r\n\r\n").send(ill).expect_until("5\r\nhello\r\n0\r\n\r\n").send(OK);
    let peer = Peer::listen([script]);
    let leat = Leat::gateway(&support::config(support::url(&peer), "", "", "", &format!("retry: {{ {FAST} }}")), 1);
    let request = "PUT / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n";
    assert_eq!(leat.connect().send(request).response().status, 200);
    assert_eq!(peer.connections(), 1);
    peer.finish();
}

#[test]
fn a_single_endpoint_that_was_away_for_a_moment_is_tried_again() {
    let a = Backend::start("a", WELL);
    let keys = "retry: { retries_max: 10, backoff: 50ms, backoff_max: 200ms }";
    let mut leat = Leat::gateway(&config(&[&a], "", keys), 1);
    a.kill();
    let mut client = leat.connect();
    client.send("POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 2\r\n\r\nhi");
    leat.admin();
    let a = a.restart();
    let response = client.response();
    assert_eq!((response.status, response.text()), (200, "ahi"));
    assert_eq!(a.requests(), 1);
    leat.wait_log("the tries", |line| line.contains("\"status\":200") && !line.contains("\"attempts\":1,"));
}

#[test]
fn a_try_that_takes_too_long_is_given_up_and_another_one_made_where_that_is_wanted() {
    let slow = Manner::Slow(Duration::from_secs(3));
    let get = "GET / HTTP/1.1\r\nhost: h\r\n\r\n";
    let (status, text, _) = first_of_two(slow.clone(), "try_time: 100ms, timeouts: true", get);
    assert_eq!((status, &*text), (200, "b"));
    let (status, text, requests) = first_of_two(slow, "try_time: 100ms", get);
    assert!(status == 504 && text.contains("upstream.response_time"), "{text}");
    assert_eq!(requests, [1, 0]);
}

#[test]
fn all_dead_is_told_with_the_last_reason_after_as_many_tries_as_may_be() {
    let [a, b] = [Backend::start("a", WELL), Backend::start("b", WELL)];
    let mut leat = gateway(&[&a, &b], "retries_max: 3");
    a.kill();
    b.kill();
    is_problem(&leat.connect().get("/").response(), 502, "upstream.connect");
    leat.wait_log("the tries", |line| line.contains("\"attempts\":4") && line.contains("upstream.connect"));
}

#[test]
fn the_last_answer_passes_where_no_try_is_left() {
    let a = Backend::start("a", ILL);
    let mut leat = gateway(&[&a], "retries_max: 2");
    let response = leat.connect().get("/").response();
    assert_eq!((response.status, response.text()), (503, "a"));
    assert_eq!(a.requests(), 3);
    leat.wait_log("the tries", |line| line.contains("\"attempts\":3") && !line.contains("\"reason\""));
}

#[test]
fn a_storm_of_retries_is_bounded_by_the_budget() {
    let a = Backend::start("a", ILL);
    let mut leat = gateway(&[&a], "retries_max: 5, budget_percent: 10, budget_per_second: 0, budget_burst: 8");
    let mut client = leat.connect();
    for _ in 0..200 {
        assert_eq!(client.get("/").response().status, 503);
    }
    let retries = a.requests() - 200;
    assert!((20..=28).contains(&retries), "{retries} retries of 200 requests: a tenth of them, and 8");
    let admin = leat.admin();
    let metrics = Client::connect(admin).get("/metrics").response().text().to_owned();
    let made = format!("leat_upstream_retries_total{{upstream=\"up\",outcome=\"made\"}} {retries}");
    assert!(metrics.contains(&made), "{made} is not in {metrics}");
    let errors = format!("reason=\"upstream.status\"}} {retries}");
    assert!(metrics.contains(&errors), "{errors} is not in {metrics}");
}

#[test]
fn a_client_that_goes_away_ends_the_wait() {
    let a = Backend::start("a", ILL);
    let mut leat = gateway(&[&a], "retries_max: 3, retry_after_max: 60s");
    a.behave(Manner::Answer(503, "retry-after: 30\r\n"));
    let mut client = leat.connect();
    client.get("/");
    eventually("the first try", || (a.requests() == 1).then_some(()));
    client.reset();
    let before = Instant::now();
    leat.wait_log("the client's end", |line| line.contains("peer.reset"));
    assert!(before.elapsed() < Duration::from_secs(20));
    assert_eq!(a.requests(), 1);
}

#[test]
fn no_wait_outlasts_the_exchange() {
    let a = Backend::start("a", Manner::Answer(503, "retry-after: 5\r\n"));
    let endpoint = a.url();
    let keys = format!("retry: {{ {FAST}, retry_after_max: 60s }}");
    let leat = Leat::gateway(&support::config(endpoint, "", "total_time: 2s", "", &keys), 1);
    let before = Instant::now();
    assert_eq!(leat.connect().get("/").response().text(), "a", "its answer is better than none");
    assert!(before.elapsed() < Duration::from_secs(2));
}
