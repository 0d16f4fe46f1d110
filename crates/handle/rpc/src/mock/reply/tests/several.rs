//! Choices between replies.

use super::driver::{Caller, replies};

fn ids(text: &str, calls: std::ops::RangeInclusive<u64>) -> Vec<String> {
    let replies = replies("Get", text);
    assert!(replies.counts());
    calls
        .map(|call| {
            Caller { call, ..Caller::new("Get") }.run(&replies)[0].chars().filter(char::is_ascii_digit).collect()
        })
        .collect()
}

#[test]
fn sequences_take_turns() {
    let three = "sequence: [ { message: { id: 1 } }, { message: { id: 2 } }, { message: { id: 3 } } ]";
    for (then, wanted, calls_max) in [
        ("", "1 2 3 3 3 3 3", None),
        ("then: repeat_last", "1 2 3 3 3 3 3", None),
        ("then: loop", "1 2 3 1 2 3 1", None),
        ("then: none", "1 2 3 3 3 3 3", Some(3)),
    ] {
        let text = format!("{three}\n{then}");
        assert_eq!(ids(&text, 1..=7).join(" "), wanted, "{then}");
        assert_eq!(replies("Get", &text).calls_max(), calls_max, "{then}");
    }
}

#[test]
fn sequences_in_sequences_go_on() {
    let text = "sequence: [ { message: { id: 1 } }, { sequence: [ { message: { id: 2 } }, { message: { id: 3 } } ] } ]\nthen: loop";
    assert_eq!(ids(text, 1..=6).join(" "), "1 2 1 3 1 3");
    let text = "sequence: [ { message: { id: 1 } }, { sequence: [ { message: { id: 2 } }, { message: { id: 3 } } ] } ]";
    assert_eq!(ids(text, 1..=5).join(" "), "1 2 3 3 3");
}

#[test]
fn weights_decide_by_the_seed() {
    let text = "weighted: [ { weight: 1, reply: { message: { id: 1 } } }, { weight: 3, reply: { message: { id: 2 } } }, \
                { weight: 0, reply: { message: { id: 3 } } } ]";
    let chosen = ids(text, 1..=4000);
    let count = |id: &str| chosen.iter().filter(|found| *found == id).count();
    assert_eq!(count("3"), 0);
    assert!((880..1120).contains(&count("1")), "{}", count("1"));
    assert_eq!(chosen, ids(text, 1..=4000));
}

#[test]
fn the_same_seed_gives_the_same_replies() {
    let text = "weighted:\n\
                - reply: { message: { customer_name: '{{ fake.sentence }}', id: '{{ fake.int }}' }, delay: { max: 1s } }\n\
                - reply: { sequence: [ { error: '{{ [1, 2, 3] | pick }}' }, { message: { tags: \"{{ ['a', 'b'] | shuffle }}\" } } ], then: loop }";
    let replies = replies("Get", text);
    let run = |seed| {
        let call = |call| Caller { seed, call, ..Caller::new("Get") }.run(&replies);
        (1..=50).map(call).collect::<Vec<_>>()
    };
    for seed in 0..20 {
        assert_eq!(run(seed), run(seed));
    }
    assert_ne!(run(1), run(2));
}
