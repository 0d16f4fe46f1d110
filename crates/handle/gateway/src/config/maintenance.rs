use std::net::IpAddr;

use super::model::Network;

/// A route that is closed for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Maintenance {
    pub(super) except: Vec<Network>,
    pub(super) retry_after_s: Option<String>,
}

impl Maintenance {
    /// Whether a client with this address is let in all the same.
    pub fn excepts(&self, address: IpAddr) -> bool {
        self.except.iter().any(|network| network.contains(address))
    }

    /// What `Retry-After` says, in seconds, as text.
    pub fn retry_after_s(&self) -> Option<&str> {
        self.retry_after_s.as_deref()
    }
}
