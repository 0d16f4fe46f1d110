use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use leat_message::{BodyLimits, Exchange, Fields, Fixed, Handler, Head, Length, Peer, Piece, Reason, Record, Reply};
use leat_stream::clock::{NEVER, now_ms};
use leat_stream::{BULK_BYTES, Socket};
use tokio::io::AsyncWrite;

use super::body::{Expect, Next};
use super::connection::Connection;
use super::transport::lost;

/// Body pieces up to this size are copied behind the head so that they leave in one write; larger ones are written from
/// where they are.
const COPY_BYTES_MAX: usize = 8 * 1024;
/// Waiting output above which more body is only taken after a write.
const BACKLOG_BYTES_MAX: usize = 64 * 1024;
/// Largest chunk: what is held for a client that takes none of it.
const CHUNK_BYTES_MAX: usize = BULK_BYTES;

impl<H: Handler> Reply for Connection<H> {
    fn status(&mut self, status: u16) {
        self.reply.status(status);
    }

    fn field(&mut self, name: &[u8], value: &[u8]) {
        self.reply.field(name, value);
    }

    fn length(&mut self, length: Length) {
        self.announce_ending();
        self.reply.length(length);
        if self.reply.tunnel {
            self.body.become_tunnel();
            self.wait.limit_body(None);
        }
    }

    fn body(&mut self, bytes: &[u8]) {
        self.reply.body(bytes);
    }

    fn body_with_trailers(&mut self, parts: &[&[u8]], trailers: Fields<'_>) {
        self.reply.body_with_trailers(parts, trailers);
    }

    fn fixed(&mut self, reply: &Fixed) {
        self.announce_ending();
        self.reply.fixed(reply);
    }

    fn record(&mut self) -> &mut Record {
        &mut self.reply.record
    }
}

impl<H: Handler> Exchange for Connection<H> {
    fn request(&self) -> Head<'_> {
        Head::new(self.input.pinned(), &self.lines)
    }

    fn peer(&self) -> &Peer {
        &self.peer
    }

    fn limit_body(&mut self, limits: BodyLimits) {
        if !self.body.is_done() {
            self.body.limit(limits.bytes_max);
            self.wait.limit_body(limits.time_ms);
        }
    }

    fn poll_body(&mut self, cx: &mut Context<'_>) -> Poll<Result<Piece<'_>, Reason>> {
        loop {
            match self.body.next(&mut self.input)? {
                Next::Data(count) => {
                    let data = self.input.bytes().get(..count).unwrap_or_default();
                    return Poll::Ready(Ok(Piece::Data(data)));
                }
                Next::End => {
                    self.reply.close_if_unread = false;
                    return Poll::Ready(Ok(Piece::End));
                }
                Next::Read => {
                    self.send_continue(cx)?;
                    let count = ready!(self.poll_read_body(cx))?;
                    self.came(count)?;
                }
            }
        }
    }

    fn poll_read(&mut self, cx: &mut Context<'_>, into: &mut [MaybeUninit<u8>]) -> Poll<Result<usize, Reason>> {
        let unread = matches!(self.body.next(&mut self.input)?, Next::Read);
        let len = into.len().min(self.body.unframed());
        if unread && let Some(into) = into.get_mut(..len).filter(|into| !into.is_empty()) {
            self.send_continue(cx)?;
            let count = ready!(self.poll_read_past(cx, into))?;
            self.came(count)?;
            self.body.passed(count);
            self.took(count);
            return Poll::Ready(Ok(count));
        }
        let count = ready!(self.poll_body(cx))?.copy_to(into);
        self.consume(count);
        Poll::Ready(Ok(count))
    }

    fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<Reason> {
        if matches!(self.body.expect, Expect::Owed | Expect::Waived) {
            return self.poll_unasked_body(cx);
        }
        // A peer that ended its direction of a tunnel still waits for ours.
        if !self.body.is_done() || self.body.is_tunnel() {
            return Poll::Pending;
        }
        if self.wait.gone_at_ms != NEVER {
            return self.wait.poll_gone(cx, &self.site.limits).map(|()| Reason::PeerEnded);
        }
        // Requests that are pipelined behind this one are read ahead, up to one head's worth.
        let ahead_max = self.input.pinned().len() + self.site.limits.head_bytes_max;
        while self.input.bytes().len() < self.site.limits.head_bytes_max {
            match ready!(self.input.poll_fill(&mut self.socket, cx, ahead_max)) {
                Ok(count) if count > 0 => {}
                Ok(_) => {
                    self.wait.gone_at_ms = now_ms().saturating_add(self.site.limits.half_closed_ms);
                    return self.wait.poll_gone(cx, &self.site.limits).map(|()| Reason::PeerEnded);
                }
                Err(error) => return Poll::Ready(lost(&error)),
            }
        }
        Poll::Pending
    }

    fn consume(&mut self, count: usize) {
        let count = self.body.consume(&mut self.input, count);
        self.took(count);
    }

    fn trailers(&self) -> Option<Fields<'_>> {
        self.body.trailers()
    }

    fn interim(&mut self, status: u16, fields: Fields<'_>) {
        if self.reply.interim(status, fields) && status == 100 {
            self.body.expect = Expect::Nothing;
        }
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize, Reason>> {
        if self.reply.is_bodiless() || bytes.is_empty() {
            return Poll::Ready(Ok(bytes.len()));
        }
        if bytes.len() as u64 > self.reply.left() {
            return Poll::Ready(Err(Reason::HandlerFailed));
        }
        if self.reply.output.len() >= BACKLOG_BYTES_MAX {
            ready!(self.poll_write_out(cx))?;
        }
        let taken = if bytes.len() <= COPY_BYTES_MAX {
            let framed = self.reply.frame(bytes.len())?;
            let out = self.reply.output.buffer();
            out.extend_from_slice(framed.prefix());
            out.extend_from_slice(bytes);
            out.extend_from_slice(framed.suffix);
            bytes.len()
        } else {
            ready!(self.poll_send_large(cx, bytes))?
        };
        self.reply.record.bytes_out += taken as u64;
        Poll::Ready(Ok(taken))
    }

    fn end(&mut self, trailers: Option<Fields<'_>>) {
        // A handler that announced more than it sent is found out after it returned: its reply is not done.
        let _ = self.reply.end(trailers);
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Reason>> {
        // A TLS session may hold records of an output that is empty already.
        if !self.reply.output.is_empty() || matches!(self.socket, Socket::Tls(_)) {
            ready!(self.poll_write_out(cx))?;
        }
        if self.reply.tunnel && self.reply.is_done() {
            // The other direction may go on: only ours ends.
            return Pin::new(&mut self.socket).poll_shutdown(cx).map_err(|error| lost(&error));
        }
        Poll::Ready(Ok(()))
    }

    fn head_sent(&self) -> bool {
        self.reply.head_sent()
    }

    fn verbatim(&mut self, status: u16, head: &[u8]) {
        self.announce_ending();
        self.reply.verbatim(status, head);
    }

    fn keep_alive(&mut self, keep: bool) {
        self.reply.lower_keep_alive(keep);
    }

    fn interim_verbatim(&mut self, status: u16, head: &[u8]) {
        if self.reply.interim_verbatim(status, head) && status == 100 && self.body.expect != Expect::Nothing {
            // Whatever the handler polls next sees to it that the client gets to know.
            self.body.expect = Expect::Leaving;
        }
    }

    fn waive_continue(&mut self) {
        if self.body.expect == Expect::Owed {
            self.body.expect = Expect::Waived;
        }
    }

    fn take_over(&mut self) -> bool {
        let taken = self.reply.take_over();
        if taken {
            self.body.become_tunnel();
            self.wait.limit_body(None);
        }
        taken
    }

    fn reset(&mut self) {
        self.resets = true;
    }
}

impl<H: Handler> Connection<H> {
    /// Notes that `count` bytes of the body were read, 0 at the end of the connection.
    fn came(&mut self, count: usize) -> Result<(), Reason> {
        if count == 0 {
            self.body.end_of_input()?;
        } else if self.body.expect == Expect::Waived {
            // Who sends the body does not wait to be asked for it any more.
            self.body.expect = Expect::Nothing;
        }
        Ok(())
    }

    /// Counts what the handler has taken of the body.
    fn took(&mut self, count: usize) {
        self.reply.record.bytes_in += count as u64;
        self.reply.close_if_unread &= !self.body.is_consumed();
    }

    /// Asks for the body where the client waits for that, and sees to it that this leaves: the client sends nothing before.
    fn send_continue(&mut self, cx: &mut Context<'_>) -> Result<(), Reason> {
        if self.body.expect == Expect::Owed {
            let asked = self.reply.interim(100, Fields::new(&[], &[]));
            self.body.expect = if asked { Expect::Leaving } else { Expect::Nothing };
        }
        if self.body.expect == Expect::Leaving && self.poll_write_out(cx)?.is_ready() {
            self.body.expect = Expect::Nothing;
        }
        Ok(())
    }

    /// A client that waits for 100 (Continue) may stop waiting, or end. Wakes the exchange for the former, since the head
    /// says then that nobody waits.
    fn poll_unasked_body(&mut self, cx: &mut Context<'_>) -> Poll<Reason> {
        let bytes_max = self.input.pinned().len() + BULK_BYTES;
        match ready!(self.input.poll_fill(&mut self.socket, cx, bytes_max)) {
            Ok(0) => return Poll::Ready(Reason::BodyCutOff),
            Ok(_) => {}
            Err(error) => return Poll::Ready(lost(&error)),
        }
        self.body.expect = Expect::Nothing;
        self.lines.expect_continue = false;
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Writes the waiting output and `bytes` in one call. Of a chunk that the socket takes only in part, the rest is
    /// copied, since its size is already on the wire; other bodies keep what was not taken.
    fn poll_send_large(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize, Reason>> {
        if !self.reply.is_chunked() {
            let taken = ready!(self.poll_write_with(cx, [&[], bytes, &[]]))?;
            self.reply.frame(taken)?;
            return Poll::Ready(Ok(taken));
        }
        let bytes = bytes.get(..CHUNK_BYTES_MAX).unwrap_or(bytes);
        let framed = self.reply.frame(bytes.len())?;
        let parts = [framed.prefix(), bytes, framed.suffix];
        let mut written = match self.poll_write_with(cx, parts) {
            Poll::Ready(written) => written?,
            Poll::Pending => 0,
        };
        for part in parts {
            let skip = written.min(part.len());
            written -= skip;
            self.reply.output.buffer().extend_from_slice(part.get(skip..).unwrap_or_default());
        }
        Poll::Ready(Ok(bytes.len()))
    }
}
