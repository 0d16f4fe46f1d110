//! A second try beside one that takes long.

use std::time::{Duration, Instant};

use leat_testkit::{Client, Gate, Leat, Peer, Script, eventually};

use crate::backend::{Backend, ILL, Manner, WELL, config, upstream};
use crate::h2_peers;
use crate::support::{OK, is_problem};

const GET: &str = "GET / HTTP/1.1\r\nhost: h\r\n\r\n";
const PUT: &str = "PUT / HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\n\r\nhello";
const POST: &str = "POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\n\r\nhello";
const CHUNKED: &str = "PUT / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n";

/// Slower than any test waits for.
const STUCK: Manner = Manner::Slow(Duration::from_secs(30));

fn keys(retry: &str, hedge: &str) -> String {
    format!("retry: {{ backoff: 1ms, backoff_max: 2ms, {retry} }}, hedge: {{ {hedge} }}")
}

fn told(leat: &mut Leat, path: &str) -> String {
    let admin = leat.admin();
    Client::connect(admin).get(path).response().text().to_owned()
}

/// Hedges that were made, that won, and that were denied.
fn hedges(leat: &mut Leat) -> [u64; 3] {
    let metrics = told(leat, "/metrics");
    ["made", "won", "denied"].map(|outcome| {
        let series = format!("leat_upstream_hedges_total{{upstream=\"up\",outcome=\"{outcome}\"}} ");
        let line = metrics.lines().find_map(|line| line.strip_prefix(&series));
        line.unwrap_or_else(|| panic!("{series} is not in {metrics}")).parse().unwrap()
    })
}

#[test]
fn a_hedge_is_a_try_with_a_time_of_its_own() {
    for (second, retry, status, requests) in [
        (350, "timeouts: false", 200, [1, 1]),
        (350, "timeouts: true", 200, [1, 1]),
        (2_000, "timeouts: false", 504, [1, 1]),
    ] {
        let [a, b] = [Backend::start("a", STUCK), Backend::start("b", Manner::Slow(Duration::from_millis(second)))];
        let keys = keys(&format!("try_time: 600ms, {retry}"), "after: 400ms");
        let leat = Leat::gateway(&config(&[&a, &b], "", &keys), 1);
        let before = Instant::now();
        let response = leat.connect().get("/").response();
        assert_eq!((response.status, [a.requests(), b.requests()]), (status, requests), "{second} {retry}");
        let took = before.elapsed();
        // The time of the first is over after 600 ms, that of the second after 1,000.
        assert!(took > Duration::from_millis(700) && took < Duration::from_millis(1_500), "{second} {retry}: {took:?}");
    }
}

#[test]
fn a_failure_of_the_first_try_is_no_answer_while_a_hedge_is_under_way() {
    const FAILED: &str = "HTTP/1.1 503 X\r\ncontent-length: 1\r\n\r\na";
    for (second, status, text) in
        [(Manner::Slow(Duration::from_millis(400)), 200, "b"), (ILL, 503, "a"), (Manner::Close, 503, "a")]
    {
        let gate = Gate::new();
        let a = Peer::listen([Script::new().expect_head().wait(&gate).send(FAILED)]);
        let b = Backend::start("b", second.clone());
        let endpoints = format!("\"http://{}\", \"{}\"", a.address(), b.url());
        // The hedge is the one try more that there may be.
        let leat = Leat::gateway(&upstream(&endpoints, "", &keys("retries_max: 1", "after: 50ms")), 1);
        let mut client = leat.connect();
        client.get("/");
        eventually("the hedge", || (b.requests() == 1).then_some(()));
        gate.open();
        let response = client.response();
        assert_eq!((response.status, response.text()), (status, text), "{second:?}");
        assert_eq!(b.requests(), 1, "{second:?}");
    }
}

#[test]
fn the_first_head_wins_and_every_backend_gets_what_it_should() {
    let slow = Manner::Slow(Duration::from_millis(1_500));
    for (first, second, request, status, text, requests, counts) in [
        (WELL, WELL, GET, 200, "a", [1, 0], [0, 0, 0]),
        (STUCK, WELL, GET, 200, "b", [1, 1], [1, 1, 0]),
        (STUCK, WELL, PUT, 200, "bhello", [1, 1], [1, 1, 0]),
        (slow.clone(), STUCK, GET, 200, "a", [1, 1], [1, 0, 0]),
        // Twice is not once.
        (slow.clone(), WELL, POST, 200, "ahello", [1, 0], [0, 0, 0]),
        // A failure that is quick is no help.
        (slow.clone(), ILL, GET, 200, "a", [1, 1], [1, 0, 0]),
        (slow.clone(), Manner::Close, GET, 200, "a", [1, 1], [1, 0, 0]),
    ] {
        let case = format!("{first:?} {second:?} {request:?}");
        let [a, b] = [Backend::start("a", first), Backend::start("b", second)];
        let mut leat = Leat::gateway(&config(&[&a, &b], "", &keys("", "after: 100ms")), 1);
        let mut client = leat.connect();
        client.send(request);
        let response = client.response();
        assert_eq!((response.status, response.text()), (status, text), "{case}");
        assert_eq!([a.requests(), b.requests()], requests, "{case}");
        assert_eq!(hedges(&mut leat), counts, "{case}");
        let tries = format!("\"attempts\":{}", 1 + counts[0]);
        if counts[0] > 0 {
            let winner = if counts[1] > 0 { b.url() } else { a.url() };
            leat.wait_log("the tries", |line| line.contains(&tries) && line.contains(&winner));
        }
    }
}

#[test]
fn a_body_that_is_kept_goes_with_the_hedge_and_one_that_is_not_forbids_it() {
    for (retry, hedged) in [("", true), ("body_bytes_max: 4B", false)] {
        let first = Peer::listen([Script::new().expect_until("5\r\nhello\r\n0\r\n\r\n").expect_end(), Script::new()]);
        let first = if hedged { first } else { Peer::listen([Script::new().expect_until("0\r\n\r\n").send(OK)]) };
        let second = Peer::listen([Script::new().expect_until("5\r\nhello\r\n0\r\n\r\n").send(OK)]);
        let endpoints = format!("\"http://{}\", \"http://{}\"", first.address(), second.address());
        let mut leat = Leat::gateway(&upstream(&endpoints, "", &keys(retry, "after: 50ms")), 1);
        assert_eq!(leat.connect().send(CHUNKED).response().status, 200);
        assert_eq!(second.connections(), usize::from(hedged), "{retry}");
        assert_eq!(hedges(&mut leat)[0], u64::from(hedged));
        if hedged {
            second.finish();
        }
    }
}

#[test]
fn the_try_that_lost_is_cancelled() {
    // The script ends well only if the gateway closes the connection without another byte.
    let slow = Peer::listen([Script::new().expect_head().expect_end().close()]);
    let fast = Peer::listen([Script::new().expect_head().send(OK)]);
    let endpoints = format!("\"http://{}\", \"http://{}\"", slow.address(), fast.address());
    let leat = Leat::gateway(&upstream(&endpoints, "", &keys("", "after: 50ms")), 1);
    let mut client = leat.connect();
    client.send(GET);
    assert_eq!(client.response().text(), "ok");
    slow.finish();
    fast.finish();
}

#[test]
fn a_stream_that_lost_is_reset_with_cancel() {
    h2_peers::run(async {
        let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
        let slow = h2_peers::server(None, move |_, mut answer| {
            let tell = tell.clone();
            async move {
                let reason = std::future::poll_fn(|cx| answer.poll_reset(cx)).await;
                let _ = tell.send(reason.ok());
            }
        });
        let fast = h2_peers::server(None, |_, mut answer| async move {
            let mut body = answer.send_response(h2_peers::response(200, &[]), false).unwrap();
            body.send_data("ok".into(), true).unwrap();
        });
        let endpoints = format!("\"h2c://{}\", \"h2c://{}\"", slow.await, fast.await);
        let client = tokio::task::spawn_blocking(move || {
            let leat = Leat::gateway(&upstream(&endpoints, "", &keys("", "after: 50ms")), 1);
            (leat.connect().get("/").response().text().to_owned(), leat)
        });
        let (text, _leat) = client.await.unwrap();
        assert_eq!(text, "ok");
        assert_eq!(told.recv().await, Some(Some(h2::Reason::CANCEL)));
    });
}

#[test]
fn hedges_never_are_more_than_the_budget_the_endpoints_and_the_maximum_allow() {
    for (retry, hedge, count, requests) in [
        ("", "after: 50ms, max: 3", 3, 2),
        ("", "after: 50ms, max: 1", 3, 1),
        ("", "after: 50ms, max: 3", 1, 0),
        ("budget_percent: 0, budget_per_second: 0, budget_burst: 1", "after: 50ms, max: 3", 3, 1),
    ] {
        let backends: Vec<Backend> = (0..count).map(|_| Backend::start("x", STUCK)).collect();
        let list: Vec<&Backend> = backends.iter().collect();
        let mut leat = Leat::gateway(&config(&list, "", &keys(retry, hedge)), 1);
        let mut client = leat.connect();
        client.send(GET);
        let all = || backends.iter().map(Backend::requests).sum::<usize>();
        eventually("the hedges", || (all() == requests + 1).then_some(()));
        // Twice the time in which there could have been another.
        std::thread::sleep(Duration::from_millis(200));
        assert_eq!(all(), requests + 1, "{retry} {hedge} {count}");
        let [made, won, denied] = hedges(&mut leat);
        assert_eq!((made, won), (requests as u64, 0), "{retry} {hedge} {count}");
        assert_eq!(denied > 0, retry.contains("burst"), "{retry} {hedge} {count}");
    }
}

#[test]
fn with_all_dead_or_stuck_the_client_is_told_in_time() {
    let [a, b] = [Backend::start("a", STUCK), Backend::start("b", STUCK)];
    let text = config(&[&a, &b], "", &keys("", "after: 50ms"));
    let text = text.replace("proxy: up", "proxy: { upstream: up, total_time: 400ms }");
    let leat = Leat::gateway(&text, 1);
    let started = Instant::now();
    is_problem(&leat.connect().get("/").response(), 504, "upstream.total_time");
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert_eq!([a.requests(), b.requests()], [1, 1]);

    // The first ends without an answer while the hedge is under way, then the hedge: no other try is left.
    let gate = leat_testkit::Gate::new();
    let dying = || Peer::listen([Script::new().expect_head().wait(&gate).close()]);
    let [first, second] = [dying(), dying()];
    let endpoints = format!("\"http://{}\", \"http://{}\"", first.address(), second.address());
    let mut leat = Leat::gateway(&upstream(&endpoints, "", &keys("retries_max: 1", "after: 50ms")), 1);
    let mut client = leat.connect();
    client.send(GET);
    second.wait_connections(1);
    eventually("the hedge", || (hedges(&mut leat)[0] == 1).then_some(()));
    gate.open();
    is_problem(&client.response(), 502, "upstream.reset");
    assert_eq!([first.connections(), second.connections()], [1, 1]);
}

#[test]
fn a_hedge_still_answers_where_the_first_try_has_died() {
    let (die, answer) = (leat_testkit::Gate::new(), leat_testkit::Gate::new());
    let first = Peer::listen([Script::new().expect_head().wait(&die).close()]);
    let second = Peer::listen([Script::new().expect_head().wait(&answer).send(OK)]);
    let endpoints = format!("\"http://{}\", \"http://{}\"", first.address(), second.address());
    let mut leat = Leat::gateway(&upstream(&endpoints, "", &keys("", "after: 50ms")), 1);
    let mut client = leat.connect();
    client.send(GET);
    eventually("the hedge", || (hedges(&mut leat)[0] == 1).then_some(()));
    die.open();
    first.finish();
    answer.open();
    assert_eq!(client.response().text(), "ok");
    assert_eq!(hedges(&mut leat), [1, 1, 0]);
}

#[test]
fn a_percentile_is_measured_before_it_is_used() {
    let [a, b] = [Backend::start("a", WELL), Backend::start("b", WELL)];
    let mut leat = Leat::gateway(&config(&[&a, &b], "", &keys("", "after: p90")), 1);
    let mut client = leat.connect();
    for _ in 0..120 {
        assert_eq!(client.get("/").response().status, 200);
    }
    let before = hedges(&mut leat)[0];
    a.behave(STUCK);
    let started = Instant::now();
    (0..4).for_each(|_| assert_eq!(client.get("/").response().text(), "b"));
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    assert!(hedges(&mut leat)[0] >= before + 2);
}

#[test]
fn a_response_that_has_begun_is_not_hedged_and_nobody_else_waits_for_it() {
    let early =
        Script::new().expect_head().send("HTTP/1.1 200 OK\r\ncontent-length: 9000000\r\n\r\n").send_bytes(9_000_000);
    let (a, b) = (Peer::listen([early]), Backend::start("b", WELL));
    let endpoints =
        format!("{{ url: \"http://{}\", priority: 0 }}, {{ url: \"{}\", priority: 1 }}", a.address(), b.url());
    let config = upstream(&endpoints, "", &keys("", "after: 20ms"));
    let other = "routes: [{ match: { path: /other }, respond: { body: here } }, ";
    let mut leat = Leat::gateway(&config.replace("routes: [", other), 1);
    let mut client = leat.connect();
    // The answer is there before the request's end, and the client then reads nothing of it for longer than a hedge waits.
    client.send("GET / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n").until("\r\n\r\n");
    client.send("0\r\n\r\n");
    let since = Instant::now();
    while since.elapsed() < Duration::from_millis(200) {
        assert_eq!(leat.connect().get("/other").response().text(), "here");
    }
    assert_eq!((hedges(&mut leat), b.requests()), ([0, 0, 0], 0));
    client.discard(9_000_000);
}
