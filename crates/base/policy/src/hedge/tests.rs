use std::time::Duration;

use super::{After, Asked, Hedge};
use crate::retry::{Body, Budget, Idempotency, Stop};
use crate::{Deadline, Instant, SettingsError};

const TIME: Duration = Duration::from_millis(50);

#[test]
fn a_hedge_begins_where_everything_allows_it_and_only_then_costs_a_token() {
    let hedge = Hedge::new(After::Time(TIME), 1).unwrap();
    let now = Instant::from_micros(1_000);
    let fine = Asked { hedges: 0, idempotency: Idempotency::Idempotent, body: Body::Whole };
    let soon = Deadline::after(now, TIME);
    for (asked, deadline, answer, left) in [
        (fine, Deadline::NONE, Ok(()), 0),
        (fine, soon, Ok(()), 0),
        (Asked { idempotency: Idempotency::NotIdempotent, ..fine }, soon, Err(Stop::NotIdempotent), 1),
        (Asked { body: Body::Consumed, ..fine }, soon, Err(Stop::BodyConsumed), 1),
        (Asked { hedges: 1, ..fine }, soon, Err(Stop::Exhausted), 1),
        (fine, Deadline::at(now), Err(Stop::Deadline), 1),
    ] {
        let budget = Budget::new(0.0, 0, 1).unwrap();
        let cell = budget.cell();
        assert_eq!(hedge.ask(&asked, now, deadline, (&budget, &cell)), answer, "{asked:?}");
        assert_eq!(budget.available(&cell, now), left, "{asked:?}");
        if answer.is_ok() {
            assert_eq!(hedge.ask(&asked, now, deadline, (&budget, &cell)), Err(Stop::Budget));
        }
    }
}

#[test]
fn it_waits_for_a_time_or_for_what_most_requests_take() {
    let fixed = Hedge::new(After::Time(TIME), 2).unwrap();
    assert!(fixed.latencies().is_none());
    for (hedges, wanted) in [(0, Some(TIME)), (1, Some(TIME)), (2, None)] {
        assert_eq!(fixed.wait(hedges, None), wanted);
    }
    let measured = Hedge::new(After::Percent(95), 1).unwrap();
    let mut latencies = measured.latencies().unwrap();
    assert_eq!(measured.wait(0, Some(&latencies)), None, "nothing is known");
    for number in 0..100 {
        latencies.record(Duration::from_millis(if number % 25 == 0 { 1_000 } else { 10 }));
    }
    let wait = measured.wait(0, Some(&latencies)).unwrap();
    assert!((10..=13).contains(&wait.as_millis()), "{wait:?}");
    assert_eq!(measured.wait(1, Some(&latencies)), None);
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    for (after, hedges_max, wrong) in [
        (After::Time(Duration::ZERO), 1, SettingsError::Zero { name: "after" }),
        (After::Percent(0), 1, SettingsError::Zero { name: "after" }),
        (After::Percent(100), 1, SettingsError::TooLarge { name: "after", max: 99 }),
        (After::Time(TIME), 0, SettingsError::Zero { name: "max" }),
        (After::Time(TIME), 11, SettingsError::TooLarge { name: "max", max: 10 }),
    ] {
        assert_eq!(Hedge::new(after, hedges_max), Err(wrong));
    }
}
