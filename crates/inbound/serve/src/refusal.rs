use leat_message::{Head, Peer, Reason, Reply, Version};

/// Writes a whole error reply.
pub(crate) fn write_problem<R: Reply>(reply: &mut R, reason: Reason) {
    let body = reason.problem();
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
