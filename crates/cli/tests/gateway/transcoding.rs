//! `transcode` routes: what the gateway itself tells clients, in their own protocols. What passes through is the business of
//! `leat-rpc` and of conformance/transcode.

use leat_testkit::{Folder, Leat, Response};

use crate::h2_peers::{response, run, server};

const PROTO: &str = r#"syntax = "proto3";
package t;
import "google/api/annotations.proto";
message M { string id = 1; }
service S {
  rpc Get(M) returns (M) { option (google.api.http) = { get: "/m/{id}" }; }
  rpc Watch(M) returns (stream M);
}
"#;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("t.proto", PROTO);
    folder
}

fn gateway(upstream: &str, root: &str, route: &str) -> Leat {
    let config = format!(
        "listeners: 127.0.0.1:0\nworkers: 1\n{root}\nroutes:\n  - {{ transcode: {{ upstream: \"{upstream}\", proto: t.proto }}{route} }}\n"
    );
    Leat::gateway_in(folder(), &config, 1)
}

fn ask(leat: &Leat, line: &str, fields: &str, body: &str) -> Response {
    let mut client = leat.connect();
    client.send(format!("{line} HTTP/1.1\r\nhost: h\r\ncontent-length: {}\r\n{fields}\r\n{body}", body.len()));
    client.response()
}

/// The same call by each protocol over HTTP/1: status and body.
fn all(leat: &Leat) -> [(u16, String); 4] {
    let told = |response: Response| (response.status, String::from_utf8_lossy(&response.body).into_owned());
    [
        told(ask(leat, "GET /m/7", "", "")),
        told(ask(leat, "POST /t.S/Get", "content-type: application/json\r\n", "{}")),
        told(ask(leat, "POST /t.S/Watch", "content-type: application/connect+proto\r\n", "\0\0\0\0\0")),
        told(ask(leat, "POST /t.S/Get", "content-type: application/grpc-web+proto\r\n", "\0\0\0\0\0")),
    ]
}

/// Every protocol is told of this code and this reason.
fn all_told(leat: &Leat, what: &str, http_status: u16, number: u8, name: &str, reason: &str) {
    let [rest, connect, stream, web] = all(leat);
    assert_eq!((rest.0, connect.0, stream.0, web.0), (http_status, http_status, 200, 200), "{what}");
    assert!(rest.1.starts_with(&format!("{{\"code\":{number},")) && rest.1.contains(reason), "{what}: {}", rest.1);
    let error = format!("{{\"code\":\"{name}\"");
    assert!(connect.1.starts_with(&error) && connect.1.contains(reason), "{what}: {}", connect.1);
    assert!(stream.1.contains(&format!("{{\"error\":{error}")) && stream.1.contains(reason), "{what}: {}", stream.1);
    assert!(web.1.contains(&format!("grpc-status: {number}\r\n")) && web.1.contains(reason), "{what}: {}", web.1);
}

#[test]
fn refusals_and_upstreams_that_are_down_are_told_in_the_clients_protocol() {
    // Nobody listens on this port: it was given to a socket that is closed again.
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).unwrap().port();
    let down = format!("h2c://127.0.0.1:{port}");
    all_told(&gateway(&down, "", ""), "down", 503, 14, "unavailable", "upstream.connect");
    let denied = gateway(&down, "", ", access: { deny: 127.0.0.1 }");
    all_told(&denied, "denied", 403, 7, "permission_denied", "access.address");
    let limit = "rate_limits: { one: { rate: 1/h, burst: 1 } }";
    let limited = gateway(&down, limit, ", rate_limits: one");
    assert_eq!(ask(&limited, "GET /m/7", "", "").status, 503);
    all_told(&limited, "limited", 429, 8, "resource_exhausted", "limit.rate");
    let response = ask(&limited, "GET /m/7", "", "");
    assert!(response.field("retry-after").is_some(), "{}", response.text());
    let auth = "auth: { keys: { api_keys: { keys: { a: 62af8704764faf8ea82fc61ce9c4c3908b6cb97d463a634e9e587d7c885db0ef } } } }";
    all_told(&gateway(&down, auth, ", auth: keys"), "unknown", 401, 16, "unauthenticated", "auth.missing");
}

#[test]
fn a_breaker_tells_clients_of_every_protocol_when_to_come_again() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).unwrap().port();
    let up = format!(
        "upstreams: {{ up: {{ endpoints: \"h2c://127.0.0.1:{port}\", breaker: {{ failures: 1, open: 90s, open_max: 90s }} }} }}"
    );
    let leat = gateway("up", &up, "");
    assert_eq!(ask(&leat, "GET /m/7", "", "").status, 503);
    all_told(&leat, "open", 503, 14, "unavailable", "upstream.breaker");
    for (line, fields, body) in [
        ("GET /m/7", "", ""),
        ("POST /t.S/Get", "content-type: application/json\r\n", "{}"),
        ("POST /t.S/Get", "content-type: application/grpc-web+proto\r\n", "\0\0\0\0\0"),
    ] {
        assert_eq!(ask(&leat, line, fields, body).fields_named("retry-after"), ["90"], "{line} {fields}");
    }
}

#[test]
fn an_upstream_that_is_late_or_no_grpc_is_told_of() {
    run(async {
        let silent = server(None, |asked, answer| async move {
            let _held = (asked, answer);
            std::future::pending::<()>().await;
        })
        .await;
        let leat = gateway(&format!("h2c://{silent}"), "", "");
        let late = tokio::task::spawn_blocking(move || {
            [
                ask(&leat, "POST /t.S/Get", "content-type: application/json\r\nconnect-timeout-ms: 50\r\n", "{}"),
                ask(&leat, "GET /m/7", "grpc-timeout: 50m\r\n", ""),
            ]
        });
        let [connect, rest] = late.await.unwrap();
        assert_eq!((connect.status, rest.status), (504, 504));
        assert!(connect.body.starts_with(b"{\"code\":\"deadline_exceeded\""), "{}", connect.text());
        let html = server(None, |_, mut answer| async move {
            let mut out = answer.send_response(response(200, &[("content-type", "text/html")]), false).unwrap();
            out.send_data("<html>".into(), true).unwrap();
        })
        .await;
        let leat = gateway(&format!("h2c://{html}"), "", "");
        let told = tokio::task::spawn_blocking(move || ask(&leat, "GET /m/7", "", "")).await.unwrap();
        assert_eq!((told.status, told.text().contains("none of gRPC")), (500, true), "{}", told.text());
    });
}

#[test]
fn configurations_that_can_not_work_say_why() {
    for (section, wanted) in [
        ("upstream: \"http://127.0.0.1:1\", proto: t.proto", "gRPC needs HTTP/2"),
        ("upstream: \"h2c://127.0.0.1:1\"", "`proto`"),
        ("upstream: \"h2c://127.0.0.1:1\", proto: none.proto", "none.proto"),
        ("upstream: \"h2c://127.0.0.1:1\", proto: wrong.proto", "wrong.proto:1:"),
        ("upstream: \"h2c://127.0.0.1:1\", proto: twice.proto", "is bound to t.S/A already"),
        ("upstream: \"h2c://127.0.0.1:1\", proto: empty.proto", "has no service"),
    ] {
        let folder = folder();
        folder.write("wrong.proto", "syntax = \"proto3\"; message {");
        folder.write("empty.proto", "syntax = \"proto3\"; message M {}");
        let method =
            |name: &str| format!("rpc {name}(M) returns (M) {{ option (google.api.http) = {{ get: \"/m\" }}; }}");
        let twice = format!("message M {{}} service S {{ {} {} }}", method("A"), method("B"));
        folder.write(
            "twice.proto",
            format!("syntax = \"proto3\"; package t; import \"google/api/annotations.proto\"; {twice}"),
        );
        folder.write("leat.yaml", format!("listeners: 127.0.0.1:0\nroutes:\n  - transcode: {{ {section} }}\n"));
        let output = Leat::run(folder.path(), &["gateway", "leat.yaml", "--check"]);
        assert_eq!(output.code, Some(2), "{section}: {}", output.stderr);
        assert!(
            output.stderr.contains("leat.yaml:3:") && output.stderr.contains(wanted),
            "{section}: {}",
            output.stderr
        );
    }
}
