use std::time::{Duration, Instant, SystemTime};

use leat_dial::Call;
use leat_message::{Exchange, Fields, Name, Reason};
use leat_policy::Deadline;
use leat_policy::hedge::Asked;
use leat_policy::retry::{Again, Body, Idempotency, Outcome, Stop, Try, parse_retry_after};
use leat_stream::clock::{NEVER, now_ms};

use super::replay::Replay;
use crate::mirror::Copying;
use crate::pick::{Asking, HedgeEnd, Held, Tried, Upstream, now};

/// Tries for one request without a policy of its own: the first, and two more where a pooled connection turned out to be
/// dead or an endpoint could not be reached. Never more, so that a failing upstream is not hit harder.
const TRIES_MAX: u16 = 3;

/// The tries of one request.
pub(super) struct Tries<'a> {
    upstream: &'a Upstream,
    idempotency: Idempotency,
    total_deadline_ms: u64,
    /// The number of the present one, from 1.
    pub(super) number: u16,
    pub(super) tried: Tried,
    /// Hedges that the request had.
    hedges: u32,
    /// Its copy, while its body is read.
    pub(super) copying: Option<Box<Copying>>,
    /// Where all of them ask, if that is known before.
    pub(super) target: Option<Vec<u8>>,
    /// What was read of the body.
    pub(super) replay: Replay,
}

impl<'a> Tries<'a> {
    pub(super) fn new<X: Exchange>(x: &X, upstream: &'a Upstream, total_deadline_ms: u64) -> Self {
        let kept_max = upstream.retries().map_or(0, |(retries, _)| retries.body_bytes_max());
        Self {
            upstream,
            idempotency: Idempotency::of_method(x.request().method_bytes()),
            total_deadline_ms,
            number: 1,
            tried: Tried::default(),
            hedges: 0,
            copying: None,
            target: None,
            replay: Replay::new(kept_max),
        }
    }

    /// Until when the present try, which begins now, must have brought a response's head.
    pub(super) fn try_deadline_ms(&self) -> u64 {
        let time_ms = self.upstream.retries().and_then(|(retries, _)| retries.try_time_ms());
        time_ms.map_or(NEVER, |time_ms| now_ms().saturating_add(time_ms))
    }

    /// Bytes of the body were read, which its copy wants too.
    #[inline]
    pub(super) fn copy(&mut self, bytes: &[u8]) {
        if let Some(copying) = &mut self.copying
            && !copying.keep(bytes)
        {
            self.copying = None;
        }
    }

    /// The request is whole: its copy goes on its way.
    #[inline]
    pub(super) fn send_copy(&mut self) {
        if let Some(copying) = self.copying.take() {
            copying.send();
        }
    }

    pub(super) fn upstream(&self) -> &'a Upstream {
        self.upstream
    }

    /// When a hedge begins beside the present try, whose request has been sent just now; [`NEVER`] for none.
    pub(super) fn hedge_due_ms(&self) -> u64 {
        if self.idempotency == Idempotency::NotIdempotent || !self.replay.is_whole() {
            return NEVER;
        }
        let wait = self.upstream.hedge_wait(self.hedges);
        let wait_ms = wait.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(NEVER).max(1));
        wait_ms.map_or(NEVER, |wait_ms| now_ms().saturating_add(wait_ms))
    }

    /// An endpoint for a hedge, one that was not tried, with room and budget for it. It counts as a try.
    pub(super) fn hedge<X: Exchange>(&mut self, asking: Asking<'_, X>) -> Option<Held<'a>> {
        let policy = self.upstream.hedge()?;
        let (_, group) = self.upstream.retries()?;
        if !self.upstream.has_other(self.tried) {
            return None;
        }
        let Ok(slot) = self.upstream.try_enter() else {
            group.count_hedge(HedgeEnd::Denied);
            return None;
        };
        let held =
            self.upstream.pick(asking, self.tried, Instant::now()).ok().filter(|held| !self.tried.has(held.at()))?;
        held.occupy(slot);
        let body = if self.replay.is_whole() { Body::Whole } else { Body::Consumed };
        let asked = Asked { hedges: self.hedges, idempotency: self.idempotency, body };
        let now = now();
        match policy.ask(&asked, now, self.deadline(now), group.budget()?) {
            Ok(()) => {
                group.count_hedge(HedgeEnd::Made);
                self.hedges += 1;
                self.number += 1;
                self.tried.add(held.at());
                Some(held)
            }
            Err(stop) => {
                if stop == Stop::Budget {
                    group.count_hedge(HedgeEnd::Denied);
                }
                None
            }
        }
    }

    /// The wait before another try, after no connection was had; `waited` says whether one was waited for.
    pub(super) fn after_lease(&self, reason: Reason, waited: bool) -> Option<Duration> {
        let has_other = || self.number < TRIES_MAX && self.upstream.has_other(self.tried);
        let outcome = match reason {
            // Our own queue is full: nobody was asked, so that no policy is. Who has waited there has waited long enough.
            Reason::UpstreamPool => return (!waited && has_other()).then_some(Duration::ZERO),
            Reason::UpstreamResolve | Reason::UpstreamConnect | Reason::UpstreamConnectTime | Reason::UpstreamTls => {
                Outcome::NotSent
            }
            // The time of the try was over before anything was sent.
            Reason::UpstreamResponseTime => Outcome::TimedOut,
            _ => return None,
        };
        if self.upstream.retries().is_none() {
            return (outcome == Outcome::NotSent && has_other()).then_some(Duration::ZERO);
        }
        self.by_policy(outcome, None)
    }

    /// The wait before another try, after this one failed without a whole response.
    pub(super) fn after_failure<X: Exchange>(&self, x: &X, call: &Call, reason: Reason) -> Option<Duration> {
        if x.head_sent() || !self.replay.is_whole() {
            return None;
        }
        let broke = reason == Reason::UpstreamReset && !call.response_started();
        if broke && self.number < TRIES_MAX {
            // A kept-alive connection may be closed by its server just as we use it. Such a request is sent again only where
            // doing it twice is the same as doing it once (RFC 9110 section 9.2.2), or where the server said that it did
            // nothing. That is no failure of the endpoint's, so that no policy is asked.
            let is_stale = call.was_reused() && self.idempotency == Idempotency::Idempotent;
            if is_stale || call.was_refused() && self.upstream.retries().is_none() {
                return Some(Duration::ZERO);
            }
        }
        let outcome = match reason {
            Reason::UpstreamReset if broke && call.was_refused() => Outcome::NotProcessed,
            Reason::UpstreamReset if !call.response_started() => Outcome::Broken,
            Reason::UpstreamResponseTime => Outcome::TimedOut,
            _ => return None,
        };
        self.by_policy(outcome, None)
    }

    /// The wait before another try, after the head of a response of which nothing was passed on yet.
    pub(super) fn after_status(&self, status: u16, fields: Fields<'_>) -> Option<Duration> {
        if status < 400 || self.upstream.retries().is_none() {
            return None;
        }
        let retry_after = fields.get(Name::RetryAfter).and_then(|value| parse_retry_after(value, SystemTime::now()));
        self.by_policy(Outcome::Status(status), retry_after)
    }

    fn deadline(&self, now: leat_policy::Instant) -> Deadline {
        match self.total_deadline_ms {
            NEVER => Deadline::NONE,
            end => Deadline::after(now, Duration::from_millis(end.saturating_sub(now_ms()))),
        }
    }

    fn by_policy(&self, outcome: Outcome, retry_after: Option<Duration>) -> Option<Duration> {
        let (retries, group) = self.upstream.retries()?;
        let body = if self.replay.is_whole() { Body::Whole } else { Body::Consumed };
        let number = u32::from(self.number.saturating_sub(1));
        let attempt = Try { number, outcome, retry_after, idempotency: self.idempotency, body };
        let now = now();
        let deadline = self.deadline(now);
        let random = &mut *self.upstream.random().borrow_mut();
        match retries.policy().after(&attempt, now, deadline, group.budget(), random) {
            Ok(Again { wait }) => {
                group.count_retry();
                Some(wait)
            }
            Err(stop) => {
                if stop == Stop::Budget {
                    group.count_retry_denied();
                }
                None
            }
        }
    }
}
