use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::spawn_local;

use super::Askers;
use super::asking::Asking;
use crate::followed::{Followed, Topology};
use crate::slots::{SLOTS, SlotMap};
use crate::value::Value;
use crate::{Problem, Target};

/// How often a node is asked though nobody was sent elsewhere.
const EVERY: Duration = Duration::from_secs(5);
/// How often while a slot has no master, or no node answers.
const EVERY_WITHOUT: Duration = Duration::from_millis(500);
/// The least time between two rounds of questions.
const PAUSE: Duration = Duration::from_millis(100);
/// Nodes that are asked in one round, until one answers.
const NODES_MAX: usize = 32;

/// Starts the task that asks the cluster who has which slots.
pub(super) fn start(followed: &Arc<Followed>, seeds: &[Target]) -> Askers {
    let (refresh, wanted) = watch::channel(0);
    let tasks = vec![spawn_local(keep_asking(Arc::downgrade(followed), seeds.to_vec(), wanted))];
    Askers { tasks, refresh }
}

async fn keep_asking(weak: Weak<Followed>, seeds: Vec<Target>, mut wanted: watch::Receiver<u64>) {
    // The node that answered last.
    let mut good: Option<Asking> = None;
    let mut round = 0_usize;
    while let Some(followed) = weak.upgrade() {
        wanted.mark_unchanged();
        let mut known: Vec<Target> = Vec::new();
        if let Topology::Cluster(slots) = &*followed.topology() {
            known.extend(slots.masters().iter().cloned());
        }
        known.extend(seeds.iter().cloned());
        let count = known.len().max(1);
        known.rotate_left(round % count);
        let mut found = match good.take() {
            Some(asking) => ask(&followed, asking).await,
            None => None,
        };
        for target in known.into_iter().take(NODES_MAX) {
            if found.is_none() {
                found = ask(&followed, Asking::new(target)).await;
            }
        }
        let mut pause = EVERY_WITHOUT;
        followed.set_lost(found.is_none());
        if let Some((asking, slots)) = found {
            if (0..SLOTS).all(|slot| slots.master(slot as u16).is_some()) {
                pause = EVERY;
            }
            good = Some(asking);
            let topology = Topology::Cluster(slots);
            if *followed.topology() != topology {
                followed.publish(topology);
                // The teller has something to say.
                followed.wanted.notify_one();
            }
        }
        drop(followed);
        tokio::time::sleep(PAUSE).await;
        if tokio::time::timeout(pause, wanted.changed()).await.is_ok() {
            // Somebody was refused or sent elsewhere: another node may know better than the one that answers, which may be cut off
            // from the others.
            good = None;
            round = round.wrapping_add(1);
        }
    }
}

/// Asks one node; `None` where it has no answer of use, which is reported.
async fn ask(followed: &Followed, mut asking: Asking) -> Option<(Asking, SlotMap)> {
    let server = followed.server();
    let answer = asking.ask(server, &server.login, &[b"CLUSTER", b"SLOTS"]).await;
    let slots = answer.and_then(|value| read(&value, asking.target()).ok_or(Problem::Malformed));
    match slots {
        Ok(slots) => {
            followed.report(asking.target(), None);
            Some((asking, slots))
        }
        Err(problem) => {
            followed.report(asking.target(), Some(problem));
            None
        }
    }
}

/// Who has which slots, in an answer to `CLUSTER SLOTS`: entries of first, last, and nodes, of which the first is the
/// master; each with host and port. A host that is empty, `?` or nil is the one that was asked.
fn read(value: &Value, asked: &Target) -> Option<SlotMap> {
    let Value::List(entries) = value else { return None };
    let mut slots = SlotMap::new();
    for entry in entries {
        let [first, last, master, ..] = entry.list() else { return None };
        let (first, last): (usize, usize) = (first.number()?, last.number()?);
        let [host, port, ..] = master.list() else { return None };
        let host = if *host == Value::Nil { "" } else { host.text()? };
        if first > last || last >= SLOTS {
            return None;
        }
        slots.give(first..=last, Target::of(host, port.number()?, asked)?);
    }
    // A node that knows of no slots has not joined yet.
    (!slots.masters().is_empty()).then_some(slots)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn of(text: &str) -> Option<SlotMap> {
        let (value, _) = Value::read(text.as_bytes()).unwrap().unwrap();
        read(&value, &Target::Tcp("here".to_owned(), 1))
    }

    #[test]
    fn slots_are_read_as_nodes_say_them() {
        let master = "*3\r\n$2\r\nh1\r\n:7\r\n$2\r\nid\r\n";
        let slots = of(&format!("*2\r\n*3\r\n:0\r\n:9\r\n{master}*3\r\n:10\r\n:16383\r\n*2\r\n$-1\r\n:8\r\n")).unwrap();
        let targets = [("h1", 7), ("here", 8)].map(|(host, port)| Target::Tcp(host.to_owned(), port));
        assert_eq!(slots.masters(), targets);
        assert_eq!((slots.master(9), slots.master(10)), (Some(0), Some(1)));
        for wrong in [
            "*0\r\n".to_owned(),
            "$2\r\nOK\r\n".to_owned(),
            format!("*1\r\n*3\r\n:9\r\n:0\r\n{master}"),
            format!("*1\r\n*3\r\n:0\r\n:16384\r\n{master}"),
            format!("*1\r\n*3\r\n:-1\r\n:5\r\n{master}"),
            "*1\r\n*3\r\n:0\r\n:5\r\n*2\r\n$1\r\nh\r\n:0\r\n".to_owned(),
            "*1\r\n*2\r\n:0\r\n:5\r\n".to_owned(),
        ] {
            assert_eq!(of(&wrong), None, "{wrong:?}");
        }
    }
}
