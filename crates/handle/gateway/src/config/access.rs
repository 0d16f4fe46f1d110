use std::net::IpAddr;

use super::model::Network;

/// Who may use a route, by address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    pub(super) allow: Vec<Network>,
    pub(super) deny: Vec<Network>,
}

impl Access {
    /// Whether a client with this address may: it is in none of the networks that are denied, and, where there are any, in
    /// one of those that are allowed. Cost: a comparison for each network.
    pub fn admits(&self, address: IpAddr) -> bool {
        let in_any = |networks: &[Network]| networks.iter().any(|network| network.contains(address));
        !in_any(&self.deny) && (self.admits_strangers() || in_any(&self.allow))
    }

    /// Whether a client without an address may: where nobody is named who may.
    pub fn admits_strangers(&self) -> bool {
        self.allow.is_empty()
    }
}
