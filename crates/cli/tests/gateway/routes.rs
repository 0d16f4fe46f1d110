//! Which route a request takes, and the answers that need no upstream.

use std::io::{Read, Write};
use std::os::unix::net::UnixListener;

use leat_testkit::{Folder, Leat, Peer};

use crate::support::{BARE, OK, answers, config, lines, url};

#[test]
fn the_most_specific_route_wins() {
    let respond = |name: &str, matched: &str| {
        format!("  - {{ name: {name}, match: {{ {matched} }}, respond: {{ body: {name} }} }}\n")
    };
    let routes: String = [
        ("any", "prefix: /"),
        ("exact-host", "host: api.test"),
        ("wild-host", "host: \"*.test\""),
        ("exact-path", "\"path\": /a/b"),
        ("param-path", "\"path\": \"/a/{x}\""),
        ("prefix", "prefix: /a"),
        ("put", "\"path\": /m, method: PUT"),
        ("field", "\"path\": /m, method: PUT, headers: { x-v: \"2\" }"),
        ("query", "\"path\": /m, method: PUT, query: { v: \"2 3\" }"),
    ]
    .iter()
    .map(|(name, matched)| respond(name, matched))
    .collect();
    let leat = Leat::gateway(&format!("listeners: 127.0.0.1:0\nworkers: 1\nroutes:\n{routes}"), 1);
    let mut client = leat.connect();
    for (line, host, fields, wanted) in [
        ("GET /", "h", "", "any"),
        ("GET /a/b", "h", "", "exact-path"),
        ("GET /a/c", "h", "", "param-path"),
        ("GET /a/c/d", "h", "", "prefix"),
        ("GET /ab", "h", "", "any"),
        ("GET /a/b", "API.test:99", "", "exact-host"),
        ("GET /a/b", "x.y.test", "", "wild-host"),
        ("GET /a/b", "test", "", "exact-path"),
        ("PUT /m", "h", "", "put"),
        ("PUT /m", "h", "X-V: 2\r\n", "field"),
        ("PUT /m", "h", "X-V: 3\r\n", "put"),
        ("PUT /m?v=2+3", "h", "", "query"),
        ("PUT /m?v=2%203&w", "h", "", "query"),
        ("GET /m", "h", "", "any"),
    ] {
        client.send(format!("{line} HTTP/1.1\r\nhost: {host}\r\n{fields}\r\n"));
        assert_eq!(client.response().text(), wanted, "{line} {host} {fields}");
    }
}

#[test]
fn what_no_route_takes_is_refused_with_a_reason() {
    let config = "listeners: 127.0.0.1:0\nworkers: 1\nroutes:\n  - { match: { path: /x, method: [GET, PUT] }, respond: { body: x } }\n";
    let leat = Leat::gateway(config, 1);
    let mut client = leat.connect();
    let response = client.get("/y").response();
    assert_eq!((response.status, response.field("content-type")), (404, Some("application/problem+json")));
    assert!(response.text().contains("route.not_found"));
    client.send("DELETE /x HTTP/1.1\r\nhost: h\r\n\r\n");
    let response = client.response();
    assert_eq!((response.status, response.field("allow")), (405, Some("GET, HEAD, PUT")));
    assert!(response.text().contains("route.method_not_allowed"));
    for path in ["/../x", "/%2e%2e/x", "/x/.", "/a/..%2fx"] {
        let response = client.get(path).response();
        assert_eq!(response.status, 400, "{path}");
        assert!(response.text().contains("route.path_dots"), "{path}: {}", response.text());
    }
}

#[test]
fn redirects_are_filled_in_and_edited() {
    let config = "listeners: 127.0.0.1:0
workers: 1
routes:
  - { match: { path: \"/u/{id}\" }, redirect: { to: \"https://new.test/{id}{query}\", status: 302 } }
  - { match: { prefix: / }, redirect: \"https://{host}{path}{query}\", response_headers: { set: { x-a: b }, add: { x-c: d } } }
  - { match: { path: /l }, redirect: /m, response_headers: { remove: location } }
";
    let leat = Leat::gateway(config, 1);
    let mut client = leat.connect();
    let response = client.get("/u/42?x=y").response();
    assert_eq!((response.status, response.field("location")), (302, Some("https://new.test/42?x=y")));
    let response = client.get("/a//b?q").response();
    assert_eq!((response.status, response.field("location")), (308, Some("https://leat.test/a//b?q")));
    assert_eq!(
        (response.field("x-a"), response.field("x-c"), response.field("content-length")),
        (Some("b"), Some("d"), Some("0"))
    );
    assert_eq!(client.get("/l").response().field("location"), None);
}

#[test]
fn files_are_served_below_a_stripped_prefix() {
    let folder = Folder::new();
    folder.write("public/index.html", "the index");
    folder.write("public/a b.txt", "a file");
    folder.write("secret.txt", "no");
    let config = "listeners: 127.0.0.1:0
workers: 1
routes:
  - match: { prefix: /static }
    strip_prefix: /static
    files: public
    response_headers: { remove: etag, set: { x-set: s }, add: { x-add: a } }
";
    let leat = Leat::gateway_in(folder, config, 1);
    let mut client = leat.connect();
    // Without the slash, relative links of the index would miss the directory.
    let response = client.get("/static?q").response();
    assert_eq!((response.status, response.field("location")), (301, Some("/static/?q")));
    let response = client.get("/static/").response();
    assert_eq!((response.status, response.text()), (200, "the index"));
    let response = client.get("/static/a%20b.txt").response();
    assert_eq!((response.status, response.text()), (200, "a file"));
    assert_eq!(
        (response.field("etag"), response.field("x-set"), response.field("x-add")),
        (None, Some("s"), Some("a"))
    );
    let response = client.get("/static/none").response();
    assert_eq!((response.status, response.field("x-set")), (404, None), "error replies are the gateway's own");
    for path in ["/static/../secret.txt", "/static/%2e%2e/secret.txt", "/static/..%2fsecret.txt", "/secret.txt"] {
        assert!(matches!(client.get(path).response().status, 400 | 403 | 404), "{path}");
    }
}

#[test]
fn weights_say_how_often_an_endpoint_is_asked() {
    let peers: Vec<Peer> = ["one", "two"]
        .iter()
        .map(|name| Peer::listen([answers(&format!("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n{name}"), 40)]))
        .collect();
    let endpoints = format!(
        "listeners: 127.0.0.1:0\nworkers: 1\n{BARE}\nroutes: [{{ proxy: up }}]\nupstreams:\n  up:\n    endpoints:\n      - {{ url: \"{}\", weight: 3 }}\n      - \"{}\"\n",
        url(&peers[0]),
        url(&peers[1])
    );
    let leat = Leat::gateway(&endpoints, 1);
    let mut client = leat.connect();
    let ones = (0..40).filter(|_| client.get("/").response().text() == "one").count();
    assert_eq!(ones, 30);
}

#[test]
fn a_unix_socket_is_an_endpoint() {
    let folder = Folder::new();
    let path = folder.path().join("up.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let serving = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = vec![0; 4096];
        let count = stream.read(&mut head).unwrap();
        stream.write_all(OK.as_bytes()).unwrap();
        head.truncate(count);
        head
    });
    let leat = Leat::gateway(&config(format!("unix:{}", path.display()), BARE, "", "", ""), 1);
    assert_eq!(leat.connect().get("/").response().text(), "ok");
    assert_eq!(lines(&serving.join().unwrap()), ["host: leat.test"]);
}

#[test]
fn a_name_is_an_endpoint() {
    let peer = Peer::listen([answers(OK, 1)]);
    let endpoint = format!("http://localhost:{}", peer.address().port());
    let leat = Leat::gateway(&config(endpoint, BARE, "", "", ""), 1);
    // Where `localhost` is ::1 too nobody listens there: the other family is tried.
    assert_eq!(leat.connect().get("/").response().text(), "ok");
}
