use std::task::{Context, Poll};

use leat_message::{Limits, Reason};
use leat_stream::Timer;
use leat_stream::clock::{NEVER, now_ms};

use crate::pace::Pace;

/// How long an exchange waits for its client, in either direction, on one timer. Each direction is judged only while it is
/// polled: a handler that has no more use for the body is not ended by a client that does not send it.
#[derive(Debug)]
pub(crate) struct Wait {
    /// The connection's timer; free for other use while no direction waits.
    pub(crate) timer: Timer,
    /// When the whole request body must be here; `NEVER` for streams, and where none is wanted.
    body_deadline_ms: u64,
    /// Whether a pause in the body means a slow sender.
    timed: bool,
    /// When a client that has ended its direction is taken to be gone; `NEVER` while it has not.
    pub(crate) gone_at_ms: u64,
    sender: Pace,
    reader: Pace,
}

impl Wait {
    pub(crate) fn new() -> Self {
        let (sender, reader) = (Pace::new(), Pace::new());
        Self { timer: Timer::default(), body_deadline_ms: NEVER, timed: false, gone_at_ms: NEVER, sender, reader }
    }

    /// A body begins that must be here in `time_ms`; `None` for a stream, in which pauses are normal.
    pub(crate) fn limit_body(&mut self, time_ms: Option<u64>) {
        self.timed = time_ms.is_some();
        self.body_deadline_ms = time_ms.map_or(NEVER, |ms| now_ms().saturating_add(ms));
        self.sender = Pace::new();
    }

    /// Bytes of the body came.
    #[inline]
    pub(crate) fn received(&mut self, bytes: usize) {
        if self.sender.is_waiting() {
            self.sender.moved(bytes, now_ms());
        }
    }

    /// Bytes of the reply were taken.
    #[inline]
    pub(crate) fn sent(&mut self, bytes: usize) {
        if self.reader.is_waiting() {
            self.reader.moved(bytes, now_ms());
        }
    }

    /// Waits for the sender of a body. Ready with `Ok` where a deadline passed but the client is in time.
    ///
    /// # Errors
    /// `slow.sender` and `time.body`.
    pub(crate) fn poll_sender(&mut self, cx: &mut Context<'_>, limits: &Limits) -> Poll<Result<(), Reason>> {
        let now = now_ms();
        if self.timed {
            self.sender.wait(now);
        }
        if self.sender.is_slow(now, limits) {
            return Poll::Ready(Err(Reason::SlowSender));
        }
        if self.body_deadline_ms <= now {
            return Poll::Ready(Err(Reason::TimeBody));
        }
        self.poll_timer(cx, now, limits)
    }

    /// Waits for the reader of a reply. Ready with `Ok` where a deadline passed but the client is in time.
    ///
    /// # Errors
    /// `slow.reader`.
    pub(crate) fn poll_reader(&mut self, cx: &mut Context<'_>, limits: &Limits) -> Poll<Result<(), Reason>> {
        let now = now_ms();
        self.reader.wait(now);
        if self.reader.is_slow(now, limits) {
            return Poll::Ready(Err(Reason::SlowReader));
        }
        self.poll_timer(cx, now, limits)
    }

    /// Ready once a client that has ended its direction is taken to be gone.
    pub(crate) fn poll_gone(&mut self, cx: &mut Context<'_>, limits: &Limits) -> Poll<()> {
        loop {
            let now = now_ms();
            if self.gone_at_ms <= now {
                return Poll::Ready(());
            }
            if self.poll_timer(cx, now, limits).is_pending() {
                return Poll::Pending;
            }
        }
    }

    /// One timer for both directions: the next poll of either moves it, and must not lose the other's deadline. One that
    /// has passed is the other direction's to see when it is polled; waking for it again would be a busy loop.
    fn poll_timer(&mut self, cx: &mut Context<'_>, now: u64, limits: &Limits) -> Poll<Result<(), Reason>> {
        let deadlines =
            [self.body_deadline_ms, self.gone_at_ms, self.sender.due_ms(limits), self.reader.due_ms(limits)];
        self.timer.set(deadlines.into_iter().filter(|&deadline| deadline > now).min().unwrap_or(NEVER));
        self.timer.poll_due(cx).map(Ok)
    }
}
