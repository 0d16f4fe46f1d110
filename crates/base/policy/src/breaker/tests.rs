use std::time::Duration;

use super::*;
use crate::{Instant, Random, SplitMix64};

const FAILED: Ended = Ended { failed: true, took: Duration::ZERO };
const FINE: Ended = Ended { failed: false, took: Duration::ZERO };

fn us(us: u64) -> Instant {
    Instant::from_micros(us)
}

/// The window as a list of all calls.
fn rate_by_scan(calls: &[(u64, bool)], size: WindowSize, now_us: u64) -> (usize, usize) {
    let within: Vec<_> = match size {
        WindowSize::Calls(most) => calls.iter().rev().take(most as usize).collect(),
        WindowSize::Time(time) => {
            let slot = time.as_micros() as u64 / 10;
            calls.iter().filter(|(at, _)| at / slot + 10 > now_us / slot).collect()
        }
    };
    (within.len(), within.iter().filter(|(_, failed)| *failed).count())
}

#[test]
fn it_trips_exactly_when_a_scan_of_all_calls_says_so() {
    let mut random = SplitMix64::new(8);
    let mut trips = 0;
    for round in 0..400_u32 {
        let size = if round % 2 == 0 {
            WindowSize::Calls(random.below(20) + 5)
        } else {
            WindowSize::Time(Duration::from_micros(u64::from(random.below(50) + 1) * 10))
        };
        let raw =
            Raw { window: size, calls_min: 5, failure_rate: Some(0.4), consecutive_failures: None, ..Raw::default() };
        let mut breaker = Breaker::new(Settings::new(&raw).unwrap());
        let mut calls = Vec::new();
        let mut now_us = 0;
        for _ in 0..200 {
            now_us += u64::from(random.below(40));
            let Answer::Admit(permit) = breaker.ask(us(now_us)) else { panic!("it should admit") };
            let failed = random.below(10) < 3;
            calls.push((now_us, failed));
            let change = breaker.record(permit, us(now_us), Ended { failed, took: Duration::ZERO });
            let (all, failures) = rate_by_scan(&calls, size, now_us);
            let expected = all >= 5 && failures * 10 >= all * 4;
            assert_eq!(change.is_some(), expected, "round {round}: {failures} of {all}");
            if expected {
                trips += 1;
                break;
            }
        }
    }
    assert!(trips > 100, "only {trips} trips: the test shows nothing");
}

/// The whole machine as the pages tell it, with every permit remembered by the era it was given in.
#[test]
fn random_events_keep_every_invariant() {
    let mut random = SplitMix64::new(9);
    let mut seen = [0_u32; 5];
    for _ in 0..300 {
        let raw = Raw {
            window: WindowSize::Calls(6),
            calls_min: 3,
            failure_rate: Some(0.5),
            consecutive_failures: Some(3),
            probes: random.below(3) + 1,
            open: Duration::from_micros(100),
            open_max: Duration::from_micros(400),
            ..Raw::default()
        };
        let mut breaker = Breaker::new(Settings::new(&raw).unwrap());
        let mut now = 0;
        let mut permits: Vec<(Permit, State)> = Vec::new();
        let mut refused_until = 0;
        for _ in 0..300 {
            now += u64::from(random.below(60));
            let before = breaker.state();
            if random.below(2) == 0 || permits.is_empty() {
                match breaker.ask(us(now)) {
                    Answer::Admit(permit) => {
                        assert_eq!((before, breaker.state()), (State::Admit, State::Admit));
                        permits.push((permit, State::Admit));
                    }
                    Answer::Probe(permit) => {
                        assert_eq!(breaker.state(), State::Probe);
                        assert!(now >= refused_until);
                        permits.push((permit, State::Probe));
                        let of_era = permits.iter().filter(|(other, _)| other.era == permit.era).count();
                        assert!(of_era <= raw.probes as usize, "{of_era} probes at once");
                    }
                    Answer::Refuse { retry_after } => {
                        assert_ne!(before, State::Admit);
                        assert_eq!(retry_after.is_some(), before == State::Refuse);
                    }
                }
                continue;
            }
            let (permit, given_in) = permits.swap_remove(random.below(permits.len() as u32) as usize);
            let is_late = permit.era != breaker.era;
            if random.below(8) == 0 {
                breaker.release(permit);
                assert_eq!(breaker.state(), before);
                continue;
            }
            let failed = random.below(3) == 0;
            let change = breaker.record(permit, us(now), if failed { FAILED } else { FINE });
            if is_late {
                seen[0] += 1;
                assert_eq!((change, breaker.state()), (None, before), "a late result changed something");
                continue;
            }
            assert_eq!(given_in, before);
            match change {
                None => {
                    seen[1] += 1;
                    assert!(before == State::Admit || !failed, "a failed probe changed nothing");
                }
                Some(Change { from: State::Admit, to: State::Refuse }) => seen[2] += 1,
                Some(Change { from: State::Probe, to: State::Refuse }) => {
                    seen[3] += 1;
                    assert!(failed);
                }
                Some(Change { from: State::Probe, to: State::Admit }) => {
                    seen[4] += 1;
                    assert!(!failed);
                }
                Some(other) => panic!("there is no step {other:?}"),
            }
            if breaker.state() == State::Refuse {
                let Answer::Refuse { retry_after: Some(time) } = breaker.ask(us(now)) else {
                    panic!("it just tripped")
                };
                let time = time.as_micros() as u64;
                assert!((100..=400).contains(&time), "{time}");
                refused_until = now + time;
            }
        }
    }
    assert!(seen.iter().all(|count| *count > 100), "too little was seen: {seen:?}");
}

#[test]
fn a_clock_at_its_end_or_behind_does_not_panic() {
    for window in [WindowSize::Calls(1), WindowSize::Time(Duration::from_nanos(10))] {
        let raw = Raw { window, calls_min: 1, failure_rate: Some(1.0), ..Raw::default() };
        let mut breaker = Breaker::new(Settings::new(&raw).unwrap());
        for now in [Instant::MAX, Instant::ZERO, Instant::MAX, Instant::ZERO] {
            if let Answer::Admit(permit) | Answer::Probe(permit) = breaker.ask(now) {
                breaker.record(permit, now, FAILED);
            }
        }
    }
}

#[test]
fn settings_that_cannot_be_are_refused_by_name() {
    let day = 86_400_000_000_000_u64;
    let second = Duration::from_secs(1);
    let raw = Raw::default();
    let cases = [
        (Raw { window: WindowSize::Calls(0), ..raw }, "window must be more than zero".to_owned()),
        (Raw { window: WindowSize::Calls(4097), ..raw }, "window must be at most 4096".to_owned()),
        (Raw { window: WindowSize::Calls(19), ..raw }, "calls_min must not be above window".to_owned()),
        (Raw { window: WindowSize::Time(Duration::ZERO), ..raw }, "window must be more than zero".to_owned()),
        (Raw { window: WindowSize::Time(Duration::MAX), ..raw }, format!("window must be at most {day}")),
        (Raw { calls_min: 0, ..raw }, "calls_min must be more than zero".to_owned()),
        (Raw { failure_rate: Some(0.0), ..raw }, "failure_rate must be more than zero".to_owned()),
        (Raw { failure_rate: Some(1.01), ..raw }, "failure_rate must be between 0 and 1".to_owned()),
        (Raw { slow_rate: Some(f64::NAN), ..raw }, "slow_rate must be between 0 and 1".to_owned()),
        (Raw { consecutive_failures: Some(0), ..raw }, "consecutive_failures must be more than zero".to_owned()),
        (Raw { probes: 0, ..raw }, "probes must be more than zero".to_owned()),
        (Raw { open: Duration::ZERO, ..raw }, "open must be more than zero".to_owned()),
        (Raw { open: second * 61, ..raw }, "open must not be above open_max".to_owned()),
        (Raw { open_max: Duration::MAX, ..raw }, format!("open_max must be at most {day}")),
    ];
    for (raw, text) in cases {
        assert_eq!(Settings::new(&raw).unwrap_err().to_string(), text, "{raw:?}");
    }
    assert!(Settings::new(&raw).is_ok());
}

#[test]
fn a_look_has_what_the_window_has_now_and_changes_nothing() {
    let window = WindowSize::Time(Duration::from_micros(100));
    let raw = Raw { window, calls_min: 5, failure_rate: Some(0.5), consecutive_failures: Some(4), ..Raw::default() };
    let mut breaker = Breaker::new(Settings::new(&raw).unwrap());
    for (at, end) in [(10, FAILED), (20, FINE), (30, FAILED), (40, FAILED)] {
        let Answer::Admit(permit) = breaker.ask(us(at)) else { panic!("it should admit") };
        breaker.record(permit, us(at), end);
    }
    let look = |calls, failures| Look {
        state: State::Admit,
        calls,
        failures,
        slow: 0,
        consecutive_failures: 2,
        retry_after: Duration::ZERO,
    };
    for (at, calls, failures) in [(40, 4, 3), (40, 4, 3), (119, 3, 2), (500, 0, 0)] {
        assert_eq!(breaker.look(us(at)), look(calls, failures), "at {at}");
    }
    // The calls that the window has lost do not trip it; the failures in a row do.
    for (at, state) in [(510, State::Admit), (520, State::Refuse)] {
        let Answer::Admit(permit) = breaker.ask(us(at)) else { panic!("it should admit") };
        breaker.record(permit, us(at), FAILED);
        assert_eq!(breaker.look(us(at)).state, state);
    }
    let Answer::Refuse { retry_after } = breaker.ask(us(530)) else { panic!("it should refuse") };
    assert_eq!(Some(breaker.look(us(530)).retry_after), retry_after);
}

#[test]
fn a_reset_begins_anew_and_ignores_what_is_under_way() {
    let raw = Raw { failure_rate: None, consecutive_failures: Some(2), ..Raw::default() };
    let mut breaker = Breaker::new(Settings::new(&raw).unwrap());
    let Answer::Admit(before) = breaker.ask(us(1)) else { panic!("it should admit") };
    breaker.record(before, us(1), FAILED);
    breaker.reset(us(2));
    assert_eq!(breaker.record(before, us(3), FAILED), None, "it is of the time before");
    assert_eq!(breaker.look(us(3)).consecutive_failures, 0);
    let trip = |breaker: &mut Breaker, at: u64| {
        for at in [at, at + 1] {
            let Answer::Admit(permit) = breaker.ask(us(at)) else { panic!("it should admit") };
            breaker.record(permit, us(at), FAILED);
        }
        breaker.look(us(at + 1))
    };
    let first = trip(&mut breaker, 4);
    assert_eq!(first.state, State::Refuse);
    breaker.reset(us(6));
    assert!(matches!(breaker.ask(us(6)), Answer::Admit(_)), "it admits at once");
    assert_eq!(trip(&mut breaker, 7).retry_after, first.retry_after, "the series of trips begins anew too");
}
