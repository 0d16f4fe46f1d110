use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use leat_message::Ended;
use leat_observe::access_log::{Entry, Sink};
use leat_observe::{Core, EndpointName, Shape};

use crate::config::{Config, Forwarded};

/// What one core writes down about its exchanges: counters always, a line in the access log where there is one.
#[derive(Debug)]
pub struct Observer {
    core: Core,
    log: Option<Rc<Sink>>,
    /// The field of a request id that is believed as it arrives.
    believed_id: Option<Box<str>>,
}

impl Observer {
    /// Counts with `core`, and writes to `log` if there is one.
    pub fn new(core: Core, log: Option<Rc<Sink>>) -> Self {
        Self { core, log, believed_id: None }
    }

    /// Takes the request ids of trusted proxies over into the log; those of strangers it does not.
    pub(crate) fn believing(mut self, forwarded: &Forwarded) -> Self {
        self.believed_id = match forwarded.request_id() {
            Some(id) if forwarded.trusted_hops() > 0 => Some(id.field().into()),
            _ => None,
        };
        self
    }

    /// The counters.
    pub fn core(&self) -> &Core {
        &self.core
    }

    pub(crate) fn ended(&self, ended: &Ended<'_>) {
        let duration_us = u64::try_from(ended.started.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.core.observe(ended.record, duration_us);
        let Some(log) = &self.log else { return };
        let now_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
        let time_ms = u64::try_from(now_ms).unwrap_or(u64::MAX).saturating_sub(duration_us / 1_000);
        let request_id = match &ended.record.request_id {
            Some(id) => &id[..],
            None => match (&self.believed_id, ended.request) {
                (Some(field), Some(head)) => head.fields().get_named(field.as_bytes()).unwrap_or_default(),
                _ => b"",
            },
        };
        log.append(&Entry {
            time_ms,
            duration_us,
            peer: ended.peer,
            request: ended.request,
            request_id,
            record: ended.record,
            route: self.core.route_name(ended.record),
            endpoint: self.core.endpoint_address(ended.record),
        });
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
