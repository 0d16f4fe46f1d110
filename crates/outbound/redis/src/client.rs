use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use leat_stream::Timer;
use leat_stream::clock::{TICK_MS, now_ms, sleep};
use tokio::sync::watch;
use tokio::task::{JoinHandle, spawn_local};

use crate::call::Call;
use crate::followed::{Followed, Topology};
use crate::node::Node;
use crate::refusal::Refusal;
use crate::{Failure, Numbers, Place, Problem, Question, Script, Target};

/// How often a call is made anew: a slot that moved, is moving, and a script that was forgotten.
const TRIES_MAX: usize = 8;
/// Connections of one core to servers of one cluster.
const NODES_MAX: usize = 1_024;

/// A core's connections to the servers that have one topology, for calls of one script. Clones are the same connections;
/// they end with the last.
#[derive(Clone)]
pub struct Client {
    inner: Rc<Inner>,
}

struct Inner {
    followed: Arc<Followed>,
    script: Script,
    /// The topology as the control thread knows it.
    topologies: RefCell<watch::Receiver<Arc<Topology>>>,
    nodes: RefCell<Nodes>,
    task: RefCell<Option<JoinHandle<()>>>,
}

/// The connections, as the topology has them; behind them those that servers sent us to before we heard of it.
struct Nodes {
    topology: Arc<Topology>,
    list: Vec<Rc<Node>>,
}

thread_local! {
    /// The core's connections.
    static SHARED: RefCell<Vec<Weak<Inner>>> = const { RefCell::new(Vec::new()) };
}

impl Client {
    /// The core's connections to these servers for this script: those that somebody holds already, or new ones. So a
    /// reload keeps connections to servers that stay. To be called as [`Client::start`].
    pub fn shared(followed: &Arc<Followed>, script: Script) -> Self {
        SHARED.with_borrow_mut(|shared| {
            shared.retain(|held| held.strong_count() > 0);
            let same = |inner: &Rc<Inner>| Arc::ptr_eq(&inner.followed, followed) && inner.script == script;
            if let Some(inner) = shared.iter().filter_map(Weak::upgrade).find(same) {
                return Self { inner };
            }
            let new = Self::start(followed, script);
            shared.push(Rc::downgrade(&new.inner));
            new
        })
    }

    /// Starts to connect. To be called on a core's thread, inside its `LocalSet`.
    pub fn start(followed: &Arc<Followed>, script: Script) -> Self {
        let topologies = followed.subscribe();
        let nodes = RefCell::new(Nodes { topology: Arc::new(Topology::Unknown), list: Vec::new() });
        let (followed, task) = (Arc::clone(followed), RefCell::default());
        let news = RefCell::new(topologies.clone());
        let inner = Rc::new(Inner { followed, script, topologies: news, nodes, task });
        inner.update();
        let weak = Rc::downgrade(&inner);
        *inner.task.borrow_mut() = Some(spawn_local(keep_up(weak, topologies)));
        Self { inner }
    }

    /// The servers.
    pub fn followed(&self) -> &Arc<Followed> {
        &self.inner.followed
    }

    /// Whether keys of several slots can't be asked about together.
    pub fn is_cluster(&self) -> bool {
        self.inner.followed.is_cluster()
    }

    /// Calls the script. The command leaves with all others of this loop turn, in one write. Goes where a cluster sends it,
    /// and tells a server the script that has forgotten it.
    ///
    /// # Errors
    /// [`Failure::Down`] at once where there is no connection, [`Failure::Busy`] where too many calls wait; never later than
    /// the server's deadline.
    pub async fn call(&self, question: &Question) -> Result<Numbers, Failure> {
        let deadline_at_ms = self.deadline_at_ms();
        let mut node = self.node(question, deadline_at_ms).await?;
        node.started(deadline_at_ms).await;
        let mut asking = false;
        for _ in 0..TRIES_MAX {
            let place = node.line().ask(question, asking, now_ms())?;
            let refusal = match Call::new(node.line(), place, deadline_at_ms).await {
                Ok(numbers) => {
                    node.answered(&self.inner.followed);
                    return Ok(numbers);
                }
                Err(refusal) => refusal,
            };
            match self.inner.after(refusal, &node)? {
                Next::Again => {}
                Next::There(there, is_asking) => {
                    (node, asking) = (there, is_asking);
                    node.started(deadline_at_ms).await;
                }
                Next::Later => {
                    sleep(TICK_MS).await;
                    node = self.node(question, deadline_at_ms).await?;
                    asking = false;
                }
            }
            if now_ms() >= deadline_at_ms {
                return Err(Failure::Deadline);
            }
        }
        Err(Failure::Refused)
    }

    /// As [`Client::call`], for an answer that nobody waits for: `then` gets it. Follows no slot that moved. Allocates for a
    /// task.
    pub fn call_then(&self, question: &Question, then: impl FnOnce(Result<Numbers, Failure>) + 'static) {
        let node = self.inner.node_of(question).ok_or(Failure::Down);
        let asked = node.and_then(|node| Ok((node.line().ask(question, false, now_ms())?, node)));
        let (place, node) = match asked {
            Ok(asked) => asked,
            Err(failure) => return then(Err(failure)),
        };
        let (call, inner) = (Call::new(node.line(), place, self.deadline_at_ms()), Rc::clone(&self.inner));
        spawn_local(async move {
            then(match call.await {
                Ok(numbers) => {
                    node.answered(&inner.followed);
                    Ok(numbers)
                }
                Err(refusal) => Err(inner.after(refusal, &node).err().unwrap_or(Failure::Refused)),
            });
        });
    }

    fn deadline_at_ms(&self) -> u64 {
        now_ms().saturating_add(self.inner.followed.server().deadline_ms)
    }

    /// The server of the question's keys; waits while nobody knows any.
    async fn node(&self, question: &Question, deadline_at_ms: u64) -> Result<Rc<Node>, Failure> {
        if let Some(node) = self.inner.node_of(question) {
            return Ok(node);
        }
        if *self.inner.nodes.borrow().topology != Topology::Unknown || self.inner.followed.is_lost() {
            self.inner.followed.refresh();
            return Err(Failure::Down);
        }
        let mut topologies = self.inner.followed.subscribe();
        let mut timer = Timer::default();
        timer.set(deadline_at_ms);
        tokio::select! {
            _ = topologies.wait_for(|topology| **topology != Topology::Unknown) => {}
            () = std::future::poll_fn(|cx| timer.poll_due(cx)) => {}
        }
        self.inner.node_of(question).ok_or(Failure::Down)
    }
}

/// What to do after a refusal.
enum Next {
    Again,
    There(Rc<Node>, bool),
    Later,
}

impl Inner {
    /// The server that has the keys, by what is known now: one that is no master any more may take what is lost then.
    fn node_of(&self, question: &Question) -> Option<Rc<Node>> {
        if self.topologies.borrow().has_changed().unwrap_or(false) {
            self.update();
        }
        let nodes = self.nodes.borrow();
        let place = match &*nodes.topology {
            Topology::Unknown => return None,
            Topology::One(_) => 0,
            Topology::Cluster(slots) => slots.master(question.slot())?,
        };
        nodes.list.get(place).cloned()
    }

    fn after(&self, refusal: Refusal, node: &Node) -> Result<Next, Failure> {
        let (address, is_asking) = match refusal {
            Refusal::Failure(failure) => return Err(failure),
            Refusal::NoScript => return Ok(Next::Again),
            Refusal::TryAgain => return Ok(Next::Later),
            Refusal::Error(code) => {
                node.refused(&self.followed, Problem::Refused(code));
                return Err(Failure::Refused);
            }
            Refusal::NotMaster => {
                // Elsewhere the topology is wrong, and is looked at.
                if matches!(self.followed.server().place, Place::One(_)) {
                    node.refused(&self.followed, Problem::NotMaster);
                }
                self.followed.refresh();
                return Err(Failure::Refused);
            }
            Refusal::Moved(address) => (address, false),
            Refusal::Ask(address) => (address, true),
        };
        if !self.followed.is_cluster() {
            node.refused(&self.followed, Problem::Cluster);
            return Err(Failure::Refused);
        }
        if !is_asking {
            self.followed.refresh();
        }
        let target = Target::read(&address, node.target()).ok_or(Failure::Refused)?;
        Ok(Next::There(self.node_at(target).ok_or(Failure::Busy)?, is_asking))
    }

    /// The connection to this server; a new one where there is none.
    fn node_at(&self, target: Target) -> Option<Rc<Node>> {
        let nodes = &mut *self.nodes.borrow_mut();
        if let Some(node) = nodes.list.iter().find(|node| *node.target() == target) {
            return Some(Rc::clone(node));
        }
        if nodes.list.len() >= NODES_MAX {
            return None;
        }
        let node = Node::start(&self.followed, target, self.script);
        nodes.list.push(Rc::clone(&node));
        Some(node)
    }

    /// Has a connection to each server of the topology and to no other.
    fn update(&self) {
        let topology = Arc::clone(&self.topologies.borrow_mut().borrow_and_update());
        let targets: &[Target] = match &*topology {
            Topology::Unknown => &[],
            Topology::One(target) => std::slice::from_ref(target),
            Topology::Cluster(slots) => slots.masters(),
        };
        let nodes = &mut *self.nodes.borrow_mut();
        let list = targets.iter().take(NODES_MAX).map(|target| {
            let held = nodes.list.iter().find(|node| node.target() == target);
            held.cloned().unwrap_or_else(|| Node::start(&self.followed, target.clone(), self.script))
        });
        let list = list.collect();
        // Those that are left over end here, and their calls with them.
        *nodes = Nodes { topology, list };
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(task) = self.task.get_mut() {
            task.abort();
        }
    }
}

/// Follows the topology for as long as somebody holds the client, whether or not anything is asked.
async fn keep_up(inner: Weak<Inner>, mut topologies: watch::Receiver<Arc<Topology>>) {
    while topologies.changed().await.is_ok() {
        let Some(inner) = inner.upgrade() else { return };
        inner.update();
    }
}
