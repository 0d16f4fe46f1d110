//! What each decision costs, in nanoseconds of one core. Run with optimisation:
//! `cargo run --release -p leat-policy --example cost`.

use std::hint::black_box;
use std::time::Duration;

use leat_policy::balance::{Load, Maglev, PeakEwma, Ring, RoundRobin, Weighted, hash, least_request};
use leat_policy::breaker::{Answer, Breaker, Ended, Raw, Settings};
use leat_policy::limit::{Cell, Claim, Gcra, Limit, SlidingWindow, admit_all};
use leat_policy::retry::Budget;
use leat_policy::{Instant, SettingsError, SplitMix64};

const ROUNDS: u64 = 200_000;
/// The best of so many, since others use the machine too.
const TRIES: u32 = 15;
const SECOND: Duration = Duration::from_secs(1);

/// Runs `once` with a time that goes on by a microsecond a round.
fn measure<T>(name: &str, mut once: impl FnMut(Instant) -> T) {
    let mut best = f64::INFINITY;
    let mut now_us = 0;
    for _ in 0..TRIES {
        let begin = std::time::Instant::now();
        for _ in 0..ROUNDS {
            now_us += 1;
            black_box(once(black_box(Instant::from_micros(now_us))));
        }
        best = best.min(begin.elapsed().as_secs_f64() * 1e9 / ROUNDS as f64);
    }
    println!("{name:<44}{best:6.1} ns");
}

fn main() -> Result<(), SettingsError> {
    let gcra = Limit::Gcra(Gcra::new(2_000_000, SECOND, 1000)?);
    let empty = Limit::Gcra(Gcra::new(1, Duration::from_secs(3600), 1)?);
    let sliding = Limit::SlidingWindow(SlidingWindow::new(4_000_000, SECOND)?);
    let (a, b, c) = (Cell::new(), Cell::new(), Cell::new());
    measure("limit: gcra, admitted", |now| a.admit(&gcra, now, 1));
    measure("limit: gcra, refused", |now| b.admit(&empty, now, 1));
    measure("limit: sliding window, admitted", |now| c.admit(&sliding, now, 1));
    let (a, b) = (Cell::new(), Cell::new());
    measure("limit: both at once, admitted", |now| {
        admit_all(&mut [Claim::new(&gcra, &a, 1), Claim::new(&sliding, &b, 1)], now)
    });

    let mut breaker = Breaker::new(Settings::new(&Raw::default())?);
    measure("breaker: ask and record", |now| {
        if let Answer::Admit(permit) | Answer::Probe(permit) = breaker.ask(now) {
            breaker.record(permit, now, Ended { failed: false, took: Duration::ZERO });
        }
    });
    let budget = Budget::new(0.2, 10, 100)?;
    let cell = budget.cell();
    measure("retry budget: deposit", |now| budget.deposit(&cell, now));

    let mut random = SplitMix64::new(1);
    let turns = RoundRobin::new();
    measure("balance: round robin of 10", |_| turns.pick(10, |_| true));
    let mut weighted = Weighted::new(10)?;
    measure("balance: weighted, of 10", |_| weighted.pick(|index| index as u32 + 1));
    measure("balance: least request", |_| {
        let load = |index| Load { in_flight: index, weight: 1 };
        least_request(10, load, &mut random)
    });
    let ewma = PeakEwma::new(SECOND, SECOND)?;
    let mut endpoints = [ewma.endpoint(Instant::ZERO); 10];
    measure("balance: peak EWMA, pick and record", |now| {
        let load = |index| endpoints.get(index as usize).map_or(0.0, |one| ewma.load(one, now, 1));
        let pick = PeakEwma::pick(10, load, &mut random).unwrap_or(0);
        if let Some(endpoint) = endpoints.get_mut(pick as usize) {
            ewma.record(endpoint, now, Duration::from_micros(100));
        }
    });
    let names: Vec<(u64, u32)> = (0..10_u32).map(|index| (hash(&index.to_be_bytes()), 1)).collect();
    let (ring, maglev) = (Ring::new(&names, 100)?, Maglev::new(&names)?);
    let key = |now: Instant| hash(&now.as_nanos().to_be_bytes());
    measure("balance: hash of 8 bytes", &key);
    measure("balance: hash and ring of 1,000 points", |now| ring.pick(key(now), |_| true));
    measure("balance: hash and Maglev", |now| maglev.pick(key(now), |_| true));
    Ok(())
}
