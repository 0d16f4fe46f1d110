use std::rc::Rc;
use std::sync::Arc;

use leat_message::{BodyLimits, Exchange};
use leat_policy::Random;
use leat_rpc::transcode::Transcoder;

use super::{Edits, ForwardedPolicy};
use crate::admit::{Admitted, CORS_FIELDS, OwnFields};
use crate::config::{self, ProxyHost, QueryEdits, Rewrite, SplitWhen};
use crate::error::GatewayError;
use crate::mirror::Mirror;
use crate::pick::{Asking, Upstream, cookie};

/// A `proxy` route, compiled for one core.
#[derive(Clone)]
pub(crate) struct ProxyRoute {
    /// Where requests go.
    pub(super) upstream: Rc<Upstream>,
    /// Requests that go elsewhere; the first that takes a request gets it.
    splits: Vec<(SplitWhen, Rc<Upstream>)>,
    /// Where copies of them go.
    pub(super) mirror: Option<Rc<Mirror>>,
    /// Limits of the request body.
    body: BodyLimits,
    /// Whether its time is that of gRPC streams as well.
    times_streams: bool,
    /// From the request's last byte to the response's head, in milliseconds.
    pub(super) response_time_ms: u64,
    /// Without a byte in either direction, in milliseconds.
    pub(super) idle_time_ms: u64,
    /// From the request's head to the response's end, in milliseconds.
    pub(super) total_time_ms: u64,
    /// What becomes of the path.
    pub(super) rewrite: Rewrite,
    /// What becomes of the query behind it.
    pub(super) query: QueryEdits,
    /// Which host the upstream is asked for.
    pub(super) host: ProxyHost,
    /// What is told about the client.
    pub(super) forwarded: Rc<ForwardedPolicy>,
    /// Changes to the request's fields.
    pub(super) request_edits: Edits,
    /// Names of fields that no client may send past the route's authentication.
    pub(super) own_fields: OwnFields,
    /// Changes to the response's fields.
    pub(super) response_edits: Edits,
    /// What makes gRPC of other protocols' requests.
    transcoder: Option<Arc<Transcoder>>,
}

impl ProxyRoute {
    /// A request that asks for a place by this route.
    #[inline]
    pub(crate) fn asking<'a, X: Exchange>(&'a self, x: &'a X, admitted: Option<&'a Admitted>) -> Asking<'a, X> {
        Asking::new(x, &self.own_fields, admitted)
    }

    /// Whether the field is the authentication's.
    #[inline]
    pub(super) fn owns(&self, name: &[u8]) -> bool {
        self.own_fields.has(name)
    }

    pub(crate) fn new(
        route: &config::Route,
        schemes: &[config::AuthScheme],
        proxy: &config::Proxy,
        rewrite: &Rewrite,
        upstreams: &[Rc<Upstream>],
        forwarded: Rc<ForwardedPolicy>,
        mirror: Option<Rc<Mirror>>,
    ) -> Result<Self, GatewayError> {
        let find = |number: usize| upstreams.get(number).map(Rc::clone).ok_or(GatewayError::Upstream(number));
        let own_fields = OwnFields::of(route, schemes);
        let splits = proxy.splits().iter().map(|split| Ok((split.when().clone(), find(split.upstream())?)));

        Ok(Self {
            upstream: find(proxy.upstream())?,
            splits: splits.collect::<Result<_, _>>()?,
            mirror,
            body: route.body(),
            times_streams: route.times_streams(),
            response_time_ms: proxy.response_time_ms().unwrap_or(u64::MAX),
            idle_time_ms: proxy.idle_time_ms().unwrap_or(u64::MAX),
            total_time_ms: proxy.total_time_ms().unwrap_or(u64::MAX),
            rewrite: rewrite.clone(),
            query: route.request_query().clone(),
            host: proxy.host().clone(),
            forwarded,
            transcoder: proxy.transcoder().map(Arc::clone),
            request_edits: Edits::new(route.request_fields()).yielding_to(&own_fields),
            own_fields,
            response_edits: match route.cors() {
                Some(_) => Edits::new(route.response_fields()).taking_out(&CORS_FIELDS),
                None => Edits::new(route.response_fields()),
            },
        })
    }

    /// What makes gRPC of other protocols' requests, if something does.
    pub(crate) fn transcoder(&self) -> Option<&Transcoder> {
        self.transcoder.as_deref()
    }

    /// Limits of a request's body. A stream has its pauses: unless the route says otherwise, `idle_time` alone bounds them.
    pub(crate) fn body(&self, is_streamed: bool) -> BodyLimits {
        let time_ms = self.body.time_ms.filter(|_| self.times_streams || !is_streamed);
        BodyLimits { time_ms, ..self.body }
    }

    /// Where this request goes.
    pub(super) fn upstream_of<X: Exchange>(&self, asking: Asking<'_, X>) -> &Upstream {
        let taken = self.splits.iter().find(|(when, _)| self.takes(when, asking));
        taken.map_or(&self.upstream, |(_, upstream)| upstream)
    }

    fn takes<X: Exchange>(&self, when: &SplitWhen, asking: Asking<'_, X>) -> bool {
        let is = |found: Option<&[u8]>, value: &Option<String>| {
            found.is_some_and(|found| value.as_ref().is_none_or(|value| value.as_bytes() == found))
        };
        match when {
            SplitWhen::Percent(percent) => self.upstream.random().borrow_mut().below(100) < *percent,
            SplitWhen::Header { name, value } => is(asking.field(name), value),
            SplitWhen::Cookie { name, value } => is(cookie(asking.request().fields(), name), value),
        }
    }

    /// The same route to another upstream, whatever its splits say.
    pub(crate) fn with_upstream(&self, upstream: Rc<Upstream>) -> Self {
        Self { upstream, splits: Vec::new(), ..self.clone() }
    }
}
