use std::future::poll_fn;
use std::task::{Poll, ready};

use leat_message::{Exchange, Fault, Length, Reason, Reply};

use super::Patch;

/// A plug-in's reply up to so many bytes is copied to the client's connection as a whole, in the raw step; a longer one is sent
/// piece by piece.
pub(super) const WHOLE_BYTES_MAX: usize = 64 * 1024;

/// Writes the reply that a patch is, without its body; says the body.
fn head<'a, R: Reply>(patch: &'a impl Patch, reply: &mut R) -> &'a [u8] {
    let body = patch.body().unwrap_or_default();
    let status = patch.status().unwrap_or(200);
    reply.status(status);
    for (name, value) in patch.edits() {
        if let Some(value) = value {
            reply.field(name, value);
        }
    }
    reply.length(Length::whole(status, body.len()));
    body
}

/// Answers with the reply that a patch is, at once. A body that the reply has no place for (HEAD, 204, 304) goes nowhere.
pub(super) fn respond_whole<R: Reply>(patch: &impl Patch, reply: &mut R) {
    let body = head(patch, reply);
    reply.body(body);
}

/// The same with a body of any length.
///
/// # Errors
/// Where the client takes it no more.
pub(crate) async fn respond<X: Exchange>(patch: &impl Patch, x: &mut X) -> Result<(), Fault> {
    let body = head(patch, x);
    send(body, x).await?;
    x.end(None);
    Ok(())
}

/// Sends bytes of a body.
async fn send<X: Exchange>(mut bytes: &[u8], x: &mut X) -> Result<(), Reason> {
    poll_fn(|cx| {
        while !bytes.is_empty() {
            let count = ready!(x.poll_send(cx, bytes))?;
            bytes = bytes.get(count..).unwrap_or_default();
        }
        Poll::Ready(Ok(()))
    })
    .await
}
