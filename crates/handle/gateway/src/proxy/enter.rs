use std::future::poll_fn;
use std::task::Poll;

use leat_message::{Exchange, Reason};
use leat_stream::Timer;
use leat_stream::clock::now_ms;

use crate::admit::Admitted;
use crate::pick::{Entry, Place, Slot, Upstream};
use crate::refuse::refuse;

/// When a client that was turned away may come again, in seconds: the limit moves several times in it.
const RETRY_AFTER: &[u8] = b"1";

/// Asks for a try to be under way at the upstream, and waits for its turn where that is needed. `None` in place of a slot
/// where the upstream limits nothing.
///
/// # Errors
/// `UpstreamConcurrency` where too many wait or it took too long; `UpstreamTotalTime`; that the client is gone.
pub(super) async fn enter<X: Exchange>(
    x: &mut X,
    upstream: &Upstream,
    deadline_ms: u64,
) -> Result<Option<Slot>, Reason> {
    match upstream.enter() {
        Ok(slot) => Ok(slot),
        // Boxed, since waiting is rare and would make the future of every exchange larger.
        Err(Entry::Wait(place)) => Box::pin(wait(x, place, deadline_ms)).await.map(Some),
        Err(_) => Err(Reason::UpstreamConcurrency),
    }
}

async fn wait<X: Exchange>(x: &mut X, mut place: Place, deadline_ms: u64) -> Result<Slot, Reason> {
    let queue_end_ms = now_ms().saturating_add(place.gate().queue_time_ms());
    let (end_ms, late) = match deadline_ms < queue_end_ms {
        true => (deadline_ms, Reason::UpstreamTotalTime),
        false => (queue_end_ms, Reason::UpstreamConcurrency),
    };
    let mut timer = Timer::default();
    timer.set(end_ms);
    let result = poll_fn(|cx| {
        if let Poll::Ready(slot) = place.poll(cx) {
            return Poll::Ready(Ok(slot));
        }
        match timer.poll_due(cx) {
            Poll::Ready(()) => Poll::Ready(Err(late)),
            Poll::Pending => x.poll_gone(cx).map(Err),
        }
    })
    .await;
    if result.as_ref().err() == Some(&Reason::UpstreamConcurrency) {
        place.gate().count_refused();
    }
    result
}

/// Tells the client that there was no room, and when to come again.
pub(super) fn turn_away<X: Exchange>(x: &mut X, admitted: Option<&Admitted>) {
    let noted = admitted.into_iter().flat_map(|admitted| admitted.reply.iter());
    refuse(x, Reason::UpstreamConcurrency, noted.chain([(&b"retry-after"[..], RETRY_AFTER)]));
}
