use std::future::{Future, poll_fn};
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use leat_dial::{Call, Endpoint, Pools, Resolver};
use leat_message::{Length, Piece, Reason};
use leat_stream::Timer;
use leat_stream::clock::now_ms;

use super::grpc;
use crate::config::{HealthCheck, HealthKind};

/// The longest body of an answer that is read; the message that is wanted has two bytes behind its prefix.
const BODY_BYTES_MAX: usize = 4 * 1024;

/// Asks an endpoint once, over a connection of its own: one from a pool would say nothing of whether new ones are taken.
///
/// # Errors
/// Why it is not well.
pub(super) async fn probe(
    resolver: &Resolver,
    endpoint: &Rc<Endpoint>,
    authority: &str,
    scheme: &'static str,
    settings: &HealthCheck,
) -> Result<(), &'static str> {
    let pools = Pools::new(resolver.clone());
    let mut timer = Timer::default();
    timer.set(now_ms().saturating_add(settings.time_ms()));
    let mut asking = Box::pin(ask(&pools, endpoint, authority, scheme, settings.kind()));
    let found = poll_fn(|cx| match asking.as_mut().poll(cx) {
        Poll::Ready(found) => Poll::Ready(found),
        Poll::Pending => timer.poll_due(cx).map(|()| Err("no answer in time")),
    })
    .await;
    drop(asking);
    pools.retire(|_| false);
    found
}

async fn ask(
    pools: &Rc<Pools>,
    endpoint: &Rc<Endpoint>,
    authority: &str,
    scheme: &'static str,
    kind: &HealthKind,
) -> Result<(), &'static str> {
    let code = |reason: Reason| reason.code();
    let mut call = pools.lease(endpoint).await.map_err(|fault| fault.cause().code())?;
    match kind {
        HealthKind::Tcp => Ok(()),
        HealthKind::Http { path } => {
            call.request(b"GET", authority.as_bytes(), scheme, path.as_bytes());
            head(&mut call, authority);
            call.length(Length::None);
            call.end(None);
            let status = poll_fn(|cx| poll_status(cx, &mut call)).await.map_err(code)?;
            if (200..300).contains(&status) { Ok(()) } else { Err("another status than 2xx") }
        }
        HealthKind::Grpc { service } => {
            let message = grpc::request(service);
            call.request(b"POST", authority.as_bytes(), scheme, b"/grpc.health.v1.Health/Check");
            head(&mut call, authority);
            call.field(b"content-type", b"application/grpc");
            call.field(b"te", b"trailers");
            call.length(Length::Stream);
            let mut sent = 0;
            while let Some(rest @ [_, ..]) = message.get(sent..) {
                sent += poll_fn(|cx| call.poll_send(cx, rest)).await.map_err(code)?;
            }
            call.end(None);
            let status = poll_fn(|cx| poll_status(cx, &mut call)).await.map_err(code)?;
            let mut body = Vec::new();
            poll_fn(|cx| poll_whole(cx, &mut call, &mut body)).await.map_err(code)?;
            let done = call.trailers().and_then(|fields| fields.get_named(b"grpc-status"));
            match (status, done) {
                (200, Some(b"0")) if grpc::is_serving(&body) => Ok(()),
                (200, Some(b"0")) => Err("not serving"),
                _ => Err("the call failed"),
            }
        }
    }
}

fn head(call: &mut Call, authority: &str) {
    call.field(b"host", authority.as_bytes());
    call.field(b"user-agent", b"leat-health");
}

/// The status of the final response.
fn poll_status(cx: &mut Context<'_>, call: &mut Call) -> Poll<Result<u16, Reason>> {
    loop {
        let status = ready!(call.poll_response(cx))?;
        if status >= 200 {
            return Poll::Ready(Ok(status));
        }
    }
}

/// Reads the body to its end, as far as it is wanted.
fn poll_whole(cx: &mut Context<'_>, call: &mut Call, body: &mut Vec<u8>) -> Poll<Result<(), Reason>> {
    loop {
        let count = match ready!(call.poll_body(cx))? {
            Piece::End => return Poll::Ready(Ok(())),
            Piece::Data(bytes) => {
                if body.len() + bytes.len() > BODY_BYTES_MAX {
                    return Poll::Ready(Err(Reason::UpstreamInvalid));
                }
                body.extend_from_slice(bytes);
                bytes.len()
            }
        };
        call.consume(count);
    }
}
