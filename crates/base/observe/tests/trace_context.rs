//! What callers say of their traces, as the corpus has it: W3C's own cases among them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::HashSet;
use std::path::Path;

use leat_message::{Field, Fields, Name, Span};
use leat_observe::trace_context::{Sampler, begun, continued, hex, parse_traceparent, write_traceparent};
use serde_json::Value;

const CASES_MIN: usize = 90;

fn cases() -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../corpus/trace/context.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn latin1(text: &Value) -> Vec<u8> {
    text.as_str().unwrap().chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect()
}

/// Lines of a head, with the values of both fields in turn.
fn head(case: &Value) -> (Vec<u8>, Vec<Field>) {
    let (mut bytes, mut list) = (Vec::new(), Vec::new());
    let mut put = |text: &[u8]| {
        let start = bytes.len();
        bytes.extend_from_slice(text);
        Span::new(start, bytes.len())
    };
    for (id, name, key) in
        [(Name::Traceparent, "TraceParent", "traceparent"), (Name::Other, "TraceState", "tracestate")]
    {
        for value in case[key].as_array().unwrap() {
            list.push(Field { id, name: put(name.as_bytes()), value: put(&latin1(value)) });
        }
    }
    (bytes, list)
}

#[test]
fn every_case_of_the_corpus_comes_out_as_it_says() {
    let cases = cases();
    assert!(cases.len() >= CASES_MIN);
    let mut names = HashSet::new();
    for case in &cases {
        let name = case["name"].as_str().unwrap();
        assert!(names.insert(name), "{name} stands twice");
        let (bytes, list) = head(case);
        let read = continued(Fields::new(&bytes, &list), 42);
        let found = read.map(|trace| {
            assert_eq!(trace.span, 42);
            serde_json::json!({
                "id": format!("{:016x}{:016x}", trace.id[0], trace.id[1]),
                "parent": format!("{:016x}", trace.parent),
                "sampled": trace.sampled,
                "random": trace.random,
                "state": trace.keeps_state,
            })
        });
        assert_eq!(found.unwrap_or(Value::Null), case["expect"], "{name}");
    }
}

#[test]
fn a_changed_byte_is_never_read_as_the_same_trace() {
    let good = *b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let read = parse_traceparent(&good).unwrap();
    for at in 0..good.len() {
        for byte in 0..=255 {
            let mut changed = good;
            changed[at] = byte;
            // Another version, and flags that mean nothing to us, change nothing.
            let same = !(2..=52).contains(&at);
            if changed != good && !same {
                assert_ne!(parse_traceparent(&changed), Some(read), "{byte:#x} at {at}");
            }
        }
    }
}

#[test]
fn a_trace_that_begins_here_has_ids_that_others_accept() {
    for (bits, span) in [([0, 0], 0), ([5, 0], 1), ([u64::MAX, u64::MAX], u64::MAX)] {
        let trace = begun(bits, span, Sampler::per_million(1_000_000));
        let read = parse_traceparent(&write_traceparent(&trace, trace.span)).unwrap();
        assert_eq!((read.id, read.parent, read.sampled, read.random), (trace.id, trace.span, true, true));
        assert_ne!(hex(read.parent), [b'0'; 16]);
    }
}
