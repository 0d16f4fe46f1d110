//! The cases of `corpus/h2/hpack.json`: the examples of RFC 7541, appendix C, and blocks that are broken.

use serde_json::Value;

use super::*;
use crate::hpack::integer;

/// Four fields, four lists of three blocks, and at least one broken block for each reason.
const CASES_MIN: usize = 8 + 20;

fn cases() -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../corpus/h2/hpack.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn pairs(list: &Value) -> Vec<(&str, &str)> {
    list.as_array().unwrap().iter().map(|pair| (pair[0].as_str().unwrap(), pair[1].as_str().unwrap())).collect()
}

fn check(decoder: &mut Decoder, block: &Value, name: &str) {
    let result = decode(decoder, &hex(block["bytes"].as_str().unwrap()));
    if let Some(reason) = block["refuse"].as_str() {
        assert_eq!(result.map_err(|error| format!("{error:?}")), Err(reason.to_owned()), "{name}");
        return;
    }
    let secret: Vec<&Value> = block["never_indexed"].as_array().into_iter().flatten().collect();
    let field = |(name, value)| {
        let is_secret = secret.iter().any(|other| *other == name);
        let (name, value, _) = open(name, value);
        (name, value, if is_secret { Sensitivity::NeverIndexed } else { Sensitivity::Open })
    };
    assert_eq!(result, Ok(pairs(&block["fields"]).into_iter().map(field).collect()), "{name}");
    let kept: Vec<_> = (0..).map_while(|place| decoder.table().get(place)).collect();
    let table: Vec<_> =
        pairs(&block["table"]).iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())).collect();
    assert_eq!((kept, Some(decoder.table().size() as u64)), (table, block["table_bytes"].as_u64()), "{name}");
}

#[test]
fn blocks_have_the_outcome_of_the_corpus() {
    let cases = cases();
    assert!(cases.len() >= CASES_MIN);
    for case in &cases {
        let mut decoder = Decoder::new(case["table_bytes_max"].as_u64().unwrap() as u32);
        for block in case["blocks"].as_array().unwrap() {
            check(&mut decoder, block, case["name"].as_str().unwrap());
        }
    }
}

#[test]
fn integers_of_c1() {
    for (bits, value, bytes) in [(5, 10, "0a"), (5, 1337, "1f9a0a"), (8, 42, "2a")] {
        let mut out = Vec::new();
        integer::encode(&mut out, 0, bits, value);
        assert_eq!(out, hex(bytes));
        assert_eq!(integer::decode(&out, bits), Ok((value as u32, &[][..])));
    }
}
