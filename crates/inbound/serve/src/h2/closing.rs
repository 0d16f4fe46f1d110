use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use leat_message::Limits;
use leat_stream::clock::now_ms;
use leat_stream::{Socket, Timer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::link::Link;

/// Writes what is left, ends our direction and reads the client's off for a while, so that a GOAWAY is read before a reset
/// destroys it. A client that has ended its own direction still gets what is left.
pub(super) async fn linger(link: Link, mut socket: Socket, mut timer: Timer, limits: &Limits) {
    timer.set(now_ms().saturating_add(limits.drain_time_ms));
    let mut left = limits.drain_bytes_max;
    let (mut is_shut, mut is_read) = (false, false);
    poll_fn(|cx| {
        if !is_shut && let Poll::Ready(shut) = poll_shut(&link, &mut socket, cx) {
            is_shut = true;
            // Nothing more can be written.
            is_read |= shut.is_err();
        }
        if !is_read && let Poll::Ready(()) = poll_read_off(&mut socket, cx, &mut left) {
            is_read = true;
        }
        if is_shut && is_read { Poll::Ready(()) } else { timer.poll_due(cx) }
    })
    .await;
    link.lose();
}

/// Writes what is left and ends our direction.
fn poll_shut(link: &Link, socket: &mut Socket, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
    ready!(link.poll_flush(socket, cx, false).0)?;
    Pin::new(socket).poll_shutdown(cx)
}

/// Reads off up to `left` bytes. Ready at the end of what the client sends.
fn poll_read_off(socket: &mut Socket, cx: &mut Context<'_>, left: &mut u64) -> Poll<()> {
    let mut block = [0; 1024];
    loop {
        let mut buf = ReadBuf::new(&mut block);
        let read = ready!(Pin::new(&mut *socket).poll_read(cx, &mut buf));
        if read.is_err() || buf.filled().is_empty() || *left == 0 {
            return Poll::Ready(());
        }
        *left = left.saturating_sub(buf.filled().len() as u64);
    }
}
