//! Calls of every protocol through a transcoded exchange, with a scripted upstream behind it that sees gRPC.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::future::poll_fn;
use std::sync::Arc;

use leat_message::{BodyLimits, Exchange, Fault, Length, Name, OwnedFields, Piece, Reason, Reply};
use leat_rpc::serve::Cors;
use leat_rpc::transcode::{Behind, Settings, Transcoder};
use leat_rpc_wire::{Coding, envelope};
use leat_schema::Sources;
use leat_testkit::RecordedExchange;

const PROTO: &str = r#"
syntax = "proto3";
package t;
import "google/api/annotations.proto";
import "google/api/httpbody.proto";
message M { string id = 1; int64 n = 2; string pad = 3; }
service S {
  rpc Get(M) returns (M) { option idempotency_level = NO_SIDE_EFFECTS; option (google.api.http) = { get: "/m/{id}" }; }
  rpc Put(M) returns (M) { option (google.api.http) = { put: "/m/{id}" body: "*" }; }
  rpc Watch(M) returns (stream M) { option (google.api.http) = { get: "/m/{id}:watch" }; }
  rpc Sum(stream M) returns (M) { option (google.api.http) = { post: "/m:sum" body: "*" }; }
  rpc Chat(stream M) returns (stream M);
  rpc File(stream google.api.HttpBody) returns (stream google.api.HttpBody) { option (google.api.http) = { post: "/file" body: "*" }; }
}
"#;
const LIMITS: BodyLimits = BodyLimits { bytes_max: 1 << 20, time_ms: None };
const MESSAGE_BYTES_MAX: usize = 1_000;

fn transcoder() -> Transcoder {
    transcoder_before(Behind::Server)
}

fn transcoder_before(behind: Behind) -> Transcoder {
    let mut sources = Sources::new();
    sources.proto("t.proto", PROTO);
    let schema = sources.build().unwrap_or_else(|problems| panic!("{problems:?}"));
    let settings = Settings { message_bytes_max: MESSAGE_BYTES_MAX, behind, ..Settings::default() };
    Transcoder::new(Arc::clone(&schema), settings).unwrap()
}

/// What the upstream answers.
#[derive(Clone, Default)]
struct Answer {
    /// Fields of the head beside the content type.
    head: Vec<(&'static str, &'static str)>,
    /// Envelopes.
    body: Vec<u8>,
    /// `None`: the head was all.
    trailers: Option<Vec<(&'static str, &'static str)>>,
    http_status: u16,
    /// The connection breaks in place of the end.
    broken: Option<Reason>,
}

const FINE: &[(&str, &str)] = &[("grpc-status", "0"), ("x-trail", "t")];

impl Answer {
    fn of(messages: &[&[u8]]) -> Self {
        let mut body = Vec::new();
        messages.iter().for_each(|message| envelope::write(0, message, &mut body));
        Self { body, trailers: Some(FINE.to_vec()), http_status: 200, ..Self::default() }
    }

    fn trailers(mut self, trailers: &[(&'static str, &'static str)]) -> Self {
        self.trailers = Some(trailers.to_vec());
        self
    }

    fn only_head(fields: &[(&'static str, &'static str)]) -> Self {
        Self { head: fields.to_vec(), http_status: 200, ..Self::default() }
    }
}

/// Reads the request to its end, then answers. What the upstream saw: `path field…` and the body.
async fn upstream<X: Exchange>(x: &mut X, answer: &Answer, seen: &mut (String, Vec<u8>)) -> Result<(), Fault> {
    seen.0 = String::from_utf8_lossy(x.request().path()).into_owned();
    for (_, name, value) in x.request().fields() {
        seen.0 += &format!(" {}={}", String::from_utf8_lossy(name), String::from_utf8_lossy(value));
    }
    loop {
        let taken = poll_fn(|cx| {
            x.poll_body(cx).map_ok(|piece| match piece {
                Piece::Data(bytes) => {
                    seen.1.extend_from_slice(bytes);
                    bytes.len()
                }
                Piece::End => 0,
            })
        });
        match taken.await? {
            0 => break,
            taken => x.consume(taken),
        }
    }
    x.status(answer.http_status);
    if answer.http_status == 200 {
        x.field(b"content-type", b"application/grpc");
    }
    for (name, value) in &answer.head {
        x.field(name.as_bytes(), value.as_bytes());
    }
    x.length(if answer.trailers.is_some() || answer.broken.is_some() { Length::Stream } else { Length::None });
    let mut rest = answer.body.as_slice();
    while !rest.is_empty() {
        let count = poll_fn(|cx| x.poll_send(cx, rest)).await?;
        rest = &rest[count..];
    }
    if let Some(reason) = answer.broken {
        return Err(reason.into());
    }
    let trailers: Option<OwnedFields> = answer.trailers.as_ref().map(|trailers| {
        trailers.iter().map(|(name, value)| (Name::Other, name.as_bytes(), value.as_bytes())).collect()
    });
    x.end(trailers.as_ref().map(OwnedFields::fields));
    Ok(())
}

/// Runs a call; gives the exchange back, what the upstream saw, and how it ended.
fn call(mut x: RecordedExchange, answer: &Answer) -> (RecordedExchange, (String, Vec<u8>), Result<(), Fault>) {
    let transcoder = transcoder();
    let mut seen = (String::new(), Vec::new());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let result = runtime.block_on(async {
        let added = |put: &mut dyn FnMut(&[u8], &[u8])| put(b"x-added", b"1");
        let Some(mut transcoded) = transcoder.open(&mut x, |_| LIMITS, &added).await? else { return Ok(()) };
        let result = upstream(&mut transcoded, answer, &mut seen).await;
        transcoded.finish(result).await
    });
    (x, seen, result)
}

fn enveloped(messages: &[&[u8]]) -> Vec<u8> {
    Answer::of(messages).body
}

fn post(path: &str, kind: &str, body: impl Into<Vec<u8>>) -> RecordedExchange {
    RecordedExchange::new("POST", path).with_field("content-type", kind).with_body(body)
}

/// `STATUS TYPE BODY` of a reply, with control bytes escaped.
fn reply(x: &RecordedExchange) -> String {
    let kind = x.reply_field("content-type").unwrap_or("-");
    format!("{} {kind} {}", x.status(), x.reply_body().escape_ascii())
}

#[test]
fn every_protocol_reaches_the_upstream_as_grpc_and_gets_its_own_reply() {
    let m7: &[u8] = b"\x0a\x017";
    let text = |bytes: &[u8]| {
        let mut out = Vec::new();
        leat_rpc_wire::grpc_web::text::encode(bytes, &mut out);
        out
    };
    let json = br#"{"id":"7"}"#;
    let web_end = r"\x80\x00\x00\x00\x1cgrpc-status: 0\r\nx-trail: t\r\n";
    let stream = |form: &str| format!("application/connect+{form}");
    for (what, x, path, expected) in [
        ("rest", RecordedExchange::new("GET", "/m/7"), "/t.S/Get", r#"200 application/json {\"id\":\"7\",\"n\":\"2\"}"#.to_owned()),
        ("rest body", post("/m/7", "text/plain", "{}"), "", "405".to_owned()),
        ("connect json", post("/t.S/Get", "application/json", *json), "/t.S/Get", r#"200 application/json {\"id\":\"7\",\"n\":\"2\"}"#.to_owned()),
        ("connect proto", post("/t.S/Get", "application/proto", m7), "/t.S/Get", r"200 application/proto \n\x017\x10\x02".to_owned()),
        ("connect get", RecordedExchange::new("GET", "/t.S/Get?encoding=proto&base64=1&message=CgE3&connect=v1"), "/t.S/Get",
            r"200 application/proto \n\x017\x10\x02".to_owned()),
        ("connect stream", post("/t.S/Watch", &stream("proto"), enveloped(&[m7])), "/t.S/Watch",
            r#"200 application/connect+proto \x00\x00\x00\x00\x05\n\x017\x10\x02\x02\x00\x00\x00\x1e{\"metadata\":{\"x-trail\":[\"t\"]}}"#.to_owned()),
        ("connect stream json", post("/t.S/Watch", &stream("json"), enveloped(&[json])), "/t.S/Watch",
            r#"200 application/connect+json \x00\x00\x00\x00\x12{\"id\":\"7\",\"n\":\"2\"}\x02\x00\x00\x00\x1e{\"metadata\":{\"x-trail\":[\"t\"]}}"#.to_owned()),
        ("web", post("/t.S/Get", "application/grpc-web", enveloped(&[m7])), "/t.S/Get",
            format!(r"200 application/grpc-web+proto \x00\x00\x00\x00\x05\n\x017\x10\x02{web_end}")),
        ("web json", post("/t.S/Get", "application/grpc-web+json", enveloped(&[json])), "/t.S/Get",
            format!(r#"200 application/grpc-web+json \x00\x00\x00\x00\x12{{\"id\":\"7\",\"n\":\"2\"}}{web_end}"#)),
        ("web text", post("/t.S/Get", "application/grpc-web-text", text(&enveloped(&[m7]))), "/t.S/Get",
            "200 application/grpc-web-text+proto AAAAAAUKATcQAg==gAAAABxncnBjLXN0YXR1czogMA0KeC10cmFpbDogdA0K".to_owned()),
    ] {
        if expected == "405" {
            let (x, seen, _) = call(x, &Answer::of(&[]));
            assert_eq!((x.status(), seen.0.as_str(), x.reply_field("allow")), (405, "", Some("GET, PUT")), "{what}");
            continue;
        }
        let x = x.with_field("x-sent", "1").with_field("accept-encoding", "br").with_slow_upload(3).with_slow_client(2);
        let (x, (head, body), result) = call(x, &Answer::of(&[b"\x0a\x017\x10\x02"]));
        assert_eq!(result, Ok(()), "{what}");
        assert_eq!(reply(&x).replace(r"\'", "'"), expected, "{what}");
        assert!(x.is_complete(), "{what}");
        assert_eq!(body, enveloped(&[m7]), "{what}");
        assert!(head.starts_with(path), "{what}: {head}");
        for wanted in [" x-sent=1", " content-type=application/grpc ", " te=trailers"] {
            assert!(format!("{head} ").contains(wanted), "{what}: {head}");
        }
        assert!(!head.contains("connect-") && !head.contains(" accept-encoding"), "{what}: {head}");
        assert_eq!(x.reply_field("x-added"), None, "{what}");
    }
}

#[test]
fn grpc_passes_and_grpc_with_json_becomes_binary() {
    let json = enveloped(&[br#"{"id":"7"}"#]);
    for (kind, sent, received) in [
        ("application/grpc", b"any bytes".to_vec(), b"any bytes".to_vec()),
        ("application/grpc+json", json, enveloped(&[b"\x0a\x017"])),
    ] {
        let mut x = post("/t.S/Get", kind, sent);
        x = x.with_field("te", "trailers");
        let is_json = kind.ends_with("json");
        // gRPC in another form than binary is asked for over HTTP/2 only.
        if is_json {
            let (x, ..) = call(x, &Answer::of(&[]));
            assert_eq!(x.status(), 505);
            continue;
        }
        let (x, seen, result) = call(x, &Answer::of(&[b"\x0a\x019"]));
        assert_eq!((result, seen.1), (Ok(()), received));
        assert_eq!((x.reply_body(), x.reply_trailers().len()), (enveloped(&[b"\x0a\x019"]).as_slice(), 2));
    }
}

#[test]
fn errors_are_told_in_the_clients_protocol() {
    const FAILED: &[(&str, &str)] = &[("grpc-status", "5"), ("grpc-message", "no %C3%A4")];
    let stream_error = r#"{\"error\":{\"code\":\"not_found\",\"message\":\"no \xc3\xa4\"}}"#;
    let trailers_only = Answer::only_head(FAILED);
    let behind = Answer::of(&[b"\x0a\x017"]).trailers(FAILED);
    for (what, x, answer, expected) in [
        ("rest", RecordedExchange::new("GET", "/m/7"), &trailers_only, r#"404 application/json {\"code\":5,\"message\":\"no \xc3\xa4\",\"details\":[]}"#.to_owned()),
        ("rest stream", RecordedExchange::new("GET", "/m/7:watch"), &trailers_only, r#"404 application/json {\"code\":5,\"message\":\"no \xc3\xa4\",\"details\":[]}"#.to_owned()),
        ("rest stream begun", RecordedExchange::new("GET", "/m/7:watch"), &behind,
            r#"200 application/json [{\"id\":\"7\"},{\"error\":{\"code\":5,\"message\":\"no \xc3\xa4\",\"details\":[]}}]"#.to_owned()),
        ("connect", post("/t.S/Get", "application/proto", ""), &behind, r#"404 application/json {\"code\":\"not_found\",\"message\":\"no \xc3\xa4\"}"#.to_owned()),
        ("connect stream", post("/t.S/Watch", "application/connect+proto", enveloped(&[b""])), &trailers_only,
            format!(r"200 application/connect+proto \x02\x00\x00\x000{stream_error}")),
        ("web", post("/t.S/Get", "application/grpc-web+proto", enveloped(&[b""])), &trailers_only,
            r"200 application/grpc-web+proto \x80\x00\x00\x00)grpc-status: 5\r\ngrpc-message: no %C3%A4\r\n".to_owned()),
    ] {
        let (x, _, result) = call(x, answer);
        assert_eq!((result, reply(&x)), (Ok(()), expected), "{what}");
    }
}

#[test]
fn an_upstream_that_breaks_off_or_speaks_something_else_is_told_of() {
    let broken = |reason| Answer { broken: Some(reason), trailers: None, ..Answer::of(&[b"\x0a\x017"]) };
    let html = Answer { http_status: 503, body: b"<html>".to_vec(), trailers: Some(Vec::new()), ..Answer::default() };
    let two = Answer::of(&[b"", b""]);
    let no_status = Answer::of(&[b""]).trailers(&[]);
    let wrong = Answer::of(&[b"\xff"]);
    let cut = Answer { body: b"\0\0\0\0\x09".to_vec(), ..Answer::of(&[]) };
    for (what, answer, code, reason) in [
        ("reset", &broken(Reason::UpstreamReset), 14, Some(Reason::UpstreamReset)),
        ("late", &broken(Reason::UpstreamTotalTime), 4, Some(Reason::UpstreamTotalTime)),
        ("html", &html, 14, Some(Reason::UpstreamRpc)),
        ("two messages", &two, 13, None),
        ("no status", &no_status, 13, None),
        ("not the message", &wrong, 13, Some(Reason::UpstreamRpc)),
        ("cut off", &cut, 13, None),
    ] {
        let (mut x, _, result) = call(RecordedExchange::new("GET", "/m/7"), answer);
        let body = String::from_utf8_lossy(x.reply_body()).into_owned();
        assert!(body.starts_with(&format!("{{\"code\":{code},")), "{what}: {body}");
        assert_eq!((result, x.record().reason), (Ok(()), reason), "{what}");
    }
    // Behind the first messages of a stream.
    let x = post("/t.S/Watch", "application/connect+json", enveloped(&[b"{}"]));
    let (x, _, result) = call(x, &broken(Reason::UpstreamReset));
    let body = String::from_utf8_lossy(x.reply_body()).into_owned();
    assert!(
        result.is_ok() && body.contains("{\"id\":\"7\"}") && body.contains("{\"error\":{\"code\":\"unavailable\""),
        "{body}"
    );
    // A stream of bytes has no other way than to break off.
    let x = post("/file", "text/plain", "x");
    let file = Answer { broken: Some(Reason::UpstreamReset), trailers: None, ..Answer::of(&[b"\x0a\x01a\x12\x02hi"]) };
    let (x, _, result) = call(x, &file);
    assert_eq!((result, x.is_complete()), (Err(Reason::UpstreamReset.into()), false));
}

#[test]
fn wrong_requests_never_reach_the_upstream() {
    let long = vec![b' '; MESSAGE_BYTES_MAX + 2_000];
    for (what, x, expected) in [
        ("rest json", RecordedExchange::new("PUT", "/m/7").with_body("{"), "400 application/json {\\\"code\\\":3,"),
        ("rest unknown", RecordedExchange::new("GET", "/m/7?x=1"), "400 application/json {\\\"code\\\":3,"),
        ("rest nothing", RecordedExchange::new("GET", "/nothing"), "404 application/json {\\\"code\\\":5,"),
        (
            "rest too long",
            RecordedExchange::new("PUT", "/m/7").with_body(long.clone()),
            "429 application/json {\\\"code\\\":8,",
        ),
        (
            "connect json",
            post("/t.S/Get", "application/json", "{"),
            "400 application/json {\\\"code\\\":\\\"invalid_argument\\\"",
        ),
        (
            "connect too long",
            post("/t.S/Get", "application/proto", long),
            "429 application/json {\\\"code\\\":\\\"resource_exhausted\\\"",
        ),
        (
            "connect unknown",
            post("/t.S/No", "application/proto", ""),
            "404 application/json {\\\"code\\\":\\\"unimplemented\\\"",
        ),
        (
            "connect version",
            post("/t.S/Get", "application/proto", "").with_field("connect-protocol-version", "2"),
            "400 application/json {\\\"code\\\":\\\"invalid_argument\\\"",
        ),
        (
            "connect coding",
            post("/t.S/Get", "application/proto", "").with_field("content-encoding", "snappy"),
            "501 application/json {\\\"code\\\":\\\"unimplemented\\\"",
        ),
        (
            "connect bad coding",
            post("/t.S/Get", "application/proto", "x").with_field("content-encoding", "gzip"),
            "400 application/json {\\\"code\\\":\\\"invalid_argument\\\"",
        ),
        ("stream as unary", post("/t.S/Watch", "application/proto", ""), "415 application/json "),
        ("unary as stream", post("/t.S/Get", "application/connect+proto", ""), "415 application/json "),
        ("get of put", RecordedExchange::new("GET", "/t.S/Put?encoding=json&message=%7B%7D"), "405 - "),
        ("content type", post("/t.S/Get", "text/plain", ""), "415 - "),
        ("web unknown", post("/t.S/No", "application/grpc-web", ""), "200 application/grpc-web+proto \\x80"),
    ] {
        let (mut x, seen, result) = call(x, &Answer::of(&[b""]));
        assert_eq!((result, seen.0.as_str()), (Ok(()), ""), "{what}");
        let got = reply(&x);
        assert!(got.starts_with(expected), "{what}: {got}");
        assert!(x.record().reason.is_some(), "{what}");
        assert_eq!(x.reply_field("x-added"), Some("1"), "{what}");
    }
}

#[test]
fn pages_may_read_what_a_program_answers_and_what_is_refused_in_its_place() {
    let transcoder = transcoder_before(Behind::Program);
    let listed = Cors::Origins(vec!["https://a.example".into()]);
    let page = |path, kind, body: &[u8]| post(path, kind, body).with_field("origin", "https://a.example");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let web = enveloped(&[b""]);
    for (what, mut x, head, cors, expected) in [
        ("any", page("/t.S/Get", "application/json", b"{}"), vec![("x-own", "1")], Cors::Any, "*"),
        (
            "listed",
            page("/t.S/Get", "application/grpc-web", &web),
            vec![("x-own", "1")],
            listed.clone(),
            "https://a.example",
        ),
        (
            "own",
            page("/t.S/Get", "application/json", b"{}"),
            vec![("access-control-allow-origin", "b")],
            Cors::Any,
            "b",
        ),
        ("refused", page("/t.S/Get", "application/json", b"{"), vec![], Cors::Any, "*"),
        ("media", page("/t.S/Get", "text/plain", b"{"), vec![], listed.clone(), "https://a.example"),
        ("no method", page("/t.S/None", "application/proto", b""), vec![], Cors::Any, "*"),
    ] {
        let answer = Answer { head, ..Answer::of(&[b""]) };
        runtime.block_on(async {
            let origin = cors.origin(x.request()).to_owned();
            let added = |put: &mut dyn FnMut(&[u8], &[u8])| origin.origin().each(put);
            let Some(mut transcoded) = transcoder.open_within(&mut x, &added).await.unwrap() else { return };
            let result = upstream(&mut transcoded, &answer, &mut Default::default()).await;
            transcoded.finish(result).await.unwrap();
        });
        let named = |name: &str| x.reply_fields().iter().filter(|(found, _)| found == name.as_bytes()).count();
        assert_eq!(x.reply_field("access-control-allow-origin"), Some(expected), "{what}");
        assert_eq!((named("access-control-allow-origin"), named("access-control-expose-headers")), (1, 1), "{what}");
        assert_eq!(named("vary") == 1, cors == listed, "{what}");
    }
    for (method, asked, cors, expected) in [
        ("OPTIONS", Some("POST"), Cors::Any, true),
        ("OPTIONS", Some("POST"), Cors::Off, false),
        ("OPTIONS", None, Cors::Any, false),
        ("POST", Some("POST"), Cors::Any, false),
    ] {
        let mut x = RecordedExchange::new(method, "/t.S/Get").with_field("origin", "https://a.example");
        if let Some(asked) = asked {
            x = x.with_field("access-control-request-method", asked);
        }
        assert_eq!(cors.answer_preflight(&mut x), expected, "{method} {asked:?} {cors:?}");
        assert_eq!(
            x.reply_field("access-control-allow-origin"),
            expected.then_some("*"),
            "{method} {asked:?} {cors:?}"
        );
    }
}

#[test]
fn refusals_promise_to_go_on_only_where_all_of_the_request_is_here() {
    for (what, x, expected) in [
        ("no body", RecordedExchange::new("GET", "/nothing"), true),
        ("empty", post("/t.S/No", "application/proto", ""), true),
        ("chunked", post("/t.S/No", "application/proto", "").with_streamed_body("x"), false),
        ("long", post("/t.S/Get", "text/plain", "x"), false),
    ] {
        let (x, _, result) = call(x, &Answer::of(&[]));
        assert_eq!((result, x.keeps_alive()), (Ok(()), expected), "{what}");
    }
}

#[test]
fn many_small_messages_of_the_text_form_come_in_one_piece() {
    // Cost that grows with the square of their number would take minutes.
    let messages = vec![&b""[..]; 500_000];
    let body = enveloped(&messages);
    let mut sent = Vec::new();
    leat_rpc_wire::grpc_web::text::encode(&body, &mut sent);
    let (x, seen, result) = call(post("/t.S/Chat", "application/grpc-web-text", sent), &Answer::of(&[]));
    assert_eq!((result, x.status()), (Ok(()), 200));
    assert!(seen.1 == body, "{} of {} bytes", seen.1.len(), body.len());
}

#[test]
fn wrong_messages_of_streams_end_the_call() {
    let flags = |flags: u8| [&[flags, 0, 0, 0, 1][..], b"x"].concat();
    let long = [&[0, 0, 1, 0, 0][..], &[0; 100]].concat();
    for (what, x, code) in [
        ("flags", post("/t.S/Chat", "application/connect+proto", flags(4)), "invalid_argument"),
        ("compressed", post("/t.S/Chat", "application/connect+proto", flags(1)), "internal"),
        ("too long", post("/t.S/Chat", "application/connect+proto", long), "resource_exhausted"),
        ("cut off", post("/t.S/Chat", "application/connect+proto", "\0\0\0"), "invalid_argument"),
        ("no message", post("/t.S/Watch", "application/connect+proto", ""), "unimplemented"),
        ("two messages", post("/t.S/Watch", "application/connect+proto", enveloped(&[b"", b""])), "unimplemented"),
        ("json", post("/t.S/Chat", "application/connect+json", enveloped(&[b"{"])), "invalid_argument"),
    ] {
        let (x, _, result) = call(x, &Answer::of(&[]));
        let body = String::from_utf8_lossy(x.reply_body()).into_owned();
        assert!(result.is_ok() && body.contains(&format!("\"code\":\"{code}\"")), "{what}: {body}");
    }
    let (x, ..) = call(post("/t.S/Get", "application/grpc-web-text", "AAA*"), &Answer::of(&[]));
    assert!(x.reply_body().starts_with(b"gAAAA"), "{}", reply(&x));
}

#[test]
fn streams_of_rest_flow_in_the_form_that_is_asked_for() {
    let three: &[&[u8]] = &[b"\x10\x01", b"\x10\x02", b"\x10\x03"];
    for (accept, expected) in [
        ("*/*", r#"200 application/json [{\"n\":\"1\"},{\"n\":\"2\"},{\"n\":\"3\"}]"#),
        ("application/x-ndjson", r#"200 application/x-ndjson {\"n\":\"1\"}\n{\"n\":\"2\"}\n{\"n\":\"3\"}\n"#),
        (
            "text/event-stream",
            r#"200 text/event-stream data: {\"n\":\"1\"}\n\ndata: {\"n\":\"2\"}\n\ndata: {\"n\":\"3\"}\n\n"#,
        ),
    ] {
        let x = RecordedExchange::new("GET", "/m/7:watch").with_field("accept", accept).with_slow_client(5);
        let (x, _, result) = call(x, &Answer::of(three));
        assert_eq!((result, reply(&x).as_str()), (Ok(()), expected));
    }
    let (x, _, _) = call(RecordedExchange::new("GET", "/m/7:watch"), &Answer::of(&[]));
    assert_eq!(reply(&x), "200 application/json []");
    for body in [r#"[{"n":1},{"n":2},{"n":3}]"#, "{\"n\":1}\n{\"n\":2}{\"n\":\"3\"}"] {
        let x = RecordedExchange::new("POST", "/m:sum").with_streamed_body(body).with_slow_upload(4);
        let (x, seen, result) = call(x, &Answer::of(&[b"\x10\x06"]));
        assert_eq!((result, seen.1), (Ok(()), enveloped(three)));
        assert_eq!(reply(&x), r#"200 application/json {\"n\":\"6\"}"#);
    }
    let x = post("/file", "image/png", "\x01\x02\x03").with_slow_upload(2);
    let (x, seen, _) = call(x, &Answer::of(&[b"\x0a\x03a/b\x12\x02hi", b"\x12\x01!"]));
    assert_eq!(seen.1, enveloped(&[b"\x0a\x09image/png\x12\x02\x01\x02", b"\x12\x01\x03"]));
    assert_eq!(reply(&x), "200 a/b hi!");
}

#[test]
fn what_is_compressed_stays_so_where_the_client_takes_it() {
    let message = [&b"\x1a\xc8\x01"[..], &[b'x'; 200]].concat();
    let mut packed = Vec::new();
    Coding::Gzip.compress(&message, &mut packed);
    let mut body = Vec::new();
    envelope::write(envelope::COMPRESSED, &packed, &mut body);
    let answer = Answer { body, head: vec![("grpc-encoding", "gzip")], ..Answer::of(&[]) };
    let json = [&br#"{"pad":""#[..], &[b'x'; 200], b"\"}"].concat();
    for (what, accept, form, coding) in [
        ("passes", "br, gzip", "proto", Some("gzip")),
        ("again", "gzip", "json", Some("gzip")),
        ("not taken", "br", "proto", None),
        ("not taken json", "gzip;q=0", "json", None),
    ] {
        let kind = format!("application/{form}");
        let sent: &[u8] = if form == "json" { b"{}" } else { b"" };
        let (x, (head, _), _) = call(post("/t.S/Get", &kind, sent).with_field("accept-encoding", accept), &answer);
        assert_eq!(x.reply_field("content-encoding"), coding, "{what}");
        let mut plain = Vec::new();
        let read = if coding.is_some() { Coding::Gzip } else { Coding::Identity };
        read.decompress(x.reply_body(), 10_000, &mut plain).unwrap();
        assert!(plain == if form == "json" { json.clone() } else { message.clone() }, "{what}");
        assert_eq!(head.contains("grpc-accept-encoding"), !accept.contains("q=0"), "{what}: {head}");
    }
    // A client's own coding ends here.
    let mut sent = Vec::new();
    Coding::Br.compress(b"\x0a\x017", &mut sent);
    let x = post("/t.S/Get", "application/proto", sent).with_field("content-encoding", "br");
    let (_, (head, body), _) = call(x, &Answer::of(&[b""]));
    assert_eq!(body, enveloped(&[b"\x0a\x017"]));
    assert!(!head.contains("encoding"), "{head}");
    // A bomb is stopped at the limit.
    let mut bomb = Vec::new();
    Coding::Gzip.compress(&vec![0; 1_000_000], &mut bomb);
    let x = post("/t.S/Get", "application/proto", bomb).with_field("content-encoding", "gzip");
    assert!(reply(&call(x, &Answer::of(&[b""])).0).contains("resource_exhausted"));
}

#[test]
fn deadlines_are_told_to_the_upstream_in_its_own_form() {
    for (name, value, x) in [
        ("connect-timeout-ms", "1500", post("/t.S/Get", "application/proto", "")),
        ("grpc-timeout", "1500m", post("/t.S/Get", "application/grpc-web", enveloped(&[b""]))),
        ("grpc-timeout", "1500m", RecordedExchange::new("GET", "/m/7")),
    ] {
        let (_, (head, _), _) = call(x.with_field(name, value), &Answer::of(&[b""]));
        assert!(head.contains(" grpc-timeout=1500000u"), "{head}");
    }
}
