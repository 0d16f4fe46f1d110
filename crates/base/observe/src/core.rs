use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use leat_message::{Blame, Reason, Record};

use crate::block::{Block, Fixed, RouteCells};
use crate::{EndpointCells, Exemplar, LimitCells, Registry, Shape, SpanQueue};

/// The counters of one core under one configuration. Belongs to the core's thread (it is not `Send`), which is what
/// makes a count a plain load and store.
///
/// A handler keeps one beside the configuration it was built from. After a reload [`Core::reshape`] makes the next
/// handler's; both write to the same cells, and exchanges that began under the old configuration end with the old one,
/// whose indexes their records hold.
#[derive(Debug)]
pub struct Core {
    lease: Rc<Lease>,
    shape: Shape,
    routes: Box<[Arc<RouteCells>]>,
    endpoints: Box<[Arc<EndpointCells>]>,
    limits: Box<[Arc<LimitCells>]>,
}

/// Holds a block of cells for this thread; the registry may lend it to another thread afterwards.
#[derive(Debug)]
struct Lease {
    registry: Arc<Registry>,
    block: Arc<Block>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.registry.give_back(&self.block);
    }
}

impl Core {
    /// Takes cells for the calling thread. Once a thread; allocates.
    pub fn new(registry: &Arc<Registry>, shape: &Shape) -> Self {
        Self::over(Rc::new(Lease { registry: Arc::clone(registry), block: registry.lend() }), shape)
    }

    /// The same core under another configuration: names that stay keep their numbers.
    pub fn reshape(&self, shape: &Shape) -> Self {
        Self::over(Rc::clone(&self.lease), shape)
    }

    fn over(lease: Rc<Lease>, shape: &Shape) -> Self {
        let (routes, endpoints) = (lease.block.routes(&shape.routes), lease.block.endpoints(&shape.endpoints));
        let limits = lease.block.limits(&shape.limits);
        Self { lease, shape: shape.clone(), routes, endpoints, limits }
    }

    #[inline]
    fn fixed(&self) -> &Fixed {
        &self.lease.block.fixed
    }

    /// Counts one exchange that ended: its route, status class, bytes, duration and reason, and its endpoint if it had
    /// one. No allocation; about ten stores.
    #[inline]
    pub fn observe(&self, record: &Record, duration_us: u64) {
        let route = record.route.and_then(|index| self.routes.get(index as usize));
        route.unwrap_or(&self.lease.block.unmatched).observe(record, duration_us);
        let endpoint = record.endpoint.and_then(|index| self.endpoints.get(index as usize));
        if let Some(endpoint) = endpoint {
            endpoint.observe(record);
        }
        if let Some(reason) = record.reason {
            self.fixed().refusals.add(reason);
            if let Some(endpoint) = endpoint
                && reason.blame() == Blame::Upstream
            {
                endpoint.errors.add(reason);
            }
        }
    }

    /// Lets a recorded exchange, after [`Core::observe`], stand for others like it: its trace is an exemplar of its route's and its
    /// endpoint's histograms. Does nothing where the trace is not recorded.
    pub fn exemplify(&self, record: &Record, duration_us: u64, time_ms: u64) {
        let Some(trace) = record.trace.filter(|trace| trace.sampled) else { return };
        let exemplar = Exemplar { us: duration_us, time_ms, trace: trace.id, span: trace.span };
        let route = record.route.and_then(|index| self.routes.get(index as usize));
        route.unwrap_or(&self.lease.block.unmatched).exemplify(exemplar);
        if let Some(endpoint) = record.endpoint.and_then(|index| self.endpoints.get(index as usize))
            && record.upstream_us > 0
        {
            endpoint.exemplify(Exemplar { us: u64::from(record.upstream_us), ..exemplar });
        }
    }

    /// Counts a try at an endpoint that failed and was followed by another one. The last try's failure is in the
    /// exchange's record and counted by [`Core::observe`].
    pub fn retried(&self, endpoint: u32, reason: Reason) {
        if let Some(endpoint) = self.endpoints.get(endpoint as usize) {
            endpoint.requests.add(1);
            endpoint.errors.add(reason);
        }
    }

    /// Counts a refusal that no exchange stands for, such as a connection over the limit.
    #[inline]
    pub fn refused(&self, reason: Reason) {
        self.fixed().refusals.add(reason);
    }

    /// Counts an accepted connection.
    #[inline]
    pub fn connection_accepted(&self) {
        self.fixed().connections_accepted.add(1);
    }

    /// Counts a closed connection; `None` where it simply came to its end.
    #[inline]
    pub fn connection_closed(&self, reason: Option<Reason>) {
        match reason {
            Some(reason) => self.fixed().connections_closed.add(reason),
            None => self.fixed().connections_done.add(1),
        }
    }

    /// Counts that accepting paused since the process or the system ran out of file descriptors.
    pub fn accept_paused(&self) {
        self.fixed().accept_pauses.add(1);
    }

    /// Counts a TLS handshake that began.
    pub fn handshake_started(&self) {
        self.fixed().handshakes_started.add(1);
    }

    /// Counts a TLS handshake that ended.
    pub fn handshake_ended(&self, outcome: Result<(), Reason>) {
        match outcome {
            Ok(()) => self.fixed().handshakes_done.add(1),
            Err(reason) => {
                self.fixed().handshakes_failed.add(1);
                self.fixed().refusals.add(reason);
            }
        }
    }

    /// Counts an HTTP/2 stream that a client opened.
    #[inline]
    pub fn h2_stream_opened(&self) {
        self.fixed().h2_streams_opened.add(1);
    }

    /// Counts an HTTP/2 stream that ended in any way.
    #[inline]
    pub fn h2_stream_closed(&self) {
        self.fixed().h2_streams_closed.add(1);
    }

    /// The cells of an endpoint, for the pool to keep.
    pub fn endpoint(&self, index: u32) -> Option<Endpoint> {
        let cells = Arc::clone(self.endpoints.get(index as usize)?);
        Some(Endpoint { cells, _lease: Rc::clone(&self.lease) })
    }

    /// The cells of a rate limit, for whoever asks it.
    pub fn limit(&self, index: usize) -> Option<Limit> {
        let cells = Arc::clone(self.limits.get(index)?);
        Some(Limit { cells, _lease: Rc::clone(&self.lease) })
    }

    /// Where recorded spans go.
    pub fn spans(&self) -> &SpanQueue {
        &self.lease.registry.process().spans
    }

    /// The name of a record's route; empty if it has none.
    #[inline]
    pub fn route_name(&self, record: &Record) -> &str {
        record.route.and_then(|index| self.shape.routes.get(index as usize)).map_or("", |name| name)
    }

    /// The address of a record's endpoint; empty if it has none.
    #[inline]
    pub fn endpoint_address(&self, record: &Record) -> &str {
        record.endpoint.and_then(|index| self.shape.endpoints.get(index as usize)).map_or("", |name| &name.address)
    }
}

/// One endpoint's cells of one core. Cheap to clone; belongs to the core's thread, and outlives reloads.
#[derive(Clone, Debug)]
pub struct Endpoint {
    cells: Arc<EndpointCells>,
    _lease: Rc<Lease>,
}

impl Deref for Endpoint {
    type Target = EndpointCells;

    #[inline]
    fn deref(&self) -> &EndpointCells {
        &self.cells
    }
}

/// One rate limit's cells of one core, as [`Endpoint`] has those of an endpoint.
#[derive(Clone, Debug)]
pub struct Limit {
    cells: Arc<LimitCells>,
    _lease: Rc<Lease>,
}

impl Deref for Limit {
    type Target = LimitCells;

    #[inline]
    fn deref(&self) -> &LimitCells {
        &self.cells
    }
}
