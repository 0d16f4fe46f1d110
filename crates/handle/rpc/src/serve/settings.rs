use leat_message::{Head, Name};

/// What may be set for the calls of a listener or a route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Longest message that is received, in bytes, without its compression. 4 MiB, as gRPC's implementations have it.
    pub receive_bytes_max: usize,
    /// Which pages may call.
    pub cors: Cors,
}

impl Default for Settings {
    fn default() -> Self {
        Self { receive_bytes_max: 4 * 1024 * 1024, cors: Cors::Any }
    }
}

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
    /// What to send as `access-control-allow-origin`; `None` where the request comes from no page, or from one that may not
    /// call.
    pub(super) fn allowed<'h>(&self, head: Head<'h>) -> Option<&'h [u8]> {
        let origin = head.fields().get(Name::Origin)?;
        match self {
            Self::Off => None,
            Self::Any => Some(b"*"),
            Self::Origins(list) => list.iter().any(|allowed| allowed.as_bytes() == origin).then_some(origin),
        }
    }
}
