use std::env;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;

use listenfd::ListenFd;
use rustix::net::{AddressFamily, SocketType};

use crate::bound::{Bound, Local};
use crate::{ListenAddress, ListenError, ListenerSet};

/// Number of the first passed descriptor (sd_listen_fds(3)).
pub(crate) const FIRST_DESCRIPTOR: u32 = 3;
/// Name of the descriptor on which a successor says that it is ready.
pub(crate) const READY_NAME: &str = "leat-ready";

/// Listening sockets from elsewhere: passed by systemd (or `systemfd`), by the process that this one replaces, or by the
/// set that a reload replaces. [`ListenerSet::bind`] takes those that its addresses name.
#[derive(Debug, Default)]
pub struct Inherited {
    pub(crate) sockets: Vec<Passed>,
    ready: Option<ReadySignal>,
}

#[derive(Debug)]
pub(crate) struct Passed {
    pub(crate) bound: Bound,
    pub(crate) local: Local,
    origin: Origin,
}

/// How a passed socket is known beside its address.
#[derive(Debug)]
enum Origin {
    /// Passed by systemd: its number and name.
    Activation { descriptor: u32, name: Option<String> },
    /// Passed by a Leat process, or from before a reload: the address in that one's configuration.
    Predecessor { configured: String },
}

impl Inherited {
    /// Nothing inherited.
    pub fn none() -> Self {
        Self::default()
    }

    /// Takes the sockets that this process was started with: `LISTEN_FDS`, `LISTEN_FDNAMES`, and `LISTEN_PID` unless
    /// that is not set. To be called once, at the start of `main`, before there are other threads (it removes the
    /// variables). Nothing passed is no error.
    ///
    /// # Errors
    /// [`ListenError::Inherited`] for a descriptor that is not a listening TCP or Unix stream socket.
    pub fn take() -> Result<Self, ListenError> {
        let names = env::var("LISTEN_FDNAMES").unwrap_or_default();
        let mut names = names.split(':').filter(|_| !names.is_empty()).map(str::to_owned);
        let mut passed = ListenFd::from_env();
        let named: Vec<Option<String>> = (0..passed.len()).map(|_| names.next()).collect();
        let from_leat = named.iter().flatten().any(|name| name == READY_NAME);
        let mut taken = Self::none();
        for (index, name) in named.into_iter().enumerate() {
            let descriptor = FIRST_DESCRIPTOR + index as u32;
            let failed = |error| ListenError::Inherited { descriptor, error };
            if name.as_deref() == Some(READY_NAME) {
                taken.ready = take_ready(&mut passed, index).map_err(failed)?;
                continue;
            }
            let Some(bound) = take_listener(&mut passed, index).map_err(failed)? else { continue };
            let local = bound.local().map_err(failed)?;
            let origin = match name {
                Some(name) if from_leat => Origin::Predecessor { configured: decode(&name) },
                name => Origin::Activation { descriptor, name },
            };
            taken.sockets.push(Passed { bound, local, origin });
        }
        Ok(taken)
    }

    /// Further descriptors of all sockets of a set, so that a new set can be bound while the old one still serves.
    pub(crate) fn from_set(set: &ListenerSet) -> io::Result<Self> {
        let mut inherited = Self::none();
        for endpoint in set.endpoints() {
            for bound in endpoint.sockets() {
                let bound = bound.try_clone()?;
                let local = bound.local()?;
                let origin = Origin::Predecessor { configured: endpoint.address().to_string() };
                inherited.sockets.push(Passed { bound, local, origin });
            }
        }
        Ok(inherited)
    }

    /// The way to tell the process that this one replaces that it may drain. `None` if there is no such process.
    pub fn take_ready_signal(&mut self) -> Option<ReadySignal> {
        self.ready.take()
    }

    /// How many sockets there are.
    pub fn len(&self) -> usize {
        self.sockets.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.sockets.is_empty()
    }

    /// Takes the sockets that `address` names.
    pub(crate) fn take_for(&mut self, address: &ListenAddress) -> Vec<Passed> {
        let written = address.to_string();
        let Some(first) = self.sockets.iter().find(|passed| passed.is_for(address, &written)) else {
            return Vec::new();
        };
        // With port 0 twice in the configuration, each has its own port: one group each.
        let group = match address {
            ListenAddress::Tcp(_) | ListenAddress::Unix { .. } => Some(first.local.clone()),
            ListenAddress::Descriptor(_) | ListenAddress::Named(_) => None,
        };
        self.sockets
            .extract_if(.., |passed| {
                group.as_ref().is_none_or(|local| passed.local == *local) && passed.is_for(address, &written)
            })
            .collect()
    }
}

impl Passed {
    fn is_for(&self, address: &ListenAddress, written: &str) -> bool {
        if let Origin::Predecessor { configured } = &self.origin
            && configured == written
        {
            return true;
        }
        match (address, &self.local, &self.origin) {
            (ListenAddress::Tcp(wanted), Local::Ip(local), _) => wanted == local,
            (ListenAddress::Unix { path, .. }, Local::Unix(Some(local)), _) => path == local,
            (ListenAddress::Descriptor(wanted), _, Origin::Activation { descriptor, .. }) => wanted == descriptor,
            (ListenAddress::Named(wanted), _, Origin::Activation { name: Some(name), .. }) => wanted == name,
            _ => false,
        }
    }
}

fn take_listener(passed: &mut ListenFd, index: usize) -> io::Result<Option<Bound>> {
    let bound = match passed.take_tcp_listener(index) {
        Ok(Some(listener)) => Bound::tcp(listener)?,
        Ok(None) => return Ok(None),
        Err(_) => match passed.take_unix_listener(index) {
            Ok(Some(listener)) => Bound::unix(listener)?,
            Ok(None) => return Ok(None),
            Err(_) => {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a TCP or Unix stream socket"));
            }
        },
    };
    if !is_listening(&bound)? {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the socket is not listening"));
    }
    Ok(Some(bound))
}

#[cfg(not(target_vendor = "apple"))]
fn is_listening(bound: &Bound) -> io::Result<bool> {
    Ok(rustix::net::sockopt::socket_acceptconn(bound)?)
}

/// The system cannot say; accepting will.
#[cfg(target_vendor = "apple")]
fn is_listening(_: &Bound) -> io::Result<bool> {
    Ok(true)
}

fn take_ready(passed: &mut ListenFd, index: usize) -> io::Result<Option<ReadySignal>> {
    let family = i32::from(AddressFamily::UNIX.as_raw());
    let kind = SocketType::STREAM.as_raw().cast_signed();
    Ok(passed.take_custom::<UnixStream>(index, family, kind, "ready signal")?.map(ReadySignal))
}

/// Tells the process that started this one as its successor that it may drain.
#[derive(Debug)]
pub struct ReadySignal(UnixStream);

impl ReadySignal {
    /// Says that this process accepts connections.
    ///
    /// # Errors
    /// Those of the socket: the other process is gone already.
    pub fn send(mut self) -> io::Result<()> {
        self.0.write_all(b"1")
    }
}

/// An address as a descriptor's name: visible characters without the colon that separates names.
pub(crate) fn encode(address: &str) -> String {
    let mut name = String::with_capacity(address.len() + 4);
    for byte in address.bytes() {
        if byte.is_ascii_graphic() && byte != b':' && byte != b'%' {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!("%{byte:02X}"));
        }
    }
    name
}

fn decode(name: &str) -> String {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        let hex = tail.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        match hex.and_then(|two| u8::from_str_radix(two, 16).ok()).filter(|_| byte == b'%') {
            Some(decoded) => {
                bytes.push(decoded);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(byte);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_survives_as_a_descriptors_name() {
        for address in ["127.0.0.1:0", "[::1]:80", "unix:/run/a b%41.sock", "systemd:web"] {
            let name = encode(address);
            assert!(name.bytes().all(|b| b.is_ascii_graphic() && b != b':'), "{name}");
            assert_eq!(decode(&name), address);
        }
    }
}
