use std::cell::OnceCell;
use std::io;
use std::sync::Arc;

use leat_gateway::config::{self, AccessLog as LogConfig, Bind, Config, LogFormat, LogTarget};
use leat_listen::{
    CertificateFiles, ClientAuth, Endpoint, ListenAddress, ListenError, Listener, ListenerSet, ProxyProtocol,
    ServeOptions, TicketKeys, TlsOptions, TlsSettings, TlsVersions, TrustedSource,
};
use leat_message::Profile;
use leat_observe::access_log::{self, AccessLog, Tally};

use super::StartError;

/// What all cores run at one time: made by the control thread, shared, never changed.
pub(super) struct Plan {
    pub(super) config: Arc<Config>,
    pub(super) sockets: Arc<ListenerSet>,
    pub(super) doors: Vec<Door>,
    pub(super) log: Option<Arc<AccessLog>>,
}

impl Plan {
    /// What core `worker` accepts from at the door with this number. By number, not by address: port 0 may stand more
    /// than once.
    pub(super) fn listener(&self, door: usize, worker: usize) -> io::Result<Listener> {
        self.sockets.endpoints().get(door).ok_or(io::ErrorKind::NotFound)?.listener(worker)
    }

    /// The admin address's sockets: the last, as in [`addresses`].
    pub(super) fn admin(&self) -> Option<&Endpoint> {
        self.config.admin()?;
        self.sockets.endpoints().last()
    }

    /// Every address with the port that the system chose, and whether it is the admin's.
    pub(super) fn listening(&self) -> Vec<(String, bool)> {
        let count = self.sockets.endpoints().len();
        let named = self.sockets.endpoints().iter().enumerate().map(|(number, endpoint)| {
            let address = endpoint.local_addr().map_or_else(|| endpoint.address().to_string(), |tcp| tcp.to_string());
            (address, self.config.admin().is_some() && number + 1 == count)
        });
        named.collect()
    }
}

/// How connections come in at one address.
#[derive(Clone)]
pub(super) struct Door {
    pub(super) address: ListenAddress,
    pub(super) profile: Profile,
    pub(super) options: ServeOptions,
    /// What `options.tls` was made from.
    tls: Option<TlsOptions>,
}

impl Door {
    /// Whether connections are taken in the same way: then the accept loop goes on over a reload.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.address == other.address
            && self.tls == other.tls
            && self.options.http2_plain == other.options.http2_plain
            && self.options.proxy_protocol == other.options.proxy_protocol
            && self.options.handshake_time_ms == other.options.handshake_time_ms
    }
}

/// Addresses that a configuration listens on, the admin address last.
pub(super) fn addresses(config: &Config) -> Vec<ListenAddress> {
    config
        .listeners()
        .iter()
        .map(config::Listener::address)
        .chain(config.admin().map(config::Admin::bind))
        .map(address)
        .collect()
}

/// A configured address as the listener crate knows it.
pub(super) fn address(bind: &Bind) -> ListenAddress {
    match bind {
        Bind::Tcp(address) => ListenAddress::Tcp(*address),
        Bind::Unix { path, mode } => ListenAddress::Unix { path: path.clone(), mode: *mode },
        Bind::Descriptor(number) => ListenAddress::Descriptor(*number),
        Bind::Systemd(name) => ListenAddress::Named(name.clone()),
    }
}

/// The process's ticket keys, made when TLS is first asked for: seeding the cryptography takes some 30 ms, which a plain
/// gateway's start is not to pay.
#[derive(Default)]
pub(super) struct Tickets(OnceCell<TicketKeys>);

impl Tickets {
    fn get(&self) -> Result<&TicketKeys, ListenError> {
        match self.0.get() {
            Some(keys) => Ok(keys),
            None => {
                let keys = TicketKeys::new()?;
                Ok(self.0.get_or_init(|| keys))
            }
        }
    }
}

/// The doors of a configuration. Certificates that were loaded for `before` and are asked for again are kept, so that
/// their sessions resume.
pub(super) fn doors(config: &Config, tickets: &Tickets, before: &[Door]) -> Result<Vec<Door>, ListenError> {
    let mut doors: Vec<Door> = Vec::with_capacity(config.listeners().len());
    for listener in config.listeners() {
        let tls = listener.tls().map(|tls| tls_options(tls, listener.http2())).transpose()?;
        let settings = match &tls {
            None => None,
            Some(wanted) => {
                let loaded = before.iter().chain(&doors).find(|door| door.tls.as_ref() == Some(wanted));
                Some(match loaded.and_then(|door| door.options.tls.clone()) {
                    Some(settings) => settings,
                    None => TlsSettings::load(wanted, tickets.get()?)?,
                })
            }
        };
        doors.push(Door {
            address: address(listener.address()),
            profile: listener.profile(),
            options: ServeOptions {
                tls: settings,
                http2_plain: listener.http2(),
                proxy_protocol: proxy_protocol(listener),
                handshake_time_ms: config.limits().handshake_time_ms,
            },
            tls,
        });
    }
    Ok(doors)
}

fn tls_options(tls: &config::ServerTls, http2: bool) -> Result<TlsOptions, ListenError> {
    let certificates = tls
        .certificates()
        .iter()
        .map(|files| CertificateFiles { chain: files.cert().to_owned(), key: files.key().to_owned() });
    let client_auth = match tls.clients() {
        None => ClientAuth::Off,
        Some(clients) => {
            // The content, not the name: with other authorities a reload makes the listener's TLS anew.
            let path = clients.authorities();
            let read = std::fs::read(path);
            let authorities = read.map_err(|error| ListenError::File { path: path.to_owned(), error })?;
            match clients.is_required() {
                true => ClientAuth::Required { authorities },
                false => ClientAuth::Requested { authorities },
            }
        }
    };
    Ok(TlsOptions {
        certificates: certificates.collect(),
        client_auth,
        http1: true,
        http2,
        versions: match tls.min_version() {
            config::TlsVersion::Tls12 => TlsVersions::From12,
            config::TlsVersion::Tls13 => TlsVersions::Only13,
        },
    })
}

fn proxy_protocol(listener: &config::Listener) -> ProxyProtocol {
    match listener.proxy_protocol() {
        None => ProxyProtocol::Off,
        Some(trusted) => {
            let networks = trusted.trust().iter();
            ProxyProtocol::From(networks.filter_map(|net| TrustedSource::network(net.address(), net.bits())).collect())
        }
    }
}

/// Opens the access log that a configuration asks for.
pub(super) fn open_log(config: &LogConfig, tally: &Arc<Tally>) -> Result<Option<Arc<AccessLog>>, StartError> {
    let target = match config.target() {
        LogTarget::Off => return Ok(None),
        LogTarget::Stderr => access_log::Target::Stderr,
        LogTarget::Stdout => access_log::Target::Stdout,
        LogTarget::File(path) => access_log::Target::File(path.clone()),
    };
    let format = match config.format() {
        LogFormat::Auto => access_log::Format::for_target(&target),
        LogFormat::Json => access_log::Format::Json,
        LogFormat::Human => access_log::Format::Human,
    };
    let sampling = access_log::Sampling {
        per_million: config.sample().per_million(),
        slow_us: config.slow_ms().map_or(u64::MAX, |ms| ms.saturating_mul(1_000)),
    };
    let names = |names: &[String]| names.iter().map(|name| name.as_str().into()).collect();
    let (fields, redact) = (names(config.fields()), names(config.redact()));
    let settings = access_log::Settings { fields, redact, sampling, ..access_log::Settings::new(target, format) };
    let log = AccessLog::start(settings, Arc::clone(tally));
    log.map(|log| Some(Arc::new(log)))
        .map_err(|error| StartError::Failed(format!("the access log can't be opened: {error}")))
}
