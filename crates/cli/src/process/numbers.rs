use leat_listen::Gate;
use leat_message::Reason;
use leat_observe::{Registry, Snapshot};

/// Every number of the process at this moment: those of the cores, and those of the door that all of them share.
pub(super) fn numbers(registry: &Registry, gate: &Gate) -> Snapshot {
    let held = u64::try_from(leat_stream::memory::in_use()).unwrap_or(u64::MAX);
    registry.process().buffer_bytes.set(held);
    let mut snapshot = registry.snapshot();
    snapshot.accept_pauses += gate.accept_pauses();
    snapshot.handshakes_open += gate.handshakes() as u64;
    snapshot.handshakes_done += gate.handshakes_done();
    snapshot.handshakes_failed += gate.refused(Reason::TlsHandshake) + gate.refused(Reason::TimeHandshake);
    for (count, reason) in snapshot.refusals.iter_mut().zip(Reason::ALL) {
        *count += gate.refused(*reason);
    }
    snapshot
}
