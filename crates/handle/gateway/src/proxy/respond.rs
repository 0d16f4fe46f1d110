use leat_message::{Exchange, Length, Name, Reason, ResponseHead};

use super::connection_tokens::ConnectionTokens;
use super::route::ProxyRoute;

/// Writes an upstream's final head to the client: fields in their order and spelling, without those that were meant for
/// the upstream's connection.
pub(super) fn write_response<X: Exchange>(x: &mut X, head: ResponseHead<'_>, route: &ProxyRoute) -> Result<(), Reason> {
    let fields = head.fields();
    let tunnel = head.length() == Length::Tunnel;
    if head.status() == 101 && !x.request().lines().upgrade {
        return Err(Reason::UpstreamUpgrade);
    }
    let tokens = ConnectionTokens::of(fields);
    let edits = &route.response_edits;
    x.status(head.status());
    for (id, name, value) in fields {
        let keep = match id {
            Name::Upgrade => tunnel,
            Name::TransferEncoding => false,
            // The length belongs to the framing, except where it only tells of a body that is not sent.
            Name::ContentLength => matches!(head.length(), Length::Known(_) | Length::None),
            id if id.is_hop_by_hop() => false,
            _ => !tokens.contain(name),
        };
        if keep && !edits.takes_out(name) {
            x.field(name, value);
        }
    }
    edits.write(x);
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
