use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::Security;

/// Servers that count together, and how to be let in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Server {
    /// Where they are.
    pub place: Place,
    /// TLS, towards servers and sentinels alike; `None` for none.
    pub security: Option<Security>,
    /// Who logs in at the servers.
    pub login: Login,
    /// Who logs in at the sentinels.
    pub sentinel_login: Login,
    /// The number of the database. A cluster has only 0.
    pub database: u32,
    /// How long a call may wait for its answer, in milliseconds; the core's clock has ticks of 20 ms. Also how long
    /// a server may be silent while it owes answers before calls fail at once.
    pub deadline_ms: u64,
}

/// Where the server of a key is found.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// It is always this one.
    One(Target),
    /// Sentinels know which one is the master.
    Sentinel {
        /// Where the sentinels listen.
        sentinels: Vec<Target>,
        /// The name that they know the master by.
        master: String,
    },
    /// A cluster: each master has a share of the slots.
    Cluster {
        /// Nodes to ask first.
        seeds: Vec<Target>,
    },
}

/// A name and a password.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Login {
    /// The user (ACL, Redis 6); `None` for the default one.
    pub username: Option<String>,
    /// The user's password; `None` where none is asked for.
    pub password: Option<Secret>,
}

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// TCP: a name or an address, and a port.
    Tcp(String, u16),
    /// A Unix socket.
    Unix(PathBuf),
}

impl Target {
    /// Reads `host:port` as servers write it; `here` is the host that they mean by an empty one.
    pub(crate) fn read(text: &[u8], here: &Self) -> Option<Self> {
        let (host, port) = std::str::from_utf8(text).ok()?.rsplit_once(':')?;
        Self::of(host, port.parse().ok()?, here)
    }

    /// A host and a port as servers say them.
    pub(crate) fn of(host: &str, port: u16, here: &Self) -> Option<Self> {
        let host = match (host, here) {
            ("" | "?", Self::Tcp(host, _)) => host,
            ("" | "?", Self::Unix(_)) => return None,
            (host, _) => host,
        };
        (port > 0 && host.len() <= HOST_BYTES_MAX).then(|| Self::Tcp(host.to_owned(), port))
    }
}

/// The longest name of a host (RFC 1035 section 2.3.4).
const HOST_BYTES_MAX: usize = 255;

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(host, port) if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp(host, port) => write!(f, "{host}:{port}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// Text that is never shown.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Keeps this text.
    pub fn new(text: &str) -> Self {
        Self(text.into())
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_read_as_servers_write_them() {
        let here = Target::Tcp("10.0.0.1".to_owned(), 7);
        let tcp = |host: &str, port| Some(Target::Tcp(host.to_owned(), port));
        for (text, wanted) in [
            ("127.0.0.1:6379", tcp("127.0.0.1", 6379)),
            ("::1:6379", tcp("::1", 6379)),
            (":6380", tcp("10.0.0.1", 6380)),
            ("?:6380", tcp("10.0.0.1", 6380)),
            ("a.test:0", None),
            ("a.test:65536", None),
            ("a.test", None),
        ] {
            assert_eq!(Target::read(text.as_bytes(), &here), wanted, "{text}");
        }
        assert_eq!(Target::read(format!("{}:1", "a".repeat(256)).as_bytes(), &here), None);
    }
}
