use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use leat_message::{Exchange, Length, Method, Trace};
use leat_policy::Random;
use leat_route::Params;

use super::counts::End;
use super::{Copying, MIRRORED_FIELD, MirrorCounts, Recorded};
use crate::admit::Admitted;
use crate::config;
use crate::pick::{Tried, Upstream};
use crate::proxy::{ProxyRoute, Try, body_length, write_request};

/// What a route copies, and where it goes. Compiled for one core.
pub(crate) struct Mirror {
    pub(super) upstream: Rc<Upstream>,
    pub(super) settings: config::Mirror,
    pub(super) counts: Arc<MirrorCounts>,
}

impl Mirror {
    pub(crate) fn new(upstream: Rc<Upstream>, settings: &config::Mirror, counts: Arc<MirrorCounts>) -> Self {
        Self { upstream, settings: settings.clone(), counts }
    }

    /// Begins a copy of a request, if it is one that is copied: its head is written as the route has it, for an endpoint that is
    /// chosen now. `None` costs nothing beyond a draw; otherwise the head is copied, some ten allocations.
    pub(crate) fn begin<X: Exchange>(
        self: &Rc<Self>,
        x: &X,
        route: &ProxyRoute,
        params: &Params,
        admitted: Option<&Admitted>,
        trace: Option<Trace>,
        target: Option<&[u8]>,
    ) -> Option<Box<Copying>> {
        if self.upstream.random().borrow_mut().below(100) >= self.settings.percent() {
            return None;
        }
        let head = x.request();
        let is_safe = matches!(head.method_bytes(), b"GET" | b"HEAD" | b"OPTIONS" | b"TRACE");
        // A copy of a copy would go round for ever between gateways that mirror to each other.
        let is_copy = head.fields().get_named(MIRRORED_FIELD).is_some();
        let is_tunnel = head.method() == Method::Connect || head.lines().upgrade;
        if is_copy || is_tunnel || !(is_safe || self.settings.unsafe_methods()) {
            return None;
        }
        if matches!(head.length(), Length::Known(count) if count > self.settings.body_bytes_max() as u64) {
            self.counts.count(End::Large);
            return None;
        }
        let begun = self.counts.begin(self.settings.in_flight_max());
        let held = self.upstream.pick(route.asking(x, admitted), Tried::default(), Instant::now()).ok();
        let (Some(in_flight), Some(held)) = (begun, held) else {
            self.counts.count(End::Dropped);
            return None;
        };
        let to = Try::beside(held.seat(), trace, None, target);
        let mut recorded = Recorded::new(held.seat().scheme);
        let scratch = &mut *self.upstream.scratch.borrow_mut();
        write_request(x, &mut recorded, &to, route, params, admitted, scratch);
        let has_body = body_length(head) != Length::None;
        Some(Box::new(Copying::new(Rc::clone(self), held.at(), recorded, has_body, in_flight)))
    }
}
