use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use leat_message::{Handler, Reason};
use leat_stream::BULK_BYTES;
use tokio::io::{AsyncRead, ReadBuf};

use super::connection::Connection;

/// Bytes of an exchange in and out of the socket, under the deadlines for a client that keeps us waiting.
impl<H: Handler> Connection<H> {
    pub(super) async fn flush(&mut self) -> Result<(), Reason> {
        std::future::poll_fn(|cx| self.poll_write_out(cx)).await
    }

    /// Writes out what waits. A reader that is too slow loses its connection.
    pub(super) fn poll_write_out(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Reason>> {
        self.reply.begin_write();
        loop {
            let before = self.reply.output.len();
            let flushed = self.reply.output.poll_flush(&mut self.socket, cx);
            self.reply.end_write();
            self.wait.sent(before - self.reply.output.len());
            match flushed {
                Poll::Ready(Ok(())) => return Poll::Ready(Ok(())),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(lost(&error))),
                Poll::Pending => ready!(self.wait.poll_reader(cx, &self.site.limits))?,
            }
        }
    }

    /// Writes what waits and then `parts` without copying them; ready with the bytes of `parts` that were taken.
    pub(super) fn poll_write_with(&mut self, cx: &mut Context<'_>, parts: [&[u8]; 3]) -> Poll<Result<usize, Reason>> {
        self.reply.begin_write();
        loop {
            let before = self.reply.output.len();
            let written = self.reply.output.poll_write_with(&mut self.socket, cx, parts);
            self.reply.end_write();
            let taken = if let Poll::Ready(Ok(count)) = written { count } else { 0 };
            self.wait.sent(before - self.reply.output.len() + taken);
            match written {
                Poll::Ready(Ok(0)) => {}
                Poll::Ready(Ok(count)) => return Poll::Ready(Ok(count)),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(lost(&error))),
                Poll::Pending => ready!(self.wait.poll_reader(cx, &self.site.limits))?,
            }
        }
    }

    /// Reads more of a body that is wanted. A sender that is too slow, or late with the whole, loses its connection.
    pub(super) fn poll_read_body(&mut self, cx: &mut Context<'_>) -> Poll<Result<usize, Reason>> {
        let bytes_max = self.input.pinned().len() + BULK_BYTES;
        loop {
            match self.input.poll_fill(&mut self.socket, cx, bytes_max) {
                Poll::Ready(Ok(count)) => {
                    self.wait.received(count);
                    return Poll::Ready(Ok(count));
                }
                Poll::Ready(Err(error)) => return Poll::Ready(Err(lost(&error))),
                Poll::Pending => ready!(self.wait.poll_sender(cx, &self.site.limits))?,
            }
        }
    }

    /// Reads more of a body past the buffer, under the same deadlines.
    pub(super) fn poll_read_past(
        &mut self,
        cx: &mut Context<'_>,
        into: &mut [MaybeUninit<u8>],
    ) -> Poll<Result<usize, Reason>> {
        let mut room = ReadBuf::uninit(into);
        loop {
            match Pin::new(&mut self.socket).poll_read(cx, &mut room) {
                Poll::Ready(Ok(())) => {
                    let count = room.filled().len();
                    self.wait.received(count);
                    self.input.calm();
                    return Poll::Ready(Ok(count));
                }
                Poll::Ready(Err(error)) => return Poll::Ready(Err(lost(&error))),
                Poll::Pending => ready!(self.wait.poll_sender(cx, &self.site.limits))?,
            }
        }
    }
}

/// What an error of a socket tells of the client. One of TLS that goes without its farewell has only ended.
pub(super) fn lost(error: &io::Error) -> Reason {
    if error.kind() == io::ErrorKind::UnexpectedEof { Reason::PeerEnded } else { Reason::PeerReset }
}
