//! Browsers: what a page of another origin may call, and what it may read of the reply.

use leat_message::{Head, Length, Method as HttpMethod, Reason, Reply};

use super::settings::Cors;

/// How long a browser may keep the answer to a preflight, in seconds: two hours, the most that Chromium keeps.
const PREFLIGHT_SECONDS: &[u8] = b"7200";
/// Fields of our replies that pages need besides those of applications; `*` is for these, and some browsers do not know it.
const EXPOSED: &[u8] =
    b"*, grpc-status, grpc-message, grpc-status-details-bin, grpc-encoding, connect-content-encoding, content-encoding";

/// What pages may send to a method's own path.
const RPC_METHODS: &[u8] = b"GET, POST";
/// The same for paths that `google.api.http` binds.
const REST_METHODS: &[u8] = b"GET, POST, PUT, PATCH, DELETE";

/// Whether a request asks for leave, on behalf of a page, and is answered here.
pub(super) fn is_preflight(head: Head<'_>, cors: &Cors) -> bool {
    head.method() == HttpMethod::Options
        && *cors != Cors::Off
        && head.fields().get_named(b"access-control-request-method").is_some()
}

/// Answers a preflight; `false`, and nothing was written, where the request is none. `is_method`: whether the path is a
/// method's own.
pub(super) fn answer_preflight<R: Reply>(head: Head<'_>, cors: &Cors, is_method: bool, reply: &mut R) -> bool {
    if !is_preflight(head, cors) {
        return false;
    }
    let fields = head.fields();
    let Some(origin) = cors.allowed(head) else {
        super::head::write_problem::<R, ()>(reply, Reason::CorsOrigin);
        return true;
    };
    reply.status(204);
    reply.field(b"access-control-allow-origin", origin);
    reply.field(b"access-control-allow-methods", if is_method { RPC_METHODS } else { REST_METHODS });
    if let Some(names) = fields.get_named(b"access-control-request-headers") {
        reply.field(b"access-control-allow-headers", names);
    }
    reply.field(b"access-control-max-age", PREFLIGHT_SECONDS);
    reply.field(b"vary", b"origin, access-control-request-method, access-control-request-headers");
    reply.length(Length::None);
    true
}

/// Appends what lets a page of `origin` read the reply.
pub(super) fn write<R: Reply>(origin: Option<&[u8]>, reply: &mut R) {
    each(origin, &mut |name, value| reply.field(name, value));
}

/// The same fields, one after the other.
pub(super) fn each(origin: Option<&[u8]>, put: &mut dyn FnMut(&[u8], &[u8])) {
    let Some(origin) = origin else { return };
    put(b"access-control-allow-origin", origin);
    put(b"access-control-expose-headers", EXPOSED);
    if origin != b"*" {
        put(b"vary", b"origin");
    }
}
