use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use leat_message::Reason;
use leat_policy::balance::{OutlierSettings, Outliers};
use leat_policy::breaker::{self, Look, Permit};
use leat_policy::retry::{Budget, BudgetCell};
use leat_policy::{Instant, breaker::State};

use super::fuse::Fuse;
use super::gate::{Gate, GateReport};
use crate::config::{BreakerScope, Concurrency, Policies};

/// What all cores know together of one upstream: who is aside, whose breaker is open, how many retries are left.
#[derive(Debug)]
pub(crate) struct Group {
    settings: Settings,
    members: Box<[Member]>,
    outliers: Option<Mutex<Outliers>>,
    /// The breaker of the upstream as a whole.
    whole: Option<Arc<Fuse>>,
    budget: Option<(Budget, Arc<BudgetCell>)>,
    /// What is under way at once.
    gate: Option<Arc<Gate>>,
    counts: Arc<Counts>,
}

/// An endpoint of it.
#[derive(Debug)]
struct Member {
    identity: Arc<str>,
    url: Arc<str>,
    health: Arc<Health>,
    fuse: Option<Arc<Fuse>>,
}

/// How an endpoint is. Read by every request, written when that changes.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Health {
    /// Until when it is aside for its failures; 0 for never.
    aside_until_ns: AtomicU64,
    /// Whether its last result was a failure: as long as it is not, a success needs no lock.
    failing: AtomicBool,
    ejections: AtomicU64,
    /// Whether its checks say that it is not well.
    unwell: AtomicBool,
    /// Whether an operator wants it to get no new requests.
    draining: AtomicBool,
    /// When it came with a reload, or was found well again; 0 where it was there from the start.
    came_ns: AtomicU64,
}

#[derive(Debug, Default)]
struct Counts {
    retries: AtomicU64,
    retries_denied: AtomicU64,
    hedges: AtomicU64,
    hedges_won: AtomicU64,
    hedges_denied: AtomicU64,
}

/// What became of a hedge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HedgeEnd {
    /// It was sent.
    Made,
    /// It was the first to answer.
    Won,
    /// There was no budget or no room for it.
    Denied,
}

/// What the state belongs to: with other settings a part of it begins anew.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Settings {
    outliers: Option<OutlierSettings>,
    breaker: Option<(BreakerScope, breaker::Settings)>,
    budget: Option<Budget>,
    concurrency: Option<Concurrency>,
    hedges: bool,
    is_checked: bool,
    starts_slowly: bool,
    drains: bool,
}

/// How an endpoint is at one moment, for people.
#[derive(Debug)]
pub(super) struct MemberReport<'a> {
    pub(super) url: &'a str,
    pub(super) aside: Duration,
    pub(super) ejections: u64,
    pub(super) breaker: Option<(State, u64)>,
    /// The same breaker, with its window.
    pub(super) look: Option<Look>,
    pub(super) is_draining: bool,
    /// What its checks say; `None` where there are none.
    pub(super) is_well: Option<bool>,
}

impl Settings {
    /// `None` where the configuration asks for nothing that needs a state.
    /// `drains`: endpoints may be drained.
    pub(super) fn of(policies: &Policies, drains: bool) -> Option<Self> {
        let budget = policies.retries().map(|retries| retries.budget().clone());
        let made = Self {
            outliers: policies.outliers().cloned(),
            breaker: policies.breaker().cloned(),
            budget,
            concurrency: policies.concurrency().cloned(),
            hedges: policies.hedge().is_some(),
            is_checked: policies.health().is_some(),
            starts_slowly: policies.slow_start_ms().is_some(),
            drains,
        };
        let has_policy =
            made.outliers.is_some() || made.breaker.is_some() || made.budget.is_some() || made.concurrency.is_some();
        (has_policy || made.is_checked || made.starts_slowly || drains).then_some(made)
    }

    fn fuse(&self, scope: BreakerScope) -> Option<&breaker::Settings> {
        self.breaker.as_ref().filter(|(own, _)| *own == scope).map(|(_, settings)| settings)
    }
}

impl Group {
    /// A group of endpoints by identity and URL, at least one. What `before` knows of those that it had stays, but for
    /// breakers whose settings have changed.
    pub(super) fn new(
        settings: Settings,
        endpoints: &[(Arc<str>, Arc<str>)],
        before: Option<&Self>,
        now: Instant,
    ) -> Self {
        let same_breaker = before.filter(|before| before.settings.breaker == settings.breaker);
        let fuse = |scope, old: Option<&Arc<Fuse>>| {
            let settings = settings.fuse(scope)?;
            Some(old.map_or_else(|| Arc::new(Fuse::new(settings)), Arc::clone))
        };
        let members = endpoints.iter().map(|(identity, url)| {
            let old = before.and_then(|before| before.member(identity));
            let old_fuse = same_breaker.and_then(|before| before.member(identity)?.fuse.as_ref());
            Member {
                identity: Arc::clone(identity),
                url: Arc::clone(url),
                health: match (old, before) {
                    (Some(old), _) => Arc::clone(&old.health),
                    (None, Some(_)) => Arc::new(Health { came_ns: now.as_nanos().into(), ..Health::default() }),
                    // All begin together: nobody has to be spared.
                    (None, None) => Arc::default(),
                },
                fuse: fuse(BreakerScope::Endpoint, old_fuse),
            }
        });
        let members: Box<[Member]> = members.collect();
        let outliers = settings.outliers.clone().and_then(|outliers| {
            let known = before.and_then(|before| Some((before, before.outliers.as_ref()?)));
            let made = match known {
                None => Outliers::new(outliers, members.len()),
                Some((before, known)) => Outliers::after(outliers, members.len(), &lock(known), |at| {
                    before.position(&members.get(at)?.identity)
                }),
            };
            // Fails for no endpoint and for more than a configuration may have: neither gets here.
            made.ok().map(Mutex::new)
        });
        let whole = fuse(BreakerScope::Upstream, same_breaker.and_then(|before| before.whole.as_ref()));
        let budget = settings.budget.clone().map(|budget| {
            let old = before.and_then(|before| before.budget.as_ref()).map(|(_, cell)| Arc::clone(cell));
            let cell = old.unwrap_or_else(|| Arc::new(budget.cell()));
            (budget, cell)
        });
        let gate = settings.concurrency.as_ref().map(|concurrency| {
            let same = before.filter(|before| before.settings.concurrency == settings.concurrency);
            let old = same.and_then(|before| before.gate.as_ref()).map(Arc::clone);
            old.unwrap_or_else(|| Arc::new(Gate::new(concurrency)))
        });
        let counts = before.map(|before| Arc::clone(&before.counts)).unwrap_or_default();
        Self { settings, members, outliers, whole, budget, gate, counts }
    }

    /// Whether it is what would be made of this.
    pub(super) fn is(&self, settings: &Settings, endpoints: &[(Arc<str>, Arc<str>)]) -> bool {
        self.settings == *settings
            && self.members.iter().map(|member| &member.identity).eq(endpoints.iter().map(|(identity, _)| identity))
    }

    fn member(&self, identity: &str) -> Option<&Member> {
        self.members.iter().find(|member| &*member.identity == identity)
    }

    fn position(&self, identity: &str) -> Option<usize> {
        self.members.iter().position(|member| &*member.identity == identity)
    }

    /// Whether the endpoint is aside for its failures.
    pub(super) fn is_aside(&self, at: usize, now: Instant) -> bool {
        self.members.get(at).is_some_and(|member| member.health.is_aside(now))
    }

    /// Whether the endpoint's checks say that it is not well.
    pub(crate) fn is_unwell(&self, at: usize) -> bool {
        self.settings.is_checked && self.members.get(at).is_some_and(|member| member.health.unwell.load(Relaxed))
    }

    /// Whether an operator wants the endpoint to get no new requests.
    pub(super) fn is_draining(&self, at: usize) -> bool {
        self.settings.drains && self.members.get(at).is_some_and(|member| member.health.draining.load(Relaxed))
    }

    /// Whether any endpoint is draining: then that must not be forgotten.
    pub(super) fn has_draining(&self) -> bool {
        self.members.iter().any(|member| member.health.draining.load(Relaxed))
    }

    /// Keeps new requests from every endpoint that is called so (its URL, or what stands behind `://` there), or lets them come
    /// again; says how many endpoints there are of that name, and how many of them were otherwise before.
    pub(super) fn set_draining(&self, endpoint: &str, draining: bool, now: Instant) -> (usize, usize) {
        let mut found = (0, 0);
        let is_called = |url: &str| url == endpoint || url.split_once("://").is_some_and(|(_, rest)| rest == endpoint);
        for member in self.members.iter().filter(|member| is_called(&member.url)) {
            let was = member.health.draining.swap(draining, Relaxed);
            if was && !draining {
                // It comes back, and may start slowly.
                member.health.came_ns.store(now.as_nanos(), Relaxed);
            }
            found = (found.0 + 1, found.1 + usize::from(was != draining));
        }
        found
    }

    /// Lets everything through the breakers again; says how many there are.
    pub(super) fn reset_breakers(&self, now: Instant) -> usize {
        let fuses = self.whole.iter().chain(self.members.iter().filter_map(|member| member.fuse.as_ref()));
        fuses.map(|fuse| fuse.reset(now)).count()
    }

    /// What the endpoint's checks have found.
    pub(crate) fn set_unwell(&self, at: usize, unwell: bool, now: Instant) {
        if let Some(member) = self.members.get(at) {
            if !unwell {
                member.health.came_ns.store(now.as_nanos(), Relaxed);
            }
            member.health.unwell.store(unwell, Relaxed);
        }
    }

    /// When the endpoint came, or came back; `None` where it was there from the start.
    pub(super) fn came(&self, at: usize) -> Option<Instant> {
        let health = &self.members.get(at)?.health;
        let came_ns = health.came_ns.load(Relaxed).max(health.aside_until_ns.load(Relaxed));
        (came_ns > 0).then(|| Instant::from_nanos(came_ns))
    }

    /// Whether the endpoint's breaker is known to let nothing through.
    pub(super) fn is_cut(&self, at: usize, now: Instant) -> bool {
        self.members.get(at).and_then(|member| member.fuse.as_ref()).is_some_and(|fuse| fuse.is_refusing(now))
    }

    /// Asks the breaker of the endpoint, `Ok(None)` where there is none.
    pub(super) fn ask(&self, at: usize, now: Instant) -> Result<Option<Permit>, Reason> {
        ask(self.members.get(at).and_then(|member| member.fuse.as_deref()), now)
    }

    /// Asks the breaker of the upstream as a whole, `Ok(None)` where there is none.
    pub(super) fn ask_whole(&self, now: Instant) -> Result<Option<Permit>, Reason> {
        ask(self.whole.as_deref(), now)
    }

    /// For how long the breakers are known to let nothing through: that of the upstream as a whole, or of the endpoint that may be
    /// asked first.
    pub(super) fn refuses_for(&self, now: Instant) -> Duration {
        if let Some(whole) = &self.whole {
            return whole.refuses_for(now);
        }
        let may = |at: &usize| !self.is_unwell(*at) && !self.is_draining(*at);
        let fuses = (0..self.members.len()).filter(may).filter_map(|at| self.fuse(at));
        fuses.map(|fuse| fuse.refuses_for(now)).min().unwrap_or_default()
    }

    /// Gives permits back that were not used.
    pub(super) fn release(&self, at: usize, permit: Option<Permit>) {
        if let (Some(fuse), Some(permit)) = (self.fuse(at), permit) {
            fuse.release(permit);
        }
    }

    /// Takes the result of a try.
    pub(super) fn record(&self, at: usize, permit: Option<Permit>, failed: bool, took: Duration, now: Instant) {
        if let (Some(fuse), Some(permit)) = (self.fuse(at), permit) {
            fuse.record(permit, now, failed, took);
        }
        let (Some(outliers), Some(member)) = (&self.outliers, self.members.get(at)) else { return };
        let health = &member.health;
        if !failed && !health.failing.load(Relaxed) {
            return;
        }
        let mut outliers = lock(outliers);
        health.failing.store(failed, Relaxed);
        if let Some(time) = outliers.record(at, failed, now) {
            health.aside_until_ns.store(now.after(time).as_nanos(), Relaxed);
            health.ejections.fetch_add(1, Relaxed);
            health.failing.store(false, Relaxed);
        }
    }

    /// The breaker that gives permits for the endpoint: its own, or that of all.
    fn fuse(&self, at: usize) -> Option<&Fuse> {
        self.whole.as_deref().or_else(|| self.members.get(at)?.fuse.as_deref())
    }

    /// A request came, which pays into the budget of retries.
    pub(super) fn begin(&self, now: Instant) {
        if let Some((budget, cell)) = &self.budget {
            budget.deposit(cell, now);
        }
    }

    /// What a retry is paid from.
    pub(crate) fn budget(&self) -> Option<(&Budget, &BudgetCell)> {
        self.budget.as_ref().map(|(budget, cell)| (budget, &**cell))
    }

    /// Where requests ask to be under way; `None` where as many may as want.
    pub(crate) fn gate(&self) -> Option<&Arc<Gate>> {
        self.gate.as_ref()
    }

    pub(super) fn gate_report(&self) -> Option<GateReport> {
        self.gate.as_deref().map(Gate::report)
    }

    pub(crate) fn count_retry(&self) {
        self.counts.retries.fetch_add(1, Relaxed);
    }

    pub(crate) fn count_retry_denied(&self) {
        self.counts.retries_denied.fetch_add(1, Relaxed);
    }

    /// Retries that were made, and those that the budget had nothing left for.
    pub(super) fn retries(&self) -> Option<(u64, u64)> {
        let counts = &self.counts;
        self.budget.as_ref().map(|_| (counts.retries.load(Relaxed), counts.retries_denied.load(Relaxed)))
    }

    pub(crate) fn count_hedge(&self, end: HedgeEnd) {
        let counts = &self.counts;
        let count = match end {
            HedgeEnd::Made => &counts.hedges,
            HedgeEnd::Won => &counts.hedges_won,
            HedgeEnd::Denied => &counts.hedges_denied,
        };
        count.fetch_add(1, Relaxed);
    }

    /// Hedges that were made, those of them that won, and those that there was no budget or room for.
    pub(super) fn hedges(&self) -> Option<[u64; 3]> {
        let counts = &self.counts;
        let all = [&counts.hedges, &counts.hedges_won, &counts.hedges_denied];
        self.settings.hedges.then(|| all.map(|count| count.load(Relaxed)))
    }

    /// The breaker of the upstream as a whole, and how often it stopped everything.
    pub(super) fn whole(&self) -> Option<(State, u64)> {
        self.whole.as_deref().map(Fuse::report)
    }

    /// The same breaker, with its window.
    pub(super) fn whole_look(&self, now: Instant) -> Option<Look> {
        self.whole.as_deref().map(|fuse| fuse.look(now))
    }

    /// The endpoints, in the order of the configuration.
    pub(super) fn members(&self, now: Instant) -> impl Iterator<Item = MemberReport<'_>> {
        self.members.iter().map(move |member| MemberReport {
            url: &member.url,
            aside: Instant::from_nanos(member.health.aside_until_ns.load(Relaxed)).since(now),
            ejections: member.health.ejections.load(Relaxed),
            breaker: member.fuse.as_deref().map(Fuse::report),
            look: member.fuse.as_deref().map(|fuse| fuse.look(now)),
            is_draining: self.settings.drains && member.health.draining.load(Relaxed),
            is_well: self.settings.is_checked.then(|| !member.health.unwell.load(Relaxed)),
        })
    }

    /// Whether endpoints may be drained.
    pub(super) fn drains(&self) -> bool {
        self.settings.drains
    }

    /// Whether endpoints may be put aside.
    pub(super) fn ejects(&self) -> bool {
        self.outliers.is_some()
    }
}

impl Health {
    fn is_aside(&self, now: Instant) -> bool {
        self.aside_until_ns.load(Relaxed) > now.as_nanos()
    }
}

fn ask(fuse: Option<&Fuse>, now: Instant) -> Result<Option<Permit>, Reason> {
    fuse.map(|fuse| fuse.ask(now).ok_or(Reason::UpstreamBreaker)).transpose()
}

/// Nothing that holds these locks can leave the data half-written, so a panic elsewhere is no reason to stop.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "group_tests.rs"]
mod tests;
