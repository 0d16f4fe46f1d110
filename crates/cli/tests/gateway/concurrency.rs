//! How many requests an upstream is given at once.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use leat_testkit::{Client, Leat, eventually};

use crate::backend::{Backend, Manner, WELL, config};
use crate::support::is_problem;

fn told(leat: &mut Leat, path: &str) -> String {
    let admin = leat.admin();
    let asked = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    Client::connect(admin).send(asked).response().text().to_owned()
}

/// What the upstream's limit is told to be: limit, under way, waiting and turned away.
fn gate(leat: &mut Leat) -> [u64; 4] {
    let upstreams: serde_json::Value = serde_json::from_str(&told(leat, "/upstreams")).unwrap();
    let gate = &upstreams["upstreams"][0]["concurrency"];
    ["limit", "in_flight", "waiting", "refused"].map(|key| gate[key].as_u64().unwrap())
}

#[test]
fn so_many_are_under_way_so_many_wait_and_the_others_are_told_when_to_come_again() {
    let a = Backend::start("a", Manner::Slow(Duration::from_millis(700)));
    let keys = "concurrency: { min: 2, max: 2, queue_max: 2, queue_time: 60s }";
    let mut leat = Leat::gateway(&config(&[&a], "workers: 2", keys), 1);
    let get = "GET / HTTP/1.1\r\nhost: h\r\n\r\n";
    let mut clients: Vec<Client> = Vec::new();
    for (number, wanted) in [[2, 1, 0, 0], [2, 2, 0, 0], [2, 2, 1, 0], [2, 2, 2, 0]].into_iter().enumerate() {
        let mut client = leat.connect();
        client.send(get);
        clients.push(client);
        eventually(&format!("request {number}"), || (gate(&mut leat) == wanted).then_some(()));
    }
    let refused = leat.connect().get("/").response();
    is_problem(&refused, 503, "upstream.concurrency");
    assert_eq!(refused.field("retry-after"), Some("1"));
    assert!(a.requests() <= 2, "{}", a.requests());
    for client in &mut clients {
        assert_eq!(client.response().status, 200);
    }
    assert_eq!(a.requests(), 4, "those that waited came through");
    assert_eq!(gate(&mut leat), [2, 0, 0, 1]);
    let metrics = told(&mut leat, "/metrics");
    for line in [
        "leat_upstream_concurrency_limit{upstream=\"up\"} 2",
        "leat_upstream_concurrency_in_flight{upstream=\"up\"} 0",
        "leat_upstream_concurrency_refused_total{upstream=\"up\"} 1",
        "leat_refusals_total{reason=\"upstream.concurrency\",blame=\"upstream\"} 1",
    ] {
        assert!(metrics.contains(line), "{line} is not in {metrics}");
    }
}

#[test]
fn who_waits_too_long_is_turned_away_and_who_leaves_makes_room() {
    let a = Backend::start("a", Manner::Slow(Duration::from_secs(5)));
    let keys = "concurrency: { min: 1, max: 1, queue_max: 1, queue_time: 100ms }";
    let mut leat = Leat::gateway(&config(&[&a], "", keys), 1);
    let mut first = leat.connect();
    first.send("GET / HTTP/1.1\r\nhost: h\r\n\r\n");
    eventually("the first request", || (gate(&mut leat)[1] == 1).then_some(()));
    is_problem(&leat.connect().get("/").response(), 503, "upstream.concurrency");
    assert_eq!(gate(&mut leat), [1, 1, 0, 1]);
    drop(first);
    eventually("its end", || (gate(&mut leat)[1] == 0).then_some(()));
    a.behave(WELL);
    assert_eq!(leat.connect().get("/").response().status, 200);
}

/// A backend that does one thing at a time, and 24 clients that all want something.
#[test]
fn an_overloaded_upstream_is_given_what_it_can_do_and_no_more() {
    let a = Backend::start("a", Manner::InTurn(Duration::from_millis(2)));
    let keys = "concurrency: { window: 20ms, queue_max: 0 }";
    let mut leat = Leat::gateway(&config(&[&a], "workers: 2", keys), 1);
    let served = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..24 {
            scope.spawn(|| {
                let mut client = leat.connect();
                for _ in 0..80 {
                    let response = client.get("/").response();
                    match response.status {
                        200 => {
                            served.fetch_add(1, SeqCst);
                        }
                        _ => {
                            is_problem(&response, 503, "upstream.concurrency");
                            std::thread::sleep(Duration::from_millis(5));
                        }
                    }
                }
            });
        }
    });
    let [limit, in_flight, waiting, refused] = gate(&mut leat);
    let served = served.into_inner();
    assert_eq!((served as u64 + refused, in_flight, waiting), (24 * 80, 0, 0));
    assert_eq!(a.requests(), served, "nothing that was turned away got there");
    // By its definition it rests at 9 for such a server, 1.5 × 4 + sqrt(9), and higher where a busy machine makes the
    // time that is taken for the shortest a long one. Without it all 24 would be there.
    assert!(limit <= 18 && a.most() <= 20, "{limit} at the end, {} at once", a.most());
    assert!(served >= 200, "{served}");
}
