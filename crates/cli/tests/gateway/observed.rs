//! What the access log and the metrics say about exchanges.

use std::net::{SocketAddr, TcpListener};

use leat_testkit::{Client, Leat, Peer, eventually};

use crate::support::{OK, answers, url};

fn admin() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// The value of a line of the metrics.
fn metric(admin: SocketAddr, line: &str) -> Option<f64> {
    let mut client = Client::connect(admin);
    let text = client.get("/metrics").response().text().to_owned();
    text.lines().find_map(|own| own.strip_prefix(line)?.strip_prefix(' ')?.parse().ok())
}

#[test]
fn a_line_names_the_client_that_a_trusted_proxy_tells() {
    for (forwarded, field, client) in [
        ("trusted_hops: 1", "x-forwarded-for: 198.51.100.1, 203.0.113.9", Some("203.0.113.9")),
        ("trusted_hops: 1, style: forwarded", "forwarded: for=\"[2001:db8::7]:80\"", Some("2001:db8::7")),
        ("trusted_hops: 1", "x-forwarded-for: unknown", None),
        ("trusted_hops: 0", "x-forwarded-for: 203.0.113.9", None),
    ] {
        let config =
            format!("listeners: 127.0.0.1:0\nforwarded: {{ {forwarded} }}\nroutes: [{{ respond: {{ body: hi }} }}]\n");
        let mut leat = Leat::gateway(&config, 1);
        leat.connect().send(format!("GET /who HTTP/1.1\r\nhost: h\r\n{field}\r\n\r\n")).response();
        let line = leat.wait_log("the line", |line| line.contains("\"target\":\"/who\""));
        let line: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(line.get("client").and_then(|client| client.as_str()), client, "{forwarded}, {field}: {line}");
    }
}

#[test]
fn an_exchange_leaves_a_line_and_counts() {
    let peer = Peer::listen([answers(OK, 3)]);
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let admin = admin();
    let config = format!(
        "listeners: 127.0.0.1:0
workers: 1
admin: {admin}
routes:
  - {{ name: api, match: {{ prefix: /api }}, proxy: up }}
  - {{ name: down, match: {{ prefix: /down }}, proxy: down }}
  - {{ name: both, match: {{ prefix: /both }}, proxy: both }}
  - {{ name: hi, match: {{ path: /hi }}, respond: {{ body: hi }} }}
upstreams:
  up: \"{up}\"
  down: \"http://{free}\"
  both: {{ endpoints: [\"http://{free}\", \"{up}\"] }}
",
        up = url(&peer)
    );
    let mut leat = Leat::gateway(&config, 1);
    let mut client = leat.connect();
    let response = client
        .send("POST /api/x?y=1 HTTP/1.1\r\nhost: leat.test\r\nuser-agent: t/1\r\ncontent-length: 5\r\n\r\nhello")
        .response();
    let id = response.field("x-request-id").unwrap().to_owned();
    let line = leat.wait_log("the line of /api", |line| line.contains("\"target\":\"/api/x?y=1\""));
    for part in [
        format!("\"id\":\"{id}\""),
        "\"remote\":\"127.0.0.1:".into(),
        "\"method\":\"POST\"".into(),
        "\"host\":\"leat.test\"".into(),
        "\"version\":\"HTTP/1.1\"".into(),
        "\"status\":200".into(),
        "\"bytes_in\":5".into(),
        "\"bytes_out\":2".into(),
        "\"route\":\"api\"".into(),
        format!("\"endpoint\":\"{}\"", url(&peer)),
        "\"attempts\":1".into(),
    ] {
        assert!(line.contains(&part), "{part} is not in {line}");
    }
    let number = |key: &str| -> u64 {
        let start = line.find(&format!("\"{key}\":")).unwrap_or_else(|| panic!("{key} is not in {line}"));
        line[start + key.len() + 3..].split([',', '}']).next().unwrap().parse().unwrap()
    };
    assert!(number("upstream_us") > 0 && number("upstream_us") <= number("duration_us"), "{line}");
    assert!(number("connect_us") > 0, "the first request made a connection: {line}");
    assert!(!line.contains("\"reason\""), "{line}");

    assert_eq!(client.get("/down").response().status, 502);
    let line = leat.wait_log("the line of /down", |line| line.contains("\"target\":\"/down\""));
    for part in ["\"status\":502", "\"reason\":\"upstream.connect\"", "\"blame\":\"upstream\"", "\"route\":\"down\""] {
        assert!(line.contains(part), "{part} is not in {line}");
    }

    assert_eq!(client.get("/both").response().status, 200);
    let line = leat.wait_log("the line of /both", |line| line.contains("\"target\":\"/both\""));
    assert!(line.contains("\"attempts\":2") && line.contains(&format!("\"endpoint\":\"{}\"", url(&peer))), "{line}");

    assert_eq!(client.get("/hi").response().status, 200);
    let line = leat.wait_log("the line of /hi", |line| line.contains("\"target\":\"/hi\""));
    assert!(line.contains("\"route\":\"hi\"") && !line.contains("\"endpoint\"") && !line.contains("\"id\""), "{line}");

    assert_eq!(client.get("/none").response().status, 404);
    let line = leat.wait_log("the line of /none", |line| line.contains("\"target\":\"/none\""));
    assert!(line.contains("\"reason\":\"route.not_found\"") && !line.contains("\"route\":"), "{line}");

    let mut client = Client::connect(admin);
    let text = client.get("/metrics").response().text().to_owned();
    for (name, labels, value) in [
        ("leat_requests_total", vec!["route=\"api\"", "2xx"], "1"),
        ("leat_requests_total", vec!["route=\"down\"", "5xx"], "1"),
        ("leat_refusals_total", vec!["reason=\"route.not_found\""], "1"),
        ("leat_refusals_total", vec!["reason=\"upstream.connect\""], "1"),
    ] {
        let found = text.lines().find(|line| line.starts_with(name) && labels.iter().all(|label| line.contains(label)));
        assert_eq!(found.and_then(|line| line.rsplit(' ').next()), Some(value), "{name} {labels:?} in\n{text}");
    }
    // Both upstreams share the connection, which was opened once.
    let opened = "leat_upstream_connections_opened_total";
    eventually("one connection to the shared endpoint", || {
        let text = Client::connect(admin).get("/metrics").response().text().to_owned();
        let lines = text.lines().filter(|line| line.starts_with(opened) && line.contains(&url(&peer)));
        let counts: Vec<&str> = lines.filter_map(|line| line.rsplit(' ').next()).collect();
        (counts == ["1", "0"] || counts == ["0", "1"]).then_some(())
    });
    // Both tries of /both are counted at their endpoints: the failed one beside the exchange's own.
    let tries: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("upstream=\"both\"") && line.starts_with("leat_upstream_errors_total"))
        .collect();
    assert_eq!(tries.len(), 1, "{text}");
    assert!(tries[0].contains("upstream.connect") && tries[0].ends_with(" 1"), "{tries:?}");
}

#[test]
fn a_reload_does_not_count_connections_again() {
    let peer = Peer::listen([answers(OK, 3)]);
    let admin = admin();
    let config = |name: &str| {
        format!(
            "listeners: 127.0.0.1:0\nworkers: 1\nadmin: {admin}\naccess_log: off\nroutes: [{{ name: {name}, proxy: up }}]\nupstreams: {{ up: \"{}\" }}\n",
            url(&peer)
        )
    };
    let mut leat = Leat::gateway(&config("one"), 1);
    assert_eq!(leat.connect().get("/").response().status, 200);
    let labels = format!("{{upstream=\"up\",endpoint=\"{}\"}}", url(&peer));
    let opened = format!("leat_upstream_connections_opened_total{labels}");
    eventually("the opened connection in the metrics", || (metric(admin, &opened) == Some(1.0)).then_some(()));
    leat.rewrite(&config("two"));
    leat.reload();
    leat.wait_log("the reload", |line| line.contains("\"event\":\"reloaded\""));
    assert_eq!(leat.connect().get("/").response().status, 200);
    let reused = format!("leat_upstream_connections_reused_total{labels}");
    eventually("the reused connection in the metrics", || (metric(admin, &reused) == Some(1.0)).then_some(()));
    assert_eq!(metric(admin, &opened), Some(1.0));
    assert_eq!(metric(admin, &format!("leat_upstream_connections_idle{labels}")), Some(1.0));
}
