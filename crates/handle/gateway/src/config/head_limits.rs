use super::model::Route;

/// Limits of a request's head on one route, beyond those that every request has passed already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeadLimits {
    /// Request line and fields together, in bytes.
    pub bytes_max: Option<usize>,
    /// Fields.
    pub fields_max: Option<usize>,
    /// The request target, in bytes.
    pub target_bytes_max: Option<usize>,
}

impl Route {
    /// Limits of the request's head, where they are tighter than those of all requests.
    pub fn head(&self) -> HeadLimits {
        self.head
    }
}
