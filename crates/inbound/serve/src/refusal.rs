use leat_message::{Head, Peer, Reason, Reply, Version};

/// The body of an error reply: problem details (RFC 9457) with the stable reason code. Allocates once.
pub fn problem(reason: Reason) -> String {
    format!(
        "{{\"type\":\"about:blank\",\"title\":\"{}\",\"status\":{},\"code\":\"{}\",\"detail\":\"{}\"}}\n",
        title(reason.status()),
        reason.status(),
        reason.code(),
        reason.text()
    )
}

/// Writes a whole error reply.
pub(crate) fn write_problem<R: Reply>(reply: &mut R, reason: Reason) {
    let body = problem(reason);
    reply.status(reason.status());
    reply.field(b"content-type", b"application/problem+json");
    reply.length(leat_message::Length::Known(body.len() as u64));
    reply.body(body.as_bytes());
}

/// What the connection itself demands of a request before any handler sees it: a host it is authoritative for
/// (RFC 9110 section 7.4).
pub(crate) fn admit(head: Head<'_>, peer: &Peer) -> Result<(), Reason> {
    let Some(tls) = &peer.tls else { return Ok(()) };
    if head.version() == Version::Http10 && head.authority().is_empty() {
        return Ok(());
    }
    if tls.hosts.allows(tls.server_name.as_deref(), head.host()) { Ok(()) } else { Err(Reason::HostMisdirected) }
}

/// The reason phrase of the statuses that reasons use (RFC 9110 section 15).
fn title(status: u16) -> &'static str {
    match status {
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        413 => "Content Too Large",
        414 => "URI Too Long",
        417 => "Expectation Failed",
        421 => "Misdirected Request",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        _ => "Error",
    }
}
