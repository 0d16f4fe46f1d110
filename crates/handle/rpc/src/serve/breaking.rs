use std::task::{Context, Poll, ready};

use leat_message::{BreakOff, Exchange, Reason};
use leat_rpc_wire::Coding;
use leat_stream::Timer;
use leat_stream::clock::TICK_MS;

use crate::call::Fault;

/// What a service breaks of its own reply, on purpose.
#[derive(Default)]
pub(super) struct Breaking {
    /// Messages are garbled.
    pub(super) garbles: bool,
    /// The end is left out.
    pub(super) no_trailers: bool,
    /// How the call breaks off in place of an end.
    end: Option<BreakOff>,
    /// Body bytes that still go out.
    cut_left: Option<u64>,
    trickle: Option<Trickle>,
    timer: Timer,
    /// Whether the break waits for what was sent to leave.
    leaving: bool,
}

struct Trickle {
    bytes: usize,
    every_ms: u64,
    left: usize,
}

impl Breaking {
    pub(super) fn add(&mut self, fault: Fault) {
        match fault {
            Fault::Reset { code } => self.end = Some(BreakOff::Reset { code }),
            Fault::GoAway { code } => self.end = Some(BreakOff::GoAway { code }),
            Fault::Close => self.end = Some(BreakOff::Close),
            Fault::Cut { after_bytes } => self.cut_left = Some(after_bytes),
            Fault::NoTrailers => self.no_trailers = true,
            Fault::BadCompression => self.garbles = true,
            Fault::Trickle { bytes, every_ms } => {
                let bytes = (bytes as usize).max(1);
                self.trickle = Some(Trickle { bytes, every_ms: every_ms.into(), left: bytes });
            }
        }
    }

    /// The coding that the head names.
    pub(super) fn declared(&self, answered: Coding) -> Coding {
        if self.garbles && answered == Coding::Identity { Coding::Gzip } else { answered }
    }

    /// Whether the call breaks off where it would end.
    pub(super) fn breaks_off(&self) -> bool {
        self.end.is_some()
    }

    /// How many of `count` bytes may go out now; none where the reply is cut here. Waits where the reply trickles.
    pub(super) fn poll_allowed(&mut self, cx: &mut Context<'_>, count: usize) -> Poll<usize> {
        if let Some(trickle) = &mut self.trickle
            && trickle.left == 0
        {
            ready!(self.timer.poll_due(cx));
            trickle.left = trickle.bytes;
        }
        let piece = self.trickle.as_ref().map_or(count, |trickle| count.min(trickle.left));
        Poll::Ready(self.cut_left.map_or(piece, |left| usize::try_from(left).unwrap_or(usize::MAX).min(piece)))
    }

    /// Counts what went out; says whether it is to be flushed before more may follow.
    pub(super) fn sent(&mut self, count: usize) -> bool {
        self.cut_left = self.cut_left.map(|left| left.saturating_sub(count as u64));
        let Some(trickle) = &mut self.trickle else { return false };
        trickle.left = trickle.left.saturating_sub(count);
        if trickle.left == 0 {
            self.timer.set_after(trickle.every_ms);
        }
        trickle.left == 0
    }

    /// Lets what was sent leave, and breaks the exchange off. A stream's reset would overtake its data.
    pub(super) fn poll_break<X: Exchange>(
        &mut self,
        exchange: &mut X,
        has_begun: bool,
        cx: &mut Context<'_>,
    ) -> Poll<Reason> {
        if has_begun {
            if !self.leaving {
                ready!(exchange.poll_flush(cx)).ok();
                self.timer.set_after(TICK_MS);
                self.leaving = true;
            }
            ready!(self.timer.poll_due(cx));
        }
        exchange.break_off(self.end.unwrap_or(BreakOff::Reset { code: INTERNAL_ERROR }));
        Poll::Ready(Reason::RpcFault)
    }
}

/// RFC 9113 section 7.
const INTERNAL_ERROR: u32 = 2;
