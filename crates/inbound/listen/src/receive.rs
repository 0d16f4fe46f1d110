//! Receiving with flags, which tokio's sockets do not offer: looking at bytes that stay where they are.

use std::io;
use std::os::fd::AsFd;

use leat_stream::Plain;
use rustix::net::{RecvFlags, recv};
use tokio::io::Interest;

/// Receives at least one byte, or 0 at the end of the stream. One system call where bytes are there already.
pub(crate) async fn some(socket: &Plain, into: &mut [u8], flags: RecvFlags) -> io::Result<usize> {
    match socket {
        Plain::Tcp(stream) => stream.async_io(Interest::READABLE, || once(stream, into, flags)).await,
        Plain::Unix(stream) => stream.async_io(Interest::READABLE, || once(stream, into, flags)).await,
    }
}

fn once(socket: impl AsFd, into: &mut [u8], flags: RecvFlags) -> io::Result<usize> {
    let (count, _) = recv(socket, into, flags)?;
    Ok(count)
}
