//! Rules and messages that are broken at random: nothing panics, and what is refused has a reason.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod rules_support;

use rules_support::{Counts, binary, choose, load, metadata, schema};

const TEXTS: [&str; 4] = [
    "rules:\n  - name: a\n    method: t.S/M\n    priority: 3\n    times: 2\n    scenario: { name: s, in: x, to: y }\n    match:\n      metadata: { x-a: b, x-b: { regex: '^a+$' }, x-bin: aGVsbG8= }\n      message: { f_int32: 7, inner.name: { glob: 'A*' }, inners: { any: { tags: { contains: [a, b] } } } }\n      cel: 'request.f_int32 > 5 && calls < 3'\n    reply: { message: {} }\n",
    "- { method: 't.S/*', match: { any: [{ metadata: { a: b } }, { none: [{ metadata: { c: null } }] }] }, reply: {} }\n- { method: '*', reply: {} }\n",
    r#"{"rules": [{"method": "t.S/M", "match": {"message": {"any": {"@type": "t.Inner", "name": "x"}, "labels": {"a": "b", "$size": 2}, "numbers": {"unordered": [1, {"gt": 2}]}, "at": {"gt": "2026-11-22T10:00:00Z"}, "struct": {"a": [1, null]}}}, "reply": {}}]}"#,
    "method: t.Second/M\nmatch: { message: { two: { five: 5, grouped: { n: 3 }, rows: [{ name: x }], '[t2.extra]': { size: 3 } } } }\nsample: { metadata: { a: [b, c] }, messages: [{ two: {} }] }\nreply: {}\n",
];

/// What is put in the place of something else: what rules are made of, in the wrong place.
const PIECES: [&str; 24] = [
    "{", "}", "[", "]", ":", ",", "\n", "  ", "'", "\"", "$", "*", "&a ", "*a", "null", "-1", "1e400", "exists",
    "equals", "in", "any", "é", "\u{0}", "t.Inner",
];

struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

#[test]
fn broken_rules_are_refused_or_work() {
    let schema = schema();
    let mut draw = Draw(11);
    let (mut refused, mut good) = (0, 0);
    for round in 0..4000 {
        let mut text: Vec<char> = TEXTS[round % TEXTS.len()].chars().collect();
        for _ in 0..draw.below(4) {
            let at = draw.below(text.len());
            let until = (at + draw.below(6)).min(text.len());
            let piece: Vec<char> = PIECES[draw.below(PIECES.len())].chars().collect();
            text.splice(at..until, piece);
        }
        let text: String = text.into_iter().collect();
        let loaded = load(&text, &schema);
        assert_eq!(loaded.set.is_none(), !loaded.problems.is_empty(), "{text}");
        assert!(loaded.problems.iter().all(|problem| !problem.message().is_empty()), "{text}");
        let Some(set) = loaded.set else {
            refused += 1;
            continue;
        };
        good += 1;
        for method in schema.methods() {
            let bytes: Vec<u8> = (0..draw.below(40)).map(|_| draw.below(256) as u8).collect();
            let _ = choose(&set, method, &metadata(&[("x-a", "b"), ("a", "b")]), &bytes, &mut Counts::default());
        }
    }
    assert!(refused > 500 && good > 500, "{refused} refused, {good} good");
}

#[test]
fn broken_messages_are_told_apart_or_matched() {
    let schema = schema();
    let mut draw = Draw(13);
    let json = r#"{"f_int32": 7, "inner": {"name": "Ada", "inner": {"count": 3}}, "numbers": [1, 2], "labels": {"a": "b"}, "left": "x",
        "any": {"@type": "t.Inner", "name": "x"}, "at": "2026-11-22T10:00:00Z", "w_string": "w", "f_double": 1.5}"#;
    let method = schema.method_named("t.S/M").unwrap();
    let whole = binary(method, json);
    let set = load(
        "method: t.S/M\nmatch: { message: { f_int32: 7, inner: { name: Ada, inner.count: { gt: 1 } }, left: x, at: { exists: true }, w_string: w, numbers: { any: 1 }, labels.a: b, any: { '@type': t.Inner, name: x } } }\nreply: {}\n",
        &schema,
    )
    .set
    .unwrap();
    assert!(choose(&set, method, &metadata(&[]), &whole, &mut Counts::default()).is_ok());
    let mut answers = [0; 3];
    for _ in 0..5000 {
        let mut bytes = whole.clone();
        for _ in 0..=draw.below(3) {
            let at = draw.below(bytes.len());
            match draw.below(3) {
                0 => bytes[at] = draw.below(256) as u8,
                1 => bytes.truncate(at),
                _ => bytes.insert(at, draw.below(256) as u8),
            }
            if bytes.is_empty() {
                bytes.push(0);
            }
        }
        match choose(&set, method, &metadata(&[]), &bytes, &mut Counts::default()) {
            Ok(_) => answers[0] += 1,
            Err(why) if why == "malformed" => answers[1] += 1,
            Err(_) => answers[2] += 1,
        }
    }
    assert!(answers.iter().all(|count| *count > 0), "{answers:?}");
}
