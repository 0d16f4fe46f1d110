//! Breaks below RPC.

use super::driver::{Caller, replies};

#[test]
fn faults_come_before_what_they_break() {
    let two = "stream: [ { message: { id: 1 } }, { message: { id: 2 } } ]";
    let (one, two_sent) = ("fixed {\"id\":\"1\"}", "fixed {\"id\":\"2\"}");
    for (fault, wanted) in [
        ("{ reset: refused_stream }", vec!["fault Reset { code: 7 }", "ok"]),
        ("{ reset: 8, after: 1 }", vec![one, "fault Reset { code: 8 }", "ok"]),
        ("{ goaway: ENHANCE_YOUR_CALM }", vec!["fault GoAway { code: 11 }", "ok"]),
        ("{ close: true, after: 2 }", vec![one, two_sent, "fault Close", "ok"]),
        ("{ cut: 3B }", vec!["fault Cut { after_bytes: 3 }", one, two_sent, "ok"]),
        ("{ no_trailers: true }", vec!["fault NoTrailers", one, two_sent, "ok"]),
        ("{ bad_compression: true, after: 1 }", vec![one, "fault BadCompression", two_sent, "ok"]),
        ("{ trickle: { bytes: 1, every: 5ms } }", vec!["fault Trickle { bytes: 1, every_ms: 5 }", one, two_sent, "ok"]),
        ("{ close: true, after: 9 }", vec![one, two_sent, "ok"]),
    ] {
        let lines = Caller::new("Watch").run(&replies("Watch", &format!("{two}\nfault: {fault}")));
        assert_eq!(lines, wanted, "{fault}");
    }
}

#[test]
fn faults_strike_by_the_number_of_the_call() {
    for (schedule, wanted) in
        [("", "1 2 3 4 5 6 7 8"), ("on_calls: 3", "3"), ("on_calls: [1, 5..7]", "1 5 6 7"), ("every: 4", "4 8")]
    {
        let text = format!("message: {{}}\nfault: {{ close: true, {schedule} }}");
        let replies = replies("Get", &text);
        assert_eq!(replies.counts(), !schedule.is_empty());
        let struck = |call: &u64| Caller { call: *call, ..Caller::new("Get") }.run(&replies)[0].starts_with("fault");
        let calls: Vec<String> = (1..=8).filter(struck).map(|call: u64| call.to_string()).collect();
        assert_eq!(calls.join(" "), wanted, "{schedule}");
    }
}

#[test]
fn the_first_fault_that_strikes_is_the_only_one() {
    let text = "message: {}\nfault: [ { close: true, on_calls: 2 }, { no_trailers: true } ]";
    let replies = replies("Get", text);
    let first = |call| Caller { call, ..Caller::new("Get") }.run(&replies).remove(0);
    assert_eq!([first(1), first(2)], ["fault NoTrailers", "fault Close"]);
}

#[test]
fn a_fault_alone_is_a_reply() {
    let lines = Caller::new("Get").run(&replies("Get", "fault: { reset: cancel }"));
    assert_eq!(lines, ["fault Reset { code: 8 }", "ok"]);
}
