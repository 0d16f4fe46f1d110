//! What the control thread does: finds out who the master is, or who has which slots, and tells the cores; says what is
//! wrong with servers, and when it is not any more.

mod asking;
mod cluster;
mod sentinel;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::{Arc, Weak};

use tokio::task::{JoinHandle, spawn_local};

use crate::followed::{Followed, Servers, Topology};
use crate::{Place, Problem, Target};

/// What became of servers, for a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// A server or sentinel can't be used, since just now or otherwise than before.
    Down {
        /// Where it listens.
        target: Target,
        /// Why not.
        problem: Problem,
    },
    /// It can be used again.
    Well {
        /// Where it listens.
        target: Target,
    },
    /// The sentinels have another master than before.
    Master {
        /// The new one.
        target: Target,
    },
    /// The masters of a cluster are others than before.
    Masters {
        /// All of them.
        targets: Vec<Target>,
    },
}

/// Follows all servers of a process, for as long as it is polled: on the control thread, inside its `LocalSet`.
pub async fn follow(servers: Arc<Servers>, told: impl Fn(News) + 'static) {
    let told: Rc<dyn Fn(News)> = Rc::new(told);
    let mut known: Vec<Weak<Followed>> = Vec::new();
    loop {
        known.retain(|held| held.strong_count() > 0);
        for followed in servers.all() {
            if !known.iter().any(|held| held.ptr_eq(&followed)) {
                known.push(Weak::clone(&followed));
                spawn_local(follow_one(followed, Rc::clone(&told)));
            }
        }
        servers.new.notified().await;
    }
}

/// Ends when no configuration has the server any more.
async fn follow_one(weak: Weak<Followed>, told: Rc<dyn Fn(News)>) {
    let Some(followed) = weak.upgrade() else { return };
    let wanted = Arc::clone(&followed.wanted);
    let mut asking = match &followed.server().place {
        Place::One(_) => None,
        Place::Sentinel { sentinels, .. } => Some(sentinel::Sentinels::start(&followed, sentinels)),
        Place::Cluster { seeds } => Some(cluster::start(&followed, seeds)),
    };
    drop(followed);
    let mut teller = Teller { told, problems: HashMap::new(), topology: Topology::Unknown };
    while let Some(followed) = weak.upgrade() {
        teller.tell(&followed);
        if let Some(asking) = &mut asking {
            asking.refresh();
        }
        drop(followed);
        wanted.notified().await;
    }
}

/// The tasks that ask one server's topology; they end with this.
struct Askers {
    tasks: Vec<JoinHandle<()>>,
    refresh: tokio::sync::watch::Sender<u64>,
}

impl Askers {
    /// Somebody wants them to look now.
    fn refresh(&mut self) {
        self.refresh.send_modify(|count| *count += 1);
    }
}

impl Drop for Askers {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// Says what has changed since it last looked.
struct Teller {
    told: Rc<dyn Fn(News)>,
    problems: HashMap<Target, Problem>,
    topology: Topology,
}

impl Teller {
    fn tell(&mut self, followed: &Followed) {
        let topology = followed.topology();
        if *topology != self.topology && !matches!(followed.server().place, Place::One(_)) {
            followed.forget_problems(|target| is_of(target, followed, &topology));
            match &*topology {
                Topology::Unknown => {}
                Topology::One(target) => (self.told)(News::Master { target: target.clone() }),
                Topology::Cluster(slots) => {
                    let masters = |topology: &Topology| match topology {
                        Topology::Cluster(slots) => slots.masters().iter().cloned().collect(),
                        Topology::Unknown | Topology::One(_) => HashSet::new(),
                    };
                    if masters(&topology) != masters(&self.topology) {
                        (self.told)(News::Masters { targets: slots.masters().to_vec() });
                    }
                }
            }
            self.topology = (*topology).clone();
        }
        let problems = followed.problems();
        for (target, problem) in &problems {
            if self.problems.get(target) != Some(problem) {
                (self.told)(News::Down { target: target.clone(), problem: problem.clone() });
            }
        }
        for target in self.problems.keys().filter(|target| !problems.contains_key(target)) {
            if is_of(target, followed, &topology) {
                (self.told)(News::Well { target: target.clone() });
            }
        }
        self.problems = problems;
    }
}

/// Whether a target is one of the topology, or one that is asked about it.
fn is_of(target: &Target, followed: &Followed, topology: &Topology) -> bool {
    let asked = match &followed.server().place {
        Place::One(one) => one == target,
        Place::Sentinel { sentinels, .. } => sentinels.contains(target),
        Place::Cluster { seeds } => seeds.contains(target),
    };
    asked
        || match topology {
            Topology::Unknown => false,
            Topology::One(one) => one == target,
            Topology::Cluster(slots) => slots.masters().contains(target),
        }
}
