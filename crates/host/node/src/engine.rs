use std::collections::HashMap;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use leat_door::{Server, Settings, Speaking};
use leat_listen::{Listener, ServeOptions};
use leat_message::Peer;
use leat_script::{Lane, LaneSeed};
use socket2::Socket;
use tokio::sync::{mpsc, oneshot};
use tokio::task::LocalSet;

use crate::error::{Coded, coded};
use crate::metrics::Snapshot;

/// The engine of this process: one thread that serves the lanes of all JavaScript threads.
pub(crate) struct Engine {
    orders: mpsc::UnboundedSender<Order>,
    lanes: AtomicU64,
    servers: AtomicU64,
    /// Addresses that several lanes may share, with the server that has the socket.
    shared: Mutex<HashMap<SocketAddr, u64>>,
}

/// What the engine's thread is told.
pub(crate) enum Order {
    /// Serve a lane.
    Attach(u64, LaneSeed),
    /// Serve a listener, or none, for a lane's server.
    Open {
        lane: u64,
        server: u64,
        listener: Option<Listener>,
        settings: Box<Settings>,
        options: Box<ServeOptions>,
        ipv6: bool,
    },
    /// A lane's server shares the listener of another one.
    Join { lane: u64, server: u64, with: u64 },
    /// Serve a connection that was accepted elsewhere.
    Adopt(u64, Socket),
    /// Change settings.
    Change(u64, Box<Settings>),
    /// Stop accepting for a server; answers once its socket is closed.
    Close(u64, oneshot::Sender<()>),
    /// A lane has ended: close what it leaves.
    Ended,
    /// Tell the counters.
    Count(std::sync::mpsc::SyncSender<Snapshot>),
}

static ENGINE: OnceLock<Result<Engine, String>> = OnceLock::new();

impl Engine {
    /// The engine; its thread begins with the first lane.
    pub(crate) fn get() -> Result<&'static Self, Coded> {
        ENGINE.get_or_init(Self::start).as_ref().map_err(|error| coded("LEAT_ENGINE", error.as_str()))
    }

    fn start() -> Result<Self, String> {
        let (orders, received) = mpsc::unbounded_channel();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .on_thread_park(leat_script::before_park)
            .on_thread_unpark(leat_script::after_park)
            .build()
            .map_err(|error| format!("the engine's event loop can't start: {error}"))?;
        std::thread::Builder::new()
            .name("leat-engine".into())
            .spawn({
                let orders = orders.clone();
                move || LocalSet::new().block_on(&runtime, run(received, orders))
            })
            .map_err(|error| format!("the engine's thread can't start: {error}"))?;
        Ok(Self { orders, lanes: AtomicU64::new(0), servers: AtomicU64::new(0), shared: Mutex::default() })
    }

    /// Tells the engine's thread; it lives as long as the process.
    pub(crate) fn order(&self, order: Order) {
        // Nobody listens only while the process is going down.
        let _ = self.orders.send(order);
    }

    /// Hands a lane over; gives its number.
    pub(crate) fn attach(&self, seed: LaneSeed) -> u64 {
        let lane = self.lanes.fetch_add(1, Ordering::Relaxed);
        self.order(Order::Attach(lane, seed));
        lane
    }

    /// A number for a new server.
    pub(crate) fn next_server(&self) -> u64 {
        self.servers.fetch_add(1, Ordering::Relaxed)
    }

    /// The addresses that are shared between lanes. Held while one is bound, so that two threads don't both bind it.
    pub(crate) fn shared(&self) -> std::sync::MutexGuard<'_, HashMap<SocketAddr, u64>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The counters; `None` while the process is going down.
    pub(crate) fn snapshot(&self) -> Option<Snapshot> {
        let (answer, answered) = std::sync::mpsc::sync_channel(1);
        self.order(Order::Count(answer));
        answered.recv_timeout(std::time::Duration::from_secs(5)).ok()
    }
}

/// A lane, and the server that it takes part in.
type Member = (Rc<Lane>, Rc<Server<Speaking>>);

/// What the engine's thread owns.
struct Thread {
    /// To itself.
    orders: mpsc::UnboundedSender<Order>,
    lanes: HashMap<u64, Rc<Lane>>,
    /// Servers by number. Those that share a listener are the same one.
    servers: HashMap<u64, Member>,
}

async fn run(mut received: mpsc::UnboundedReceiver<Order>, orders: mpsc::UnboundedSender<Order>) {
    tokio::task::spawn_local(leat_stream::clock::run());
    let mut thread = Thread { orders, lanes: HashMap::new(), servers: HashMap::new() };
    while let Some(order) = received.recv().await {
        thread.obey(order);
    }
}

impl Thread {
    fn obey(&mut self, order: Order) {
        match order {
            Order::Attach(number, seed) => {
                let lane = Lane::new(seed);
                let (running, orders) = (Rc::clone(&lane).run(), self.orders.clone());
                tokio::task::spawn_local(async move {
                    running.await;
                    // Received by this thread, which outlives its tasks.
                    let _ = orders.send(Order::Ended);
                });
                self.lanes.insert(number, lane);
            }
            Order::Open { lane, server, listener, settings, options, ipv6 } => {
                if let Some(lane) = self.lanes.get(&lane) {
                    let rpc = settings.rpc.clone();
                    let make = Rc::new(move |script, _: &Peer| Speaking::new(script, rpc.clone()));
                    let opened = Server::open(listener, *settings, *options, ipv6, make);
                    opened.join(lane, server);
                    self.servers.insert(server, (Rc::clone(lane), opened));
                }
            }
            Order::Join { lane, server, with } => {
                if let (Some(lane), Some((_, shared))) = (self.lanes.get(&lane), self.servers.get(&with)) {
                    let shared = Rc::clone(shared);
                    shared.join(lane, server);
                    self.servers.insert(server, (Rc::clone(lane), shared));
                }
            }
            Order::Adopt(server, socket) => {
                if let Some((_, server)) = self.servers.get(&server) {
                    server.adopt(socket);
                }
            }
            Order::Change(server, settings) => {
                if let Some((_, server)) = self.servers.get(&server) {
                    server.change(*settings);
                }
            }
            Order::Close(number, closed) => {
                if let Some((lane, server)) = self.servers.remove(&number) {
                    server.leave(&lane, number, Some(closed));
                }
            }
            Order::Ended => self.forget_ended(),
            Order::Count(answer) => {
                let lanes = self.lanes.iter().filter(|(_, lane)| !lane.is_closed());
                let mut snapshot = Snapshot::new(lanes.map(|(number, lane)| (*number, &**lane)));
                snapshot.gates(self.servers.values().map(|(_, server)| server.gate()));
                // Nobody waits any more where the engine was late.
                let _ = answer.try_send(snapshot);
            }
        }
    }

    /// Closes what the lanes have left that ended.
    fn forget_ended(&mut self) {
        self.lanes.retain(|_, lane| !lane.is_closed());
        let ended = self.servers.extract_if(|_, (lane, _)| lane.is_closed());
        for (number, (lane, server)) in ended {
            server.leave(&lane, number, None);
        }
    }
}
