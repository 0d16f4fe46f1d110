use std::sync::Arc;

use super::{read, tree, write};
use crate::testing::{self, Random, Wild};
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

/// How often the quick way was taken, and how often it was not.
#[derive(Default)]
struct Taken {
    quick: u32,
    tree: u32,
}

impl Taken {
    fn count(&mut self, quick: bool) {
        if quick { self.quick += 1 } else { self.tree += 1 }
    }
}

/// The message as the library writes it: one way for each message.
fn canonical(of: &MessageType, bytes: &[u8]) -> Vec<u8> {
    of.decode(bytes).unwrap_or_else(|error| panic!("{error}: {bytes:?}")).encode_to_vec()
}

fn by_tree(of: &MessageType, json: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    tree::to_binary(of, json, true, &mut out).ok()?;
    Some(out)
}

/// Where the quick way says yes, it says what the tree says.
fn check_write(of: &MessageType, bytes: &[u8], taken: &mut Taken) -> Option<Vec<u8>> {
    let (mut quick, mut slow) = (Vec::new(), Vec::new());
    let went = write::to_json(of, bytes, &mut quick).is_ok();
    taken.count(went);
    if went {
        let text = String::from_utf8(quick.clone()).unwrap();
        let tree = tree::to_json(of, bytes, &mut slow);
        assert!(tree.is_ok(), "the tree refuses {bytes:?}, of which the quick way made {text}: {tree:?}");
        let read = |json: &[u8]| by_tree(of, json).map(|bytes| canonical(of, &bytes));
        assert_eq!(read(&quick), read(&slow), "{text}\n{}\nof {bytes:?}", String::from_utf8_lossy(&slow));
    }
    went.then_some(quick)
}

fn check_read(of: &MessageType, json: &[u8], taken: &mut Taken) {
    let mut quick = Vec::new();
    let went = read::to_binary(of, json, true, &mut quick).is_ok();
    taken.count(went);
    if went {
        let text = String::from_utf8_lossy(json);
        let slow = by_tree(of, json).unwrap_or_else(|| panic!("the tree refuses what the quick way takes: {text}"));
        assert_eq!(canonical(of, &quick), canonical(of, &slow), "{text}");
    }
}

#[test]
fn the_quick_way_and_the_tree_agree_on_regular_messages() {
    let schema = testing::schema();
    // A quarter of all enums are numbers without a name, which closed ones leave to the tree; so are the rarer known types.
    for (name, at_least) in [("three.All", 80), ("two.All", 65), ("three.Known", 40)] {
        let of = schema.message(name).unwrap();
        let (mut written, mut taken) = (Taken::default(), Taken::default());
        for seed in 0..1500 {
            // In the order of their numbers, as serializers write them, by way of the library.
            let bytes = testing::message(&of, &mut Random(seed), Wild { depth: 3, odd: false });
            let bytes = canonical(&of, &bytes);
            if let Some(json) = check_write(&of, &bytes, &mut written) {
                check_read(&of, &json, &mut taken);
            }
        }
        let quick = |taken: &Taken| taken.quick * 100 / (taken.quick + taken.tree);
        assert!(quick(&written) >= at_least, "{name}: {} %", quick(&written));
        assert!(quick(&taken) >= 90, "{name}: {} %", quick(&taken));
    }
}

#[test]
fn the_quick_way_and_the_tree_agree_on_odd_and_broken_messages() {
    let schema = testing::schema();
    let mut taken = Taken::default();
    for name in ["three.All", "two.All", "three.Known"] {
        let of = schema.message(name).unwrap();
        let mut random = Random(5);
        for _ in 0..2000 {
            let mut bytes = testing::message(&of, &mut random, Wild { depth: 2, odd: true });
            check_write(&of, &bytes, &mut taken);
            let at = random.below(bytes.len() as u64 + 1) as usize;
            match random.below(3) {
                0 => bytes.truncate(at),
                1 => bytes.insert(at, random.next() as u8),
                _ => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << random.below(8)),
            }
            check_write(&of, &bytes, &mut taken);
        }
    }
    assert!(taken.quick > 1000 && taken.tree > 1000);
}

#[test]
fn the_quick_way_takes_no_json_that_the_tree_refuses() {
    let schema = testing::schema();
    let mut taken = Taken::default();
    const PIECES: [&str; 16] =
        ["\"", "\\", "\\u12", "{", "}", "[", "]", ",", ":", "null", "0", "1e3", "-", " ", "\"x\":", "\u{1}"];
    for name in ["three.All", "two.All", "three.Known"] {
        let of = schema.message(name).unwrap();
        let mut random = Random(9);
        for _ in 0..4000 {
            let bytes = testing::message(&of, &mut random, Wild { depth: 2, odd: false });
            let mut json = Vec::new();
            if tree::to_json(&of, &bytes, &mut json).is_err() {
                continue;
            }
            let at = random.below(json.len() as u64 + 1) as usize;
            let piece = PIECES[random.below(16) as usize].bytes();
            match random.below(3) {
                0 => drop(json.splice(at..at, piece)),
                1 => drop(json.splice(at..(at + 1).min(json.len()), piece)),
                _ => json.truncate(at),
            }
            check_read(&of, &json, &mut taken);
        }
    }
    assert!(taken.quick > 500 && taken.tree > 500, "{} {}", taken.quick, taken.tree);
}

#[test]
fn what_json_may_look_like() {
    let schema = testing::schema();
    let (all, known) = (schema.message("three.All").unwrap(), schema.message("three.Known").unwrap());
    for (of, json, wanted) in [
        // (which message, JSON, JSON again; an empty one for a refusal)
        (&all, r#" { "int32" : 1 , "string" : "a\u00e9\ud83d\ude00\/\n" } "#, r#"{"int32":1,"string":"aé😀/\n"}"#),
        (&all, r#"{"int_list":[1,2],"byInt":{"7":{}}}"#, r#"{"intList":[1,2],"byInt":{"7":{}}}"#),
        (
            &all,
            r#"{"int32":"1","int64":2,"uint32":1e3,"sint32":3.0}"#,
            r#"{"int32":1,"int64":"2","uint32":1000,"sint32":3}"#,
        ),
        (&all, r#"{"open":"TWO","openList":[1,77]}"#, r#"{"open":"TWO","openList":["ONE",77]}"#),
        (&all, r#"{"bytes":"-_8","bytesList":["+/8="]}"#, r#"{"bytes":"+/8=","bytesList":["+/8="]}"#),
        (
            &all,
            r#"{"double":"NaN","float":"-Infinity","doubleList":["1.5"]}"#,
            r#"{"double":"NaN","float":"-Infinity","doubleList":[1.5]}"#,
        ),
        (&all, r#"{"float":3.4028235e38}"#, r#"{"float":3.4028234663852886e38}"#),
        (&all, r#"{"float":-3.4028234663852886e38}"#, r#"{"float":-3.4028234663852886e38}"#),
        (&all, r#"{"float":0.1}"#, r#"{"float":0.1}"#),
        (&all, r#"{"int32":null,"all":null,"intList":null,"byInt":null}"#, "{}"),
        (&all, r#"{"oneInt":0,"maybeInt":0,"int32":0}"#, r#"{"oneInt":0,"maybeInt":0}"#),
        (&all, r#"{"oneNull":null}"#, r#"{"oneNull":null}"#),
        (&all, r#"{"unknown":{"a":["\u0041",1]},"bool":true}"#, r#"{"bool":true}"#),
        (&all, r#"{"int32":1,"int32":2}"#, ""),
        (&all, r#"{"intList":[1],"int_list":[2]}"#, ""),
        (&all, r#"{"oneInt":1,"oneString":""}"#, ""),
        (&all, r#"{"intList":[null]}"#, ""),
        (&all, r#"{"int32":2147483648}"#, ""),
        (&all, r#"{"int32":1.5}"#, ""),
        (&all, r#"{"float":1e40}"#, ""),
        (&all, r#"{"open":"NO"}"#, ""),
        (&all, r#"{"string":"\ud83d"}"#, ""),
        (&all, r#"{"string":1}"#, ""),
        (&all, r#"{"bool":"true"}"#, ""),
        (&all, r#"{"int32":1}x"#, ""),
        (&all, r#"{"int32":1,}"#, ""),
        (&all, "", ""),
        (&all, "[]", ""),
        (&known, r#"{"timestamp":"2026-11-22T19:00:00.5Z"}"#, r#"{"timestamp":"2026-11-22T19:00:00.500Z"}"#),
        (&known, r#"{"timestamp":"2026-11-22T19:00:00+01:00"}"#, r#"{"timestamp":"2026-11-22T18:00:00Z"}"#),
        (&known, r#"{"timestamp":"0001-01-01T00:00:00Z"}"#, r#"{"timestamp":"0001-01-01T00:00:00Z"}"#),
        (
            &known,
            r#"{"timestamp":"9999-12-31T23:59:59.999999999Z"}"#,
            r#"{"timestamp":"9999-12-31T23:59:59.999999999Z"}"#,
        ),
        (&known, r#"{"timestamp":"2026-02-29T00:00:00Z"}"#, ""),
        (&known, r#"{"timestamp":"2024-02-29T00:00:00Z"}"#, r#"{"timestamp":"2024-02-29T00:00:00Z"}"#),
        (&known, r#"{"duration":"-1.5s"}"#, r#"{"duration":"-1.500s"}"#),
        (&known, r#"{"duration":"1"}"#, ""),
        (
            &known,
            r#"{"int64":"7","string":"","bool":true,"bytes":"AA=="}"#,
            r#"{"int64":"7","string":"","bytes":"AA==","bool":true}"#,
        ),
        (
            &known,
            r#"{"value":null,"valueList":[null,1,"a"],"null":null}"#,
            r#"{"value":null,"valueList":[null,1.0,"a"]}"#,
        ),
        (&known, r#"{"struct":{"a":[{}]},"list":[]}"#, r#"{"struct":{"a":[{}]},"list":[]}"#),
        (&known, r#"{"mask":"a.bC,d"}"#, r#"{"mask":"a.bC,d"}"#),
        (
            &known,
            r#"{"any":{"@type":"type.googleapis.com/three.All","int32":1}}"#,
            r#"{"any":{"@type":"type.googleapis.com/three.All","int32":1}}"#,
        ),
        (&known, r#"{"any":{"@type":"type.googleapis.com/no.Such"}}"#, ""),
    ] {
        let mut out = Vec::new();
        let found = of.to_binary(json.as_bytes(), &mut out).map(|()| self::json(of, &out));
        let same = |found: &str| {
            serde_json::from_str::<serde_json::Value>(found).unwrap()
                == serde_json::from_str::<serde_json::Value>(wanted).unwrap()
        };
        match &found {
            Ok(found) => assert!(!wanted.is_empty() && same(found), "{json} became {found}"),
            Err(_) => assert!(wanted.is_empty(), "{json}: {found:?}"),
        }
    }
}

#[test]
fn a_long_message_inside_another_has_its_length() {
    let schema = testing::schema();
    let of = schema.message("three.All").unwrap();
    for length in [126, 127, 128, 129, 16_383, 16_384, 100_000] {
        let json = format!(r#"{{"all":{{"all":{{"string":"{}"}}}}}}"#, "x".repeat(length));
        let mut quick = Vec::new();
        assert!(read::to_binary(&of, json.as_bytes(), true, &mut quick).is_ok());
        assert_eq!(quick, by_tree(&of, json.as_bytes()).unwrap(), "{length}");
        assert_eq!(self::json(&of, &quick), json);
    }
    let deep = |depth: usize| format!("{}{{\"string\":\"x\"}}{}", r#"{"all":"#.repeat(depth), "}".repeat(depth));
    for (depth, right) in [(50, true), (90, true), (200, false), (100_000, false)] {
        assert_eq!(of.to_binary(deep(depth).as_bytes(), &mut Vec::new()).is_ok(), right, "{depth}");
    }
}
