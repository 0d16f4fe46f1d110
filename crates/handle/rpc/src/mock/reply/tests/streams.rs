//! Streams, scripts and delays.

use super::driver::{Caller, replies};
use crate::mock::state::Draws;

fn run(method: &str, text: &str, requests: &[&str]) -> Vec<String> {
    Caller { requests, ..Caller::new(method) }.run(&replies(method, text))
}

#[test]
fn streams_send_their_items_in_order() {
    for (text, wanted) in [
        ("stream: [ { message: { id: 1 } }, { message: { id: 2 }, delay: 5ms } ]", "fixed1 wait5 fixed2 ok"),
        ("stream: { message: { id: 1 } }\nloop: 3", "fixed1 fixed1 fixed1 ok"),
        ("stream: [ { message: { id: 1 } }, { message: { id: 2 } } ]\norder: reversed", "fixed2 fixed1 ok"),
        ("stream: [ { message: { id: '{{ index }}' } } ]\nloop: 3", "made made1 made2 ok"),
        ("stream: [ { each: request.items, message: { id: '{{ int(item.count) }}' } } ]", "made3 made4 ok"),
        (
            "stream: [ { each: '{{ request.items }}', message: { id: 5 }, delay: 2ms } ]",
            "flush wait2 fixed5 wait2 fixed5 ok",
        ),
        ("stream: [ { each: request.tags, message: { id: 1 } } ]", "ok"),
        (
            "stream: [ { message: { id: 1 } } ]\nerror: { code: aborted, message: 'after {{ index }}' }",
            "fixed1 aborted: after 1",
        ),
        ("stream: []\nerror: unavailable", "unavailable"),
        ("message: { id: 9 }\ndelay: 1s", "wait1000 fixed9 ok"),
        ("stream: [ { message: {} } ]\nheaders: { a: b }", "headers a=b fixed ok"),
    ] {
        let lines = run("Watch", text, &[r#"{"items":[{"count":3},{"count":4}]}"#]);
        let short: Vec<String> = lines.iter().map(|line| short(line)).collect();
        assert_eq!(short.join(" "), wanted, "{text}");
    }
}

/// `fixed {"id":"1"}` as `fixed1`.
fn short(line: &str) -> String {
    match line.split_once(' ') {
        Some(("wait", ms)) => format!("wait{ms}"),
        Some((kind @ ("fixed" | "made"), json)) => {
            let digits: String = json.chars().filter(char::is_ascii_digit).collect();
            format!("{kind}{}", if digits == "0" { String::new() } else { digits })
        }
        _ => line.to_owned(),
    }
}

#[test]
fn a_shuffled_stream_sends_each_item_once_a_round_by_the_seed() {
    let text = "stream: [ { message: { id: 1 } }, { message: { id: 2 } }, { message: { id: 3 } }, { message: { id: 4 } } ]\n\
                order: shuffled\nloop: 2";
    let replies = replies("Watch", text);
    assert!(replies.counts());
    let run = |seed| Caller { seed, ..Caller::new("Watch") }.run(&replies);
    assert_eq!(run(1), run(1));
    assert!((2..20).any(|seed| run(seed) != run(1)));
    for seed in 0..20 {
        let lines = run(seed);
        assert_eq!(lines.len(), 9);
        for round in [&lines[..4], &lines[4..8]] {
            let mut ids: Vec<&String> = round.iter().collect();
            ids.sort();
            assert!(ids.iter().enumerate().all(|(index, line)| line.contains(&(index + 1).to_string())), "{lines:?}");
        }
    }
}

#[test]
fn a_stream_that_never_ends_goes_on() {
    let replies = replies("Watch", "stream: [ { message: { id: 1 }, delay: 1ms } ]\nloop: forever");
    let lines = Caller { actions_max: 500, ..Caller::new("Watch") }.run(&replies);
    assert_eq!(lines.len(), 500);
    assert_eq!(lines[499], "wait 1");
}

#[test]
fn a_client_that_streams_is_heard_out_and_answered() {
    let text = "message: { id: '{{ received }}', customer_name: '{{ last.customer_name }}', again: '{{ request }}', \
                tags: '{{ requests.map(r, r.customer_name) }}' }";
    let three = [r#"{"customerName":"a"}"#, r#"{"customerName":"b"}"#, r#"{"customerName":"c"}"#];
    assert_eq!(
        run("Collect", text, &three),
        [
            "receive",
            "receive",
            "half closed",
            r#"made {"id":"3","customerName":"c","tags":["a","b","c"],"again":{"customerName":"a"}}"#,
            "ok"
        ]
    );
    assert_eq!(run("Collect", text, &[]), [r#"made {"again":{}}"#, "ok"]);
    assert_eq!(run("Collect", "error: aborted", &three), ["receive", "receive", "half closed", "aborted"]);
}

#[test]
fn scripts_do_their_steps() {
    let two = [r#"{"id":1}"#, r#"{"id":2}"#];
    for (script, wanted) in [
        ("[ { send: { id: 9 } }, { close: true } ]", "fixed9 ok"),
        (
            "[ { expect: any }, { send: '{{ last }}' }, { expect: any }, { wait: 7ms }, { send: '{{ last }}' } ]",
            "echo receive wait7 echo ok",
        ),
        (
            "[ { expect: last.id == 1 }, { send: { id: 5 } }, { expect: last.id == 1 } ]",
            "fixed5 receive failed_precondition: request 2 is not what the script expects: `last.id == 1` is not true",
        ),
        (
            "[ { expect: any }, { expect: any }, { expect: any } ]",
            "receive half closed failed_precondition: the script expects another request after 2",
        ),
        (
            "[ { expect: any }, { expect: any }, { expect: any, optional: true }, { send: { id: 3 } } ]",
            "receive half closed fixed3 ok",
        ),
        ("[ { collect: true }, { send: { id: '{{ received }}' } } ]", "receive half closed made2 ok"),
        (
            "[ { headers: true }, { expect: any }, { fail: { code: aborted, message: '{{ last.id }}' } } ]",
            "flush aborted: 1",
        ),
        (
            "[ { repeat: 2, do: [ { send: { id: 4 } }, { wait: 1ms } ] }, { send: { id: 5 } } ]",
            "fixed4 wait1 fixed4 wait1 fixed5 ok",
        ),
        (
            "[ { expect: any }, { if: last.id == 2, do: { send: { id: 4 } } }, { if: last.id == 1, do: [ { send: { id: 5 } }, { wait: 0ms } ] } ]",
            "fixed5 ok",
        ),
        ("[ { headers: true }, { headers: true }, { send: {} }, { headers: true } ]", "flush fixed ok"),
        ("[ { repeat: 0, do: [ { send: { id: 4 } } ] } ]", "ok"),
        ("[ { each: '[10, 20]', do: { send: { id: '{{ item + index }}' } } } ]", "made10 made21 ok"),
        (
            "[ { each: '[[1, 2], [3]]', do: { each: item, do: { send: { id: '{{ item }}' } } } } ]",
            "made1 made2 made3 ok",
        ),
        ("[ { collect: true }, { each: requests, do: { send: '{{ item }}' } } ]", "receive half closed made1 made2 ok"),
        (
            "[ { each: requests, do: { send: '{{ item }}' } }, { expect: any }, { expect: any }, { send: { items: '{{ unanswered.map(r, {\"count\": uint(r.id)}) }}' } } ]",
            "made1 receive made2 ok",
        ),
        (
            "[ { repeat: forever, do: [ { expect: any }, { send: '{{ last }}' } ] }, { send: { id: 8 } } ]",
            "echo receive echo half closed fixed8 ok",
        ),
        (
            "[ { repeat: forever, do: { repeat: 2, do: { expect: any } } }, { send: { id: 8 } } ]",
            "receive half closed fixed8 ok",
        ),
        (
            "[ { repeat: forever, do: { expect: any, optional: true } } ]",
            "receive half closed internal: the mock cannot make its reply: the script runs in circles without doing anything",
        ),
    ] {
        let lines = run("Chat", &format!("script: {script}"), &two);
        let short: Vec<String> = lines.iter().map(|line| short(line)).collect();
        assert_eq!(short.join(" "), wanted, "{script}");
    }
}

#[test]
fn a_script_may_end_with_trailers_and_an_error() {
    let text = "script: [ { expect: any } ]\nheaders: { a: b }\ntrailers: { t: '{{ received }}' }\nerror: data_loss";
    assert_eq!(run("Chat", text, &["{}"]), ["headers a=b", "data_loss trailers t=1"]);
}

#[test]
fn delays_stay_in_their_bounds_and_follow_their_distribution() {
    for (delay, low, high, mean) in [
        ("20ms", 20, 20, 20.0),
        ("'{{ request.id }}ms'", 7, 7, 7.0),
        ("{ min: 10ms, max: 30ms }", 10, 30, 20.0),
        ("{ max: 30ms }", 0, 30, 15.0),
        ("{ mean: 100ms, deviation: 10ms }", 40, 160, 100.0),
        ("{ mean: 100ms, distribution: exponential }", 0, 2000, 100.0),
        ("{ mean: 100ms, deviation: 50ms, distribution: lognormal }", 5, 1000, 100.0),
        ("{ mean: 100ms, max: 90ms }", 0, 90, 82.0),
    ] {
        let replies = replies("Get", &format!("message: {{}}\ndelay: {delay}"));
        let mut sum = 0;
        for call in 1..=2000 {
            let lines = Caller { call, requests: &[r#"{"id":7}"#], ..Caller::new("Get") }.run(&replies);
            let ms: u64 = lines[0].strip_prefix("wait ").map_or(0, |ms| ms.parse().unwrap());
            assert!((low..=high).contains(&ms), "{delay}: {ms}");
            sum += ms;
        }
        let found = sum as f64 / 2000.0;
        assert!((found - mean).abs() <= mean * 0.06, "{delay}: {found}");
        let counts = replies.counts();
        assert_eq!(counts, low != high, "{delay}");
        assert!(replies.pick(1, &mut Draws::new(0, &[])).at_once().is_none());
    }
}
