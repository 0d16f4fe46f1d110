use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};

/// Connections that the kernel completes and keeps for us until we accept them, for each listening socket. The kernel
/// lowers it to `net.core.somaxconn`, which is the same 4096 on current Linux.
pub const BACKLOG: i32 = 4096;

/// A connection without traffic is probed after this time: for peers that vanished while a stream was open, and to keep
/// address translators from forgetting it.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(75);
/// Time between probes without an answer.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(15);
/// Probes without an answer until the connection is lost.
const KEEPALIVE_PROBES: u32 = 4;

/// Bytes that the kernel takes beyond what it can send now. Without it a socket is writable again only when a third of its
/// send buffer has drained, which is up to 1.3 MB: a client that takes less than that within `throughput_grace_ms` would be
/// cut off as a slow reader, whatever `throughput_bytes_min` says, and hold that much of the kernel's memory.
#[cfg(target_os = "linux")]
const UNSENT_BYTES_MAX: u32 = 128 * 1024;

/// A listening socket, non-blocking.
#[derive(Debug)]
pub(crate) enum Bound {
    Tcp(TcpListener),
    Unix(UnixListener),
}

/// Where a socket listens in fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Local {
    Ip(SocketAddr),
    Unix(Option<PathBuf>),
}

impl Bound {
    /// Takes a TCP listener in. Accepted sockets inherit the options that are set on the listening one here (Linux and
    /// the BSDs), which saves system calls at each accept.
    pub(crate) fn tcp(listener: TcpListener) -> io::Result<Self> {
        let socket = SockRef::from(&listener);
        socket.set_nonblocking(true)?;
        socket.set_tcp_nodelay(true)?;
        socket.set_tcp_keepalive(
            &TcpKeepalive::new()
                .with_time(KEEPALIVE_IDLE)
                .with_interval(KEEPALIVE_INTERVAL)
                .with_retries(KEEPALIVE_PROBES),
        )?;
        #[cfg(target_os = "linux")]
        socket.set_tcp_notsent_lowat(UNSENT_BYTES_MAX)?;
        Ok(Self::Tcp(listener))
    }

    pub(crate) fn unix(listener: UnixListener) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        Ok(Self::Unix(listener))
    }

    pub(crate) fn local(&self) -> io::Result<Local> {
        Ok(match self {
            Self::Tcp(listener) => Local::Ip(listener.local_addr()?),
            Self::Unix(listener) => Local::Unix(listener.local_addr()?.as_pathname().map(PathBuf::from)),
        })
    }

    /// A further descriptor of the same socket: one accept queue, closed when the last descriptor is.
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Tcp(listener) => Self::Tcp(listener.try_clone()?),
            Self::Unix(listener) => Self::Unix(listener.try_clone()?),
        })
    }
}

impl AsFd for Bound {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(listener) => listener.as_fd(),
            Self::Unix(listener) => listener.as_fd(),
        }
    }
}

impl From<Bound> for OwnedFd {
    fn from(bound: Bound) -> Self {
        match bound {
            Bound::Tcp(listener) => listener.into(),
            Bound::Unix(listener) => listener.into(),
        }
    }
}
