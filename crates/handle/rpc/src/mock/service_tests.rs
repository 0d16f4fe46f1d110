//! What the mock makes of the messages of streams.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use leat_dial::{Pools, Resolver, ResolverSettings};
use leat_rpc_wire::{Code, Status};
use leat_testkit::Folder;

use super::{Loaded, Mock, MockService, Settings};
use crate::Service as _;
use crate::scripted::{Script, ready};

const PROTO: &str = r#"syntax = "proto3";
package shop.v1;
import "buf/validate/validate.proto";
service Orders { rpc Total(stream Order) returns (Sum); }
message Order { string id = 1 [(buf.validate.field).string = { min_len: 1, max_len: 4 }]; }
message Sum { int64 count = 1; }
"#;

const RULES: &str = r#"rules:
  - { name: total, method: shop.v1.Orders/Total, reply: { message: { count: "{{ received }}" } } }
"#;

/// What a call comes to: its status, what was answered, how many messages the journal has of it, and whether it has an end.
fn total(requests: &[&[u8]], fails: Option<Status>) -> (Code, Vec<Vec<u8>>, usize, Option<Code>) {
    let folder = Folder::new();
    folder.write("orders.proto", PROTO);
    folder.write("rules.yaml", RULES);
    let settings = Settings {
        proto: vec![folder.path().join("orders.proto")],
        rules: vec![folder.path().join("rules.yaml")],
        ..Settings::default()
    };
    let mock = Arc::new(Mock::new(&settings));
    let loaded = Loaded::read(&settings, &mock, &|text| panic!("{text}"));
    let loaded = Arc::new(loaded.unwrap_or_else(|found| panic!("{found:?}")));
    let pools = Pools::new(Resolver::new(ResolverSettings::default()));
    let service = MockService::new(Arc::clone(&mock), Arc::clone(&loaded), &pools, true).unwrap();
    let method = loaded.schema().method("/shop.v1.Orders/Total").unwrap();
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
