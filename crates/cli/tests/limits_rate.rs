//! Rate limits of the gateway, counted in this process: the built `leat`, real sockets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::thread;

use leat_testkit::{Client, Folder, Leat, Peer, Response, Script, eventually};
use support::{events, metric};

/// A gateway with one core whose clients say by `x-forwarded-for` who they are. `limits` are the lines of `rate_limits`,
/// `routes` those of `routes`, without their indentation.
fn gateway(limits: &str, routes: &str) -> Leat {
    Leat::gateway(&config(limits, routes), 1)
}

fn config(limits: &str, routes: &str) -> String {
    let indent = |lines: &str| lines.lines().map(|line| format!("  {line}\n")).collect::<String>();
    format!(
        "listeners: 127.0.0.1:0\nadmin: 127.0.0.1:0\nworkers: 1\nforwarded: {{ trusted_hops: 1 }}\nrate_limits:\n{}routes:\n{}",
        indent(limits),
        indent(routes)
    )
}

/// A GET with these further field lines.
fn ask(client: &mut Client, path: &str, fields: &str) -> Response {
    client.send(format!("GET {path} HTTP/1.1\r\nhost: leat.test\r\n{fields}\r\n")).response()
}

fn statuses(client: &mut Client, path: &str, fields: &str, count: usize) -> Vec<u16> {
    (0..count).map(|_| ask(client, path, fields).status).collect()
}

fn is_refused(response: &Response) {
    assert_eq!(response.status, 429, "{}", response.text());
    assert_eq!(response.field("content-type"), Some("application/problem+json"));
    assert!(response.text().contains("\"status\":429,\"code\":\"limit.rate\""), "{}", response.text());
}

#[test]
fn replies_of_every_kind_tell_what_remains_and_a_refusal_when_to_come_again() {
    let folder = Folder::new();
    folder.write("public/a.txt", "a");
    let reply = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
    let upstream = Peer::listen([Script::new().expect_head().send(reply).expect_head().send(reply)]);
    let routes = format!(
        "- {{ match: {{ path: /respond }}, rate_limits: two, respond: {{ body: a }} }}
- {{ match: {{ path: /redirect }}, rate_limits: two, redirect: {{ to: /b }} }}
- {{ match: {{ prefix: /files }}, rate_limits: two, strip_prefix: /files, files: {{ root: public }} }}
- {{ match: {{ path: /proxy }}, rate_limits: two, proxy: 'http://{}' }}",
        upstream.address()
    );
    let leat = Leat::gateway_in(folder, &config("two: { rate: 2/m, key: route }", &routes), 1);
    let mut client = leat.connect();
    for (path, status) in [("/respond", 200), ("/redirect", 308), ("/files/a.txt", 200), ("/proxy", 200)] {
        for (number, state) in ["\"two\";r=1;t=30", "\"two\";r=0;t=60"].into_iter().enumerate() {
            let response = ask(&mut client, path, "");
            assert_eq!(response.status, status, "{path} {number}");
            assert_eq!(response.field("ratelimit-policy"), Some("\"two\";q=2;w=60"), "{path}");
            assert_eq!(response.fields_named("ratelimit"), [state], "{path}");
            assert_eq!(response.field("retry-after"), None, "{path}");
        }
        let response = ask(&mut client, path, "");
        is_refused(&response);
        assert_eq!(response.field("ratelimit-policy"), Some("\"two\";q=2;w=60"), "{path}");
        assert_eq!(response.field("ratelimit"), Some("\"two\";r=0;t=60"), "{path}");
        assert_eq!(response.field("retry-after"), Some("30"), "{path}");
    }
    upstream.finish();
}

#[test]
fn a_key_tells_apart_what_it_names_and_nothing_else() {
    let from = |address: &str| format!("x-forwarded-for: {address}\r\n");
    let (here, v4, v6) = (from("10.1.1.1"), from("10.1.1.2"), from("2001:db8:0:1::1"));
    let (same_64, other_64) = (from("2001:db8:0:1:ffff::2"), from("2001:db8:0:2::1"));
    let (a, b) = ("x-key: a\r\n".to_owned(), "x-key: b\r\n".to_owned());
    // The key, two requests (their path and fields), and whether they count together.
    for (key, one, two, together) in [
        ("key: client", ("/", &here), ("/", &v4), false),
        ("key: client", ("/", &here), ("/two", &here), true),
        ("key: client", ("/", &v6), ("/", &same_64), true),
        ("key: client", ("/", &v6), ("/", &other_64), false),
        ("key: client, ipv6_prefix: 128", ("/", &v6), ("/", &same_64), false),
        ("key: client, ipv6_prefix: 48", ("/", &v6), ("/", &other_64), true),
        ("key: client, ipv4_prefix: 24", ("/", &here), ("/", &v4), true),
        ("key: all", ("/", &here), ("/two", &v6), true),
        ("key: route", ("/", &here), ("/two", &here), false),
        ("key: route", ("/", &here), ("/", &v4), true),
        ("key: 'header:X-Key'", ("/", &a), ("/two", &a), true),
        ("key: 'header:X-Key'", ("/", &a), ("/", &b), false),
        ("key: 'header:X-Key'", ("/", &here), ("/", &v4), true),
        ("key: 'header:X-Key'", ("/", &a), ("/", &here), false),
        ("key: ['header:x-key', route]", ("/", &a), ("/two", &a), false),
        ("key: ['header:x-key', route]", ("/", &a), ("/", &a), true),
        ("key: [client, 'header:x-key']", ("/", &a), ("/", &b), false),
    ] {
        let routes = "- { rate_limits: one, respond: { body: a } }
- { match: { path: /two }, rate_limits: one, respond: { body: b } }";
        let leat = gateway(&format!("one: {{ rate: 1/h, {key} }}"), routes);
        let mut client = leat.connect();
        assert_eq!(ask(&mut client, one.0, one.1).status, 200, "{key} {one:?}");
        let wanted = if together { 429 } else { 200 };
        assert_eq!(ask(&mut client, two.0, two.1).status, wanted, "{key} {one:?} {two:?}");
    }
}

#[test]
fn host_and_method_are_parts_of_a_key_too() {
    let leat = gateway("one: { rate: 1/h, key: [host, method] }", "- { rate_limits: one, respond: { body: a } }");
    let mut client = leat.connect();
    for (method, host, status) in [
        ("GET", "a.test", 200),
        ("GET", "A.test:80", 429),
        ("GET", "a.test.", 429),
        ("GET", "b.test", 200),
        ("POST", "a.test", 200),
    ] {
        client.send(format!("{method} / HTTP/1.1\r\nhost: {host}\r\n\r\n"));
        assert_eq!(client.response().status, status, "{method} {host}");
    }
}

#[test]
fn a_client_cannot_make_up_who_it_is_where_no_hop_is_trusted() {
    let config = config("one: 1/h", "- { rate_limits: one, respond: { body: a } }")
        .replace("trusted_hops: 1", "trusted_hops: 0");
    let leat = Leat::gateway(&config, 1);
    let mut client = leat.connect();
    assert_eq!(ask(&mut client, "/", "x-forwarded-for: 10.0.0.1\r\n").status, 200);
    assert_eq!(ask(&mut client, "/", "x-forwarded-for: 10.0.0.2\r\n").status, 429);
}

#[test]
fn several_limits_are_debited_together_or_not_at_all() {
    let leat = gateway(
        "small: { rate: 2/h, key: 'header:x-key' }\nlarge: { rate: 5/h, key: all }",
        "- { rate_limits: [large, small], respond: { body: a } }",
    );
    let mut client = leat.connect();
    let response = ask(&mut client, "/", "x-key: a\r\n");
    assert_eq!(response.field("ratelimit-policy"), Some("\"large\";q=5;w=3600, \"small\";q=2;w=3600"));
    assert_eq!(response.field("ratelimit"), Some("\"small\";r=1;t=1800"), "the one of which least remains");
    assert_eq!(statuses(&mut client, "/", "x-key: a\r\n", 4), [200, 429, 429, 429]);
    // Three of five are left: what `small` refused was not taken from `large`.
    assert_eq!(statuses(&mut client, "/", "x-key: b\r\n", 3), [200, 200, 429]);
    let response = ask(&mut client, "/", "x-key: c\r\n");
    assert_eq!(response.field("ratelimit"), Some("\"large\";r=0;t=3600"));
    let response = ask(&mut client, "/", "x-key: d\r\n");
    is_refused(&response);
    assert_eq!(response.field("ratelimit"), Some("\"large\";r=0;t=3600"));
    assert_eq!(response.field("retry-after"), Some("720"));
}

#[test]
fn bursts_costs_and_windows_are_as_configured() {
    // The limit, what a request costs, and how many of six pass.
    for (limit, cost, wanted) in [
        ("{ rate: 1/h, burst: 4 }", 1, 4),
        ("{ rate: 100/h, burst: 3 }", 1, 3),
        ("{ rate: 5/h }", 2, 2),
        ("{ rate: 5/h }", 5, 1),
        ("{ rate: 3/365d, algorithm: sliding_window }", 1, 3),
        ("{ rate: 5/365d, algorithm: sliding_window }", 2, 2),
    ] {
        let leat = gateway(
            &format!("x: {limit}"),
            &format!("- {{ rate_limits: {{ limit: x, cost: {cost} }}, respond: {{ body: a }} }}"),
        );
        let passed = statuses(&mut leat.connect(), "/", "", 6).into_iter().filter(|status| *status == 200).count();
        assert_eq!(passed, wanted, "{limit} cost {cost}");
    }
}

#[test]
fn a_limit_in_shadow_mode_counts_and_lets_pass() {
    let mut leat = gateway(
        "dry: { rate: 1/h, shadow: true }\nreal: { rate: 4/h }",
        "- { rate_limits: [dry, real], respond: { body: a } }",
    );
    let mut client = leat.connect();
    let first = ask(&mut client, "/", "");
    assert_eq!(
        first.field("ratelimit-policy"),
        Some("\"real\";q=4;w=3600"),
        "nobody is told of a limit that does nothing"
    );
    assert_eq!(statuses(&mut client, "/", "", 5), [200, 200, 200, 429, 429]);
    let admin = leat.admin();
    let count = |limit: &str, outcome: &str| {
        metric(admin, &format!("leat_rate_limit_requests_total{{limit=\"{limit}\",outcome=\"{outcome}\"}}"))
    };
    assert_eq!([count("dry", "admitted"), count("dry", "shadow"), count("dry", "refused")], [1, 3, 0]);
    assert_eq!([count("real", "admitted"), count("real", "shadow"), count("real", "refused")], [4, 0, 2]);
    assert_eq!(metric(admin, "leat_refusals_total{reason=\"limit.rate\",blame=\"caller\"}"), 2);
}

#[test]
fn clients_on_the_allow_list_are_not_counted() {
    let leat = gateway(
        "one: { rate: 1/h, key: all, allow: [10.0.0.0/8, '2001:db8::/32'] }\nother: { rate: 3/h, key: all, allow: 10.0.0.1 }",
        "- { rate_limits: one, respond: { body: a } }
- { match: { path: /both }, rate_limits: [one, other], respond: { body: a } }",
    );
    let mut client = leat.connect();
    let free = ask(&mut client, "/", "x-forwarded-for: 10.2.3.4\r\n");
    assert_eq!((free.status, free.field("ratelimit")), (200, None));
    assert_eq!(statuses(&mut client, "/", "x-forwarded-for: 2001:db8::7\r\n", 3), [200; 3]);
    assert_eq!(statuses(&mut client, "/", "x-forwarded-for: 11.0.0.1\r\n", 2), [200, 429]);
    assert_eq!(statuses(&mut client, "/both", "x-forwarded-for: 10.0.0.1\r\n", 4), [200; 4], "on both lists");
    assert_eq!(statuses(&mut client, "/both", "x-forwarded-for: 10.0.0.2\r\n", 4), [200, 200, 200, 429]);
}

#[test]
fn a_limit_may_keep_its_fields_to_itself() {
    let leat = gateway("quiet: { rate: 1/h, headers: false }", "- { rate_limits: quiet, respond: { body: a } }");
    let mut client = leat.connect();
    let first = ask(&mut client, "/", "");
    assert_eq!((first.field("ratelimit"), first.field("ratelimit-policy")), (None, None));
    let second = ask(&mut client, "/", "");
    is_refused(&second);
    assert_eq!((second.field("ratelimit"), second.field("retry-after")), (None, Some("3600")));
}

#[test]
fn a_stream_of_made_up_keys_takes_no_more_room_and_frees_nobody_who_used_the_limit_up() {
    const STRANGERS: usize = 20_000;
    let mut leat = gateway(
        "x: { rate: 50/h, key: 'header:x-key', keys_max: 64, headers: false }",
        "- { rate_limits: x, respond: { body: a } }",
    );
    let mut client = leat.connect();
    assert_eq!(statuses(&mut client, "/", "x-key: mine\r\n", 51)[49..], [200, 429]);
    for batch in 0..STRANGERS / 100 {
        let requests: String = (0..100)
            .map(|number| format!("GET / HTTP/1.1\r\nhost: leat.test\r\nx-key: stranger-{batch}-{number}\r\n\r\n"))
            .collect();
        client.send(requests);
        (0..100).for_each(|_| assert_eq!(client.response().status, 200));
    }
    assert_eq!(ask(&mut client, "/", "x-key: mine\r\n").status, 429);
    let admin = leat.admin();
    eventually("the evictions to be published", || {
        let evicted = metric(admin, "leat_rate_limit_evicted_total{limit=\"x\"}");
        (evicted as usize >= STRANGERS - 64 && evicted as usize <= STRANGERS).then_some(())
    });
}

#[test]
fn what_was_counted_outlives_a_reload() {
    let routes = "- { name: r, rate_limits: x, respond: { body: a } }";
    let mut leat = gateway("x: { rate: 2/h }", routes);
    let mut client = leat.connect();
    assert_eq!(statuses(&mut client, "/", "", 1), [200]);
    let reload = |limits: &str| {
        let before = events(&leat.log(), "reloaded");
        leat.rewrite(&config(limits, routes));
        leat.reload();
        eventually("the reload", || (events(&leat.log(), "reloaded") > before).then_some(()));
    };
    reload("x: { rate: 2/h }\nunused: 1/s");
    assert_eq!(statuses(&mut client, "/", "", 2), [200, 429], "one of two was used before the reload");
    reload("x: { rate: 2/h, burst: 3 }");
    assert_eq!(statuses(&mut client, "/", "", 2), [200, 429], "a higher burst adds to what is there");
    reload("x: { rate: 2/h, key: all }");
    assert_eq!(statuses(&mut client, "/", "", 3), [200, 200, 429], "another key is another count");
    leat.terminate();
    leat.wait();
}

#[test]
fn cores_share_one_count() {
    let config = config("x: { rate: 100/h, key: all }", "- { rate_limits: x, respond: { body: a } }");
    let leat = Leat::gateway(&config.replace("workers: 1", "workers: 4"), 1);
    let address = leat.address(0);
    let clients: Vec<_> = (0..16)
        .map(|_| {
            thread::spawn(move || {
                let mut client = Client::connect(address);
                statuses(&mut client, "/", "", 10).into_iter().filter(|status| *status == 200).count()
            })
        })
        .collect();
    let passed: usize = clients.into_iter().map(|client| client.join().unwrap()).sum();
    assert_eq!(passed, 100);
}

#[test]
fn a_refused_request_never_reaches_the_upstream_and_keeps_its_connection() {
    let upstream = Peer::listen([Script::new()]);
    let routes = format!("- {{ rate_limits: {{ limit: x, cost: 2 }}, proxy: 'http://{}' }}", upstream.address());
    let leat = gateway(
        "x: { rate: 2/h, key: all }",
        &format!("{routes}\n- {{ match: {{ path: /use-up }}, rate_limits: x, respond: {{ body: a }} }}"),
    );
    let mut client = leat.connect();
    assert_eq!(ask(&mut client, "/use-up", "").status, 200);
    client.send("POST / HTTP/1.1\r\nhost: leat.test\r\ncontent-length: 2\r\n\r\nhi");
    is_refused(&client.response());
    is_refused(&ask(&mut client, "/", ""));
    assert_eq!(upstream.connections(), 0);
}
