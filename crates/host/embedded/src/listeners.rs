//! Every socket that a program listens on, for all workers of the process. A socket outlives the world that asked for it
//! where that world is made anew: connections wait in it meanwhile.

use std::cell::Cell;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use leat_door::Bound;
use leat_listen::Listener;
use socket2::{Domain, SockAddr, Socket, Type};

/// Sockets that one process listens on at most.
const PLACES_MAX: usize = 1024;

/// Where a program asks to listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A TCP address.
    Tcp {
        /// `::` takes IPv4 as well, unless `ipv6_only`.
        ip: IpAddr,
        /// 0: the system chooses, the same for all workers.
        port: u16,
        /// Takes no IPv4.
        ipv6_only: bool,
    },
    /// A Unix socket; a path that begins with NUL is an abstract name.
    Unix(PathBuf),
}

/// The sockets of one place.
struct Entry {
    place: Place,
    /// Which one of those that asked for port 0.
    nth: usize,
    local: Option<SocketAddr>,
    /// By worker: what is kept of its socket, and whether a server has it.
    kept: Vec<Option<Socket>>,
    claimed: Vec<bool>,
}

/// The sockets of the process.
pub(crate) struct Listeners {
    entries: Mutex<Vec<Entry>>,
    workers: usize,
    /// Where the first server goes that asks for port 0.
    port: u16,
}

/// A socket that a server of one worker has; dropped, the server is closed.
pub struct Listening {
    listeners: Arc<Listeners>,
    place: Place,
    nth: usize,
    worker: usize,
    /// The socket stays open for the next world.
    keep: Rc<Cell<bool>>,
}

impl Listeners {
    pub(crate) fn new(workers: usize, port: u16) -> Arc<Self> {
        Arc::new(Self { entries: Mutex::default(), workers, port })
    }

    fn entries(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The socket of `worker` at a place. The first worker to ask binds without SO_REUSEPORT, so that a busy port is an
    /// error; the others join it. `nth` counts the times that this world has asked for port 0 there. `keep` says at the
    /// end whether the socket stays open.
    ///
    /// # Errors
    /// What the system says, and EADDRINUSE where the worker listens there already.
    pub(crate) fn bind(
        self: &Arc<Self>,
        place: &Place,
        nth: usize,
        backlog: i32,
        worker: usize,
        keep: &Rc<Cell<bool>>,
    ) -> io::Result<(Bound, Listening)> {
        let mut entries = self.entries();
        let found = entries.iter().position(|entry| entry.place == *place && entry.nth == nth);
        let at = match found {
            Some(at) => at,
            None if entries.len() >= PLACES_MAX => return Err(errno(rustix::io::Errno::MFILE)),
            None => {
                let socket = open(&self.preferred(place, nth), backlog, Share::Alone)?;
                let local = socket.local_addr()?.as_socket();
                let mut kept: Vec<Option<Socket>> = (0..self.workers).map(|_| None).collect();
                if let Some(slot) = kept.get_mut(worker) {
                    *slot = Some(socket);
                }
                let claimed = vec![false; self.workers];
                entries.push(Entry { place: place.clone(), nth, local, kept, claimed });
                entries.len() - 1
            }
        };
        let entry = entries.get_mut(at).ok_or_else(|| errno(rustix::io::Errno::INVAL))?;
        let socket = entry.socket(worker, backlog)?;
        let listener = listener(socket)?;
        let bound = Bound { listener, address: entry.local };
        let (listeners, keep) = (Arc::clone(self), Rc::clone(keep));
        Ok((bound, Listening { listeners, place: place.clone(), nth, worker, keep }))
    }

    /// `--port` is where a person looks for the program: the first server without a port of its own goes there.
    fn preferred(&self, place: &Place, nth: usize) -> Place {
        match place {
            Place::Tcp { ip, port: 0, ipv6_only } if nth == 0 => {
                Place::Tcp { ip: *ip, port: self.port, ipv6_only: *ipv6_only }
            }
            _ => place.clone(),
        }
    }
}

impl Entry {
    /// A descriptor of the worker's socket, which is made if there is none yet.
    fn socket(&mut self, worker: usize, backlog: i32) -> io::Result<Socket> {
        let claimed = self.claimed.get(worker).copied().unwrap_or(true);
        if claimed {
            return Err(errno(rustix::io::Errno::ADDRINUSE));
        }
        let kept = self.kept.get(worker).and_then(Option::as_ref);
        let socket = match kept {
            Some(socket) => socket.try_clone()?,
            None => {
                let sibling = self.sibling(backlog)?;
                let socket = sibling.try_clone()?;
                if let Some(slot) = self.kept.get_mut(worker) {
                    *slot = Some(sibling);
                }
                socket
            }
        };
        if let Some(claimed) = self.claimed.get_mut(worker) {
            *claimed = true;
        }
        Ok(socket)
    }

    fn sibling(&self, backlog: i32) -> io::Result<Socket> {
        let first = self.kept.iter().flatten().next().ok_or_else(|| errno(rustix::io::Errno::INVAL))?;
        match (&self.place, self.local) {
            (Place::Tcp { ipv6_only, .. }, Some(local)) => {
                // Linux looks at the option of all sockets when a sibling binds, not at what it was before.
                for socket in self.kept.iter().flatten() {
                    socket.set_reuse_port(true)?;
                }
                let place = Place::Tcp { ip: local.ip(), port: local.port(), ipv6_only: *ipv6_only };
                open(&place, backlog, Share::Siblings)
            }
            _ => first.try_clone(),
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let mut entries = self.listeners.entries();
        let Some(at) = entries.iter().position(|entry| entry.place == self.place && entry.nth == self.nth) else {
            return;
        };
        let Some(entry) = entries.get_mut(at) else { return };
        if let Some(claimed) = entry.claimed.get_mut(self.worker) {
            *claimed = false;
        }
        if self.keep.get() {
            return;
        }
        if let Some(kept) = entry.kept.get_mut(self.worker) {
            *kept = None;
        }
        if entry.kept.iter().all(Option::is_none) {
            entries.remove(at);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Share {
    Alone,
    Siblings,
}

fn open(place: &Place, backlog: i32, share: Share) -> io::Result<Socket> {
    let socket = match place {
        Place::Tcp { ip, port, ipv6_only } => {
            let address = SocketAddr::new(*ip, *port);
            let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
            socket.set_reuse_address(true)?;
            if share == Share::Siblings {
                socket.set_reuse_port(true)?;
            }
            if address.is_ipv6() {
                socket.set_only_v6(*ipv6_only)?;
            }
            socket.bind(&address.into())?;
            socket
        }
        Place::Unix(path) => {
            let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
            socket.bind(&SockAddr::unix(path)?)?;
            socket
        }
    };
    socket.listen(backlog)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

fn listener(socket: Socket) -> io::Result<Listener> {
    let unix = socket.local_addr()?.is_unix();
    let owned: OwnedFd = socket.into();
    Ok(if unix {
        Listener::from(std::os::unix::net::UnixListener::from(owned))
    } else {
        Listener::from(std::net::TcpListener::from(owned))
    })
}

fn errno(errno: rustix::io::Errno) -> io::Error {
    io::Error::from_raw_os_error(errno.raw_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;
    use std::net::{Ipv4Addr, TcpStream};

    const BACKLOG: i32 = 16;

    fn loopback(port: u16) -> Place {
        Place::Tcp { ip: IpAddr::V4(Ipv4Addr::LOCALHOST), port, ipv6_only: false }
    }

    fn keep(keep: bool) -> Rc<Cell<bool>> {
        Rc::new(Cell::new(keep))
    }

    #[test]
    fn workers_share_a_port_that_the_system_chose_and_strangers_do_not() {
        let listeners = Listeners::new(2, 0);
        let one = listeners.bind(&loopback(0), 0, BACKLOG, 0, &keep(false)).unwrap();
        let two = listeners.bind(&loopback(0), 0, BACKLOG, 1, &keep(false)).unwrap();
        assert_eq!(one.0.address, two.0.address);
        let other = listeners.bind(&loopback(0), 1, BACKLOG, 0, &keep(false)).unwrap();
        assert_ne!(one.0.address, other.0.address, "a second server without a port has its own");
        let port = one.0.address.unwrap().port();
        let stranger = Listeners::new(1, 0).bind(&loopback(port), 0, BACKLOG, 0, &keep(false)).err().unwrap();
        assert_eq!(stranger.kind(), ErrorKind::AddrInUse);
    }

    #[test]
    fn a_worker_listens_once_at_a_place_until_it_closes() {
        let listeners = Listeners::new(1, 0);
        let first = listeners.bind(&loopback(0), 0, BACKLOG, 0, &keep(false)).unwrap();
        let place = loopback(first.0.address.unwrap().port());
        let again = listeners.bind(&place, 0, BACKLOG, 0, &keep(false)).err().unwrap();
        assert_eq!(again.kind(), ErrorKind::AddrInUse);
        drop(first);
        let third = listeners.bind(&place, 0, BACKLOG, 0, &keep(false)).unwrap();
        assert!(listeners.bind(&place, 0, BACKLOG, 0, &keep(false)).is_err());
        drop(third);
        assert!(listeners.entries().is_empty());
    }

    #[test]
    fn a_kept_socket_takes_connections_between_two_worlds() {
        let listeners = Listeners::new(1, 0);
        let first = listeners.bind(&loopback(0), 0, BACKLOG, 0, &keep(true)).unwrap();
        let local = first.0.address.unwrap();
        drop(first);
        let _waits = TcpStream::connect(local).unwrap();
        let second = listeners.bind(&loopback(0), 0, BACKLOG, 0, &keep(false)).unwrap();
        assert_eq!(second.0.address, Some(local));
        drop(second);
        assert!(TcpStream::connect(local).is_err(), "closed");
    }
}
