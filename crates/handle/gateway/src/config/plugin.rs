use std::path::{Path, PathBuf};

use super::problem::Place;

/// The plug-ins of a configuration: JavaScript that sees requests and responses.
#[derive(Debug)]
pub struct Plugins {
    pub(super) list: Vec<Plugin>,
    pub(super) sets: Vec<Vec<usize>>,
    pub(super) limits: PluginLimits,
}

impl Plugins {
    /// All of them, in the order of the file.
    pub fn list(&self) -> &[Plugin] {
        &self.list
    }

    /// The lists that routes have, each once: indexes of plug-ins. [`super::Route::plugins`] is an index.
    pub fn sets(&self) -> &[Vec<usize>] {
        &self.sets
    }

    /// What they may use, on each core.
    pub fn limits(&self) -> PluginLimits {
        self.limits
    }
}

/// A plug-in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plugin {
    pub(super) name: String,
    pub(super) file: PathBuf,
    pub(super) options: Option<String>,
    pub(super) on_error: OnPluginError,
    pub(super) place: Place,
}

impl Plugin {
    /// By which routes name it; unique.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file, complete; it was there when the configuration was read.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// What the file's function gets, as JSON.
    pub fn options(&self) -> Option<&str> {
        self.options.as_deref()
    }

    /// What becomes of a request when it throws.
    pub fn on_error(&self) -> OnPluginError {
        self.on_error
    }

    /// Where the file speaks of it.
    pub fn place(&self) -> Place {
        self.place
    }
}

/// What becomes of a request when a plug-in throws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnPluginError {
    /// It is refused.
    Refuse,
    /// It goes on without the plug-in.
    Bypass,
}

/// What plug-ins may use, on each core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PluginLimits {
    pub(super) turn_time_ms: u64,
    pub(super) wait_time_ms: u64,
    pub(super) memory_bytes: u64,
    pub(super) body_bytes_max: usize,
    pub(super) long_bodies_pass: bool,
}

impl PluginLimits {
    /// How long they may run at once, in milliseconds.
    pub fn turn_time_ms(&self) -> u64 {
        self.turn_time_ms
    }

    /// How long one may wait before its request fails, in milliseconds.
    pub fn wait_time_ms(&self) -> u64 {
        self.wait_time_ms
    }

    /// The longest body that they are given, in bytes.
    pub fn body_bytes_max(&self) -> usize {
        self.body_bytes_max
    }

    /// Whether a longer one passes beside them, in place of a refusal.
    pub fn long_bodies_pass(&self) -> bool {
        self.long_bodies_pass
    }

    /// The memory of all of them.
    pub fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }
}
