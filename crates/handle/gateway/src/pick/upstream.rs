use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use leat_dial::{Endpoint, EndpointStats, Pools};
use leat_message::{Exchange, Reason};
use leat_observe::Core;
use leat_policy::hedge::{Hedge, Latencies};
use leat_policy::{Instant, SplitMix64};

use super::balancer::Balancer;
use super::clock::at;
use super::gate::{Entry, Place, Slot};
use super::key::Asking;
use super::{Group, Held, Tried, now};
use crate::admit::ClientAddress;
use crate::config::{self, Retries};

/// A group of servers that answer the same requests, on one core.
pub(crate) struct Upstream {
    seats: Vec<Seat>,
    pub(super) balancer: Balancer,
    /// What all cores know of it; `None` where nothing can happen to an endpoint.
    pub(super) group: Option<Arc<Group>>,
    retries: Option<Retries>,
    /// When a second try begins, and what it is known by.
    hedge: Option<(Hedge, Option<RefCell<Latencies>>)>,
    failure_statuses: Vec<u16>,
    pub(crate) pools: Rc<Pools>,
    /// Where values are built while a request's head is written.
    pub(crate) scratch: RefCell<Vec<u8>>,
}

/// One server of an upstream.
pub(crate) struct Seat {
    /// Index among all endpoints of the configuration.
    pub(crate) index: u32,
    /// Where and how to connect.
    pub(crate) endpoint: Rc<Endpoint>,
    /// Its own host and port.
    pub(crate) authority: Box<str>,
    /// That of the connection to it, whatever the client's is: servers compare the two (RFC 9113 section 8.3.1).
    pub(crate) scheme: &'static str,
    /// Whether the connections are counted here: upstreams that name the same endpoint share them, and the first counts.
    pub(crate) counts: bool,
    /// What the counters were told last.
    pub(crate) told: Cell<EndpointStats>,
    /// The core's counters for it; those of the same endpoint under another configuration are the same.
    pub(crate) cells: Option<leat_observe::Endpoint>,
}

impl Upstream {
    /// `seats` are those of the upstream's endpoints, in their order; `group` is what all cores know of them, `client` says whose a
    /// request is.
    pub(crate) fn new(
        upstream: &config::Upstream,
        mut seats: Vec<Seat>,
        group: Option<Arc<Group>>,
        pools: Rc<Pools>,
        client: ClientAddress,
        core: &Core,
    ) -> Self {
        for seat in &mut seats {
            seat.cells = core.endpoint(seat.index);
            // What happened before a reload was told under the old configuration.
            seat.told.set(pools.stats_of(&seat.endpoint));
        }
        let policies = upstream.policies();
        let named = named(upstream, &seats);
        let identities: Vec<&str> = named.iter().map(|(identity, _)| &**identity).collect();
        let weights = upstream.endpoints().iter().map(config::Endpoint::weight).collect();
        let priorities = upstream.endpoints().iter().map(config::Endpoint::priority).collect();
        let balancer = Balancer::new(
            policies.balance(),
            &identities,
            weights,
            priorities,
            policies.slow_start_ms(),
            client,
            group.is_none(),
        );
        Self {
            seats,
            balancer,
            group,
            retries: policies.retries().cloned(),
            hedge: policies.hedge().map(|hedge| (hedge.clone(), hedge.latencies().map(RefCell::new))),
            failure_statuses: policies.failure_statuses().to_vec(),
            pools,
            scratch: RefCell::new(Vec::new()),
        }
    }

    /// Whether one of the servers has this identity.
    pub(crate) fn has(&self, identity: &str) -> bool {
        self.seats.iter().any(|seat| &**seat.endpoint.identity() == identity)
    }

    /// Brings the counters of the connections to these servers up to date.
    pub(crate) fn publish(&self, core: &Core) {
        for seat in self.seats.iter().filter(|seat| seat.counts) {
            let (now, mut told) = (self.pools.stats_of(&seat.endpoint), seat.told.get());
            let Some(cells) = core.endpoint(seat.index) else { continue };
            cells.connections_opened.add(now.connects.saturating_sub(told.connects));
            cells.connections_reused.add(now.reuses.saturating_sub(told.reuses));
            let closed = |stats: &EndpointStats| stats.connects.saturating_sub(stats.open as u64);
            cells.connections_closed.add(closed(&now).saturating_sub(closed(&told)));
            while told.idle < now.idle {
                told.idle += 1;
                cells.connections_idle.up();
            }
            while told.idle > now.idle {
                told.idle -= 1;
                cells.connections_idle.down();
            }
            seat.told.set(now);
        }
    }

    /// A request came at `now`: it pays into the budget of retries.
    pub(crate) fn begin(&self, now: std::time::Instant) {
        if let Some(group) = self.group.as_deref().filter(|_| self.retries.is_some()) {
            group.begin(at(now));
        }
    }

    /// Asks to be under way; `Ok(None)` where as many may as want, `Err` for a place in the queue or none.
    #[inline]
    pub(crate) fn enter(&self) -> Result<Option<Slot>, Option<Place>> {
        let Some(gate) = self.group.as_deref().and_then(Group::gate) else { return Ok(None) };
        match gate.enter() {
            Entry::In(slot) => Ok(Some(slot)),
            Entry::Wait(place) => Err(Some(place)),
            Entry::Full => Err(None),
        }
    }

    /// Lets a try be under way that the client can do without; `Err` where there is no room for it.
    pub(crate) fn try_enter(&self) -> Result<Option<Slot>, Reason> {
        match self.group.as_deref().and_then(Group::gate) {
            None => Ok(None),
            Some(gate) => gate.try_enter().map(Some).ok_or(Reason::UpstreamConcurrency),
        }
    }

    /// An endpoint for a try, one that was not tried before where there is one. Those that are aside are taken where nothing
    /// else is left: an answer that is unlikely is better than none.
    ///
    /// # Errors
    /// `UpstreamBreaker` where the breakers let nothing through, `UpstreamUnhealthy` where no endpoint is well, `UpstreamDraining`
    /// where those that are well are being drained.
    pub(crate) fn pick<X: Exchange>(
        &self,
        asking: Asking<'_, X>,
        tried: Tried,
        now: std::time::Instant,
    ) -> Result<Held<'_>, Reason> {
        let Some(group) = &self.group else {
            // Only latencies need the time here: without a group nothing comes and goes.
            let now = if self.balancer.measures() { at(now) } else { Instant::ZERO };
            let at = self.choose(asking, now, tried, |_| true).ok_or(Reason::UpstreamNone)?;
            return self.hold(at, None);
        };
        let now = at(now);
        let whole = group.ask_whole(now)?;
        // Each turn finds a breaker that refuses at `now`, which is not asked again.
        for _ in 0..=self.seats.len() {
            let may = |at: usize| !group.is_unwell(at) && !group.is_draining(at) && !group.is_cut(at, now);
            let is_any_in = self.any(|at| may(at) && !group.is_aside(at, now));
            let Some(at) = self.choose(asking, now, tried, |at| may(at) && !(is_any_in && group.is_aside(at, now)))
            else {
                break;
            };
            match group.ask(at, now) {
                Ok(own) => return self.hold(at, whole.or(own)),
                Err(_) => continue,
            }
        }
        group.release(0, whole);
        let is_any_well = self.any(|at| !group.is_unwell(at));
        let is_any_in = self.any(|at| !group.is_unwell(at) && !group.is_draining(at));
        Err(match (is_any_well, is_any_in) {
            (_, true) => Reason::UpstreamBreaker,
            (true, false) => Reason::UpstreamDraining,
            (false, false) => Reason::UpstreamUnhealthy,
        })
    }

    /// In how many seconds a client may come again that the breakers have turned away: one at least.
    #[cold]
    pub(crate) fn retry_after_s(&self, now: std::time::Instant) -> u32 {
        let wait = self.group.as_deref().map(|group| group.refuses_for(at(now))).unwrap_or_default();
        u32::try_from(wait.as_millis().div_ceil(1_000)).unwrap_or(u32::MAX).max(1)
    }

    /// The endpoint of this number for a try, which was picked before.
    ///
    /// # Errors
    /// `UpstreamBreaker` where its breaker lets nothing through.
    pub(crate) fn take(&self, at: usize) -> Result<Held<'_>, Reason> {
        let Some(group) = &self.group else { return self.hold(at, None) };
        let now = now();
        let whole = group.ask_whole(now)?;
        match group.ask(at, now) {
            Ok(own) => self.hold(at, whole.or(own)),
            Err(reason) => {
                group.release(at, whole);
                Err(reason)
            }
        }
    }

    fn hold(&self, at: usize, permit: Option<leat_policy::breaker::Permit>) -> Result<Held<'_>, Reason> {
        let seat = self.seats.get(at).ok_or(Reason::UpstreamNone)?;
        Ok(Held::new(self, seat, at, permit))
    }

    /// One that was not tried if there is one. The balancer is asked once, since its turns go on with every question.
    fn choose<X: Exchange>(
        &self,
        asking: Asking<'_, X>,
        now: Instant,
        tried: Tried,
        usable: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let is_any_new = !tried.is_empty() && self.any(|at| !tried.has(at) && usable(at));
        let came = |at: usize| self.group.as_deref().and_then(|group| group.came(at));
        self.balancer.choose(asking, now, came, |at| usable(at) && !(is_any_new && tried.has(at)))
    }

    fn any(&self, matches: impl Fn(usize) -> bool) -> bool {
        (0..self.seats.len()).any(matches)
    }

    /// Whether there is an endpoint that was not tried.
    pub(crate) fn has_other(&self, tried: Tried) -> bool {
        self.any(|at| !tried.has(at))
    }

    /// Whether a response with this status counts as a failure of its endpoint.
    pub(crate) fn is_failure(&self, status: u16) -> bool {
        status >= 400 && self.failure_statuses.contains(&status)
    }

    /// What is tried again, and what all cores know of it.
    pub(crate) fn retries(&self) -> Option<(&Retries, &Group)> {
        Some((self.retries.as_ref()?, self.group.as_deref()?))
    }

    /// When a second try begins beside one that takes long.
    pub(crate) fn hedge(&self) -> Option<&Hedge> {
        self.hedge.as_ref().map(|(hedge, _)| hedge)
    }

    /// How long a request that had so many hedges is waited for before the next one; `None` for ever.
    pub(crate) fn hedge_wait(&self, hedges: u32) -> Option<Duration> {
        let (hedge, latencies) = self.hedge.as_ref()?;
        hedge.wait(hedges, latencies.as_ref().map(RefCell::borrow).as_deref())
    }

    /// A request took so long to the response's head, or was given up after that time.
    pub(crate) fn took(&self, took: Duration) {
        if let Some((_, Some(latencies))) = &self.hedge {
            latencies.borrow_mut().record(took);
        }
    }

    /// A random number generator of the core's.
    pub(crate) fn random(&self) -> &RefCell<SplitMix64> {
        self.balancer.random()
    }
}

/// The identity and the URL of each endpoint.
pub(crate) fn named(upstream: &config::Upstream, seats: &[Seat]) -> Vec<(Arc<str>, Arc<str>)> {
    let endpoints = seats.iter().zip(upstream.endpoints());
    endpoints.map(|(seat, endpoint)| (Arc::clone(seat.endpoint.identity()), endpoint.url().into())).collect()
}
