use leat_message::{Head, Peer, Reason};

use super::admission::Verdict;
use super::client::ClientAddress;
use crate::config::Access;

/// Lets clients in by their address.
pub(super) struct AccessCheck {
    access: Access,
    client: ClientAddress,
}

impl AccessCheck {
    pub(super) fn new(access: Access, client: ClientAddress) -> Self {
        Self { access, client }
    }

    /// A client without an address is let in only where nobody in particular is.
    pub(super) fn ask(&self, head: Head<'_>, peer: &Peer) -> Verdict {
        let admitted = match self.client.of(head, peer) {
            Some(address) => self.access.admits(address),
            None => self.access.admits_strangers(),
        };
        if admitted { Verdict::Admit } else { Verdict::Refuse(Reason::AccessAddress) }
    }
}
