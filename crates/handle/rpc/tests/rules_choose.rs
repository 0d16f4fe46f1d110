//! Which of several rules answers, by the index and by a plain scan; and what is said where none does.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod rules_support;

use std::fmt::Write;

use rules_support::{Counts, binary, choose, metadata, rules, schema};

#[test]
fn priority_then_specificity_then_the_order_of_the_file() {
    let schema = schema();
    let method = schema.method_named("t.S/M").unwrap();
    let one = "{ message: { f_int32: 1 } }";
    let two = "{ message: { f_int32: 1, f_string: x } }";
    let two_loose = "{ message: { f_int32: 1, f_string: { glob: 'x*' } } }";
    let request = binary(method, r#"{"f_int32": 1, "f_string": "x"}"#);
    let rule = |name: &str, method: &str, priority: u32, ask: &str| {
        format!("  - {{ name: {name}, method: {method}, priority: {priority}, match: {ask}, reply: {{}} }}\n")
    };
    let exact = "t.S/M";
    for (listed, wanted) in [
        (vec![rule("a", exact, 0, one), rule("b", exact, 0, one)], "a"),
        (vec![rule("a", exact, 0, one), rule("b", exact, 1, "{}")], "b"),
        (vec![rule("a", exact, 0, one), rule("b", exact, 0, two)], "b"),
        (vec![rule("a", exact, 0, two_loose), rule("b", exact, 0, two)], "b"),
        (vec![rule("a", exact, 0, two_loose), rule("b", exact, 0, one)], "a"),
        (vec![rule("a", "'*'", 0, "{}"), rule("b", "t.S/*", 0, "{}")], "b"),
        (vec![rule("a", "'*'", 0, "{ cel: 'true' }"), rule("b", "t.S/*", 0, "{}")], "a"),
        // A list counts as much as it says, a choice as much as its shortest alternative.
        (
            vec![
                rule("a", exact, 0, two),
                rule(
                    "b",
                    exact,
                    0,
                    "{ any: [{ message: { f_int32: 1 } }, { message: { f_int32: 1, f_string: x, f_bool: false } }] }",
                ),
            ],
            "a",
        ),
    ] {
        let set = rules(&format!("rules:\n{}", listed.concat()), &schema);
        let found = choose(&set, method, &metadata(&[]), &request, &mut Counts::default());
        assert_eq!(found.as_deref(), Ok(wanted), "{listed:?}");
    }
    let by_metadata = |first: &str, second: &str| {
        format!(
            "rules:\n{}{}",
            rule("wide", first, 0, "{ metadata: { a: b } }"),
            rule("narrow", second, 0, "{ metadata: { a: b } }")
        )
    };
    for (first, second, wanted) in [
        ("t.S/*", "t.S/M", "narrow"),
        ("t.S/M", "t.S/*", "wide"),
        ("'*'", "t.S/M", "narrow"),
        ("'*'", "t.S/*", "narrow"),
    ] {
        let set = rules(&by_metadata(first, second), &schema);
        let found = choose(&set, method, &metadata(&[("a", "b")]), &request, &mut Counts::default());
        assert_eq!(found.as_deref(), Ok(wanted), "{first} {second}");
    }
}

#[test]
fn a_rule_that_is_used_up_steps_aside() {
    let schema = schema();
    let method = schema.method_named("t.S/M").unwrap();
    let set = rules(
        "rules:\n  - { name: first, method: t.S/M, times: 2, match: { message: { f_int32: 1 } }, reply: {} }\n  - { name: then, method: t.S/M, reply: {} }\n",
        &schema,
    );
    let request = binary(method, r#"{"f_int32": 1}"#);
    let mut counts = Counts::default();
    let names: Vec<String> =
        (0..4).map(|_| choose(&set, method, &metadata(&[]), &request, &mut counts).unwrap()).collect();
    assert_eq!(names, ["first", "first", "then", "then"]);
}

#[test]
fn every_method_has_its_own_rules() {
    let schema = schema();
    let set = rules(
        "rules:\n  - { name: all, method: '*', match: { metadata: { a: b } }, reply: {} }\n  - { name: other, method: t.S/Other, reply: {} }\n",
        &schema,
    );
    let with = metadata(&[("a", "b")]);
    for (method, wanted, without) in
        [("t.S/M", "all", None), ("t.S/Other", "all", Some("other")), ("t.Second/M", "all", None)]
    {
        let method = schema.method_named(method).unwrap();
        assert_eq!(choose(&set, method, &with, &[], &mut Counts::default()).as_deref(), Ok(wanted));
        assert_eq!(choose(&set, method, &metadata(&[]), &[], &mut Counts::default()).ok().as_deref(), without);
    }
    assert_eq!(set.rules().len(), 2);
    assert_eq!(set.rules().map(|info| info.name().to_string()).collect::<Vec<_>>(), ["all", "other"]);
    assert_eq!(set.rules_of(schema.method_named("t.S/Other").unwrap()).len(), 2);
}

/// Numbers that look random and are the same in every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// A rule's conditions; `plain` writes every literal so that no index takes it.
fn conditions(draw: &mut Draw) -> [String; 2] {
    let mut both = [String::new(), String::new()];
    let mut metadata = [String::new(), String::new()];
    for _ in 0..draw.below(4) {
        let (field, value) = match draw.below(7) {
            0 => ("f_int32", draw.below(5).to_string()),
            1 => ("f_string", ["a", "b", "c"][draw.below(3) as usize].to_owned()),
            2 => ("f_color", ["COLOR_RED", "COLOR_BLUE", "COLOR_UNSPECIFIED"][draw.below(3) as usize].to_owned()),
            3 => ("maybe", draw.below(3).to_string()),
            4 => ("inner.name", ["a", "b"][draw.below(2) as usize].to_owned()),
            5 => ("right", draw.below(3).to_string()),
            _ => {
                let name = ["x-a", "x-b"][draw.below(2) as usize];
                let value = ["a", "b", "c"][draw.below(3) as usize];
                if !metadata[0].contains(name) {
                    let _ = write!(metadata[0], "{name}: {value}, ");
                    let _ = write!(metadata[1], "{name}: {{ any: [{value}] }}, ");
                }
                continue;
            }
        };
        if both[0].contains(field) {
            continue;
        }
        if draw.below(4) == 0 {
            both.iter_mut().for_each(|text| {
                let _ = write!(text, "{field}: {{ not: {value} }}, ");
            });
        } else {
            let _ = write!(both[0], "{field}: {value}, ");
            let _ = write!(both[1], "{field}: {{ any: [{value}] }}, ");
        }
    }
    [0, 1].map(|at| format!("{{ message: {{ {} }}, metadata: {{ {} }} }}", both[at], metadata[at]))
}

fn request(draw: &mut Draw) -> (String, Vec<(&'static str, &'static str)>) {
    let mut json = format!(r#"{{"f_int32": {}"#, draw.below(5));
    for (field, values) in [
        ("f_string", &["\"a\"", "\"b\"", "\"c\""][..]),
        ("f_color", &["1", "2"]),
        ("maybe", &["0", "1", "2"]),
        ("inner", &["{}", r#"{"name": "a"}"#, r#"{"name": "b"}"#]),
        ("right", &["0", "1", "2"]),
    ] {
        if draw.below(3) > 0 {
            let _ = write!(json, r#", "{field}": {}"#, values[draw.below(values.len() as u64) as usize]);
        }
    }
    json.push('}');
    let names =
        (0..draw.below(4)).map(|_| (["x-a", "x-b"][draw.below(2) as usize], ["a", "b", "c"][draw.below(3) as usize]));
    (json, names.collect())
}

#[test]
fn the_index_picks_what_a_plain_scan_picks() {
    let schema = schema();
    let method = schema.method_named("t.S/M").unwrap();
    let mut draw = Draw(7);
    for round in 0..12 {
        let mut text = String::from("rules:\n");
        let mut alone = Vec::new();
        for at in 0..40 {
            let [indexed, plain] = conditions(&mut draw);
            let priority = draw.below(3);
            let _ = writeln!(
                text,
                "  - {{ name: r{at}, method: t.S/M, priority: {priority}, match: {indexed}, reply: {{}} }}"
            );
            let one = format!("name: r{at}\nmethod: t.S/M\nmatch: {plain}\nreply: {{}}\n");
            alone.push((format!("r{at}"), rules(&one, &schema)));
        }
        let set = rules(&text, &schema);
        for _ in 0..150 {
            let (json, pairs) = request(&mut draw);
            let (message, metadata) = (binary(method, &json), metadata(&pairs));
            let matches = |name: &str| {
                let (_, one) = alone.iter().find(|(found, _)| found == name).unwrap();
                choose(one, method, &metadata, &message, &mut Counts::default()).is_ok()
            };
            let scanned = set.rules_of(method).iter().map(|rule| rule.name().to_string()).find(|name| matches(name));
            let found = choose(&set, method, &metadata, &message, &mut Counts::default()).ok();
            assert_eq!(found, scanned, "round {round}: {json} {pairs:?}\n{text}");
        }
    }
}

#[test]
fn where_no_rule_matches_the_nearest_one_is_named() {
    let schema = schema();
    let method = schema.method_named("t.S/M").unwrap();
    for (listed, request, pairs, wanted) in [
        (
            "rules:\n  - { name: far, method: t.S/M, match: { message: { f_int32: 1, f_string: a, f_bool: true } }, reply: {} }\n  - { name: near, method: t.S/M, match: { message: { f_int32: 7, f_string: Ada } }, reply: {} }\n",
            r#"{"f_int32": 8, "f_string": "Ada"}"#,
            &[][..],
            "no rule for t.S/M matches (of 2); nearest is `near` (rules.yaml:3:5): `f_int32` must match `equals 7`, and it is 8",
        ),
        (
            "method: t.S/M\nname: r\nmatch: { message: { f_string: { glob: 'A*' }, maybe: { gt: 3 } } }\nreply: {}\n",
            r#"{"f_string": "Bob"}"#,
            &[],
            "no rule for t.S/M matches; nearest is `r` (rules.yaml:1:1): `f_string` must match `glob \"A*\"`, and it is \"Bob\"; and 1 more condition fails",
        ),
        (
            "method: t.S/M\nname: r\nmatch: { message: { f_color: COLOR_RED, maybe: { exists: true } } }\nreply: {}\n",
            r#"{"f_color": "COLOR_RED"}"#,
            &[],
            "no rule for t.S/M matches; nearest is `r` (rules.yaml:1:1): `maybe` must match `exists true`, and it is not there",
        ),
        (
            "method: t.S/M\nname: r\nmatch: { message: { f_color: COLOR_RED } }\nreply: {}\n",
            r#"{"f_color": "COLOR_BLUE"}"#,
            &[],
            "no rule for t.S/M matches; nearest is `r` (rules.yaml:1:1): `f_color` must match `equals COLOR_RED`, and it is COLOR_BLUE",
        ),
        (
            "method: t.S/M\nname: r\nmatch: { metadata: { x-tenant: acme } }\nreply: {}\n",
            "{}",
            &[("x-tenant", "other"), ("x-tenant", "third")],
            "no rule for t.S/M matches; nearest is `r` (rules.yaml:1:1): metadata `x-tenant` must match `equals \"acme\"`, and it is \"other\", \"third\"",
        ),
        (
            "method: t.S/M\nname: r\nmatch: { metadata: { Authorization: Bearer abc } }\nreply: {}\n",
            "{}",
            &[("authorization", "Bearer xyz")],
            "no rule for t.S/M matches; nearest is `r` (rules.yaml:1:1): metadata `authorization` must match a secret, and it is (a secret)",
        ),
        (
            "method: t.S/M\nname: r\nmatch: { metadata: { x-jwt: abc } }\nreply: {}\n",
            "{}",
            &[("x-jwt", "xyz")],
            "no rule for t.S/M matches; nearest is `r` (rules.yaml:1:1): metadata `x-jwt` must match a secret, and it is (a secret)",
        ),
        (
            "method: t.S/M\nname: r\nmatch: { metadata: { x-pin: '1234' } }\nreply: {}\n",
            "{}",
            &[("x-pin", "4321")],
            "no rule for t.S/M matches; nearest is `r` (rules.yaml:1:1): metadata `x-pin` must match a secret, and it is (a secret)",
        ),
        (
            "method: t.S/M\nname: r\nmatch: { cel: \"metadata['authorization'] == 'Bearer abc'\" }\nreply: {}\n",
            "{}",
            &[("authorization", "Bearer xyz")],
            "no rule for t.S/M matches; nearest is `r` (rules.yaml:1:1): a condition in CEL on metadata must be true, and it is false",
        ),
        (
            "method: t.S/M\nname: r\nmatch: { message: { numbers: { any: { gt: 5 } } } }\nreply: {}\n",
            r#"{"numbers": [1, 2]}"#,
            &[],
            "no rule for t.S/M matches; nearest is `r` (rules.yaml:1:1): `numbers` must match `{\"any\":{\"gt\":5}}`, and it is [1, 2]",
        ),
        (
            "method: t.S/M\nname: r\nmatch: { cel: 'request.f_int32 > 5' }\nreply: {}\n",
            "{}",
            &[],
            "no rule for t.S/M matches; nearest is `r` (rules.yaml:1:1): `request.f_int32 > 5` must be true, and it is false",
        ),
        (
            "method: t.S/M\nname: r\nmatch: { any: [{ message: { f_int32: 1 } }, { message: { f_int32: 2 } }] }\nreply: {}\n",
            "{}",
            &[],
            "no rule for t.S/M matches; nearest is `r` (rules.yaml:1:1): none of its 2 groups in `any` holds: `f_int32` must match `equals 1`, and it is 0",
        ),
        ("method: t.S/Other\nreply: {}\n", "{}", &[], "no rule for t.S/M"),
    ] {
        let set = rules(listed, &schema).redacted(&["x-pin".to_owned()]);
        let found = choose(&set, method, &metadata(pairs), &binary(method, request), &mut Counts::default());
        assert_eq!(found.unwrap_err(), wanted);
    }
}

#[test]
fn a_rule_that_is_used_up_is_told_of() {
    let schema = schema();
    let method = schema.method_named("t.S/M").unwrap();
    let set = rules("name: r\nmethod: t.S/M\ntimes: 1\nreply: {}\n", &schema);
    let mut counts = Counts::default();
    assert!(choose(&set, method, &metadata(&[]), &[], &mut counts).is_ok());
    let why = choose(&set, method, &metadata(&[]), &[], &mut counts).unwrap_err();
    assert_eq!(
        why,
        "no rule for t.S/M matches; nearest is `r` (rules.yaml:1:1): it matches, but it has answered 1 times, which is all that `times` allows"
    );
}
