use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{Notify, watch};

use crate::slots::SlotMap;
use crate::{Place, Problem, Server, Target};

/// Targets whose problems are kept: more than a gateway's cores meet at once.
const PROBLEMS_MAX: usize = 1_024;

/// Servers of a process, and what is known of them: shared by all cores and by one configuration after another. The
/// control thread's [`crate::follow`] keeps it true.
#[derive(Debug, Default)]
pub struct Servers {
    /// Few: each is looked at.
    followed: Mutex<Vec<Weak<Followed>>>,
    pub(crate) new: Notify,
}

impl Servers {
    /// These servers; the same for as long as any configuration in use has them.
    pub fn followed(&self, server: &Server) -> Arc<Followed> {
        // A panic elsewhere can't leave the list half-written.
        let mut followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        followed.retain(|one| one.strong_count() > 0);
        if let Some(one) = followed.iter().filter_map(Weak::upgrade).find(|one| one.server == *server) {
            return one;
        }
        let one = Arc::new(Followed::new(server.clone()));
        followed.push(Arc::downgrade(&one));
        self.new.notify_one();
        one
    }

    /// Those in use.
    pub(crate) fn all(&self) -> Vec<Weak<Followed>> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What all cores know of a server, sentinels' master or cluster.
#[derive(Debug)]
pub struct Followed {
    server: Server,
    topology: watch::Sender<Arc<Topology>>,
    /// Whether everybody who could know the topology was asked, and nobody did.
    is_lost: AtomicBool,
    /// By target: what is wrong with it, as the last connection saw it.
    problems: Mutex<HashMap<Target, Problem>>,
    /// Wakes the control thread: the topology should be looked at, or problems are others, or nobody is left.
    pub(crate) wanted: Arc<Notify>,
}

/// Who has which keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Topology {
    /// Nobody knows yet.
    Unknown,
    /// One server has all of them.
    One(Target),
    Cluster(SlotMap),
}

impl Followed {
    fn new(server: Server) -> Self {
        let topology = match &server.place {
            Place::One(target) => Topology::One(target.clone()),
            Place::Sentinel { .. } | Place::Cluster { .. } => Topology::Unknown,
        };
        let topology = watch::Sender::new(Arc::new(topology));
        let (is_lost, problems) = (AtomicBool::new(false), Mutex::default());
        Self { server, topology, is_lost, problems, wanted: Arc::default() }
    }

    /// What it is made from.
    pub fn server(&self) -> &Server {
        &self.server
    }

    pub(crate) fn is_cluster(&self) -> bool {
        matches!(self.server.place, Place::Cluster { .. })
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<Arc<Topology>> {
        self.topology.subscribe()
    }

    pub(crate) fn topology(&self) -> Arc<Topology> {
        Arc::clone(&self.topology.borrow())
    }

    /// Tells the cores of a topology, if it is another one.
    pub(crate) fn publish(&self, topology: Topology) {
        self.topology.send_if_modified(|known| {
            let is_other = **known != topology;
            if is_other {
                *known = Arc::new(topology);
            }
            is_other
        });
    }

    /// Whether there is no use in waiting for a first topology.
    pub(crate) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }

    /// Everybody who could know the topology was asked, and nobody did; or somebody did after all.
    pub(crate) fn set_lost(&self, is_lost: bool) {
        self.is_lost.store(is_lost, Ordering::Relaxed);
    }

    /// Something is not where it was thought to be.
    pub(crate) fn refresh(&self) {
        self.wanted.notify_one();
    }

    /// What became of connecting to a target.
    pub(crate) fn report(&self, target: &Target, problem: Option<Problem>) {
        let mut problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        let is_news = match problem {
            Some(problem) if problems.len() < PROBLEMS_MAX || problems.contains_key(target) => {
                problems.insert(target.clone(), problem.clone()).as_ref() != Some(&problem)
            }
            Some(_) => false,
            None => problems.remove(target).is_some(),
        };
        drop(problems);
        if is_news {
            self.wanted.notify_one();
        }
    }

    pub(crate) fn problems(&self) -> HashMap<Target, Problem> {
        self.problems.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Forgets the problems of targets that are of no interest any more.
    pub(crate) fn forget_problems(&self, is_of_interest: impl Fn(&Target) -> bool) {
        let mut problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        problems.retain(|target, _| is_of_interest(target));
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        self.wanted.notify_one();
    }
}
