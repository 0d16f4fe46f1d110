use std::sync::Arc;
use std::time::Duration;

use leat_policy::balance::OutlierSettings;
use leat_policy::breaker::{Raw, Settings as BreakerSettings};

use super::*;

fn at(ms: u64) -> Instant {
    Instant::from_micros(ms * 1_000)
}

fn named(names: &[&str]) -> Vec<(Arc<str>, Arc<str>)> {
    names.iter().map(|name| (Arc::from(*name), Arc::from(*name))).collect()
}

fn settings(failures: u32, breaker: Option<u32>) -> Settings {
    let outliers = OutlierSettings::new(failures, Duration::from_secs(10), Duration::from_secs(60), 0.5);
    let breaker = breaker.map(|failures| {
        let raw = Raw { consecutive_failures: Some(failures), ..Raw::default() };
        (BreakerScope::Endpoint, BreakerSettings::new(&raw).unwrap())
    });
    Settings {
        outliers: Some(outliers.unwrap()),
        breaker,
        budget: None,
        concurrency: None,
        hedges: false,
        is_checked: false,
        starts_slowly: false,
        drains: false,
    }
}

fn fail(group: &Group, endpoint: usize, times: usize, now: Instant) {
    for _ in 0..times {
        let permit = group.ask(endpoint, now).unwrap();
        group.record(endpoint, permit, true, Duration::ZERO, now);
    }
}

#[test]
fn an_endpoint_is_aside_after_its_failures_and_comes_back() {
    let group = Group::new(settings(3, None), &named(&["a", "b"]), None, at(1));
    fail(&group, 0, 2, at(1));
    group.record(0, None, false, Duration::ZERO, at(1));
    fail(&group, 0, 2, at(1));
    assert!(!group.is_aside(0, at(1)), "a success in between begins anew");
    fail(&group, 0, 1, at(1));
    assert!(group.is_aside(0, at(10_000)) && !group.is_aside(0, at(10_001)));
    fail(&group, 1, 9, at(2));
    assert!(!group.is_aside(1, at(2)), "never more than half of them");
}

#[test]
fn what_is_known_of_an_endpoint_outlives_a_change_of_the_list_and_of_settings() {
    let first = Group::new(settings(3, Some(2)), &named(&["a", "b"]), None, at(1));
    fail(&first, 0, 2, at(1));
    fail(&first, 1, 1, at(1));
    assert!(first.ask(0, at(1)).is_err());
    let second = Group::new(settings(3, Some(2)), &named(&["c", "b", "a"]), Some(&first), at(1));
    assert!(second.ask(2, at(1)).is_err(), "the breaker of `a` is open still");
    assert!(second.ask(0, at(1)).is_ok() && second.ask(1, at(1)).is_ok());
    fail(&second, 1, 1, at(1));
    second.record(1, None, true, Duration::ZERO, at(1));
    assert!(second.is_aside(1, at(2)), "the failure before the change counts");
    let third = Group::new(settings(3, Some(5)), &named(&["b", "a"]), Some(&second), at(2));
    assert!(third.is_aside(0, at(2)), "what is aside stays so");
    assert!(third.ask(1, at(2)).is_ok(), "a breaker with other settings begins anew");
}

#[test]
fn a_whole_upstream_has_one_breaker() {
    let mut settings = settings(3, Some(2));
    settings.outliers = None;
    settings.breaker = settings.breaker.map(|(_, own)| (BreakerScope::Upstream, own));
    let group = Group::new(settings, &named(&["a", "b"]), None, at(1));
    for endpoint in [0, 1] {
        let permit = group.ask_whole(at(1)).unwrap();
        assert!(permit.is_some());
        group.record(endpoint, permit, true, Duration::ZERO, at(1));
    }
    assert_eq!(group.ask_whole(at(1)), Err(Reason::UpstreamBreaker));
    assert_eq!(group.whole(), Some((State::Refuse, 1)));
}

#[test]
fn an_endpoint_came_when_it_was_back_or_was_added_but_not_at_the_start() {
    let first = Group::new(settings(2, None), &named(&["a", "b"]), None, at(1));
    assert_eq!([first.came(0), first.came(1)], [None, None]);
    fail(&first, 0, 2, at(1));
    assert_eq!(first.came(0), Some(at(10_001)), "when its time aside is over");
    first.set_unwell(1, true, at(2));
    assert_eq!(first.came(1), None, "it has not come back yet");
    first.set_unwell(1, false, at(3));
    assert_eq!(first.came(1), Some(at(3)));
    let second = Group::new(settings(2, None), &named(&["c", "b"]), Some(&first), at(9));
    assert_eq!([second.came(0), second.came(1)], [Some(at(9)), Some(at(3))]);
}

#[test]
fn who_may_come_again_is_told_by_the_breaker_that_probes_first() {
    let mut settings = settings(9, Some(1));
    (settings.is_checked, settings.drains) = (true, true);
    let group = Group::new(settings, &named(&["a", "b", "c", "d"]), None, at(1));
    // Each is open for a second from then on.
    for (endpoint, ms) in [(0, 500), (1, 200), (2, 100), (3, 100)] {
        fail(&group, endpoint, 1, at(ms));
        assert!(group.ask(endpoint, at(600)).is_err());
    }
    group.set_unwell(2, true, at(600));
    group.set_draining("d", true, at(600));
    assert_eq!(group.refuses_for(at(600)), Duration::from_millis(600));
    assert_eq!(group.refuses_for(at(2_000)), Duration::ZERO);
}
