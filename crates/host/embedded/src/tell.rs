//! What the host says on standard error, each message in one piece: others write there at the same time.

use std::fmt::Arguments;
use std::io::Write as _;
use std::sync::OnceLock;

/// Where messages go, and what programs print, by the number of the descriptor.
type Voices = (fn(&str), fn(i32, &[u8]));

static TO: OnceLock<Voices> = OnceLock::new();

/// Hands messages of all worlds to `tell` from now on, instead of writing them: a process with a log of its own has no lines in
/// it that are none of the log's. What programs print themselves (`console.error`, descriptor 2) goes to `print`. Once a process.
pub fn tell_by(tell: fn(&str), print: fn(i32, &[u8])) {
    let _ = TO.set((tell, print));
}

/// What a program prints, where the process has a way of its own for it; whether it has.
pub(crate) fn print(to: i32, bytes: &[u8]) -> bool {
    TO.get().map(|(_, print)| print(to, bytes)).is_some()
}

/// Says one message, of one line or several.
pub(crate) fn line(message: Arguments<'_>) {
    text(&message.to_string());
}

/// The same.
pub(crate) fn text(message: &str) {
    match TO.get() {
        Some((tell, _)) => tell(message),
        // Nobody is left to be told that standard error is gone.
        None => drop(std::io::stderr().lock().write_all(format!("{message}\n").as_bytes())),
    }
}
