//! What a configuration says, in types that cannot be wrong. Made by the reader alone; everything else looks.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use leat_message::{BodyLimits, Fixed, Limits, Profile};
use leat_route::Table;

use super::access::Access;
use super::access_log::AccessLog;
use super::action::{Files, Proxy, Redirect};
use super::admin::Admin;
use super::auth::{AuthScheme, RouteAuth};
use super::compression::Compression;
use super::cors::Cors;
use super::fault::Fault;
use super::fields::FieldEdits;
use super::head_limits::HeadLimits;
use super::layers::Layers;
use super::log_level::LogLevel;
use super::maintenance::Maintenance;
use super::mock::Mock;
use super::observation::Observation;
use super::plugin::Plugins;
use super::problem::Place;
use super::query_edits::QueryEdits;
use super::rate_limit::{RateLimit, RouteLimit};
use super::source::Source;
use super::template::Rewrite;
use super::upstream::Upstream;

/// A whole configuration.
#[derive(Debug)]
pub struct Config {
    pub(super) listeners: Vec<Listener>,
    pub(super) workers: Workers,
    pub(super) admin: Option<Admin>,
    pub(super) log_level: LogLevel,
    /// Only with an admin address, where it can be asked for.
    pub(super) source: Option<Source>,
    pub(super) access_log: AccessLog,
    pub(super) limits: Limits,
    pub(super) forwarded: Forwarded,
    pub(super) on_error: OnError,
    pub(super) drain: Drain,
    pub(super) routes: Vec<Route>,
    pub(super) table: Table,
    pub(super) upstreams: Vec<Upstream>,
    pub(super) rate_limits: Vec<RateLimit>,
    pub(super) auth: Vec<AuthScheme>,
    pub(super) plugins: Plugins,
    pub(super) observation: Observation,
}

impl Config {
    /// Where connections are accepted; at least one.
    pub fn listeners(&self) -> &[Listener] {
        &self.listeners
    }

    /// How many cores to use.
    pub fn workers(&self) -> Workers {
        self.workers
    }

    /// Where metrics, health and the admin API are served, if at all.
    pub fn admin(&self) -> Option<&Admin> {
        self.admin.as_ref()
    }

    /// Whether endpoints may be drained: somebody may change something on the admin address.
    pub fn drains(&self) -> bool {
        self.admin.as_ref().is_some_and(|admin| admin.token().is_some())
    }

    /// Which events the process tells of.
    pub fn log_level(&self) -> LogLevel {
        self.log_level
    }

    /// What the file said, without secrets; kept only where there is an admin address.
    pub fn source(&self) -> Option<&Source> {
        self.source.as_ref()
    }

    /// Where access records go.
    pub fn access_log(&self) -> &AccessLog {
        &self.access_log
    }

    /// The limits of the inbound side.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What the gateway tells upstreams about the client.
    pub fn forwarded(&self) -> &Forwarded {
        &self.forwarded
    }

    /// What happens after an error that escapes an exchange.
    pub fn on_error(&self) -> OnError {
        self.on_error
    }

    /// How the process shuts down.
    pub fn drain(&self) -> Drain {
        self.drain
    }

    /// The routes, in the order of the file: their numbers are those that [`Config::table`] answers with.
    pub fn routes(&self) -> &[Route] {
        &self.routes
    }

    /// Finds the route of a request.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The upstreams, in the order of the file, then those that a route names by URL: [`Proxy::upstream`] is an index.
    pub fn upstreams(&self) -> &[Upstream] {
        &self.upstreams
    }

    /// The rate limits, in the order of the file: [`RouteLimit::limit`] is an index.
    pub fn rate_limits(&self) -> &[RateLimit] {
        &self.rate_limits
    }

    /// The mocks, with their routes.
    pub fn mocks(&self) -> impl Iterator<Item = (&Route, &Mock)> {
        self.routes.iter().filter_map(|route| match &route.action {
            Action::Mock(mock) => Some((route, &**mock)),
            _ => None,
        })
    }

    /// The schemes of authentication, in the order of the file.
    pub fn auth(&self) -> &[AuthScheme] {
        &self.auth
    }

    /// The number of the upstream with this name in the file.
    pub fn upstream_named(&self, name: &[u8]) -> Option<usize> {
        self.upstreams.iter().position(|upstream| upstream.name().as_bytes() == name)
    }

    /// The plug-ins.
    pub fn plugins(&self) -> &Plugins {
        &self.plugins
    }

    /// What is told of requests, besides the access log.
    pub fn observation(&self) -> &Observation {
        &self.observation
    }
}

/// How many cores to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workers {
    /// All that the process may use.
    Auto,
    /// So many.
    Count(NonZeroUsize),
}

/// An address to listen on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Bind {
    /// TCP.
    Tcp(SocketAddr),
    /// A Unix socket.
    Unix {
        /// Its path, complete.
        path: PathBuf,
        /// Permission bits of the socket file; `None` leaves them to the umask.
        mode: Option<u32>,
    },
    /// The inherited descriptor of this number, a listening socket.
    Descriptor(u32),
    /// The sockets that systemd hands over under this name.
    Systemd(String),
}

impl fmt::Display for Bind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "{address}"),
            Self::Unix { path, mode: None } => write!(f, "unix:{}", path.display()),
            Self::Unix { path, mode: Some(mode) } => write!(f, "unix:{},mode={mode:03o}", path.display()),
            Self::Descriptor(number) => write!(f, "fd:{number}"),
            Self::Systemd(name) => write!(f, "systemd:{name}"),
        }
    }
}

/// A place where connections are accepted.
#[derive(Clone, Debug)]
pub struct Listener {
    pub(super) address: Bind,
    pub(super) http2: bool,
    pub(super) tls: Option<ServerTls>,
    pub(super) proxy_protocol: Option<ProxyProtocol>,
    pub(super) profile: Profile,
    pub(super) place: Place,
}

impl Listener {
    /// Where to bind.
    pub fn address(&self) -> &Bind {
        &self.address
    }

    /// Whether HTTP/2 is spoken: by ALPN with TLS, by prior knowledge without.
    pub fn http2(&self) -> bool {
        self.http2
    }

    /// Certificates, if connections are encrypted.
    pub fn tls(&self) -> Option<&ServerTls> {
        self.tls.as_ref()
    }

    /// Who must announce its clients by the PROXY protocol, if anybody.
    pub fn proxy_protocol(&self) -> Option<&ProxyProtocol> {
        self.proxy_protocol.as_ref()
    }

    /// How doubtful but legal requests are treated.
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// Where the file speaks of it.
    pub fn place(&self) -> Place {
        self.place
    }
}

/// The TLS settings of a listener.
#[derive(Clone, Debug)]
pub struct ServerTls {
    pub(super) certificates: Vec<Certificate>,
    pub(super) min_version: TlsVersion,
    pub(super) clients: Option<ClientCertificates>,
}

impl ServerTls {
    /// The certificates, at least one; the first is for clients that name no server.
    pub fn certificates(&self) -> &[Certificate] {
        &self.certificates
    }

    /// The oldest version that is accepted.
    pub fn min_version(&self) -> TlsVersion {
        self.min_version
    }

    /// Whether clients are asked for certificates.
    pub fn clients(&self) -> Option<&ClientCertificates> {
        self.clients.as_ref()
    }
}

/// What is asked of clients in the handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificates {
    pub(super) authorities: PathBuf,
    pub(super) required: bool,
}

impl ClientCertificates {
    /// Who may have signed them, PEM.
    pub fn authorities(&self) -> &Path {
        &self.authorities
    }

    /// Whether a handshake without one fails. Otherwise it goes on, and what cannot be verified counts as none.
    pub fn is_required(&self) -> bool {
        self.required
    }
}

/// A version of TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsVersion {
    /// TLS 1.2
    Tls12,
    /// TLS 1.3
    Tls13,
}

/// A certificate chain and its key, as files that were there when the configuration was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    pub(super) cert: PathBuf,
    pub(super) key: PathBuf,
    pub(super) place: Place,
}

impl Certificate {
    /// The chain, PEM, leaf first.
    pub fn cert(&self) -> &Path {
        &self.cert
    }

    /// The private key, PEM.
    pub fn key(&self) -> &Path {
        &self.key
    }

    /// Where the file speaks of it.
    pub fn place(&self) -> Place {
        self.place
    }
}

/// Who may, and must, send a PROXY protocol header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyProtocol {
    pub(super) trust: Vec<Network>,
}

impl ProxyProtocol {
    /// The networks of the load balancers; at least one. Connections from elsewhere carry no header, and connections to
    /// a Unix socket always do.
    pub fn trust(&self) -> &[Network] {
        &self.trust
    }

    /// Whether a connection from `address` starts with a header.
    pub fn trusts(&self, address: IpAddr) -> bool {
        self.trust.iter().any(|network| network.contains(address))
    }
}

/// A network: an address and how many of its bits count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    pub(super) address: IpAddr,
    pub(super) bits: u8,
}

impl Network {
    /// The address; bits that do not count are zero.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// How many leading bits count.
    pub fn bits(&self) -> u8 {
        self.bits
    }

    /// Whether `address` is in this network. An IPv4 address mapped into IPv6 counts as what it is.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                let shift = 32 - u32::from(self.bits.min(32));
                network.to_bits().checked_shr(shift) == address.to_bits().checked_shr(shift)
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                let shift = 128 - u32::from(self.bits.min(128));
                network.to_bits().checked_shr(shift) == address.to_bits().checked_shr(shift)
            }
            _ => false,
        }
    }
}

/// What the gateway tells upstreams about the client, and what it believes of what clients tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forwarded {
    pub(super) trusted_hops: u32,
    pub(super) style: ForwardedStyle,
    pub(super) via: Option<String>,
    pub(super) request_id: Option<RequestId>,
}

/// The most proxies that may be trusted.
pub(crate) const TRUSTED_HOPS_MAX: usize = 32;

impl Forwarded {
    /// How many proxies in front of this one are trusted: so many entries from the end of what arrives are believed.
    pub fn trusted_hops(&self) -> u32 {
        self.trusted_hops
    }

    /// Which fields are sent.
    pub fn style(&self) -> ForwardedStyle {
        self.style
    }

    /// The name in `Via`; `None` to send none.
    pub fn via(&self) -> Option<&str> {
        self.via.as_deref()
    }

    /// How requests are numbered; `None` for not at all.
    pub fn request_id(&self) -> Option<&RequestId> {
        self.request_id.as_ref()
    }
}

/// The field that carries a request's id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId {
    pub(super) field: String,
}

impl RequestId {
    /// The field's name. A value from a client is kept only if a hop is trusted.
    pub fn field(&self) -> &str {
        &self.field
    }
}

/// Which fields tell an upstream about the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForwardedStyle {
    /// `X-Forwarded-For`, `-Proto`, `-Host` and `-Port`.
    XForwarded,
    /// `Forwarded` (RFC 7239).
    Forwarded,
    /// Both kinds.
    Both,
    /// None; those that arrive are removed.
    Off,
}

/// What happens after an error that escapes an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnError {
    /// Its connection closes.
    Close,
    /// It is logged and nothing else happens.
    Continue,
    /// The process ends.
    Crash,
}

/// How the process shuts down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drain {
    pub(super) grace_ms: u64,
    pub(super) deadline_ms: u64,
}

impl Drain {
    /// How long idle connections stay open, so that no request in flight is lost, in milliseconds.
    pub fn grace_ms(&self) -> u64 {
        self.grace_ms
    }

    /// When the process ends whatever is still running, in milliseconds from the signal.
    pub fn deadline_ms(&self) -> u64 {
        self.deadline_ms
    }
}

/// A route.
#[derive(Debug)]
pub struct Route {
    pub(super) name: String,
    pub(super) named: bool,
    pub(super) path: leat_route::Path,
    pub(super) request_fields: FieldEdits,
    pub(super) response_fields: FieldEdits,
    pub(super) request_query: QueryEdits,
    pub(super) body: BodyLimits,
    pub(super) times_streams: bool,
    pub(super) access: Option<Access>,
    pub(super) cors: Option<Cors>,
    pub(super) compression: Option<Compression>,
    pub(super) layers: Layers,
    pub(super) head: HeadLimits,
    pub(super) maintenance: Option<Maintenance>,
    pub(super) faults: Vec<Fault>,
    pub(super) rate_limits: Vec<RouteLimit>,
    pub(super) auth: Option<RouteAuth>,
    pub(super) plugins: Option<usize>,
    pub(super) action: Action,
    pub(super) place: Place,
}

impl Route {
    /// The name for logs and metrics; unique. Made up from the match where the file gives none.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the file gives it a name.
    pub fn is_named(&self) -> bool {
        self.named
    }

    /// Which paths it is for.
    pub fn path(&self) -> &leat_route::Path {
        &self.path
    }

    /// What is changed in the request's fields before they go upstream.
    pub fn request_fields(&self) -> &FieldEdits {
        &self.request_fields
    }

    /// What is changed in the response's fields; already part of a `respond` route's reply.
    pub fn response_fields(&self) -> &FieldEdits {
        &self.response_fields
    }

    /// Limits of the request's body.
    pub fn body(&self) -> BodyLimits {
        self.body
    }

    /// Whether the time of a body is that of gRPC streams as well: where the route itself says it.
    pub fn times_streams(&self) -> bool {
        self.times_streams
    }

    /// Who may use it, by address; `None` for everybody.
    pub fn access(&self) -> Option<&Access> {
        self.access.as_ref()
    }

    /// Which web pages of other origins may use it; `None` leaves that to whatever answers.
    pub fn cors(&self) -> Option<&Cors> {
        self.cors.as_ref()
    }

    /// Which replies are compressed on their way.
    pub fn compression(&self) -> Option<&Compression> {
        self.compression.as_ref()
    }

    /// Whether it is closed for a while, and for whom it is not.
    pub fn maintenance(&self) -> Option<&Maintenance> {
        self.maintenance.as_ref()
    }

    /// Failures that are wished for, in the order in which they are drawn.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// The rate limits that count its requests, at most [`super::ROUTE_LIMITS_MAX`]; one limit stands once at most.
    pub fn rate_limits(&self) -> &[RouteLimit] {
        &self.rate_limits
    }

    /// Who may use it, by what a scheme says of them; `None` for everybody.
    pub fn auth(&self) -> Option<&RouteAuth> {
        self.auth.as_ref()
    }

    /// Its set of plug-ins: an index into [`Plugins::sets`].
    pub fn plugins(&self) -> Option<usize> {
        self.plugins
    }

    /// What answers.
    pub fn action(&self) -> &Action {
        &self.action
    }

    /// Where the file speaks of it.
    pub fn place(&self) -> Place {
        self.place
    }
}

/// What answers the requests of a route.
#[derive(Debug)]
pub enum Action {
    /// The same reply every time.
    Respond(Fixed),
    /// A redirect.
    Redirect(Redirect),
    /// Files of a directory.
    Files(Files, Rewrite),
    /// An upstream.
    Proxy(Proxy, Rewrite),
    /// Rules answer RPC calls.
    Mock(Box<Mock>),
}
