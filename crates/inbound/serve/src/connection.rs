use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;
use std::time::Instant;

use leat_message::{Ended, Handler, Peer, Reason, Record};
use leat_stream::clock::now_ms;
use leat_stream::{Buffer, Socket, Timer};

use crate::h2::PREFACE;
use crate::{Service, serve_h1, serve_h2};

/// What is spoken on an accepted connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.x.
    Http1,
    /// HTTP/2, settled by ALPN.
    Http2,
    /// Either: the first bytes tell (HTTP/2 with prior knowledge, RFC 9113 section 3.3).
    Sniff,
}

/// Serves one connection until it ends. `first_bytes` were read from the socket already.
pub async fn serve<H: Handler>(
    mut socket: Socket,
    mut first_bytes: Vec<u8>,
    protocol: Protocol,
    peer: Rc<Peer>,
    service: Rc<Service<H>>,
) {
    let http2 = match protocol {
        Protocol::Http1 => false,
        Protocol::Http2 => true,
        Protocol::Sniff => match sniff(&mut socket, &mut first_bytes, &service).await {
            Some(false) if is_no_http(&first_bytes) => {
                let record = Record { reason: Some(Reason::LineVersionInvalid), ..Record::default() };
                let ended = Ended { request: None, peer: &peer, record: &record, started: Instant::now() };
                service.current().handler.ended(ended);
                return;
            }
            Some(http2) => http2,
            None => return,
        },
    };
    if http2 {
        // Boxed, since its state is much larger than that of HTTP/1 and would be paid for by every idle connection.
        Box::pin(serve_h2(socket, first_bytes, peer, service)).await;
    } else {
        serve_h1(socket, first_bytes, peer, service).await;
    }
}

/// Whether the first line can't be HTTP/1 of any form, which always has a slash in its version: probably a broken
/// HTTP/2 preface. An answer in HTTP/1 would only be garbage to such a client (RFC 9113 section 3.4). Empty lines before
/// a request are HTTP/1 (RFC 9112 section 2.2).
fn is_no_http(bytes: &[u8]) -> bool {
    let start = bytes.iter().position(|b| !matches!(b, b'\r' | b'\n')).unwrap_or(bytes.len());
    let line = bytes.get(start..).unwrap_or_default();
    line.iter().position(|&b| b == b'\n').is_some_and(|end| !line.iter().take(end).any(|&b| b == b'/'))
}

/// Reads until the bytes either are the HTTP/2 preface or can't become it; `None` if the connection ended, or idled,
/// without a byte. What was read so far of an unfinished preface is HTTP/1's to judge.
async fn sniff<H: Handler>(socket: &mut Socket, first_bytes: &mut Vec<u8>, service: &Service<H>) -> Option<bool> {
    let mut buffer = Buffer::default();
    if !first_bytes.is_empty() {
        buffer.extend(first_bytes);
    }
    let site = service.current();
    let mut timer = Timer::default();
    timer.set_after(site.limits.idle_time_ms);
    let mut deadline = now_ms().saturating_add(site.limits.idle_time_ms);
    let (mut begun, mut graced) = (false, false);
    loop {
        let seen = buffer.bytes();
        let compared = seen.len().min(PREFACE.len());
        if seen.get(..compared) != PREFACE.get(..compared) || compared == PREFACE.len() {
            break;
        }
        if !begun && !seen.is_empty() {
            begun = true;
            deadline = now_ms().saturating_add(site.limits.head_time_ms);
        }
        let read = poll_fn(|cx| match buffer.poll_fill(socket, cx, usize::MAX) {
            Poll::Ready(read) => Poll::Ready(read.unwrap_or(0)),
            Poll::Pending => {
                if buffer.is_empty() {
                    buffer.release();
                }
                // A request that is on its way when a drain begins is still answered.
                if service.is_ending() && !begun && !graced {
                    graced = true;
                    deadline = deadline.min(now_ms().saturating_add(site.drain_grace_ms));
                }
                timer.set(deadline);
                timer.poll_due(cx).map(|()| 0)
            }
        })
        .await;
        match read {
            0 if buffer.is_empty() => return None,
            0 => break,
            _ => {}
        }
    }
    let http2 = buffer.bytes().starts_with(PREFACE);
    *first_bytes = buffer.bytes().to_vec();
    Some(http2)
}
