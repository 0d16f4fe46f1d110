//! What worlds of plug-ins say of themselves, as events: what was stopped, and errors that nobody caught.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::event::{Level, event};
use crate::outlet::{self, To};

/// No more than one in this time: a client that knows how to make a plug-in loop must not fill the disk.
const EACH: Duration = Duration::from_secs(1);

/// When something was last said, and how much was not said since.
static SAID: Mutex<(Option<Instant>, u64)> = Mutex::new((None, 0));

/// From now on.
pub(super) fn tell() {
    leat_embedded::tell_by(say, print);
}

/// What plug-ins print is theirs, and goes where they say.
fn print(to: i32, bytes: &[u8]) {
    outlet::write(if to == 1 { To::Output } else { To::Error }, bytes.to_vec());
}

fn say(message: &str) {
    let untold = {
        let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
        if said.0.is_some_and(|last| last.elapsed() < EACH) {
            said.1 += 1;
            return;
        }
        let untold = said.1.to_string();
        *said = (Some(Instant::now()), 0);
        untold
    };
    let facts = [("untold", &*untold)];
    let facts = if untold == "0" { &[][..] } else { &facts[..] };
    event(Level::Error, "plugin_world", message.strip_prefix("leat: ").unwrap_or(message), facts);
}
