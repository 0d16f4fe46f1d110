use std::cell::RefCell;
use std::collections::HashMap;
use std::net::IpAddr;
use std::rc::Rc;

use leat_dial::{Endpoint, EndpointLimits, Pools, Protocol, Resolver, ResolverSettings, Target, Trust};

/// Servers that a world remembers. Beyond it all are forgotten, and their unused connections closed.
const ORIGINS_MAX: usize = 1_024;
/// Longest wait for a name, a connection and TLS together, as undici's, in milliseconds.
const CONNECT_MS_MAX: u64 = 10_000;
/// Requests to one server that wait for a connection.
const QUEUE_MAX: usize = 16_384;
/// How long they do, in milliseconds.
const QUEUE_MS_MAX: u64 = 300_000;

/// Where a request goes to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Origin {
    pub(super) is_tls: bool,
    /// An address (without brackets) or a name, or the path of a Unix socket.
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) is_unix: bool,
    pub(super) server_name: Option<String>,
    /// Trusted certificates in PEM, in place of the public ones.
    pub(super) authorities: Option<String>,
}

/// A world's connections to servers.
pub(super) struct Origins {
    pools: Rc<Pools>,
    public: RefCell<Option<Trust>>,
    known: RefCell<HashMap<Origin, Rc<Endpoint>>>,
}

impl Origins {
    pub(super) fn new() -> Self {
        let pools = Pools::new(Resolver::new(ResolverSettings::default()));
        Self { pools, public: RefCell::default(), known: RefCell::default() }
    }

    pub(super) fn pools(&self) -> &Rc<Pools> {
        &self.pools
    }

    /// The endpoint of an origin.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn endpoint(&self, origin: Origin) -> Result<Rc<Endpoint>, String> {
        if let Some(endpoint) = self.known.borrow().get(&origin) {
            return Ok(Rc::clone(endpoint));
        }
        let endpoint = Rc::new(self.make(&origin)?);
        let mut known = self.known.borrow_mut();
        if known.len() >= ORIGINS_MAX {
            known.clear();
            self.pools.retire(|_| false);
        }
        known.insert(origin, Rc::clone(&endpoint));
        Ok(endpoint)
    }

    fn make(&self, origin: &Origin) -> Result<Endpoint, String> {
        let text = match (origin.is_unix, origin.host.parse::<IpAddr>()) {
            (true, _) => format!("unix:{}", origin.host),
            (false, Ok(IpAddr::V6(ip))) => format!("[{ip}]:{}", origin.port),
            (false, _) => format!("{}:{}", origin.host, origin.port),
        };
        let target = Target::parse(&text).map_err(|error| error.to_string())?;
        let trust = match (&origin.authorities, origin.is_tls) {
            (_, false) => None,
            (Some(pem), true) => Some(Trust::pem(pem.as_bytes()).map_err(|error| error.to_string())?),
            (None, true) => Some(self.public.borrow_mut().get_or_insert_with(Trust::public).clone()),
        };
        let protocol = if origin.is_tls { Protocol::H1Tls } else { Protocol::H1 };
        let limits = EndpointLimits {
            connect_time_ms: CONNECT_MS_MAX,
            queue_max: QUEUE_MAX,
            queue_time_ms: QUEUE_MS_MAX,
            ..EndpointLimits::default()
        };
        Endpoint::new(target, protocol, trust, origin.server_name.as_deref(), limits).map_err(|error| error.to_string())
    }
}
