//! Binds before `listen` returns, so that the address, or the error, is known to the caller at once.
#![allow(unsafe_code)]

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{OwnedFd, RawFd};

use leat_listen::Listener;
use socket2::{Domain, SockAddr, Socket, Type};

/// A socket that listens, and where.
pub(crate) struct Bound {
    pub(crate) listener: Listener,
    pub(crate) address: Option<SocketAddr>,
}

/// How a TCP socket is bound.
pub(crate) struct Tcp {
    pub(crate) ip: IpAddr,
    pub(crate) port: u16,
    pub(crate) backlog: i32,
    pub(crate) ipv6_only: bool,
    pub(crate) reuse_port: bool,
}

/// Binds a TCP address as libuv does: reusing addresses in TIME_WAIT, and both families on `::`.
pub(crate) fn tcp(tcp: &Tcp) -> io::Result<Bound> {
    let address = SocketAddr::new(tcp.ip, tcp.port);
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    if tcp.reuse_port {
        socket.set_reuse_port(true)?;
    }
    if address.is_ipv6() {
        socket.set_only_v6(tcp.ipv6_only)?;
    }
    socket.bind(&address.into())?;
    listening(socket, tcp.backlog)
}

/// Binds a Unix socket; a path that begins with NUL is an abstract name.
pub(crate) fn unix(path: &str, backlog: i32) -> io::Result<Bound> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.bind(&SockAddr::unix(path)?)?;
    listening(socket, backlog)
}

/// Listens on a descriptor that the process was given.
pub(crate) fn descriptor(fd: RawFd, backlog: i32) -> io::Result<Bound> {
    listening(Socket::from(duplicate(fd)?), backlog)
}

/// A descriptor of our own for what another one stands for.
pub(crate) fn duplicate(fd: RawFd) -> io::Result<OwnedFd> {
    if fd < 0 {
        return Err(io::Error::from_raw_os_error(rustix::io::Errno::BADF.raw_os_error()));
    }
    // SAFETY: borrowed for the call only; the kernel refuses a number that is no descriptor.
    let borrowed = unsafe { rustix::fd::BorrowedFd::borrow_raw(fd) };
    Ok(rustix::io::fcntl_dupfd_cloexec(borrowed, 0)?)
}

fn listening(socket: Socket, backlog: i32) -> io::Result<Bound> {
    socket.listen(backlog)?;
    socket.set_nonblocking(true)?;
    let local = socket.local_addr()?;
    let owned: OwnedFd = socket.into();
    let listener = if local.is_unix() {
        Listener::from(std::os::unix::net::UnixListener::from(owned))
    } else {
        Listener::from(std::net::TcpListener::from(owned))
    };
    Ok(Bound { listener, address: local.as_socket() })
}

/// An accepted connection that another part of the process hands over.
pub(crate) fn accepted(fd: RawFd) -> io::Result<Socket> {
    let socket = Socket::from(duplicate(fd)?);
    socket.set_nonblocking(true)?;
    Ok(socket)
}
