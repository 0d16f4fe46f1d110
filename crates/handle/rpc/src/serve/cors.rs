//! Browsers: what a page of another origin may call, and what it may read of the reply.

use leat_message::{Exchange, Head, Length, Method as HttpMethod, Name, Reason, Reply};

/// How long a browser may keep the answer to a preflight, in seconds: two hours, the most that Chromium keeps.
const PREFLIGHT_SECONDS: &[u8] = b"7200";
/// Fields of our replies that pages need besides those of applications; `*` is for these, and some browsers do not know it.
const EXPOSED: &[u8] =
    b"*, grpc-status, grpc-message, grpc-status-details-bin, grpc-encoding, connect-content-encoding, content-encoding";

/// What pages may send to a method's own path.
const RPC_METHODS: &[u8] = b"GET, POST";
/// The same for paths that `google.api.http` binds.
const REST_METHODS: &[u8] = b"GET, POST, PUT, PATCH, DELETE";

/// Pages of which origins may call, and read the replies (the Fetch standard, "CORS protocol"). Never with credentials.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Cors {
    /// Nothing is said to browsers: something in front does, or no page of another origin may call.
    Off,
    /// Every origin.
    #[default]
    Any,
    /// These origins, as browsers send them (`https://example.org`).
    Origins(Vec<String>),
}

impl Cors {
    /// What the reply to this request says to browsers.
    pub fn origin<'h>(&self, head: Head<'h>) -> Origin<'h> {
        let sent = head.fields().get(Name::Origin);
        match self {
            Self::Off => Origin::default(),
            Self::Any => Origin { allowed: sent.map(|_| &b"*"[..]), varies: false },
            Self::Origins(list) => {
                let is_allowed = |origin: &&[u8]| list.iter().any(|allowed| allowed.as_bytes() == *origin);
                Origin { allowed: sent.filter(is_allowed), varies: true }
            }
        }
    }

    /// Answers a preflight for those who serve calls in another way; `false`, and nothing was written, where the request is
    /// none. Copies the head of one that is.
    pub fn answer_preflight<X: Exchange>(&self, exchange: &mut X) -> bool {
        if !is_preflight(exchange.request(), self) {
            return false;
        }
        let (bytes, lines) = (exchange.request().bytes().to_vec(), exchange.request().lines().clone());
        answer_preflight(Head::new(&bytes, &lines), self, false, exchange)
    }
}

/// What a reply says to the browser of a page that may have asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origin<'h> {
    /// `None` where the request comes from no page, or from one that may not call.
    allowed: Option<&'h [u8]>,
    /// Whether a request of another origin gets another reply: caches must know, also of replies without an origin.
    varies: bool,
}

impl Origin<'_> {
    /// Appends what lets the page read the reply.
    pub(super) fn write<R: Reply>(self, reply: &mut R) {
        self.each(&mut |name, value| reply.field(name, value));
    }

    /// The same fields, one after the other.
    pub fn each(self, put: &mut dyn FnMut(&[u8], &[u8])) {
        if let Some(origin) = self.allowed {
            put(b"access-control-allow-origin", origin);
            put(b"access-control-expose-headers", EXPOSED);
        }
        if self.varies {
            put(b"vary", b"origin");
        }
    }

    /// For replies that outlive the request's head.
    pub fn to_owned(self) -> OwnedOrigin {
        OwnedOrigin { allowed: self.allowed.map(<[u8]>::to_vec), varies: self.varies }
    }
}

/// An [`Origin`] in memory of its own.
#[derive(Clone, Debug, Default)]
pub struct OwnedOrigin {
    allowed: Option<Vec<u8>>,
    varies: bool,
}

impl OwnedOrigin {
    /// Lends it.
    pub fn origin(&self) -> Origin<'_> {
        Origin { allowed: self.allowed.as_deref(), varies: self.varies }
    }
}

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
    let origin = cors.origin(head);
    let Some(origin) = origin.allowed else {
        super::head::write_problem(reply, Reason::CorsOrigin, origin);
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
