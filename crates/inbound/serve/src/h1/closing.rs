use std::pin::Pin;
use std::task::Poll;

use leat_message::Handler;
use leat_stream::BULK_BYTES;
use leat_stream::clock::now_ms;
use tokio::io::AsyncWrite;

use super::connection::Connection;

/// Bytes that are read off and thrown away at the end of a connection, within the time for that: an upload that is under
/// way when its refusal leaves. Kept apart from the limit for bodies that are drained to go on.
const LINGER_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// How a connection is closed so that its last reply arrives.
impl<H: Handler> Connection<H> {
    pub(super) async fn shut_down(&mut self) {
        let deadline = now_ms().saturating_add(self.site.limits.drain_time_ms);
        std::future::poll_fn(|cx| {
            if Pin::new(&mut self.socket).poll_shutdown(cx).is_ready() {
                return Poll::Ready(());
            }
            self.wait.timer.set(deadline);
            self.wait.timer.poll_due(cx)
        })
        .await;
    }

    /// Ends our direction and reads the client's off for a while: closing with unread bytes would reset the connection
    /// and could destroy the reply before the client has read it (RFC 9112 section 9.6).
    pub(super) async fn linger(&mut self) {
        self.shut_down().await;
        self.input.unpin();
        let deadline = now_ms().saturating_add(self.site.limits.drain_time_ms);
        let mut left = LINGER_BYTES_MAX.max(self.site.limits.drain_bytes_max);
        std::future::poll_fn(|cx| {
            loop {
                self.input.consume(usize::MAX);
                match self.input.poll_fill(&mut self.socket, cx, BULK_BYTES) {
                    Poll::Ready(Ok(count)) if count > 0 && left > 0 => left = left.saturating_sub(count as u64),
                    Poll::Ready(_) => return Poll::Ready(()),
                    Poll::Pending => {
                        self.wait.timer.set(deadline);
                        return self.wait.timer.poll_due(cx);
                    }
                }
            }
        })
        .await;
    }
}
