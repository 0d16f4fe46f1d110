use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use leat_message::Limits;
use leat_stream::clock::now_ms;
use leat_stream::{Socket, Timer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::link::Link;

/// Writes what is left, ends our direction and reads the client's off for a while, so that a GOAWAY is read before a reset
/// destroys it.
pub(super) async fn linger(link: Link, mut socket: Socket, mut timer: Timer, limits: &Limits) {
    let deadline = now_ms().saturating_add(limits.drain_time_ms);
    let mut left = limits.drain_bytes_max;
    let mut shut = false;
    let mut block = [0; 1024];
    poll_fn(|cx| {
        loop {
            if !shut && link.poll_flush(&mut socket, cx).0.is_ready() {
                shut = Pin::new(&mut socket).poll_shutdown(cx).is_ready();
            }
            let mut buf = ReadBuf::new(&mut block);
            match Pin::new(&mut socket).poll_read(cx, &mut buf) {
                Poll::Ready(Ok(())) if !buf.filled().is_empty() && left > 0 => {
                    left = left.saturating_sub(buf.filled().len() as u64);
                }
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => {
                    timer.set(deadline);
                    return timer.poll_due(cx);
                }
            }
        }
    })
    .await;
    link.lose();
}
