use leat_message::{Head, Peer, Reason};

use super::admission::Verdict;
use super::admitted::FieldLines;
use super::client::ClientAddress;
use crate::config::Maintenance;

/// Keeps everybody out but a few.
pub(super) struct MaintenanceCheck {
    maintenance: Maintenance,
    client: ClientAddress,
}

impl MaintenanceCheck {
    pub(super) fn new(maintenance: Maintenance, client: ClientAddress) -> Self {
        Self { maintenance, client }
    }

    pub(super) fn ask(&self, head: Head<'_>, peer: &Peer, reply: &mut FieldLines) -> Verdict {
        if self.client.of(head, peer).is_some_and(|address| self.maintenance.excepts(address)) {
            return Verdict::Admit;
        }
        if let Some(seconds) = self.maintenance.retry_after_s() {
            reply.put(b"retry-after", |out| out.extend(seconds.as_bytes()));
        }
        Verdict::Refuse(Reason::RouteMaintenance)
    }
}
