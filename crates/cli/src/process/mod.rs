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
mod lost_lines;
mod numbers;
mod plan;
pub(crate) mod plugins;
mod redis;
mod reload;
mod signals;
mod upgrade;
pub(crate) mod watch;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use leat_gateway::config::{Config, Problem};

use crate::event::Level;
pub(crate) use control::run;

/// Told the addresses, and what runs, once connections are accepted.
pub(crate) type OnReady = Box<dyn FnOnce(&[String], &Config)>;

/// How to run.
pub(crate) struct Settings {
    /// The configuration.
    pub(crate) config: ConfigSource,
    /// Whether its file, and what it names, is watched.
    pub(crate) watch: bool,
    /// Cores, instead of what the configuration says.
    pub(crate) workers: Option<NonZeroUsize>,
    /// The level of events, instead of what the configuration says.
    pub(crate) log_level: Option<Level>,
    /// Called once.
    pub(crate) ready: Option<OnReady>,
}

/// Where a configuration is.
#[derive(Clone, Debug)]
pub(crate) enum ConfigSource {
    /// In a file.
    File(PathBuf),
    /// In the command's own words. Relative paths start at the current directory.
    Text {
        /// How problems call it.
        name: String,
        /// The configuration.
        text: String,
    },
}

impl ConfigSource {
    /// How problems call it.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Text { name, .. } => name.clone(),
        }
    }

    /// Its file, if it is in one.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Text { .. } => None,
        }
    }
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
