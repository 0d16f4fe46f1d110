//! What one reply of a mock costs: run it under callgrind, which counts instructions.
//!
//! `reply_cost KIND COUNT` makes so many replies of one kind; the difference of two counts is the cost.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::Path;

use leat_config::table::{Open, Reader};
use leat_config::yaml;
use leat_rpc::Form;
use leat_rpc::mock::reply::{Action, Facts, REPLY, Replies, Sent, Steps, Target, WallTime};
use leat_rpc::mock::state::Draws;
use leat_schema::Sources;

const PROTO: &str = r#"
syntax = "proto3";
package shop.v1;
message Order { int64 id = 1; string customer = 2; repeated string tags = 3; double price = 4; bool paid = 5; }
service Orders { rpc Get(Order) returns (Order); }
"#;

/// Kinds of replies, and how they are written.
const KINDS: &[(&str, &str)] = &[
    ("fixed", "message: { id: 7, customer: Ada, tags: [a, b], price: 2.5, paid: true }"),
    ("echo", "message: '{{ request }}'"),
    ("one_template", "message: { id: '{{ request.id }}', customer: Ada, tags: [a, b], price: 2.5, paid: true }"),
    (
        "five_templates",
        "message: { id: '{{ request.id + 1 }}', customer: 'Dear {{ request.customer }}', tags: '{{ request.tags }}', \
         price: '{{ request.price }}', paid: '{{ request.id > 5 }}' }",
    ),
    ("fakes", "message: { customer: '{{ fake.name }}', id: '{{ fake.int }}' }"),
];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let kind = arguments.next().expect("a kind of reply");
    let count: u64 = arguments.next().expect("a count").parse().unwrap();
    let form = if arguments.next().as_deref() == Some("json") { Form::Json } else { Form::Binary };
    let (_, text) = KINDS.iter().find(|(name, _)| *name == kind).expect("a known kind");
    let mut sources = Sources::new();
    sources.proto("shop.proto", PROTO);
    let schema = sources.build().unwrap();
    let method = schema.method("/shop.v1.Orders/Get").unwrap();
    let reader = Reader::new("rule.yaml", Path::new("."));
    let node = yaml::read(text, &reader).unwrap();
    let replies = Replies::compile(&Open::new(&reader, &REPLY, &node), &Target::new(method)).unwrap();
    let mut request = Vec::new();
    method.input().to_binary(br#"{"id":7,"customer":"Ada","tags":["x","y"],"price":1.5}"#, &mut request).unwrap();
    let metadata: &[(&str, &str)] = &[("x-tenant", "acme")];
    let facts = Facts {
        method: method.full_name(),
        metadata: &metadata,
        peer: "127.0.0.1:4000",
        timeout_ms: None,
        session: "",
        state: "",
        call: 1,
    };
    let mut bytes = 0;
    for call in 0..count {
        let mut draws = Draws::new(1, &[call]);
        let reply = replies.pick(call, &mut draws);
        if reply.at_once().is_some() {
            bytes += 1;
            continue;
        }
        let mut steps = Steps::new(reply, form, draws, 1, reply.reads_requests().then_some(&*request));
        loop {
            match steps.next(&facts, WallTime::default()) {
                Action::Send(Sent::Made(message)) => bytes += message.bytes.len(),
                Action::Finish(_) => break,
                _ => {}
            }
        }
    }
    println!("{bytes}");
}
