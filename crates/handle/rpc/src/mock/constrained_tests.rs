#![allow(clippy::unwrap_used)]

use leat_schema::Sources;

use crate::mock::answering::Compiler;
use crate::mock::rules::Set;
use crate::mock::state::{SESSIONS_MAX_DEFAULT, Settings, State};
use crate::validate::{Guard, Mode};

const PROTO: &str = r#"syntax = "proto3";
package t;
import "buf/validate/validate.proto";
message R {
  string email = 1 [(buf.validate.field).string.email = true];
  int32 n = 2 [(buf.validate.field).int32 = { gte: 1, lte: 10 }];
  repeated R inner_ones = 3;
  map<string, int32> counts = 4 [(buf.validate.field).map.values.int32.gt = 0];
  string other = 5 [(buf.validate.field).cel = { id: "o", message: "other is long", expression: "this.size() < 4" }];
  int64 low = 6;
  int64 high = 7;
  option (buf.validate.message).cel = { id: "range", message: "low is above high", expression: "this.low <= this.high" };
}
service S { rpc Get(R) returns (R); rpc Watch(R) returns (stream R); }
"#;

fn problems(rules: &str) -> Vec<String> {
    let mut sources = Sources::new();
    sources.proto("t.proto", PROTO);
    let schema = sources.build().unwrap();
    let guard = Guard::new(Mode::Auto, &schema).unwrap();
    let state = State::new(Settings { sessions_max: SESSIONS_MAX_DEFAULT, seed: 0 });
    let loaded = Set::load(&[("r.yaml", rules)], &schema, &mut Compiler { state: &state, guard: &guard });
    loaded.problems.iter().map(|problem| format!("{}: {}", problem.place().unwrap(), problem.message())).collect()
}

#[test]
fn what_breaks_constraints_is_told_where_it_stands() {
    let broken = "the reply breaks the constraints of t.R:";
    let email = "email: must be a valid email address";
    let n = "n: must be greater than or equal to 1 and less than or equal to 10";
    for (rules, wanted) in [
        ("- method: t.S/Get\n  reply:\n    message:\n      email: a@b.example\n      n: 3\n", vec![]),
        (
            "- method: t.S/Get\n  reply:\n    message:\n      email: nobody\n      n: 11\n",
            vec![format!("4:14: {broken} {email}"), format!("5:10: {broken} {n}")],
        ),
        // What is not there is told where the message stands, and so is what concerns all of it.
        ("- { method: t.S/Get, reply: { message: { email: a@b.example } } }\n", vec![format!("1:40: {broken} {n}")]),
        (
            "- { method: t.S/Get, reply: { message: { email: a@b.example, n: 1, low: 2 } } }\n",
            vec![format!("1:40: {broken} low is above high")],
        ),
        (
            "- { method: t.S/Get, reply: { message: { email: a@b.example, n: 1, innerOnes: [{ email: a@b.example, n: 1 }, { email: a@b.example, n: 0 }] } } }\n",
            vec![format!("1:135: {broken} inner_ones[1].{n}")],
        ),
        (
            "- { method: t.S/Get, reply: { message: { email: a@b.example, n: 1, counts: { a: 1, b: 0 } } } }\n",
            vec![format!("1:87: {broken} counts[\"b\"]: must be greater than 0")],
        ),
        (
            "- method: t.S/Watch\n  reply:\n    stream:\n      - message: { email: a@b.example, n: 1 }\n      - message: { email: a@b.example, n: 12 }\n",
            vec![format!("5:43: {broken} {n}")],
        ),
        // Beside templates: what no template has a part in.
        (
            "- { method: t.S/Get, reply: { message: { email: '{{ request.email }}', n: 12, low: 2 } } }\n",
            vec![format!("1:75: {broken} {n}")],
        ),
        (
            "- { method: t.S/Get, reply: { message: { email: nobody, n: '{{ request.n }}' } } }\n",
            vec![format!("1:49: {broken} {email}")],
        ),
        ("- { method: t.S/Get, reply: { message: '{{ request }}' } }\n", vec![]),
        (
            "- { method: t.S/Get, reply: { message: { email: a@b.example, n: 1, inner_ones: [{ n: '{{ request.n }}' }] } } }\n",
            vec![],
        ),
    ] {
        assert_eq!(problems(rules), wanted, "{rules}");
    }
}
