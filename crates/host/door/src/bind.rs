//! Binds before `listen` returns, so that the address, or the error, is known to the caller at once.
#![allow(unsafe_code)]

use std::io;
use std::net::SocketAddr;
use std::os::fd::{OwnedFd, RawFd};

use leat_listen::Listener;
use socket2::{Domain, SockAddr, Socket, Type};

/// A socket that listens, and where.
#[derive(Debug)]
pub struct Bound {
    /// The socket.
    pub listener: Listener,
    /// Its address; `None` for a Unix socket.
    pub address: Option<SocketAddr>,
}

/// Connections that may wait to be accepted: Node's default.
pub const BACKLOG: i32 = 511;

/// Where a server listens, and how its socket is bound.
#[derive(Clone, Copy, Debug)]
pub enum Place<'a> {
    /// A TCP address.
    Tcp {
        /// The address and port; port 0 for any that is free.
        address: SocketAddr,
        /// Whether `::` leaves IPv4 out.
        ipv6_only: bool,
        /// Whether others may bind the same address.
        reuse_port: bool,
    },
    /// A Unix socket; a path that begins with NUL is an abstract name.
    Unix(&'a str),
    /// A descriptor that the process was given.
    Descriptor(RawFd),
}

/// Binds and listens.
///
/// # Errors
/// The system's, such as an address in use.
pub fn open(place: Place<'_>, backlog: i32) -> io::Result<Bound> {
    match place {
        Place::Tcp { address, ipv6_only, reuse_port } => tcp(address, ipv6_only, reuse_port, backlog),
        Place::Unix(path) => unix(path, backlog),
        Place::Descriptor(fd) => listening(Socket::from(duplicate(fd)?), backlog),
    }
}

/// Binds a TCP address as libuv does: reusing addresses in TIME_WAIT, and both families on `::`.
fn tcp(address: SocketAddr, ipv6_only: bool, reuse_port: bool, backlog: i32) -> io::Result<Bound> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    if reuse_port {
        socket.set_reuse_port(true)?;
    }
    if address.is_ipv6() {
        socket.set_only_v6(ipv6_only)?;
    }
    socket.bind(&address.into())?;
    listening(socket, backlog)
}

fn unix(path: &str, backlog: i32) -> io::Result<Bound> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.bind(&SockAddr::unix(path)?)?;
    listening(socket, backlog)
}

/// A descriptor of our own for what another one stands for.
fn duplicate(fd: RawFd) -> io::Result<OwnedFd> {
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

/// An accepted connection that another part of the process hands over; its descriptor is duplicated.
///
/// # Errors
/// No such descriptor, or out of them.
pub fn accepted(fd: RawFd) -> io::Result<Socket> {
    let socket = Socket::from(duplicate(fd)?);
    socket.set_nonblocking(true)?;
    Ok(socket)
}
