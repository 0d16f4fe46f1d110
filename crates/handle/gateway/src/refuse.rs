use leat_message::{Blame, Length, Reason, Reply};

/// Writes a whole error reply: problem details (RFC 9457) with the stable reason code. Allocates once.
pub(crate) fn refuse<'a, R: Reply>(
    reply: &mut R,
    reason: Reason,
    fields: impl IntoIterator<Item = (&'a [u8], &'a [u8])>,
) {
    refuse_as(reply, reason, reason.status(), fields);
}

/// The same with another status than the reason's own.
pub(crate) fn refuse_as<'a, R: Reply>(
    reply: &mut R,
    reason: Reason,
    status: u16,
    fields: impl IntoIterator<Item = (&'a [u8], &'a [u8])>,
) {
    let body = reason.problem_as(status);
    reply.record().reason = Some(reason);
    reply.status(status);
    reply.field(b"content-type", b"application/problem+json");
    for (name, value) in fields {
        reply.field(name, value);
    }
    reply.length(Length::Known(body.len() as u64));
    reply.body(body.as_bytes());
}

/// Whether a client is told of this failure while its connection goes on as before. Framing errors and bugs are the
/// engine's: it knows what becomes of the connection.
pub(crate) fn says_so(reason: Reason) -> bool {
    let plugins = matches!(
        reason,
        Reason::PluginFailed
            | Reason::PluginTurnTime
            | Reason::PluginWaitTime
            | Reason::PluginLost
            | Reason::PluginBusy
            | Reason::PluginResponseBody
    );
    plugins || reason.status() != 0 && reason.blame() == Blame::Upstream
}
