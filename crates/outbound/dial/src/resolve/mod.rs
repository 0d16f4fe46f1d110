//! Names become addresses. The lookups run on a control thread of their own, which publishes what it found; a core reads
//! the published snapshot and waits only where there is none.

mod lookup;
mod thread;

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use leat_message::Reason;
use tokio::sync::{mpsc, watch};

use crate::within::within;

/// Names whose lookup is asked for and not yet taken up by the control thread; beyond it a lookup fails at once.
const QUEUE_MAX: usize = 4_096;

/// How names are resolved. All times in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolverSettings {
    /// Name servers to ask, over UDP and then TCP. Empty: those of `/etc/resolv.conf`, read again when it changes.
    pub nameservers: Vec<SocketAddr>,
    /// Shortest time an answer is used, also where its TTL is less. 1 s, so that a TTL of 0 is no flood of queries.
    pub ttl_min_ms: u64,
    /// Longest time an answer is used, also where its TTL is more. 1 h.
    pub ttl_max_ms: u64,
    /// How long an entry of `/etc/hosts` is used before the file is read again. 5 s.
    pub hosts_time_ms: u64,
    /// An answer that ended no longer ago than this is still used at once, while it is renewed in the background. 10 s.
    pub renew_time_ms: u64,
    /// After that the renewal is waited for, but no longer than this before the old answer is used. 1,800 ms is the client
    /// response timer of RFC 8767 section 5.
    pub answer_time_ms: u64,
    /// How long the old answer is used while it cannot be renewed. 1 h; RFC 8767 would allow days, but an address that
    /// was given to somebody else should not get our requests for so long.
    pub stale_time_ms: u64,
    /// After a failed lookup the next one is not before this. 1 s.
    pub retry_time_ms: u64,
    /// Longest wait for one answer of a name server. 2 s, twice.
    pub query_time_ms: u64,
    /// Addresses of one name that are used. 32.
    pub addresses_max: usize,
}

impl Default for ResolverSettings {
    fn default() -> Self {
        Self {
            nameservers: Vec::new(),
            ttl_min_ms: 1_000,
            ttl_max_ms: 3_600_000,
            hosts_time_ms: 5_000,
            renew_time_ms: 10_000,
            answer_time_ms: 1_800,
            stale_time_ms: 3_600_000,
            retry_time_ms: 1_000,
            query_time_ms: 2_000,
            addresses_max: 32,
        }
    }
}

/// A handle to the control thread that resolves names; one per process, cloned to each core. The thread starts with the
/// first name and ends with the last handle.
#[derive(Clone)]
pub struct Resolver {
    shared: Arc<Shared>,
}

struct Shared {
    settings: ResolverSettings,
    /// Every name that an endpoint uses. Read and written where endpoints appear, never a request.
    names: ArcSwap<HashMap<Arc<str>, Weak<Name>>>,
    thread: OnceLock<Option<mpsc::Sender<Arc<Name>>>>,
}

/// A name and what is known about it; kept alive by the endpoints that use it.
pub(crate) struct Name {
    text: Arc<str>,
    known: watch::Sender<Known>,
    /// Whether a lookup was asked for and is not done.
    asked: AtomicBool,
}

/// The published result of the lookups of one name.
#[derive(Clone, Default)]
struct Known {
    addresses: Option<Arc<Addresses>>,
    failed: Option<Instant>,
}

/// Addresses of a name: a snapshot, never empty.
#[derive(Debug)]
pub(crate) struct Addresses {
    pub(crate) list: Box<[IpAddr]>,
    pub(crate) until: Instant,
    /// Moves on whenever the set of addresses is another one.
    pub(crate) generation: u64,
}

impl Resolver {
    /// A resolver; starts nothing yet.
    pub fn new(settings: ResolverSettings) -> Self {
        Self { shared: Arc::new(Shared { settings, names: ArcSwap::default(), thread: OnceLock::new() }) }
    }

    /// The state of a name, shared by all cores.
    pub(crate) fn name(&self, text: &Arc<str>) -> Arc<Name> {
        if let Some(name) = self.shared.names.load().get(text).and_then(Weak::upgrade) {
            return name;
        }
        let fresh = Arc::new(Name {
            text: Arc::clone(text),
            known: watch::Sender::new(Known::default()),
            asked: AtomicBool::new(false),
        });
        let mut found = Arc::clone(&fresh);
        self.shared.names.rcu(|names| {
            // Another core may have been faster.
            found = names.get(text).and_then(Weak::upgrade).unwrap_or_else(|| Arc::clone(&fresh));
            let mut names: HashMap<_, _> = names
                .iter()
                .filter(|(_, name)| name.strong_count() > 0)
                .map(|(text, name)| (Arc::clone(text), Weak::clone(name)))
                .collect();
            names.insert(Arc::clone(text), Arc::downgrade(&found));
            names
        });
        found
    }

    /// The addresses of a name: at once where they are known, else when the lookup is done.
    ///
    /// # Errors
    /// `UpstreamResolve` where there is neither an answer nor an old one.
    pub(crate) async fn addresses(&self, name: &Arc<Name>) -> Result<Arc<Addresses>, Reason> {
        let settings = &self.shared.settings;
        let known = name.known.borrow().clone();
        let now = Instant::now();
        let Some(old) = known.addresses else {
            if recently(known.failed, settings.retry_time_ms, now) {
                return Err(Reason::UpstreamResolve);
            }
            return self.renewed(name).await;
        };
        if now < old.until {
            return Ok(old);
        }
        let age = now - old.until;
        if age <= ms(settings.renew_time_ms) || recently(known.failed, settings.retry_time_ms, now) {
            self.renew(name);
            return usable(old, age, settings);
        }
        match within(settings.answer_time_ms, self.renewed(name)).await {
            Some(Ok(addresses)) => Ok(addresses),
            Some(Err(_)) | None => usable(old, age, settings),
        }
    }

    /// The last known addresses, if any; asks in the background for newer ones where these are over.
    pub(crate) fn current(&self, name: &Arc<Name>) -> Option<Arc<Addresses>> {
        let known = name.known.borrow().clone();
        let addresses = known.addresses?;
        if Instant::now() >= addresses.until {
            self.renew(name);
        }
        Some(addresses)
    }

    /// Asks for a lookup, unless one is under way or failed a moment ago. Says whether one is under way.
    fn renew(&self, name: &Arc<Name>) -> bool {
        let failed = name.known.borrow().failed;
        if recently(failed, self.shared.settings.retry_time_ms, Instant::now()) {
            return false;
        }
        if name.asked.swap(true, Ordering::AcqRel) {
            return true;
        }
        let thread = self.shared.thread.get_or_init(|| thread::start(self.shared.settings.clone()));
        let sent = thread.as_ref().is_some_and(|queue| queue.try_send(Arc::clone(name)).is_ok());
        if !sent {
            name.asked.store(false, Ordering::Release);
        }
        sent
    }

    async fn renewed(&self, name: &Arc<Name>) -> Result<Arc<Addresses>, Reason> {
        let mut known = name.known.subscribe();
        if !self.renew(name) {
            return Err(Reason::UpstreamResolve);
        }
        // The sender is in `name`, so this ends only by a change.
        let _ = known.changed().await;
        let known = known.borrow();
        match &known.addresses {
            Some(addresses) if known.failed.is_none() => Ok(Arc::clone(addresses)),
            _ => Err(Reason::UpstreamResolve),
        }
    }
}

impl Name {
    /// Publishes what a lookup found.
    fn publish(&self, found: Option<Found>) {
        self.asked.store(false, Ordering::Release);
        self.known.send_modify(|known| match found {
            Some(found) => {
                let before = known.addresses.as_ref();
                let same = before.is_some_and(|before| before.list == found.list);
                let generation = before.map_or(1, |before| before.generation + u64::from(!same));
                known.addresses = Some(Arc::new(Addresses { list: found.list, until: found.until, generation }));
                known.failed = None;
            }
            None => known.failed = Some(Instant::now()),
        });
    }
}

/// What a lookup found.
struct Found {
    /// Sorted, without doubles, so that sets can be compared.
    list: Box<[IpAddr]>,
    until: Instant,
}

fn usable(old: Arc<Addresses>, age: Duration, settings: &ResolverSettings) -> Result<Arc<Addresses>, Reason> {
    if age <= ms(settings.stale_time_ms) { Ok(old) } else { Err(Reason::UpstreamResolve) }
}

fn recently(moment: Option<Instant>, within_ms: u64, now: Instant) -> bool {
    moment.is_some_and(|moment| now.saturating_duration_since(moment) < ms(within_ms))
}

fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

impl std::fmt::Debug for Resolver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Resolver").field("settings", &self.shared.settings).finish_non_exhaustive()
    }
}
