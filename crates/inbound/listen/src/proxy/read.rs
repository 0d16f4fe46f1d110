use std::io;
use std::os::fd::AsFd;

use leat_message::Reason;
use leat_stream::Plain;
use rustix::net::{RecvFlags, recv};
use tokio::io::Interest;

use super::header::{self, Origin};

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
        let count = receive(socket, &mut seen, RecvFlags::PEEK).await?;
        let fresh = seen.get(..count).unwrap_or_default();
        let claimed = header::claim(&held, fresh).ok_or(Reason::ProxyHeaderInvalid)?;
        let taken = receive(socket, seen.get_mut(..claimed).unwrap_or_default(), RecvFlags::empty()).await?;
        held.extend_from_slice(seen.get(..taken).unwrap_or_default());
        if header::is_whole(&held) {
            return header::parse(&held).ok_or(Reason::ProxyHeaderInvalid);
        }
    }
}

/// Receives at least one byte.
async fn receive(socket: &Plain, into: &mut [u8], flags: RecvFlags) -> Result<usize, Reason> {
    let received = match socket {
        Plain::Tcp(stream) => stream.async_io(Interest::READABLE, || once(stream, into, flags)).await,
        Plain::Unix(stream) => stream.async_io(Interest::READABLE, || once(stream, into, flags)).await,
    };
    match received {
        Ok(count) if count > 0 => Ok(count),
        Ok(_) | Err(_) => Err(Reason::ProxyHeaderInvalid),
    }
}

fn once(socket: impl AsFd, into: &mut [u8], flags: RecvFlags) -> io::Result<usize> {
    let (count, _) = recv(socket, into, flags)?;
    Ok(count)
}
