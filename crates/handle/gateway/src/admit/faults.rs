use std::cell::RefCell;
use std::future::poll_fn;
use std::hash::{BuildHasher, RandomState};
use std::task::Poll;

use leat_message::{Exchange, Head, Reason};
use leat_policy::{Random, SplitMix64};
use leat_stream::Timer;
use leat_stream::clock::now_ms;

use super::admission::Verdict;
use crate::config::{Fault, FaultEnd};

/// All requests, in the unit of [`Fault::share`].
const ALL: u32 = 1_000_000;

/// Lets requests fail that would not.
pub(super) struct FaultsCheck {
    faults: Box<[Fault]>,
    random: RefCell<SplitMix64>,
}

impl FaultsCheck {
    pub(super) fn new(faults: &[Fault]) -> Self {
        // The standard hasher's keys come from the operating system.
        let random = RefCell::new(SplitMix64::new(RandomState::new().hash_one(0u64)));
        Self { faults: faults.into(), random }
    }

    /// Whether this request may be one that is struck; the lot is drawn in [`FaultsCheck::wait`].
    pub(super) fn ask(&self, head: Head<'_>) -> Verdict {
        if self.faults.iter().any(|fault| is_for(fault, head)) { Verdict::Wait } else { Verdict::Admit }
    }

    /// Draws, holds the request, and says what becomes of it.
    pub(super) async fn wait<X: Exchange>(&self, x: &mut X) -> Verdict {
        for fault in &self.faults {
            if !is_for(fault, x.request()) || self.random.borrow_mut().below(ALL) >= fault.share() {
                continue;
            }
            if fault.delay_ms() > 0
                && let Err(reason) = hold(x, fault.delay_ms()).await
            {
                return Verdict::Refuse(reason);
            }
            match fault.end() {
                FaultEnd::GoesOn => {}
                FaultEnd::Status(status) => return Verdict::RefuseAs(Reason::FaultStatus, status),
                FaultEnd::Reset => {
                    x.reset();
                    return Verdict::Refuse(Reason::FaultReset);
                }
            }
        }
        Verdict::Admit
    }
}

fn is_for(fault: &Fault, head: Head<'_>) -> bool {
    fault.field().is_none_or(|field| head.fields().get_named(field.as_bytes()).is_some())
}

/// Waits, unless the client goes.
async fn hold<X: Exchange>(x: &mut X, delay_ms: u64) -> Result<(), Reason> {
    let mut timer = Timer::default();
    timer.set(now_ms().saturating_add(delay_ms));
    poll_fn(|cx| match timer.poll_due(cx) {
        Poll::Ready(()) => Poll::Ready(Ok(())),
        Poll::Pending => x.poll_gone(cx).map(Err),
    })
    .await
}
