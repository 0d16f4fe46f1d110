use std::rc::Rc;
use std::time::{Duration, Instant};

use leat_message::{Ended, Head, Peer, Reason, Reply, Trace, ticks};
use leat_observe::access_log::{Entry, PhaseTimes, Sink};
use leat_observe::{Core, EndpointName, Shape};
use leat_stream::clock::unix_ms;

use crate::admit::ClientAddress;
use crate::config::Config;
use crate::observe::{ClientTry, Outgoing, TimingPolicy, Tracer, server_span};
use crate::proxy::accepted_id;

/// What one core writes down about its exchanges: counters always, a line in the access log where there is one, spans of the
/// traces that are recorded.
#[derive(Debug)]
pub struct Observer {
    core: Core,
    log: Option<Rc<Sink>>,
    /// The field of a request id that is believed as it arrives.
    believed_id: Option<Box<str>>,
    /// Whose requests they are, where proxies are trusted.
    client: Option<ClientAddress>,
    tracer: Option<Tracer>,
    timed: Timed,
}

/// Which exchanges have their phases measured.
#[derive(Debug)]
enum Timed {
    None,
    /// Those that ask for it.
    Asked(TimingPolicy),
    All,
}

impl Observer {
    /// Counts with `core`, and writes to `log` if there is one.
    pub fn new(core: Core, log: Option<Rc<Sink>>) -> Self {
        Self { core, log, believed_id: None, client: None, tracer: None, timed: Timed::None }
    }

    /// Observes as the configuration wants it. The request ids of trusted proxies are taken over into the log; those of
    /// strangers are not.
    pub(crate) fn under(mut self, config: &Config) -> Self {
        let (forwarded, observation) = (config.forwarded(), config.observation());
        self.believed_id = match forwarded.request_id() {
            Some(id) if forwarded.trusted_hops() > 0 => Some(id.field().into()),
            _ => None,
        };
        self.client = (forwarded.trusted_hops() > 0).then(|| ClientAddress::new(forwarded));
        self.tracer = Tracer::new(observation);
        let log_wants_phases = self.log.is_some() && config.access_log().phases();
        self.timed = match observation.server_timing() {
            _ if log_wants_phases => Timed::All,
            Some(timing) => Timed::Asked(TimingPolicy::new(timing, forwarded)),
            None => Timed::None,
        };
        self
    }

    /// The counters.
    pub fn core(&self) -> &Core {
        &self.core
    }

    /// A request has come: finds its trace, and starts the clock of its phases. Two comparisons where neither is wanted.
    #[inline]
    pub(crate) fn begin<R: Reply>(&self, request: Head<'_>, peer: &Peer, reply: &mut R) {
        let is_timed = match &self.timed {
            Timed::None => false,
            Timed::All => true,
            Timed::Asked(policy) => policy.is_asked(request),
        };
        if is_timed {
            reply.record().phases.begin(Instant::now());
        }
        if let Some(tracer) = &self.tracer {
            reply.record().trace = Some(tracer.begin(request, peer));
        }
    }

    /// What a try tells its endpoint of the trace, and what its span will be made of if it is recorded.
    #[inline]
    pub(crate) fn begin_try(&self, trace: Option<Trace>) -> (Option<Outgoing>, Option<Box<ClientTry>>) {
        let (Some(trace), Some(tracer)) = (trace, &self.tracer) else { return (None, None) };
        if !tracer.records(&trace) {
            return (Some(Outgoing { trace, span: trace.span }), None);
        }
        // Boxed, since it is rare and would make the future of every exchange larger.
        let tried = Box::new(ClientTry::new(trace));
        (Some(tried.outgoing()), Some(tried))
    }

    pub(crate) fn ended(&self, ended: &Ended<'_>) {
        let record = ended.record;
        let now = Instant::now();
        let duration = now.saturating_duration_since(ended.started);
        let duration_us = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        self.core.observe(record, duration_us);
        let trace = record.trace.filter(|trace| trace.sampled);
        let log = self.log.as_deref().filter(|log| log.takes(record, duration_us));
        if trace.is_none() && log.is_none() {
            return;
        }
        let request_id = match &record.request_id {
            Some(id) => &id[..],
            None => match (&self.believed_id, ended.request) {
                (Some(field), Some(head)) => accepted_id(head.fields(), field.as_bytes()).unwrap_or_default(),
                _ => b"",
            },
        };
        let now_ms = unix_ms(now);
        if let Some(trace) = trace {
            self.recorded(ended, trace, duration, now_ms, request_id);
        }
        let Some(log) = log else { return };
        log.append(&Entry {
            time_ms: now_ms.saturating_sub(duration_us / 1_000),
            duration_us,
            peer: ended.peer,
            client: self.client.as_ref().zip(ended.request).and_then(|(client, head)| client.of(head, ended.peer)),
            request: ended.request,
            request_id,
            record,
            route: self.core.route_name(record),
            endpoint: self.core.endpoint_address(record),
            phases: record.phases.began().map(|began| {
                let parse = ticks(began.saturating_duration_since(ended.started));
                PhaseTimes::of(&record.phases, parse, record.phases.send(now))
            }),
        });
    }

    /// An exchange whose trace is recorded.
    #[cold]
    fn recorded(&self, ended: &Ended<'_>, trace: Trace, duration: Duration, now_ms: u64, request_id: &[u8]) {
        let duration_us = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        self.core.exemplify(ended.record, duration_us, now_ms);
        if self.tracer.as_ref().is_some_and(|tracer| tracer.records(&trace)) {
            server_span(&self.core, ended, trace, duration, request_id);
        }
    }

    /// A try at an endpoint failed and is followed by another one.
    pub(crate) fn retried(&self, endpoint: u32, reason: Reason) {
        self.core.retried(endpoint, reason);
    }
}

/// The names that a configuration's routes and endpoints are counted by.
pub fn shape(config: &Config) -> Shape {
    let endpoints = config.upstreams().iter().flat_map(|upstream| {
        upstream
            .endpoints()
            .iter()
            .map(|endpoint| EndpointName { upstream: upstream.name().into(), address: endpoint.url().into() })
    });
    Shape {
        routes: config.routes().iter().map(|route| route.name().into()).collect(),
        endpoints: endpoints.collect(),
        limits: config.rate_limits().iter().map(|limit| limit.name().into()).collect(),
    }
}
