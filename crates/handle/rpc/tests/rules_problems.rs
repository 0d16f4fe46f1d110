//! What is wrong with a file of rules: where it stands, and what to write instead.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod rules_support;

use rules_support::{load, schema};

/// Texts of a file, and the problems that it has (`line:column: message | help`).
#[test]
fn mistakes_have_a_place_and_a_way_out() {
    let schema = schema();
    let mut others = Vec::new();
    for (text, wanted) in [
        ("", "1:1: the file has no rules | write `rules:` and a list of rules; each has a `method` and a `reply`"),
        ("- method: t.S/M\n", "1:3: `reply` is missing in a rule | add `reply: {}`"),
        ("method: t.S/M\nreply: {}\nwhen: {}\n", "3:1: unknown key `when` in a rule | write `match`"),
        ("method: t.S/Othr\nreply: {}\n", "1:9: `t.S` has no method `Othr` | write `t.S/Other`"),
        ("method: t.S/m\nreply: {}\n", "1:9: `t.S` has no method `m` | write `t.S/M`"),
        ("method: S/M\nreply: {}\n", "1:9: the schema has no service `S` | write `t.S/M`"),
        ("method: M\nreply: {}\n", "1:9: `M` is no full name of a method | write it with its service, such as `t.S/M`"),
        (
            "method: t.S/M\npriority: -1\nreply: {}\n",
            "2:11: `priority` must be a number from 0 to 1000000, found `-1` | write for example `priority: 0`",
        ),
        (
            "method: t.S/M\nmatch: { any: [] }\nreply: {}\n",
            "2:10: `any` of no groups never holds | add a group of conditions, or leave `any` out",
        ),
        (
            "method: t.S/M\nmatch: { message: { f_int33: 1 } }\nreply: {}\n",
            "2:21: `t.All` has no field `f_int33` | write `f_int32`",
        ),
        (
            "method: t.S/M\nmatch: { message: { inner.nme: a } }\nreply: {}\n",
            "2:21: `t.Inner` has no field `nme` | write `name`",
        ),
        (
            "method: t.S/M\nmatch: { message: { inner: { nme: a } } }\nreply: {}\n",
            "2:30: `t.Inner` has no field `nme` | write `name`",
        ),
        (
            "method: t.S/M\nmatch: { message: { pick: a } }\nreply: {}\n",
            "2:21: `t.All` has no field `pick` | it is a oneof: write one of its fields, `left`, `right`, `both`",
        ),
        (
            "method: t.S/M\nmatch: { message: { f_int32: 3000000000 } }\nreply: {}\n",
            "2:30: `f_int32` is an int32, found `3000000000` | write a number from -2147483648 to 2147483647",
        ),
        (
            "method: t.S/M\nmatch: { message: { f_uint32: -1 } }\nreply: {}\n",
            "2:31: `f_uint32` is a uint32, found `-1` | write a number from 0 to 4294967295",
        ),
        (
            "method: t.S/M\nmatch: { message: { f_int32: 1.5 } }\nreply: {}\n",
            "2:30: `f_int32` is an int32, found `1.5` | write a whole number from -2147483648 to 2147483647",
        ),
        (
            "method: t.S/M\nmatch: { message: { f_int32: seven } }\nreply: {}\n",
            "2:30: `f_int32` is an int32, found `seven` | write a whole number from -2147483648 to 2147483647",
        ),
        (
            "method: t.S/M\nmatch: { message: { f_color: RED } }\nreply: {}\n",
            "2:30: `f_color` is a value of `t.Color`, found `RED` | write `COLOR_RED`",
        ),
        (
            "method: t.S/M\nmatch: { message: { f_color: color_red } }\nreply: {}\n",
            "2:30: `f_color` is a value of `t.Color`, found `color_red` | write `COLOR_RED`",
        ),
        (
            "method: t.S/M\nmatch: { message: { f_color: GREEN } }\nreply: {}\n",
            "2:30: `f_color` is a value of `t.Color`, found `GREEN` | its values are `COLOR_UNSPECIFIED`, `COLOR_RED`, `COLOR_BLUE`",
        ),
        (
            "method: t.Second/M\nmatch: { message: { two.closed: 7 } }\nreply: {}\n",
            "2:33: `two.closed` is a value of `t2.Closed`, found `7` | 7 is no value of `t2.Closed`, which is closed",
        ),
        (
            "method: t.S/M\nmatch: { message: { f_bool: yes } }\nreply: {}\n",
            "2:29: `f_bool` is `true` or `false`, found `yes` | write for example `true`",
        ),
        (
            "method: t.S/M\nmatch: { message: { f_bytes: '%' } }\nreply: {}\n",
            "2:30: `f_bytes` is bytes, in Base64, found `%` | write for example `aGVsbG8=`",
        ),
        (
            "method: t.S/M\nmatch: { message: { at: yesterday } }\nreply: {}\n",
            "2:25: `at` is a timestamp, found `yesterday` | write for example `2026-11-22T10:00:00Z`",
        ),
        (
            "method: t.S/M\nmatch: { message: { f_int32: [1] } }\nreply: {}\n",
            "2:30: `f_int32` is one value, found a list | write `in: […]` for one of several",
        ),
        (
            "method: t.S/M\nmatch: { message: { f_int32: { equal: 1 } } }\nreply: {}\n",
            "2:32: unknown operator `equal` | write `equals`",
        ),
        (
            "method: t.S/M\nmatch: { message: { f_int32: { ge: 1 } } }\nreply: {}\n",
            "2:32: unknown operator `ge` | write `gte`",
        ),
        (
            "method: t.S/M\nmatch: { message: { f_int32: { regex: a } } }\nreply: {}\n",
            "2:32: `regex` fits texts, and `f_int32` is an int32 | compare with `equals`, `in`, `gt` and their like",
        ),
        (
            "method: t.S/M\nmatch: { message: { f_string: { regex: '(' } } }\nreply: {}\n",
            "2:40: this is no regular expression: unclosed group | quote it in YAML (`'…'`), and write `\\` before a character that is meant as itself",
        ),
        (
            "method: t.S/M\nmatch: { message: { f_string: { glob: '[' } } }\nreply: {}\n",
            "2:39: this is no pattern: a `[` without its `]`; write `\\[` for the character itself | `*`, `?` and `[…]` are special; `\\` takes the next character as itself",
        ),
        (
            "method: t.S/M\nmatch: { message: { f_int32: { in: [] } } }\nreply: {}\n",
            "2:36: `in` takes a list with something in it, found a list | write `in: […]`",
        ),
        (
            "method: t.S/M\nmatch: { message: { f_int32: { exists: 1 } } }\nreply: {}\n",
            "2:40: `exists` must be `true` or `false`, found `1` | write `exists: true`",
        ),
        (
            "method: t.S/M\nmatch: { message: { inner: Ada } }\nreply: {}\n",
            "2:28: `inner` is a `t.Inner`, found `Ada` | write its fields: `{ name: … }`",
        ),
        (
            "method: t.S/M\nmatch: { message: { inners: { name: a } } }\nreply: {}\n",
            "2:31: `inners` is a list, and `name` a field of its elements | write `inners: { any: { name: … } }` for some element, or `all`",
        ),
        (
            "method: t.S/M\nmatch: { message: { inners.name: a } }\nreply: {}\n",
            "2:21: `inners` is a list, and `name` is no number of an element | write `inners.0.name` for the first element, or `any: { name: … }` for some element",
        ),
        (
            "method: t.S/M\nmatch: { message: { numbers: 1 } }\nreply: {}\n",
            "2:30: `numbers` is a list, found `1` | write a list, or `contains: …` for one of its elements",
        ),
        (
            "method: t.S/M\nmatch: { message: { by_number: { x: {} } } }\nreply: {}\n",
            "2:34: `a key of by_number` is an int32, found `x` | write a whole number from -2147483648 to 2147483647",
        ),
        (
            "method: t.S/M\nmatch: { message: { any: { name: a } } }\nreply: {}\n",
            "2:26: `any` is an Any, and nothing says of which type | add `\"@type\": package.Message`",
        ),
        (
            "method: t.S/M\nmatch: { message: { any: { '@type': t.Iner } } }\nreply: {}\n",
            "2:37: the schema has no message `t.Iner` | write `t.Inner`",
        ),
        (
            "method: t.S/M\nmatch: { message: { f_string.x: a } }\nreply: {}\n",
            "2:21: `f_string` has no field `x`: it is text | write `f_string` and what its value is",
        ),
        (
            "method: t.S/M\nmatch: { message: { 'a..b': a } }\nreply: {}\n",
            "2:21: `a..b` is no path: an empty name | write names with dots between them, such as `customer.name`",
        ),
        (
            "method: t.S/M\nmatch: { metadata: { 'a b': c } }\nreply: {}\n",
            "2:22: `a b` is no name of metadata | write letters, digits, `-`, `_` and `.`",
        ),
        (
            "method: t.S/M\nmatch: { cel: 'request.f_int33 == 1' }\nreply: {}\n",
            "2:15: in the expression, line 1, column ",
        ),
        (
            "method: t.S/M\nmatch: { cel: 'request.f_int32' }\nreply: {}\n",
            "2:15: the expression is neither true nor false | compare with something, such as `request.id == 7`",
        ),
        (
            "rules:\n  - { name: a, method: t.S/M, reply: {} }\n  - { name: a, method: t.S/Other, reply: {} }\n",
            "3:7: two rules are called `a` | it stands first at rules.yaml:2:5; give this one another name",
        ),
        (
            "method: t.S/*\nmatch: { message: { f_int32: 1 } }\nreply: {}\n",
            "2:21: `t.Inner` has no field `f_int32` | its fields are `name`, `count`, `inner`, `tags`, `maybe`",
        ),
        ("method: t.S/M\nsample: { messages: [{ f_int32: x }] }\nreply: {}\n", "2:22: a mapping is no `t.All`: "),
        (
            "method: t.Second/M\nmatch: { message: { two.five: { exists: true, gt: 1 } } }\nreply: {}\n",
            "2:31: `exists` beside other operators on `two.five`, which has a declared default | a declared default is always there: leave `exists` out, or ask for it alone",
        ),
        ("rules: {\n", "1:8: this is not YAML: "),
    ] {
        let loaded = load(text, &schema);
        assert!(loaded.set.is_none(), "{text}");
        let shown: Vec<String> = loaded
            .problems
            .iter()
            .map(|problem| {
                let place = problem.place().unwrap();
                format!("{place}: {} | {}", problem.message(), problem.help().unwrap_or_default())
            })
            .collect();
        if shown.len() != 1 || !shown[0].starts_with(wanted) {
            others.push(format!("{text}found  {shown:?}\nwanted {wanted}\n"));
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
}

#[test]
fn all_mistakes_of_all_files_are_listed() {
    let schema = schema();
    let files = [
        (
            "one.yaml",
            "rules:\n  - { method: t.S/M, match: { message: { a: 1, b: 2 } }, reply: {} }\n  - { method: t.S/X, reply: {} }\n",
        ),
        ("two.json", r#"[{"method": "t.S/M", "reply": {}, "times": 0}]"#),
        ("three.yaml", "method: t.S/M\nreply: {}\n"),
    ];
    let loaded = leat_rpc::mock::rules::Set::load(&files, &schema, &mut rules_support::Nothing);
    let places: Vec<String> =
        loaded.problems.iter().map(|problem| format!("{}:{}", problem.file(), problem.place().unwrap())).collect();
    assert_eq!(places, ["one.yaml:2:42", "one.yaml:2:48", "one.yaml:3:15", "two.json:1:44"]);
}

#[test]
fn rules_that_never_answer_are_told_of() {
    let schema = schema();
    for (text, wanted) in [
        // Shadowed by a rule of a higher priority that asks for less.
        (
            "rules:\n  - { name: a, method: t.S/M, priority: 1, reply: {} }\n  - { name: b, method: t.S/M, match: { message: { f_int32: 1 } }, reply: {} }\n",
            Some(
                "3:5: the rule `b` never answers: `a` (rules.yaml:2:5) is asked first and matches all that it matches (for t.S/M)",
            ),
        ),
        // The same conditions.
        (
            "rules:\n  - { name: a, method: t.S/M, match: { message: { f_int32: 1, f_string: x } }, reply: {} }\n  - { name: b, method: t.S/M, match: { message: { f_string: x, f_int32: 1 } }, reply: {} }\n",
            Some("3:5: the rule `b` never answers: `a`"),
        ),
        // What is wanted exactly passes the wider test.
        (
            "rules:\n  - { name: a, method: t.S/M, priority: 1, match: { message: { f_int32: { gt: 5 } } }, reply: {} }\n  - { name: b, method: t.S/M, match: { message: { f_int32: 7 } }, reply: {} }\n",
            Some("3:5: the rule `b` never answers: `a`"),
        ),
        (
            "rules:\n  - { name: a, method: t.S/M, priority: 1, match: { message: { f_int32: { gt: 5 } } }, reply: {} }\n  - { name: b, method: t.S/M, match: { message: { f_int32: 5 } }, reply: {} }\n",
            None,
        ),
        // A rule that steps aside shadows nothing.
        (
            "rules:\n  - { name: a, method: t.S/M, times: 1, reply: {} }\n  - { name: b, method: t.S/M, reply: {} }\n",
            None,
        ),
        (
            "rules:\n  - { name: a, method: t.S/M, scenario: { name: s, to: x }, reply: {} }\n  - { name: b, method: t.S/M, reply: {} }\n",
            None,
        ),
        // A state that nobody brings about.
        (
            "rules:\n  - { name: a, method: t.S/M, scenario: { name: s, in: x, to: y }, reply: {} }\n  - { name: b, method: t.S/M, scenario: { name: other, to: x }, reply: {} }\n",
            Some("2:5: the rule `a` never answers: no rule brings the scenario `s` into the state `x`"),
        ),
        (
            "rules:\n  - { name: a, method: t.S/M, scenario: { name: s, in: x }, reply: {} }\n  - { name: b, method: t.S/M, scenario: { name: s, in: start, to: x }, reply: {} }\n",
            None,
        ),
        // Each of several values passes the wider test, and what passes a bound a wider one.
        (
            "rules:\n  - { name: a, method: t.S/M, priority: 1, match: { message: { f_int32: { gt: 3 } } }, reply: {} }\n  - { name: b, method: t.S/M, match: { message: { f_int32: { in: [4, 5] } } }, reply: {} }\n",
            Some("3:5: the rule `b` never answers: `a`"),
        ),
        (
            "rules:\n  - { name: a, method: t.S/M, priority: 1, match: { message: { f_int32: { gt: 4 } } }, reply: {} }\n  - { name: b, method: t.S/M, match: { message: { f_int32: { in: [4, 5] } } }, reply: {} }\n",
            None,
        ),
        (
            "rules:\n  - { name: a, method: t.S/M, priority: 1, match: { message: { f_int32: { gte: 4 } } }, reply: {} }\n  - { name: b, method: t.S/M, match: { message: { f_int32: { gt: 4, lt: 9 } } }, reply: {} }\n",
            Some("3:5: the rule `b` never answers: `a`"),
        ),
        (
            "rules:\n  - { name: a, method: t.S/M, priority: 1, match: { message: { f_int32: { gt: 4 } } }, reply: {} }\n  - { name: b, method: t.S/M, match: { message: { f_int32: { gte: 4 } } }, reply: {} }\n",
            None,
        ),
        // A rule for many methods that is shadowed for one of them answers the others; one that is for all is told of once.
        ("rules:\n  - { name: a, method: t.S/*, reply: {} }\n  - { name: b, method: t.S/M, reply: {} }\n", None),
        (
            "rules:\n  - { name: a, method: t.S/*, reply: {} }\n  - { name: b, method: t.S/*, reply: {} }\n",
            Some("3:5: the rule `b` never answers: `a`"),
        ),
        // More conditions are asked first.
        (
            "rules:\n  - { name: a, method: t.S/M, reply: {} }\n  - { name: b, method: t.S/M, match: { message: { f_int32: 1 } }, reply: {} }\n",
            None,
        ),
        // At odds with itself.
        (
            "method: t.S/M\nname: a\nmatch: { message: { f_int32: 1 }, all: { message: { f_int32: 2 } } }\nreply: {}\n",
            Some("1:1: the rule `a` can never match: two of its conditions on one field exclude each other"),
        ),
        (
            "method: t.S/M\nname: a\nmatch: { message: { f_int32: { gt: 5, lt: 5 } } }\nreply: {}\n",
            Some("1:1: the rule `a` can never match: two of its bounds on one field leave no value between them"),
        ),
        ("method: t.S/M\nname: a\nmatch: { message: { f_int32: { gte: 5, lte: 5 } } }\nreply: {}\n", None),
        (
            "method: t.S/M\nname: a\nmatch: { message: { f_int32: { in: [1, 2], gt: 2 } } }\nreply: {}\n",
            Some("1:1: the rule `a` can never match: two of its conditions on one field exclude each other"),
        ),
        // A key of a map that looks like an operator.
        (
            "method: t.S/M\nname: a\nmatch: { message: { labels: { exists: x } } }\nreply: {}\n",
            Some("3:31: `exists` is a key of the map `labels` here"),
        ),
    ] {
        let loaded = load(text, &schema);
        assert!(loaded.set.is_some(), "{text}: {:?}", loaded.problems);
        let shown: Vec<String> = loaded
            .warnings
            .iter()
            .map(|problem| format!("{}: {}", problem.place().unwrap(), problem.message()))
            .collect();
        match wanted {
            Some(wanted) => assert!(shown.len() == 1 && shown[0].starts_with(wanted), "{text}: {shown:?}"),
            None => assert!(shown.is_empty(), "{text}: {shown:?}"),
        }
    }
}

#[test]
fn names_left_out_are_the_files_and_the_number_in_it() {
    let schema = schema();
    let set =
        rules_support::rules("- { method: t.S/M, reply: {} }\n- { method: t.S/Other, name: x, reply: {} }\n", &schema);
    let names: Vec<String> = set.rules().map(|info| info.name().to_string()).collect();
    assert_eq!(names, ["rules.yaml#1", "x"]);
}
