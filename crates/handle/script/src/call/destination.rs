use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use leat_dial::{Endpoint, Pools, Resolver, ResolverSettings};

/// Where a host's calls may go, as the host has told it.
#[derive(Clone, Debug)]
pub struct Given {
    /// Whose connections they are: those of one number are pooled and closed together.
    pub client: u32,
    /// What is dialled.
    pub endpoint: Endpoint,
    /// Host and port, as requests name them.
    pub authority: String,
}

/// The destinations of a lane, by their numbers. Written by the host's thread before the first call that names one, and
/// looked at by the engine's for that call alone.
#[derive(Clone, Default)]
pub(crate) struct Destinations(Arc<Mutex<HashMap<u32, Arc<Given>>>>);

impl Destinations {
    pub(crate) fn put(&self, number: u32, given: Given) {
        self.list().insert(number, Arc::new(given));
    }

    fn get(&self, number: u32) -> Option<Arc<Given>> {
        self.list().get(&number).map(Arc::clone)
    }

    fn list(&self) -> std::sync::MutexGuard<'_, HashMap<u32, Arc<Given>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A destination on the engine's thread.
pub(crate) struct Destination {
    pub(crate) pools: Rc<Pools>,
    pub(crate) endpoint: Rc<Endpoint>,
    pub(crate) authority: String,
    client: u32,
}

/// What the engine's thread knows of a lane's destinations.
pub(crate) struct Known {
    given: Destinations,
    known: HashMap<u32, Rc<Destination>>,
    pools: HashMap<u32, Rc<Pools>>,
}

impl Known {
    pub(crate) fn new(given: Destinations) -> Self {
        Self { given, known: HashMap::new(), pools: HashMap::new() }
    }

    /// The destination of this number; `None` where the host has named none so.
    pub(crate) fn get(&mut self, number: u32) -> Option<Rc<Destination>> {
        if let Some(known) = self.known.get(&number) {
            return Some(Rc::clone(known));
        }
        let given = self.given.get(number)?;
        let pools = self.pools.entry(given.client).or_insert_with(|| Pools::new(resolver()));
        let found = Rc::new(Destination {
            pools: Rc::clone(pools),
            endpoint: Rc::new(given.endpoint.clone()),
            authority: given.authority.clone(),
            client: given.client,
        });
        self.known.insert(number, Rc::clone(&found));
        Some(found)
    }

    /// A client is closed: its destinations are forgotten, and its connections close once nothing uses them.
    pub(crate) fn forget(&mut self, client: u32) {
        self.given.list().retain(|_, given| given.client != client);
        self.known.retain(|_, known| known.client != client);
        if let Some(pools) = self.pools.remove(&client) {
            pools.retire(|_| false);
        }
    }
}

/// One for the process, as its thread.
fn resolver() -> Resolver {
    static RESOLVER: OnceLock<Resolver> = OnceLock::new();
    RESOLVER.get_or_init(|| Resolver::new(ResolverSettings::default())).clone()
}
