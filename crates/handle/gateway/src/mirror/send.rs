use std::future::{Future, poll_fn};
use std::task::Poll;
use std::time::Instant;

use leat_dial::Call;
use leat_message::{Piece, Reason};
use leat_stream::Timer;

use super::Copying;
use super::counts::End;

/// Sends a copy and reads its answer to the end, under the mirror's limits. What becomes of it is counted, and its
/// endpoint is told, since the upstream may have a breaker.
pub(super) async fn send(mut copy: Box<Copying>) {
    let mut timer = Timer::default();
    timer.set_after(copy.mirror.settings.total_time_ms());
    let end = {
        let mut exchange = Box::pin(exchange(&copy));
        poll_fn(|cx| match exchange.as_mut().poll(cx) {
            Poll::Ready(end) => Poll::Ready(end),
            Poll::Pending => timer.poll_due(cx).map(|()| End::Late),
        })
        .await
    };
    copy.end = end;
}

async fn exchange(copy: &Copying) -> End {
    let upstream = &copy.mirror.upstream;
    // A copy never waits for its turn: those who wait there are real.
    let (Ok(slot), Ok(held)) = (upstream.try_enter(), upstream.take(copy.at)) else { return End::Dropped };
    held.occupy(slot);
    let began = Instant::now();
    let mut call = match upstream.pools.lease(&held.seat().endpoint).await {
        Ok(call) => call,
        Err(fault) => {
            held.failed(fault.reason);
            return End::Failed;
        }
    };
    let started = Instant::now();
    copy.head.write(&mut call);
    let mut answered = Box::pin(async {
        let status = answer(&mut call, &copy.body).await?;
        let now = Instant::now();
        held.answered(status, now.saturating_duration_since(started), now);
        read(&mut call, copy.mirror.settings.response_bytes_max()).await
    });
    // Here, where the endpoint can be told, and for the wait for a connection outside.
    let mut timer = Timer::default();
    timer.set_after(copy.mirror.settings.total_time_ms().saturating_sub(waited_ms(began)));
    poll_fn(|cx| match answered.as_mut().poll(cx) {
        Poll::Ready(ended) => Poll::Ready(ended.unwrap_or_else(|reason| {
            held.failed(reason);
            End::Failed
        })),
        Poll::Pending => timer.poll_due(cx).map(|()| {
            held.gave_up(started.elapsed());
            held.failed(Reason::UpstreamResponseTime);
            End::Late
        }),
    })
    .await
}

fn waited_ms(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Sends the body; the status of the final head.
async fn answer(call: &mut Call, body: &[u8]) -> Result<u16, Reason> {
    let (mut sent, mut is_ended) = (0, false);
    poll_fn(|cx| {
        loop {
            let rest = body.get(sent..).unwrap_or_default();
            if !rest.is_empty() {
                if let Poll::Ready(taken) = call.poll_send(cx, rest) {
                    sent += taken?;
                    continue;
                }
            } else if !is_ended {
                call.end(None);
                is_ended = true;
            }
            if is_ended && let Poll::Ready(flushed) = call.poll_flush(cx) {
                flushed?;
            }
            match call.poll_response(cx) {
                // A final head, which was not asked for.
                Poll::Ready(Ok(101)) => return Poll::Ready(Err(Reason::UpstreamUpgrade)),
                Poll::Ready(Ok(status)) if status < 200 => {}
                other => return other,
            }
        }
    })
    .await
}

/// Reads the answer's body and forgets it.
async fn read(call: &mut Call, bytes_max: u64) -> Result<End, Reason> {
    let mut seen = 0_u64;
    poll_fn(|cx| {
        loop {
            let count = match call.poll_body(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Err(reason)) => return Poll::Ready(Err(reason)),
                Poll::Ready(Ok(Piece::End)) => return Poll::Ready(Ok(End::Answered)),
                Poll::Ready(Ok(Piece::Data(bytes))) => bytes.len(),
            };
            call.consume(count);
            seen += count as u64;
            if seen > bytes_max {
                return Poll::Ready(Ok(End::Cut));
            }
        }
    })
    .await
}
