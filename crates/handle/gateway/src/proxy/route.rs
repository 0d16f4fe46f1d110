use std::rc::Rc;

use leat_message::BodyLimits;

use super::{Edits, ForwardedPolicy};
use crate::admit::CORS_FIELDS;
use crate::config::{self, ProxyHost, Rewrite};
use crate::pick::Upstream;

/// A `proxy` route, compiled for one core.
pub(crate) struct ProxyRoute {
    /// Where requests go.
    pub(super) upstream: Rc<Upstream>,
    /// Limits of the request body.
    pub(super) body: BodyLimits,
    /// From the request's last byte to the response's head, in milliseconds.
    pub(super) response_time_ms: u64,
    /// Without a byte in either direction, in milliseconds.
    pub(super) idle_time_ms: u64,
    /// From the request's head to the response's end, in milliseconds.
    pub(super) total_time_ms: u64,
    /// What becomes of the path.
    pub(super) rewrite: Rewrite,
    /// Which host the upstream is asked for.
    pub(super) host: ProxyHost,
    /// What is told about the client.
    pub(super) forwarded: Rc<ForwardedPolicy>,
    /// Changes to the request's fields.
    pub(super) request_edits: Edits,
    /// Changes to the response's fields.
    pub(super) response_edits: Edits,
}

impl ProxyRoute {
    pub(crate) fn new(
        route: &config::Route,
        proxy: &config::Proxy,
        rewrite: &Rewrite,
        upstream: Rc<Upstream>,
        forwarded: Rc<ForwardedPolicy>,
    ) -> Self {
        Self {
            upstream,
            body: route.body(),
            response_time_ms: proxy.response_time_ms().unwrap_or(u64::MAX),
            idle_time_ms: proxy.idle_time_ms().unwrap_or(u64::MAX),
            total_time_ms: proxy.total_time_ms().unwrap_or(u64::MAX),
            rewrite: rewrite.clone(),
            host: proxy.host().clone(),
            forwarded,
            request_edits: Edits::new(route.request_fields()),
            response_edits: match route.cors() {
                Some(_) => Edits::new(route.response_fields()).taking_out(&CORS_FIELDS),
                None => Edits::new(route.response_fields()),
            },
        }
    }
}
