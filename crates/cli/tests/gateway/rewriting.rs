//! What becomes of a request's path and query on its way.

use leat_testkit::{Leat, Peer};

use crate::support::{BARE, OK, answers, config, first_line, is_problem, url};

fn line(route: &str, target: &str) -> String {
    let peer = Peer::listen([answers(OK, 1)]);
    let leat = Leat::gateway(&config(url(&peer), BARE, "", route, ""), 1);
    assert_eq!(leat.connect().get(target).response().text(), "ok", "{route} {target}");
    drop(leat);
    first_line(&peer.finish().remove(0))
}

#[test]
fn a_query_is_changed_behind_the_path() {
    let edits = "request_query: { remove: debug, set: { by: leat, 'a b': 'c&d=e' }, add: { many: [x, y] } }";
    for (target, wanted) in [
        ("/p?x=%31&debug&y=2&%64ebug=1&by=me", "/p?x=%31&y=2&by=leat&a%20b=c%26d%3De&many=x&many=y"),
        ("/p", "/p?by=leat&a%20b=c%26d%3De&many=x&many=y"),
        ("/p?a+b=1&many=0", "/p?many=0&by=leat&a%20b=c%26d%3De&many=x&many=y"),
    ] {
        assert_eq!(line(edits, target), format!("GET {wanted} HTTP/1.1"));
    }
    let route = format!("rewrite_regex: {{ pattern: '/v([0-9]+)(/.*)', to: '{{2}}?v={{1}}' }}, {edits}")
        .replace("'{2}", "'/in{2}");
    assert_eq!(line(&route, "/v7/a?v=1"), "GET /in/a?v=7&by=leat&a%20b=c%26d%3De&many=x&many=y HTTP/1.1");
    assert_eq!(line("request_query: { remove: [a, b] }", "/p?a=1&b=2"), "GET /p HTTP/1.1");
}

#[test]
fn a_parameter_of_the_path_is_one_value_of_the_query() {
    let route = "match: { path: '/find/{a}/{*rest}' }, rewrite: '/in/{a}?q={a}&r={rest}&role=guest'";
    for (target, wanted) in [
        ("/find/a/b/c", "/in/a?q=a&r=b/c&role=guest"),
        ("/find/a&role=admin/b+c;d", "/in/a&role=admin?q=a%26role=admin&r=b%2Bc%3Bd&role=guest"),
        ("/find/a%26b/%2B?x=1", "/in/a%26b?q=a%26b&r=%2B&role=guest"),
    ] {
        assert_eq!(line(route, target), format!("GET {wanted} HTTP/1.1"), "{target}");
    }
    for (rewrite, wanted) in [("/in{query}", "/in?x=1"), ("/in?a=b{query}", "/in?a=b&x=1")] {
        assert_eq!(line(&format!("rewrite: '{rewrite}'"), "/p?x=1"), format!("GET {wanted} HTTP/1.1"));
        assert_eq!(
            line(&format!("rewrite: '{rewrite}'"), "/p"),
            format!("GET {} HTTP/1.1", rewrite.replace("{query}", ""))
        );
    }
}

#[test]
fn what_was_in_a_path_is_one_value_of_the_query() {
    let route = "rewrite_regex: { pattern: '/find/([^/]*)/(.*)', to: '/in/{1}?q={1}&r={2}' }";
    for (target, wanted) in [
        ("/find/a/b", "/in/a?q=a&r=b"),
        ("/find/a&b=c/d&e", "/in/a&b=c?q=a%26b=c&r=d%26e"),
        ("/find/a+b/c;d", "/in/a+b?q=a%2Bb&r=c%3Bd"),
        ("/find/a%26b/%2B", "/in/a%26b?q=a%26b&r=%2B"),
        // The request's own query is replaced.
        ("/find/a/b?x=1", "/in/a?q=a&r=b"),
    ] {
        assert_eq!(line(route, target), format!("GET {wanted} HTTP/1.1"), "{target}");
    }
    // What is a byte in the path is three in the query, which counts.
    let peer = Peer::listen([answers(OK, 1)]);
    let route = "rewrite_regex: { pattern: '/(.*)', to: '/in?q={1}' }";
    let leat = Leat::gateway(&config(url(&peer), BARE, "", route, ""), 1);
    is_problem(&leat.connect().get(&format!("/{}", "&".repeat(5_500))).response(), 414, "limit.target_bytes");
    assert_eq!(peer.connections(), 0);
}

#[test]
fn an_expression_cannot_make_a_path_that_leads_elsewhere() {
    for (pattern, to, target, status, code) in [
        ("/a(..)b", "/in/{1}/secret", "/a..b", 400, "route.path_dots"),
        ("/a(.*)b", "/in/{1}/secret", "/a%2e%2eb", 400, "route.path_dots"),
        ("/(.)x(.)", "/in/{1}{2}/", "/.x.", 400, "route.path_dots"),
        ("/(.*)", "/{1}{1}{1}{1}", &format!("/{}", "a".repeat(4_200)), 414, "limit.target_bytes"),
    ] {
        let peer = Peer::listen([answers(OK, 1)]);
        let route = format!("rewrite_regex: {{ pattern: '{pattern}', to: '{to}' }}");
        let leat = Leat::gateway(&config(url(&peer), BARE, "", &route, ""), 1);
        is_problem(&leat.connect().get(target).response(), status, code);
        assert_eq!(peer.connections(), 0, "{pattern} {target}");
    }
}
