#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;

use leat_schema::{Schema, Sources};
use serde_json::Value;

use super::message;
use crate::mock::noted::timestamp;
use crate::validate::{Guard, Mode};

const PROTO: &str = r#"syntax = "proto3";
package shop.v1;
import "buf/validate/validate.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
enum State { STATE_UNSPECIFIED = 0; OPEN = 1; SHIPPED = 2; }
message Order {
  string id = 1 [(buf.validate.field).string.uuid = true];
  string email = 2 [(buf.validate.field).string.email = true];
  int64 total = 3 [(buf.validate.field).int64 = { gte: 10, lt: 12 }];
  State state = 4;
  repeated string tags = 5 [(buf.validate.field).repeated = { min_items: 3, unique: true }];
  map<string, int32> counts = 6;
  google.protobuf.Timestamp at = 7 [(buf.validate.field).required = true];
  google.protobuf.StringValue note = 8;
  Order parent = 9;
  oneof pay { string card = 10; int32 cash = 11; }
  string code = 12 [(buf.validate.field).string = { prefix: "A-", min_len: 12, max_len: 12 }];
  double rate = 13 [(buf.validate.field).double = { gt: 0, lt: 0.005 }];
  bytes data = 14;
  string kind = 15 [(buf.validate.field).string = { in: ["x", "y"] }];
}
message Odd { int32 n = 1 [(buf.validate.field).cel = { id: "odd", message: "odd", expression: "this % 2 == 1" }]; }
message Never { int32 n = 1 [(buf.validate.field).cel = { id: "never", message: "never right", expression: "false" }]; }
message Endless { Endless inner = 1 [(buf.validate.field).required = true]; }
"#;

fn schema() -> Arc<Schema> {
    let mut sources = Sources::new();
    let methods = ["Order", "Odd", "Never", "Endless"].map(|name| format!("rpc Get{name}(Order) returns ({name});"));
    sources.proto("shop/v1/orders.proto", &format!("{PROTO}\nservice Orders {{ {} }}", methods.join(" ")));
    sources.build().unwrap()
}

fn made(schema: &Arc<Schema>, method: &str, number: u64) -> Result<Value, String> {
    let guard = Guard::new(Mode::Auto, schema).unwrap();
    let method = schema.method_named(&format!("shop.v1.Orders/{method}")).unwrap();
    let valid = |bytes: &[u8]| guard.reply(method.output(), bytes, timestamp()).map_or(Ok(()), Err);
    let bytes = message(method.output(), Some(guard.validators()), (7, number), valid)?;
    let mut json = Vec::new();
    method.output().to_json(&bytes, &mut json).unwrap();
    Ok(serde_json::from_slice(&json).unwrap())
}

#[test]
fn made_up_messages_keep_their_constraints_and_follow_from_the_seed() {
    let schema = schema();
    let first = made(&schema, "GetOrder", 1).unwrap();
    assert_eq!(made(&schema, "GetOrder", 1).unwrap(), first);
    assert_ne!(made(&schema, "GetOrder", 2).unwrap(), first);
    for number in 0..200 {
        // What is not valid is an error.
        let order = made(&schema, "GetOrder", number).unwrap();
        assert!(["10", "11"].contains(&order["total"].as_str().unwrap()), "{order}");
        assert!(order["email"].as_str().unwrap().ends_with("@example.com"), "{order}");
        assert_ne!(order["state"], "STATE_UNSPECIFIED");
        assert_eq!(order["tags"].as_array().unwrap().len(), 3);
        assert_eq!(order.get("card").is_some(), order.get("cash").is_none(), "one of the oneof: {order}");
    }
}

/// Types whose constraints fakes of each kind must keep.
const KINDS: &str = r#"syntax = "proto3";
package k.v1;
import "buf/validate/validate.proto";
import "google/protobuf/any.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
enum Kind { KIND_UNSPECIFIED = 0; A = 1; B = 5; }
message Patterns {
  string code = 1 [(buf.validate.field).string.pattern = "^[A-Z]{3}-\\d{4}$"];
  string version = 2 [(buf.validate.field).string.pattern = "^v(0|[1-9][0-9]*)(\\.[0-9]+)*(-(alpha|beta))?$"];
  string slug = 3 [(buf.validate.field).string = { pattern: "^[a-z0-9]+(?:-[a-z0-9]+)*$", min_len: 12, max_len: 20 }];
  string other = 4 [(buf.validate.field).string.pattern = "[^a-z]x+"];
  string phone = 5 [(buf.validate.field).string.pattern = "^\\+?[1-9]\\d{1,14}$"];
  string any = 6 [(buf.validate.field).string = { pattern: "(?i)^abc.*$", prefix: "a" }];
  map<string, int32> keyed = 7 [(buf.validate.field).map = { min_pairs: 3, keys: { string: { pattern: "^[a-z]{2,4}$" } }, values: { int32: { gt: 5 } } }];
  repeated string list = 8 [(buf.validate.field).repeated = { min_items: 3, unique: true, items: { string: { pattern: "^[0-9a-f]{8}$" } } }];
  bytes raw = 9 [(buf.validate.field).bytes.pattern = "^[a-f]{4}$"];
  google.protobuf.StringValue wrapped = 10 [(buf.validate.field).string.pattern = "^w[0-9]$"];
}
message Moments {
  google.protobuf.Duration between = 1 [(buf.validate.field).duration = { gt: { seconds: 1 }, lte: { seconds: 60 } }];
  google.protobuf.Duration short = 2 [(buf.validate.field).duration = { gt: {}, lt: { nanos: 1000 } }];
  google.protobuf.Duration less = 3 [(buf.validate.field).duration.lt = { seconds: -5 }];
  google.protobuf.Duration fixed = 4 [(buf.validate.field).duration.const = { seconds: 3, nanos: 500000000 }];
  google.protobuf.Duration one = 5 [(buf.validate.field).duration.in = { seconds: 7 }];
  google.protobuf.Timestamp past = 6 [(buf.validate.field).timestamp.lt_now = true];
  google.protobuf.Timestamp future = 7 [(buf.validate.field).timestamp.gt_now = true];
  google.protobuf.Timestamp near = 8 [(buf.validate.field).timestamp.within = { seconds: 3600 }];
  google.protobuf.Timestamp soon = 9 [(buf.validate.field).timestamp = { gt_now: true, within: { seconds: 3600 } }];
  google.protobuf.Timestamp old = 10 [(buf.validate.field).timestamp = { gte: { seconds: 5 }, lt: { seconds: 6 } }];
}
message Numbers {
  int32 least = 1 [(buf.validate.field).int32.gte = 2147483647];
  uint64 large = 2 [(buf.validate.field).uint64.gt = 18446744073709551613];
  int64 exact = 3 [(buf.validate.field).int64 = { gte: 9007199254740993, lte: 9007199254740993 }];
  int32 outside = 4 [(buf.validate.field).int32 = { gt: 10, lt: 5 }];
  sint64 below = 5 [(buf.validate.field).sint64.lt = -9223372036854775806];
  uint32 not = 6 [(buf.validate.field).uint32 = { gte: 1, lte: 3, not_in: [1, 2] }];
  double out = 7 [(buf.validate.field).double = { gt: 0.6, lt: 0.5 }];
  Kind kind = 8 [(buf.validate.field).enum = { defined_only: true, not_in: [0, 1] }];
  Kind only = 9 [(buf.validate.field).enum.const = 5];
  google.protobuf.Int64Value wrapped = 10 [(buf.validate.field).int64 = { gt: 3, lt: 5 }];
  fixed32 fixed = 11 [(buf.validate.field).fixed32.const = 7];
  bytes ip = 12 [(buf.validate.field).bytes.ip = true];
  bytes given = 13 [(buf.validate.field).bytes.const = "\\x00\\x01"];
  bytes few = 14 [(buf.validate.field).bytes.max_len = 2];
}
message Texts {
  string tight = 1 [(buf.validate.field).string = { prefix: "ab", suffix: "yz", contains: "mm", len: 8 }];
  string inside = 2 [(buf.validate.field).string = { prefix: "abc", contains: "b", len: 3 }];
  string not = 3 [(buf.validate.field).string = { not_in: ["amber", "birch", "copper", "delta", "ember", "field"] }];
  string net = 4 [(buf.validate.field).string.ip_with_prefixlen = true];
  string prefix = 5 [(buf.validate.field).string.ip_prefix = true];
  string net6 = 6 [(buf.validate.field).string.ipv6_with_prefixlen = true];
  string prefix6 = 7 [(buf.validate.field).string.ipv6_prefix = true];
  string header = 8 [(buf.validate.field).string.well_known_regex = KNOWN_REGEX_HTTP_HEADER_NAME];
  string host = 9 [(buf.validate.field).string.host_and_port = true];
  string ulid = 10 [(buf.validate.field).string.ulid = true];
  string trimmed = 11 [(buf.validate.field).string.tuuid = true];
  google.protobuf.Any any = 12 [(buf.validate.field).any.in = "type.googleapis.com/k.v1.Numbers"];
}
service S {
  rpc Patterns(Texts) returns (Patterns);
  rpc Moments(Texts) returns (Moments);
  rpc Numbers(Texts) returns (Numbers);
  rpc Texts(Texts) returns (Texts);
}
"#;

#[test]
fn fakes_keep_constraints_of_every_kind() {
    let mut sources = Sources::new();
    sources.proto("k.proto", KINDS);
    let schema = sources.build().unwrap_or_else(|problems| panic!("{problems:?}"));
    let guard = Guard::new(Mode::Auto, &schema).unwrap();
    for method in schema.methods() {
        let valid = |bytes: &[u8]| guard.reply(method.output(), bytes, timestamp()).map_or(Ok(()), Err);
        for number in 0..200 {
            let made = message(method.output(), Some(guard.validators()), (3, number), valid);
            assert!(made.is_ok(), "{}: {made:?}", method.full_name());
        }
    }
}

#[test]
fn constraints_in_cel_are_tried_for_and_what_has_no_message_is_told() {
    let schema = schema();
    for number in 0..50 {
        assert_eq!(made(&schema, "GetOdd", number).unwrap()["n"].as_i64().unwrap() % 2, 1);
    }
    let never = made(&schema, "GetNever", 1).unwrap_err();
    assert!(never.starts_with("no valid shop.v1.Never could be made up: ") && never.contains("never right"), "{never}");
    assert!(made(&schema, "GetEndless", 1).unwrap_err().contains("shop.v1.Endless"));
}
