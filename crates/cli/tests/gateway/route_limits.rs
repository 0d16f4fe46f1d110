//! Limits of heads that hold on one route.

use leat_testkit::Leat;

use crate::support::is_problem;

#[test]
fn each_limit_holds_on_its_route_alone() {
    let config = "listeners: 127.0.0.1:0
workers: 1
routes:
  - { match: { prefix: /fields }, limits: { fields_max: 3 }, respond: { body: ok } }
  - { match: { prefix: /target }, limits: { target_bytes_max: 20B }, respond: { body: ok } }
  - { match: { prefix: /head }, limits: { head_bytes_max: 100B }, respond: { body: ok } }
  - { match: { prefix: / }, respond: { body: ok } }
";
    let leat = Leat::gateway(config, 1);
    let fields = |count: usize| "x: 1\r\n".repeat(count);
    // 27 bytes of a head for `/head`: the request line with its end, and the empty line.
    let pad =
        |count: usize| format!("x: {}\r\n", "a".repeat(count - "GET /head HTTP/1.1\r\nhost: h\r\nx: \r\n\r\n".len()));
    for (target, fields, refused) in [
        ("/fields".to_owned(), fields(2), None),
        ("/fields".to_owned(), fields(3), Some((431, "limit.fields"))),
        ("/other".to_owned(), fields(3), None),
        (format!("/target{}", "a".repeat(13)), String::new(), None),
        (format!("/target?{}", "a".repeat(13)), String::new(), Some((414, "limit.target_bytes"))),
        (format!("/other?{}", "a".repeat(13)), String::new(), None),
        ("/head".to_owned(), pad(100), None),
        ("/head".to_owned(), pad(101), Some((431, "limit.head_bytes"))),
        ("/other".to_owned(), pad(101), None),
    ] {
        let mut client = leat.connect();
        client.send(format!("GET {target} HTTP/1.1\r\nhost: h\r\n{fields}\r\n"));
        let response = client.response();
        match refused {
            None => assert_eq!((response.status, response.text()), (200, "ok"), "{target} {fields}"),
            Some((status, code)) => is_problem(&response, status, code),
        }
        assert_eq!(client.get("/").response().status, 200, "the connection goes on");
    }
}
