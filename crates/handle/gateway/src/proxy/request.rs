use leat_dial::Call;
use leat_message::{Exchange, Fields, Head, Length, Method, Name, Trace, decimal};
use leat_observe::trace_context::{TRACESTATE, write_traceparent};
use leat_route::Params;

use super::connection_tokens::ConnectionTokens;
use super::last_hop::{counts_forwards, forwards_left};
use super::route::ProxyRoute;
use crate::admit::Admitted;
use crate::config::ProxyHost;
use crate::observe::Outgoing;
use crate::pick::Seat;

/// Where a request's head is written to: a call, or what is to become one.
pub(crate) trait RequestSink {
    /// As [`Call::request`].
    fn request(&mut self, method: &[u8], authority: &[u8], scheme: &str, target: &[u8]);

    /// As [`Call::field`].
    fn field(&mut self, name: &[u8], value: &[u8]);

    /// As [`Call::length`].
    fn length(&mut self, length: Length);

    /// Whether its connection can become one of another protocol.
    fn may_switch(&self) -> bool;
}

impl RequestSink for Call {
    #[inline]
    fn request(&mut self, method: &[u8], authority: &[u8], scheme: &str, target: &[u8]) {
        Call::request(self, method, authority, scheme, target);
    }

    #[inline]
    fn field(&mut self, name: &[u8], value: &[u8]) {
        Call::field(self, name, value);
    }

    #[inline]
    fn length(&mut self, length: Length) {
        Call::length(self, length);
    }

    #[inline]
    fn may_switch(&self) -> bool {
        !self.is_h2()
    }
}

/// One try: where it goes, and what is told of it.
#[derive(Clone, Copy)]
pub(crate) struct Try<'a> {
    pub(crate) seat: &'a Seat,
    /// The trace, where tracing is on.
    pub(crate) trace: Option<Outgoing>,
    /// The id that an earlier try was sent with.
    pub(crate) request_id: Option<[u8; 32]>,
    /// What it asks for, where that was made before (`Rewrite::prepare`).
    pub(crate) target: Option<&'a [u8]>,
}

impl<'a> Try<'a> {
    /// One beside the exchange's own try, which has no span of its own: a hedge, or a copy.
    pub(crate) fn beside(
        seat: &'a Seat,
        trace: Option<Trace>,
        request_id: Option<[u8; 32]>,
        target: Option<&'a [u8]>,
    ) -> Self {
        let trace = trace.map(|trace| Outgoing { trace, span: trace.span });
        Self { seat, trace, request_id, target }
    }
}

/// What was written that the response has to be judged by.
pub(crate) struct Sent {
    /// The request's id, if one was made.
    pub(super) request_id: Option<[u8; 32]>,
    /// Whether the upstream may switch protocols.
    pub(super) upgrade: bool,
}

/// Writes the request's head to the call: fields in their order and spelling, without those that were meant for our
/// connection, with ours behind them. Builds values in `scratch`; allocates nothing in the steady state.
///
/// `Proxy-Authorization`, and `Proxy-Authenticate` in the response, pass: they are for a proxy that asks for credentials
/// (RFC 9110 sections 11.7.1 and 11.7.2), which this one never does and a server behind it may.
pub(crate) fn write_request<X: Exchange>(
    x: &X,
    call: &mut impl RequestSink,
    to: &Try<'_>,
    route: &ProxyRoute,
    params: &Params,
    admitted: Option<&Admitted>,
    scratch: &mut Vec<u8>,
) -> Sent {
    let Try { seat, trace, request_id, target } = *to;
    let head = x.request();
    let fields = head.fields();
    let keeps_id = route.forwarded.believed_id(fields).is_some();
    let authority = upstream_authority(head, seat, route);
    scratch.clear();
    match target {
        Some(target) => scratch.extend_from_slice(target),
        None => route.rewrite.write_target(&head, params, scratch),
    }
    // `*` has no query.
    if !route.query.is_empty() && scratch.starts_with(b"/") {
        route.query.apply(scratch, 0);
    }
    call.request(head.method_bytes(), authority, seat.scheme, scratch);
    if fields.get(Name::Host).is_none() {
        call.field(b"host", authority);
    }
    let forwards_left = forwards_left(head);
    let tokens = ConnectionTokens::of(fields);
    let upgrade = call.may_switch() && may_upgrade(head);
    for (id, name, value) in fields {
        let keep = match id {
            Name::Host => {
                call.field(name, authority);
                false
            }
            Name::Upgrade => upgrade,
            Name::ContentLength => matches!(head.length(), Length::Known(_)),
            Name::Traceparent if trace.is_some() => false,
            Name::Other if trace.is_some_and(|to| !to.trace.keeps_state) && name.eq_ignore_ascii_case(TRACESTATE) => {
                false
            }
            id if id.is_hop_by_hop() || route.forwarded.takes_out(id, name, keeps_id) => false,
            _ => !tokens.contain(name) || route.forwarded.protects(id, name),
        };
        if !keep || route.request_edits.takes_out(name) || route.owns(name) {
            continue;
        }
        match forwards_left {
            Some(left) if counts_forwards(id, name) => {
                scratch.clear();
                decimal(left.saturating_sub(1), scratch);
                call.field(name, scratch);
            }
            _ => call.field(name, value),
        }
    }
    let trailers = wants_trailers(fields);
    if trailers {
        call.field(b"te", b"trailers");
    }
    match (upgrade, trailers) {
        (true, true) => call.field(b"connection", b"upgrade, te"),
        (true, false) => call.field(b"connection", b"upgrade"),
        (false, true) => call.field(b"connection", b"te"),
        (false, false) => {}
    }
    let put = |name: &[u8], value: &[u8]| call.field(name, value);
    let request_id = route.forwarded.write(x, &route.request_edits, request_id, scratch, put);
    if let Some(Outgoing { trace, span }) = trace
        && !route.request_edits.decides(b"traceparent")
    {
        call.field(b"traceparent", &write_traceparent(&trace, span));
    }
    for (name, value) in route.request_edits.put() {
        call.field(name, value);
    }
    for (name, value) in admitted.iter().flat_map(|admitted| admitted.upstream.iter()) {
        call.field(name, value);
    }
    call.length(body_length(head));
    Sent { request_id, upgrade }
}

/// How the request's body is delimited. CONNECT has none: over HTTP/2 the rest of its stream is the tunnel's.
pub(crate) fn body_length(head: Head<'_>) -> Length {
    if head.method() == Method::Connect { Length::None } else { head.length() }
}

/// The host that the upstream is asked for. An HTTP/1.0 request may come without one.
fn upstream_authority<'a>(head: Head<'a>, seat: &'a Seat, route: &'a ProxyRoute) -> &'a [u8] {
    match &route.host {
        ProxyHost::Keep if !head.authority().is_empty() => head.authority(),
        ProxyHost::Keep | ProxyHost::Endpoint => seat.authority.as_bytes(),
        ProxyHost::Literal(host) => host.as_bytes(),
    }
}

/// Whether the client's wish to switch protocols is passed on. Never to HTTP/2: inside such a tunnel requests would pass
/// by every rule of this gateway.
fn may_upgrade(head: Head<'_>) -> bool {
    let names_http = |value: &[u8]| {
        value.split(|&b| b == b',').map(<[u8]>::trim_ascii).any(|protocol| {
            protocol.get(..2).is_some_and(|start| start.eq_ignore_ascii_case(b"h2"))
                || protocol.get(..4).is_some_and(|start| start.eq_ignore_ascii_case(b"http"))
        })
    };
    head.lines().upgrade && head.length() == Length::None && !head.fields().get_all(Name::Upgrade).any(names_http)
}

/// Whether the client can take trailers (RFC 9110 section 10.1.4); gRPC servers insist on hearing it.
fn wants_trailers(fields: Fields<'_>) -> bool {
    fields
        .get_all(Name::Te)
        .any(|value| value.split(|&b| b == b',').any(|coding| coding.trim_ascii().eq_ignore_ascii_case(b"trailers")))
}
