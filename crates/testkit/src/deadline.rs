use std::time::{Duration, Instant};

/// The longest that anything here waits. Far above what a loaded machine needs, far below a stage's limit.
pub const DEADLINE: Duration = Duration::from_secs(10);

/// How often a condition that nobody signals is looked at again.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// Waits until `look` gives something. Panics with `what` after [`DEADLINE`].
pub fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "not within {DEADLINE:?}: {what}");
        std::thread::sleep(LOOK_EVERY);
    }
}
