use std::cell::Cell;
use std::io;
use std::rc::Rc;

use leat_message::Reason;
use leat_stream::{Plain, clock};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Refused connections of a listener that a core waits for at once, so that they read their reply; more are just closed.
const LINGERING_MAX: usize = 64;
/// How long such a connection may take to read its reply and close, in milliseconds.
const LINGER_MS: u64 = 500;
/// What is read and thrown away of such a connection's request, in bytes.
const LINGER_BYTES_MAX: u64 = 64 * 1024;

/// Lets clients read why they are closed before their request is read: plain ones that there is no place for them (503),
/// or that they should speak TLS (400); those of a failed handshake their alert.
#[derive(Debug, Default)]
pub(crate) struct Shed {
    lingering: Rc<Cell<usize>>,
}

impl Shed {
    /// Writes the reply without waiting, and closes once the client had a chance to read it: a close with unread bytes
    /// of the request would be a reset, which takes the reply away (RFC 9112 section 9.6).
    pub(crate) fn reply(&self, socket: Plain, reason: Reason) {
        let reply = reply(reason);
        if !matches!(try_write(&socket, reply.as_bytes()), Ok(count) if count == reply.len()) {
            return;
        }
        self.linger(socket);
    }

    /// Closes a connection to which the last was written, once the client had a chance to read it: it may have sent more
    /// than we read, and a close with unread bytes is a reset.
    pub(crate) fn linger(&self, mut socket: Plain) {
        if self.lingering.get() >= LINGERING_MAX {
            return;
        }
        let place = Place::take(&self.lingering);
        tokio::task::spawn_local(async move {
            tokio::select! {
                _ = drain(&mut socket) => {}
                () = clock::sleep(LINGER_MS) => {}
            }
            drop(place);
        });
    }
}

async fn drain(socket: &mut Plain) -> io::Result<()> {
    socket.shutdown().await?;
    tokio::io::copy(&mut socket.take(LINGER_BYTES_MAX), &mut tokio::io::sink()).await?;
    Ok(())
}

fn try_write(socket: &Plain, bytes: &[u8]) -> io::Result<usize> {
    match socket {
        Plain::Tcp(stream) => stream.try_write(bytes),
        Plain::Unix(stream) => stream.try_write(bytes),
    }
}

fn reply(reason: Reason) -> String {
    let date = clock::date();
    let date = str::from_utf8(&date).unwrap_or_default();
    let (status, title, retry) = match reason.status() {
        400 => (400, "Bad Request", ""),
        _ => (503, "Service Unavailable", "retry-after: 1\r\n"),
    };
    let body = reason.problem_as(status);
    let length = body.len();
    format!(
        "HTTP/1.1 {status} {title}\r\ndate: {date}\r\ncontent-type: application/problem+json\r\n\
         content-length: {length}\r\n{retry}connection: close\r\n\r\n{body}"
    )
}

struct Place(Rc<Cell<usize>>);

impl Place {
    fn take(count: &Rc<Cell<usize>>) -> Self {
        count.set(count.get() + 1);
        Self(Rc::clone(count))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.set(self.0.get().saturating_sub(1));
    }
}
