//! `leat explain`: what would act on a request, without running anything.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use leat_testkit::{Folder, Leat};

const CONFIG: &str = "forwarded: { trusted_hops: 1 }
rate_limits:
  per_client: { rate: 100/s }
  per_user: { rate: 5/s, key: user }
auth:
  staff: { api_keys: { keys: { ann: 62af8704764faf8ea82fc61ce9c4c3908b6cb97d463a634e9e587d7c885db0ef } } }
routes:
  - name: shop
    match: { prefix: /shop }
    strip_prefix: /shop
    access: { deny: [10.0.0.0/8] }
    cors: https://shop.example
    rate_limits: per_client
    auth: staff
    faults: { percent: 1, status: 503, header: x-test }
    proxy: { upstream: shop, split: [{ header: x-canary, upstream: canary }] }
  - { name: users, match: { path: /users }, rate_limits: per_user, auth: staff, respond: { body: hello } }
  - { name: moved, match: { path: '/old/{id}' }, redirect: 'https://new.example/{id}' }
  - { name: found, match: { prefix: /find }, rewrite_regex: { pattern: '/find/(.*)', to: '/{1}?q={1}' }, proxy: shop }
  - { name: layered, match: { path: /layered }, decompress: {}, buffer_response: { bytes_max: 1000B }, compression: {}, proxy: canary }
  - { name: closed, match: { path: /closed, method: GET }, maintenance: { except: 192.0.2.1 }, respond: {} }
upstreams:
  shop: { endpoints: ['http://127.0.0.1:9001', 'http://127.0.0.1:9002'], breaker: {}, retry: {} }
  canary: 'http://127.0.0.1:9003'
";

fn explain(arguments: &[&str]) -> (Option<i32>, Vec<String>) {
    let folder = Folder::new();
    folder.write("leat.yaml", CONFIG);
    let output = Leat::run(folder.path(), &[&["explain", "leat.yaml"], arguments].concat());
    // Columns are as wide as they have to be.
    let lines = output.stdout.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    (output.code, lines.collect())
}

#[test]
fn what_acts_is_told_in_its_order_with_its_place() {
    let (code, lines) = explain(&["GET", "http://shop.example/shop/items?page=2"]);
    assert_eq!(code, Some(0));
    assert_eq!(
        lines,
        [
            "leat.yaml:8:5 route `shop`",
            "cors no Origin: says nothing",
            "access 127.0.0.1 may",
            "leat.yaml:3:3 rate limit `per_client`: costs 1, counted by client",
            "leat.yaml:6:3 auth any of `staff` must know the client",
            "proxy asks for /items?page=2, host shop.example",
            "leat.yaml:23:3 upstream `shop`: one of http://127.0.0.1:9001, http://127.0.0.1:9002; breaker, retry",
        ]
    );
}

#[test]
fn what_changes_bodies_is_told_where_it_stands() {
    let (_, lines) = explain(&["POST", "/layered"]);
    assert_eq!(
        lines[1..],
        [
            "decompress the body, where it has a coding",
            "proxy asks for /layered, host localhost",
            "leat.yaml:24:3 upstream `canary`: one of http://127.0.0.1:9003",
            "compression the reply, where the client takes it and it is worth it",
            "buffer the reply is read whole, up to 1000 bytes of it",
        ]
    );
}

#[test]
fn headers_and_the_client_decide_as_they_would() {
    let url = "http://shop.example/shop";
    let (_, lines) = explain(&["GET", url, "-H", "x-canary: 1", "-H", "x-test: 1"]);
    assert!(lines.contains(&"fault 1 % of such requests wait 0 ms, then 503".to_owned()), "{lines:?}");
    assert_eq!(
        lines[lines.len() - 2..],
        ["leat.yaml:24:3 split takes this request", "leat.yaml:24:3 upstream `canary`: one of http://127.0.0.1:9003"]
    );
    for arguments in [&["GET", url, "--from", "10.1.2.3"][..], &["GET", url, "-H", "x-forwarded-for: 10.1.2.3"]] {
        let (_, lines) = explain(arguments);
        assert_eq!(
            lines[2..],
            [
                "access 10.1.2.3 may not",
                "refused with 403 `access.address`: The client's address is not one that may use this route."
            ]
        );
    }
    let (_, lines) = explain(&["GET", "/users"]);
    let order: Vec<&str> =
        lines.iter().map(|line| line.trim_start_matches(|c: char| !c.is_whitespace()).trim()).collect();
    let at = |what: &str| {
        order.iter().position(|line| line.starts_with(what)).unwrap_or_else(|| panic!("{what} in {order:?}"))
    };
    assert!(at("auth") < at("rate limit"), "who counts users has to know them: {order:?}");
    let (_, lines) = explain(&["GET", "/find/a&b?x=1"]);
    assert_eq!(lines[1], "proxy asks for /a&b?q=a%26b, host localhost");
    let (_, lines) = explain(&["GET", "/old/a%20b"]);
    assert_eq!(lines[1], "redirect 308 to https://new.example/a%20b");
    let (_, lines) = explain(&["GET", "/closed", "--from", "192.0.2.1"]);
    assert_eq!(lines[1..], ["maintenance 192.0.2.1 is excepted", "respond 200 with 0 bytes"]);
}

#[test]
fn a_refusal_has_its_reason() {
    for (arguments, refused) in [
        (&["GET", "/nowhere"][..], "refused with 404 `route.not_found`"),
        (&["POST", "/closed"], "refused with 405 `route.method_not_allowed`"),
        (&["GET", "/closed"], "refused with 503 `route.maintenance`"),
        (&["GET", "/shop/../users"], "refused with 400 `route.path_dots`"),
        (&["GET", "/find/%2e%2e%2fusers"], "refused with 400 `route.path_dots`"),
        (&["GET", "/", "-H", "host: a", "-H", "host: b"], "refused with 400 `host.repeated`"),
        (&["G T", "/"], "refused with 400 `line."),
    ] {
        let (code, lines) = explain(arguments);
        assert_eq!(code, Some(0), "{arguments:?}");
        assert!(lines.last().unwrap().starts_with(refused), "{arguments:?}: {lines:?}");
    }
    assert_eq!(explain(&["GET", "ftp://host/"]).0, Some(2));
}
