use std::time::Duration;

use super::{Gradient, Raw, Settings};
use crate::{Instant, Random, SettingsError, SplitMix64};

/// A server that works on so many requests at once; more of them share it.
struct Server {
    at_once: u32,
    service: Duration,
}

impl Server {
    fn takes(&self, in_flight: u32) -> Duration {
        self.service.mul_f64((f64::from(in_flight) / f64::from(self.at_once)).max(1.0))
    }
}

/// Lets `demand` requests come at once for `time`, with latencies that vary by a tenth.
fn load(
    gradient: &mut Gradient,
    server: &Server,
    demand: u32,
    now: &mut Instant,
    time: Duration,
    random: &mut SplitMix64,
) {
    let end = now.after(time);
    while *now < end {
        let in_flight = demand.min(gradient.limit()).max(1);
        let took = server.takes(in_flight);
        let varied = took.mul_f64(0.9 + f64::from(random.below(201)) / 1000.0);
        *now = now.after(took / in_flight);
        gradient.record(*now, varied, in_flight);
    }
}

/// Where the limit comes to rest by the definition: `limit = tolerance × at_once + sqrt(limit)`.
fn rest(tolerance: f64, at_once: u32) -> f64 {
    let root = (1.0 + (1.0 + 4.0 * tolerance * f64::from(at_once)).sqrt()) / 2.0;
    root * root
}

fn settings(raw: Raw) -> Settings {
    Settings::new(&raw).unwrap()
}

#[test]
fn an_overload_that_lasts_leaves_the_server_busy_and_latency_bounded() {
    let mut random = SplitMix64::new(21);
    for round in 0..20 {
        let server =
            Server { at_once: 1 + random.below(100), service: Duration::from_millis(u64::from(1 + random.below(20))) };
        let raw = Raw::default();
        let (mut gradient, mut now) = (Gradient::new(settings(raw)), Instant::ZERO);
        load(&mut gradient, &server, 10_000, &mut now, Duration::from_secs(150), &mut random);
        // What a measurement at ease leaves has gone again after some seconds.
        let limit = f64::from(gradient.limit());
        let wanted = rest(1.5, server.at_once.max(raw.min));
        let case = format!("round {round}: {limit} of {wanted} for {}", server.at_once);
        assert!(limit >= f64::from(server.at_once) && limit >= f64::from(raw.min), "{case}");
        assert!(limit <= wanted * 1.2 + 1.0, "{case}");
    }
}

#[test]
fn a_limit_that_nobody_comes_near_stays() {
    let (mut random, mut now) = (SplitMix64::new(22), Instant::ZERO);
    let mut gradient = Gradient::new(settings(Raw { min: 50, ..Raw::default() }));
    let server = Server { at_once: 100, service: Duration::from_millis(5) };
    load(&mut gradient, &server, 20, &mut now, Duration::from_secs(60), &mut random);
    assert_eq!(gradient.limit(), 50);
}

#[test]
fn an_upstream_that_became_slower_for_good_gets_its_load_again() {
    let (mut random, mut now) = (SplitMix64::new(23), Instant::ZERO);
    let mut gradient = Gradient::new(settings(Raw::default()));
    let fast = Server { at_once: 50, service: Duration::from_millis(5) };
    load(&mut gradient, &fast, 1_000, &mut now, Duration::from_secs(100), &mut random);
    assert!(gradient.limit() >= 50, "{}", gradient.limit());
    let slow = Server { at_once: 50, service: Duration::from_millis(15) };
    load(&mut gradient, &slow, 1_000, &mut now, Duration::from_secs(5), &mut random);
    assert!(gradient.limit() < 25, "it looks like load: {}", gradient.limit());
    load(&mut gradient, &slow, 1_000, &mut now, Duration::from_secs(100), &mut random);
    assert!(gradient.limit() >= 50, "{}", gradient.limit());
}

#[test]
fn whatever_is_told_the_limit_stays_within_its_bounds() {
    let mut random = SplitMix64::new(24);
    for _ in 0..200 {
        let min = 1 + random.below(10);
        let max = min + random.below(100);
        let raw = Raw { min, max, samples_min: 1 + random.below(3), ..Raw::default() };
        let mut gradient = Gradient::new(settings(raw));
        for _ in 0..500 {
            let now = Instant::from_nanos(u64::from(random.draw()) << random.below(32));
            let took = Duration::from_nanos(u64::from(random.draw()) << random.below(32));
            gradient.record(now, took, random.draw() >> random.below(32));
            assert!((min..=max).contains(&gradient.limit()), "{} of {min} to {max}", gradient.limit());
        }
    }
}

#[test]
fn settings_that_contradict_each_other_are_refused() {
    let raw = Raw::default();
    for (raw, wrong) in [
        (Raw { min: 0, ..raw }, SettingsError::Zero { name: "limit_min" }),
        (Raw { min: 9, max: 8, ..raw }, SettingsError::Above { name: "limit_min", bound: "limit_max" }),
        (Raw { max: 1_000_001, ..raw }, SettingsError::TooLarge { name: "limit_max", max: 1_000_000 }),
        (Raw { window: Duration::ZERO, ..raw }, SettingsError::Zero { name: "window" }),
        (Raw { samples_min: 0, ..raw }, SettingsError::Zero { name: "samples_min" }),
        (Raw { tolerance_percent: 99, ..raw }, SettingsError::TooSmall { name: "tolerance_percent", min: 100 }),
        (Raw { smoothing_percent: 101, ..raw }, SettingsError::TooLarge { name: "smoothing_percent", max: 100 }),
        (Raw { smoothing_percent: 0, ..raw }, SettingsError::Zero { name: "smoothing_percent" }),
    ] {
        assert_eq!(Settings::new(&raw), Err(wrong));
    }
    assert!(Settings::new(&Raw { min: 8, max: 8, ..raw }).is_ok(), "a limit that does not move");
}
