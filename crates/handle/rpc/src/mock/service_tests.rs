//! What the mock makes of messages: of streams, and of what it has recorded.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;

use bytes::Bytes;
use leat_dial::{Pools, Resolver, ResolverSettings};
use leat_message::Step;
use leat_rpc_wire::{Code, Metadata, Status};
use leat_testkit::Folder;

use super::record::{Answered, Recorded, rules};
use super::{Loaded, Mock, MockService, Settings};
use crate::scripted::{self, Script, ready};
use crate::{Form, Message, Service as _};

const PROTO: &str = r#"syntax = "proto3";
package shop.v1;
import "buf/validate/validate.proto";
import "google/protobuf/empty.proto";
import "google/protobuf/wrappers.proto";
service Orders {
  rpc Total(stream Order) returns (Sum);
  rpc Sums(Sum) returns (Sum);
  rpc Adds(stream Sum) returns (Sum);
  rpc Nothing(google.protobuf.Empty) returns (Sum);
  rpc Text(google.protobuf.StringValue) returns (Sum);
}
message Order { string id = 1 [(buf.validate.field).string = { min_len: 1, max_len: 4 }]; }
message Sum { int64 count = 1; }
"#;

const RULES: &str = r#"rules:
  - { name: total, method: shop.v1.Orders/Total, reply: { message: { count: "{{ received }}" } } }
"#;

/// A mock with these rules, and its first core.
fn service(rules: &str, settings: Settings) -> (Arc<Mock>, Arc<Loaded>, MockService) {
    let folder = Folder::new();
    folder.write("orders.proto", PROTO);
    folder.write("rules.yaml", rules);
    let (proto, rules) = (vec![folder.path().join("orders.proto")], vec![folder.path().join("rules.yaml")]);
    let settings = Settings { proto, rules, ..settings };
    let mock = Arc::new(Mock::new(&settings));
    let loaded = Loaded::read(&settings, &mock, &|text| panic!("{text}"));
    let loaded = Arc::new(loaded.unwrap_or_else(|found| panic!("{found:?}")));
    let pools = Pools::new(Resolver::new(ResolverSettings::default()));
    let service = MockService::new(Arc::clone(&mock), Arc::clone(&loaded), &pools, true).unwrap();
    (mock, loaded, service)
}

/// What a call comes to: its status, what was answered, how many messages the journal has of it, and whether it has an end.
fn total(requests: &[&[u8]], fails: Option<Status>) -> (Code, Vec<Vec<u8>>, usize, Option<Code>) {
    let (mock, _, service) = service(RULES, Settings::default());
    let method = service.method("/shop.v1.Orders/Total").unwrap();
    let mut script = Script::new(method, requests.iter().map(|bytes| bytes.to_vec()));
    script.fails = fails;
    let outcome = ready(service.converse(None, &mut script));
    let entries = mock.journal.copy(|_| true);
    let [entry] = &entries[..] else { panic!("{entries:?}") };
    let received = entry.frames.iter().filter(|frame| frame.way == super::journal::Way::In).count();
    let sent = script.sent.borrow().clone();
    (outcome.status.code, sent, received, entry.ended.as_ref().map(|(status, _)| status.code))
}

#[test]
fn every_message_of_a_stream_is_validated_and_every_end_is_told() {
    let (good, empty, long): (&[u8], &[u8], &[u8]) = (b"\x0a\x017", b"", b"\x0a\x0512345");
    let large = || Some(Status::new(Code::ResourceExhausted, "too large"));
    for (requests, fails, code, sent, received) in [
        (&[good, good][..], None, Code::Ok, &[&b"\x08\x02"[..]][..], 2),
        (&[long], None, Code::InvalidArgument, &[], 1),
        (&[good, long], None, Code::InvalidArgument, &[], 2),
        (&[good, good, empty, good], None, Code::InvalidArgument, &[], 3),
        // No message is none, and not an empty one that breaks the constraints.
        (&[], None, Code::Ok, &[b""], 0),
        (&[empty], None, Code::InvalidArgument, &[], 1),
        (&[], large(), Code::ResourceExhausted, &[], 0),
        (&[good], large(), Code::ResourceExhausted, &[], 1),
    ] {
        let wanted = (code, sent.iter().map(|bytes| bytes.to_vec()).collect(), received, Some(code));
        assert_eq!(total(requests, fails), wanted, "{requests:?}");
    }
}

#[test]
fn a_request_that_is_none_of_its_type_is_the_clients_mistake() {
    for (reply, requests) in [
        ("{ message: { count: '{{ request.count + 1 }}' } }", &[&b"\x08"[..]][..]),
        ("{ message: { count: '{{ last.count }}' } }", &[b"\x08\x01", b"\x08"]),
        ("{ message: {}, trailers: { x: '{{ string(request.count) }}' } }", &[b"\x08"]),
        ("{ script: [{ expect: last.count > 0 }, { send: {} }] }", &[b"\x08"]),
    ] {
        let rules = format!("- {{ method: shop.v1.Orders/Adds, reply: {reply} }}\n");
        let (_, _, service) = service(&rules, Settings::default());
        let method = service.method("/shop.v1.Orders/Adds").unwrap();
        let mut script = Script::new(method, requests.iter().map(|bytes| bytes.to_vec()));
        let outcome = ready(service.converse(None, &mut script));
        let told = (outcome.status.code, outcome.status.message.starts_with("the request is no shop.v1.Sum"));
        assert_eq!(told, (Code::InvalidArgument, true), "{reply}: {:?}", outcome.status);
    }
}

/// Whether calls came as expected, or why that is no question.
fn verdict(mock: &Mock, calls: &str) -> Result<bool, String> {
    let question = serde_json::from_str(&format!(r#"{{ "calls": [{calls}] }}"#)).unwrap();
    mock.verify(&question).map(|verdict| verdict.pass).map_err(|error| error.to_string())
}

#[test]
fn verification_asks_about_messages_as_rules_do_whatever_form_they_came_in() {
    let rules = "- { method: shop.v1.Orders/Sums, reply: { message: '{{ request }}' } }\n- { method: shop.v1.Orders/Total, reply: { message: {} } }\n";
    let (mock, loaded, service) = service(rules, Settings::default());
    mock.adopt(&loaded).unwrap();
    let method = service.method("/shop.v1.Orders/Sums").unwrap();
    let peer = scripted::peer();
    let call = scripted::call(method, &peer);
    for (form, bytes) in [(Form::Json, &b"{ \"count\": 7 }"[..]), (Form::Json, b"{}"), (Form::Binary, b"\x08\x07")] {
        let _ = service.whole(&call, Message { form, bytes }, &mut scripted::Answered::default());
    }
    for (calls, wanted) in [
        (r#"{ "message": { "count": 7 }, "count": 2 }"#, Ok(true)),
        (r#"{ "message": { "count": "7" }, "count": 2 }"#, Ok(true)),
        (r#"{ "method": "shop.v1.Orders/Sums", "message": { "count": { "gte": 1 } }, "count": 2 }"#, Ok(true)),
        // What is not written is zero.
        (r#"{ "message": { "count": 0 }, "count": 1 }"#, Ok(true)),
        (r#"{ "message": { "count": { "in": [8, 9] } }, "count": 0 }"#, Ok(true)),
        (r#"{ "message": { "count": 8 } }"#, Ok(false)),
        // Of another method's messages.
        (r#"{ "message": { "id": "7" }, "count": 0 }"#, Ok(true)),
        // A slip of the pen is no call that never came.
        (
            r#"{ "method": "shop.v1.Orders/Sums", "message": { "cuont": 7 }, "count": 0 }"#,
            Err("calls[0]: `shop.v1.Sum` has no field `cuont` (write `count`)"),
        ),
        (r#"{ "message": { "cuont": 7 }, "count": 0 }"#, Err("calls[0]: `shop.v1.Order` has no field `cuont`")),
        (
            r#"{ "method": "shop.v1.Orders/Sum", "count": 0 }"#,
            Err("calls[0]: the schema has no method `shop.v1.Orders/Sum`"),
        ),
    ] {
        match (verdict(&mock, calls), wanted) {
            (Ok(pass), Ok(wanted)) => assert_eq!(pass, wanted, "{calls}"),
            (Err(told), Err(wanted)) => assert!(told.starts_with(wanted), "{calls}: {told}"),
            (told, _) => panic!("{calls}: {told:?}"),
        }
    }
}

#[test]
fn what_a_schema_declares_wrongly_is_told_with_its_place() {
    let head = "syntax = \"proto3\";\npackage t;\nimport \"google/api/annotations.proto\";\nimport \"buf/validate/validate.proto\";\n";
    for (text, wanted) in [
        (
            "message A { int32 a = 1; }\nservice S {\n  rpc X(A) returns (A) { option (google.api.http) = { get: \"/a/{b}\" }; }\n  rpc Y(A) returns (A) { option (google.api.http) = { post: \"/c\" body: \"nope\" }; }\n  rpc Z(A) returns (A) { option (google.api.http) = { post: \"/d\" body: \"*\" }; }\n}\n",
            &["7:3 the variable `b` of the path: there is no such field", "8:3 `body` names `nope`"][..],
        ),
        (
            "message A {\n  string a = 1 [(buf.validate.field).int32.gt = 5];\n  string b = 2;\n  string c = 3 [(buf.validate.field).string.pattern = \"(\"];\n}\nservice S { rpc X(A) returns (A); }\n",
            &["6:3 t.A.a has rules of 'int32', where its type takes 'string'", "8:3 "],
        ),
    ] {
        let folder = Folder::new();
        folder.write("t.proto", format!("{head}{text}"));
        let settings = Settings { proto: vec![folder.path().join("t.proto")], ..Settings::default() };
        let about = |text| panic!("without a place: {text}");
        let problems = Loaded::read(&settings, &Mock::new(&settings), &about).unwrap_err();
        assert_eq!(problems.len(), wanted.len(), "{problems:?}");
        for (problem, wanted) in problems.iter().zip(wanted) {
            let (place, what) = wanted.split_once(' ').unwrap();
            assert!(problem.file().ends_with("t.proto") && problem.help().is_some(), "{problem:?}");
            assert_eq!(problem.place().unwrap().to_string(), place, "{problem:?}");
            assert!(problem.message().contains(what), "{problem:?}");
        }
    }
}

#[test]
fn fields_that_are_never_sent_are_told_of() {
    let rules = "- method: shop.v1.Orders/Sums\n  reply:\n    message: {}\n    headers: { x-a: b, Content-Type: text/plain }\n    trailers: { connection: close, date: x }\n";
    let (_, loaded, _) = service(rules, Settings::default());
    let told: Vec<String> = loaded.warnings().iter().map(|warning| warning.to_string()).collect();
    let wanted = ["rules.yaml:4:24: `Content-Type` is never sent", "rules.yaml:5:17: `connection` is never sent"];
    assert_eq!(told.len(), wanted.len(), "{told:?}");
    assert!(told.iter().zip(wanted).all(|(told, wanted)| told.contains(wanted)), "{told:?}");
}

#[test]
fn a_scenario_that_no_rule_has_is_not_set() {
    let rules = "- { method: shop.v1.Orders/Sums, scenario: { name: order, in: placed, to: shipped }, reply: { message: {} } }\n";
    let (mock, loaded, _) = service(rules, Settings::default());
    mock.adopt(&loaded).unwrap();
    for (scenario, state, wanted) in [
        ("order", "placed", Ok(())),
        ("order", "shipped", Ok(())),
        ("order", "start", Ok(())),
        ("ordr", "placed", Err("no rule has the scenario `ordr`: there are order")),
        ("order", "plcaed", Err("no rule has the state `plcaed` of `order`: there are placed, shipped, start")),
    ] {
        assert_eq!(mock.set_scenario(None, scenario, state), wanted.map_err(str::to_owned), "{scenario} {state}");
    }
}

#[test]
fn a_recorded_empty_request_answers_empty_requests_alone() {
    for (name, request, other, is_answered) in [
        ("Sums", &b""[..], &b"\x08\x01"[..], false),
        ("Nothing", b"", b"", true),
        // Bytes that the schema does not know, and a type that has no fields in expressions: no condition.
        ("Sums", b"\x50\x01", b"\x08\x01", true),
        ("Text", b"", b"\x0a\x01x", true),
    ] {
        let (_, loaded, _) = service("rules: []\n", Settings::default());
        let method = loaded.schema().method(&format!("/shop.v1.Orders/{name}")).unwrap();
        let answer = Answered {
            headers: Metadata::new(),
            messages: vec![(Bytes::from_static(b"\x08\x07"), 0)],
            status: Status::OK,
            end_ms: 0,
            trailers: Metadata::new(),
        };
        let requests = vec![Bytes::from_static(request)];
        let recorded = Recorded { method: method.full_name().to_owned(), metadata: Metadata::new(), requests, answer };
        let text = rules(loaded.schema(), method, "127.0.0.1:1", &[recorded]).unwrap();
        let (_, _, replay) = service(&text, Settings::default());
        let method = replay.method(&format!("/shop.v1.Orders/{name}")).unwrap();
        let ask = |request: &[u8]| {
            let mut answer = scripted::Answered::default();
            let peer = scripted::peer();
            let done = replay.whole(&scripted::call(method, &peer), Message::binary(request), &mut answer);
            assert!(matches!(done, Step::Done));
            answer.0.unwrap().is_ok_and(|bytes| bytes == b"\x08\x07")
        };
        assert!(ask(request), "{name}: {text}");
        assert_eq!(ask(other), is_answered, "{name}: {text}");
    }
}
