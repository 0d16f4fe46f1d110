//! What the host and its programs say, each message in one piece: others write to the same place at the same time.

use std::io::Write as _;
use std::sync::OnceLock;

static TO: OnceLock<fn(i32, &[u8])> = OnceLock::new();

/// Hands what worlds print to `print` from now on, with the number of the descriptor, instead of writing it: a process whose log goes to
/// standard error has a way of its own to write there. Once a process.
pub fn print_by(print: fn(i32, &[u8])) {
    let _ = TO.set(print);
}

/// What a program prints to descriptor 1 or 2, whole. What the reader does not take any more is lost, as it is nobody's then.
pub(crate) fn print(to: i32, bytes: &[u8]) {
    if let Some(print) = TO.get() {
        print(to, bytes);
    } else if to == 1 {
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(bytes).and_then(|()| out.flush());
    } else {
        let _ = std::io::stderr().lock().write_all(bytes);
    }
}

/// Says a message of the host's own, of one line or several.
pub(crate) fn text(message: &str) {
    print(2, format!("{message}\n").as_bytes());
}
