//! Rules over messages, with the built-in `validate.proto`, which has no expressions: everything here is Leat's own.

use std::sync::Arc;

use leat_schema::buffa_descriptor::reflect::DynamicMessage;
use leat_schema::{Schema, Sources};

use super::*;
use crate::cel::Timestamp;

const SCHEMA: &str = r#"
syntax = "proto3";
package shop;
import "buf/validate/validate.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
enum Color { NONE = 0; RED = 1; }
message Plain { string name = 1; Plain next = 2; }
message Item {
  string sku = 1 [(buf.validate.field).string = {min_len: 2, max_len: 4}];
  int32 count = 2 [(buf.validate.field).int32 = {gte: 1, lt: 10}];
}
message Order {
  option (buf.validate.message).cel = {id: "order.total", message: "total is too low", expression: "this.total >= this.items.size()"};
  option (buf.validate.message).oneof = {fields: ["mail", "phone"], required: true};
  string id = 1 [(buf.validate.field).string.uuid = true];
  string mail = 2 [(buf.validate.field).string.email = true];
  string phone = 3 [(buf.validate.field).string.pattern = "^\\d+$"];
  repeated Item items = 4 [(buf.validate.field).repeated = {max_items: 2}];
  map<string, int32> counts = 5 [(buf.validate.field).map = {keys: {string: {prefix: "k"}}, values: {int32: {gt: 0}}}];
  Color color = 6 [(buf.validate.field).enum.defined_only = true];
  int32 total = 7 [(buf.validate.field).cel = {id: "total.even", expression: "this % 2 == 0 ? '' : 'odd: %d'.format([this])"}];
  google.protobuf.Timestamp at = 8 [(buf.validate.field).timestamp.lt_now = true];
  google.protobuf.Int32Value wrapped = 9 [(buf.validate.field).int32 = {in: [1, 2]}];
  Item main = 10 [(buf.validate.field).required = true];
  oneof way { option (buf.validate.oneof).required = true; string air = 11; string sea = 12; }
  repeated string tags = 13 [(buf.validate.field).repeated = {unique: true, items: {string: {in: ["a", "b"]}}}];
  double price = 14 [(buf.validate.field).double = {gt: 10, lt: 5, finite: true}];
  string left = 15 [(buf.validate.field) = {ignore: IGNORE_ALWAYS, string: {min_len: 100}}];
  string optional_text = 16 [(buf.validate.field) = {ignore: IGNORE_IF_ZERO_VALUE, string: {min_len: 3}}];
}
"#;

const RIGHT: &str = r#"{
  "id": "01234567-89ab-cdef-0123-456789abcdef", "mail": "a@b.c", "items": [{"sku": "ab", "count": 1}], "counts": {"k1": 1},
  "color": "RED", "total": 2, "at": "2000-01-01T00:00:00Z", "wrapped": 2, "main": {"sku": "abcd", "count": 9}, "air": "x",
  "tags": ["a", "b"], "price": 4.5
}"#;

fn schema() -> Arc<Schema> {
    let mut sources = Sources::new();
    sources.proto("shop.proto", SCHEMA);
    sources.build().expect("the schema")
}

fn judged(schema: &Schema, validators: &Validators, json: &str) -> Violations {
    let index = schema.message("shop.Order").expect("the message").index();
    let message = DynamicMessage::from_json(schema.pool().clone(), index, json).expect(json);
    validators.validate(&message, Timestamp::at(1_700_000_000, 0)).expect("rules that can be judged")
}

/// The right order with the JSON value of one field replaced, or left out where it is empty.
fn changed(name: &str, value: &str) -> String {
    let mut order: serde_json::Value = serde_json::from_str(RIGHT).expect("JSON");
    let fields = order.as_object_mut().expect("an object");
    fields.remove(name);
    if !value.is_empty() {
        fields.insert(name.to_owned(), serde_json::from_str(value).expect(value));
    }
    order.to_string()
}

#[test]
fn a_right_message_has_no_violations() {
    let schema = schema();
    let mut validators = Validators::compile(schema.pool());
    assert_eq!(validators.problems(), []);
    assert_eq!(judged(&schema, &validators, RIGHT).to_string(), "");
    validators.without_native();
    assert_eq!(judged(&schema, &validators, RIGHT).to_string(), "");
}

#[test]
fn each_rule_is_broken_by_its_value_alone() {
    let cases: &[(&str, &str, &str)] = &[
        ("id", "\"\"", "string.uuid_empty id: value is empty, which is not a valid UUID"),
        ("id", "\"x\"", "string.uuid id: must be a valid UUID"),
        ("mail", "\"nobody\"", "string.email mail: must be a valid email address"),
        ("mail", "", "message.oneof one of mail, phone must be set"),
        ("phone", "\"5\"", "message.oneof only one of mail, phone can be set"),
        (
            "items",
            r#"[{"sku":"ab","count":1},{"sku":"a","count":10}]"#,
            "int32.gte_lt items[1].count: must be greater than or equal to 1 and less than 10, string.min_len items[1].sku: must be at least 2 characters",
        ),
        (
            "items",
            r#"[{"sku":"ab","count":1},{"sku":"ab","count":1},{"sku":"ab","count":1}]"#,
            "order.total total is too low, repeated.max_items items: must contain no more than 2 item(s)",
        ),
        ("counts", r#"{"x": 1}"#, "string.prefix counts[\"x\"] (key): does not have prefix `k`"),
        ("counts", r#"{"k": 0}"#, "int32.gt counts[\"k\"]: must be greater than 0"),
        ("color", "5", "enum.defined_only color: value must be one of the defined enum values"),
        ("total", "3", "total.even total: odd: 3"),
        ("at", "\"2024-01-01T00:00:00Z\"", "timestamp.lt_now at: must be less than now"),
        ("wrapped", "3", "int32.in wrapped: must be in list [1, 2]"),
        ("wrapped", "", ""),
        ("main", "", "required main: value is required"),
        ("main", r#"{"sku":"abcde","count":1}"#, "string.max_len main.sku: must be at most 4 characters"),
        ("air", "", "required way: exactly one field is required in oneof"),
        ("tags", r#"["a","a"]"#, "repeated.unique tags: repeated value must contain unique items"),
        ("tags", r#"["c"]"#, "string.in tags[0]: must be in list [a, b]"),
        ("price", "7", "double.gt_lt_exclusive price: must be greater than 10 or less than 5"),
        ("price", "\"Infinity\"", "double.finite price: must be finite"),
        ("price", "10.5", ""),
        ("left", "\"short\"", ""),
        ("optionalText", "", ""),
        ("optionalText", "\"ab\"", "string.min_len optional_text: must be at least 3 characters"),
    ];
    let schema = schema();
    let native = Validators::compile(schema.pool());
    let mut plain = Validators::compile(schema.pool());
    plain.without_native();
    for (name, value, expected) in cases {
        let json = changed(name, value);
        for validators in [&native, &plain] {
            let mut found: Vec<String> =
                judged(&schema, validators, &json).0.iter().map(|each| format!("{} {each}", each.rule_id)).collect();
            found.sort();
            assert_eq!(found.join(", "), *expected, "{name}: {value}");
        }
    }
}

#[test]
fn types_without_rules_declare_nothing() {
    let schema = schema();
    let validators = Validators::compile(schema.pool());
    let index = |name: &str| schema.message(name).expect(name).index();
    assert!(!validators.declares(index("shop.Plain")));
    assert!(validators.declares(index("shop.Item")));
    assert!(validators.declares(index("shop.Order")));
}

#[test]
fn wrong_rules_are_problems_of_the_schema() {
    let cases: &[(&str, &str)] = &[
        (
            "string a = 1 [(buf.validate.field).int32.gt = 1];",
            "m.M.a has rules of 'int32', where its type takes 'string'",
        ),
        (
            "M a = 1 [(buf.validate.field).string.min_len = 1];",
            "m.M.a has rules of 'string', where its type takes none",
        ),
        ("string a = 1 [(buf.validate.field).string.pattern = \"(\"];", "m.M.a: the pattern is not valid"),
        (
            "string a = 1 [(buf.validate.field).cel = {id: \"x\", expression: \"this + 1 == 2\"}];",
            "rule 'x': 1:6: there is no string + int",
        ),
        (
            "string a = 1 [(buf.validate.field).cel = {id: \"x\", expression: \"this.b\"}];",
            "a value of type string has no field 'b'",
        ),
        (
            "string a = 1 [(buf.validate.field).cel = {id: \"x\", expression: \"size(this)\"}];",
            "the result is int, where a bool or a string must be",
        ),
        ("option (buf.validate.message).oneof = {fields: [\"b\"]};", "names the field 'b', which there is not"),
        ("option (buf.validate.message).oneof = {fields: []};", "a oneof rule names no field"),
        ("repeated M a = 1 [(buf.validate.field).repeated.unique = true];", "items that are messages cannot be unique"),
    ];
    for (body, expected) in cases {
        let mut sources = Sources::new();
        sources.proto("m.proto", &format!("syntax = \"proto3\"; package m; import \"buf/validate/validate.proto\"; message M {{ {body} }} message Outer {{ M m = 1; }}"));
        let schema = sources.build().expect(body);
        let validators = Validators::compile(schema.pool());
        let text: Vec<String> = validators.problems().iter().map(ToString::to_string).collect();
        assert!(text.len() == 1 && text.concat().contains(expected), "{body}: {text:?}");
        let outer = DynamicMessage::new(schema.pool().clone(), schema.message("m.Outer").expect("Outer").index());
        assert!(
            matches!(validators.validate(&outer, Timestamp::at(0, 0)), Err(Failure::Rules(_))),
            "{body}: types above fail too"
        );
    }
}

#[test]
fn violations_are_bounded_and_have_both_forms_of_details() {
    let schema = schema();
    let validators = Validators::compile(schema.pool());
    let tags: Vec<String> = (0..1000).map(|number| format!("\"{number}\"")).collect();
    let violations = judged(&schema, &validators, &changed("tags", &format!("[{}]", tags.join(","))));
    assert_eq!(violations.0.len(), VIOLATIONS_MAX);
    let one = judged(&schema, &validators, &changed("counts", r#"{"x": 1}"#));
    let own = schema.message("buf.validate.Violations").expect("the built-in type");
    let decoded = own.decode(&one.to_binary()).expect("Violations").to_json().expect("JSON");
    let expected = r#"{"violations":[{"ruleId":"string.prefix","message":"does not have prefix `k`","forKey":true,"field":{"elements":[{"fieldNumber":5,"fieldName":"counts","fieldType":"TYPE_MESSAGE","keyType":"TYPE_STRING","valueType":"TYPE_INT32","stringKey":"x"}]},"rule":{"elements":[{"fieldNumber":19,"fieldName":"map","fieldType":"TYPE_MESSAGE"},{"fieldNumber":4,"fieldName":"keys","fieldType":"TYPE_MESSAGE"},{"fieldNumber":14,"fieldName":"string","fieldType":"TYPE_MESSAGE"},{"fieldNumber":7,"fieldName":"prefix","fieldType":"TYPE_STRING"}]}}]}"#;
    let (decoded, expected): (serde_json::Value, serde_json::Value) =
        (serde_json::from_str(&decoded).expect("JSON"), serde_json::from_str(expected).expect("JSON"));
    assert_eq!(decoded, expected);
    let request = one.to_bad_request();
    let text = String::from_utf8_lossy(&request);
    assert!(
        text.contains("counts[\"x\"]") && text.contains("does not have prefix") && text.contains("string.prefix"),
        "{text}"
    );
}

#[test]
fn constraints_tell_what_a_field_must_keep() {
    let schema = schema();
    let validators = Validators::compile(schema.pool());
    let of = |message: &str, number: u32| {
        validators.constraints(schema.message(message).expect(message).index(), number).expect("constraints")
    };
    assert_eq!((of("shop.Item", 1).size_min, of("shop.Item", 1).size_max), (Some(2), Some(4)));
    assert_eq!(of("shop.Order", 1).format, Some(Format("uuid".to_owned())));
    assert_eq!(of("shop.Order", 4).size_max, Some(2));
    assert_eq!(of("shop.Order", 5).keys.as_ref().and_then(|keys| keys.prefix.clone()), Some("k".to_owned()));
    assert!(of("shop.Order", 10).required && of("shop.Order", 6).defined_only && of("shop.Order", 13).unique);
    assert_eq!(of("shop.Order", 8).future, Some(false));
    assert_eq!(of("shop.Order", 13).items.as_ref().map(|items| items.within.len()), Some(2));
}

/// What can be proven from bytes, over a message type without CEL, maps and wrappers.
const FLAT: &str = r#"
syntax = "proto3";
package flat;
import "buf/validate/validate.proto";
enum Color { NONE = 0; RED = 1; }
service Flats { rpc Make(Flat) returns (Flat); rpc Free(Free) returns (Free); rpc Slow(Slow) returns (Free); }
message Free { string name = 1; }
message Slow { int32 number = 1 [(buf.validate.field).cel = {id: "even", message: "must be even", expression: "this % 2 == 0"}]; }
message Flat {
  string name = 1 [(buf.validate.field).string = {min_len: 2, max_len: 8}];
  int32 count = 2 [(buf.validate.field).int32 = {gte: -3, lt: 10}];
  string mail = 3 [(buf.validate.field).string.email = true];
  Color color = 4 [(buf.validate.field).enum = {defined_only: true, not_in: [0]}];
  optional double price = 5 [(buf.validate.field).double = {gt: 0, finite: true}];
  repeated Part parts = 6 [(buf.validate.field).repeated = {min_items: 1, max_items: 3}];
  repeated string tags = 7 [(buf.validate.field).repeated.items.string.max_len = 3];
  sint64 signed = 8 [(buf.validate.field).sint64.in = 0, (buf.validate.field).sint64.in = -5];
  Part main = 9 [(buf.validate.field).required = true];
  bytes raw = 10 [(buf.validate.field).bytes.max_len = 4];
  fixed32 fixed = 11 [(buf.validate.field) = {ignore: IGNORE_IF_ZERO_VALUE, fixed32: {gt: 5}}];
}
message Part { uint32 size = 1 [(buf.validate.field).uint32.lte = 100]; }
"#;

const FLAT_RIGHT: &str = r#"{"name":"abc","count":-3,"mail":"a@b.c","color":"RED","price":0.5,"parts":[{"size":1},{"size":100}],"tags":["x","yyy"],"signed":"-5","main":{},"raw":"AAA=","fixed":6}"#;

fn flat() -> Arc<Schema> {
    let mut sources = Sources::new();
    sources.proto("flat.proto", FLAT);
    sources.build().expect("the schema")
}

#[test]
fn bytes_prove_what_a_judgement_would_find() {
    let schema = flat();
    let validators = Validators::compile(schema.pool());
    assert_eq!(validators.problems(), []);
    let kind = schema.message("flat.Flat").expect("Flat");
    let right =
        DynamicMessage::from_json(schema.pool().clone(), kind.index(), FLAT_RIGHT).expect("JSON").encode_to_vec();
    assert!(validators.proves(kind.index(), &right), "the right message is proven");
    let (mut proven, mut broken) = (0, 0);
    let mut seed: u64 = 7;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).expect("31 bits") % below
    };
    for _ in 0..200_000 {
        let mut bytes = right.clone();
        for _ in 0..=random(3) {
            let at = random(bytes.len());
            match random(4) {
                0 => bytes[at] = u8::try_from(random(256)).expect("a byte"),
                1 => bytes[at] ^= 1 << random(8),
                2 => drop(bytes.remove(at)),
                _ => bytes.extend_from_slice(right.get(at..).unwrap_or_default()),
            }
        }
        let proof = validators.proves(kind.index(), &bytes);
        if let Ok(message) = kind.decode(&bytes) {
            let violations = validators.validate(&message, Timestamp::at(0, 0)).expect("a judgement");
            assert!(!proof || violations.is_empty(), "{bytes:?}: {violations}");
            (proven, broken) = (proven + usize::from(proof), broken + usize::from(!violations.is_empty()));
        }
    }
    assert!(proven > 5_000 && broken > 5_000, "both were met: {proven} and {broken}");
}

#[test]
fn a_guard_answers_requests_that_break_rules() {
    use crate::call::Message;
    use leat_rpc_wire::Code;
    let schema = flat();
    let guard = |mode| Guard::new(mode, &schema).expect("right rules");
    let method = |name: &str| schema.method_named(name).expect(name);
    let now = || Timestamp::at(0, 0);
    let (auto, on, off) = (guard(Mode::Auto), guard(Mode::On), guard(Mode::Off));
    let (make, free, slow) = (method("flat.Flats/Make"), method("flat.Flats/Free"), method("flat.Flats/Slow"));
    assert!(auto.looks_at(make) && !auto.looks_at(free) && on.looks_at(free) && !off.looks_at(make));
    assert_eq!(auto.request(make, Message::json(FLAT_RIGHT.as_bytes()), now), Ok(()));
    assert_eq!(auto.request(slow, Message::binary(&[8, 4]), now), Ok(()));
    let status = *auto.request(slow, Message::binary(&[8, 5]), now).expect_err("an odd number");
    assert_eq!(
        (status.code, status.message.as_str()),
        (Code::InvalidArgument, "the request breaks its rules: number: must be even")
    );
    let names: Vec<&str> = status.details.iter().map(|detail| detail.type_name.as_str()).collect();
    assert_eq!(names, ["buf.validate.Violations", "google.rpc.BadRequest"]);
    let bad_request = schema
        .message("google.rpc.BadRequest")
        .expect("the built-in type")
        .decode(&status.details[1].value)
        .expect("BadRequest");
    assert_eq!(
        bad_request.to_json().expect("JSON"),
        r#"{"fieldViolations":[{"field":"number","description":"must be even","reason":"even"}]}"#
    );
    // Bytes that are no message: only `on` looks where nothing is declared.
    assert_eq!(auto.request(free, Message::binary(&[0xff]), now), Ok(()));
    assert_eq!(
        on.request(free, Message::binary(&[0xff]), now).map_err(|status| status.code),
        Err(Code::InvalidArgument)
    );
    assert_eq!(
        auto.request(make, Message::binary(&[0xff]), now).map_err(|status| status.code),
        Err(Code::InvalidArgument)
    );
    assert_eq!(off.request(make, Message::binary(&[0xff]), now), Ok(()));
    let part = schema.message("flat.Part").expect("Part");
    assert_eq!(auto.reply(&part, &[8, 100], now()), None);
    assert_eq!(auto.reply(&part, &[8, 101], now()).as_deref(), Some("size: must be less than or equal to 100"));
}
