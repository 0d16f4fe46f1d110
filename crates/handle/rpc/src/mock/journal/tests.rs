use std::sync::Arc;

use leat_rpc_wire::{Code, Metadata, Status};
use serde_json::{Value, json};

use super::{Begun, Entry, Expected, Filter, Frame, Journal, JournalLimits, Messages, Unmatched, Way, show};

/// Messages that are JSON already.
struct Plain;

impl Messages for Plain {
    type Read = Value;
    type Asked = Value;

    fn read(&self, method: &str, is_json: bool, bytes: &[u8]) -> Option<Value> {
        self.message(method, Way::In, is_json, bytes)
    }

    fn asked(&self, method: &str, wanted: &Value) -> Option<Value> {
        (method != "a.B/Odd").then(|| wanted.clone())
    }

    fn is_so(&self, message: &Value, asked: &Value) -> bool {
        asked.as_object().unwrap().iter().all(|(name, value)| message.get(name).unwrap_or(&Value::Null) == value)
    }

    fn message(&self, method: &str, _: Way, is_json: bool, bytes: &[u8]) -> Option<Value> {
        (is_json && method != "a.B/Gone").then(|| serde_json::from_slice(bytes).ok()).flatten()
    }

    fn detail(&self, _: &str, _: &[u8]) -> Option<Value> {
        None
    }
}

fn begun(method: &str, session: &str, rule: Result<&str, &str>) -> Begun {
    let mut metadata = Metadata::new();
    metadata.push("x-tenant", b"acme");
    Begun {
        at_us: 1_000,
        method: method.into(),
        session: session.into(),
        protocol: "grpc",
        peer: "127.0.0.1:1".into(),
        metadata,
        timeout_ms: None,
        rule: rule.map(Arc::from).map_err(|why| Unmatched { why: why.into(), faked: false }),
    }
}

fn add(journal: &Journal, method: &str, session: &str, rule: Result<&str, &str>, message: &Value) -> u64 {
    let bytes = message.to_string();
    let frame = Frame::new(Way::In, 1, true, bytes.as_bytes(), journal.message_bytes_max());
    let status = if rule.is_ok() { Status::OK } else { Status::new(Code::Unimplemented, "no rule") };
    journal.add(begun(method, session, rule), vec![frame], status, Metadata::new(), 7)
}

fn sample() -> Journal {
    let journal = Journal::new(JournalLimits::default());
    add(&journal, "a.B/Get", "s1", Ok("one"), &json!({ "id": "7", "who": { "name": "Ann", "age": 3 } }));
    add(&journal, "a.B/Put", "s1", Ok("two"), &json!({ "id": "8" }));
    add(&journal, "a.B/Get", "s2", Ok("one"), &json!({ "id": "9" }));
    add(&journal, "a.B/Gone", "", Err("nearest rule `one`: id is 1"), &json!({}));
    journal
}

#[test]
fn a_filter_takes_what_is_all_of_what_it_says() {
    let journal = sample();
    for (filter, wanted) in [
        (json!({}), &[0, 1, 2, 3][..]),
        (json!({ "method": "a.B/Get" }), &[0, 2]),
        (json!({ "method": "a.B/*", "session": "s1" }), &[0, 1]),
        (json!({ "session": "" }), &[3]),
        (json!({ "rule": "two" }), &[1]),
        (json!({ "unmatched": true }), &[3]),
        (json!({ "code": "unimplemented" }), &[3]),
        (json!({ "code": "OK", "rule": "one" }), &[0, 2]),
        (json!({ "under_way": true }), &[]),
        (json!({ "metadata": { "X-Tenant": "acme" }, "method": "a.B/Put" }), &[1]),
        (json!({ "metadata": { "x-tenant": "other" } }), &[]),
        (json!({ "message": { "id": "7" } }), &[0]),
        (json!({ "message": { "id": "6" } }), &[]),
        (json!({ "message": { "who": null } }), &[1, 2]),
    ] {
        let filter = Filter::from_json(&filter, &[]).unwrap();
        let taken: Vec<u64> =
            journal.copy(|entry| filter.takes(entry, &Plain)).iter().map(|entry| entry.number).collect();
        assert_eq!(taken, wanted, "{filter:?}");
    }
}

#[test]
fn a_filter_of_a_query_says_the_same_as_one_of_json() {
    let mut filter = Filter::default();
    for (name, value) in [("method", "a.B/Get"), ("code", "OK"), ("unmatched", "false"), ("metadata.X-Tenant", "acme")]
    {
        assert_eq!(filter.parameter(name, value), Ok(true), "{name}");
    }
    assert_eq!(filter.parameter("other", ""), Ok(false));
    assert!(filter.parameter("code", "FINE").is_err());
    let same = json!({ "method": "a.B/Get", "code": "OK", "unmatched": false, "metadata": { "x-tenant": "acme" } });
    assert_eq!(filter, Filter::from_json(&same, &[]).unwrap());
}

#[test]
fn what_is_expected_is_held_against_the_calls() {
    let journal = sample();
    for (expected, pass) in [
        (json!({ "calls": [{ "method": "a.B/Get", "count": 2 }] }), true),
        (json!({ "calls": [{ "method": "a.B/Get", "count": 1 }] }), false),
        (json!({ "calls": [{ "method": "a.B/Get" }] }), true),
        (json!({ "calls": [{ "method": "a.B/None" }] }), false),
        (json!({ "calls": [{ "method": "a.B/None", "count": 0 }] }), true),
        (json!({ "calls": [{ "method": "a.B/*", "count": { "min": 2, "max": 4 } }] }), true),
        (json!({ "calls": [{ "method": "a.B/*", "count": { "max": 3 } }] }), false),
        (json!({ "calls": [{ "method": "a.B/*", "count": { "min": 5 } }] }), false),
        (json!({ "session": "s1", "calls": [{ "method": "a.B/Get", "count": 1 }] }), true),
        (json!({ "order": [{ "method": "a.B/Get" }, { "method": "a.B/Get", "session": "s2" }] }), true),
        (json!({ "order": [{ "method": "a.B/Put" }, { "method": "a.B/Get" }] }), true),
        (json!({ "order": [{ "method": "a.B/Put" }, { "rule": "two" }] }), false),
        (json!({ "unmatched": 0 }), false),
        (json!({ "unmatched": { "max": 1 } }), true),
        (json!({ "session": "s2", "unmatched": 0 }), true),
        (json!({ "unmatched": 1, "calls": [{ "rule": "one", "count": 3 }] }), false),
    ] {
        let verdict = Expected::from_json(&expected).unwrap().check(&journal, &Plain);
        assert_eq!(verdict.pass, pass, "{expected}: {:#}", verdict.shown);
        assert_eq!(verdict.shown["pass"], pass);
    }
}

#[test]
fn a_failed_check_says_what_was_seen() {
    let expected = json!({ "calls": [{ "method": "a.B/Get", "count": 1 }], "unmatched": 0 });
    let verdict = Expected::from_json(&expected).unwrap().check(&sample(), &Plain);
    assert_eq!(
        verdict.shown["checks"],
        json!([
            { "check": "calls[0]", "pass": false, "expected": "exactly 1", "seen": 2, "numbers": [0, 2] },
            {
                "check": "unmatched", "pass": false, "expected": "exactly 0", "seen": 1, "numbers": [3],
                "unmatched_calls": [{ "number": 3, "method": "a.B/Gone", "why": "nearest rule `one`: id is 1" }],
            },
        ])
    );
}

#[test]
fn a_most_is_never_right_where_calls_were_dropped() {
    let journal = Journal::new(JournalLimits { entries_max: 2, bytes_max: 1 << 20 });
    for _ in 0..3 {
        add(&journal, "a.B/Get", "", Ok("one"), &json!({}));
    }
    let message = json!("1 calls were dropped before: make `journal` larger or reset");
    for (expected, pass, told) in [
        (json!({ "calls": [{ "rule": "two", "count": 0 }] }), false, &message),
        (json!({ "calls": [{ "rule": "one", "count": 2 }] }), false, &message),
        (json!({ "calls": [{ "rule": "one", "count": { "max": 5 } }] }), false, &message),
        (json!({ "calls": [{ "rule": "one", "count": { "min": 3 } }] }), false, &message),
        (json!({ "unmatched": 0 }), false, &message),
        (json!({ "calls": [{ "rule": "one", "count": 1 }] }), false, &Value::Null),
        (json!({ "calls": [{ "rule": "one", "count": { "min": 2 } }] }), true, &Value::Null),
        (json!({ "calls": [{ "rule": "one" }] }), true, &Value::Null),
    ] {
        let verdict = Expected::from_json(&expected).unwrap().check(&journal, &Plain);
        assert_eq!((verdict.pass, &verdict.shown["checks"][0]["message"]), (pass, told), "{expected}");
    }
    journal.reset(None);
    assert!(Expected::from_json(&json!({ "unmatched": 0 })).unwrap().check(&journal, &Plain).pass);
}

#[test]
fn a_most_is_unknown_where_messages_that_are_asked_about_were_dropped() {
    let journal = Journal::new(JournalLimits { entries_max: 10, bytes_max: 4_000 });
    let number = journal.begin(begun("a.B/Watch", "", Ok("one")));
    let frame = |text: &str, way| Frame::new(way, 5, true, text.as_bytes(), 1_000);
    journal.frame(number, frame(r#"{"id":1}"#, Way::In));
    // What it sends fills the call's half of the journal; two of the client's messages find no room any more.
    (0..100).for_each(|_| journal.frame(number, frame(r#"{"id":2}"#, Way::Out)));
    (0..2).for_each(|_| journal.frame(number, frame(r#"{"id":3}"#, Way::In)));
    let message = json!("unknown: 2 frames were dropped, or too long to be kept: make `journal` larger or reset");
    for (expected, pass, told) in [
        (json!({ "calls": [{ "message": { "id": 3 }, "count": 0 }] }), false, &message),
        (json!({ "calls": [{ "message": { "id": 3 } }] }), false, &message),
        (json!({ "calls": [{ "message": { "id": 3 }, "count": { "max": 2 } }] }), false, &message),
        (json!({ "order": [{ "message": { "id": 3 } }] }), false, &message),
        (json!({ "calls": [{ "message": { "id": 1 }, "count": 1 }] }), true, &Value::Null),
        (json!({ "calls": [{ "message": { "id": 3 }, "method": "a.B/Other", "count": 0 }] }), true, &Value::Null),
        (json!({ "calls": [{ "method": "a.B/Watch", "count": 1 }] }), true, &Value::Null),
    ] {
        let verdict = Expected::from_json(&expected).unwrap().check(&journal, &Plain);
        assert_eq!((verdict.pass, &verdict.shown["checks"][0]["message"]), (pass, told), "{expected}");
    }
    // A message that is told by its length alone may have said anything, too.
    let journal = Journal::new(JournalLimits { entries_max: 100, bytes_max: 4_000 });
    add(&journal, "a.B/Get", "", Ok("one"), &json!({ "text": "x".repeat(2_000) }));
    let expected = json!({ "calls": [{ "message": { "text": "y" }, "count": 0 }] });
    assert!(!Expected::from_json(&expected).unwrap().check(&journal, &Plain).pass);
}

/// Counts how often messages are read, and conditions compiled.
#[derive(Default)]
struct Counting {
    read: std::cell::Cell<usize>,
    asked: std::cell::Cell<usize>,
}

impl Messages for Counting {
    type Read = Value;
    type Asked = Value;

    fn read(&self, method: &str, is_json: bool, bytes: &[u8]) -> Option<Value> {
        self.read.set(self.read.get() + 1);
        Plain.read(method, is_json, bytes)
    }

    fn asked(&self, method: &str, wanted: &Value) -> Option<Value> {
        self.asked.set(self.asked.get() + 1);
        Plain.asked(method, wanted)
    }

    fn is_so(&self, message: &Value, asked: &Value) -> bool {
        Plain.is_so(message, asked)
    }

    fn message(&self, method: &str, way: Way, is_json: bool, bytes: &[u8]) -> Option<Value> {
        Plain.message(method, way, is_json, bytes)
    }

    fn detail(&self, _: &str, _: &[u8]) -> Option<Value> {
        None
    }
}

#[test]
fn a_message_is_read_once_however_many_filters_ask_and_a_filter_is_compiled_once_for_a_method() {
    let journal = sample();
    let filters = vec![json!({ "message": { "id": "7" } }); 50];
    let expected = Expected::from_json(&json!({ "calls": filters, "order": filters })).unwrap();
    let counting = Counting::default();
    let verdict = expected.check(&journal, &counting);
    assert_eq!(counting.read.get(), 4);
    // Of the filters of an order only those are compiled that are come to.
    assert_eq!(counting.asked.get(), 50 * 3 + 3 + 1);
    assert_eq!(verdict.shown["checks"][50]["message"], "no call of `order[1]` came after call 0");
}

#[test]
fn what_cannot_be_expected_is_refused_with_its_place() {
    for (expected, message) in [
        (json!([]), "expected an object"),
        (json!({}), "nothing is expected"),
        (json!({ "cals": [] }), "unknown key `cals`"),
        (json!({ "calls": {} }), "`calls` is a list"),
        (json!({ "calls": [{ "methd": "x" }] }), "calls[0]: unknown key `methd`"),
        (json!({ "calls": [{ "count": -1 }] }), "calls[0]: a count is a number"),
        (json!({ "calls": [{ "count": { "least": 1 } }] }), "calls[0]: a count is a number"),
        (json!({ "calls": [{ "count": { "min": 3, "max": 2 } }] }), "is never right"),
        (json!({ "order": [{}, { "code": "FINE" }] }), "order[1]: `FINE` is no status code"),
        (json!({ "unmatched": "none" }), "a count is a number"),
        (json!({ "calls": [{ "metadata": { "a": 1 } }] }), "`metadata` is an object"),
    ] {
        let error = Expected::from_json(&expected).unwrap_err().to_string();
        assert!(error.contains(message), "{expected}: {error}");
    }
}

#[test]
fn the_oldest_calls_go_where_there_is_no_more_room() {
    let journal = Journal::new(JournalLimits { entries_max: 2, bytes_max: 1 << 20 });
    for id in 0..5 {
        add(&journal, "a.B/Get", "", Ok("one"), &json!({ "id": id }));
    }
    let stats = journal.stats();
    assert_eq!((stats.entries, stats.dropped), (2, 3));
    let numbers: Vec<u64> = journal.copy(|_| true).iter().map(|entry| entry.number).collect();
    assert_eq!(numbers, [3, 4]);

    // A path that is no method's may be as long as a message.
    for (method, text) in [("a.B/Get", "x".repeat(700)), (&*"x".repeat(700), String::new())] {
        let journal = Journal::new(JournalLimits { entries_max: 100, bytes_max: 4_000 });
        let long = json!({ "text": text });
        for _ in 0..20 {
            add(&journal, method, "", Ok("one"), &long);
        }
        let stats = journal.stats();
        assert!(stats.bytes <= 4_000 && (2..6).contains(&stats.entries), "{stats:?}");
        assert_eq!(stats.entries + stats.dropped as usize, 20, "{stats:?}");
    }
}

#[test]
fn a_long_message_is_told_by_its_length_alone() {
    let journal = Journal::new(JournalLimits { entries_max: 100, bytes_max: 4_000 });
    add(&journal, "a.B/Get", "", Ok("one"), &json!({ "text": "x".repeat(2_000) }));
    let shown = show(&journal.copy(|_| true)[0], &Plain, true);
    assert_eq!(shown["frames"], json!([{ "way": "in", "at_us": 1, "bytes": 2011 }]));
}

#[test]
fn a_call_under_way_grows_and_ends() {
    let journal = Journal::new(JournalLimits { entries_max: 10, bytes_max: 4_000 });
    let number = journal.begin(begun("a.B/Watch", "", Ok("one")));
    let frame = |text: &str| Frame::new(Way::Out, 5, true, text.as_bytes(), 1_000);
    journal.frame(number, frame("1"));
    journal.frame(number, frame("2"));
    let shown = |journal: &Journal| show(&journal.copy(|_| true)[0], &Plain, true);
    assert_eq!((&shown(&journal)["sent"], &shown(&journal)["status"]), (&json!(2), &Value::Null));
    let mut trailers = Metadata::new();
    trailers.push("x-sum-bin", &[255]);
    journal.end(number, Status::new(Code::Aborted, "over"), trailers, 90);
    let entry = shown(&journal);
    assert_eq!(entry["status"], json!({ "code": "ABORTED", "message": "over", "details": [] }));
    assert_eq!((&entry["took_us"], &entry["trailers"]), (&json!(90), &json!({ "x-sum-bin": ["/w=="] })));
    // One that is endless gets no more than half of the journal, and what it does not get is counted.
    (0..200).for_each(|_| journal.frame(number, frame("3")));
    let stats = journal.stats();
    assert!(stats.bytes <= 2_000 && stats.frames_dropped > 100 && stats.entries == 1, "{stats:?}");
    let held: usize = journal.copy(|_| true).iter().map(Entry::cost).sum();
    assert_eq!(stats.bytes, held, "the count of bytes is that of what is there");
    journal.reset(None);
    journal.frame(number, frame("4"));
    assert_eq!(journal.stats().frames_dropped, 1, "a call that is gone takes no frames");
}

#[test]
fn a_reset_forgets_all_or_one_session_and_numbers_go_on() {
    let journal = sample();
    assert_eq!(journal.reset(Some("s1")), 2);
    let held: usize = journal.copy(|_| true).iter().map(Entry::cost).sum();
    assert_eq!((journal.stats().entries, journal.stats().bytes), (2, held));
    assert_eq!(journal.reset(None), 2);
    assert_eq!(journal.stats(), super::JournalStats::default());
    assert_eq!(add(&journal, "a.B/Get", "", Ok("one"), &json!({})), 4);
}

#[test]
fn a_call_is_shown_with_its_frames_when_they_are_asked_for() {
    let entry = &sample().copy(|_| true)[0];
    let shown = show(entry, &Plain, true);
    assert_eq!(shown["metadata"], json!({ "x-tenant": ["acme"] }));
    assert_eq!(shown["rule"], "one");
    assert_eq!(shown["frames"][0]["message"]["who"]["name"], "Ann");
    assert_eq!(show(entry, &Plain, false)["frames"], Value::Null);
    // What the schema does not know any more is shown as bytes.
    let gone = &sample().copy(|_| true)[3];
    assert_eq!(show(gone, &Plain, true)["frames"][0]["base64"], "e30=");
}
