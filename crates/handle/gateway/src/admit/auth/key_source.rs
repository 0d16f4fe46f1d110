use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::{ArcSwap, Guard};
use tokio::sync::{Notify, watch};

use super::jwt::KeySet;
use crate::config::JwksUrl;

/// How long a request waits for keys: a fetch takes no longer.
pub(super) const WAIT_MAX: Duration = Duration::from_secs(5);
/// How long keys stay in use that cannot be fetched again.
pub(super) const STALE_MAX: Duration = Duration::from_secs(24 * 3_600);

/// The keys behind a URL, for all cores: the control thread fetches, cores look.
#[derive(Debug)]
pub(super) struct KeySource {
    settings: JwksUrl,
    current: ArcSwap<Current>,
    /// Whether a fetch is under way, or will be at once.
    fetching: AtomicBool,
    /// Ends of fetches, and when the last one was.
    rounds: watch::Sender<u64>,
    last_end: Mutex<Option<Instant>>,
    wanted: Arc<Notify>,
}

/// The keys at one time.
#[derive(Debug, Default)]
pub(super) struct Current {
    pub(super) keys: KeySet,
    /// Grows when the keys are others; 0 before there are any.
    pub(super) epoch: u64,
}

/// Whether a wait led to a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    /// A fetch has ended meanwhile, or the time was over.
    Asked,
    /// The last one was too short ago for another.
    TooSoon,
}

impl KeySource {
    pub(super) fn new(settings: JwksUrl) -> Self {
        Self {
            settings,
            current: ArcSwap::default(),
            // The first fetch starts by itself.
            fetching: AtomicBool::new(true),
            rounds: watch::Sender::new(0),
            last_end: Mutex::new(None),
            wanted: Arc::default(),
        }
    }

    pub(super) fn settings(&self) -> &JwksUrl {
        &self.settings
    }

    /// The keys of this moment. No lock.
    pub(super) fn current(&self) -> Guard<Arc<Current>> {
        self.current.load()
    }

    /// Asks for a fetch, if one may be, and waits for its end.
    pub(super) async fn wait(&self) -> Patience {
        let mut rounds = self.rounds.subscribe();
        if !self.fetching.load(Ordering::Acquire) {
            if self.since_last().is_some_and(|since| since < Duration::from_millis(self.settings.pause_ms())) {
                return Patience::TooSoon;
            }
            self.fetching.store(true, Ordering::Release);
            self.wanted.notify_one();
        }
        let _ = tokio::time::timeout(WAIT_MAX, rounds.changed()).await;
        Patience::Asked
    }

    /// What wakes the fetcher.
    pub(super) fn wanted(&self) -> Arc<Notify> {
        Arc::clone(&self.wanted)
    }

    /// Told by the fetcher before it starts.
    pub(super) fn starts(&self) {
        self.fetching.store(true, Ordering::Release);
    }

    /// Told by the fetcher at the end of a fetch; says whether the keys are others now.
    pub(super) fn ended(&self, keys: Option<KeySet>) -> bool {
        let current = self.current();
        let changed = keys.filter(|keys| current.epoch == 0 || !keys.is_same(&current.keys));
        let has_changed = changed.is_some();
        if let Some(keys) = changed {
            self.current.store(Arc::new(Current { keys, epoch: current.epoch + 1 }));
        }
        *self.last_end.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        self.fetching.store(false, Ordering::Release);
        self.rounds.send_modify(|rounds| *rounds += 1);
        has_changed
    }

    /// Gives up keys that are too old to be believed.
    pub(super) fn forget(&self) {
        let epoch = self.current().epoch;
        if epoch > 0 && !self.current().keys.is_empty() {
            self.current.store(Arc::new(Current { keys: KeySet::default(), epoch: epoch + 1 }));
        }
    }

    fn since_last(&self) -> Option<Duration> {
        self.last_end.lock().unwrap_or_else(PoisonError::into_inner).map(|end| end.elapsed())
    }
}
