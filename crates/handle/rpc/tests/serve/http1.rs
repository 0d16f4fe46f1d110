//! Connect and gRPC-Web over HTTP/1, right and wrong.

use std::sync::Arc;

use leat_rpc::serve::{Rpc, Settings};
use leat_rpc_wire::{Coding, grpc_web};
use leat_testkit::RecordedExchange;

use crate::service::{Texts, read, schema, text};
use crate::support::{RECEIVE_BYTES_MAX, Server, block_on, enveloped};

const JSON: &str = "content-type: application/json";
const PROTO: &str = "content-type: application/proto";
const WEB: &str = "content-type: application/grpc-web+proto";
const STREAM: &str = "content-type: application/connect+json";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    Coding::Gzip.compress(bytes, &mut out);
    out
}

fn base64(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    grpc_web::text::encode(bytes, &mut out);
    out
}

/// Each case: request line, fields, body; the status, something of the head, something of the body. Behind each one the
/// connection still serves, unless the reply says that it ends.
#[test]
fn requests_are_answered_as_their_protocol_says() {
    let server = Server::start();
    let long = format!("{{\"text\":\"{}\"}}", "x".repeat(RECEIVE_BYTES_MAX));
    let bomb = gzip(long.as_bytes());
    let two = [enveloped(0, &text("a")), enveloped(0, &text("b"))].concat();
    let get = "GET /test.Texts/Get?encoding=json&connect=v1&message=";
    for (line, fields, body, status, head, part) in [
        // Connect, unary.
        (
            "POST /test.Texts/Echo",
            JSON,
            &b"{\"text\":\"a\"}"[..],
            200,
            "content-type: application/json",
            "{\"text\":\"a\"}",
        ),
        (
            "POST /test.Texts/Echo",
            "content-type: application/json; charset=utf-8",
            b"{}",
            200,
            "content-length: 2",
            "{}",
        ),
        ("POST /test.Texts/Echo", PROTO, &text("a"), 200, "content-type: application/proto", "\n\u{1}a"),
        ("POST /test.Texts/Echo", PROTO, b"", 200, "content-type: application/proto", ""),
        ("POST /test.Texts/Ready", JSON, b"{}", 200, "", "{\"text\":\"ready\"}"),
        ("POST /test.Texts/Echo", JSON, b"{\"unknown\":1}", 200, "", "{}"),
        (
            "POST /test.Texts/Echo",
            JSON,
            b"{",
            400,
            "",
            "{\"code\":\"invalid_argument\",\"message\":\"the request is not a test.Text in JSON: ",
        ),
        ("POST /test.Texts/Echo", JSON, b"{\"text\":7}", 400, "", "invalid_argument"),
        ("POST /test.Texts/Echo", JSON, long.as_bytes(), 429, "", "resource_exhausted"),
        (
            "POST /test.Texts/Fail",
            JSON,
            b"{}",
            404,
            "trailer-x-trail: 2",
            "\"details\":[{\"type\":\"test.Text\",\"value\":\"CgN3aHk\",\"debug\":{\"text\":\"why\"}}]",
        ),
        (
            "POST /test.Texts/Fail",
            PROTO,
            b"",
            404,
            "content-type: application/json",
            "{\"code\":\"not_found\",\"message\":\"no ☺\",",
        ),
        (
            "POST /test.Texts/Nope",
            JSON,
            b"{}",
            404,
            "",
            "{\"code\":\"unimplemented\",\"message\":\"there is no method /test.Texts/Nope\"}",
        ),
        (
            "POST /test.Texts/Echo",
            "content-type: application/json\nconnect-protocol-version: 2",
            b"{}",
            400,
            "",
            "connect-protocol-version",
        ),
        (
            "POST /test.Texts/Echo",
            "content-type: application/json\nconnect-timeout-ms: soon",
            b"{}",
            400,
            "",
            "connect-timeout-ms",
        ),
        (
            "POST /test.Texts/Wait",
            "content-type: application/json\nconnect-timeout-ms: 30",
            b"{}",
            504,
            "",
            "{\"code\":\"deadline_exceeded\"",
        ),
        (
            "POST /test.Texts/Echo",
            "content-type: application/json\ncontent-encoding: snappy",
            b"{}",
            501,
            "",
            "supported encodings are gzip,br,zstd,deflate",
        ),
        (
            "POST /test.Texts/Echo",
            "content-type: application/json\ncontent-encoding: gzip",
            b"no gzip",
            400,
            "",
            "not valid gzip",
        ),
        (
            "POST /test.Texts/Echo",
            "content-type: application/json\ncontent-encoding: gzip",
            &bomb,
            429,
            "",
            "resource_exhausted",
        ),
        (
            "POST /test.Texts/Echo",
            "content-type: application/json\ncontent-encoding: gzip\naccept-encoding: br",
            &gzip(b"{\"text\":\"z\"}"),
            200,
            "",
            "{\"text\":\"z\"}",
        ),
        (
            "POST /test.Texts/Echo",
            "content-type: application/json\ncontent-encoding: gzip\naccept-encoding: gzip",
            &gzip(b"{}"),
            200,
            "content-encoding: gzip",
            "",
        ),
        // What is no call at all.
        (
            "POST /test.Texts/Echo",
            "content-type: text/plain",
            b"{}",
            415,
            "accept-post: application/grpc, ",
            "rpc.media_type",
        ),
        ("POST /test.Texts/Echo", "", b"{}", 415, "accept-post: ", "rpc.media_type"),
        ("POST /test.Texts/Echo", STREAM, b"{}", 415, "accept-post: ", "rpc.media_type"),
        ("POST /test.Texts/Count", JSON, b"{}", 415, "accept-post: ", "rpc.media_type"),
        ("POST /test.Texts/Echo", "content-type: application/grpc", b"", 505, "", "rpc.http_version"),
        ("DELETE /test.Texts/Echo", JSON, b"", 405, "allow: POST", "route.method_not_allowed"),
        ("GET /test.Texts/Echo", "", b"", 405, "allow: POST", "route.method_not_allowed"),
        ("GET /", "", b"", 404, "", "route.not_found"),
        // REST.
        ("GET /v1/texts/hello", "", b"", 200, "content-type: application/json", "{\"text\":\"hello\"}"),
        (
            "GET /v1/texts/hello",
            "origin: https://a.example",
            b"",
            200,
            "access-control-allow-origin: https://a.example",
            "hello",
        ),
        ("GET /v1/texts/hello?nope=1", "", b"", 400, "", "nope"),
        ("POST /v1/fail", JSON, b"{}", 404, "", "\"message\":\"no ☺\""),
        ("POST /v1/fail", JSON, b"{", 400, "", "\"code\":3"),
        ("DELETE /v1/fail", "", b"", 405, "allow: POST", ""),
        ("GET /v1/nothing", "", b"", 404, "", "route.not_found"),
        // Connect, GET.
        (&format!("{get}%7B%22text%22%3A%22a%22%7D"), "", b"", 200, "", "{\"text\":\"a\"}"),
        (&format!("{get}eyJ0ZXh0IjoiYSJ9&base64=1"), "", b"", 200, "", "{\"text\":\"a\"}"),
        (&format!("{get}e30&base64=1&compression=snappy"), "", b"", 501, "", "unimplemented"),
        (&format!("{get}*&base64=1"), "", b"", 400, "", "malformed"),
        (&format!("{get}%7"), "", b"", 400, "", "malformed"),
        (&format!("{get}%7B"), "", b"", 400, "", "invalid_argument"),
        ("GET /test.Texts/Get?encoding=json", "", b"", 400, "", "missing message"),
        ("GET /test.Texts/Get?encoding=json&message={}&connect=v2", "", b"", 400, "", "connect=v1"),
        ("GET /test.Texts/Get?encoding=thrift&message=a", "", b"", 415, "", "rpc.media_type"),
        ("GET /test.Texts/Echo?encoding=json&message={}", "", b"", 405, "allow: POST", ""),
        // gRPC-Web.
        (
            "POST /test.Texts/Echo",
            WEB,
            &enveloped(0, &text("a")),
            200,
            "content-type: application/grpc-web+proto",
            "\0\0\0\0\u{3}\n\u{1}a\u{fffd}\0\0\0\u{10}grpc-status: 0\r\n",
        ),
        (
            "POST /test.Texts/Fail",
            WEB,
            &enveloped(0, b""),
            200,
            "x-head: 1",
            "grpc-status: 5\r\ngrpc-message: no %E2%98%BA\r\ngrpc-status-details-bin: ",
        ),
        ("POST /test.Texts/Nope", WEB, &enveloped(0, b""), 200, "", "grpc-status: 12\r\n"),
        ("POST /test.Texts/Echo", WEB, b"", 200, "", "grpc-status: 12\r\ngrpc-message: the request has no message"),
        (
            "POST /test.Texts/Echo",
            WEB,
            &two,
            200,
            "",
            "grpc-status: 12\r\ngrpc-message: the request has more than one message",
        ),
        ("POST /test.Texts/Echo", WEB, b"\0\0\0\0\x09a", 200, "", "grpc-status: 3\r\n"),
        ("POST /test.Texts/Echo", WEB, b"\0\xff\xff\xff\xffa", 200, "", "grpc-status: 8\r\n"),
        ("POST /test.Texts/Echo", WEB, &enveloped(4, b""), 200, "", "grpc-status: 13\r\n"),
        ("POST /test.Texts/Echo", WEB, &enveloped(1, b"a"), 200, "", "grpc-status: 13\r\n"),
        (
            "POST /test.Texts/Echo",
            "content-type: application/grpc-web+proto\ngrpc-encoding: lz4",
            &enveloped(0, b""),
            200,
            "",
            "grpc-status: 12\r\n",
        ),
        (
            "POST /test.Texts/Echo",
            "content-type: application/grpc-web+proto\ngrpc-timeout: 1",
            &enveloped(0, b""),
            200,
            "",
            "grpc-status: 3\r\n",
        ),
        (
            "POST /test.Texts/Wait",
            "content-type: application/grpc-web+proto\ngrpc-timeout: 30m",
            &enveloped(0, b""),
            200,
            "",
            "grpc-status: 4\r\n",
        ),
        (
            "POST /test.Texts/Echo",
            "content-type: application/grpc-web+proto\ngrpc-encoding: gzip",
            &enveloped(1, &gzip(&[0; 3000])),
            200,
            "",
            "grpc-status: 8\r\n",
        ),
        (
            "POST /test.Texts/Echo",
            "content-type: application/grpc-web-text",
            b"*",
            200,
            "content-type: application/grpc-web-text+proto",
            "gAAAA",
        ),
        // Connect, streams.
        (
            "POST /test.Texts/Count",
            STREAM,
            b"\x02\0\0\0\x02{}",
            200,
            "",
            "{\"error\":{\"code\":\"internal\",\"message\":\"protocol error: invalid envelope flags 0b00000010\"}}",
        ),
        ("POST /test.Texts/Count", STREAM, b"", 200, "", "{\"error\":{\"code\":\"unimplemented\""),
        (
            "POST /test.Texts/Nope",
            STREAM,
            b"",
            200,
            "content-type: application/connect+json",
            "{\"error\":{\"code\":\"unimplemented\"",
        ),
    ] {
        let mut client = server.connect();
        let reply = client.ask(line, fields, body);
        let what = format!("{line} {fields} {}", String::from_utf8_lossy(body).chars().take(60).collect::<String>());
        let found = String::from_utf8_lossy(&reply.body);
        assert!(reply.head.starts_with(&format!("HTTP/1.1 {status} ")), "{what}: {} {found}", reply.head);
        assert!(reply.head.contains(head), "{what}: {}", reply.head);
        assert!(found.contains(part), "{what}: {found}");
        if !reply.head.contains("connection: close") {
            let again = client.ask("POST /test.Texts/Echo", JSON, b"{\"text\":\"still here\"}");
            assert_eq!(again.body, b"{\"text\":\"still here\"}", "behind {what}");
        }
    }
}

#[test]
fn the_text_form_is_base64_both_ways() {
    let server = Server::start();
    let mut client = server.connect();
    // Two padded parts, as a client sends that flushes between them.
    let message = enveloped(0, &text("hello"));
    let body = [base64(&message[..4]), base64(&message[4..])].concat();
    let reply = client.ask("POST /test.Texts/Echo", "content-type: application/grpc-web-text", &body);
    let mut decoder = grpc_web::text::Decoder::default();
    let mut plain = Vec::new();
    decoder.decode(&reply.body, &mut plain).unwrap();
    assert!(plain.starts_with(&message), "{plain:?}");
    assert!(plain.ends_with(b"grpc-status: 0\r\n"));
}

#[test]
fn pages_of_allowed_origins_may_call_and_read() {
    let server = Server::start();
    let mut client = server.connect();
    let preflight = "access-control-request-method: POST\naccess-control-request-headers: content-type,x-grpc-web";
    let allowed = client.ask("OPTIONS /test.Texts/Echo", &format!("origin: https://a.example\n{preflight}"), b"");
    assert!(allowed.head.starts_with("HTTP/1.1 204 "), "{}", allowed.head);
    assert!(allowed.head.contains("access-control-allow-origin: https://a.example\r\n"));
    assert!(allowed.head.contains("access-control-allow-headers: content-type,x-grpc-web\r\n"));
    assert!(allowed.head.contains("access-control-allow-methods: GET, POST\r\n"), "{}", allowed.head);
    for (path, asked) in [("/v1/fail", "DELETE"), ("/v1/texts/hello", "PATCH"), ("/v1/texts/hello", "PUT")] {
        let fields = format!("origin: https://a.example\naccess-control-request-method: {asked}");
        let allowed = client.ask(&format!("OPTIONS {path}"), &fields, b"");
        assert!(allowed.head.starts_with("HTTP/1.1 204 "), "{path}: {}", allowed.head);
        let methods = allowed.head.lines().find(|line| line.starts_with("access-control-allow-methods: "));
        assert!(methods.is_some_and(|methods| methods.contains(asked)), "{path} {asked}: {}", allowed.head);
    }
    let mut client = server.connect();
    let refused = client.ask("OPTIONS /test.Texts/Echo", &format!("origin: https://b.example\n{preflight}"), b"");
    assert!(refused.head.starts_with("HTTP/1.1 403 "), "{}", refused.head);
    for (line, fields, body) in [
        ("POST /test.Texts/Echo", JSON, &b"{}"[..]),
        ("POST /test.Texts/Fail", JSON, b"{}"),
        ("POST /test.Texts/Fail", WEB, &enveloped(0, b"")),
        // What is no call.
        ("GET /", "", b""),
        ("DELETE /test.Texts/Echo", JSON, b""),
        ("POST /test.Texts/Count", JSON, b"{}"),
        ("POST /test.Texts/Echo", "content-type: application/grpc", b""),
        ("GET /v1/texts/hello?nope=1", "", b""),
    ] {
        let mut client = server.connect();
        let fields = if fields.is_empty() { "x-empty: 1" } else { fields };
        let reply = client.ask(line, &format!("{fields}\norigin: https://a.example"), body);
        assert!(reply.head.contains("access-control-allow-origin: https://a.example\r\n"), "{line}: {}", reply.head);
        assert!(reply.head.contains("grpc-status-details-bin"), "{line} exposes the fields of errors");
        // A cache must not give the reply to a page, or to none, to another.
        for other in ["origin: https://b.example", "x-none: 1"] {
            let reply = server.connect().ask(line, &format!("{fields}\n{other}"), body);
            assert!(!reply.head.contains("access-control"), "{line}: {}", reply.head);
            assert_eq!(reply.head.matches("vary: origin\r\n").count(), 1, "{line}: {}", reply.head);
        }
    }
}

#[test]
fn the_deadline_counts_while_the_request_is_read() {
    let server = Server::start();
    for (path, fields) in [
        ("/v1/fail", "grpc-timeout: 30m\ncontent-type: application/json"),
        ("/test.Texts/Echo", "connect-timeout-ms: 30\ncontent-type: application/json"),
        ("/test.Texts/Echo", "grpc-timeout: 30m\ncontent-type: application/grpc-web+json"),
    ] {
        let mut client = server.connect();
        // The rest of the body never comes.
        let reply = client.begin(&format!("POST {path}"), &format!("{fields}\ncontent-length: 100"), b"{");
        let body = String::from_utf8_lossy(&reply.body);
        let is_told = ["deadline_exceeded", "\"code\":4", "grpc-status: 4"].iter().any(|told| body.contains(told));
        assert!(is_told, "{path}: {} {body}", reply.head);
        assert!(reply.head.contains("connection: close\r\n"), "{path}: {}", reply.head);
    }
}

#[test]
fn refusals_behind_a_layer_promise_to_go_on_only_where_all_of_the_request_is_here() {
    let rpc = Rpc::new(Texts::new(schema(), Arc::default()), Settings::default());
    for (what, body, expected) in [("empty", None, true), ("chunked", Some("{}"), false)] {
        let x = RecordedExchange::new("POST", "/test.Texts/Nope").with_field("content-type", "application/json");
        let mut x = match body {
            Some(body) => x.with_streamed_body(body),
            None => x.with_body(""),
        };
        assert_eq!(block_on(rpc.answer(&mut x)), Ok(()), "{what}");
        assert_eq!((x.status(), x.keeps_alive()), (404, expected), "{what}");
    }
}

#[test]
fn a_stream_of_connect_has_its_end_in_an_envelope() {
    let server = Server::start();
    let mut client = server.connect();
    let body = enveloped(0, b"{\"text\":\"2\"}");
    let reply = client.ask(
        "POST /test.Texts/Count",
        "content-type: application/connect+proto\nconnection: close",
        &enveloped(0, &text("2")),
    );
    assert!(reply.head.contains("x-head: 1"), "{}", reply.head);
    let mut plain = unchunk(&reply.body);
    for expected in ["0", "1"] {
        let rest = plain.split_off(5 + text(expected).len());
        assert_eq!(read(&plain[5..]), expected);
        plain = rest;
    }
    assert_eq!(plain, enveloped(2, b"{\"metadata\":{\"x-trail\":[\"2\"]}}"));
    let mut client = server.connect();
    let reply = client.ask(
        "POST /test.Texts/Chat",
        "content-type: application/connect+json\nconnection: close",
        &[body.clone(), body].concat(),
    );
    let answers =
        [enveloped(0, b"{\"text\":\"2!\"}"), enveloped(0, b"{\"text\":\"2!\"}"), enveloped(2, b"{}")].concat();
    assert_eq!(unchunk(&reply.body), answers);
}

/// The content of a chunked body.
fn unchunk(mut body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    loop {
        let end = body.windows(2).position(|window| window == b"\r\n").unwrap();
        let size = usize::from_str_radix(std::str::from_utf8(&body[..end]).unwrap(), 16).unwrap();
        out.extend_from_slice(&body[end + 2..end + 2 + size]);
        if size == 0 {
            return out;
        }
        body = &body[end + 4 + size..];
    }
}
