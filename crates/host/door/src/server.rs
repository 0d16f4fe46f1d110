use std::cell::{Cell, RefCell};
use std::net::IpAddr;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use leat_listen::{Accepted, Entrance, Gate, Listener, OnUnshaken, Protocol, ServeOptions, Stop, Unshaken};
use leat_message::{Address, Handler, Peer};
use leat_script::{Arrival, Group, Lane, Script};
use leat_stream::{Plain, Socket};
use socket2::{SockRef, TcpKeepalive};
use tokio::sync::oneshot;

use crate::connection::Connection;
use crate::settings::Settings;
use crate::unshaken::in_openssls_words;

/// Makes a connection's handler of its way to JavaScript, and of who is at its other end.
pub type MakeHandler<H> = Rc<dyn Fn(Script, &Peer) -> H>;

/// A listener and the servers on it: one, or one on each of the lanes that share the port.
pub struct Server<H> {
    make: MakeHandler<H>,
    group: Rc<Group>,
    gate: Arc<Gate>,
    settings: RefCell<Settings>,
    options: ServeOptions,
    /// Whether it is bound to an IPv6 address: clients of IPv4 are shown as Node shows them then.
    ipv6: bool,
    connections: RefCell<Vec<Weak<Connection<H>>>>,
    /// How many connections there were when the list was last cleaned.
    kept: Cell<usize>,
    stop: RefCell<Option<oneshot::Sender<Option<oneshot::Sender<()>>>>>,
}

impl<H: Handler + AsRef<Script> + Clone> Server<H> {
    /// Starts to accept, where there is a listener. To be called on the thread that serves.
    pub fn open(
        listener: Option<Listener>,
        settings: Settings,
        options: ServeOptions,
        ipv6: bool,
        make: MakeHandler<H>,
    ) -> Rc<Self> {
        let server = Rc::new(Self {
            make,
            group: Rc::default(),
            gate: Gate::new(&settings.limits()),
            settings: RefCell::new(settings),
            options,
            ipv6,
            connections: RefCell::default(),
            kept: Cell::new(0),
            stop: RefCell::default(),
        });
        if let Some(listener) = listener {
            server.accept(listener);
        }
        server
    }

    fn accept(self: &Rc<Self>, listener: Listener) {
        let (stop, stopped) = oneshot::channel();
        *self.stop.borrow_mut() = Some(stop);
        let server = Rc::clone(self);
        tokio::task::spawn_local(async move {
            let asked = Cell::new(None);
            let (gate, options) = (Arc::clone(&server.gate), server.options.clone());
            let stopped = async {
                asked.set(stopped.await.ok().flatten());
                Stop::Ended
            };
            let telling = server.telling();
            let accepting = leat_listen::serve_telling(
                listener,
                gate,
                options,
                stopped,
                move |accepted| server.begin(accepted),
                Some(telling),
            );
            // A listener that the kernel refuses to watch: nothing can be served, and nobody is left to tell.
            let _ = accepting.await;
            if let Some(closed) = asked.take() {
                // The one who asked may be gone.
                let _ = closed.send(());
            }
        });
    }

    /// Adds a lane's server.
    pub fn join(&self, lane: &Rc<Lane>, server: u64) {
        self.group.join(lane, server as u32);
    }

    /// Takes a lane's server out, and stops accepting with the last one; `closed` is answered when that is done.
    pub fn leave(&self, lane: &Rc<Lane>, server: u64, closed: Option<oneshot::Sender<()>>) {
        if !self.group.leave(lane, server as u32)
            && let Some(stop) = self.stop.borrow_mut().take()
        {
            // The accept loop is over where nobody listens.
            let _ = stop.send(closed);
        }
    }

    /// Serves a connection that was accepted elsewhere.
    pub fn adopt(self: &Rc<Self>, socket: socket2::Socket) {
        let server = Rc::clone(self);
        let gate = Arc::clone(&self.gate);
        let begin = move |accepted| server.begin(accepted);
        let entrance = Entrance::new(gate, self.options.clone(), begin, Some(self.telling()));
        // A connection that is gone already.
        let _ = entrance.admit(socket.into());
    }

    /// Tells JavaScript of TLS handshakes that fail.
    fn telling(self: &Rc<Self>) -> OnUnshaken {
        let server = Rc::clone(self);
        Rc::new(move |Unshaken { remote, local, problem }| {
            let arrival = server.arrival(&remote, &local);
            let (code, words) = in_openssls_words(problem);
            server.group.unshaken(&arrival, &code, &words);
        })
    }

    fn arrival(&self, remote: &Address, local: &Address) -> Arrival {
        let unix = *remote == Address::Unix;
        let (remote, remote_port) = self.text_of(remote);
        let (local, local_port) = self.text_of(local);
        Arrival { remote, remote_port, local, local_port, ipv6: self.ipv6, unix, ..Arrival::default() }
    }

    /// Changes settings, for the requests to come of all connections.
    pub fn change(&self, newer: Settings) {
        self.settings.borrow_mut().merge(newer);
        let settings = self.settings.borrow();
        self.gate.set_limits(&settings.limits());
        for connection in self.connections.borrow().iter().filter_map(Weak::upgrade) {
            connection.change(&settings);
        }
    }

    /// The caps on its connections.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    fn begin(self: &Rc<Self>, accepted: Accepted) {
        let Accepted { socket, peer, protocol, permit } = accepted;
        let settings = self.settings.borrow();
        tune(&socket, &settings);
        let alpn = peer.tls.as_ref().and_then(|tls| tls.alpn).unwrap_or_default();
        let arrival = Arrival {
            http2: protocol == Protocol::Http2,
            alpn: alpn.to_owned(),
            ..self.arrival(&peer.remote, &peer.local)
        };
        let Some(connection) = Connection::open(&self.group, arrival, &peer, &settings, &*self.make) else { return };
        self.remember(&connection);
        connection.run(socket, protocol, peer, permit);
    }

    /// Keeps the connection where a change of settings finds it.
    fn remember(&self, connection: &Rc<Connection<H>>) {
        let mut connections = self.connections.borrow_mut();
        if connections.len() > 2 * self.kept.get() + 64 {
            connections.retain(|connection| connection.strong_count() > 0);
            self.kept.set(connections.len());
        }
        connections.push(Rc::downgrade(connection));
    }

    fn text_of(&self, address: &Address) -> (String, u16) {
        match address {
            Address::Ip(address) => match address.ip() {
                IpAddr::V4(ip) if self.ipv6 => (format!("::ffff:{ip}"), address.port()),
                ip => (ip.to_string(), address.port()),
            },
            Address::Unix => (String::new(), 0),
        }
    }
}

/// Sets what Node sets on an accepted socket.
fn tune(socket: &Socket, settings: &Settings) {
    let Socket::Plain(Plain::Tcp(stream)) = socket else { return };
    // A socket that is gone already takes no option, which its first read tells.
    let _ = stream.set_nodelay(settings.no_delay.unwrap_or(true));
    if settings.keep_alive == Some(true) {
        let delay = settings.keep_alive_initial_delay.unwrap_or(0.0).max(0.0) / 1000.0;
        let keepalive = TcpKeepalive::new();
        let keepalive =
            if delay >= 1.0 { keepalive.with_time(std::time::Duration::from_secs(delay as u64)) } else { keepalive };
        let _ = SockRef::from(stream).set_tcp_keepalive(&keepalive);
    }
}
