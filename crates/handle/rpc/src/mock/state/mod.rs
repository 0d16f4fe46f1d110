//! What a mock remembers between calls: how often rules answered, and where scenarios stand. Several cores share it. Pure:
//! no clock, and what is random follows from a seed and from counts.
//!
//! Rules that need none of it never touch it: no lock, no allocation.

mod claim;
mod draws;
mod names;
mod session;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use claim::{Blocked, Claim, Step};
pub use draws::Draws;
pub use names::{RuleId, ScenarioId};
pub use session::{INITIAL_STATE, Session, SessionView};

use names::Names;

/// Sessions that are kept where nothing else is said. A session that has used a hundred rules takes some 5 KB.
pub const SESSIONS_MAX_DEFAULT: usize = 1024;
/// Longest key of a session, in bytes. What is longer is told apart by its start and its hash.
pub const SESSION_KEY_BYTES_MAX: usize = 256;

/// How a [`State`] is set up.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Sessions that are kept, besides the one without a key; at least 1. The one that was used longest ago makes room.
    pub sessions_max: usize,
    /// Where all that is random starts from.
    pub seed: u64,
}

/// The memory of a mock. It outlives a reload: rules and scenarios are known by their names.
#[derive(Debug)]
pub struct State {
    settings: Settings,
    names: Mutex<Names>,
    /// The session of calls without a key.
    plain: Arc<Session>,
    keyed: Mutex<HashMap<Box<[u8]>, Arc<Session>>>,
    /// Counts the uses of keyed sessions, which tells which was used longest ago.
    uses: AtomicU64,
    evicted: AtomicU64,
}

impl State {
    /// Nothing remembered.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            settings: Settings { sessions_max: settings.sessions_max.max(1), ..settings },
            names: Mutex::default(),
            plain: Arc::new(Session::new(b"")),
            keyed: Mutex::default(),
            uses: AtomicU64::new(0),
            evicted: AtomicU64::new(0),
        }
    }

    /// The rule of this name: the same for the same name, so that a rule keeps its counts over a reload. For load time.
    pub fn rule(&self, name: &str) -> RuleId {
        lock(&self.names).rule(name)
    }

    /// The scenario of this name. For load time.
    pub fn scenario(&self, name: &str) -> ScenarioId {
        lock(&self.names).scenario(name)
    }

    /// The session with this key, made if it is not there; without a key, or with an empty one, the session that all such
    /// calls share. That one costs no look-up; a new one allocates.
    pub fn session(&self, key: Option<&[u8]>) -> Arc<Session> {
        let Some(key) = key.filter(|key| !key.is_empty()) else { return Arc::clone(&self.plain) };
        let key = &*bounded(key);
        let now = self.uses.fetch_add(1, Ordering::Relaxed);
        let mut keyed = lock(&self.keyed);
        if let Some(session) = keyed.get(key) {
            session.used(now);
            return Arc::clone(session);
        }
        if keyed.len() >= self.settings.sessions_max {
            self.evict(&mut keyed);
        }
        let session = Arc::new(Session::new(key));
        session.used(now);
        keyed.insert(key.into(), Arc::clone(&session));
        session
    }

    /// Makes room for an eighth of all sessions, so that the search is paid once for many.
    fn evict(&self, keyed: &mut HashMap<Box<[u8]>, Arc<Session>>) {
        let count = (keyed.len() / 8).max(1).min(keyed.len());
        let mut times: Vec<u64> = keyed.values().map(|session| session.last_use()).collect();
        let (_, &mut newest, _) = times.select_nth_unstable(count - 1);
        let before = keyed.len();
        keyed.retain(|_, session| session.last_use() > newest);
        self.evicted.fetch_add((before - keyed.len()) as u64, Ordering::Relaxed);
    }

    /// Where what is random in this call of this rule starts from: the same for the same seed, session, rule and call number,
    /// whatever other calls do at the same time.
    #[must_use]
    pub fn draws(&self, session: &Session, rule: RuleId, call: u64) -> Draws {
        Draws::new(self.settings.seed, &[session.hash(), rule.hash(), call])
    }

    /// Forgets all counts, scenarios and sessions.
    pub fn reset(&self) {
        lock(&self.keyed).clear();
        self.plain.reset();
    }

    /// Forgets what belongs to one session; without a key, what belongs to calls without a key. Whether there was such a
    /// session.
    pub fn reset_session(&self, key: Option<&[u8]>) -> bool {
        match key.filter(|key| !key.is_empty()) {
            None => {
                self.plain.reset();
                true
            }
            Some(key) => lock(&self.keyed).remove(&*bounded(key)).inspect(|session| session.reset()).is_some(),
        }
    }

    /// Sets one scenario of one session.
    pub fn set_scenario(&self, key: Option<&[u8]>, scenario: &str, state: &str) {
        let id = self.scenario(scenario);
        self.session(key).set_scenario(id, state.into());
    }

    /// Forgets the rules that are no more, with their counts. For after a reload.
    pub fn retain_rules(&self, keep: impl Fn(&str) -> bool) {
        let gone = lock(&self.names).remove_rules(keep);
        if !gone.is_empty() {
            self.plain.forget(&gone);
            lock(&self.keyed).values().for_each(|session| session.forget(&gone));
        }
    }

    /// Sessions with a key that are kept now.
    pub fn session_count(&self) -> usize {
        lock(&self.keyed).len()
    }

    /// Sessions that had to make room so far.
    pub fn evicted(&self) -> u64 {
        self.evicted.load(Ordering::Relaxed)
    }

    /// All sessions for people, the one without a key first, then by key.
    pub fn view(&self) -> Vec<SessionView> {
        let mut sessions: Vec<Arc<Session>> = lock(&self.keyed).values().map(Arc::clone).collect();
        sessions.sort_by(|one, two| one.key().cmp(two.key()));
        let names = lock(&self.names);
        std::iter::once(&self.plain).chain(&sessions).map(|session| session.view(&names)).collect()
    }
}

/// The key itself, or its start and hash where it is too long to be kept.
fn bounded(key: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    match key.get(..SESSION_KEY_BYTES_MAX) {
        None => key.into(),
        Some(_) if key.len() == SESSION_KEY_BYTES_MAX => key.into(),
        Some(start) => [start, b"#", &draws::hash(key).to_be_bytes()].concat().into(),
    }
}

/// A panic while a lock was held leaves counts that are right or one off, which is no reason to stop.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
