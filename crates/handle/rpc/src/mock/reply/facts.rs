//! What a reply may be told of its call.

use crate::metadata::CallMetadata;

/// What does not change during a call.
#[derive(Clone, Copy)]
pub struct Facts<'f> {
    /// The method's full name, `package.Service/Name`.
    pub method: &'f str,
    /// The request's metadata.
    pub metadata: &'f dyn RequestFields,
    /// Who calls.
    pub peer: &'f str,
    /// How long the client would wait.
    pub timeout_ms: Option<u64>,
    /// The session's key, or empty text.
    pub session: &'f str,
    /// The state of the rule's scenario, after this call; empty where it has none.
    pub state: &'f str,
    /// Which call of this rule in this session it is, from 1; 1 where nobody counts ([`Replies::counts`](super::Replies)).
    pub call: u64,
}

impl std::fmt::Debug for Facts<'_> {
    /// Without metadata, which has secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Facts").field("method", &self.method).field("call", &self.call).finish_non_exhaustive()
    }
}

/// The metadata of a request, as it was sent. Values that are not UTF-8 are left out.
pub trait RequestFields {
    /// The first value of a name, in any case.
    fn first(&self, name: &str) -> Option<&str>;

    /// All names and values in order, names in the case that they were sent in.
    fn all(&self) -> Vec<(&str, &str)>;

    /// The query of a request by GET, without the `?`.
    fn query(&self) -> Option<&str> {
        None
    }
}

impl RequestFields for CallMetadata<'_> {
    fn first(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(|value| std::str::from_utf8(value).ok())
    }

    fn all(&self) -> Vec<(&str, &str)> {
        let text = |bytes| std::str::from_utf8(bytes).ok();
        self.iter().filter_map(|(name, value)| Some((text(name)?, text(value)?))).collect()
    }
}

impl RequestFields for &[(&str, &str)] {
    fn first(&self, name: &str) -> Option<&str> {
        self.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
    }

    fn all(&self) -> Vec<(&str, &str)> {
        self.to_vec()
    }
}
