//! TCP listeners: one socket for each worker on one port, and a busy port is still an error.

use std::io;
use std::net::SocketAddr;

use socket2::{Domain, Protocol, SockRef, Socket, Type};

use crate::bound::{BACKLOG, Bound};
use crate::{ListenAddress, ListenError};

/// Whether an IPv6 wildcard takes IPv4 connections as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stack {
    Dual,
    V6Only,
}

/// Opens one socket for each worker.
///
/// SO_REUSEPORT lets any process of the same user join a port without a word. So the first socket is bound and listens
/// without it, which fails on a busy port, and gets it afterwards; Linux looks at the option of both when a sibling
/// binds, not at what it was before.
pub(crate) fn open(
    address: &ListenAddress,
    wanted: SocketAddr,
    stack: Stack,
    workers: usize,
) -> Result<Vec<Bound>, ListenError> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::AddrInUse => ListenError::Busy(address.clone()),
        _ => ListenError::Bind { address: address.clone(), error },
    };
    let first = listen(wanted, stack, Port::Alone).map_err(failed)?;
    let mut sockets = vec![first];
    add_siblings(&mut sockets, stack, workers).map_err(failed)?;
    Ok(sockets)
}

/// Binds sockets beside those there are until there is one for each worker.
pub(crate) fn add_siblings(sockets: &mut Vec<Bound>, stack: Stack, workers: usize) -> io::Result<()> {
    if sockets.len() >= workers {
        return Ok(());
    }
    let Some(Bound::Tcp(first)) = sockets.first() else {
        return Ok(());
    };
    let local = first.local_addr()?;
    for socket in sockets.iter() {
        SockRef::from(socket).set_reuse_port(true)?;
    }
    let siblings: io::Result<Vec<Bound>> =
        (sockets.len()..workers).map(|_| listen(local, stack, Port::Shared)).collect();
    sockets.extend(siblings?);
    Ok(())
}

/// Whether the port may be bound already.
#[derive(Clone, Copy)]
enum Port {
    Alone,
    Shared,
}

fn listen(address: SocketAddr, stack: Stack, port: Port) -> io::Result<Bound> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // Connections of a predecessor in TIME_WAIT do not keep the port busy; a listening one still does.
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        socket.set_only_v6(stack == Stack::V6Only)?;
    }
    if matches!(port, Port::Shared) {
        socket.set_reuse_port(true)?;
    }
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Bound::tcp(socket.into())
}
