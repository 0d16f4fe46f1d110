use leat_message::{Fields, Head, Length, Method, Name, Reason, Reply};

use super::admitted::FieldLines;
use crate::config::{Cors, Origins};

/// Fields that `cors` alone decides on: an upstream's are taken out.
pub(crate) const CORS_FIELDS: [&[u8]; 7] = [
    b"access-control-allow-origin",
    b"access-control-allow-credentials",
    b"access-control-expose-headers",
    b"access-control-allow-methods",
    b"access-control-allow-headers",
    b"access-control-max-age",
    b"access-control-allow-private-network",
];

/// The method that a browser asks for ahead, if this is a preflight request (the Fetch standard, section 3.2.2).
#[inline]
pub(crate) fn preflight(head: Head<'_>) -> Option<&[u8]> {
    if head.method() != Method::Options {
        return None;
    }
    head.fields().get(Name::Origin)?;
    head.fields().get_named(b"access-control-request-method")
}

/// Notes what a reply to this request tells the browser. A page that may not use the route is told nothing, and so its
/// browser keeps the reply from it.
pub(super) fn note(cors: &Cors, head: Head<'_>, reply: &mut FieldLines) {
    let Some(origin) = allowed_origin(cors, head.fields(), |name, value| reply.put(name, |out| out.extend(value)))
    else {
        return;
    };
    reply.put(b"access-control-allow-origin", |out| out.extend(origin));
    if cors.credentials() {
        reply.put(b"access-control-allow-credentials", |out| out.extend(b"true"));
    }
    if let Some(exposed) = cors.exposed() {
        reply.put(b"access-control-expose-headers", |out| out.extend(exposed.as_bytes()));
    }
}

/// Answers a preflight request: what is asked for is allowed, or refused with the reason.
///
/// # Errors
/// Why not; nothing was written.
pub(crate) fn answer_preflight<R: Reply>(
    cors: &Cors,
    head: Head<'_>,
    asked: &[u8],
    reply: &mut R,
) -> Result<(), Reason> {
    let fields = head.fields();
    let Some(origin) = allowed_origin(cors, fields, |_, _| ()) else { return Err(Reason::CorsOrigin) };
    if !cors.allows_method(asked) {
        return Err(Reason::CorsMethod);
    }
    let wanted = || fields_named(fields, b"access-control-request-headers");
    let names = |value: &'_ [u8]| {
        value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).all(|name| name.is_empty() || cors.allows_field(name))
    };
    if !wanted().all(names) {
        return Err(Reason::CorsHeaders);
    }
    reply.status(204);
    reply.field(b"access-control-allow-origin", origin);
    if cors.credentials() {
        reply.field(b"access-control-allow-credentials", b"true");
    }
    // Of any method the one that was asked for: with credentials, `*` is a method's name to browsers.
    reply.field(b"access-control-allow-methods", cors.methods_list().map_or(asked, str::as_bytes));
    for value in wanted() {
        reply.field(b"access-control-allow-headers", value);
    }
    if cors.private_network() && fields.get_named(b"access-control-request-private-network") == Some(b"true") {
        reply.field(b"access-control-allow-private-network", b"true");
    }
    reply.field(b"access-control-max-age", cors.age_s().as_bytes());
    reply.field(b"vary", b"origin, access-control-request-method, access-control-request-headers");
    reply.length(Length::None);
    Ok(())
}

/// What the browser wants to see as the origin; nothing where its pages may not. `vary` gets the
/// field that keeps caches from handing one origin's reply to another.
fn allowed_origin<'a>(cors: &Cors, fields: Fields<'a>, mut vary: impl FnMut(&[u8], &[u8])) -> Option<&'a [u8]> {
    if *cors.origins() == Origins::Any {
        return Some(b"*");
    }
    vary(b"vary", b"origin");
    fields.get(Name::Origin).filter(|origin| cors.origins().admits(origin))
}

fn fields_named<'a>(fields: Fields<'a>, wanted: &'static [u8]) -> impl Iterator<Item = &'a [u8]> {
    fields.into_iter().filter(move |(_, name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, _, value)| value)
}
