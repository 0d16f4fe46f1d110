use std::sync::Arc;

use crate::{MessageType, Schema, Sources};

pub(super) fn schema(text: &str) -> Arc<Schema> {
    let mut sources = Sources::new();
    sources.proto("test.proto", text);
    sources.build().unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn binary(of: &MessageType, json: &str) -> Vec<u8> {
    let mut out = Vec::new();
    of.to_binary_strict(json.as_bytes(), &mut out).unwrap_or_else(|error| panic!("{json}: {error}"));
    out
}

fn json(of: &MessageType, binary: &[u8]) -> String {
    let mut out = Vec::new();
    of.to_json(binary, &mut out).unwrap_or_else(|error| panic!("{binary:?}: {error}"));
    String::from_utf8(out).unwrap()
}

#[test]
fn a_message_goes_both_ways() {
    let schema =
        schema("syntax = 'proto3'; package p; message M { int32 id = 1; string name = 2; repeated int64 list = 3; }");
    let of = schema.message("p.M").unwrap();
    let text = r#"{"id":7,"name":"a\"b","list":["1","-2"]}"#;
    assert_eq!(json(&of, &binary(&of, text)), text);
    let mut out = b"kept".to_vec();
    assert!(of.to_binary(br#"{"id":7,"nope":{}}"#, &mut out).is_ok());
    assert_eq!(out, b"kept\x08\x07");
    assert!(of.to_binary_strict(br#"{"nope":1}"#, &mut out).is_err());
    assert!(of.to_json(b"\x08", &mut out).is_err());
    assert_eq!(out, b"kept\x08\x07");
}
