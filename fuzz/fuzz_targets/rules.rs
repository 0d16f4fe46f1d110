//! Files of rules, and calls that they choose among: see ../README.md.
#![no_main]

use std::sync::{Arc, OnceLock};

use leat_config::table::Open;
use leat_rpc::mock::rules::{Gate, Info, Replies, Request, Rule, Set};
use leat_rpc::mock::state::Blocked;
use leat_rpc_wire::Metadata;
use leat_schema::{Method, Schema, Sources};
use libfuzzer_sys::fuzz_target;

const PROTO: &str = r#"
syntax = "proto3";
package t;
import "google/protobuf/any.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
service S { rpc M(All) returns (All); }
enum Color { NONE = 0; RED = 1; }
message All {
  int32 id = 1;
  string name = 2;
  bytes data = 3;
  Color color = 4;
  All inner = 5;
  repeated All all = 6;
  map<string, int64> labels = 7;
  google.protobuf.Any any = 8;
  google.protobuf.Timestamp at = 9;
  google.protobuf.StringValue word = 10;
  oneof pick { double left = 11; bool right = 12; }
  repeated uint32 numbers = 13;
}
"#;

struct Nothing;

impl Replies for Nothing {
    type Reply = ();

    fn compile(&mut self, _: &Info, rule: &Open<'_>, _: &Method) -> Option<()> {
        let _ = rule.json("reply");
        Some(())
    }
}

impl Gate<()> for Nothing {
    fn claim(&mut self, _: &Rule<()>) -> Result<u64, Blocked> {
        Ok(1)
    }

    fn calls(&mut self, _: &Rule<()>) -> u64 {
        0
    }
}

fn schema() -> &'static Arc<Schema> {
    static SCHEMA: OnceLock<Arc<Schema>> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let mut sources = Sources::new();
        sources.proto("t.proto", PROTO);
        sources.build().expect("the schema is right")
    })
}

// A text of rules, a zero byte, and a message.
fuzz_target!(|data: &[u8]| {
    let end = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
    let (text, message) = data.split_at(end);
    let Ok(text) = std::str::from_utf8(text) else { return };
    let loaded = Set::load(&[("rules.yaml", text)], schema(), &mut Nothing);
    assert_eq!(loaded.set.is_none(), !loaded.problems.is_empty());
    let Some(set) = loaded.set else { return };
    let mut metadata = Metadata::new();
    metadata.push("x-a", b"b");
    for method in schema().methods() {
        let request = Request { method, metadata: &metadata, message: message.get(1..).unwrap_or_default() };
        let chosen = format!("{:?}", set.choose(&request, &mut Nothing));
        assert!(!chosen.is_empty());
    }
});
