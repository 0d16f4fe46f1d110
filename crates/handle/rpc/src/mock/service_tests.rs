//! What the mock makes of messages: of streams, and of what it has recorded.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use bytes::Bytes;
use leat_dial::{Pools, Resolver, ResolverSettings};
use leat_message::Step;
use leat_rpc_wire::{Code, Metadata, Status};
use leat_testkit::Folder;

use super::record::{Answered, Recorded, rules};
use super::{Loaded, Mock, MockService, Settings};
use crate::scripted::{self, Script, ready};
use crate::{Message, Service as _};

const PROTO: &str = r#"syntax = "proto3";
package shop.v1;
import "buf/validate/validate.proto";
import "google/protobuf/empty.proto";
import "google/protobuf/wrappers.proto";
service Orders {
  rpc Total(stream Order) returns (Sum);
  rpc Sums(Sum) returns (Sum);
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
