use leat_message::{Exchange, Fields, Head, Length, Name, OwnedFields, Reason, ResponseHead};

use super::connection_tokens::ConnectionTokens;
use super::edits::Edits;
use super::route::ProxyRoute;
use crate::admit::Admitted;
use crate::observe::write_server_timing;

/// Writes an upstream's final head to the client: fields in their order and spelling, without those that were meant for
/// the upstream's connection.
///
/// # Errors
/// `UpstreamUpgrade` for a 101 that was not asked for; `upgrade` says whether one was.
pub(super) fn write_response<X: Exchange>(
    x: &mut X,
    head: ResponseHead<'_>,
    route: &ProxyRoute,
    admitted: Option<&Admitted>,
    upgrade: bool,
) -> Result<(), Reason> {
    let fields = head.fields();
    let tunnel = head.length() == Length::Tunnel;
    if head.status() == 101 && !(upgrade && is_wanted(x.request(), fields)) {
        return Err(Reason::UpstreamUpgrade);
    }
    let tokens = ConnectionTokens::of(fields);
    let edits = &route.response_edits;
    x.status(head.status());
    for (id, name, value) in fields {
        let keep = match id {
            Name::Upgrade => tunnel,
            Name::TransferEncoding => false,
            // The length belongs to the framing, except where it only tells of a body that is not sent. A 204 has none to
            // tell of (RFC 9110 section 8.6).
            Name::ContentLength => matches!(head.length(), Length::Known(_) | Length::None) && head.status() != 204,
            id if id.is_hop_by_hop() => false,
            _ => !tokens.contain(name),
        };
        if keep && !edits.takes_out(name) {
            x.field(name, value);
        }
    }
    if let Some(field) = route.forwarded.request_id_field().map(str::as_bytes)
        && !edits.decides(field)
        && !route.forwarded.has_request_id(fields)
    {
        write_request_id(x, route, field);
    }
    edits.write(x);
    for (name, value) in admitted.iter().flat_map(|admitted| admitted.reply.iter()) {
        x.field(name, value);
    }
    if let Some(timing) = route.forwarded.server_timing() {
        write_server_timing(x, timing);
    }
    x.length(client_length(head));
    Ok(())
}

/// How the client's body is delimited. A response without a body may still tell the length that the body would have
/// (HEAD, 304: RFC 9110 section 8.6); its Content-Length field, if any, was passed on.
fn client_length(head: ResponseHead<'_>) -> Length {
    match head.length() {
        // Ended by the upstream's connection: the client gets chunks, so that it sees a cut-off body.
        Length::Close => Length::Stream,
        other => other,
    }
}

/// Tells the client the request's id: the one that was made, or the one that was believed.
fn write_request_id<X: Exchange>(x: &mut X, route: &ProxyRoute, field: &[u8]) {
    if let Some(id) = x.record().request_id {
        return x.field(field, &id);
    }
    let scratch = &mut *route.upstream.scratch.borrow_mut();
    scratch.clear();
    scratch.extend_from_slice(route.forwarded.believed_id(x.request().fields()).unwrap_or_default());
    if !scratch.is_empty() {
        x.field(field, scratch);
    }
}

/// Whether the protocols that a 101 switches to are among those that the client named (RFC 9110 section 7.8).
fn is_wanted(request: Head<'_>, fields: Fields<'_>) -> bool {
    let is_named = |protocol: &[u8]| {
        protocols(request.fields().get_all(Name::Upgrade)).any(|named| named.eq_ignore_ascii_case(protocol))
    };
    protocols(fields.get_all(Name::Upgrade)).all(is_named)
}

fn protocols<'a>(values: impl Iterator<Item = &'a [u8]>) -> impl Iterator<Item = &'a [u8]> {
    values.flat_map(|value| value.split(|&b| b == b',')).map(<[u8]>::trim_ascii).filter(|protocol| !protocol.is_empty())
}

/// Passes an interim head on, without the fields that were meant for the upstream's connection, and those that the configuration takes
/// out. Copies the fields only where there are such, which is hardly ever.
pub(super) fn write_interim<X: Exchange>(x: &mut X, head: ResponseHead<'_>, edits: &Edits) {
    let fields = head.fields();
    let tokens = ConnectionTokens::of(fields);
    let goes = |id: Name, name: &[u8]| id.is_hop_by_hop() || id == Name::ContentLength || tokens.contain(name);
    let stays = |id: Name, name: &[u8]| !goes(id, name) && !edits.takes_out(name);
    if fields.iter().all(|(id, name, _)| stays(id, name)) {
        return x.interim(head.status(), fields);
    }
    let kept: OwnedFields = fields.iter().filter(|(id, name, _)| stays(*id, name)).collect();
    x.interim(head.status(), kept.fields());
}
