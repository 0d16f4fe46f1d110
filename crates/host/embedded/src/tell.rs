//! What the host says on standard error, each message in one piece: others write there at the same time.

use std::fmt::Arguments;
use std::io::Write as _;
use std::sync::OnceLock;

static TO: OnceLock<fn(&str)> = OnceLock::new();

/// Hands messages of all worlds to `tell` from now on, instead of writing them: a process with a log of its own has no lines in
/// it that are none of the log's. What programs print themselves (`console.error`) stays theirs. Once a process.
pub fn tell_by(tell: fn(&str)) {
    let _ = TO.set(tell);
}

/// Says one message, of one line or several.
pub(crate) fn line(message: Arguments<'_>) {
    text(&message.to_string());
}

/// The same.
pub(crate) fn text(message: &str) {
    match TO.get() {
        Some(tell) => tell(message),
        // Nobody is left to be told that standard error is gone.
        None => drop(std::io::stderr().lock().write_all(format!("{message}\n").as_bytes())),
    }
}
