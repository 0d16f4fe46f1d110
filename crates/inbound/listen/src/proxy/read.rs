use leat_message::Reason;
use leat_stream::Plain;
use rustix::net::RecvFlags;

use super::header::{self, Origin};
use crate::receive;

/// Bytes looked at in one go; most headers are shorter.
const PEEK_BYTES: usize = 256;

/// Reads exactly the header: every round looks at what is there, and takes only what belongs to the header. Two system
/// calls for a header that arrives whole.
///
/// # Errors
/// [`Reason::ProxyHeaderInvalid`] if the bytes are not a header, or the stream ends or fails within it.
pub(crate) async fn read(socket: &mut Plain) -> Result<Origin, Reason> {
    let mut held = Vec::new();
    loop {
        let mut seen = [0; PEEK_BYTES];
        let count = take(socket, &mut seen, RecvFlags::PEEK).await?;
        let fresh = seen.get(..count).unwrap_or_default();
        let claimed = header::claim(&held, fresh).ok_or(Reason::ProxyHeaderInvalid)?;
        let taken = take(socket, seen.get_mut(..claimed).unwrap_or_default(), RecvFlags::empty()).await?;
        held.extend_from_slice(seen.get(..taken).unwrap_or_default());
        if header::is_whole(&held) {
            return header::parse(&held).ok_or(Reason::ProxyHeaderInvalid);
        }
    }
}

async fn take(socket: &Plain, into: &mut [u8], flags: RecvFlags) -> Result<usize, Reason> {
    match receive::some(socket, into, flags).await {
        Ok(count) if count > 0 => Ok(count),
        Ok(_) | Err(_) => Err(Reason::ProxyHeaderInvalid),
    }
}
