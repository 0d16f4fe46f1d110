use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::clock::now;
use super::group::{Group, Settings};
use crate::config::Policies;
use crate::mirror::MirrorCounts;

/// What a process knows of its upstreams beyond its configuration: who is aside, which breaker is open, what is left of
/// the budgets. Shared by all cores, and kept by name and identity, so that a reload changes none of it. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct States {
    /// By upstream. The gateways of the cores hold them: what no configuration uses any more goes with the last of those.
    groups: Arc<Mutex<BTreeMap<Arc<str>, Weak<Group>>>>,
    /// Copies of requests, by the upstream that they go to. As many as configurations have named since the start.
    mirrors: Arc<Mutex<BTreeMap<Arc<str>, Arc<MirrorCounts>>>>,
}

impl States {
    /// The state of an upstream with these endpoints (identity and URL); `None` where its policies need none. What is known
    /// of endpoints that stay is taken over; `drains`: they may be drained. Takes a lock; for the start of a configuration.
    pub(crate) fn group(
        &self,
        name: &str,
        policies: &Policies,
        endpoints: &[(Arc<str>, Arc<str>)],
        drains: bool,
    ) -> Option<Arc<Group>> {
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        groups.retain(|_, group| group.strong_count() > 0);
        let before = groups.get(name).and_then(Weak::upgrade);
        // Who is drained stays so, also where the configuration lets nobody drain any more.
        let drains = drains || before.as_ref().is_some_and(|before| before.has_draining());
        let settings = Settings::of(policies, drains)?;
        if let Some(group) = before.as_ref().filter(|group| group.is(&settings, endpoints)) {
            return Some(Arc::clone(group));
        }
        let group = Arc::new(Group::new(settings, endpoints, before.as_deref(), now()));
        groups.insert(name.into(), Arc::downgrade(&group));
        Some(group)
    }

    /// The counters of the copies that go to an upstream.
    pub(crate) fn mirror(&self, name: &str) -> Arc<MirrorCounts> {
        Arc::clone(self.mirrors().entry(name.into()).or_default())
    }

    /// The counters of all copies, by upstream.
    pub(super) fn mirrors(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, Arc<MirrorCounts>>> {
        self.mirrors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps new requests from an endpoint (its URL, or host and port), or lets them come again; those under way go on. Says how
    /// many endpoints of that name there are, and how many of them were otherwise before; `None` where the upstream is not known,
    /// or its endpoints can't be drained.
    pub fn set_draining(&self, upstream: &str, endpoint: &str, draining: bool) -> Option<(usize, usize)> {
        Some(self.of(upstream)?.set_draining(endpoint, draining, now()))
    }

    /// Lets everything through the breakers of an upstream again; says how many it has, `None` where it is not known.
    pub fn reset_breakers(&self, upstream: &str) -> Option<usize> {
        Some(self.of(upstream)?.reset_breakers(now()))
    }

    /// The state of the upstream with this name.
    pub(super) fn of(&self, upstream: &str) -> Option<Arc<Group>> {
        let groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        groups.get(upstream).and_then(Weak::upgrade)
    }

    /// Every upstream that has a state, by name.
    pub(super) fn all(&self) -> Vec<(Arc<str>, Arc<Group>)> {
        let groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        groups.iter().filter_map(|(name, group)| Some((Arc::clone(name), group.upgrade()?))).collect()
    }
}
