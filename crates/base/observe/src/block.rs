//! The cells of one core. Each group is aligned to 128 bytes (two cache lines: processors fetch them in pairs), so that
//! two cores never write to the same line.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use leat_message::{Reason, Record};

use crate::exemplar::Exemplars;
use crate::{
    Counter, EndpointCounts, EndpointName, Exemplar, Gauge, Histogram, LimitCells, NAMES_MAX, RouteCounts, Snapshot,
};

/// Status classes: no status, then 1xx to 5xx.
pub(crate) const CLASSES: usize = 6;

/// One counter for each [`Reason`].
#[derive(Debug)]
pub(crate) struct ByReason(Box<[Counter]>);

impl Default for ByReason {
    fn default() -> Self {
        Self(Reason::ALL.iter().map(|_| Counter::default()).collect())
    }
}

impl ByReason {
    #[inline]
    pub(crate) fn add(&self, reason: Reason) {
        if let Some(counter) = self.0.get(reason as usize) {
            counter.add(1);
        }
    }

    pub(crate) fn add_to(&self, totals: &mut Vec<u64>) {
        totals.resize(self.0.len(), 0);
        for (total, counter) in totals.iter_mut().zip(&self.0) {
            *total += counter.get();
        }
    }
}

/// What a core counts whatever the configuration says.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Fixed {
    pub(crate) connections_accepted: Counter,
    pub(crate) connections_done: Counter,
    pub(crate) accept_pauses: Counter,
    pub(crate) handshakes_started: Counter,
    pub(crate) handshakes_done: Counter,
    pub(crate) handshakes_failed: Counter,
    pub(crate) h2_streams_opened: Counter,
    pub(crate) h2_streams_closed: Counter,
    pub(crate) connections_closed: ByReason,
    pub(crate) refusals: ByReason,
}

/// What a core counts for one route.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct RouteCells {
    classes: [Counter; CLASSES],
    bytes_in: Counter,
    bytes_out: Counter,
    duration: Histogram,
    exemplars: Exemplars,
}

impl RouteCells {
    #[inline]
    pub(crate) fn observe(&self, record: &Record, duration_us: u64) {
        if let Some(class) = self.classes.get(usize::from(record.status / 100)) {
            class.add(1);
        }
        self.bytes_in.add(record.bytes_in);
        self.bytes_out.add(record.bytes_out);
        self.duration.record(duration_us);
    }

    /// Lets this exchange stand for others of its bucket.
    pub(crate) fn exemplify(&self, exemplar: Exemplar) {
        self.exemplars.put(exemplar);
    }

    fn add_to(&self, counts: &mut RouteCounts) {
        for (total, class) in counts.classes.iter_mut().zip(&self.classes) {
            *total += class.get();
        }
        counts.bytes_in += self.bytes_in.get();
        counts.bytes_out += self.bytes_out.get();
        self.duration.add_to(&mut counts.duration);
        self.exemplars.add_to(&mut counts.duration);
    }
}

/// What a core counts for one endpoint; reached through [`crate::Endpoint`]. The pool writes its own cells, the rest
/// comes from access records.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct EndpointCells {
    pub(crate) requests: Counter,
    /// Connections that were opened.
    pub connections_opened: Counter,
    /// Connections that were closed, by either side.
    pub connections_closed: Counter,
    /// Exchanges that went over a connection from the pool.
    pub connections_reused: Counter,
    /// Connections that wait in the pool.
    pub connections_idle: Gauge,
    /// Tries that have an endpoint and have not ended: until the last byte of the reply, or the end of the tunnel.
    pub under_way: Gauge,
    pub(crate) connect: Histogram,
    pub(crate) response: Histogram,
    exemplars: Exemplars,
    pub(crate) errors: ByReason,
}

impl EndpointCells {
    #[inline]
    pub(crate) fn observe(&self, record: &Record) {
        self.requests.add(1);
        if record.connect_us > 0 {
            self.connect.record(u64::from(record.connect_us));
        }
        if record.upstream_us > 0 {
            self.response.record(u64::from(record.upstream_us));
        }
    }

    pub(crate) fn exemplify(&self, exemplar: Exemplar) {
        self.exemplars.put(exemplar);
    }

    fn add_to(&self, counts: &mut EndpointCounts) {
        counts.requests += self.requests.get();
        counts.connections_opened += self.connections_opened.get();
        counts.connections_reused += self.connections_reused.get();
        counts.connections_open += self.connections_opened.get().saturating_sub(self.connections_closed.get());
        counts.connections_idle += self.connections_idle.get();
        counts.under_way += self.under_way.get();
        self.connect.add_to(&mut counts.connect);
        self.response.add_to(&mut counts.response);
        self.exemplars.add_to(&mut counts.response);
        self.errors.add_to(&mut counts.errors);
    }
}

/// All cells of one core. The maps are locked when a configuration is taken over and when the numbers are read, never
/// by a request.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) fixed: Fixed,
    pub(crate) unmatched: Arc<RouteCells>,
    routes: Mutex<HashMap<Arc<str>, Arc<RouteCells>>>,
    endpoints: Mutex<HashMap<EndpointName, Arc<EndpointCells>>>,
    limits: Mutex<HashMap<Arc<str>, Arc<LimitCells>>>,
}

impl Block {
    pub(crate) fn routes(&self, names: &[Arc<str>]) -> Box<[Arc<RouteCells>]> {
        cells_of(&mut lock(&self.routes), names)
    }

    pub(crate) fn endpoints(&self, names: &[EndpointName]) -> Box<[Arc<EndpointCells>]> {
        cells_of(&mut lock(&self.endpoints), names)
    }

    pub(crate) fn limits(&self, names: &[Arc<str>]) -> Box<[Arc<LimitCells>]> {
        cells_of(&mut lock(&self.limits), names)
    }

    pub(crate) fn add_to(&self, total: &mut Snapshot) {
        let fixed = &self.fixed;
        fixed.connections_closed.add_to(&mut total.connections_closed);
        let closed: u64 = total.connections_closed.iter().sum();
        total.connections_done += fixed.connections_done.get();
        total.connections_accepted += fixed.connections_accepted.get();
        total.connections_open = total.connections_accepted.saturating_sub(closed + total.connections_done);
        total.accept_pauses += fixed.accept_pauses.get();
        total.handshakes_done += fixed.handshakes_done.get();
        total.handshakes_failed += fixed.handshakes_failed.get();
        let ended = fixed.handshakes_done.get() + fixed.handshakes_failed.get();
        total.handshakes_open += fixed.handshakes_started.get().saturating_sub(ended);
        total.h2_streams += fixed.h2_streams_opened.get();
        total.h2_streams_open += fixed.h2_streams_opened.get().saturating_sub(fixed.h2_streams_closed.get());
        fixed.refusals.add_to(&mut total.refusals);
        self.unmatched.add_to(&mut total.unmatched);
        for (name, cells) in &*lock(&self.routes) {
            cells.add_to(total.routes.entry(Arc::clone(name)).or_default());
        }
        for (name, cells) in &*lock(&self.endpoints) {
            cells.add_to(total.endpoints.entry(name.clone()).or_default());
        }
        for (name, cells) in &*lock(&self.limits) {
            cells.add_to(total.limits.entry(Arc::clone(name)).or_default());
        }
    }
}

/// The cells of each name, made where there are none. Names that no configuration uses any more keep their numbers
/// until there are more than [`NAMES_MAX`] of them.
fn cells_of<K, C>(map: &mut HashMap<K, Arc<C>>, names: &[K]) -> Box<[Arc<C>]>
where
    K: Clone + Eq + std::hash::Hash,
    C: Default,
{
    let cells = names.iter().map(|name| Arc::clone(map.entry(name.clone()).or_default())).collect();
    if map.len() > NAMES_MAX {
        map.retain(|_, cells| Arc::strong_count(cells) > 1);
    }
    cells
}

/// Nothing that holds these locks can leave the data half-written, so a panic elsewhere is no reason to stop counting.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
