//! Everything that a reload keeps, at once and under load: twenty reloads, and no request fails that should not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use leat_testkit::{Client, Folder, Gate, Leat, Peer, Response, Script, eventually};
use support::{Load, Manner, Upstream, events, metric};

const RELOADS: usize = 20;

struct Behind {
    pooled: Upstream,
    well: Upstream,
    unwell: Peer,
    broken: Peer,
    aside: Peer,
    tunnels: Peer,
    streams: Peer,
}

/// A configuration that differs from the one before in its routes, its limits and in settings of every upstream.
fn config(number: usize, behind: &Behind) -> String {
    let queue_max = 100 + number;
    let Behind { pooled, well, unwell, broken, aside, tunnels, streams } = behind;
    format!(
        "listeners: 127.0.0.1:0
admin: 127.0.0.1:0
access_log: off
workers: 2
limits: {{ head_bytes_max: {}KiB }}
rate_limits: {{ few: {{ rate: 5/h, key: 'header:x-client' }} }}
routes:
  - {{ name: n{number}, match: {{ path: /number }}, respond: {{ body: '{number}' }} }}
  - {{ match: {{ path: /limited }}, rate_limits: few, respond: {{ body: in }} }}
  - {{ match: {{ prefix: /pooled }}, proxy: pooled }}
  - {{ match: {{ prefix: /checked }}, proxy: checked }}
  - {{ match: {{ prefix: /ejected }}, proxy: ejected }}
  - {{ match: {{ path: /broken }}, proxy: broken }}
  - {{ match: {{ path: /tunnel }}, proxy: 'http://{}' }}
  - {{ match: {{ path: /stream }}, proxy: 'http://{}' }}
upstreams:
  pooled: {{ endpoints: 'http://{}', queue_max: {queue_max} }}
  checked: {{ endpoints: ['http://{well}', 'http://{}'], health: {{ interval: 5m, failures: 1 }}, queue_max: {queue_max} }}
  ejected: {{ endpoints: ['http://{well}', 'http://{}'], outliers: {{ failures: 2, ejection: 10m, ejection_max: 10m }}, queue_max: {queue_max} }}
  broken: {{ endpoints: 'http://{}', breaker: {{ failures: 2, open: 10m, open_max: 10m }}, queue_max: {queue_max} }}
",
        32 + number,
        tunnels.address(),
        streams.address(),
        pooled.address(),
        unwell.address(),
        aside.address(),
        broken.address(),
        well = well.address(),
    )
}

fn limited(client: &mut Client, who: &str) -> Response {
    client.send(format!("GET /limited HTTP/1.1\r\nhost: h\r\nx-client: {who}\r\n\r\n")).response()
}

fn code(response: &Response) -> &str {
    response.text().split("\"code\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default()
}

#[test]
fn twenty_reloads_under_load_keep_connections_counts_breakers_health_and_pools() {
    let ill = "HTTP/1.1 503 X\r\ncontent-length: 0\r\n\r\n";
    let is_ill = || Peer::listen([Script::new().expect_head().send(ill).repeated(1_000)]);
    let switch = "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n";
    let tunnel = (0..=RELOADS).fold(Script::new().expect_head().send(switch), |script, number| {
        script.expect(format!("<ping {number}>")).send(format!("<pong {number}>"))
    });
    let gates: Vec<Gate> = (0..=RELOADS).map(|_| Gate::new()).collect();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let stream = gates.iter().enumerate().fold(Script::new().expect_head().send(head), |script, (number, gate)| {
        let event = format!("data: {number:02}\n\n");
        script.wait(gate).send(format!("{:x}\r\n{event}\r\n", event.len()))
    });
    let behind = Behind {
        pooled: Upstream::start("pooled"),
        well: Upstream::start("well"),
        unwell: is_ill(),
        broken: is_ill(),
        aside: is_ill(),
        tunnels: Peer::listen([tunnel]),
        streams: Peer::listen([stream.send("0\r\n\r\n")]),
    };
    let mut leat = Leat::gateway_with(Folder::new(), &config(0, &behind), &[], 1);
    let admin = leat.admin();

    // A state of every kind.
    let unwell = format!("leat_upstream_well{{upstream=\"checked\",endpoint=\"http://{}\"}}", behind.unwell.address());
    eventually("the check to fail", || {
        (metric(admin, &unwell) == 0 && leat.log().iter().any(|line| line.contains("endpoint_unwell"))).then_some(())
    });
    let aside = format!("leat_upstream_aside{{upstream=\"ejected\",endpoint=\"http://{}\"}}", behind.aside.address());
    eventually("the ejection", || {
        leat.connect().get("/ejected").response();
        (metric(admin, &aside) == 1).then_some(())
    });
    let mut client = leat.connect();
    eventually("the breaker to open", || (code(&client.get("/broken").response()) == "upstream.breaker").then_some(()));
    let before: Vec<u16> = (0..6).map(|_| limited(&mut client, "full").status).collect();
    assert_eq!(before, [200, 200, 200, 200, 200, 429]);
    let mut socket = leat.connect();
    socket.send("GET /tunnel HTTP/1.1\r\nhost: h\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");
    assert_eq!(socket.response().status, 101);
    let mut events_of = leat.connect();
    events_of.get("/stream").until("\r\n\r\n");

    // Two clients, each on its core for good: no more than two connections to each of the servers, whatever the reloads.
    let paths = ["/pooled", "/checked", "/ejected", "/pooled/slow", "/number"];
    let load = Load::start(leat.address(0), &[Manner::KeepAlive, Manner::KeepAlive], &paths);
    load.wait_answered(100);
    let (unwell_asked, broken_asked) = (behind.unwell.connections(), behind.broken.connections());
    for (number, gate) in gates.iter().enumerate() {
        if number > 0 {
            leat.rewrite(&config(number, &behind));
            leat.reload();
            eventually("the reload", || (events(&leat.log(), "reloaded") == number).then_some(()));
        }
        load.wait_answered(20);
        let mut client = leat.connect();
        assert_eq!(client.get("/number").response().text(), number.to_string());
        assert_eq!(limited(&mut client, "full").status, 429, "reload {number}: what was counted stays");
        assert_eq!(code(&client.get("/broken").response()), "upstream.breaker", "reload {number}");
        assert_eq!(metric(admin, &aside), 1, "reload {number}");
        assert_eq!(metric(admin, &unwell), 0, "reload {number}");
        assert_eq!(
            socket.send(format!("<ping {number}>")).until(format!("<pong {number}>")).len(),
            format!("<pong {number}>").len()
        );
        gate.open();
        events_of.until(format!("data: {number:02}\n\n"));
    }
    let outcome = load.finish();
    assert_eq!(outcome.failures, [""; 0], "after {} replies", outcome.answered);
    assert_eq!(outcome.refused, 0);
    assert!(behind.pooled.connections() <= 2, "dialled {} times", behind.pooled.connections());
    assert_eq!(behind.broken.connections(), broken_asked, "nothing passes the breaker");
    // Each configuration checks its endpoints once at its start; no request goes there.
    assert!(behind.unwell.connections() - unwell_asked <= RELOADS, "{unwell_asked} {}", behind.unwell.connections());
    let series = "leat_upstream_breaker_trips_total{upstream=\"broken\",endpoint=\"http://";
    assert_eq!(metric(admin, &format!("{series}{}\"}}", behind.broken.address())), 1);
    drop(socket);
    events_of.until("\r\n0\r\n\r\n");
}
