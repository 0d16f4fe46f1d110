use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use leat_dial::{Call, Endpoint, Pools};
use leat_message::{Length, Name, Piece, Reason};

/// The longest answer that is read, in bytes: only its status says something.
const ANSWER_BYTES_MAX: usize = 64 * 1_024;

/// A message to a collector.
pub(super) struct Message<'m> {
    pub(super) authority: &'m str,
    pub(super) scheme: &'m str,
    pub(super) target: &'m str,
    pub(super) fields: &'m [(&'m str, &'m [u8])],
    pub(super) body: &'m [u8],
}

/// What a collector said.
pub(super) struct Answer {
    pub(super) status: u16,
    /// How long it wants us to wait.
    pub(super) retry_after: Option<Duration>,
}

/// Sends a message with POST and reads the whole answer. The caller limits the time. A pooled connection that turns out to be
/// dead is replaced once: OTLP allows a message to come twice.
///
/// # Errors
/// Why there is no answer; `upstream.invalid` for one that is too long.
pub(super) async fn post(pools: &Rc<Pools>, endpoint: &Rc<Endpoint>, message: &Message<'_>) -> Result<Answer, Reason> {
    let mut is_first = true;
    loop {
        let mut call = pools.lease(endpoint).await.map_err(|fault| fault.reason)?;
        match once(&mut call, message).await {
            Err(Reason::UpstreamReset) if call.was_reused() && is_first => is_first = false,
            outcome => return outcome,
        }
    }
}

async fn once(call: &mut Call, message: &Message<'_>) -> Result<Answer, Reason> {
    call.request(b"POST", message.authority.as_bytes(), message.scheme, message.target.as_bytes());
    call.field(b"host", message.authority.as_bytes());
    call.field(b"content-type", b"application/x-protobuf");
    for (name, value) in message.fields {
        call.field(name.as_bytes(), value);
    }
    call.length(Length::Known(message.body.len() as u64));
    let mut left = message.body;
    while !left.is_empty() {
        let count = poll_fn(|cx| call.poll_send(cx, left)).await?;
        left = left.get(count..).unwrap_or_default();
    }
    call.end(None);
    // An interim response comes before the final one.
    while poll_fn(|cx| call.poll_response(cx)).await? < 200 {}
    let head = call.response();
    let seconds = head.fields().get(Name::RetryAfter).and_then(|value| std::str::from_utf8(value).ok()?.parse().ok());
    let answer = Answer { status: head.status(), retry_after: seconds.map(Duration::from_secs) };
    let mut read = 0;
    loop {
        let step = poll_fn(|cx| match call.poll_body(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Err(reason)) => Poll::Ready(Err(reason)),
            Poll::Ready(Ok(Piece::End)) => Poll::Ready(Ok(0)),
            Poll::Ready(Ok(Piece::Data(bytes))) => Poll::Ready(Ok(bytes.len())),
        });
        let count = step.await?;
        if count == 0 {
            return Ok(answer);
        }
        call.consume(count);
        read += count;
        if read > ANSWER_BYTES_MAX {
            return Err(Reason::UpstreamInvalid);
        }
    }
}
