//! Active health checks.

use std::cell::{Cell, RefCell};
use std::net::TcpListener;
use std::rc::Rc;
use std::time::Duration;

use leat_testkit::{Client, Leat, Peer, Script, eventually};

use crate::backend::{Backend, ILL, WELL, config, upstream};
use crate::h2_peers::{piece, response, run, server, trailers};
use crate::support::{OK, answers, is_problem, url};

const FAST: &str = "interval: 40ms, failures: 2, successes: 2";

fn is_told(leat: &mut Leat, url: &str, well: bool) -> bool {
    let admin = leat.admin();
    let metrics = Client::connect(admin).get("/metrics").response().text().to_owned();
    metrics.contains(&format!("leat_upstream_well{{upstream=\"up\",endpoint=\"{url}\"}} {}", u8::from(well)))
}

#[test]
fn an_endpoint_that_fails_its_checks_gets_no_requests_until_it_is_well_again() {
    for check in ["path: /healthz", "check: tcp"] {
        let [a, b] = [Backend::start("a", WELL), Backend::start("b", WELL)];
        let mut leat = Leat::gateway(&config(&[&a, &b], "", &format!("health: {{ {check}, {FAST} }}")), 1);
        let mut client = leat.connect();
        assert_eq!([(); 2].map(|()| client.get("/").response().text().to_owned()), ["a", "b"], "well at first");
        a.kill();
        eventually("the endpoint's failure", || is_told(&mut leat, &a.url(), false).then_some(()));
        leat.wait_log("the event", |line| line.contains("endpoint_unwell") && line.contains(&a.url()));
        (0..10).for_each(|_| assert_eq!(client.get("/").response().text(), "b"));
        let a = a.restart();
        eventually("the endpoint's recovery", || is_told(&mut leat, &a.url(), true).then_some(()));
        let found: String = (0..4).map(|_| client.get("/").response().text().to_owned()).collect();
        assert_eq!(found.matches('a').count(), 2, "{check}: {found}");
    }
}

#[test]
fn a_status_other_than_2xx_fails_and_where_all_fail_requests_are_refused() {
    let [a, b] = [Backend::start("a", ILL), Backend::start("b", ILL)];
    let mut leat = Leat::gateway(&config(&[&a, &b], "", &format!("health: {{ {FAST} }}")), 1);
    let urls = [a.url(), b.url()];
    eventually("both to fail", || urls.iter().all(|url| is_told(&mut leat, url, false)).then_some(()));
    let mut client = leat.connect();
    is_problem(&client.get("/").response(), 503, "upstream.unhealthy");
    // What was found stays over a reload, and the checks go on.
    leat.rewrite(&config(&[&b, &a], "", &format!("health: {{ {FAST} }}, queue_max: 7")));
    leat.reload();
    leat.wait_log("the reload", |line| line.contains("\"event\":\"reloaded\""));
    is_problem(&leat.connect().get("/").response(), 503, "upstream.unhealthy");
    a.behave(WELL);
    eventually("the recovery", || (leat.connect().get("/").response().text() == "a").then_some(()));
}

#[test]
fn a_check_asks_for_its_path_and_host_on_a_connection_of_its_own() {
    let peer = Peer::listen([answers(OK, 1)]);
    let keys = "health: { path: \"/up?a=1\", host: app.internal, interval: 40ms }";
    let _leat = Leat::gateway(&upstream(&format!("\"{}\"", url(&peer)), "", keys), 1);
    peer.wait_connections(3);
    let received = peer.finish();
    let head = String::from_utf8_lossy(&received[0]).into_owned();
    assert_eq!(head, "GET /up?a=1 HTTP/1.1\r\nhost: app.internal\r\nuser-agent: leat-health\r\n\r\n");
}

#[test]
fn a_server_that_accepts_and_says_nothing_is_found_by_its_time() {
    let peer = Peer::listen([Script::new().expect_head()]);
    let url = url(&peer);
    let keys = format!("health: {{ time: 60ms, {FAST} }}");
    let mut leat = Leat::gateway(&upstream(&format!("\"{url}\""), "", &keys), 1);
    leat.wait_log("the event", |line| line.contains("endpoint_unwell") && line.contains("no answer in time"));
    assert!(is_told(&mut leat, &url, false));
}

#[test]
fn a_server_that_speaks_no_grpc_fails_a_grpc_check() {
    let peer = Peer::listen([answers(OK, 1)]);
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for address in [peer.address(), free] {
        let keys = format!("health: {{ check: grpc, service: shop.Orders, {FAST} }}");
        let mut leat = Leat::gateway(&upstream(&format!("\"h2c://{address}\""), "", &keys), 1);
        eventually("the failure", || is_told(&mut leat, &format!("h2c://{address}"), false).then_some(()));
    }
}

#[test]
fn a_grpc_server_is_well_as_long_as_it_says_that_it_serves() {
    run(async {
        let serving = Rc::new(Cell::new(true));
        let asked = Rc::new(RefCell::new(String::new()));
        let (says, heard) = (Rc::clone(&serving), Rc::clone(&asked));
        let server = server(None, move |request, mut answer| {
            let (says, heard) = (Rc::clone(&says), Rc::clone(&heard));
            async move {
                let path = request.uri().path().to_owned();
                let body = piece(&mut request.into_body()).await.unwrap();
                heard.replace(format!("{path} {body:?}"));
                let status = if says.get() { 1 } else { 2 };
                let head = response(200, &[("content-type", "application/grpc")]);
                let mut out = answer.send_response(head, false).unwrap();
                out.send_data(vec![0, 0, 0, 0, 2, 8, status].into(), false).unwrap();
                out.send_trailers(trailers(&[("grpc-status", "0")])).unwrap();
            }
        })
        .await;
        let url = format!("h2c://{server}");
        let keys = format!("health: {{ check: grpc, service: a.B, {FAST} }}");
        let mut leat = Leat::gateway(&upstream(&format!("\"{url}\""), "", &keys), 1);
        while asked.borrow().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(*asked.borrow(), "/grpc.health.v1.Health/Check b\"\\0\\0\\0\\0\\x05\\n\\x03a.B\"");
        for well in [false, true] {
            serving.set(well);
            let url = url.clone();
            let waiting = tokio::task::spawn_blocking(move || {
                eventually("the word", || (is_told(&mut leat, &url, well)).then_some(()));
                leat
            });
            leat = waiting.await.unwrap();
        }
    });
}
