#![allow(clippy::unwrap_used)]

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
