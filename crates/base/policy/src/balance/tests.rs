use std::collections::HashMap;
use std::time::Duration;

use super::*;
use crate::{Instant, Random, SplitMix64};

fn names(count: usize) -> Vec<(u64, u32)> {
    (0..count).map(|index| (hash(format!("10.0.0.{index}:80").as_bytes()), 1)).collect()
}

fn keys() -> impl Iterator<Item = u64> {
    (0..20_000_u32).map(|key| hash(&key.to_be_bytes()))
}

fn shares(pick: impl Fn(u64) -> Option<usize>, count: usize) -> Vec<f64> {
    let mut counts = vec![0_u32; count];
    keys().for_each(|key| counts[pick(key).unwrap()] += 1);
    counts.into_iter().map(|share| f64::from(share) / 20_000.0).collect()
}

#[test]
fn the_hash_is_fnv1a_and_the_finaliser_of_splitmix64() {
    // Vectors of the FNV draft, and the first number of SplitMix64 from the seed 0.
    for (text, sum) in [("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)] {
        assert_eq!(hash::fnv1a(text.as_bytes()), sum, "{text}");
    }
    assert_eq!(crate::random::mix(0x9e37_79b9_7f4a_7c15), 0xe220_a839_7b1d_cdaf);
    assert_eq!(SplitMix64::new(0).draw(), 0xe220_a839);
}

#[test]
fn smooth_weights_are_exact_over_every_run_of_their_sum() {
    let mut random = SplitMix64::new(10);
    for _ in 0..50 {
        let weights: Vec<u32> = (0..random.below(6) + 1).map(|_| random.below(9)).collect();
        let sum: u32 = weights.iter().sum();
        let mut balancer = Weighted::new(weights.len()).unwrap();
        for _ in 0..3 {
            let mut counts = vec![0; weights.len()];
            for _ in 0..sum {
                counts[balancer.pick(|index| weights[index]).unwrap()] += 1;
            }
            assert_eq!(counts, weights);
        }
    }
}

#[test]
fn two_are_different_and_every_pair_is_as_likely() {
    let mut random = SplitMix64::new(11);
    let mut counts: HashMap<(u32, u32), u32> = HashMap::new();
    for _ in 0..20_000 {
        let (first, second) = two(5, &mut random).unwrap();
        assert!(first != second && first < 5 && second < 5);
        *counts.entry((first, second)).or_default() += 1;
    }
    assert_eq!(counts.len(), 20);
    // 1,000 of each are expected; the standard deviation is 31.
    assert!(counts.values().all(|count| (800..1200).contains(count)), "{counts:?}");
    assert_eq!(two(0, &mut random), None);
}

#[test]
fn two_choices_are_far_more_even_than_one() {
    let mut random = SplitMix64::new(12);
    let (mut two_choices, mut one_choice) = ([0_u32; 50], [0_u32; 50]);
    for _ in 0..5000 {
        let load = |index: u32| Load { in_flight: two_choices[index as usize], weight: 1 };
        let pick = least_request(50, load, &mut random).unwrap();
        two_choices[pick as usize] += 1;
        one_choice[random.below(50) as usize] += 1;
    }
    let most = |counts: [u32; 50]| counts.into_iter().max().unwrap();
    assert!(most(two_choices) <= 105, "{}", most(two_choices));
    assert!(most(one_choice) > 110, "the test shows nothing: {}", most(one_choice));
}

#[test]
fn a_ring_shares_by_weight_and_moves_only_what_it_must() {
    let mut endpoints = names(8);
    endpoints[3].1 = 3;
    let ring = Ring::new(&endpoints, 200).unwrap();
    for (index, share) in shares(|key| ring.pick(key, |_| true), 8).into_iter().enumerate() {
        let due = if index == 3 { 0.3 } else { 0.1 };
        assert!((share - due).abs() < due * 0.3, "{index}: {share}");
    }
    let without: Vec<_> = endpoints.iter().copied().enumerate().filter(|(index, _)| *index != 5).collect();
    let smaller = Ring::new(&without.iter().map(|(_, one)| *one).collect::<Vec<_>>(), 200).unwrap();
    let turned = Ring::new(&endpoints.iter().copied().rev().collect::<Vec<_>>(), 200).unwrap();
    for key in keys() {
        let before = ring.pick(key, |_| true).unwrap();
        let after = without[smaller.pick(key, |_| true).unwrap()].0;
        assert!(before == 5 || after == before, "a key moved that had no need to");
        assert_eq!(ring.pick(key, |index| index != 5), Some(after), "an unusable endpoint is as one that is not there");
        assert_eq!(turned.pick(key, |_| true), Some(7 - before), "the order of the list matters");
    }
    assert_eq!(ring.pick(1, |_| false), None);
    assert!(ring.pick(u64::MAX, |_| true).is_some() && ring.pick(0, |_| true).is_some());
}

#[test]
fn maglev_shares_evenly_and_moves_few_keys() {
    let endpoints = names(20);
    let table = Maglev::new(&endpoints).unwrap();
    let mut entries = vec![0_u32; 20];
    table.table().for_each(|index| entries[index] += 1);
    let (least, most) = (entries.iter().min().unwrap(), entries.iter().max().unwrap());
    assert!(most - least <= 1, "{entries:?}");
    let smaller = Maglev::new(&endpoints[..19]).unwrap();
    let moved = keys().filter(|key| {
        let before = table.pick(*key, |_| true);
        before != Some(19) && before != smaller.pick(*key, |_| true)
    });
    // One in twenty is its own; the paper's figure 12 allows for a few hundredths more.
    let moved = moved.count();
    assert!(moved < 20_000 / 10, "{moved} of 20,000 moved");
    for key in keys() {
        let other = table.pick(key, |index| index != 7).unwrap();
        let first = table.pick(key, |_| true).unwrap();
        assert!(other != 7 && (first == 7 || other == first));
    }
}

#[test]
fn maglev_shares_by_weight() {
    let endpoints: Vec<_> = names(4).into_iter().zip([1, 2, 3, 4]).map(|((name, _), weight)| (name, weight)).collect();
    let table = Maglev::new(&endpoints).unwrap();
    for (index, share) in shares(|key| table.pick(key, |_| true), 4).into_iter().enumerate() {
        let due = (index + 1) as f64 / 10.0;
        assert!((share - due).abs() < 0.02, "{index}: {share}");
    }
}

#[test]
fn the_largest_tables_are_filled() {
    let table = Maglev::new(&names(ENDPOINTS_MAX)).unwrap();
    let mut found = vec![false; ENDPOINTS_MAX];
    table.table().for_each(|index| found[index] = true);
    assert!(found.into_iter().all(|is_found| is_found));
}

#[test]
fn outliers_never_pass_their_cap() {
    let mut random = SplitMix64::new(13);
    let mut ejections = 0;
    for _ in 0..100 {
        let (count, percent) = (random.below(12) + 1, random.below(101));
        let (short, long) = (Duration::from_micros(50), Duration::from_micros(300));
        let settings = OutlierSettings::new(random.below(3) + 1, short, long, f64::from(percent) / 100.0).unwrap();
        let mut outliers = Outliers::new(settings, count as usize).unwrap();
        let mut now = Instant::ZERO;
        for _ in 0..300 {
            now = now.after(Duration::from_micros(u64::from(random.below(20))));
            let endpoint = random.below(count) as usize;
            ejections += u32::from(outliers.record(endpoint, random.below(2) == 0, now).is_some());
            let aside = (0..count as usize).filter(|index| outliers.is_ejected(*index, now)).count() as u32;
            assert!(aside * 100 <= percent * count, "{aside} of {count} aside, of {percent} %");
        }
    }
    assert!(ejections > 1000, "only {ejections} ejections: the test shows nothing");
}

#[test]
fn shares_of_priorities_always_make_a_hundred() {
    let mut random = SplitMix64::new(14);
    for _ in 0..2000 {
        let mut tier = || {
            let all = random.below(20);
            Tier { healthy: random.below(all + 3), all }
        };
        let tiers: Vec<Tier> = (0..5).map(|_| tier()).collect();
        let priorities = Priorities::new(&tiers, 140).unwrap();
        let is_alive = tiers.iter().any(|tier| tier.healthy.min(tier.all) > 0);
        assert_eq!(priorities.shares().iter().sum::<u32>(), if is_alive { 100 } else { 0 }, "{tiers:?}");
        let picked = priorities.pick(&mut random);
        assert_eq!(picked.is_some(), is_alive);
        assert!(picked.is_none_or(|index| tiers[index].healthy > 0), "{tiers:?}");
    }
}

#[test]
fn settings_that_cannot_be_are_refused_by_name() {
    let fails = |result: Result<(), crate::SettingsError>, text: &str| {
        assert_eq!(result.unwrap_err().to_string(), text);
    };
    let (us, day) = (Duration::from_micros(1), Duration::from_secs(86_401));
    fails(Weighted::new(0).map(drop), "endpoints must not be empty");
    fails(Weighted::new(4097).map(drop), "endpoints must be at most 4096");
    fails(PeakEwma::new(Duration::ZERO, us).map(drop), "half_life must be more than zero");
    fails(PeakEwma::new(us, day).map(drop), "first must be at most 86400000000000");
    fails(Ring::new(&[], 1).map(drop), "endpoints must not be empty");
    fails(Ring::new(&[(1, 0)], 1).map(drop), "weight must be more than zero");
    fails(Ring::new(&[(1, 1)], 0).map(drop), "points_per_weight must be more than zero");
    fails(Ring::new(&[(1, u32::MAX)], u32::MAX).map(drop), "points must be at most 1048576");
    fails(Maglev::new(&[]).map(drop), "endpoints must not be empty");
    fails(Maglev::new(&[(1, 0)]).map(drop), "weight must be more than zero");
    let preference = |offset, skip| [Preference { offset, skip, weight: 1 }];
    fails(Maglev::of_preferences(9, &preference(0, 1)).map(drop), "size must be a prime number");
    fails(Maglev::of_preferences(7, &preference(7, 1)).map(drop), "offset and skip must not be above size");
    fails(Maglev::of_preferences(7, &preference(0, 0)).map(drop), "skip must be more than zero");
    fails(Maglev::of_preferences(u32::MAX, &preference(0, 1)).map(drop), "size must be at most 524287");
    fails(SlowStart::new(us, 2.0).map(drop), "least must be between 0 and 1");
    fails(SlowStart::new(day, 0.1).map(drop), "window must be at most 86400000000000");
    fails(OutlierSettings::new(0, us, us, 0.5).map(drop), "consecutive_failures must be more than zero");
    fails(OutlierSettings::new(1, us * 2, us, 0.5).map(drop), "ejection must not be above ejection_max");
    fails(OutlierSettings::new(1, us, us, f64::NAN).map(drop), "part_max must be between 0 and 1");
    fails(Priorities::new(&[], 140).map(drop), "tiers must not be empty");
    let tier = [Tier { healthy: 1, all: 1 }];
    fails(Priorities::new(&tier, 99).map(drop), "overprovision must be at least 100");
    fails(Priorities::new(&tier, 10_001).map(drop), "overprovision must be at most 10000");
}

#[test]
fn idle_endpoints_of_different_weights_get_requests_as_their_weights_say() {
    let mut random = SplitMix64::new(15);
    for (weights, share) in [([3, 1], 0.75), ([1, 3], 0.25), ([1, 1], 0.5), ([0, 1], 0.5)] {
        let load = |index: u32| Load { in_flight: 0, weight: weights[index as usize] };
        let first = (0..20_000).filter(|_| least_request(2, load, &mut random) == Some(0)).count();
        // The standard deviation is 70.
        assert!((first as f64 - share * 20_000.0).abs() < 400.0, "{weights:?}: {first}");
    }
}
