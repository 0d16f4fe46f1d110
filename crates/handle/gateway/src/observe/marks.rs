use std::time::Instant;

use leat_message::{Phase, Reply};

/// Notes that `phase` is over, where somebody wants to know.
#[inline]
pub(crate) fn mark<R: Reply>(reply: &mut R, phase: Phase) {
    let phases = &mut reply.record().phases;
    if phases.is_on() {
        phases.mark(phase, Instant::now());
    }
}
