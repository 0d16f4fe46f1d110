use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// A server, and how to be let in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Server {
    /// Where it listens.
    pub target: Target,
    /// The user to log in as (ACL, Redis 6); `None` for the default one.
    pub username: Option<String>,
    /// The user's password; `None` where the server asks for none.
    pub password: Option<Secret>,
    /// The number of the database.
    pub database: u32,
    /// How long a call may wait for its answer, in milliseconds; the core's clock has ticks of 20 ms. Also how long
    /// the server may be silent while it owes answers before calls fail at once.
    pub deadline_ms: u64,
}

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// TCP: a name or an address, and a port.
    Tcp(String, u16),
    /// A Unix socket.
    Unix(PathBuf),
}

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
