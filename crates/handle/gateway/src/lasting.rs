use std::sync::Arc;

use crate::admit::Ledger;
use crate::admit::auth::AuthState;
use crate::config::{Config, Upstream};
use crate::pick::{Group, Seat, States, named};

/// What a gateway knows and has counted beyond its configuration. Shared by all cores, kept by name and identity, so that a
/// reload changes none of it. Cheap to clone.
#[derive(Clone)]
pub struct Lasting {
    /// What is known of upstreams and their endpoints.
    pub states: States,
    /// What rate limits have counted.
    pub ledger: Arc<Ledger>,
    /// Redis servers that rate limits are counted in, and who is their master.
    pub servers: Arc<leat_redis::Servers>,
    /// Keys that were fetched, and passwords that wait to be checked.
    pub auth: Arc<AuthState>,
    /// What mocks remember.
    pub mocks: Arc<leat_rpc::mock::Mocks>,
}

impl Lasting {
    /// What is known of an upstream of this configuration; `None` where nothing can happen to its endpoints.
    pub(crate) fn group(&self, config: &Config, upstream: &Upstream, seats: &[Seat]) -> Option<Arc<Group>> {
        self.states.group(upstream.name(), upstream.policies(), &named(upstream, seats), config.drains())
    }
}

impl Default for Lasting {
    fn default() -> Self {
        Self {
            states: States::default(),
            ledger: Ledger::new(),
            servers: Arc::default(),
            auth: Arc::default(),
            mocks: Arc::default(),
        }
    }
}
