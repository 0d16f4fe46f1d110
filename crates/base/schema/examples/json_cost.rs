//! What a message of five fields costs between its forms, for callgrind: `json_cost WAY TIMES`, and the difference of two
//! counts of TIMES. WAY is `to-json`, `to-binary`, `path`, or with `-tree` behind it the way by the library's message.

#![allow(clippy::expect_used, clippy::panic, missing_docs)]

use std::hint::black_box;

use leat_schema::path::Path;
use leat_schema::{MessageType, Sources};

const TEXT: &str = "syntax = 'proto3'; package shop; message Order {
    int64 id = 1; string customer = 2; repeated Item items = 3; State state = 4; double total = 5;
    message Item { string sku = 1; int32 count = 2; } enum State { NEW = 0; PAID = 1; SENT = 2; } }";
const JSON: &str =
    r#"{"id":"1234567","customer":"Ada Lovelace","items":[{"sku":"engine-1","count":2}],"state":"PAID","total":19.99}"#;

fn tree_to_json(of: &MessageType, binary: &[u8]) -> Option<Vec<u8>> {
    serde_json::to_vec(&of.decode(binary).ok()?).ok()
}

fn tree_to_binary(of: &MessageType, json: &str) -> Option<Vec<u8>> {
    let pool = std::sync::Arc::clone(of.pool());
    let message = leat_schema::buffa_descriptor::DynamicMessage::from_json(pool, of.index(), json).ok()?;
    Some(message.encode_to_vec())
}

fn main() {
    let mut sources = Sources::new();
    sources.proto("shop.proto", TEXT);
    let schema = sources.build().expect("the schema is right");
    let of = schema.message("shop.Order").expect("the message is there");
    let mut binary = Vec::new();
    of.to_binary(JSON.as_bytes(), &mut binary).expect("the JSON is right");
    let path = Path::compile(&of, "state").expect("the path is right");
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [way, times] = &words[..] else { panic!("usage: json_cost WAY TIMES") };
    let mut out = Vec::with_capacity(1024);
    for _ in 0..times.parse().expect("TIMES is a number") {
        out.clear();
        let done = match way.as_str() {
            "to-json" => of.to_json(black_box(&binary), &mut out).is_ok(),
            "to-binary" => of.to_binary(black_box(JSON.as_bytes()), &mut out).is_ok(),
            "path" => black_box(path.read(black_box(&binary))).is_ok(),
            "to-json-tree" => black_box(tree_to_json(&of, black_box(&binary))).is_some(),
            "to-binary-tree" => black_box(tree_to_binary(&of, black_box(JSON))).is_some(),
            _ => panic!("there is no way {way}"),
        };
        assert!(done);
        black_box(&out);
    }
}
