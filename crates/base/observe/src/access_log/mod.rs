//! The access log: one line for each exchange, written by a thread of its own.
//!
//! A core copies what the line needs into a ring that it shares with the writer ([`Sink::append`]): one copy, no lock,
//! no allocation, no formatting. Secrets in queries are taken out by the writer. Where the writer does not keep up, records are dropped and counted, never waited for;
//! the log itself says how many.

mod human;
mod json;
mod output;
mod pen;
mod record;
mod redact;
mod ring;
mod sampling;
mod sink;
mod tail;
mod text;
mod time;
mod words;
mod writer;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::Shared;

pub use record::Entry;
pub use sampling::Sampling;
pub use sink::Sink;
pub use tail::{FIELDS_MAX, PhaseTimes};

/// Room for records on their way from one core to the writer, in bytes: some 2,000 records of a usual size, 20 ms at
/// 100,000 requests a second. The writer is woken when a quarter is taken.
pub const RING_BYTES: usize = 512 * 1024;
/// Cores (in the end: threads) that may be writing at once; a sink above it drops all.
pub const SINKS_MAX: usize = 1_024;

/// How the log is written.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where to.
    pub target: Target,
    /// In which form.
    pub format: Format,
    /// Whether lines carry the User-Agent, cut at 256 bytes.
    pub user_agent: bool,
    /// Fields of the request that lines carry besides, in lower case: [`FIELDS_MAX`] at most, each cut at 256 bytes.
    pub fields: Vec<Box<str>>,
    /// Parameters of queries whose values are not written, in lower case.
    pub redact: Vec<Box<str>>,
    /// Which exchanges have a line.
    pub sampling: Sampling,
}

impl Settings {
    /// Every exchange has a line, with its User-Agent and nothing else that is not always there.
    pub fn new(target: Target, format: Format) -> Self {
        let (fields, redact) = (Vec::new(), Vec::new());
        Self { target, format, user_agent: true, fields, redact, sampling: Sampling::default() }
    }
}

/// Where the log goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Standard error.
    Stderr,
    /// Standard output.
    Stdout,
    /// A file that is appended to, and made if it is missing.
    File(PathBuf),
}

/// The form of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// One JSON object.
    #[default]
    Json,
    /// For a person at a terminal.
    Human,
}

impl Format {
    /// The form where the configuration names none: for people on a terminal, JSON otherwise.
    pub fn for_target(target: &Target) -> Self {
        use std::io::IsTerminal;
        let terminal = match target {
            Target::Stderr => io::stderr().is_terminal(),
            Target::Stdout => io::stdout().is_terminal(),
            Target::File(_) => false,
        };
        if terminal { Self::Human } else { Self::Json }
    }
}

/// What a core copies, and of which exchanges.
#[derive(Clone, Debug)]
struct Wanted {
    user_agent: bool,
    fields: Arc<[Box<str>]>,
    sampling: Sampling,
}

/// How the writer writes it.
#[derive(Debug)]
struct Look {
    format: Format,
    fields: Arc<[Box<str>]>,
    redact: Box<[Box<str>]>,
    clock: time::Clock,
    /// For a text that has to be put together before it is looked at.
    scratch: Vec<u8>,
}

impl Look {
    /// No line is longer, in bytes: keys, numbers and our own words take less than the last part of the sum, and a value that is taken
    /// out leaves less than its parameter could have become.
    fn line_bytes_max(&self) -> usize {
        let names: usize = self.fields.iter().map(|name| name.len() + 8).sum();
        text::GROWTH_MAX * (record::TEXTS_BYTES_MAX + tail::FIELDS_BYTES_MAX) + names + 2_048
    }
}

/// What became of access records. Shared by every log that a process opens.
#[derive(Debug, Default)]
pub struct Tally {
    /// Records that were written.
    pub records: Shared,
    /// Records that were dropped, since the ring was full.
    pub dropped: Shared,
    /// Writes and openings of the file that failed; their lines are lost.
    pub write_errors: Shared,
    /// The system's number of the last of these errors.
    last_error: Shared,
}

impl Tally {
    fn failed(&self, error: &io::Error) {
        self.last_error.set(error.raw_os_error().and_then(|number| u64::try_from(number).ok()).unwrap_or_default());
        self.write_errors.add(1);
    }

    /// Why the last write or opening failed.
    pub fn last_error(&self) -> io::Error {
        match i32::try_from(self.last_error.get()) {
            Ok(number) if number > 0 => io::Error::from_raw_os_error(number),
            _ => io::ErrorKind::WriteZero.into(),
        }
    }
}

/// An open log and its writer thread. Dropping it ends the writer as [`AccessLog::finish`] does, with a deadline of one
/// second.
#[derive(Debug)]
pub struct AccessLog {
    writer: Arc<writer::Writer>,
    wanted: Wanted,
}

impl AccessLog {
    /// Opens the target and starts the writer.
    ///
    /// # Errors
    /// Those of opening the file and of starting a thread.
    pub fn start(settings: Settings, tally: Arc<Tally>) -> io::Result<Self> {
        let Settings { target, format, user_agent, fields, redact, sampling } = settings;
        let fields: Arc<[Box<str>]> = fields.into_iter().take(FIELDS_MAX).collect();
        let output = output::Output::open(target)?;
        let (clock, scratch) = (time::Clock::default(), Vec::new());
        let look = Look { format, fields: Arc::clone(&fields), redact: redact.into(), clock, scratch };
        let writer = writer::start(output, look, tally)?;
        Ok(Self { writer, wanted: Wanted { user_agent, fields, sampling } })
    }

    /// A sink for one core. Once a core; allocates its ring.
    pub fn sink(&self) -> Sink {
        Sink::new(Arc::clone(&self.writer), self.wanted.clone())
    }

    /// Opens the file again under its path, for log rotation: what comes after goes into the new file. If it cannot be
    /// opened the writer stays with the old one and counts a write error. Does not wait.
    pub fn reopen(&self) {
        self.writer.reopen();
    }

    /// Writes what is in the rings, ends the writer, and says whether that was done within `deadline`. The writer of a
    /// stuck target is left behind. Sinks that append afterwards drop their records.
    pub fn finish(&self, deadline: Duration) -> bool {
        self.writer.finish(deadline)
    }
}

impl Drop for AccessLog {
    fn drop(&mut self) {
        self.writer.finish(Duration::from_secs(1));
    }
}
