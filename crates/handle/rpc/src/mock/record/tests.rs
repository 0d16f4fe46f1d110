use bytes::Bytes;
use leat_rpc_wire::{Code, Detail, Metadata, Status};
use leat_schema::{Schema, Sources};

use super::{Answered, Recorded, Recorder, file_name, rules};

const PROTO: &str = r#"syntax = "proto3";
package shop.v1;
import "google/rpc/error_details.proto";
service Orders { rpc Get(GetRequest) returns (Order); rpc Watch(GetRequest) returns (stream Order); }
message GetRequest { string id = 1; }
message Order { string id = 1; int64 total = 2; }
"#;

fn schema() -> std::sync::Arc<Schema> {
    let mut sources = Sources::new();
    sources.proto("shop/v1/orders.proto", PROTO);
    sources.build().unwrap()
}

fn metadata(pairs: &[(&str, &[u8])]) -> Metadata {
    let mut metadata = Metadata::new();
    pairs.iter().for_each(|(name, value)| metadata.push(name, value));
    metadata
}

fn call(method: &str, request: &'static [u8], messages: &[(&'static [u8], u64)], status: Status) -> Recorded {
    let messages = messages.iter().map(|(bytes, ms)| (Bytes::from_static(bytes), *ms)).collect();
    Recorded {
        method: method.to_owned(),
        metadata: Metadata::new(),
        requests: vec![Bytes::from_static(request)],
        answer: Answered { headers: Metadata::new(), messages, status, end_ms: 0, trailers: Metadata::new() },
    }
}

#[test]
fn calls_become_rules_one_for_each_request() {
    let schema = schema();
    let method = schema.method_named("shop.v1.Orders/Get").unwrap();
    let info = Detail { type_name: "google.rpc.ErrorInfo".to_owned(), value: Bytes::from_static(b"\x0a\x04GONE") };
    let gone = Status { code: Code::NotFound, message: "no order {{ 9 }}".to_owned(), details: vec![info] };
    let mut one = call("shop.v1.Orders/Get", b"\x0a\x017", &[(b"\x0a\x017\x10\x05", 12)], Status::OK);
    one.metadata = metadata(&[("x-tenant", b"acme")]);
    one.answer.headers = metadata(&[("x-a", b"1"), ("x-a", b"2"), ("x-b-bin", &[255, 0])]);
    one.answer.trailers = metadata(&[("x-t", b"c")]);
    let same = one.clone();
    let mut later = one.clone();
    later.answer.messages = vec![(Bytes::from_static(b"\x0a\x017\x10\x06"), 0)];
    let nothing = call("shop.v1.Orders/Get", b"", &[], gone);
    assert_eq!(
        rules(&schema, method, "127.0.0.1:1", &[one, same, nothing, later]).unwrap(),
        r#"# Recorded from 127.0.0.1:1. Metadata that sounds secret was left out.
rules:
  - name: "shop.v1.Orders/Get 1"
    method: shop.v1.Orders/Get
    match: { message: {"id":"7"} }
    sample: {"messages":[{"id":"7"}],"metadata":{"x-tenant":"acme"}}
    reply:
      then: repeat_last
      sequence:
        - templates: false
          headers: {"x-a":["1","2"],"x-b-bin":"/wA"}
          delay: 12ms
          message: {"id":"7","total":"5"}
          trailers: {"x-t":"c"}
        - templates: false
          headers: {"x-a":["1","2"],"x-b-bin":"/wA"}
          message: {"id":"7","total":"6"}
          trailers: {"x-t":"c"}
  - name: "shop.v1.Orders/Get 2"
    method: shop.v1.Orders/Get
    match: { cel: "request == shop.v1.GetRequest{}" }
    sample: {"messages":[{}]}
    reply:
      templates: false
      error: {"code":"not_found","details":[{"@type":"google.rpc.ErrorInfo","reason":"GONE"}],"message":"no order {{ 9 }}"}
"#
    );
    assert_eq!(file_name(method), "shop.v1.Orders.Get.yaml");
}

#[test]
fn streams_keep_the_time_before_each_message() {
    let schema = schema();
    let method = schema.method_named("shop.v1.Orders/Watch").unwrap();
    let broken = Status::new(Code::Unavailable, "over");
    let call = call("shop.v1.Orders/Watch", b"\x0a\x017", &[(b"\x10\x01", 0), (b"\x10\x02", 5)], broken);
    let text = rules(&schema, method, "127.0.0.1:1", &[call]).unwrap();
    let reply = text.split_once("    reply:\n").unwrap().1;
    assert_eq!(
        reply,
        r#"      templates: false
      stream:
        - {"message":{"total":"1"}}
        - {"delay":"5ms","message":{"total":"2"}}
      error: {"code":"unavailable","message":"over"}
"#
    );
}

#[test]
fn what_has_no_json_form_is_told_and_not_written_as_nothing() {
    let schema = schema();
    let broken = b"\x0a\x05ab";
    let detail = Detail { type_name: "google.rpc.ErrorInfo".to_owned(), value: Bytes::from_static(broken) };
    let failed = Status { code: Code::Aborted, message: String::new(), details: vec![detail] };
    for (method, request, messages, status) in [
        ("shop.v1.Orders/Get", &broken[..], &[(&b""[..], 0)][..], Status::OK),
        ("shop.v1.Orders/Get", b"", &[(broken, 0)], Status::OK),
        ("shop.v1.Orders/Watch", b"", &[(b"", 0), (broken, 0)], Status::OK),
        ("shop.v1.Orders/Get", b"", &[], failed),
    ] {
        let call = call(method, request, messages, status);
        let told = rules(&schema, schema.method_named(method).unwrap(), "127.0.0.1:1", &[call]);
        assert!(told.as_ref().is_err_and(|told| told.contains("has no JSON form")), "{method}: {told:?}");
    }
}

#[test]
fn a_call_that_cannot_be_written_does_not_spoil_the_others() {
    let folder = leat_testkit::Folder::new();
    let recorder = Recorder::start(folder.path(), "127.0.0.1:1").unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let note = |request: &'static [u8]| {
        let call = call("shop.v1.Orders/Get", request, &[(b"", 0)], Status::OK);
        runtime.block_on(recorder.note(schema(), call))
    };
    assert_eq!(note(b"\x0a\x017"), Ok(()));
    assert!(note(b"\x0a\x05ab").is_err_and(|told| told.contains("shop.v1.GetRequest has no JSON form")));
    assert_eq!(note(b"\x0a\x018"), Ok(()));
    let text = std::fs::read_to_string(folder.path().join("shop.v1.Orders.Get.yaml")).unwrap();
    assert!(text.contains(r#"{"id":"7"}"#) && text.contains(r#"{"id":"8"}"#), "{text}");
}
