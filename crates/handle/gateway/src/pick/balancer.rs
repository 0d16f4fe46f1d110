use std::cell::{Cell, RefCell};
use std::time::Duration;

use leat_message::Exchange;
use leat_policy::balance::{
    Latency, Load, Maglev, PeakEwma, Priorities, Ring, SlowStart, Tier, Weighted, hash, least_request,
};
use leat_policy::{Instant, SplitMix64};

use super::clock::now;
use super::key::{Asking, key};
use super::start::start;
use super::turns::Turns;
use crate::admit::ClientAddress;
use crate::config::{Balance, HashBy, HashTable};

/// The time in which a latency loses half its weight. Ten seconds: an endpoint that was slow is tried again before people
/// have forgotten why.
const HALF_LIFE: Duration = Duration::from_secs(10);
/// What is expected of an endpoint that was never measured: little, so that it is tried.
const FIRST: Duration = Duration::from_millis(1);
/// What a failure counts as: it is quick, and must not look like speed.
const FAILURE: Duration = Duration::from_secs(1);
/// Points of an endpoint of weight 1 on a ring, where there is room for so many.
const RING_POINTS: u64 = 100;
/// As Envoy's: a tier carries everything until fewer than five in seven of it are well.
const OVERPROVISION_PERCENT: u32 = 140;
/// The part of its weight that an endpoint begins with.
const SLOW_START_LEAST: f64 = 0.1;
/// Tiers that a configuration can name.
const TIERS_MAX: usize = 10;

/// How one core finds the endpoint of a request. All of it is the core's own: what all cores know is in the group.
pub(super) struct Balancer {
    kind: Kind,
    weights: Box<[u32]>,
    client: ClientAddress,
    slow_start: Option<SlowStart>,
    /// The tier of each endpoint; empty where there is one only.
    priorities: Box<[u8]>,
    /// How the tiers were when their shares were worked out.
    tiers: RefCell<(Vec<Tier>, Option<Priorities>)>,
    /// The positions that a choice is among; kept for its memory.
    usable: RefCell<Vec<usize>>,
    random: RefCell<SplitMix64>,
    in_flight: Box<[Cell<u32>]>,
}

enum Kind {
    /// Nothing can be put aside.
    Turns(Turns),
    Weighted(RefCell<Weighted>),
    LeastRequest,
    PeakEwma(PeakEwma, RefCell<Box<[Latency]>>),
    /// The table, the place in the configuration of each of its endpoints, and who serves requests without a key.
    Hash(HashBy, Table, Box<[usize]>, RefCell<Weighted>),
}

enum Table {
    Maglev(Maglev),
    Ring(Ring),
}

impl Balancer {
    /// For endpoints with these identities, weights and tiers, at least one. `steady`: none is ever put aside.
    pub(super) fn new(
        balance: &Balance,
        identities: &[&str],
        weights: Box<[u32]>,
        priorities: Box<[u8]>,
        slow_start_ms: Option<u64>,
        client: ClientAddress,
        steady: bool,
    ) -> Self {
        let slow_start = slow_start_ms.and_then(|ms| SlowStart::new(Duration::from_millis(ms), SLOW_START_LEAST).ok());
        let now = now();
        let count = weights.len();
        let tiers = priorities.iter().any(|own| priorities.first() != Some(own));
        let kind = Kind::new(balance, identities, &weights, steady && !tiers, now);
        Self {
            kind,
            weights,
            client,
            slow_start,
            priorities: if tiers { priorities } else { Box::default() },
            tiers: RefCell::default(),
            usable: RefCell::default(),
            random: RefCell::new(SplitMix64::new(seed())),
            in_flight: vec![Cell::new(0); count].into_boxed_slice(),
        }
    }

    /// An endpoint among those that are usable; `None` if none is. No allocation in the steady state.
    ///
    /// `came` says since when an endpoint is there, where it was not always.
    pub(super) fn choose<X: Exchange>(
        &self,
        asking: Asking<'_, X>,
        now: Instant,
        came: impl Fn(usize) -> Option<Instant>,
        usable: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let weight = |at: usize| {
            let whole = self.weights.get(at).copied().unwrap_or_default();
            match &self.slow_start {
                None => whole,
                Some(slow) => came(at).map_or(whole * SlowStart::UNIT, |since| slow.weight(whole, since, now)),
            }
        };
        if self.priorities.is_empty() {
            return self.choose_among(asking, now, weight, usable);
        }
        let tier = self.tier(&usable)?;
        self.choose_among(asking, now, weight, |at| self.priorities.get(at) == Some(&tier) && usable(at))
    }

    fn choose_among<X: Exchange>(
        &self,
        asking: Asking<'_, X>,
        now: Instant,
        weight: impl Fn(usize) -> u32,
        usable: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let turn = |weighted: &RefCell<Weighted>, usable: &dyn Fn(usize) -> bool| {
            weighted.borrow_mut().pick(|at| if usable(at) { weight(at) } else { 0 })
        };
        match &self.kind {
            Kind::Turns(turns) => turns.pick(usable),
            Kind::Weighted(weighted) => turn(weighted, &usable),
            Kind::LeastRequest => {
                let usable = self.list(usable);
                let load = |position: u32| {
                    let at = usable.get(position as usize).copied().unwrap_or_default();
                    Load { in_flight: self.in_flight(at), weight: weight(at) }
                };
                let position = least_request(usable.len() as u32, load, &mut *self.random.borrow_mut())?;
                usable.get(position as usize).copied()
            }
            Kind::PeakEwma(ewma, latencies) => {
                let (usable, latencies) = (self.list(usable), latencies.borrow());
                let load = |position: u32| {
                    let at = usable.get(position as usize).copied().unwrap_or_default();
                    let load = latencies.get(at).map(|own| ewma.load(own, now, self.in_flight(at)));
                    load.unwrap_or(f64::INFINITY)
                };
                let position = PeakEwma::pick(usable.len() as u32, load, &mut *self.random.borrow_mut())?;
                usable.get(position as usize).copied()
            }
            Kind::Hash(by, table, places, weighted) => {
                let Some(key) = key(asking, by, self.client) else { return turn(weighted, &usable) };
                let place = |index: usize| places.get(index).copied();
                let usable = |index: usize| place(index).is_some_and(&usable);
                let index = match table {
                    Table::Maglev(maglev) => maglev.pick(key, usable),
                    Table::Ring(ring) => ring.pick(key, usable),
                };
                index.and_then(place)
            }
        }
    }

    fn list(&self, usable: impl Fn(usize) -> bool) -> std::cell::RefMut<'_, Vec<usize>> {
        let mut list = self.usable.borrow_mut();
        list.clear();
        list.extend((0..self.weights.len()).filter(|at| usable(*at)));
        list
    }

    /// The tier that gets the request. Shares are worked out anew only where a tier has changed.
    fn tier(&self, usable: &impl Fn(usize) -> bool) -> Option<u8> {
        let count = self.priorities.iter().max().map_or(0, |last| usize::from(*last) + 1);
        let mut tiers = [Tier { healthy: 0, all: 0 }; TIERS_MAX];
        for (at, priority) in self.priorities.iter().enumerate() {
            if let Some(tier) = tiers.get_mut(usize::from(*priority)) {
                tier.all += 1;
                tier.healthy += u32::from(usable(at));
            }
        }
        let tiers = tiers.get(..count)?;
        let (known, shares) = &mut *self.tiers.borrow_mut();
        if *known != tiers {
            known.clear();
            known.extend_from_slice(tiers);
            *shares = Priorities::new(tiers, OVERPROVISION_PERCENT).ok();
        }
        let tier = shares.as_ref()?.pick(&mut *self.random.borrow_mut())?;
        u8::try_from(tier).ok()
    }

    /// A random number generator of the core's, for waits.
    pub(super) fn random(&self) -> &RefCell<SplitMix64> {
        &self.random
    }

    pub(super) fn in_flight(&self, at: usize) -> u32 {
        self.in_flight.get(at).map_or(0, Cell::get)
    }

    /// Whether it goes by latencies, which fade with time.
    pub(super) fn measures(&self) -> bool {
        matches!(self.kind, Kind::PeakEwma(..))
    }

    /// Whether it has to be told when requests begin and end.
    pub(super) fn counts(&self) -> bool {
        matches!(self.kind, Kind::LeastRequest | Kind::PeakEwma(..))
    }

    pub(super) fn begin(&self, at: usize) {
        if let Some(count) = self.in_flight.get(at) {
            count.set(count.get() + 1);
        }
    }

    pub(super) fn end(&self, at: usize) {
        if let Some(count) = self.in_flight.get(at) {
            count.set(count.get().saturating_sub(1));
        }
    }

    /// Takes what a try took to its response's head, or that it failed.
    pub(super) fn record(&self, at: usize, failed: bool, took: Duration, now: Instant) {
        if let Kind::PeakEwma(ewma, latencies) = &self.kind
            && let Some(latency) = latencies.borrow_mut().get_mut(at)
        {
            ewma.record(latency, now, if failed { took.max(FAILURE) } else { took });
        }
    }
}

impl Kind {
    fn new(balance: &Balance, identities: &[&str], weights: &[u32], steady: bool, now: Instant) -> Self {
        // Errors are those of settings that a configuration can't have; then endpoints simply take turns.
        let turns = || Self::Turns(Turns::new(weights, start()));
        let weighted = || Weighted::new(weights.len()).ok().map(|made| RefCell::new(begun(made, weights)));
        match balance {
            Balance::RoundRobin if steady && Turns::fits(weights) => turns(),
            Balance::RoundRobin => weighted().map_or_else(turns, Self::Weighted),
            Balance::LeastRequest => Self::LeastRequest,
            Balance::PeakEwma => match PeakEwma::new(HALF_LIFE, FIRST) {
                Ok(ewma) => {
                    let latencies = vec![ewma.endpoint(now); weights.len()].into_boxed_slice();
                    Self::PeakEwma(ewma, RefCell::new(latencies))
                }
                Err(_) => turns(),
            },
            Balance::Hash(by, table) => {
                let mut places: Vec<usize> = (0..weights.len()).collect();
                // Every core and every configuration must come to the same table, whatever the order of the file.
                places.sort_by_key(|at| identities.get(*at));
                let named =
                    places.iter().filter_map(|at| Some((hash(identities.get(*at)?.as_bytes()), *weights.get(*at)?)));
                let named: Vec<(u64, u32)> = named.collect();
                let total: u64 = weights.iter().map(|weight| u64::from(*weight)).sum();
                let points = (Ring::POINTS_MAX / total.max(1)).clamp(1, RING_POINTS) as u32;
                let made = match table {
                    HashTable::Maglev => Maglev::new(&named).map(Table::Maglev),
                    HashTable::Ring => Ring::new(&named, points).map(Table::Ring),
                };
                match (made, weighted()) {
                    (Ok(table), Some(weighted)) => Self::Hash(by.clone(), table, places.into_boxed_slice(), weighted),
                    _ => turns(),
                }
            }
        }
    }
}

/// The same as if this core's first turns had been taken.
fn begun(mut weighted: Weighted, weights: &[u32]) -> Weighted {
    for _ in 0..start() % weights.len().max(1) {
        weighted.pick(|at| weights.get(at).copied().unwrap_or_default());
    }
    weighted
}

/// Another one for every core and start, so that cores don't choose in step.
pub(crate) fn seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0_u64)
}
