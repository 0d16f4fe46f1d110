//! What the process says about itself, on standard error: for people on a terminal, one JSON object a line otherwise.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::ValueEnum;
use leat_gateway::config::{LogLevel, Problem};

use crate::outlet::{self, To};

/// Longest message of an event, in bytes. A plug-in may throw megabytes; and a line that is shorter than 4 KiB comes through a pipe as a
/// whole, whoever else writes there.
const MESSAGE_BYTES_MAX: usize = 3 * 1024;

/// The least level that is told of.
static LEAST: AtomicU8 = AtomicU8::new(Level::Info as u8);

/// How much an event matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Level {
    /// What happens
    Info,
    /// What somebody should look at
    Warn,
    /// What failed
    Error,
}

impl Level {
    const ALL: [Self; 3] = [Self::Info, Self::Warn, Self::Error];

    /// That of a configuration.
    pub(crate) fn of(level: LogLevel) -> Self {
        match level {
            LogLevel::Info => Self::Info,
            LogLevel::Warn => Self::Warn,
            LogLevel::Error => Self::Error,
        }
    }

    /// The level that is called so.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// The least level that is told of.
pub(crate) fn level() -> Level {
    let least = LEAST.load(Ordering::Relaxed);
    Level::ALL.into_iter().find(|level| *level as u8 == least).unwrap_or(Level::Info)
}

/// Tells of events of this level and above from now on, on all threads; gives the level so far.
pub(crate) fn set_level(level: Level) -> Level {
    let before = self::level();
    LEAST.store(level as u8, Ordering::Relaxed);
    before
}

/// Writes one event, if its level is told of. `name` is stable, for those who look for it; `message` is for people.
pub(crate) fn event(level: Level, name: &str, message: &str, facts: &[(&str, &str)]) {
    if level >= self::level() {
        write(level, name, message, facts);
    }
}

/// Writes an event that nobody may switch off: who changed what.
pub(crate) fn notice(name: &str, message: &str, facts: &[(&str, &str)]) {
    write(Level::Info, name, message, facts);
}

/// Tells of something that is wrong or doubtful with a configuration, with what to write instead.
pub(crate) fn problem(level: Level, name: &str, problem: &Problem) {
    let place = problem.place().map(|place| format!(":{place}")).unwrap_or_default();
    let message = format!("{}{place}: {}", problem.file(), problem.message());
    let help = problem.help().map(|help| ("help", help));
    event(level, name, &message, help.as_slice());
}

/// Whether events are written for people, and not as JSON.
pub(crate) fn is_for_people() -> bool {
    static HUMAN: OnceLock<bool> = OnceLock::new();
    *HUMAN.get_or_init(|| std::io::stderr().is_terminal())
}

fn write(level: Level, name: &str, message: &str, facts: &[(&str, &str)]) {
    let message = cut(message);
    let line = if is_for_people() { human(level, &message, facts) } else { json(level, name, &message, facts) };
    outlet::write(To::Error, line.into_bytes());
}

/// The line that tells of events for which there was no room.
pub(crate) fn dropped(count: u64, of: &str) -> String {
    let message = format!("what was said meanwhile was dropped: nobody read {of}");
    let message = message.as_str();
    let facts = [("count", &*count.to_string())];
    if is_for_people() {
        human(Level::Warn, message, &facts)
    } else {
        json(Level::Warn, "events_dropped", message, &facts)
    }
}

/// Writes text for people, such as what is wrong with a configuration: in one piece, since the access log may be written
/// to standard error at the same time.
pub(crate) fn say(text: std::fmt::Arguments<'_>) {
    let _ = std::io::stderr().lock().write_all(format!("{text}\n").as_bytes());
}

/// Writes what was asked for to standard output, and a line break. Whoever reads it may stop (`| head`): that is no failure.
pub(crate) fn tell(text: std::fmt::Arguments<'_>) {
    let _ = std::io::stdout().lock().write_all(format!("{text}\n").as_bytes());
}

fn cut(message: &str) -> Cow<'_, str> {
    if message.len() <= MESSAGE_BYTES_MAX {
        return Cow::Borrowed(message);
    }
    let end = (0..=MESSAGE_BYTES_MAX).rev().find(|end| message.is_char_boundary(*end)).unwrap_or_default();
    Cow::Owned(format!("{}...", message.get(..end).unwrap_or_default()))
}

fn human(level: Level, message: &str, facts: &[(&str, &str)]) -> String {
    let mut line = match level {
        Level::Info => String::new(),
        other => format!("{}: ", other.name()),
    };
    line.push_str(message);
    for (name, value) in facts {
        let _ = write!(line, " {name}={value}");
    }
    line.push('\n');
    line
}

fn json(level: Level, name: &str, message: &str, facts: &[(&str, &str)]) -> String {
    let ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    let mut object = serde_json::Map::new();
    object.insert("time_ms".into(), serde_json::Value::from(u64::try_from(ms).unwrap_or(u64::MAX)));
    for (key, value) in [("level", level.name()), ("event", name), ("message", message)].iter().chain(facts) {
        object.insert((*key).to_owned(), serde_json::Value::from(*value));
    }
    format!("{}\n", serde_json::Value::Object(object))
}
