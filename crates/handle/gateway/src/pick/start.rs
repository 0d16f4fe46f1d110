use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static NEXT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static NUMBER: usize = NEXT.fetch_add(1, Relaxed);
}

/// Where this core's turns begin: the first core's with the first endpoint, the second's with the second, and so on, so that
/// the first requests of all cores don't go to one endpoint. The same for as long as the core runs.
pub(super) fn start() -> usize {
    NUMBER.with(|number| *number)
}

#[cfg(test)]
mod tests {
    use super::start;

    #[test]
    fn every_thread_has_a_start_of_its_own_and_keeps_it() {
        let here = start();
        assert_eq!(start(), here);
        let there = std::thread::spawn(start).join().unwrap();
        assert_ne!(there, here);
    }
}
