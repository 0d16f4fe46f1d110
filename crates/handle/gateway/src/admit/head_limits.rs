use leat_message::{Head, Reason};

use super::admission::Verdict;
use crate::config::HeadLimits;

/// Refuses heads that are longer than the route allows.
pub(super) struct HeadCheck {
    bytes_max: usize,
    fields_max: usize,
    target_bytes_max: usize,
}

impl HeadCheck {
    /// `None` where the route has no limits of its own.
    pub(super) fn new(limits: HeadLimits) -> Option<Self> {
        let or_any = |limit: Option<usize>| limit.unwrap_or(usize::MAX);
        (limits != HeadLimits::default()).then(|| Self {
            bytes_max: or_any(limits.bytes_max),
            fields_max: or_any(limits.fields_max),
            target_bytes_max: or_any(limits.target_bytes_max),
        })
    }

    pub(super) fn ask(&self, head: Head<'_>) -> Verdict {
        if head.target().len() > self.target_bytes_max {
            Verdict::Refuse(Reason::LimitTargetBytes)
        } else if head.fields().len() > self.fields_max {
            Verdict::Refuse(Reason::LimitFields)
        } else if head.bytes().len() > self.bytes_max {
            Verdict::Refuse(Reason::LimitHeadBytes)
        } else {
            Verdict::Admit
        }
    }
}
