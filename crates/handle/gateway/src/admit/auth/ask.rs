use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use leat_dial::{Call, Endpoint, Pools};
use leat_message::{Length, Piece, Reason};

/// A question to a server beside the way of a request.
pub(super) struct Question<'q> {
    pub(super) authority: &'q str,
    pub(super) scheme: &'q str,
    pub(super) target: &'q [u8],
    pub(super) fields: &'q [(&'q [u8], &'q [u8])],
    /// The longest body of an answer that is read, in bytes.
    pub(super) bytes_max: usize,
    /// Whether an answer is good whatever its body is. The connection of one that is too long is closed.
    pub(super) head_says_all: bool,
}

/// Sends a GET and reads the whole answer. The caller limits the time. A pooled connection that turns out to be dead is
/// replaced once.
///
/// # Errors
/// Why there is no answer; `upstream.invalid` for one that is too long.
pub(super) async fn ask<T>(
    pools: &Rc<Pools>,
    endpoint: &Rc<Endpoint>,
    question: &Question<'_>,
    read: impl Fn(&Call, &[u8]) -> T,
) -> Result<T, Reason> {
    let mut tries = 0;
    loop {
        tries += 1;
        let mut call = pools.lease(endpoint).await.map_err(|fault| fault.reason)?;
        match once(&mut call, question).await {
            Ok(body) => return Ok(read(&call, &body)),
            Err(Reason::UpstreamReset) if call.was_reused() && !call.response_started() && tries == 1 => {}
            Err(reason) => return Err(reason),
        }
    }
}

async fn once(call: &mut Call, question: &Question<'_>) -> Result<Vec<u8>, Reason> {
    call.request(b"GET", question.authority.as_bytes(), question.scheme, question.target);
    call.field(b"host", question.authority.as_bytes());
    for (name, value) in question.fields {
        call.field(name, value);
    }
    call.length(Length::None);
    // An interim response comes before the final one.
    while poll_fn(|cx| call.poll_response(cx)).await? < 200 {}
    let (mut body, mut read) = (Vec::new(), 0);
    loop {
        let step = poll_fn(|cx| match call.poll_body(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Err(reason)) => Poll::Ready(Err(reason)),
            Poll::Ready(Ok(Piece::End)) => Poll::Ready(Ok(0)),
            Poll::Ready(Ok(Piece::Data(bytes))) => {
                if !question.head_says_all {
                    body.extend_from_slice(bytes);
                }
                Poll::Ready(Ok(bytes.len()))
            }
        });
        let count = step.await?;
        if count == 0 {
            return Ok(body);
        }
        call.consume(count);
        read += count;
        if read > question.bytes_max {
            return if question.head_says_all { Ok(body) } else { Err(Reason::UpstreamInvalid) };
        }
    }
}
