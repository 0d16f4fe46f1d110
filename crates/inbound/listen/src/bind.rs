use std::io;
use std::net::SocketAddr;

use crate::bound::{Bound, Local};
use crate::inherited::{Inherited, Passed};
use crate::tcp::{self, Stack};
use crate::{ListenAddress, ListenError, Listener, unix};

/// All sockets that a process listens on, grouped by configured address. It belongs to the process, not to a core: cores
/// get [`Listener`]s from it, a reload binds the next set from its sockets, a successor inherits them.
///
/// Cores accept from further descriptors of the same sockets, so a socket closes when the set and its listeners are
/// dropped: drop the set when the process drains.
#[derive(Debug)]
pub struct ListenerSet {
    endpoints: Vec<Endpoint>,
    unclaimed: Vec<String>,
    workers: usize,
}

/// One configured address and its sockets.
#[derive(Debug)]
pub struct Endpoint {
    address: ListenAddress,
    sockets: Vec<Bound>,
    local: Local,
    workers: usize,
}

impl ListenerSet {
    /// Listens on every address, with a socket for each of `workers` cores (Unix sockets are shared). Sockets among
    /// `inherited` that an address names are taken as they are, all of them: connections may wait in each. The others
    /// are closed and named by [`ListenerSet::unclaimed`].
    ///
    /// Blocks for no longer than the system calls take; resolves no name.
    ///
    /// # Errors
    /// The first address that cannot be listened on; then nothing is.
    pub fn bind(addresses: &[ListenAddress], workers: usize, mut inherited: Inherited) -> Result<Self, ListenError> {
        let workers = workers.max(1);
        if let Some(repeated) = repeated(addresses) {
            return Err(ListenError::Repeated(repeated.clone()));
        }
        let mut endpoints: Vec<Endpoint> = Vec::with_capacity(addresses.len());
        for address in addresses {
            let stack = stack_of(address, addresses);
            let passed = inherited.take_for(address);
            let sockets = if passed.is_empty() {
                open(address, stack, workers).map_err(|error| blame_ourselves(error, &endpoints, &inherited))?
            } else {
                adopt(passed, stack, workers).map_err(|error| ListenError::Bind { address: address.clone(), error })?
            };
            endpoints.push(Endpoint::new(address.clone(), sockets, workers)?);
        }
        let unclaimed = inherited.sockets.iter().map(|passed| passed.local.to_string()).collect();
        Ok(Self { endpoints, unclaimed, workers })
    }

    /// Listens on `addresses` instead: sockets of addresses that stay are kept with all that waits in them. This set
    /// serves on until it is dropped, so a reload that fails changes nothing.
    ///
    /// # Errors
    /// As for [`ListenerSet::bind`].
    pub fn rebind(&self, addresses: &[ListenAddress]) -> Result<Self, ListenError> {
        let inherited = Inherited::from_set(self).map_err(|error| {
            let address = self.endpoints.first().map_or_else(|| ListenAddress::Descriptor(0), |e| e.address.clone());
            ListenError::Bind { address, error }
        })?;
        Self::bind(addresses, self.workers, inherited)
    }

    /// The addresses, in the order of the configuration.
    pub fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }

    /// The endpoint of a configured address.
    pub fn endpoint(&self, address: &ListenAddress) -> Option<&Endpoint> {
        self.endpoints.iter().find(|endpoint| endpoint.address == *address)
    }

    /// Addresses of inherited sockets that no configured address names.
    pub fn unclaimed(&self) -> &[String] {
        &self.unclaimed
    }

    /// The number of cores that the set was bound for.
    pub fn workers(&self) -> usize {
        self.workers
    }
}

impl Endpoint {
    fn new(address: ListenAddress, sockets: Vec<Bound>, workers: usize) -> Result<Self, ListenError> {
        let local = sockets.first().map_or(Ok(Local::Unix(None)), Bound::local);
        match local {
            Ok(local) => Ok(Self { address, sockets, local, workers }),
            Err(error) => Err(ListenError::Bind { address, error }),
        }
    }

    /// The address as configured.
    pub fn address(&self) -> &ListenAddress {
        &self.address
    }

    /// The TCP address that connections come to, with the port that the system chose for port 0; `None` for a Unix
    /// socket.
    pub fn local_addr(&self) -> Option<SocketAddr> {
        match self.local {
            Local::Ip(address) => Some(address),
            Local::Unix(_) => None,
        }
    }

    /// What core `worker` (from 0 up to the set's workers) accepts from. With more sockets than cores a core gets
    /// several, so that none is left alone; with fewer, cores share.
    ///
    /// # Errors
    /// When the process is out of descriptors: each socket costs one.
    pub fn listener(&self, worker: usize) -> io::Result<Listener> {
        let (count, workers) = (self.sockets.len(), self.workers);
        let sockets: io::Result<Vec<Bound>> = self
            .sockets
            .iter()
            .enumerate()
            .filter(|(index, _)| if count >= workers { index % workers == worker } else { *index == worker % count })
            .map(|(_, bound)| bound.try_clone())
            .collect();
        Ok(Listener::new(sockets?))
    }

    pub(crate) fn sockets(&self) -> &[Bound] {
        &self.sockets
    }
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.local.fmt(f)
    }
}

impl std::fmt::Display for Local {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ip(address) => address.fmt(f),
            Self::Unix(Some(path)) => write!(f, "unix:{}", path.display()),
            Self::Unix(None) => f.write_str("unix:(no path)"),
        }
    }
}

/// The first address that stands twice. Port 0 is another port each time.
fn repeated(addresses: &[ListenAddress]) -> Option<&ListenAddress> {
    addresses.iter().enumerate().find_map(|(index, address)| {
        let before = addresses.get(..index).unwrap_or_default();
        let chosen_by_system = matches!(address, ListenAddress::Tcp(tcp) if tcp.port() == 0);
        (!chosen_by_system && before.iter().any(|other| same_place(address, other))).then_some(address)
    })
}

/// Whether two addresses cannot both be listened on; a Unix socket's mode makes no difference.
fn same_place(one: &ListenAddress, other: &ListenAddress) -> bool {
    match (one, other) {
        (ListenAddress::Unix { path, .. }, ListenAddress::Unix { path: other, .. }) => path == other,
        _ => one == other,
    }
}

/// An IPv6 wildcard leaves IPv4 alone where the configuration names an IPv4 address with the same port.
fn stack_of(address: &ListenAddress, all: &[ListenAddress]) -> Stack {
    let ListenAddress::Tcp(address) = address else { return Stack::Dual };
    let beside_v4 = all
        .iter()
        .any(|other| matches!(other, ListenAddress::Tcp(other) if other.is_ipv4() && other.port() == address.port()));
    if beside_v4 && address.port() != 0 { Stack::V6Only } else { Stack::Dual }
}

fn open(address: &ListenAddress, stack: Stack, workers: usize) -> Result<Vec<Bound>, ListenError> {
    match address {
        ListenAddress::Tcp(wanted) => tcp::open(address, *wanted, stack, workers),
        ListenAddress::Unix { path, mode } => Ok(vec![unix::open(address, path, *mode)?]),
        ListenAddress::Descriptor(_) | ListenAddress::Named(_) => Err(ListenError::NotPassed(address.clone())),
    }
}

/// A busy port that is ours: 0.0.0.0 beside 127.0.0.1, in one configuration or before and after a reload.
fn blame_ourselves(error: ListenError, endpoints: &[Endpoint], inherited: &Inherited) -> ListenError {
    let ListenError::Busy(address @ ListenAddress::Tcp(wanted)) = &error else { return error };
    let ours = endpoints.iter().map(|endpoint| &endpoint.local).chain(inherited.sockets.iter().map(|p| &p.local));
    let overlapping = ours.into_iter().find_map(|local| match local {
        Local::Ip(ours) => {
            let wildcard = ours.ip().is_unspecified() || wanted.ip().is_unspecified();
            (wildcard && ours.port() == wanted.port()).then_some(ours)
        }
        Local::Unix(_) => None,
    });
    match overlapping {
        Some(with) => ListenError::Overlaps { address: address.clone(), with: with.to_string() },
        None => error,
    }
}

/// Takes inherited sockets, and binds siblings if there are too few for the cores. Where that is not allowed (a
/// privileged port, or a socket that another user bound) the cores share those there are.
fn adopt(passed: Vec<Passed>, stack: Stack, workers: usize) -> io::Result<Vec<Bound>> {
    let one_place = passed.windows(2).all(|pair| matches!(pair, [a, b] if a.local == b.local));
    let mut sockets: Vec<Bound> = passed.into_iter().map(|passed| passed.bound).collect();
    if one_place && let Err(error) = tcp::add_siblings(&mut sockets, stack, workers) {
        match error.kind() {
            io::ErrorKind::AddrInUse | io::ErrorKind::PermissionDenied => {}
            _ => return Err(error),
        }
    }
    Ok(sockets)
}
