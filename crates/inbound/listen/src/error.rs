use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::ListenAddress;

/// Why listening could not begin, or a certificate could not be used. Says what, where, and what to do.
#[derive(Debug)]
pub enum ListenError {
    // The configuration's.
    /// The address stands twice in the list.
    Repeated(ListenAddress),
    /// The address takes in another one with the same port that this process listens on.
    Overlaps {
        /// The address.
        address: ListenAddress,
        /// Where the process listens.
        with: String,
    },
    /// A PEM file has nothing of what it is for.
    PemEmpty {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        wanted: &'static str,
    },
    /// A PEM file that is malformed.
    PemInvalid {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// Certificate and key do not belong together, or are of a kind that is not supported.
    CertificateInvalid {
        /// The file with the certificate chain.
        chain: PathBuf,
        /// The file with the key.
        key: PathBuf,
        /// What is wrong with them.
        problem: String,
    },
    /// TLS without a certificate.
    CertificateMissing,
    /// The authorities of clients' certificates cannot be used: why.
    ClientAuthority(String),
    /// TLS with neither HTTP/1.1 nor HTTP/2, or with no version.
    ProtocolMissing,

    // The machine's.
    /// Another process listens there.
    Busy(ListenAddress),
    /// The address could not be bound.
    Bind {
        /// The address.
        address: ListenAddress,
        /// Why not.
        error: io::Error,
    },
    /// There is a file that is not a socket where the socket should be.
    NotASocket(PathBuf),
    /// A file could not be read.
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// The system gave no random bytes for ticket keys.
    TicketKeys(rustls::Error),

    // The parent process's.
    /// The process was started without the socket that the address names.
    NotPassed(ListenAddress),
    /// An inherited descriptor cannot be listened on.
    Inherited {
        /// Its number.
        descriptor: u32,
        /// Why not.
        error: io::Error,
    },

    // The successor's.
    /// The new process could not be started.
    HandOver(io::Error),
    /// The new process ended, or closed its ready signal, before it was ready.
    SuccessorEnded,
    /// The new process did not get ready in time.
    SuccessorSlow,
}

impl fmt::Display for ListenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Repeated(address) => write!(f, "{address} stands twice among the addresses; remove one"),
            Self::Overlaps { address, with } => write!(
                f,
                "{address} overlaps with {with}, which this process listens on: keep one of them, and restart instead of \
                 reloading to change from one to the other"
            ),
            Self::ClientAuthority(problem) => f.write_str(problem),
            Self::PemEmpty { path, wanted } => {
                write!(f, "{}: there is no {wanted} in this file; it must hold one in PEM form", path.display())
            }
            Self::PemInvalid { path, problem } => write!(f, "{}: not a valid PEM file: {problem}", path.display()),
            Self::CertificateInvalid { chain, key, problem } => {
                write!(f, "{} with {}: {problem}", chain.display(), key.display())
            }
            Self::CertificateMissing => f.write_str("TLS needs at least one certificate: name a chain and a key file"),
            Self::ProtocolMissing => {
                f.write_str("TLS needs at least one of HTTP/1.1 and HTTP/2, and one of TLS 1.2 and 1.3: switch one on")
            }
            Self::Busy(ListenAddress::Unix { path, .. }) => write!(
                f,
                "unix:{} is in use: another process listens on it; stop that process or choose another path",
                path.display()
            ),
            Self::Busy(address) => write!(
                f,
                "{address} is in use: another process listens on it; stop that process or choose another port"
            ),
            Self::Bind { address, error } => {
                write!(f, "cannot listen on {address}: {error}")?;
                match error.kind() {
                    io::ErrorKind::AddrNotAvailable => f.write_str("; it is not an address of this machine"),
                    io::ErrorKind::PermissionDenied => match address {
                        ListenAddress::Tcp(tcp) if tcp.port() < 1024 => f.write_str(
                            "; ports below 1024 need the capability CAP_NET_BIND_SERVICE, or pass the socket by systemd",
                        ),
                        _ => f.write_str("; allow this user to write to its directory, or choose another path"),
                    },
                    _ => Ok(()),
                }
            }
            Self::NotASocket(path) => {
                write!(f, "{} exists and is not a socket: remove it or choose another path", path.display())
            }
            Self::File { path, error } => write!(f, "{}: {error}", path.display()),
            Self::TicketKeys(error) => write!(f, "cannot make TLS ticket keys: {error}"),
            Self::NotPassed(address @ ListenAddress::Named(name)) => write!(
                f,
                "{address}: no socket of this name was passed; start the process by a socket unit with \
                 FileDescriptorName={name}"
            ),
            Self::NotPassed(address) => write!(
                f,
                "{address}: no such socket was passed; start the process by a socket unit or with LISTEN_FDS set"
            ),
            Self::Inherited { descriptor, error } => {
                write!(f, "descriptor {descriptor}, which LISTEN_FDS passes, cannot be listened on: {error}")
            }
            Self::HandOver(error) => write!(f, "cannot start the new process: {error}"),
            Self::SuccessorEnded => f.write_str("the new process ended before it was ready; the old one goes on"),
            Self::SuccessorSlow => f.write_str("the new process did not get ready in time; the old one goes on"),
        }
    }
}

impl std::error::Error for ListenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Bind { error, .. }
            | Self::File { error, .. }
            | Self::Inherited { error, .. }
            | Self::HandOver(error) => Some(error),
            Self::TicketKeys(error) => Some(error),
            _ => None,
        }
    }
}
