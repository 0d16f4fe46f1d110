//! A server on a free port whose handler does what the path asks for. It has a thread and a core state of its own, so that
//! the drain of one test is not another's.
#![allow(dead_code, unused_imports, unreachable_pub, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod handler;
mod script;

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::thread::JoinHandle;

use leat_message::{Address, Fixed, HostPolicy, Limits, Peer, Profile, Reason, Scheme, TlsInfo};
use leat_serve::{OnError, Protocol, Service, Site, serve};
use leat_stream::{Plain, Socket};
use leat_testkit::{Client, eventually};
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc};
use tokio::task::{LocalSet, spawn_local};
use tokio_rustls::{TlsAcceptor, TlsStream};

use handler::Behaviours;
pub use handler::{Event, Events, pattern};

/// What may differ from test to test.
pub struct Options {
    pub limits: Limits,
    pub profile: Profile,
    pub on_error: OnError,
    pub drain_grace_ms: u64,
    pub protocol: Protocol,
    /// The only host that may be asked for.
    pub host: Option<&'static str>,
    /// Bytes that the kernel may hold of a reply; small ones make slow readers visible early.
    pub send_buffer_bytes: Option<usize>,
    /// Whether connections are encrypted, with this.
    pub tls: Option<Arc<rustls::ServerConfig>>,
    /// The script that answers refused bytes.
    pub refused: Option<&'static str>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            profile: Profile::Compatible,
            on_error: OnError::Close,
            drain_grace_ms: 100,
            protocol: Protocol::Sniff,
            host: None,
            send_buffer_bytes: None,
            tls: None,
            refused: None,
        }
    }
}

enum Command {
    Drain,
    Retire,
    Release,
    Stop,
}

pub struct Server {
    pub address: SocketAddr,
    events: Events,
    commands: mpsc::UnboundedSender<Command>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub fn start() -> Self {
        Self::with(Options::default())
    }

    pub fn limited(change: impl FnOnce(&mut Limits)) -> Self {
        let mut options = Options::default();
        change(&mut options.limits);
        Self::with(options)
    }

    pub fn with(options: Options) -> Self {
        let events = Events::default();
        let (commands, receiver) = mpsc::unbounded_channel();
        let (told, address) = std::sync::mpsc::channel();
        let thread = std::thread::spawn({
            let events = Events::clone(&events);
            move || run(options, events, receiver, &told)
        });
        Self { address: address.recv().expect("the server listens"), events, commands, thread: Some(thread) }
    }

    pub fn client(&self) -> Client {
        Client::connect(self.address)
    }

    /// Starts the drain of the server's core.
    pub fn drain(&self) {
        self.commands.send(Command::Drain).expect("the server runs");
    }

    /// Ends the service as a reload does that removes its listener.
    pub fn retire(&self) {
        self.commands.send(Command::Retire).expect("the server runs");
    }

    /// Lets the handlers go on that wait for it, now or next.
    pub fn release(&self) {
        self.commands.send(Command::Release).expect("the server runs");
    }

    pub fn events(&self) -> Vec<Event> {
        self.events.lock().unwrap().clone()
    }

    /// Waits until an exchange with `path` has begun.
    pub fn begun(&self, path: &str) {
        eventually(&format!("an exchange with {path}"), || {
            self.events().contains(&Event::Begun(path.to_owned())).then_some(())
        });
    }

    /// Waits for the end of the exchange with `path` (`None`: of a refusal); its status and reason.
    pub fn ended(&self, wanted: Option<&str>) -> (u16, Option<Reason>) {
        eventually(&format!("the end of {wanted:?} in {:?}", self.events()), || {
            self.events().into_iter().find_map(|event| match event {
                Event::Ended { path, status, reason, .. } if path.as_deref() == wanted => Some((status, reason)),
                _ => None,
            })
        })
    }

    /// Waits until a handler was told that its client is gone.
    pub fn gone(&self) -> Reason {
        eventually("a handler whose client is gone", || {
            self.events().into_iter().find_map(|event| match event {
                Event::Gone(reason) => Some(reason),
                _ => None,
            })
        })
    }

    /// The server still answers: its core is neither stuck nor spinning.
    pub fn answers(&self) {
        let mut client = self.client();
        assert_eq!(client.get("/fixed").response().text(), "hello");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.commands.send(Command::Stop);
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(std::thread::panicking() || !matches!(ended, Some(Err(_))), "the server's thread panicked");
    }
}

struct Only(&'static str);

impl HostPolicy for Only {
    fn allows(&self, _server_name: Option<&str>, host: &[u8]) -> bool {
        host.eq_ignore_ascii_case(self.0.as_bytes())
    }
}

fn run(
    options: Options,
    events: Events,
    mut commands: mpsc::UnboundedReceiver<Command>,
    told: &std::sync::mpsc::Sender<SocketAddr>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    LocalSet::new().block_on(&runtime, async move {
        spawn_local(leat_stream::clock::run());
        let release = Rc::new(Notify::new());
        let fields = vec![("content-type".to_owned(), "text/plain".to_owned())];
        let fixed = Fixed::new(200, fields, b"hello".to_vec());
        let service = Service::new(Site {
            handler: Behaviours { events, release: Rc::clone(&release), fixed, refused: options.refused },
            limits: options.limits,
            profile: options.profile,
            on_error: options.on_error,
            drain_grace_ms: options.drain_grace_ms,
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        told.send(listener.local_addr().unwrap()).unwrap();
        let tls = options.host.map(|host| TlsInfo {
            server_name: Some(host.into()),
            hosts: Rc::new(Only(host)),
            version: "TLSv1.3",
            cipher: "TLS_AES_128_GCM_SHA256",
            alpn: None,
            client: None,
        });
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                command = commands.recv() => match command {
                    Some(Command::Drain) => {
                        leat_stream::begin_drain();
                        continue;
                    }
                    Some(Command::Retire) => {
                        service.retire();
                        continue;
                    }
                    Some(Command::Release) => {
                        release.notify_one();
                        continue;
                    }
                    Some(Command::Stop) | None => return,
                },
            };
            let (stream, remote) = accepted.unwrap();
            stream.set_nodelay(true).unwrap();
            // As the listeners of a real process do.
            #[cfg(target_os = "linux")]
            socket2::SockRef::from(&stream).set_tcp_notsent_lowat(128 * 1024).unwrap();
            if let Some(bytes) = options.send_buffer_bytes {
                socket2::SockRef::from(&stream).set_send_buffer_size(bytes).unwrap();
            }
            let local = Address::Ip(stream.local_addr().unwrap());
            let peer = Peer { remote: Address::Ip(remote), local, scheme: Scheme::Http, tls: tls.clone() };
            let serving = {
                let (peer, service, encryption) = (Rc::new(peer), Rc::clone(&service), options.tls.clone());
                async move {
                    let socket = match encryption {
                        None => Socket::from(stream),
                        Some(config) => {
                            let handshake = TlsAcceptor::from(config).accept(Plain::Tcp(stream)).await;
                            Socket::from(TlsStream::Server(handshake.expect("a handshake")))
                        }
                    };
                    serve(socket, Vec::new(), options.protocol, peer, service).await;
                }
            };
            spawn_local(serving);
        }
    });
}
