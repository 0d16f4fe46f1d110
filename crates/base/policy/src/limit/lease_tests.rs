#![allow(clippy::unwrap_used, clippy::panic)]

use super::*;
use crate::{Random, SplitMix64};

const HOLDERS: usize = 3;

/// Holders and a server on one clock, with messages that take their time, come in any order, or get lost.
struct World {
    terms: Leasing,
    random: SplitMix64,
    now: Instant,
    server: u64,
    holders: [Lease; HOLDERS],
    /// What is under way, with when it arrives.
    messages: Vec<(Instant, Message)>,
    /// When what was admitted.
    admitted: Vec<(Instant, u64)>,
    delay_ns: u64,
    lost_in_100: u32,
    asked: u64,
}

#[derive(Clone, Copy)]
enum Message {
    Ask { holder: usize, asked: Instant, need: u64, want: u64 },
    Answer { holder: usize, asked: Instant, need: u64, grant: Grant },
}

impl World {
    fn new(terms: Leasing, seed: u64, delay_ns: u64, lost_in_100: u32) -> Self {
        let now = Instant::from_nanos(1_000_000_000_000);
        let random = SplitMix64::new(seed);
        let (holders, messages, admitted) = (<[Lease; HOLDERS]>::default(), Vec::new(), Vec::new());
        Self { terms, random, now, server: 0, holders, messages, admitted, delay_ns, lost_in_100, asked: 0 }
    }

    fn request(&mut self, holder: usize, cost: u64) {
        match self.holders[holder].take(self.now, cost) {
            Taken::Admit { .. } => {
                self.admitted.push((self.now, cost));
                if self.holders[holder].runs_out(&self.terms, self.now) {
                    self.ask(holder, 0);
                }
            }
            Taken::Refuse { .. } => {}
            Taken::Ask => self.ask(holder, cost),
        }
    }

    fn ask(&mut self, holder: usize, need: u64) {
        let want = self.holders[holder].ask(&self.terms, self.now, need);
        self.asked += 1;
        self.send(Message::Ask { holder, asked: self.now, need, want });
    }

    fn send(&mut self, message: Message) {
        if self.random.below(100) >= self.lost_in_100 {
            let delay = Duration::from_nanos(self.random.part(self.delay_ns));
            self.messages.push((self.now.after(delay), message));
        }
    }

    /// Lets time pass, and messages arrive.
    fn pass(&mut self, time: Duration) {
        let end = self.now.after(time);
        while let Some(next) = (0..self.messages.len()).min_by_key(|at| self.messages[*at].0) {
            if self.messages[next].0 > end {
                break;
            }
            let (at, message) = self.messages.swap_remove(next);
            self.now = at;
            match message {
                Message::Ask { holder, asked, need, want } => {
                    let (grant, state) = self.terms.grant(self.server, self.now, need, want);
                    self.server = state;
                    self.send(Message::Answer { holder, asked, need, grant });
                }
                Message::Answer { holder, asked, need, grant } => self.answered(holder, asked, need, grant),
            }
        }
        self.now = end;
    }

    fn answered(&mut self, holder: usize, asked: Instant, need: u64, grant: Grant) {
        let held = &mut self.holders[holder];
        match grant {
            Grant::Lent(units) => {
                held.granted(&self.terms, asked, units - need);
                if need > 0 && self.now < asked.after(self.terms.term) {
                    self.admitted.push((self.now, need));
                }
            }
            Grant::Refused { retry_after } => held.refused(asked, need, retry_after),
        }
    }

    /// By how many units the worst window is over `burst + rate × T`, below zero if none is.
    fn excess(&self, limit: &Gcra) -> i128 {
        let interval = i128::from(limit.interval_ns());
        let mut worst = i128::MIN;
        for (first, (start, _)) in self.admitted.iter().enumerate() {
            let mut cost = 0;
            for (end, units) in &self.admitted[first..] {
                cost += i128::from(*units);
                let allowed = i128::from(limit.burst()) * interval + end.since(*start).as_nanos() as i128;
                worst = worst.max((cost * interval - allowed).div_euclid(interval));
            }
        }
        worst
    }
}

/// Bursts and pauses at random holders, with time for leases to be half spent, to end and to be asked for again.
fn history(terms: Leasing, limit: &Gcra, seed: u64, delay_ns: u64, lost_in_100: u32) -> World {
    let mut world = World::new(terms, seed, delay_ns, lost_in_100);
    let term_ns = nanos(world.terms.term);
    for _ in 0..120 {
        let holder = world.random.below(HOLDERS as u32) as usize;
        match world.random.below(4) {
            0 => (0..1 + world.random.part(limit.burst())).for_each(|_| world.request(holder, 1)),
            1 => {
                let cost = 1 + world.random.part(limit.burst() / 8);
                world.request(holder, cost);
            }
            _ => world.request(holder, 1),
        }
        let pause = match world.random.below(8) {
            // A lease that waits until just before its end is what the reserve is for.
            0 => term_ns - 1,
            1 => world.random.part(term_ns * 6),
            _ => world.random.part(term_ns / 3),
        };
        world.pass(Duration::from_nanos(pause));
    }
    world
}

fn limits() -> Vec<Gcra> {
    let second = Duration::from_secs(1);
    vec![
        Gcra::new(100, second, 100).unwrap(),
        Gcra::new(50, second, 20).unwrap(),
        Gcra::new(1_000, second, 100).unwrap(),
        Gcra::new(2, second, 12).unwrap(),
    ]
}

#[test]
fn no_window_of_any_history_admits_more_than_the_limit() {
    let mut closest = i128::MIN;
    for limit in limits() {
        let terms = Leasing::new(&limit).unwrap();
        for seed in 0..24 {
            let delay_ns = nanos(terms.term) * [0, 1, 30, 150][seed as usize % 4] / 100;
            let world = history(terms.clone(), &limit, seed, delay_ns, if seed % 3 == 0 { 10 } else { 0 });
            let excess = world.excess(&limit);
            assert!(excess <= 0, "{limit:?}, seed {seed}: {excess} units too many");
            assert!(world.admitted.len() > 10, "{limit:?}, seed {seed}: {}", world.admitted.len());
            closest = closest.max(excess);
        }
    }
    assert!(closest > -40, "no history came near the bound: {closest}");
}

/// A lease as large as any, spent in the last moment of its life, and beside it all that the server has by then.
fn last_moment(terms: Leasing, limit: &Gcra) -> i128 {
    let mut world = World::new(terms, 1, 0, 0);
    let (grant, state) = world.terms.grant(world.server, world.now, 0, world.terms.size_max);
    let Grant::Lent(units) = grant else { panic!("a new server has units") };
    world.server = state;
    let asked = world.now;
    world.holders[0].granted(&world.terms, asked, units);
    world.pass(world.terms.term - Duration::from_nanos(1));
    (0..units).for_each(|_| world.request(0, 1));
    let rest = world.terms.law.next(world.server, world.now, 0).verdict.remaining;
    world.request(1, rest);
    world.pass(Duration::ZERO);
    assert_eq!(world.admitted.iter().map(|(_, cost)| cost).sum::<u64>(), units + rest);
    world.excess(limit)
}

#[test]
fn the_reserve_pays_for_what_is_spent_late() {
    let mut broken = 0;
    for limit in limits() {
        let terms = Leasing::new(&limit).unwrap();
        assert!(last_moment(terms.clone(), &limit) <= 0, "{limit:?}");
        let without = Leasing { law: limit.clone(), reserve: 0, ..terms };
        broken += usize::from(last_moment(without, &limit) > 0);
    }
    assert_eq!(broken, 3, "without a reserve all but the slowest limit admit too much");
}

#[test]
fn a_steady_demand_is_met_and_seldom_asks() {
    let limit = Gcra::new(1_000, Duration::from_secs(1), 1_000).unwrap();
    let mut world = World::new(Leasing::new(&limit).unwrap(), 1, 2_000_000, 0);
    // 900 a second at three holders, of 1,000.
    for number in 0..9_000 {
        world.request(number % HOLDERS, 1);
        world.pass(Duration::from_nanos(1_111_111));
    }
    assert!(world.admitted.len() > 8_990, "{} of 9,000", world.admitted.len());
    assert!(world.asked < 600, "{} questions for 9,000 requests", world.asked);
}

#[test]
fn more_demand_than_the_limit_gets_nearly_all_of_it() {
    let limit = Gcra::new(1_000, Duration::from_secs(1), 200).unwrap();
    let terms = Leasing::new(&limit).unwrap();
    let mut world = World::new(terms, 2, 1_000_000, 0);
    for number in 0..20_000 {
        world.request((number * 7) % HOLDERS, 1);
        world.pass(Duration::from_nanos(500_000));
    }
    let (seconds, admitted) = (10, world.admitted.len());
    assert!(admitted >= 950 * seconds && admitted <= 1_000 * seconds + 200, "{admitted} in {seconds} s");
}

#[test]
fn a_seldom_asked_key_never_holds_what_it_does_not_need() {
    let limit = Gcra::new(10, Duration::from_secs(1), 20).unwrap();
    let mut world = World::new(Leasing::new(&limit).unwrap(), 3, 0, 0);
    for _ in 0..50 {
        world.request(0, 1);
        world.pass(Duration::from_millis(700));
        assert_eq!(world.holders[0].left(world.now), 0);
    }
    assert_eq!((world.admitted.len(), world.asked), (50, 50));
}

#[test]
fn what_was_refused_is_not_asked_again_before_its_time() {
    let limit = Gcra::new(1, Duration::from_secs(1), 4).unwrap();
    let mut world = World::new(Leasing::new(&limit).unwrap(), 4, 0, 0);
    for _ in 0..100 {
        world.request(0, 1);
        world.pass(Duration::from_millis(1));
    }
    // Three of four can be lent, each asked for, or two at once; then one refusal.
    assert_eq!(world.admitted.len(), 3);
    assert!(world.asked <= 4, "{}", world.asked);
    let mut lease = Lease::default();
    lease.refused(world.now, 3, Some(Duration::from_secs(1)));
    assert_eq!(lease.take(world.now, 3), Taken::Refuse { retry_after: Some(Duration::from_secs(1)) });
    assert_eq!(lease.take(world.now, 2), Taken::Ask, "a cheaper one may pass");
    assert_eq!(lease.take(world.now.after(Duration::from_secs(1)), 3), Taken::Ask);
}

#[test]
fn a_cost_that_is_given_back_is_there_again_for_as_long_as_its_lease() {
    let limit = Gcra::new(100, Duration::from_secs(1), 100).unwrap();
    let terms = Leasing::new(&limit).unwrap();
    let now = Instant::from_nanos(1);
    let mut lease = Lease::default();
    lease.granted(&terms, now, 2);
    let Taken::Admit { until } = lease.take(now, 2) else { panic!("there were two") };
    assert_eq!(lease.take(now, 1), Taken::Ask);
    lease.give_back(until, 2);
    assert_eq!(lease.left(now), 2);
    assert_eq!(lease.left(until), 0, "the term is over");
}

#[test]
fn limits_that_cannot_be_lent_say_so() {
    for (quota, burst, wanted) in [(1, 1, 2), (1_000, 79, 80), (1_000_000, 79_999, 80_000)] {
        let limit = Gcra::new(quota, Duration::from_secs(1), burst).unwrap();
        assert_eq!(Leasing::new(&limit), Err(SettingsError::TooSmall { name: "burst", min: wanted }));
        let limit = Gcra::new(quota, Duration::from_secs(1), wanted).unwrap();
        assert!(Leasing::new(&limit).is_ok(), "{quota} {wanted}");
    }
}

#[test]
fn the_error_is_what_was_lent_and_not_spent_until_the_rate_has_brought_it_again() {
    let limit = Gcra::new(100, Duration::from_secs(1), 100).unwrap();
    let terms = Leasing::new(&limit).unwrap();
    let start = Instant::from_nanos(1_000_000_000);
    let mut lease = Lease::default();
    assert_eq!(lease.error(&terms, start), 0);
    lease.granted(&terms, start, 10);
    assert_eq!(lease.error(&terms, start), 10);
    lease.take(start, 4);
    assert_eq!(lease.error(&terms, start), 6);
    let over = start.after(terms.term());
    assert_eq!(lease.error(&terms, over), 6, "nobody can spend them, and the server still counts them");
    assert_eq!(lease.error(&terms, over.after(Duration::from_millis(35))), 3);
    let later = over.after(Duration::from_millis(20));
    lease.granted(&terms, later, 5);
    assert_eq!(lease.error(&terms, later), 4 + 5);
    assert_eq!(lease.error(&terms, later.after(Duration::from_secs(9))), 0);
}
