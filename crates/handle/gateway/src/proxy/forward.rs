use std::future::{Future, poll_fn};
use std::rc::Rc;
use std::task::Poll;
use std::time::Instant;

use leat_dial::{Call, Endpoint, Pools};
use leat_message::{Exchange, Fault, Length, Reason};
use leat_observe::Core;
use leat_route::Params;
use leat_stream::Timer;
use leat_stream::clock::{NEVER, now_ms};

use super::request::write_request;
use super::route::ProxyRoute;
use super::transfer::Transfer;
use crate::admit::Admitted;

/// Tries for one request: the first, and two more where a pooled connection turned out to be dead or an endpoint could
/// not be reached. Never more, so that a failing upstream is not hit harder.
const ATTEMPTS_MAX: u16 = 3;

/// Sends the request to an endpoint of the route's upstream and the response back to the client.
///
/// # Errors
/// The reason why there is no complete reply; an `upstream.*` reason becomes 502, 503 or 504.
pub(crate) async fn forward<X: Exchange>(
    x: &mut X,
    route: &ProxyRoute,
    params: &Params,
    admitted: Option<&Admitted>,
    core: &Core,
) -> Result<(), Fault> {
    let total_deadline_ms = now_ms().saturating_add(route.total_time_ms);
    if matches!(x.request().length(), Length::Known(count) if count > route.body.bytes_max) {
        return Err(Reason::LimitBodyBytes.into());
    }
    x.limit_body(route.body);
    let upstream = &route.upstream;
    let mut seat = upstream.pick().ok_or(Reason::UpstreamNone)?;
    for attempt in 1..=ATTEMPTS_MAX {
        let record = x.record();
        record.endpoint = Some(seat.index);
        record.attempts = attempt;
        let mut call = match lease(x, &upstream.pools, &seat.endpoint, total_deadline_ms).await {
            Ok(call) => call,
            Err(reason) => match upstream.other(seat) {
                Some(other) if attempt < ATTEMPTS_MAX && is_unreached(reason) => {
                    core.retried(seat.index, reason);
                    seat = other;
                    continue;
                }
                _ => return Err(reason.into()),
            },
        };
        let sent = {
            let scratch = &mut *upstream.scratch.borrow_mut();
            write_request(x, &mut call, seat, route, params, admitted, scratch)
        };
        x.record().request_id = sent.request_id;
        let mut transfer = Transfer::new(route, admitted, total_deadline_ms, sent.upgrade);
        match transfer.run(x, &mut call).await {
            Ok(()) => return Ok(()),
            Err(reason) => {
                x.record().detail = call.detail();
                let again = attempt < ATTEMPTS_MAX && !call.body_taken() && is_safe_to_repeat(x, &call, reason);
                if !again {
                    return Err(reason.into());
                }
                core.retried(seat.index, reason);
                seat = upstream.other(seat).unwrap_or(seat);
            }
        }
    }
    Err(Reason::UpstreamReset.into())
}

/// A pooled connection at once, or a new one; gives up when the client does, or when the exchange's time is over.
async fn lease<X: Exchange>(
    x: &mut X,
    pools: &Rc<Pools>,
    endpoint: &Rc<Endpoint>,
    deadline_ms: u64,
) -> Result<Call, Reason> {
    if let Some(call) = pools.try_lease(endpoint) {
        return Ok(call);
    }
    let started = Instant::now();
    let mut timer = Timer::default();
    // Boxed: connecting is rare, and its future (a TLS handshake is in it) is the largest part of an exchange.
    let mut leasing = Box::pin(pools.lease(endpoint));
    let call = poll_fn(|cx| {
        if let Poll::Ready(leased) = leasing.as_mut().poll(cx) {
            return Poll::Ready(leased.map_err(|fault| fault.reason));
        }
        if deadline_ms != NEVER {
            timer.set(deadline_ms);
            if timer.poll_due(cx).is_ready() {
                return Poll::Ready(Err(Reason::UpstreamTotalTime));
            }
        }
        x.poll_gone(cx).map(Err)
    })
    .await?;
    x.record().connect_us = u32::try_from(started.elapsed().as_micros()).unwrap_or(u32::MAX);
    Ok(call)
}

/// Whether nothing of the request can have reached the endpoint.
fn is_unreached(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::UpstreamResolve | Reason::UpstreamConnect | Reason::UpstreamConnectTime | Reason::UpstreamTls
    )
}

/// A kept-alive connection may be closed by its server just as we use it. Such a request is sent again only where
/// doing it twice is the same as doing it once (RFC 9110 section 9.2.2), or where the server said that it did nothing.
fn is_safe_to_repeat<X: Exchange>(x: &X, call: &Call, reason: Reason) -> bool {
    if x.head_sent() || call.response_started() || reason != Reason::UpstreamReset {
        return false;
    }
    call.was_refused() || call.was_reused() && x.request().method().is_idempotent()
}
