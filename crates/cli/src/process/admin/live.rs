use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::Instant;

use leat_gateway::config::Config;
use tokio::sync::{mpsc, oneshot};

use super::Readiness;
use crate::process::core::CoreAsk;
use crate::process::reload::Reloaded;

/// Reloads that wait, at most: one for each connection. What waits when one begins is answered with what that comes to.
pub(in crate::process) const ORDERS_MAX: usize = super::CONNECTIONS_MAX;

/// Asks the control thread to reload.
pub(in crate::process) type ReloadOrder = oneshot::Sender<Reloaded>;

/// What the admin address knows of the process as it is. Not the plan: that holds descriptors, which a drain gives up first.
pub(in crate::process) struct Live {
    pub(super) config_path: String,
    pub(super) started: Instant,
    pub(super) readiness: Cell<Readiness>,
    pub(super) config: RefCell<Arc<Config>>,
    /// Every address, and whether it is the admin's.
    pub(super) listening: RefCell<Vec<(String, bool)>>,
    pub(super) cores: Vec<CoreAsk>,
    pub(super) orders: mpsc::Sender<ReloadOrder>,
}

impl Live {
    pub(in crate::process) fn new(
        config_path: String,
        config: Arc<Config>,
        cores: Vec<CoreAsk>,
        orders: mpsc::Sender<ReloadOrder>,
    ) -> Self {
        Self {
            config_path,
            started: Instant::now(),
            readiness: Cell::new(Readiness::Starting),
            config: RefCell::new(config),
            listening: RefCell::default(),
            cores,
            orders,
        }
    }

    pub(in crate::process) fn turn(&self, readiness: Readiness) {
        self.readiness.set(readiness);
    }

    /// A configuration was taken over.
    pub(in crate::process) fn replace(&self, config: &Arc<Config>, listening: Vec<(String, bool)>) {
        *self.config.borrow_mut() = Arc::clone(config);
        *self.listening.borrow_mut() = listening;
    }

    pub(super) fn config(&self) -> Arc<Config> {
        Arc::clone(&self.config.borrow())
    }
}
