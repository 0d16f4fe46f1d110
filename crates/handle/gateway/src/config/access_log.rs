use std::path::PathBuf;

use super::observation::Share;

/// Where access records go, and how they look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessLog {
    pub(super) target: LogTarget,
    pub(super) format: LogFormat,
    pub(super) sample: Share,
    pub(super) slow_ms: Option<u64>,
    pub(super) fields: Vec<String>,
    pub(super) redact: Vec<String>,
    pub(super) phases: bool,
}

impl AccessLog {
    /// Where to.
    pub fn target(&self) -> &LogTarget {
        &self.target
    }

    /// In which form.
    pub fn format(&self) -> LogFormat {
        self.format
    }

    /// Which share of what went well has a line.
    pub fn sample(&self) -> Share {
        self.sample
    }

    /// From which duration on a request has a line in any case, in milliseconds.
    pub fn slow_ms(&self) -> Option<u64> {
        self.slow_ms
    }

    /// Names of fields of the request that are written down, in lower case.
    pub fn fields(&self) -> &[String] {
        &self.fields
    }

    /// Names of parameters whose values are not written down, in lower case.
    pub fn redact(&self) -> &[String] {
        &self.redact
    }

    /// Whether lines say where the time went.
    pub fn phases(&self) -> bool {
        self.phases
    }
}

/// Where a log goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogTarget {
    /// Nowhere.
    Off,
    /// Standard error.
    Stderr,
    /// Standard output.
    Stdout,
    /// Appended to this file.
    File(PathBuf),
}

/// The form of a log's lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people on a terminal, JSON otherwise.
    Auto,
    /// JSON lines.
    Json,
    /// For people.
    Human,
}
