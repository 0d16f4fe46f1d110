use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::sync::Arc;

use leat_message::{Address, HostPolicy, Limits, Peer, Reason, Scheme};
use leat_stream::{Plain, Socket, clock, drain_begun};
use rustix::io::Errno;

use crate::bound::BACKLOG;
use crate::gate::HandshakePermit;
use crate::listener::{Connection, Incoming};
use crate::proxy::{self, Origin};
use crate::shed::Shed;
use crate::tls::{self, OnUnshaken, TlsProblem, TlsSettings, Unshaken};
use crate::{Gate, Listener, Permit, ProxyProtocol};

/// Connections accepted before the core's other tasks get their turn.
const ACCEPTS_PER_TURN: usize = 32;
/// First pause after the system ran out of descriptors or memory, in milliseconds; doubles while it lasts.
const PAUSE_MS_MIN: u64 = 20;
/// Longest such pause: how late at most accepting resumes.
const PAUSE_MS_MAX: u64 = 1_000;

/// How connections of one listener are taken in.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// TLS; `None` for plain text.
    pub tls: Option<TlsSettings>,
    /// Whether a plain connection may open with the HTTP/2 preface (prior knowledge). TLS settles it by ALPN.
    pub http2_plain: bool,
    /// From whom a PROXY protocol header is expected.
    pub proxy_protocol: ProxyProtocol,
    /// From accept to the end of PROXY header and TLS handshake, in milliseconds.
    pub handshake_time_ms: u64,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            tls: None,
            http2_plain: false,
            proxy_protocol: ProxyProtocol::Off,
            handshake_time_ms: Limits::default().handshake_time_ms,
        }
    }
}

/// What a connection speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.1 or 1.0.
    Http1,
    /// HTTP/2, by ALPN.
    Http2,
    /// HTTP/2 if the first bytes are its preface (RFC 9113 section 3.4), otherwise HTTP/1.
    Sniff,
}

/// A connection that is ready for HTTP: its next byte is the first one of the client's first request.
#[derive(Debug)]
pub struct Accepted {
    /// The connection.
    pub socket: Socket,
    /// Who is on the other end.
    pub peer: Rc<Peer>,
    /// What it speaks.
    pub protocol: Protocol,
    /// Its place in the counts: to be dropped with the connection.
    pub permit: Permit,
}

/// How an accept loop comes to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Nobody accepts here any more: who waits in the queue is still taken.
    Ended,
    /// Another loop accepts from the same socket, and takes who waits: they are its clients, under its options.
    HandedOver,
}

/// Accepts connections until the core drains; then takes those that wait in the queue still, closes its descriptors and
/// returns. Runs inside a `LocalSet` on the core's runtime, beside [`clock::run`].
///
/// A plain connection goes to `on_connection` at once and without an allocation but its [`Peer`]. Handshakes and PROXY
/// headers are waited for in local tasks of their own, which outlive this future. Dropping the future stops accepting
/// and loses nothing as long as the [`crate::ListenerSet`] lives: what waits is accepted by the next `serve`.
///
/// # Errors
/// When the sockets cannot be registered with the runtime. Errors of accepting end neither the loop nor anything else.
pub async fn serve<F>(listener: Listener, gate: Arc<Gate>, options: ServeOptions, on_connection: F) -> io::Result<()>
where
    F: Fn(Accepted) + 'static,
{
    serve_until(listener, gate, options, std::future::pending(), on_connection).await
}

/// As [`serve`], and ends as `stop` says once it is ready: for a listener that a reload removes or takes in another way.
///
/// # Errors
/// As for [`serve`].
pub async fn serve_until<F>(
    listener: Listener,
    gate: Arc<Gate>,
    options: ServeOptions,
    stop: impl Future<Output = Stop>,
    on_connection: F,
) -> io::Result<()>
where
    F: Fn(Accepted) + 'static,
{
    serve_telling(listener, gate, options, stop, on_connection, None).await
}

/// As [`serve_until`], and tells of TLS handshakes that fail.
///
/// # Errors
/// As for [`serve`].
pub async fn serve_telling<F>(
    listener: Listener,
    gate: Arc<Gate>,
    options: ServeOptions,
    stop: impl Future<Output = Stop>,
    on_connection: F,
    on_unshaken: Option<OnUnshaken>,
) -> io::Result<()>
where
    F: Fn(Accepted) + 'static,
{
    let mut incoming = listener.register()?;
    let door = Rc::new(Door::new(gate, options, on_connection, on_unshaken));
    tokio::select! {
        biased;
        () = drain_begun() => {}
        stop = stop => match stop {
            Stop::Ended => {}
            Stop::HandedOver => return Ok(()),
        },
        () = accept_all(&door, &mut incoming) => {}
    }
    for connection in incoming.drain(BACKLOG as usize)? {
        door.admit(connection);
    }
    Ok(())
}

async fn accept_all<F: Fn(Accepted) + 'static>(door: &Rc<Door<F>>, incoming: &mut Incoming) {
    let mut pause_ms = PAUSE_MS_MIN;
    loop {
        for _ in 0..ACCEPTS_PER_TURN {
            match poll_fn(|cx| incoming.poll_accept(cx)).await {
                Ok(connection) => {
                    pause_ms = PAUSE_MS_MIN;
                    door.admit(connection);
                }
                Err(error) if is_connections_own(&error) => {}
                // Out of descriptors or memory, or something unheard of: the connection stays in the queue, and looking
                // again at once would only burn time that others need to finish and free what is scarce.
                Err(_) => {
                    door.gate.count_pause();
                    clock::sleep(pause_ms).await;
                    pause_ms = (pause_ms * 2).min(PAUSE_MS_MAX);
                }
            }
        }
        tokio::task::yield_now().await;
    }
}

/// Whether the error belongs to the one connection that would have been accepted: accept(2) passes on what happened to
/// it since it was queued, and what a firewall says.
fn is_connections_own(error: &io::Error) -> bool {
    matches!(
        Errno::from_io_error(error),
        Some(
            Errno::CONNABORTED
                | Errno::CONNRESET
                | Errno::INTR
                | Errno::PROTO
                | Errno::PERM
                | Errno::NETDOWN
                | Errno::NETUNREACH
                | Errno::HOSTDOWN
                | Errno::HOSTUNREACH
                | Errno::NOPROTOOPT
                | Errno::OPNOTSUPP
                | Errno::TIMEDOUT
        )
    )
}

/// Takes connections that another part of the process has accepted, with the same checks and handshakes.
pub struct Entrance<F>(Rc<Door<F>>);

impl<F: Fn(Accepted) + 'static> Entrance<F> {
    /// An entrance; `on_connection` and `on_unshaken` as in [`serve_telling`].
    pub fn new(gate: Arc<Gate>, options: ServeOptions, on_connection: F, on_unshaken: Option<OnUnshaken>) -> Self {
        Self(Rc::new(Door::new(gate, options, on_connection, on_unshaken)))
    }

    /// Takes a TCP connection that was made non-blocking. To be called on a core's thread.
    ///
    /// # Errors
    /// The socket is not connected any more.
    pub fn admit(&self, stream: std::net::TcpStream) -> io::Result<()> {
        self.0.admit(Connection::accepted(stream)?);
        Ok(())
    }
}

/// What every connection of one listener on one core goes through.
struct Door<F> {
    gate: Arc<Gate>,
    options: ServeOptions,
    hosts: Option<Rc<dyn HostPolicy>>,
    shed: Shed,
    on_connection: F,
    on_unshaken: Option<OnUnshaken>,
}

impl<F: Fn(Accepted) + 'static> Door<F> {
    fn new(gate: Arc<Gate>, options: ServeOptions, on_connection: F, on_unshaken: Option<OnUnshaken>) -> Self {
        let hosts = options.tls.as_ref().map(TlsSettings::host_policy);
        Self { gate, options, hosts, shed: Shed::default(), on_connection, on_unshaken }
    }

    fn admit(self: &Rc<Self>, connection: Connection) {
        self.gate.count_accepted();
        let mut permit = match self.gate.admit() {
            Ok(permit) => permit,
            Err(reason) => return self.refuse(connection.socket, reason),
        };
        let proxied = self.options.proxy_protocol.expects(&connection.remote);
        if !proxied && let Err(reason) = count_client(&mut permit, &connection.remote) {
            return self.refuse(connection.socket, reason);
        }
        if !proxied && self.options.tls.is_none() {
            return self.hand_on_plain(connection, permit);
        }
        match self.gate.admit_handshake() {
            Ok(handshake) => {
                tokio::task::spawn_local(Rc::clone(self).settle(connection, permit, handshake));
            }
            Err(reason) => self.refuse(connection.socket, reason),
        }
    }

    /// Reads what comes before HTTP, within the time for it.
    async fn settle(self: Rc<Self>, connection: Connection, permit: Permit, handshake: HandshakePermit) {
        let (remote, local) = (connection.remote.clone(), connection.local.clone());
        let settled = tokio::select! {
            biased;
            settled = self.identify(connection, permit) => settled,
            () = clock::sleep(self.options.handshake_time_ms) => Err(Refused::timed_out()),
        };
        drop(handshake);
        match settled {
            Ok(accepted) => (self.on_connection)(accepted),
            Err(Refused { reason, problem }) => {
                self.gate.count_refused(reason);
                if let (Some(problem), Some(tell)) = (problem.filter(|_| self.options.tls.is_some()), &self.on_unshaken)
                {
                    tell(Unshaken { remote, local, problem });
                }
            }
        }
    }

    async fn identify(&self, mut connection: Connection, mut permit: Permit) -> Result<Accepted, Refused> {
        if self.options.proxy_protocol.expects(&connection.remote) {
            if let Origin::Proxied { remote, local } = proxy::read(&mut connection.socket).await? {
                connection.remote = remote;
                connection.local = local;
            }
            if let Err(reason) = count_client(&mut permit, &connection.remote) {
                if self.options.tls.is_none() {
                    self.shed.reply(connection.socket, reason);
                }
                return Err(reason.into());
            }
        }
        let (Some(tls), Some(hosts)) = (&self.options.tls, &self.hosts) else {
            return Ok(self.plain(connection, permit));
        };
        if tls::is_plain_http(&connection.socket).await {
            self.shed.reply(connection.socket, Reason::TlsPlainText);
            return Err(Refused { reason: Reason::TlsPlainText, problem: Some(TlsProblem::PlainHttp) });
        }
        let shaken = match tls::handshake(connection.socket, tls, hosts).await {
            Ok(shaken) => shaken,
            Err((problem, socket)) => {
                // Over TLS 1.3 the client may have sent its first request before it reads the alert.
                self.shed.linger(socket);
                return Err(Refused { reason: Reason::TlsHandshake, problem: Some(problem) });
            }
        };
        self.gate.count_handshake();
        let tls = Some(shaken.info);
        let peer = Peer { remote: connection.remote, local: connection.local, scheme: Scheme::Https, tls };
        Ok(Accepted { socket: shaken.socket, peer: Rc::new(peer), protocol: shaken.protocol, permit })
    }

    fn hand_on_plain(&self, connection: Connection, permit: Permit) {
        (self.on_connection)(self.plain(connection, permit));
    }

    fn plain(&self, connection: Connection, permit: Permit) -> Accepted {
        let peer = Peer { remote: connection.remote, local: connection.local, scheme: Scheme::Http, tls: None };
        let protocol = if self.options.http2_plain { Protocol::Sniff } else { Protocol::Http1 };
        Accepted { socket: Socket::Plain(connection.socket), peer: Rc::new(peer), protocol, permit }
    }

    /// Closes a connection for which there is no place; a plain one is told why.
    fn refuse(&self, socket: Plain, reason: Reason) {
        self.gate.count_refused(reason);
        if self.options.tls.is_none() {
            self.shed.reply(socket, reason);
        }
    }
}

/// Why a connection is not handed on.
struct Refused {
    reason: Reason,
    problem: Option<TlsProblem>,
}

impl Refused {
    fn timed_out() -> Self {
        Self { reason: Reason::TimeHandshake, problem: Some(TlsProblem::Time) }
    }
}

impl From<Reason> for Refused {
    fn from(reason: Reason) -> Self {
        Self { reason, problem: None }
    }
}

fn count_client(permit: &mut Permit, remote: &Address) -> Result<(), Reason> {
    match remote {
        Address::Ip(address) => permit.count_for(address.ip()),
        Address::Unix => Ok(()),
    }
}
