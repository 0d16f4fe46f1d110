//! A running gateway: one control thread, and one thread for each core.
//!
//! The control thread (the main one) reads configurations, binds sockets, answers on the admin address and hears
//! signals. It hands each core a [`plan::Plan`]; a core never reads a file and never waits for another core.

mod admin;
mod checks;
mod control;
mod core;
mod descriptors;
mod doors;
mod drain;
mod exports;
mod numbers;
mod plan;
pub(crate) mod plugins;
mod redis;
mod reload;
mod signals;
mod upgrade;
mod watch;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use leat_gateway::config::Problem;

use crate::event::Level;
pub(crate) use control::run;

/// Told the addresses once connections are accepted.
pub(crate) type OnReady = Box<dyn FnOnce(&[String])>;

/// How to run.
pub(crate) struct Settings {
    /// The configuration.
    pub(crate) config_path: PathBuf,
    /// Whether the file is watched.
    pub(crate) watch: bool,
    /// Cores, instead of what the configuration says.
    pub(crate) workers: Option<NonZeroUsize>,
    /// The level of events, instead of what the configuration says.
    pub(crate) log_level: Option<Level>,
    /// Called once.
    pub(crate) ready: Option<OnReady>,
}

/// Why the process did not start, or did not end well.
#[derive(Debug)]
pub(crate) enum StartError {
    /// The configuration is bad; what is wrong was printed.
    Config(Vec<Problem>),
    /// Something else, in words for a person.
    Failed(String),
}

impl StartError {
    fn failed(error: impl std::fmt::Display) -> Self {
        Self::Failed(error.to_string())
    }
}
