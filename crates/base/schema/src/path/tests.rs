use buffa_descriptor::{DynamicMessage, MapKey, ReflectMessage, Value as Tree, ValueRef};

use super::{Key, Path, STEPS_MAX, Value};
use crate::testing::{Random, Wild, message, schema};
use crate::{MessageType, Shape};

fn read(of: &MessageType, path: &str, json: &str) -> String {
    let mut bytes = Vec::new();
    of.to_binary_strict(json.as_bytes(), &mut bytes).unwrap_or_else(|error| panic!("{json}: {error}"));
    let path = Path::compile(of, path).unwrap_or_else(|problem| panic!("{path}: {problem}"));
    let seen = path.read(&bytes).unwrap();
    format!("{:?}{}", seen.value, if seen.present { "" } else { " absent" })
}

#[test]
fn paths_lead_to_values_and_to_defaults() {
    let schema = schema();
    let of = schema.message("three.All").unwrap();
    for (path, json, wanted) in [
        ("int32", r#"{"int32":-7}"#, "Int(-7)"),
        ("int32", "{}", "Int(0) absent"),
        ("maybe_int", r#"{"maybeInt":0}"#, "Int(0)"),
        ("maybeInt", "{}", "Int(0) absent"),
        ("all.all.string", r#"{"all":{"all":{"string":"x"}}}"#, "String(\"x\")"),
        ("all.all.string", r#"{"all":{}}"#, "String(\"\") absent"),
        ("open", r#"{"open":"TWO"}"#, "Enum(2)"),
        ("bytes", r#"{"bytes":"AQI="}"#, "Bytes([1, 2])"),
        ("int_list[1]", r#"{"intList":[4,5]}"#, "Int(5)"),
        ("int_list.1", r#"{"intList":[4,5]}"#, "Int(5)"),
        ("int_list[2]", r#"{"intList":[4,5]}"#, "Int(0) absent"),
        ("all_list[0].string", r#"{"allList":[{"string":"x"}]}"#, "String(\"x\")"),
        ("all_list[1].string", r#"{"allList":[{"string":"x"}]}"#, "String(\"\") absent"),
        ("by_string[\"a.b\"]", r#"{"byString":{"a.b":"x"}}"#, "String(\"x\")"),
        ("by_string.key", r#"{"byString":{"key":"x"}}"#, "String(\"x\")"),
        ("by_string['it\\'s']", r#"{"byString":{"it's":"x"}}"#, "String(\"x\")"),
        ("by_int[-7].bool", r#"{"byInt":{"-7":{"bool":true}}}"#, "Bool(true)"),
        ("by_bool[true]", r#"{"byBool":{"true":"ONE"}}"#, "Enum(1)"),
        ("one_string", r#"{"oneInt":0}"#, "String(\"\") absent"),
        ("one_int", r#"{"oneInt":0}"#, "Int(0)"),
    ] {
        assert_eq!(read(&of, path, json), wanted, "{path} in {json}");
    }
    let of = schema.message("two.All").unwrap();
    for (path, wanted) in [
        ("text", "String(\"a \\\"b\\\"\") absent"),
        ("closed", "Enum(2) absent"),
        ("all.double", "Double(-inf) absent"),
        ("bytes", "Bytes([1, 255]) absent"),
        ("big", "Uint(18446744073709551615) absent"),
        ("one_closed", "Enum(1) absent"),
        ("group.in", "Int(0) absent"),
        ("[two.more_closed]", "Enum(9) absent"),
        ("all.[two.more]", "Int(0) absent"),
    ] {
        assert_eq!(read(&of, path, r#"{"must":1}"#), wanted, "{path}");
    }
}

#[test]
fn wrong_paths_say_where_and_what_to_write() {
    let schema = schema();
    let of = schema.message("three.All").unwrap();
    for (path, at, message, help) in [
        ("", 0, "the path is empty", ""),
        ("strnig", 0, "three.All has no field `strnig`", "write `string`"),
        ("all.nonsense", 4, "three.All has no field `nonsense`", "its fields are double, float"),
        ("string.x", 7, "`string` has no fields: it is of type string", ""),
        ("all_list.string", 9, "`all_list` is a list: say which element", "write `all_list[0].string`"),
        ("int_list[-1]", 8, "`int_list` is a list: say which element", ""),
        ("by_int.a", 7, "`a` is no key of `by_int`, whose keys are of type int32", ""),
        ("all..all", 4, "a field's name is missing beside the dot", ""),
        ("all.", 3, "a field's name is missing beside the dot", ""),
        (".all", 0, "a field's name is missing beside the dot", ""),
        ("by_string[\"a", 9, "the bracket is not closed", "write `[0]`"),
        ("int_list[0", 8, "the bracket is not closed", ""),
        ("[two.more]", 0, "three.All has no field `[two.more]`", ""),
    ] {
        let problem = Path::compile(&of, path).unwrap_err();
        assert_eq!((problem.at, problem.message.as_str()), (at, message), "{path}");
        assert!(problem.help.unwrap_or_default().starts_with(help), "{path}");
    }
    assert!(Path::compile(&of, &vec!["all"; STEPS_MAX].join(".")).is_ok());
    assert!(Path::compile(&of, &vec!["all"; STEPS_MAX + 1].join(".")).is_err());
}

#[test]
fn the_last_value_counts_messages_are_merged_and_oneofs_have_one_member() {
    let schema = schema();
    let of = schema.message("three.All").unwrap();
    let get = |path: &str, bytes: &[u8]| {
        let path = Path::compile(&of, path).unwrap();
        let seen = path.read(bytes).unwrap();
        format!("{:?}{}", seen.value, if seen.present { "" } else { " absent" })
    };
    // int32 = 1, then 2; of another wire type, it is nobody's.
    assert_eq!(get("int32", &[0x18, 1, 0x18, 2, 0x1d, 9, 0, 0, 0]), "Int(2)");
    // all { int32: 1 }, all { bool: true }: both are there.
    let merged = [0x8a, 1, 2, 0x18, 1, 0x8a, 1, 2, 0x68, 1];
    assert_eq!(get("all.int32", &merged), "Int(1)");
    assert_eq!(get("all.bool", &merged), "Bool(true)");
    // one_all { int32: 1 }, one_int: 5, one_all { bool: true }: the first is gone.
    let outdone = [0xaa, 3, 2, 0x18, 1, 0x98, 3, 5, 0xaa, 3, 2, 0x68, 1];
    assert_eq!(get("one_all.int32", &outdone), "Int(0) absent");
    assert_eq!(get("one_all.bool", &outdone), "Bool(true)");
    assert_eq!(get("one_int", &outdone), "Int(0) absent");
}

/// What the library sees there, in the words of [`words`].
fn tree(of: &MessageType, field: &crate::Field, message: &DynamicMessage) -> String {
    let descriptor = match field.is_extension() {
        true => of.pool().extension_for(of.index(), field.number()).unwrap().field(),
        false => of.descriptor().field(field.number()).unwrap(),
    };
    let present = message.has(descriptor);
    let value = match message.field_by_number(field.number()) {
        // It knows no defaults of .proto files.
        None if field.default().is_some() || of.enum_of(field).is_some() => return "absent".into(),
        None if field.shape() != Shape::One => tree_words(&ValueRef::to_owned(&message.get(descriptor))),
        None if matches!(field.kind(), crate::Kind::Message(_)) => "message".into(),
        _ => tree_words(&ValueRef::to_owned(&message.get(descriptor))),
    };
    format!("{value} {present}")
}

fn tree_words(value: &Tree) -> String {
    match value {
        Tree::Bool(value) => value.to_string(),
        Tree::I32(value) => value.to_string(),
        Tree::I64(value) => value.to_string(),
        Tree::U32(value) => value.to_string(),
        Tree::U64(value) => value.to_string(),
        Tree::F32(value) => format!("{:08x}", value.to_bits()),
        Tree::F64(value) => format!("{:016x}", value.to_bits()),
        Tree::String(value) => format!("{value:?}"),
        Tree::Bytes(value) => format!("{value:?}"),
        Tree::EnumNumber(value) => value.to_string(),
        Tree::Message(_) => "message".into(),
        Tree::List(list) => format!("{:?}", list.iter().map(tree_words).collect::<Vec<_>>()),
        Tree::Map(map) => {
            let key = |key: &MapKey| match key {
                MapKey::Bool(key) => key.to_string(),
                MapKey::I32(key) => key.to_string(),
                MapKey::I64(key) => key.to_string(),
                MapKey::U32(key) => key.to_string(),
                MapKey::U64(key) => key.to_string(),
                MapKey::String(key) => format!("{key:?}"),
            };
            format!("{:?}", map.iter().map(|(found, value)| (key(found), tree_words(value))).collect::<Vec<_>>())
        }
    }
}

fn words(value: &Value<'_>) -> String {
    match value {
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Uint(value) => value.to_string(),
        Value::Float(value) => format!("{:08x}", value.to_bits()),
        Value::Double(value) => format!("{:016x}", value.to_bits()),
        Value::String(value) => format!("{value:?}"),
        Value::Bytes(value) => format!("{value:?}"),
        Value::Enum(value) => value.to_string(),
        Value::Message(_) => "message".into(),
        Value::List(list) => format!("{:?}", list.iter().map(|value| words(&value.unwrap())).collect::<Vec<_>>()),
        Value::Map(map) => {
            let entries = map.entries().unwrap();
            format!("{:?}", entries.iter().map(|(key, value)| (format!("{key:?}"), words(value))).collect::<Vec<_>>())
        }
    }
}

/// Compares every field of `of`, and those of messages below it.
fn compare(of: &MessageType, prefix: &str, whole: &MessageType, bytes: &[u8], message: &DynamicMessage, depth: u32) {
    for field in of.fields() {
        let name = if field.is_extension() { field.json_name() } else { field.name() };
        let text = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") };
        let path = Path::compile(whole, &text).unwrap_or_else(|problem| panic!("{text}: {problem}"));
        let seen = path.read(bytes).unwrap_or_else(|_| panic!("{text} in {bytes:?}"));
        let wanted = tree(of, field, message);
        let found = match wanted.as_str() {
            "absent" => {
                if seen.present {
                    "there".into()
                } else {
                    "absent".into()
                }
            }
            _ => format!("{} {}", words(&seen.value), seen.present),
        };
        assert_eq!(found, wanted, "{text} of {bytes:?}");
        if let (Shape::One, Some(below), true) = (field.shape(), of.message_of(field), depth > 0) {
            let empty = below.empty();
            let nested = match message.field_by_number(field.number()) {
                Some(Tree::Message(nested)) => nested,
                _ => &empty,
            };
            compare(&below, &text, whole, bytes, nested, depth - 1);
        }
    }
}

#[test]
fn every_path_reads_what_a_parser_reads() {
    let schema = schema();
    for name in ["three.All", "two.All"] {
        let of = schema.message(name).unwrap();
        for seed in 0..400 {
            let bytes = message(&of, &mut Random(seed), Wild { depth: 3, odd: true });
            let tree = of.decode(&bytes).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            compare(&of, "", &of, &bytes, &tree, 1);
        }
    }
}

#[test]
fn hostile_bytes_give_an_error_or_a_value() {
    let schema = schema();
    for name in ["three.All", "two.All"] {
        let of = schema.message(name).unwrap();
        let paths: Vec<Path> = of.fields().iter().map(|field| Path::compile(&of, field.json_name()).unwrap()).collect();
        let mut random = Random(7);
        for _ in 0..3000 {
            let mut bytes = message(&of, &mut random, Wild { depth: 3, odd: true });
            for _ in 0..=random.below(4) {
                let at = random.below(bytes.len() as u64 + 1) as usize;
                match random.below(3) {
                    0 => bytes.truncate(at),
                    1 => bytes.insert(at, random.next() as u8),
                    _ => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << random.below(8)),
                }
            }
            for path in &paths {
                if let Ok(seen) = path.read(&bytes) {
                    match seen.value {
                        Value::List(list) => list.iter().for_each(drop),
                        Value::Map(map) => _ = (map.entries(), map.get(&Key::Int(1))),
                        _ => {}
                    }
                }
            }
        }
    }
}
