use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};

use leat_message::Address;
use leat_stream::Plain;
use tokio::net::{TcpListener, UnixListener};

use crate::bound::Bound;

/// What one core accepts from: descriptors of an endpoint's sockets. Made anywhere, used on the core's thread by
/// [`crate::serve`].
#[derive(Debug)]
pub struct Listener {
    sockets: Vec<Bound>,
}

/// One socket that a program has bound itself and made non-blocking.
impl From<std::net::TcpListener> for Listener {
    fn from(socket: std::net::TcpListener) -> Self {
        Self { sockets: vec![Bound::Tcp(socket)] }
    }
}

/// One Unix socket that a program has bound itself and made non-blocking.
impl From<std::os::unix::net::UnixListener> for Listener {
    fn from(socket: std::os::unix::net::UnixListener) -> Self {
        Self { sockets: vec![Bound::Unix(socket)] }
    }
}

impl Listener {
    pub(crate) fn new(sockets: Vec<Bound>) -> Self {
        Self { sockets }
    }

    /// Registers the sockets with the runtime of the current thread.
    pub(crate) fn register(self) -> io::Result<Incoming> {
        let sockets: io::Result<Vec<Registered>> = self.sockets.into_iter().map(Registered::new).collect();
        Ok(Incoming { sockets: sockets?, turn: 0 })
    }
}

/// A connection as the kernel gave it.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) socket: Plain,
    pub(crate) remote: Address,
    pub(crate) local: Address,
}

/// The registered sockets of a core, asked in turn.
pub(crate) struct Incoming {
    sockets: Vec<Registered>,
    turn: usize,
}

enum Registered {
    Tcp { listener: TcpListener, local: SocketAddr },
    Unix(UnixListener),
}

impl Incoming {
    /// The next connection of any socket. Registers for wake-ups with all of them before it is pending.
    pub(crate) fn poll_accept(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Connection>> {
        let count = self.sockets.len();
        for offset in 0..count {
            let index = (self.turn + offset) % count;
            if let Some(socket) = self.sockets.get(index)
                && let Poll::Ready(accepted) = socket.poll_accept(cx)
            {
                self.turn = index + 1;
                return Poll::Ready(accepted);
            }
        }
        Poll::Pending
    }

    /// Takes connections that still wait, without waiting for more, up to `count_max`, and closes the sockets.
    pub(crate) fn drain(self, count_max: usize) -> io::Result<Vec<Connection>> {
        let mut rest = Vec::new();
        for socket in self.sockets {
            let socket = socket.deregister()?;
            while rest.len() < count_max {
                match socket.accept() {
                    Ok(connection) => rest.push(connection),
                    Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                    Err(_) => break,
                }
            }
        }
        Ok(rest)
    }
}

impl Registered {
    fn new(bound: Bound) -> io::Result<Self> {
        Ok(match bound {
            Bound::Tcp(listener) => {
                Self::Tcp { local: listener.local_addr()?, listener: TcpListener::from_std(listener)? }
            }
            Bound::Unix(listener) => Self::Unix(UnixListener::from_std(listener)?),
        })
    }

    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<Connection>> {
        match self {
            Self::Tcp { listener, local } => listener
                .poll_accept(cx)
                .map(|accepted| accepted.and_then(|(stream, remote)| from_tcp(stream, remote, *local))),
            Self::Unix(listener) => {
                listener.poll_accept(cx).map(|accepted| accepted.map(|(stream, _)| from_unix(stream)))
            }
        }
    }

    fn deregister(self) -> io::Result<Deregistered> {
        Ok(match self {
            Self::Tcp { listener, local } => Deregistered::Tcp(listener.into_std()?, local),
            Self::Unix(listener) => Deregistered::Unix(listener.into_std()?),
        })
    }
}

/// A socket that is asked directly: what the runtime knows of its readiness may be old.
enum Deregistered {
    Tcp(std::net::TcpListener, SocketAddr),
    Unix(std::os::unix::net::UnixListener),
}

impl Deregistered {
    fn accept(&self) -> io::Result<Connection> {
        match self {
            Self::Tcp(listener, local) => {
                let (stream, remote) = listener.accept()?;
                stream.set_nonblocking(true)?;
                from_tcp(tokio::net::TcpStream::from_std(stream)?, remote, *local)
            }
            Self::Unix(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(true)?;
                Ok(from_unix(tokio::net::UnixStream::from_std(stream)?))
            }
        }
    }
}

/// `listening` is the listener's address: that of the connection too, unless it is a wildcard.
impl Connection {
    /// A connection that another part of the process has accepted.
    ///
    /// # Errors
    /// The socket is no connected TCP socket any more, or the runtime can't register it.
    pub(crate) fn accepted(stream: std::net::TcpStream) -> io::Result<Self> {
        let (remote, local) = (stream.peer_addr()?, stream.local_addr()?);
        from_tcp(tokio::net::TcpStream::from_std(stream)?, remote, local)
    }
}

fn from_tcp(stream: tokio::net::TcpStream, remote: SocketAddr, listening: SocketAddr) -> io::Result<Connection> {
    let local = if listening.ip().is_unspecified() { stream.local_addr()? } else { listening };
    Ok(Connection {
        socket: Plain::Tcp(stream),
        remote: Address::Ip(canonical(remote)),
        local: Address::Ip(canonical(local)),
    })
}

fn from_unix(stream: tokio::net::UnixStream) -> Connection {
    Connection { socket: Plain::Unix(stream), remote: Address::Unix, local: Address::Unix }
}

/// An IPv4 client of a dual-stack socket is an IPv4 client, not one of `::ffff:0:0/96`.
pub(crate) fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapped_address_is_the_ipv4_address() {
        for (text, canonically) in [
            ("[::ffff:192.0.2.1]:5", "192.0.2.1:5"),
            ("[2001:db8::1]:5", "[2001:db8::1]:5"),
            ("192.0.2.1:5", "192.0.2.1:5"),
        ] {
            assert_eq!(canonical(text.parse().unwrap()), canonicaladdr(canonically));
        }
    }

    fn canonicaladdr(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }
}
