use std::future::poll_fn;
use std::task::Poll;

use leat_message::{Exchange, Reason};
use leat_stream::Timer;
use leat_stream::clock::now_ms;

use crate::admit::Admitted;
use crate::pick::{Place, Slot};
use crate::refuse::refuse;

/// When a client that was turned away may come again, in seconds: the limit moves several times in it.
const RETRY_AFTER: &[u8] = b"1";

/// Waits until a try may be under way at the upstream, where it found no room at once.
///
/// # Errors
/// `UpstreamConcurrency` where too many wait or it took too long; `UpstreamTotalTime`; that the client is gone.
pub(super) async fn wait<X: Exchange>(x: &mut X, place: Option<Place>, deadline_ms: u64) -> Result<Slot, Reason> {
    let mut place = place.ok_or(Reason::UpstreamConcurrency)?;
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
