//! What choosing a rule costs: `rules_cost ROUNDS CALLS RULES…` loads as many rules as each number says, and prints for each
//! the time to load and the least time of a call, measured in turns. Under callgrind, runs with different CALLS tell the
//! instructions of a call, by step (docs/design/mock-rules.md says how).
//!
//! Every rule wants two fields exactly and one of metadata. With `memo` as the first word a table from whole requests to
//! rules stands before the choice, which is what docs/design/mock-rules.md compares.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::HashMap;
use std::fmt::Write;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use leat_config::table::Open;
use leat_rpc::mock::rules::{Choice, Gate, Info, Replies, Request, Rule, Set};
use leat_rpc::mock::state::Blocked;
use leat_rpc_wire::Metadata;
use leat_schema::{Method, Schema, Sources};

const PROTO: &str = r#"
syntax = "proto3";
package shop.v1;
service Orders { rpc Get(GetRequest) returns (Order); }
message GetRequest { int64 id = 1; string region = 2; string name = 3; bool all = 4; double weight = 5; }
message Order { int64 id = 1; }
"#;

/// Rules in one file; more are spread over several.
const FILE_RULES: usize = 100_000;

struct Nothing;

impl Replies for Nothing {
    type Reply = ();

    fn compile(&mut self, _: &Info, rule: &Open<'_>, _: &Method) -> Option<()> {
        let _ = rule.json("reply");
        Some(())
    }
}

struct Free;

impl Gate<()> for Free {
    fn claim(&mut self, _: &Rule<()>) -> Result<u64, Blocked> {
        Ok(0)
    }

    fn calls(&mut self, _: &Rule<()>) -> u64 {
        0
    }
}

fn load(count: usize, schema: &Arc<Schema>) -> Set<()> {
    let mut files = Vec::new();
    for start in (0..count).step_by(FILE_RULES) {
        let mut text = String::from("rules:\n");
        for id in start..count.min(start + FILE_RULES) {
            let _ = writeln!(
                text,
                "- {{ method: shop.v1.Orders/Get, match: {{ message: {{ id: {id}, region: eu }}, metadata: {{ x-tenant: acme }} }}, reply: {{ message: {{ id: {id} }} }} }}"
            );
        }
        files.push((format!("{start}.yaml"), text));
    }
    let named: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let loaded = Set::load(&named, schema, &mut Nothing);
    assert!(loaded.problems.is_empty() && loaded.warnings.is_empty(), "{:?} {:?}", loaded.problems, loaded.warnings);
    loaded.set.unwrap()
}

fn metadata() -> Metadata {
    let mut metadata = Metadata::new();
    for (name, value) in [
        ("content-type", "application/grpc"),
        ("te", "trailers"),
        ("user-agent", "grpc-go/1.80.0"),
        ("grpc-accept-encoding", "gzip"),
        ("x-tenant", "acme"),
        ("x-request-id", "6f7f61ab"),
    ] {
        metadata.push(name, value.as_bytes());
    }
    metadata
}

fn message(method: &Method, id: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let json = format!(r#"{{"id": "{id}", "region": "eu", "name": "Ada Lovelace", "all": true, "weight": 1.5}}"#);
    method.input().to_binary_strict(json.as_bytes(), &mut out).unwrap();
    out
}

/// Nanoseconds of a call.
fn calls(set: &Set<()>, method: &Method, metadata: &Metadata, messages: &[Vec<u8>], count: usize) -> f64 {
    let started = Instant::now();
    for message in messages.iter().cycle().take(count) {
        let request = Request { method, metadata, message };
        assert!(matches!(black_box(set.choose(&request, &mut Free)), Choice::Found { .. }));
    }
    started.elapsed().as_nanos() as f64 / count.max(1) as f64
}

/// The same with a table from whole requests to rules before it.
fn memoised(set: &Set<()>, method: &Method, metadata: &Metadata, messages: &[Vec<u8>], count: usize) -> f64 {
    let mut memo: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut key = Vec::new();
    let started = Instant::now();
    for message in messages.iter().cycle().take(count) {
        key.clear();
        key.extend_from_slice(message);
        for (name, value) in metadata.iter() {
            key.extend_from_slice(name.as_bytes());
            key.push(0);
            key.extend_from_slice(value);
            key.push(0);
        }
        if let Some(rule) = memo.get(&key) {
            black_box(rule);
            continue;
        }
        let request = Request { method, metadata, message };
        if let Choice::Found { rule, .. } = set.choose(&request, &mut Free) {
            memo.insert(key.clone(), rule.number());
        }
    }
    started.elapsed().as_nanos() as f64 / count.max(1) as f64
}

fn main() {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let memo = words.first().is_some_and(|word| word == "memo");
    if memo {
        words.remove(0);
    }
    let numbers: Vec<usize> = words.iter().map(|word| word.parse().unwrap()).collect();
    let [rounds, count, sizes @ ..] = numbers.as_slice() else {
        panic!("usage: rules_cost [memo] ROUNDS CALLS RULES…");
    };
    let mut sources = Sources::new();
    sources.proto("shop.proto", PROTO);
    let schema = sources.build().unwrap();
    let method = schema.method_named("shop.v1.Orders/Get").unwrap();
    let metadata = metadata();
    let sets: Vec<(Set<()>, f64, Vec<Vec<u8>>)> = sizes
        .iter()
        .map(|size| {
            let started = Instant::now();
            let set = load(*size, &schema);
            let loaded = started.elapsed().as_secs_f64();
            // A thousand calls at most, spread over all rules: what the caches hold is the rules' affair.
            let step = (size / 1000).max(1);
            (set, loaded, (0..*size).step_by(step).map(|id| message(method, id)).collect())
        })
        .collect();
    let mut least = vec![f64::MAX; sets.len()];
    for _ in 0..*rounds {
        for ((set, _, messages), least) in sets.iter().zip(&mut least) {
            let run = if memo { memoised } else { calls };
            *least = least.min(run(set, method, &metadata, messages, *count));
        }
    }
    println!("rules    load ms  call ns");
    for ((size, (_, loaded, _)), least) in sizes.iter().zip(&sets).zip(&least) {
        println!("{size:<8} {:>7.1}  {least:>7.1}", loaded * 1000.0);
    }
}
