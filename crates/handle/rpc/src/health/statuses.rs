use std::collections::{BTreeMap, HashMap};
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

/// How a service is. The numbers are the protocol's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Serving {
    /// Nothing is known.
    Unknown = 0,
    /// It answers.
    Serving = 1,
    /// It does not.
    NotServing = 2,
    /// There is no such service; only `Watch` says it.
    ServiceUnknown = 3,
}

/// The statuses of a server's services, seen by all cores. One lock, held for a look-up: health checks are few.
#[derive(Debug, Default)]
pub struct Statuses {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    statuses: BTreeMap<String, Serving>,
    /// Counts what was set, so that a watcher knows what it has missed.
    version: u64,
    waiting: HashMap<u64, Waker>,
    next_watch: u64,
}

impl Statuses {
    /// The whole server (the empty name) and these services, all serving.
    pub fn serving<'n>(services: impl IntoIterator<Item = &'n str>) -> Arc<Self> {
        let names = std::iter::once("").chain(services);
        let statuses = names.map(|name| (name.to_owned(), Serving::Serving)).collect();
        Arc::new(Self { kept: Mutex::new(Kept { statuses, ..Kept::default() }) })
    }

    /// The status of a service; the empty name is the server. `None` if there is no such service.
    pub fn get(&self, service: &str) -> Option<Serving> {
        self.kept().statuses.get(service).copied()
    }

    /// Sets the status of a service, which need not have been there, and wakes those who watch.
    pub fn set(&self, service: &str, status: Serving) {
        self.change(|statuses| _ = statuses.insert(service.to_owned(), status));
    }

    /// Takes a service away.
    pub fn remove(&self, service: &str) {
        self.change(|statuses| _ = statuses.remove(service));
    }

    /// Sets all that are there: what a server does that is about to end.
    pub fn set_all(&self, status: Serving) {
        self.change(|statuses| statuses.values_mut().for_each(|kept| *kept = status));
    }

    /// All of them in the order of their names.
    pub fn all(&self) -> Vec<(String, Serving)> {
        self.kept().statuses.iter().map(|(name, status)| (name.clone(), *status)).collect()
    }

    /// Sees what is set from now on.
    pub(super) fn watch(self: &Arc<Self>) -> Watch {
        let mut kept = self.kept();
        kept.next_watch += 1;
        Watch { id: kept.next_watch, seen: kept.version, statuses: Arc::clone(self) }
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<String, Serving>)) {
        let woken = {
            let mut kept = self.kept();
            change(&mut kept.statuses);
            kept.version += 1;
            std::mem::take(&mut kept.waiting)
        };
        woken.into_values().for_each(Waker::wake);
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Nothing panics while it is held; and what is kept is right at any time.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One who watches.
#[derive(Debug)]
pub(super) struct Watch {
    id: u64,
    seen: u64,
    statuses: Arc<Statuses>,
}

impl Watch {
    /// Waits until something was set since this was last asked.
    pub(super) async fn changed(&mut self) {
        poll_fn(|cx| {
            let mut kept = self.statuses.kept();
            if kept.version != self.seen {
                self.seen = kept.version;
                return Poll::Ready(());
            }
            kept.waiting.insert(self.id, cx.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.statuses.kept().waiting.remove(&self.id);
    }
}
