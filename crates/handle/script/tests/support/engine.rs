use std::cell::{OnceCell, RefCell};
use std::net::SocketAddr;
use std::rc::{Rc, Weak};
use std::thread::JoinHandle;

use leat_message::{Address, LeftToHandler, Limits, Peer, Profile, Scheme};
use leat_script::{Arrival, Control, Group, Lane, LaneSeed, Script};
use leat_serve::{OnError, Protocol, Service, Site};
use leat_testkit::{Allocations, Client, Counting};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, LocalSet, spawn_local};

enum Command {
    Attach(LaneSeed),
    Allocations(std::sync::mpsc::Sender<Allocations>),
    Trace(usize),
}

/// A thread that serves a port through a group of lanes, wired as the Node host does it.
pub struct Engine {
    pub address: SocketAddr,
    commands: Option<mpsc::UnboundedSender<Command>>,
    thread: Option<JoinHandle<()>>,
}

impl Engine {
    pub fn start(lanes: impl IntoIterator<Item = LaneSeed>) -> Self {
        Self::with(lanes, Protocol::Http1)
    }

    /// One whose idle connections end after a moment.
    pub fn impatient(lanes: impl IntoIterator<Item = LaneSeed>) -> Self {
        Self::new(lanes, Protocol::Http1, Limits { idle_time_ms: 100, ..Limits::default() })
    }

    /// One that takes very long heads, and leaves to JavaScript what may be left.
    pub fn generous(lanes: impl IntoIterator<Item = LaneSeed>) -> Self {
        let left_to_handler = LeftToHandler { expect: true, host: true, upgrade: true };
        let limits = Limits { head_bytes_max: 1 << 20, field_bytes_max: 1 << 20, left_to_handler, ..Limits::default() };
        Self::new(lanes, Protocol::Http1, limits)
    }

    pub fn with(lanes: impl IntoIterator<Item = LaneSeed>, protocol: Protocol) -> Self {
        Self::new(lanes, protocol, Limits::default())
    }

    fn new(lanes: impl IntoIterator<Item = LaneSeed>, protocol: Protocol, limits: Limits) -> Self {
        let (commands, receiver) = mpsc::unbounded_channel();
        for lane in lanes {
            commands.send(Command::Attach(lane)).ok().unwrap();
        }
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            LocalSet::new().block_on(&runtime, run(listener, receiver, protocol, limits));
        });
        Self { address, commands: Some(commands), thread: Some(thread) }
    }

    pub fn client(&self) -> Client {
        Client::connect(self.address)
    }

    /// What the engine's thread has allocated so far.
    pub fn allocations(&self) -> Allocations {
        let (answer, answered) = std::sync::mpsc::channel();
        self.command(Command::Allocations(answer));
        answered.recv().unwrap()
    }

    /// Prints where the next allocations come from.
    pub fn trace(&self, count: usize) {
        self.command(Command::Trace(count));
        self.allocations();
    }

    fn command(&self, command: Command) {
        self.commands.as_ref().unwrap().send(command).ok().unwrap();
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        drop(self.commands.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
            && !std::thread::panicking()
        {
            panic!("the engine panicked");
        }
    }
}

async fn run(
    listener: std::net::TcpListener,
    mut commands: mpsc::UnboundedReceiver<Command>,
    protocol: Protocol,
    limits: Limits,
) {
    spawn_local(leat_stream::clock::run());
    let listener = TcpListener::from_std(listener).unwrap();
    let group = Rc::new(Group::default());
    let mut lanes = 0;
    loop {
        tokio::select! {
            biased;
            command = commands.recv() => match command {
                None => return,
                Some(Command::Attach(seed)) => {
                    let lane = Lane::new(seed);
                    spawn_local(Rc::clone(&lane).run());
                    group.join(&lane, lanes);
                    lanes += 1;
                }
                Some(Command::Allocations(answer)) => answer.send(Counting::of_thread()).unwrap(),
                Some(Command::Trace(count)) => Counting::trace(count),
            },
            accepted = listener.accept() => {
                let (stream, remote) = accepted.unwrap();
                Connection::open(&group, stream, remote, protocol, &limits);
            }
        }
    }
}

struct Connection {
    service: OnceCell<Rc<Service<Script>>>,
    task: RefCell<Option<AbortHandle>>,
}

impl Connection {
    fn open(group: &Rc<Group>, stream: TcpStream, remote: SocketAddr, protocol: Protocol, limits: &Limits) {
        stream.set_nodelay(true).unwrap();
        let local = stream.local_addr().unwrap();
        let peer =
            Rc::new(Peer { remote: Address::Ip(remote), local: Address::Ip(local), scheme: Scheme::Http, tls: None });
        let arrival = Arrival {
            remote: remote.ip().to_string(),
            remote_port: remote.port(),
            local: local.ip().to_string(),
            local_port: local.port(),
            ..Arrival::default()
        };
        let connection = Rc::new(Self { service: OnceCell::new(), task: RefCell::default() });
        let control: Rc<dyn Control> = Rc::new(Handle(Rc::downgrade(&connection)));
        let Some(script) = group.connect(arrival, &peer, control) else { return };
        let limits = Limits { body_bytes_max: u64::MAX, ..limits.clone() };
        let site =
            Site { handler: script, limits, profile: Profile::Compatible, on_error: OnError::Close, drain_grace_ms: 0 };
        let service = Service::new(site);
        let _ = connection.service.set(Rc::clone(&service));
        let held = Rc::clone(&connection);
        let task = spawn_local(async move {
            let _held = held;
            leat_serve::serve(stream.into(), Vec::new(), protocol, peer, service).await;
        });
        *connection.task.borrow_mut() = Some(task.abort_handle());
    }
}

struct Handle(Weak<Connection>);

impl Control for Handle {
    fn close(&self) {
        if let Some(connection) = self.0.upgrade() {
            connection.service.get().unwrap().retire();
        }
    }

    fn destroy(&self, reset: bool) {
        if let Some(connection) = self.0.upgrade().filter(|_| reset) {
            connection.service.get().unwrap().reset();
        }
        if let Some(connection) = self.0.upgrade()
            && let Some(task) = &*connection.task.borrow()
        {
            task.abort();
        }
    }
}
