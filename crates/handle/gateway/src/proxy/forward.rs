use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::rc::Rc;
use std::task::Poll;
use std::time::{Duration, Instant};

use leat_dial::{Call, Endpoint, Pools};
use leat_message::{Exchange, Fault, Head, Length, Name, Reason, Version};
use leat_route::Params;
use leat_stream::clock::{NEVER, now_ms};
use leat_stream::{Timer, others_first};

use super::enter::{turn_away, wait};
use super::request::{Try, write_request};
use super::route::ProxyRoute;
use super::transfer::{Times, Transfer};
use super::tries::Tries;
use crate::admit::Admitted;
use crate::observer::Observer;

/// Sends the request to an endpoint of the route's upstream and the response back to the client; where a try fails and
/// another one is allowed, to another endpoint if there is one.
///
/// # Errors
/// The reason why there is no complete reply; an `upstream.*` reason becomes 502, 503 or 504.
// In place: else the future is made and then moved to where it runs.
#[inline]
pub(crate) async fn forward<X: Exchange>(
    x: &mut X,
    route: &ProxyRoute,
    params: &Params,
    admitted: Option<&Admitted>,
    observer: &Observer,
) -> Result<(), Fault> {
    let total_deadline_ms = now_ms().saturating_add(route.total_time_ms);
    let body = route.body(is_grpc_stream(x.request()));
    if matches!(x.request().length(), Length::Known(count) if count > body.bytes_max) {
        return Err(Reason::LimitBodyBytes.into());
    }
    let target = route.rewrite.prepare(&x.request())?;
    x.limit_body(body);
    let upstream = route.upstream_of(route.asking(x, admitted));
    // Before a connection is taken and written to: whoever else is ready reads its request first.
    others_first().await;
    let mut started = Instant::now();
    upstream.begin(started);
    let mut tries = Tries::new(x, upstream, total_deadline_ms);
    tries.target = target;
    if let Some(mirror) = &route.mirror {
        let trace = x.record().trace;
        tries.copying = mirror.begin(x, route, params, admitted, trace, tries.target.as_deref());
        if tries.copying.as_ref().is_some_and(|copying| copying.is_whole()) {
            tries.send_copy();
        }
    }
    loop {
        let slot = match upstream.enter() {
            Ok(slot) => slot,
            // Boxed, since waiting is rare and would make the future of every exchange larger.
            Err(place) => match Box::pin(wait(x, place, total_deadline_ms)).await {
                Err(Reason::UpstreamConcurrency) => {
                    turn_away(x, admitted);
                    return Ok(());
                }
                slot => {
                    started = Instant::now();
                    Some(slot?)
                }
            },
        };
        let mut held = match upstream.pick(route.asking(x, admitted), tries.tried, started) {
            Ok(held) => held,
            Err(reason) => {
                if reason == Reason::UpstreamBreaker {
                    x.record().retry_after_s = upstream.retry_after_s(started);
                }
                return Err(reason.into());
            }
        };
        if slot.is_some() {
            held.occupy(slot);
        }
        let seat = held.seat();
        tries.tried.add(held.at());
        let record = x.record();
        record.endpoint = Some(seat.index);
        record.attempts = tries.number;
        let (trace, tried) = observer.begin_try(record.trace);
        let request_id = record.request_id;
        let try_deadline_ms = tries.try_deadline_ms();
        let (reason, wait) = match lease(x, &upstream.pools, &seat.endpoint, total_deadline_ms, try_deadline_ms).await {
            Ok((mut call, waited)) => {
                if waited {
                    started = Instant::now();
                }
                let sent = {
                    let to = Try { seat, trace, request_id, target: tries.target.as_deref() };
                    let scratch = &mut *upstream.scratch.borrow_mut();
                    write_request(x, &mut call, &to, route, params, admitted, scratch)
                };
                x.record().request_id = sent.request_id;
                let times = Times { started, try_deadline_ms, total_deadline_ms };
                let mut transfer = Transfer::new(route, params, admitted, &mut held, &mut tries, times, sent.upgrade);
                let outcome = transfer.run(x, &mut call).await;
                let again = transfer.again();
                let was_slow = outcome.err().is_some_and(|reason| transfer.is_late_by_client(reason));
                let waited = outcome.err().and_then(|reason| transfer.waited_in_vain(reason));
                // That of the try that had an answer: a hedge may have taken over.
                let seat = held.seat();
                if let Some(tried) = tried {
                    let status = if call.response_started() { call.response().status() } else { 0 };
                    tried.ended(x, observer.core(), seat, tries.number, status, outcome.err());
                }
                let Err(reason) = outcome else { return Ok(()) };
                x.record().detail = call.detail();
                if !was_slow {
                    if let Some(waited) = waited {
                        held.gave_up(waited);
                    }
                    held.failed(reason);
                }
                (reason, again.or_else(|| tries.after_failure(x, &call, reason)))
            }
            Err(NoCall { fault: Fault { reason, detail }, waited, connecting }) => {
                x.record().detail = detail;
                if let Some(tried) = tried {
                    tried.ended(x, observer.core(), seat, tries.number, 0, Some(reason));
                }
                // The time may have gone while others held the connections, which says nothing of the endpoint.
                match (is_late(reason), connecting) {
                    (true, true) => {
                        held.gave_up(started.elapsed());
                        held.failed(reason);
                    }
                    (true, false) => {}
                    (false, _) => held.failed(reason),
                }
                (reason, tries.after_lease(reason, waited))
            }
        };
        let Some(wait) = wait else { return Err(reason.into()) };
        observer.retried(held.seat().index, reason);
        drop(held);
        tries.number += 1;
        // What was wrong with this try is nothing of the next one's.
        x.record().detail = None;
        if !wait.is_zero() {
            // Boxed, since it is rare and would make the future of every exchange larger.
            Box::pin(pause(x, wait, total_deadline_ms)).await?;
        }
        started = Instant::now();
    }
}

/// Why there is no connection.
struct NoCall {
    fault: Fault,
    /// Whether one was waited for.
    waited: bool,
    /// Whether one was being made, and not only waited for behind others.
    connecting: bool,
}

/// A pooled connection at once, or a new one, which is waited for: it says so, and so does the failure. Gives up when the client does, or when
/// the time of the try or of the exchange is over.
#[inline]
async fn lease<X: Exchange>(
    x: &mut X,
    pools: &Rc<Pools>,
    endpoint: &Rc<Endpoint>,
    deadline_ms: u64,
    try_deadline_ms: u64,
) -> Result<(Call, bool), NoCall> {
    if let Some(call) = pools.try_lease(endpoint) {
        return Ok((call, false));
    }
    let started = Instant::now();
    let mut timer = Timer::default();
    let (end_ms, late) = match try_deadline_ms < deadline_ms {
        true => (try_deadline_ms, Reason::UpstreamResponseTime),
        false => (deadline_ms, Reason::UpstreamTotalTime),
    };
    // Boxed: connecting is rare, and its future (a TLS handshake is in it) is the largest part of an exchange.
    let connecting = Cell::new(false);
    let mut leasing = Box::pin(pools.lease_telling(endpoint, &connecting));
    let mut waited = false;
    let leased = poll_fn(|cx| {
        if let Poll::Ready(leased) = leasing.as_mut().poll(cx) {
            return Poll::Ready(leased);
        }
        waited = true;
        if end_ms != NEVER {
            timer.set(end_ms);
            if timer.poll_due(cx).is_ready() {
                return Poll::Ready(Err(late.into()));
            }
        }
        x.poll_gone(cx).map(|reason| Err(reason.into()))
    })
    .await;
    let call = leased.map_err(|fault| NoCall { fault, waited, connecting: connecting.get() })?;
    x.record().connect_us = u32::try_from(started.elapsed().as_micros()).unwrap_or(u32::MAX);
    Ok((call, true))
}

/// Whether a time was over in which a connection was waited for.
fn is_late(reason: Reason) -> bool {
    matches!(reason, Reason::UpstreamConnectTime | Reason::UpstreamResponseTime | Reason::UpstreamTotalTime)
}

/// Whether it is a call of gRPC, whose messages come when they come. Of gRPC-Web, clients do not stream.
fn is_grpc_stream(head: Head<'_>) -> bool {
    const GRPC: &[u8] = b"application/grpc";
    head.length() == Length::Stream
        && head.version() == Version::Http2
        && head.fields().get(Name::ContentType).and_then(|value| value.split_at_checked(GRPC.len())).is_some_and(
            |(name, behind)| {
                name.eq_ignore_ascii_case(GRPC) && matches!(behind.first(), None | Some(b'+' | b';' | b' '))
            },
        )
}

/// Waits before another try; gives up when the client does.
async fn pause<X: Exchange>(x: &mut X, wait: Duration, deadline_ms: u64) -> Result<(), Reason> {
    // The clock is a coarse one: a wait is rounded to its ticks, which spreads as well.
    let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(NEVER).max(1);
    let mut timer = Timer::default();
    timer.set(now_ms().saturating_add(wait_ms).min(deadline_ms));
    poll_fn(|cx| match timer.poll_due(cx) {
        Poll::Ready(()) => Poll::Ready(Ok(())),
        Poll::Pending => x.poll_gone(cx).map(Err),
    })
    .await
}
