use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use leat_message::{Address, Ended, Exchange, Head, Name, Peer, Reason, Scheme, Trace, Version};
use leat_observe::trace_context::TRACESTATE;
use leat_observe::{Core, Span, SpanKind, Value};

use super::{Outgoing, random};
use crate::pick::Seat;

/// The longest texts of peers in a span, in bytes.
const PATH_BYTES_MAX: usize = 1_024;
const TEXT_BYTES_MAX: usize = 256;

/// Methods that have a name of their own in OpenTelemetry's conventions; the rest is `_OTHER`.
const METHODS: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"];

/// A try whose span is recorded, from its beginning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientTry {
    started: Instant,
    outgoing: Outgoing,
}

impl ClientTry {
    /// Begins now.
    pub(crate) fn new(trace: Trace) -> Self {
        Self { started: Instant::now(), outgoing: Outgoing { trace, span: random().max(1) } }
    }

    pub(crate) fn outgoing(&self) -> Outgoing {
        self.outgoing
    }

    /// The try has ended: queues its span. `status` is 0 where there was no response, `reason` why it failed.
    #[cold]
    pub(crate) fn ended<X: Exchange>(
        self,
        x: &X,
        core: &Core,
        seat: &Seat,
        number: u16,
        status: u16,
        reason: Option<Reason>,
    ) {
        let request = x.request();
        let method = method(request);
        let (host, port) = host_and_port(seat.authority.as_bytes());
        let path = Value::of_peer(request.path(), PATH_BYTES_MAX);
        let mut attributes = vec![
            ("http.request.method", Value::from(method)),
            ("server.address", Value::of_peer(host, TEXT_BYTES_MAX)),
            ("server.port", Value::Number(port.unwrap_or(if seat.scheme == "https" { 443 } else { 80 }))),
        ];
        if let Value::Text(path) = path {
            attributes.push(("url.full", Value::Text(format!("{}://{}{path}", seat.scheme, seat.authority))));
        }
        if number > 1 {
            attributes.push(("http.request.resend_count", Value::Number(i64::from(number) - 1)));
        }
        let failed = outcome(status, reason, 400, &mut attributes);
        let (start_ns, end_ns) = between(self.started.elapsed());
        core.spans().push(Box::new(Span {
            trace: self.outgoing.trace,
            id: self.outgoing.span,
            parent: self.outgoing.trace.span,
            is_remote: false,
            kind: SpanKind::Client,
            name: method.to_owned(),
            state: state(request, self.outgoing.trace),
            start_ns,
            end_ns,
            failed,
            attributes,
        }));
    }
}

/// Queues the span of an exchange that has ended.
#[cold]
pub(crate) fn server_span(core: &Core, ended: &Ended<'_>, trace: Trace, duration: Duration, request_id: &[u8]) {
    let route = core.route_name(ended.record);
    let mut attributes = Vec::with_capacity(16);
    let mut name = "HTTP".to_owned();
    let mut tracestate = String::new();
    if let Some(request) = ended.request {
        tracestate = state(request, trace);
        describe(request, ended.peer, &mut attributes);
        method(request).clone_into(&mut name);
    }
    if !route.is_empty() {
        attributes.push(("http.route", Value::from(route)));
        name = format!("{name} {route}");
    }
    if !request_id.is_empty() {
        attributes.push(("leat.request_id", Value::of_peer(request_id, TEXT_BYTES_MAX)));
    }
    let failed = outcome(ended.record.status, ended.record.reason, 500, &mut attributes);
    let (start_ns, end_ns) = between(duration);
    core.spans().push(Box::new(Span {
        trace,
        id: trace.span,
        parent: trace.parent,
        is_remote: trace.parent != 0,
        kind: SpanKind::Server,
        name,
        state: tracestate,
        start_ns,
        end_ns,
        failed,
        attributes,
    }));
}

/// What a request is, by OpenTelemetry's conventions for HTTP. Its query is left out: that is where secrets are.
fn describe(request: Head<'_>, peer: &Peer, attributes: &mut Vec<(&'static str, Value)>) {
    let method = method(request);
    attributes.push(("http.request.method", Value::from(method)));
    if method == "_OTHER" {
        attributes.push(("http.request.method_original", Value::of_peer(request.method_bytes(), 32)));
    }
    attributes.push(("url.scheme", Value::from(if peer.scheme == Scheme::Https { "https" } else { "http" })));
    attributes.push(("url.path", Value::of_peer(request.path(), PATH_BYTES_MAX)));
    let version = match request.version() {
        Version::Http10 => "1.0",
        Version::Http11 => "1.1",
        Version::Http2 => "2",
    };
    attributes.push(("network.protocol.version", Value::from(version)));
    let (host, port) = host_and_port(request.authority());
    if !host.is_empty() {
        attributes.push(("server.address", Value::of_peer(host, TEXT_BYTES_MAX)));
    }
    if let Some(port) = port {
        attributes.push(("server.port", Value::Number(port)));
    }
    if let Address::Ip(address) = peer.remote {
        attributes.push(("network.peer.address", Value::Text(address.ip().to_canonical().to_string())));
        attributes.push(("network.peer.port", Value::Number(i64::from(address.port()))));
    }
    if let Some(agent) = request.fields().get(Name::UserAgent) {
        attributes.push(("user_agent.original", Value::of_peer(agent, TEXT_BYTES_MAX)));
    }
}

/// Adds what came of it, and says whether that is a failure: no status, a reason of ours, or a status from `failed_from` on.
fn outcome(status: u16, reason: Option<Reason>, failed_from: u16, attributes: &mut Vec<(&'static str, Value)>) -> bool {
    if status > 0 {
        attributes.push(("http.response.status_code", Value::Number(i64::from(status))));
    }
    let failed = status == 0 || status >= failed_from;
    match reason {
        Some(reason) => {
            attributes.push((if failed { "error.type" } else { "leat.reason" }, Value::from(reason.code())))
        }
        None if failed && status > 0 => attributes.push(("error.type", Value::Text(status.to_string()))),
        None => {}
    }
    failed
}

fn method(request: Head<'_>) -> &'static str {
    METHODS.into_iter().find(|method| method.as_bytes() == request.method_bytes()).unwrap_or("_OTHER")
}

fn state(request: Head<'_>, trace: Trace) -> String {
    if !trace.keeps_state {
        return String::new();
    }
    let values = request.fields().iter().filter(|(_, name, _)| name.eq_ignore_ascii_case(TRACESTATE));
    values.map(|(_, _, value)| String::from_utf8_lossy(value).into_owned()).collect::<Vec<_>>().join(",")
}

fn host_and_port(authority: &[u8]) -> (&[u8], Option<i64>) {
    let colon = authority.iter().rposition(|&byte| byte == b':');
    let port = colon.and_then(|at| std::str::from_utf8(authority.get(at + 1..)?).ok()?.parse::<u16>().ok());
    match (colon, port) {
        (Some(at), Some(port)) => (authority.get(..at).unwrap_or_default(), Some(i64::from(port))),
        _ => (authority, None),
    }
}

/// The nanoseconds since 1970 of something that took so long and ends now.
fn between(duration: Duration) -> (u64, u64) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    (ns(now.saturating_sub(duration)), ns(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_told_from_an_address() {
        for (authority, host, port) in [
            ("example.org", "example.org", None),
            ("example.org:8080", "example.org", Some(8080)),
            ("[::1]:80", "[::1]", Some(80)),
            ("[::1]", "[::1]", None),
            ("h:99999", "h:99999", None),
            ("", "", None),
        ] {
            assert_eq!(host_and_port(authority.as_bytes()), (host.as_bytes(), port), "{authority}");
        }
    }

    #[test]
    fn what_failed_is_named_and_what_did_not_is_not() {
        let named = |status, reason, from| {
            let mut attributes = Vec::new();
            let failed = outcome(status, reason, from, &mut attributes);
            (failed, attributes.into_iter().map(|(name, _)| name).collect::<Vec<_>>())
        };
        let status = "http.response.status_code";
        assert_eq!(named(200, None, 500), (false, vec![status]));
        assert_eq!(named(404, None, 500), (false, vec![status]));
        assert_eq!(named(404, None, 400), (true, vec![status, "error.type"]));
        assert_eq!(named(403, Some(Reason::AuthDenied), 500), (false, vec![status, "leat.reason"]));
        assert_eq!(named(502, Some(Reason::UpstreamReset), 500), (true, vec![status, "error.type"]));
        assert_eq!(named(0, Some(Reason::PeerEnded), 500), (true, vec!["error.type"]));
    }
}
