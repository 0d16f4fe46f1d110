use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use leat_observe::exposition::Families;

/// What became of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Its answer was read to the end.
    Answered,
    /// There was no answer, or it broke off.
    Failed,
    /// It took too long.
    Late,
    /// Its answer was longer than is read.
    Cut,
    /// As many were under way as may be, or the upstream had no endpoint for it.
    Dropped,
    /// The request's body was too long to be kept.
    Large,
    /// The request ended before its body was there.
    Incomplete,
}

impl End {
    const ALL: [(Self, &'static str); 7] = [
        (Self::Answered, "answered"),
        (Self::Failed, "failed"),
        (Self::Late, "late"),
        (Self::Cut, "cut"),
        (Self::Dropped, "dropped"),
        (Self::Large, "large"),
        (Self::Incomplete, "incomplete"),
    ];
}

/// The copies that went to one upstream, from all routes and cores.
#[derive(Debug, Default)]
pub(crate) struct MirrorCounts {
    in_flight: AtomicU32,
    ends: [AtomicU64; 7],
}

impl MirrorCounts {
    /// Takes a place among those under way; `None` where `max` of them are.
    pub(super) fn begin(self: &Arc<Self>, max: u32) -> Option<InFlight> {
        let taken = self.in_flight.fetch_update(Relaxed, Relaxed, |count| (count < max).then_some(count + 1));
        taken.is_ok().then(|| InFlight(Arc::clone(self)))
    }

    pub(super) fn count(&self, end: End) {
        if let Some(count) = self.ends.get(end as usize) {
            count.fetch_add(1, Relaxed);
        }
    }
}

/// A copy that is under way, until it is dropped.
#[derive(Debug)]
pub(super) struct InFlight(Arc<MirrorCounts>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Relaxed);
    }
}

/// Appends the metrics of all, by upstream.
pub(crate) fn write_metrics(all: &BTreeMap<Arc<str>, Arc<MirrorCounts>>, text: &mut impl Families) {
    text.family(
        "leat_mirrored_total",
        "counter",
        "Copies of requests, by the upstream that they went to and by what became of them.",
    );
    for (upstream, counts) in all {
        for (end, outcome) in End::ALL {
            let count = counts.ends.get(end as usize).map_or(0, |count| count.load(Relaxed));
            text.sample("leat_mirrored_total", &[("upstream", upstream), ("outcome", outcome)], count);
        }
    }
    text.family("leat_mirrored_in_flight", "gauge", "Copies of requests that are under way.");
    for (upstream, counts) in all {
        text.sample("leat_mirrored_in_flight", &[("upstream", upstream)], counts.in_flight.load(Relaxed).into());
    }
}
