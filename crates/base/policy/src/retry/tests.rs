use std::time::{Duration, SystemTime};

use super::*;
use crate::{Instant, Random, SettingsError, SplitMix64};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn waits_stay_within_their_jitters_range_at_every_retry() {
    let mut random = SplitMix64::new(5);
    for (jitter, from) in [(Jitter::Full, 0), (Jitter::Equal, 2)] {
        let backoff = Backoff::new(ms(10), ms(1000), jitter).unwrap();
        for number in (0..70).chain([u32::MAX]) {
            let ceiling = backoff.ceiling(number);
            assert_eq!(ceiling, ms((10_u64 << number.min(10)).min(1000)), "retry {number}");
            let least = if from == 0 { Duration::ZERO } else { ceiling / from };
            for _ in 0..50 {
                let wait = backoff.wait(number, &mut random);
                assert!(wait >= least && wait < ceiling, "{jitter:?} {number}: {wait:?}");
            }
        }
    }
}

#[test]
fn a_budget_is_never_passed() {
    let mut random = SplitMix64::new(6);
    let mut retries_all = 0;
    for round in 0..200 {
        let (ratio, per_second, burst) = (random.below(1001), random.below(20), random.below(10) + 1);
        let budget = Budget::new(f64::from(ratio) / 1000.0, per_second, burst).unwrap();
        let cell = budget.cell();
        let (mut now_ms, mut furthest_ms) = (0, 0);
        // For each moment, before and after it: the furthest time that the budget was told, requests, retries.
        let mut seen = Vec::new();
        let (mut requests, mut retries) = (0_u64, 0_u64);
        for _ in 0..150 {
            now_ms += random.part(120);
            let stepped = if random.below(6) == 0 { now_ms.saturating_sub(500) } else { now_ms };
            let now = Instant::from_nanos(stepped * 1_000_000);
            let before = (furthest_ms, requests, retries);
            furthest_ms = furthest_ms.max(stepped);
            match random.below(3) {
                0 => {
                    budget.deposit(&cell, now);
                    requests += 1;
                }
                _ => retries += u64::from(budget.withdraw(&cell, now)),
            }
            seen.push((before, (furthest_ms, requests, retries)));
        }
        for (index, (from, _)) in seen.iter().enumerate() {
            for (_, to) in &seen[index..] {
                let most = u64::from(burst) * 1000
                    + (to.1 - from.1) * u64::from(ratio)
                    + (to.0 - from.0) * u64::from(per_second);
                assert!((to.2 - from.2) * 1000 <= most, "round {round}: {budget:?}");
            }
        }
        retries_all += retries;
    }
    assert!(retries_all > 2_000, "only {retries_all} retries: the test shows nothing");
}

#[test]
fn a_budget_lives_through_the_end_of_time() {
    let budget = Budget::new(1.0, u32::MAX, Budget::BURST_MAX).unwrap();
    let cell = budget.cell();
    for now in [Instant::MAX, Instant::ZERO, Instant::MAX] {
        assert!(budget.withdraw(&cell, now));
        budget.deposit(&cell, now);
        assert!(budget.available(&cell, now) <= u64::from(Budget::BURST_MAX));
    }
}

#[test]
fn settings_that_cannot_be_are_refused_by_name() {
    let fails = |result: Result<(), SettingsError>, text: &str| assert_eq!(result.unwrap_err().to_string(), text);
    fails(Backoff::new(ms(0), ms(1), Jitter::Full).map(drop), "base must be more than zero");
    fails(Backoff::new(ms(2), ms(1), Jitter::Full).map(drop), "base must not be above max");
    fails(Backoff::new(ms(2), Duration::MAX, Jitter::Full).map(drop), "max must be at most 86400000000000");
    for ratio in [-0.1, 1.1, f64::NAN] {
        fails(Budget::new(ratio, 0, 1).map(drop), "ratio must be between 0 and 1");
    }
    fails(Budget::new(0.1, 0, 0).map(drop), "burst must be more than zero");
    fails(Budget::new(0.1, 0, 16_778).map(drop), "burst must be at most 16777");
    fails(Conditions::default().with_statuses(&[99], &[]).map(drop), "status must be at least 100");
    fails(Conditions::default().with_statuses(&[], &[600]).map(drop), "status must be at most 599");
    let backoff = Backoff::new(ms(1), ms(1), Jitter::Full).unwrap();
    fails(Retry::new(101, backoff, ms(1), Conditions::default()).map(drop), "retries_max must be at most 100");
}

#[test]
fn no_bytes_of_a_retry_after_panic() {
    let mut random = SplitMix64::new(7);
    let signs = b"0123456789 -,:GMTSunov\xff\0";
    for _ in 0..20_000 {
        let length = random.below(40);
        let value: Vec<u8> = (0..length).map(|_| signs[random.below(signs.len() as u32) as usize]).collect();
        let _ = parse_retry_after(&value, SystemTime::UNIX_EPOCH);
    }
}

#[test]
fn every_status_that_is_set_is_found_and_no_other() {
    let conditions = Conditions::default().with_statuses(&[100, 163, 164, 599], &[425]).unwrap();
    for status in 0..=u16::MAX {
        let expected = [100, 163, 164, 425, 599].contains(&status);
        let found = conditions.allow(Idempotency::Idempotent, Outcome::Status(status)).is_ok();
        assert_eq!(found, expected, "{status}");
        let any = conditions.allow(Idempotency::NotIdempotent, Outcome::Status(status)).is_ok();
        assert_eq!(any, status == 425, "{status}");
    }
}
