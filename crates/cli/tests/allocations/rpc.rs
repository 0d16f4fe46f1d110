//! Calls that a mock answers, and calls that are transcoded for an upstream.

use std::net::SocketAddr;

use leat_testkit::Folder;

use crate::{Path, Request};

const PROTO: &str = "syntax = \"proto3\";
package PACKAGE;
import \"google/api/annotations.proto\";
message Order { string id = 1; int64 total = 2; }
service Orders {
  rpc Get(Order) returns (Order) { option (google.api.http) = { get: \"/PACKAGE/{id}\" }; }
  rpc Greet(Order) returns (Order);
}
";

const RULES: &str = "rules:
  - { method: PACKAGE.Orders/Get, match: { message: { id: \"7\" } }, reply: { message: { id: \"7\", total: 1200 } } }
  - { method: PACKAGE.Orders/Greet, reply: { message: { id: \"{{ request.id }}\" } } }
";

/// `Order { id: "7" }`.
const MESSAGE: &[u8] = b"\x0a\x017";

pub(crate) fn write(folder: &Folder) {
    for package in ["mocked", "behind"] {
        folder.write(&format!("{package}.proto"), PROTO.replace("PACKAGE", package));
        folder.write(&format!("{package}.yaml"), RULES.replace("PACKAGE", package));
    }
}

/// The configuration of the server of gRPC that transcoded calls go to.
pub(crate) fn upstream() -> String {
    "access_log: off\nroutes:\n  - { name: behind, mock: { proto: behind.proto, rules: behind.yaml } }\n".to_owned()
}

/// The routes, as lines of a configuration.
pub(crate) fn routes(upstream: SocketAddr) -> String {
    let mock = "mock: { proto: mocked.proto, rules: mocked.yaml }";
    let transcode = format!("transcode: {{ upstream: \"h2c://{upstream}\", proto: behind.proto }}");
    let mut lines = String::new();
    for (name, prefix, action) in [
        ("mocked", "/mocked.Orders", mock),
        ("mocked-rest", "/mocked", mock),
        ("behind", "/behind.Orders", &transcode),
        ("behind-rest", "/behind", &transcode),
    ] {
        lines += &format!("  - {{ name: {name}, match: {{ prefix: {prefix} }}, {action} }}\n");
    }
    lines
}

pub(crate) fn paths() -> Vec<Path> {
    let mut envelope = vec![0, 0, 0, 0, 3];
    envelope.extend_from_slice(MESSAGE);
    let post = |name, path: &str, media: &str, body: &[u8]| {
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: leat.test\r\ncontent-type: {media}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        Path { name, request: Request::H1 { bytes: [head.as_bytes(), body].concat(), replies: 1 }, promised: None }
    };
    let get = |name, path: &str| {
        let bytes = format!("GET {path} HTTP/1.1\r\nhost: leat.test\r\n\r\n").into_bytes();
        Path { name, request: Request::H1 { bytes, replies: 1 }, promised: None }
    };
    let grpc = |name, path| Path { name, request: Request::Grpc { path, body: envelope.clone() }, promised: None };
    let (json, web) = ("application/json", "application/grpc-web+proto");
    vec![
        post("h1 mock, Connect", "/mocked.Orders/Get", "application/proto", MESSAGE),
        post("h1 mock, Connect in JSON", "/mocked.Orders/Get", json, br#"{"id":"7"}"#),
        post("h1 mock, gRPC-Web", "/mocked.Orders/Get", web, &envelope),
        post("h1 mock, Connect, template", "/mocked.Orders/Greet", "application/proto", MESSAGE),
        get("h1 mock, REST", "/mocked/7"),
        grpc("h2 mock, gRPC", "/mocked.Orders/Get"),
        grpc("h2 mock, gRPC, template", "/mocked.Orders/Greet"),
        post("h1 transcode, Connect", "/behind.Orders/Get", "application/proto", MESSAGE),
        post("h1 transcode, Connect in JSON", "/behind.Orders/Get", json, br#"{"id":"7"}"#),
        post("h1 transcode, gRPC-Web", "/behind.Orders/Get", web, &envelope),
        get("h1 transcode, REST", "/behind/7"),
        grpc("h2 transcode, gRPC", "/behind.Orders/Get"),
    ]
}
