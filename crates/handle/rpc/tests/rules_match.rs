//! Every operator on every kind of value: what a rule asks, a request in its JSON form, and whether the rule answers.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod rules_support;

use rules_support::{Counts, binary, choose, metadata, rules, schema};

/// Asks `match` of each request of a method.
fn check(method: &str, cases: &[(&str, &[(&str, bool)])]) {
    let schema = schema();
    let method = schema.method_named(method).unwrap();
    for (conditions, requests) in cases {
        let text = format!("method: {}\nmatch: {{ message: {{ {conditions} }} }}\nreply: {{}}\n", method.full_name());
        let set = rules(&text, &schema);
        for (request, wanted) in *requests {
            let message = binary(method, request);
            let found = choose(&set, method, &metadata(&[]), &message, &mut Counts::default());
            assert_eq!(found.is_ok(), *wanted, "{conditions} of {request}: {found:?}");
        }
    }
}

#[test]
fn numbers_of_all_widths() {
    for field in [
        "f_double",
        "f_float",
        "f_int32",
        "f_int64",
        "f_uint32",
        "f_uint64",
        "f_sint32",
        "f_sint64",
        "f_fixed32",
        "f_fixed64",
        "f_sfixed32",
        "f_sfixed64",
        "far",
        "w_int64",
        "w_double",
        "right",
    ] {
        let seven = format!(r#"{{"{field}": 7}}"#);
        let eight = format!(r#"{{"{field}": 8}}"#);
        for (ask, at_seven, at_eight) in [
            ("7", true, false),
            ("\"7\"", true, false),
            ("7.0", true, false),
            ("{ equals: 7 }", true, false),
            ("{ not: 7 }", false, true),
            ("{ not: { gt: 7 } }", true, false),
            ("{ exists: true }", true, true),
            ("{ exists: false }", false, false),
            ("null", false, false),
            ("{ in: [1, 7] }", true, false),
            ("{ gt: 7 }", false, true),
            ("{ gte: 7 }", true, true),
            ("{ lt: 8 }", true, false),
            ("{ lte: 7 }", true, false),
            ("{ gt: 6, lt: 8 }", true, false),
            ("{ any: [1, { gt: 7 }] }", false, true),
            ("{ all: [{ gt: 1 }, { lt: 8 }] }", true, false),
            ("{ none: [8, 9] }", true, false),
            ("{ $equals: 7 }", true, false),
        ] {
            check("t.S/M", &[(&format!("{field}: {ask}"), &[(&seven, at_seven), (&eight, at_eight)])]);
        }
    }
}

#[test]
fn the_ends_of_ranges_and_odd_floats() {
    check(
        "t.S/M",
        &[
            ("f_int64: -9223372036854775808", &[(r#"{"f_int64": "-9223372036854775808"}"#, true)]),
            ("f_uint64: 18446744073709551615", &[(r#"{"f_uint64": "18446744073709551615"}"#, true)]),
            ("f_sint32: -2147483648", &[(r#"{"f_sint32": -2147483648}"#, true)]),
            ("f_int32: -1", &[(r#"{"f_int32": -1}"#, true), (r#"{"f_int32": 1}"#, false)]),
            ("f_float: 0.1", &[(r#"{"f_float": 0.1}"#, true)]),
            ("f_double: 0.1", &[(r#"{"f_double": 0.1}"#, true), (r#"{"f_double": 0.10000000149011612}"#, false)]),
            ("f_double: NaN", &[(r#"{"f_double": "NaN"}"#, true), (r#"{"f_double": 1}"#, false)]),
            ("f_double: .inf", &[(r#"{"f_double": "Infinity"}"#, true)]),
            ("f_double: { gt: 1 }", &[(r#"{"f_double": "NaN"}"#, false), (r#"{"f_double": "Infinity"}"#, true)]),
        ],
    );
}

#[test]
fn what_is_not_written_is_zero_or_nothing() {
    check(
        "t.S/M",
        &[
            // Without presence: zero.
            ("f_int32: 0", &[("{}", true), (r#"{"f_int32": 1}"#, false)]),
            ("f_string: \"\"", &[("{}", true), (r#"{"f_string": "a"}"#, false)]),
            ("f_bool: false", &[("{}", true), (r#"{"f_bool": true}"#, false)]),
            ("f_color: COLOR_UNSPECIFIED", &[("{}", true)]),
            ("f_int32: { exists: false }", &[("{}", true), (r#"{"f_int32": 1}"#, false)]),
            ("f_int32: null", &[("{}", true), (r#"{"f_int32": 1}"#, false)]),
            ("f_int32: { lt: 1 }", &[("{}", true)]),
            // With presence: nothing.
            ("maybe: 0", &[("{}", false), (r#"{"maybe": 0}"#, true)]),
            ("maybe: { exists: true }", &[("{}", false), (r#"{"maybe": 0}"#, true)]),
            ("maybe: null", &[("{}", true), (r#"{"maybe": 0}"#, false)]),
            ("maybe: { not: 1 }", &[("{}", true), (r#"{"maybe": 1}"#, false)]),
            ("maybe: { lt: 1 }", &[("{}", false)]),
            // In a message that is not there, nothing is zero.
            ("inner.count: 0", &[("{}", false), (r#"{"inner": {}}"#, true), (r#"{"inner": {"count": 1}}"#, false)]),
            ("inner.maybe: null", &[("{}", true), (r#"{"inner": {}}"#, true), (r#"{"inner": {"maybe": 0}}"#, false)]),
        ],
    );
}

#[test]
fn texts() {
    for field in ["f_string", "w_string", "left", "inner.name", "fString"] {
        let json = |text: &str| match field {
            "inner.name" => format!(r#"{{"inner": {{"name": "{text}"}}}}"#),
            field => format!(r#"{{"{field}": "{text}"}}"#),
        };
        for (ask, text, wanted) in [
            ("Ada", "Ada", true),
            ("Ada", "ada", false),
            ("7", "7", true),
            ("true", "true", true),
            ("{ regex: 'd' }", "Ada", true),
            ("{ regex: '^d' }", "Ada", false),
            (r"{ regex: '^\p{Lu}\w+$' }", "Ünal", true),
            ("{ glob: 'A*' }", "Ada", true),
            ("{ glob: 'A?' }", "Ada", false),
            ("{ contains: da }", "Ada", true),
            ("{ contains: '' }", "Ada", true),
            ("{ contains: x }", "Ada", false),
            ("{ in: [Bob, Ada] }", "Ada", true),
            ("{ gt: Aaa, lt: Azz }", "Ada", true),
            ("{ gte: B }", "Ada", false),
            ("{ size: 3 }", "Ada", true),
            ("{ size: { gt: 3 } }", "Ünal", true),
            ("{ size: 5 }", "Ünal", false),
            ("{ not: { glob: 'A*' } }", "Bob", true),
            ("{ any: [{ glob: 'B*' }, { regex: 'a$' }] }", "Ada", true),
        ] {
            check("t.S/M", &[(&format!("{field}: {ask}"), &[(&json(text), wanted)])]);
        }
    }
}

#[test]
fn bytes_enums_and_flags() {
    check(
        "t.S/M",
        &[
            ("f_bytes: aGVsbG8=", &[(r#"{"f_bytes": "aGVsbG8="}"#, true), (r#"{"f_bytes": "aGVsbG9v"}"#, false)]),
            ("f_bytes: aGVsbG8", &[(r#"{"f_bytes": "aGVsbG8="}"#, true)]),
            ("f_bytes: _-8", &[(r#"{"f_bytes": "/+8="}"#, true)]),
            ("f_bytes: { contains: bGw= }", &[(r#"{"f_bytes": "aGVsbG8="}"#, true)]),
            ("f_bytes: { size: 5 }", &[(r#"{"f_bytes": "aGVsbG8="}"#, true), ("{}", false)]),
            ("w_bytes: aGVsbG8=", &[(r#"{"w_bytes": "aGVsbG8="}"#, true), ("{}", false)]),
            ("f_color: COLOR_RED", &[(r#"{"f_color": "COLOR_RED"}"#, true), (r#"{"f_color": 2}"#, false)]),
            ("f_color: 1", &[(r#"{"f_color": "COLOR_RED"}"#, true)]),
            ("f_color: 9", &[(r#"{"f_color": 9}"#, true)]),
            ("f_color: { in: [COLOR_RED, 2] }", &[(r#"{"f_color": 2}"#, true), ("{}", false)]),
            ("f_color: { gte: COLOR_RED }", &[(r#"{"f_color": 2}"#, true), ("{}", false)]),
            ("f_bool: true", &[(r#"{"f_bool": true}"#, true), ("{}", false)]),
            ("f_bool: { not: true }", &[(r#"{"f_bool": true}"#, false), ("{}", true)]),
            ("w_bool: false", &[(r#"{"w_bool": false}"#, true), ("{}", false)]),
            ("w_string: ''", &[(r#"{"w_string": ""}"#, true), ("{}", false)]),
            ("w_string: null", &[(r#"{"w_string": ""}"#, false), ("{}", true)]),
        ],
    );
}

#[test]
fn times() {
    let at = r#"{"at": "2026-11-22T10:00:00.5Z"}"#;
    check(
        "t.S/M",
        &[
            ("at: 2026-11-22T10:00:00.5Z", &[(at, true), ("{}", false)]),
            ("at: '2026-11-22T11:00:00.5+01:00'", &[(at, true)]),
            ("at: { gt: 2026-11-22T10:00:00Z }", &[(at, true), ("{}", false)]),
            ("at: { lt: 2026-11-22T10:00:00Z }", &[(at, false)]),
            ("at: { exists: true }", &[(at, true), ("{}", false)]),
            ("took: 1.5s", &[(r#"{"took": "1.5s"}"#, true)]),
            ("took: { gte: 1s, lte: 2s }", &[(r#"{"took": "1.5s"}"#, true), (r#"{"took": "2.000000001s"}"#, false)]),
            ("took: { lt: 0s }", &[(r#"{"took": "-0.5s"}"#, true)]),
        ],
    );
}

#[test]
fn messages() {
    let ada = r#"{"inner": {"name": "Ada", "count": 3, "inner": {"name": "Bob"}}}"#;
    check(
        "t.S/M",
        &[
            ("inner: { name: Ada }", &[(ada, true), ("{}", false)]),
            ("inner: { name: Ada, count: { gt: 2 } }", &[(ada, true)]),
            ("inner: { name: Ada, count: { gt: 3 } }", &[(ada, false)]),
            ("inner: { inner: { name: Bob } }", &[(ada, true)]),
            ("inner.inner.name: Bob", &[(ada, true)]),
            ("inner: { inner.name: { glob: 'B*' } }", &[(ada, true)]),
            ("inner: { exists: true }", &[(ada, true), ("{}", false), (r#"{"inner": {}}"#, true)]),
            ("inner: {}", &[(ada, true), ("{}", false), (r#"{"inner": {}}"#, true)]),
            ("inner: null", &[(ada, false), ("{}", true)]),
            ("inner: { equals: { name: Ada } }", &[(ada, false), (r#"{"inner": {"name": "Ada"}}"#, true)]),
            ("inner: { equals: { name: Ada, count: 0 } }", &[(r#"{"inner": {"name": "Ada"}}"#, true)]),
            ("inner: { not: { name: Ada } }", &[(ada, false), ("{}", true), (r#"{"inner": {"name": "Bob"}}"#, true)]),
            ("inner: { any: [{ name: Bob }, { count: 3 }] }", &[(ada, true), ("{}", false)]),
            ("inner: { all: [{ name: Ada }, { count: 4 }] }", &[(ada, false)]),
            ("inner: { none: [{ name: Bob }, { count: 4 }] }", &[(ada, true)]),
            ("inner: { exists: true, name: Ada }", &[(ada, true)]),
            // A field that has an operator's name is the field.
            ("in: x", &[(r#"{"in": "x"}"#, true)]),
        ],
    );
}

#[test]
fn a_field_that_is_sent_in_pieces_is_merged() {
    let schema = schema();
    let method = schema.method_named("t.S/M").unwrap();
    let set = rules("method: t.S/M\nmatch: { message: { inner: { name: Ada, count: 3 } } }\nreply: {}\n", &schema);
    let pieces = [r#"{"inner": {"name": "Bob", "count": 3}}"#, r#"{"inner": {"name": "Ada"}}"#];
    let whole: Vec<u8> = pieces.iter().flat_map(|piece| binary(method, piece)).collect();
    assert!(choose(&set, method, &metadata(&[]), &whole, &mut Counts::default()).is_ok());
    let turned: Vec<u8> = pieces.iter().rev().flat_map(|piece| binary(method, piece)).collect();
    assert!(choose(&set, method, &metadata(&[]), &turned, &mut Counts::default()).is_err());
}

#[test]
fn the_last_member_of_a_oneof_counts() {
    let schema = schema();
    let method = schema.method_named("t.S/M").unwrap();
    let left = binary(method, r#"{"left": "a"}"#);
    let right = binary(method, r#"{"right": 0}"#);
    let both = binary(method, r#"{"both": {"name": "a"}}"#);
    for (ask, pieces, wanted) in [
        ("left: a", vec![&left], true),
        ("left: a", vec![&left, &right], false),
        ("left: a", vec![&right, &left], true),
        ("right: 0", vec![&left, &right], true),
        ("right: 0", vec![], false),
        ("both.name: a", vec![&both], true),
        ("both.name: a", vec![&both, &left], false),
        ("both: { exists: true }", vec![&both, &right], false),
        ("left: null", vec![&left, &both], true),
    ] {
        let set = rules(&format!("method: t.S/M\nmatch: {{ message: {{ {ask} }} }}\nreply: {{}}\n"), &schema);
        let message: Vec<u8> = pieces.into_iter().flatten().copied().collect();
        let found = choose(&set, method, &metadata(&[]), &message, &mut Counts::default());
        assert_eq!(found.is_ok(), wanted, "{ask}: {found:?}");
    }
}

#[test]
fn lists() {
    let numbers = r#"{"numbers": [1, 2, 3]}"#;
    let inners = r#"{"inners": [{"name": "a", "count": 1}, {"name": "b", "count": 2}]}"#;
    check(
        "t.S/M",
        &[
            ("numbers: [1, 2, 3]", &[(numbers, true), (r#"{"numbers": [1, 2]}"#, false), ("{}", false)]),
            ("numbers: [3, 2, 1]", &[(numbers, false)]),
            ("numbers: []", &[(numbers, false), ("{}", true)]),
            ("numbers: null", &[(numbers, false), ("{}", true)]),
            ("numbers: [1, { gt: 1 }, { in: [3] }]", &[(numbers, true)]),
            ("numbers: { equals: [1, 2, 3] }", &[(numbers, true)]),
            ("numbers: { unordered: [3, 1, 2] }", &[(numbers, true)]),
            ("numbers: { unordered: [3, 1] }", &[(numbers, false)]),
            // Each element is used once: the wide predicate must not take what the narrow one needs.
            ("numbers: { unordered: [{ lte: 3 }, { lte: 2 }, { lte: 1 }] }", &[(numbers, true)]),
            ("numbers: { unordered: [{ lte: 2 }, { lte: 2 }, { lte: 2 }] }", &[(numbers, false)]),
            ("numbers: { contains: 2 }", &[(numbers, true), (r#"{"numbers": [1]}"#, false)]),
            ("numbers: { contains: [3, 1] }", &[(numbers, true)]),
            ("numbers: { contains: [3, 4] }", &[(numbers, false)]),
            ("numbers: { any: { gt: 2 } }", &[(numbers, true), ("{}", false)]),
            ("numbers: { all: { lt: 4 } }", &[(numbers, true), ("{}", true)]),
            ("numbers: { all: { lt: 3 } }", &[(numbers, false)]),
            ("numbers: { none: { gt: 3 } }", &[(numbers, true), ("{}", true)]),
            ("numbers: { size: 3 }", &[(numbers, true), ("{}", false)]),
            ("numbers: { size: { gte: 1 } }", &[(numbers, true), ("{}", false)]),
            ("numbers: { exists: true }", &[(numbers, true), ("{}", false)]),
            ("numbers: { not: [1, 2, 3] }", &[(numbers, false), ("{}", true)]),
            ("numbers: { in: [[1], [1, 2, 3]] }", &[(numbers, true)]),
            ("numbers.1: 2", &[(numbers, true), ("{}", false)]),
            ("numbers.5: { exists: false }", &[(numbers, true)]),
            ("words: [a, { glob: 'b*' }]", &[(r#"{"words": ["a", "bb"]}"#, true)]),
            ("inners: { any: { name: b, count: 2 } }", &[(inners, true)]),
            ("inners: { any: { name: a, count: 2 } }", &[(inners, false)]),
            ("inners: { unordered: [{ name: b }, { name: a }] }", &[(inners, true)]),
            ("inners.0.name: a", &[(inners, true)]),
            ("inners: [{ name: a }, { count: 2 }]", &[(inners, true)]),
            ("inners: { all: { count: { gt: 0 } } }", &[(inners, true)]),
            ("inners: { any: { equals: { name: a } } }", &[(inners, false), (r#"{"inners": [{"name": "a"}]}"#, true)]),
            ("inner.tags: { contains: x }", &[(r#"{"inner": {"tags": ["x"]}}"#, true), ("{}", false)]),
            ("colors: [COLOR_RED, 2]", &[(r#"{"colors": ["COLOR_RED", "COLOR_BLUE"]}"#, true)]),
            ("w_strings: [a, '']", &[(r#"{"w_strings": ["a", ""]}"#, true)]),
        ],
    );
}

#[test]
fn maps() {
    let labels = r#"{"labels": {"env": "prod", "in": "x", "a.b": "c"}}"#;
    let numbered = r#"{"by_number": {"7": {"name": "seven"}}}"#;
    check(
        "t.S/M",
        &[
            ("labels: { env: prod }", &[(labels, true), ("{}", false)]),
            ("labels: { env: test }", &[(labels, false)]),
            ("labels: { env: { regex: '^p' }, in: x }", &[(labels, true)]),
            ("labels: { $equals: { env: prod } }", &[(labels, false), (r#"{"labels": {"env": "prod"}}"#, true)]),
            ("labels: { $size: 3 }", &[(labels, true)]),
            ("labels: { $exists: true }", &[(labels, true), ("{}", false)]),
            ("labels: { $any: prod }", &[(labels, true)]),
            ("labels: { $all: { size: { lt: 9 } } }", &[(labels, true)]),
            ("labels: { $none: nope }", &[(labels, true)]),
            ("labels: { $not: { env: prod } }", &[(labels, false), ("{}", true)]),
            ("labels: { other: null }", &[(labels, true)]),
            ("labels: { env: null }", &[(labels, false)]),
            ("labels: null", &[(labels, false), ("{}", true)]),
            ("labels.env: prod", &[(labels, true)]),
            ("'labels[\"a.b\"]': c", &[(labels, true)]),
            ("by_number: { 7: { name: seven } }", &[(numbered, true)]),
            ("by_number.7.name: seven", &[(numbered, true)]),
            ("by_number: { 8: { name: seven } }", &[(numbered, false)]),
            ("by_flag: { true: 1 }", &[(r#"{"by_flag": {"true": 1}}"#, true), (r#"{"by_flag": {"false": 1}}"#, false)]),
            ("colored: { a: COLOR_RED }", &[(r#"{"colored": {"a": 1}}"#, true)]),
        ],
    );
}

#[test]
fn packed_messages() {
    let any = r#"{"any": {"@type": "type.googleapis.com/t.Inner", "name": "Ada", "count": 1}}"#;
    let duration = r#"{"any": {"@type": "type.googleapis.com/google.protobuf.Duration", "value": "1.5s"}}"#;
    check(
        "t.S/M",
        &[
            ("any: { '@type': t.Inner }", &[(any, true), (duration, false), ("{}", false)]),
            ("any: { '@type': type.googleapis.com/t.Inner, name: Ada }", &[(any, true)]),
            ("any: { '@type': t.Inner, name: Bob }", &[(any, false)]),
            ("any: { '@type': t.Inner, count: { gt: 0 } }", &[(any, true)]),
            ("any: { '@type': google.protobuf.Duration, value: 1.5s }", &[(duration, true), (any, false)]),
            ("any: { not: { '@type': t.Inner } }", &[(any, false), (duration, true)]),
            ("any: { exists: true }", &[(any, true), ("{}", false)]),
            ("any: null", &[(any, false), ("{}", true)]),
        ],
    );
}

#[test]
fn what_json_writes_in_its_own_form_is_compared_whole() {
    check(
        "t.S/M",
        &[
            (
                "struct: { a: 1, b: [x] }",
                &[(r#"{"struct": {"a": 1, "b": ["x"]}}"#, true), (r#"{"struct": {"a": 1}}"#, false)],
            ),
            ("value: [1, two]", &[(r#"{"value": [1, "two"]}"#, true), (r#"{"value": 1}"#, false)]),
            ("value: { $not: 1 }", &[(r#"{"value": 2}"#, true), (r#"{"value": 1}"#, false)]),
            ("mask: 'inner.name,maybe'", &[(r#"{"mask": "inner.name,maybe"}"#, true), (r#"{"mask": "maybe"}"#, false)]),
        ],
    );
}

#[test]
fn proto2_defaults_groups_closed_enums_and_extensions() {
    check(
        "t.Second/M",
        &[
            ("two.plain: 0", &[(r#"{"two": {}}"#, false), (r#"{"two": {"plain": 0}}"#, true)]),
            ("two.five: 5", &[(r#"{"two": {}}"#, true), ("{}", false), (r#"{"two": {"five": 6}}"#, false)]),
            ("two.five: { gt: 5 }", &[(r#"{"two": {}}"#, false), (r#"{"two": {"five": 6}}"#, true)]),
            ("two.five: { exists: true }", &[(r#"{"two": {}}"#, false), (r#"{"two": {"five": 5}}"#, true)]),
            ("two.five: { exists: false }", &[(r#"{"two": {}}"#, true), ("{}", true)]),
            ("two.word: hi", &[(r#"{"two": {}}"#, true), (r#"{"two": {"word": ""}}"#, false)]),
            ("two.dflt: B", &[(r#"{"two": {}}"#, true)]),
            ("two.closed: A", &[(r#"{"two": {}}"#, false), (r#"{"two": {"closed": "A"}}"#, true)]),
            ("two.grouped.name: x", &[(r#"{"two": {"grouped": {"name": "x"}}}"#, true), (r#"{"two": {}}"#, false)]),
            ("two.grouped: { n: 3 }", &[(r#"{"two": {"grouped": {}}}"#, true), (r#"{"two": {}}"#, false)]),
            ("two.rows: { any: { name: x } }", &[(r#"{"two": {"rows": [{"name": "x"}]}}"#, true)]),
            ("'two.[t2.extra]': x", &[(r#"{"two": {"[t2.extra]": "x"}}"#, true), (r#"{"two": {}}"#, false)]),
        ],
    );
}

#[test]
fn a_number_that_a_closed_enum_lacks_is_as_if_it_were_not_sent() {
    let schema = schema();
    let method = schema.method_named("t.Second/M").unwrap();
    let set =
        rules("method: t.Second/M\nmatch: { message: { two: { closed: null, exists: true } } }\nreply: {}\n", &schema);
    // two { closed: 9 }
    let message = [0x0a, 2, 0x20, 9];
    assert!(choose(&set, method, &metadata(&[]), &message, &mut Counts::default()).is_ok());
}

#[test]
fn bytes_that_are_no_message_are_told_apart() {
    let schema = schema();
    let method = schema.method_named("t.S/M").unwrap();
    for ask in ["f_int32: 1", "inner.name: a", "numbers: { any: 1 }", "at: { exists: true }", "w_string: a"] {
        let set = rules(&format!("method: t.S/M\nmatch: {{ message: {{ {ask} }} }}\nreply: {{}}\n"), &schema);
        for message in [&[0x18][..], &[0x8a, 1, 5, 1], &[0], &[0x8a, 1, 0xff, 0xff, 0xff, 0xff, 0x0f], &[0x0b]] {
            let found = choose(&set, method, &metadata(&[]), message, &mut Counts::default());
            assert_eq!(found, Err("malformed".to_owned()), "{ask} {message:?}");
        }
    }
}

#[test]
fn metadata_is_compared_by_name_in_any_case() {
    let schema = schema();
    let method = schema.method_named("t.S/M").unwrap();
    for (ask, pairs, wanted) in [
        ("x-tenant: acme", &[("X-Tenant", "acme")][..], true),
        ("X-TENANT: acme", &[("x-tenant", "acme")], true),
        ("x-tenant: acme", &[("x-tenant", "Acme")], false),
        ("x-tenant: acme", &[], false),
        ("x-tenant: acme", &[("x-tenant", "other"), ("x-tenant", "acme")], true),
        ("x-tenant: { not: acme }", &[("x-tenant", "other"), ("x-tenant", "acme")], false),
        ("x-tenant: { not: acme }", &[], true),
        ("x-tenant: { exists: true }", &[("x-tenant", "")], true),
        ("x-tenant: null", &[("x-tenant", "")], false),
        ("x-tenant: null", &[], true),
        ("x-region: { regex: '^eu-' }", &[("x-region", "eu-west")], true),
        ("x-region: { glob: 'eu-*' }", &[("x-region", "us-east")], false),
        ("x-region: { in: [a, b] }", &[("x-region", "b")], true),
        ("x-n: { gt: '1' }", &[("x-n", "2")], true),
        ("x-bin: aGVsbG8=", &[("x-bin", "hello")], true),
        ("a: b, c: d", &[("a", "b")], false),
        ("a: b, c: d", &[("a", "b"), ("c", "d")], true),
    ] {
        let set = rules(&format!("method: t.S/M\nmatch: {{ metadata: {{ {ask} }} }}\nreply: {{}}\n"), &schema);
        let found = choose(&set, method, &metadata(pairs), &[], &mut Counts::default());
        assert_eq!(found.is_ok(), wanted, "{ask} of {pairs:?}: {found:?}");
    }
}

#[test]
fn expressions_see_the_request_metadata_and_calls() {
    let schema = schema();
    let method = schema.method_named("t.S/M").unwrap();
    let text =
        "method: t.S/M\nmatch: { cel: 'request.f_int32 > 5 && metadata[\"x-a\"] == \"b\" && calls < 2' }\nreply: {}\n";
    let set = rules(text, &schema);
    let message = binary(method, r#"{"f_int32": 6}"#);
    let mut counts = Counts::default();
    let with = metadata(&[("X-A", "b")]);
    assert!(choose(&set, method, &with, &binary(method, r#"{"f_int32": 5}"#), &mut counts).is_err());
    assert!(choose(&set, method, &metadata(&[]), &message, &mut counts).is_err());
    assert!(choose(&set, method, &with, &message, &mut counts).is_ok());
    assert!(choose(&set, method, &with, &message, &mut counts).is_ok());
    assert!(choose(&set, method, &with, &message, &mut counts).is_err(), "the third call");
}

#[test]
fn groups_of_conditions() {
    let schema = schema();
    let method = schema.method_named("t.S/M").unwrap();
    for (ask, request, wanted) in [
        ("any: [{ message: { f_int32: 1 } }, { metadata: { a: b } }]", r#"{"f_int32": 1}"#, true),
        ("any: [{ message: { f_int32: 1 } }, { metadata: { a: b } }]", r#"{"f_int32": 2}"#, false),
        ("any: [{ message: { f_int32: 1, f_string: x } }]", r#"{"f_int32": 1}"#, false),
        (
            "all: [{ message: { f_int32: 1 } }, { message: { f_string: x } }]",
            r#"{"f_int32": 1, "f_string": "x"}"#,
            true,
        ),
        ("all: [{ message: { f_int32: 1 } }, { message: { f_string: x } }]", r#"{"f_int32": 1}"#, false),
        ("none: { message: { f_int32: 1 } }", r#"{"f_int32": 1}"#, false),
        ("none: { message: { f_int32: 1 } }", r#"{"f_int32": 2}"#, true),
        (
            "none: [{ any: [{ message: { f_int32: 1 } }, { cel: 'request.f_string == \"x\"' }] }]",
            r#"{"f_string": "x"}"#,
            false,
        ),
    ] {
        let set = rules(&format!("method: t.S/M\nmatch: {{ {ask} }}\nreply: {{}}\n"), &schema);
        let found = choose(&set, method, &metadata(&[]), &binary(method, request), &mut Counts::default());
        assert_eq!(found.is_ok(), wanted, "{ask} of {request}: {found:?}");
    }
}
