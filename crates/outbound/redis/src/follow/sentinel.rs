use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::task::spawn_local;

use super::Askers;
use super::asking::Asking;
use crate::followed::{Followed, Topology};
use crate::value::Value;
use crate::{Place, Problem, Target};

/// How often each sentinel is asked, though it would say by itself when the master is another one.
const EVERY: Duration = Duration::from_secs(1);
/// The least time between two questions to one sentinel, and before it is connected to again.
const PAUSE: Duration = Duration::from_millis(100);
/// How long an answer is worth something: a sentinel that is gone has no say.
const FRESH: Duration = Duration::from_secs(5);

/// What the sentinels of one master said last.
pub(super) struct Sentinels {
    followed: Weak<Followed>,
    said: RefCell<Vec<Option<Said>>>,
}

#[derive(Clone)]
struct Said {
    /// Grows with each failover: who knows of a later one is right.
    epoch: u64,
    master: Result<Target, Problem>,
    at: Instant,
}

impl Sentinels {
    pub(super) fn start(followed: &Arc<Followed>, sentinels: &[Target]) -> Askers {
        let (refresh, wanted) = watch::channel(0);
        let all = Rc::new(Self { followed: Arc::downgrade(followed), said: RefCell::new(vec![None; sentinels.len()]) });
        let mut tasks = Vec::new();
        for (place, target) in sentinels.iter().enumerate() {
            let (said, heard) = (Rc::clone(&all), refresh.clone());
            tasks.push(spawn_local(said.ask(place, target.clone(), wanted.clone())));
            tasks.push(spawn_local(hear(Arc::downgrade(followed), target.clone(), heard)));
        }
        Askers { tasks, refresh }
    }

    /// Asks one sentinel for as long as somebody wants to know.
    async fn ask(self: Rc<Self>, place: usize, target: Target, mut wanted: watch::Receiver<u64>) {
        let mut asking = Asking::new(target);
        while let Some(followed) = self.followed.upgrade() {
            let server = followed.server();
            let Place::Sentinel { master, .. } = &server.place else { return };
            wanted.mark_unchanged();
            let answer = asking.ask(server, &server.sentinel_login, &[b"SENTINEL", b"MASTER", master.as_bytes()]).await;
            let answer = match answer {
                Ok(value) => read(&value, asking.target()).ok_or(Problem::Malformed),
                // `-ERR No such master with that name`: it is well, and knows nothing.
                Err(Problem::Refused(code)) if code == "ERR" => Ok((0, Err(Problem::UnknownMaster))),
                Err(problem) => Err(problem),
            };
            let problem = match &answer {
                Ok((_, master)) => master.clone().err(),
                Err(problem) => Some(problem.clone()),
            };
            followed.report(asking.target(), problem);
            self.heard(&followed, place, answer);
            drop(followed);
            tokio::time::sleep(PAUSE).await;
            let _ = tokio::time::timeout(EVERY - PAUSE, wanted.changed()).await;
        }
    }

    /// Publishes the master of the latest failover that a sentinel knows of.
    fn heard(&self, followed: &Followed, place: usize, answer: Result<(u64, Result<Target, Problem>), Problem>) {
        let all = &mut *self.said.borrow_mut();
        let at = Instant::now();
        if let Some(said) = all.get_mut(place) {
            *said = match answer {
                Ok((epoch, master)) => Some(Said { epoch, master, at }),
                // What it said before is worth something for a while.
                Err(_) => said.take().or(Some(Said { epoch: 0, master: Err(Problem::Late), at })),
            };
        }
        let fresh = all.iter().flatten().filter(|said| at.duration_since(said.at) < FRESH);
        let known = fresh.filter_map(|said| Some((said.epoch, said.master.as_ref().ok()?)));
        match known.max_by_key(|(epoch, _)| *epoch) {
            Some((_, master)) => {
                followed.set_lost(false);
                let topology = Topology::One(master.clone());
                if *followed.topology() != topology {
                    followed.publish(topology);
                    // The teller has something to say.
                    followed.refresh();
                }
            }
            // The last master that was known is as good as any; without one, requests need not wait.
            None => followed.set_lost(all.iter().all(Option::is_some)),
        }
    }
}

/// Hears from one sentinel when a master is another one, and has all sentinels asked then.
async fn hear(followed: Weak<Followed>, target: Target, refresh: watch::Sender<u64>) {
    let asking = Asking::new(target);
    while let Some(held) = followed.upgrade() {
        let server = held.server().clone();
        drop(held);
        let ask = |_: &Value| refresh.send_modify(|count| *count += 1);
        // Why it ended is what the one who asks will report.
        let _ = asking.hear(&server, &server.sentinel_login, b"+switch-master", ask).await;
        tokio::time::sleep(EVERY).await;
    }
}

/// The epoch and the master in an answer to `SENTINEL MASTER`.
fn read(value: &Value, sentinel: &Target) -> Option<(u64, Result<Target, Problem>)> {
    let master = Target::of(value.field("ip")?, value.field("port")?.parse().ok()?, sentinel)?;
    Some((value.field("config-epoch")?.parse().ok()?, Ok(master)))
}
