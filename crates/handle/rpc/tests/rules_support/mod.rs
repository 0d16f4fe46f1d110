//! A schema with every kind of field, rules without replies, and requests in their JSON form.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, dead_code)]

use std::sync::{Arc, OnceLock};

use leat_config::table::Open;
use leat_rpc::mock::rules::{Choice, Gate, Info, Loaded, Replies, Request, Rule, Set};
use leat_rpc::mock::state::Blocked;
use leat_rpc_wire::Metadata;
use leat_schema::{Method, Schema, Sources};

pub(crate) const PROTO3: &str = r#"
syntax = "proto3";
package t;
import "google/protobuf/any.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/empty.proto";
import "google/protobuf/field_mask.proto";
import "google/protobuf/struct.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";

service S {
  rpc M(All) returns (google.protobuf.Empty);
  rpc Other(Inner) returns (google.protobuf.Empty);
}
service Second { rpc M(Old) returns (google.protobuf.Empty); }

enum Color { COLOR_UNSPECIFIED = 0; COLOR_RED = 1; COLOR_BLUE = 2; }

message Inner {
  string name = 1;
  int32 count = 2;
  Inner inner = 3;
  repeated string tags = 4;
  optional int32 maybe = 5;
}

message All {
  double f_double = 1;
  float f_float = 2;
  int32 f_int32 = 3;
  int64 f_int64 = 4;
  uint32 f_uint32 = 5;
  uint64 f_uint64 = 6;
  sint32 f_sint32 = 7;
  sint64 f_sint64 = 8;
  fixed32 f_fixed32 = 9;
  fixed64 f_fixed64 = 10;
  sfixed32 f_sfixed32 = 11;
  sfixed64 f_sfixed64 = 12;
  bool f_bool = 13;
  string f_string = 14;
  bytes f_bytes = 15;
  Color f_color = 16;
  Inner inner = 17;
  optional int32 maybe = 18;
  repeated int32 numbers = 19;
  repeated string words = 20;
  repeated Inner inners = 21;
  map<string, string> labels = 22;
  map<int32, Inner> by_number = 23;
  oneof pick { string left = 24; int32 right = 25; Inner both = 26; }
  google.protobuf.Any any = 27;
  google.protobuf.StringValue w_string = 28;
  google.protobuf.Int64Value w_int64 = 29;
  google.protobuf.BoolValue w_bool = 30;
  google.protobuf.BytesValue w_bytes = 31;
  google.protobuf.DoubleValue w_double = 32;
  google.protobuf.Timestamp at = 33;
  google.protobuf.Duration took = 34;
  google.protobuf.Struct struct = 35;
  google.protobuf.Value value = 36;
  google.protobuf.FieldMask mask = 37;
  repeated Color colors = 38;
  map<string, Color> colored = 39;
  repeated google.protobuf.StringValue w_strings = 40;
  map<bool, int32> by_flag = 41;
  string in = 42;
  int32 far = 300;
}

message Old { t2.Two two = 1; }
"#;

pub(crate) const PROTO2: &str = r#"
syntax = "proto2";
package t2;

enum Closed { A = 1; B = 2; }

message Two {
  optional int32 plain = 1;
  optional int32 five = 2 [default = 5];
  optional string word = 3 [default = "hi"];
  optional Closed closed = 4;
  optional group Grouped = 5 { optional string name = 1; optional int32 n = 2 [default = 3]; }
  repeated group Rows = 6 { optional string name = 1; }
  optional Closed dflt = 7 [default = B];
  extensions 100 to 200;
}
extend Two { optional string extra = 100; }
"#;

/// The schema of all tests here.
pub(crate) fn schema() -> Arc<Schema> {
    static SCHEMA: OnceLock<Arc<Schema>> = OnceLock::new();
    Arc::clone(SCHEMA.get_or_init(compile))
}

fn compile() -> Arc<Schema> {
    let mut sources = Sources::new();
    sources.proto("two.proto", PROTO2);
    sources.proto("all.proto", &PROTO3.replace("package t;", "package t;\nimport \"two.proto\";"));
    sources.build().unwrap_or_else(|problems| panic!("{problems:?}"))
}

/// Replies that say nothing.
pub(crate) struct Nothing;

impl Replies for Nothing {
    type Reply = ();

    fn compile(&mut self, _: &Info, rule: &Open<'_>, _: &Method) -> Option<()> {
        let _ = rule.json("reply");
        Some(())
    }
}

/// Remembers how often each rule has answered.
#[derive(Default)]
pub(crate) struct Counts(pub(crate) std::collections::HashMap<String, u64>);

impl Gate<()> for Counts {
    fn claim(&mut self, rule: &Rule<()>) -> Result<u64, Blocked> {
        let count = self.0.entry(rule.name().to_string()).or_default();
        if let Some(limit) = rule.head().times.filter(|times| *count >= *times) {
            return Err(Blocked::Times { limit });
        }
        *count += 1;
        Ok(*count)
    }

    fn calls(&mut self, rule: &Rule<()>) -> u64 {
        self.0.get(&**rule.name()).copied().unwrap_or(0)
    }
}

pub(crate) fn load(text: &str, schema: &Arc<Schema>) -> Loaded<()> {
    Set::load(&[("rules.yaml", text)], schema, &mut Nothing)
}

/// Rules that must be right.
pub(crate) fn rules(text: &str, schema: &Arc<Schema>) -> Set<()> {
    let loaded = load(text, schema);
    let shown: Vec<String> = loaded.problems.iter().map(ToString::to_string).collect();
    loaded.set.unwrap_or_else(|| panic!("{text}\n{}", shown.join("\n")))
}

pub(crate) fn metadata(pairs: &[(&str, &str)]) -> Metadata {
    let mut metadata = Metadata::new();
    pairs.iter().for_each(|(name, value)| metadata.push(name, value.as_bytes()));
    metadata
}

/// A message of a method's input in binary form.
pub(crate) fn binary(method: &Method, json: &str) -> Vec<u8> {
    let mut out = Vec::new();
    method.input().to_binary_strict(json.as_bytes(), &mut out).unwrap_or_else(|error| panic!("{json}: {error}"));
    out
}

/// The name of the rule that answers, or why none does.
pub(crate) fn choose(
    set: &Set<()>,
    method: &Method,
    metadata: &Metadata,
    message: &[u8],
    gate: &mut Counts,
) -> Result<String, String> {
    match set.choose(&Request { method, metadata, message }, gate) {
        Choice::Found { rule, .. } => Ok(rule.name().to_string()),
        Choice::Unmatched(why) => Err(why.to_string()),
        Choice::Malformed => Err("malformed".to_owned()),
        Choice::TooLarge => Err("too large".to_owned()),
    }
}
