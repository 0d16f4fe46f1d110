use leat_message::Limits;
use leat_stream::clock::{NEVER, TICK_MS};

/// Measures whether bytes that are owed move fast enough. Time counts only while they are waited for, so a peer that has
/// nothing to send or to take, or that we keep waiting ourselves, is never slow.
#[derive(Debug)]
pub(crate) struct Pace {
    /// Since when bytes are waited for; `NEVER` while none are.
    waiting_since_ms: u64,
    /// Time waited in this window before that.
    waited_ms: u64,
    /// Bytes that moved in this window.
    bytes: u64,
}

impl Pace {
    pub(crate) fn new() -> Self {
        Self { waiting_since_ms: NEVER, waited_ms: 0, bytes: 0 }
    }

    /// Bytes are waited for from now on; no effect where they already are.
    pub(crate) fn wait(&mut self, now_ms: u64) {
        if self.waiting_since_ms == NEVER {
            self.waiting_since_ms = now_ms;
        }
    }

    /// Whether bytes are waited for.
    #[inline]
    pub(crate) fn is_waiting(&self) -> bool {
        self.waiting_since_ms != NEVER
    }

    /// Some of the bytes moved: the wait is over, or begins anew.
    pub(crate) fn moved(&mut self, bytes: usize, now_ms: u64) {
        if !self.is_waiting() {
            return;
        }
        self.bytes += bytes as u64;
        self.waited_ms += now_ms.saturating_sub(self.waiting_since_ms);
        self.waiting_since_ms = NEVER;
    }

    /// When to look again.
    pub(crate) fn due_ms(&self, limits: &Limits) -> u64 {
        if limits.throughput_bytes_min == 0 {
            return NEVER;
        }
        // A window is never empty, or its end would be due for ever.
        let window_ms = limits.throughput_grace_ms.max(TICK_MS);
        self.waiting_since_ms.saturating_add(window_ms.saturating_sub(self.waited_ms))
    }

    /// Whether too little moved in the window that ends now; a window that was fast enough starts the next.
    pub(crate) fn is_slow(&mut self, now_ms: u64, limits: &Limits) -> bool {
        if !self.is_waiting() || now_ms < self.due_ms(limits) {
            return false;
        }
        let waited = self.waited_ms + (now_ms - self.waiting_since_ms);
        if self.bytes.saturating_mul(1_000) < limits.throughput_bytes_min.saturating_mul(waited) {
            return true;
        }
        *self = Self { waiting_since_ms: now_ms, waited_ms: 0, bytes: 0 };
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> Limits {
        Limits { throughput_bytes_min: 100, throughput_grace_ms: 1_000, ..Limits::default() }
    }

    /// A peer that moves `bytes` every `every_ms`; says after how long it is found slow.
    fn slow_after(bytes: usize, every_ms: u64) -> Option<u64> {
        let mut pace = Pace::new();
        for step in 0..100 {
            let now = step * every_ms;
            pace.moved(bytes, now);
            pace.wait(now);
            let due = pace.due_ms(&limits());
            if due <= now + every_ms && pace.is_slow(due, &limits()) {
                return Some(due);
            }
        }
        None
    }

    #[test]
    fn a_trickle_is_slow_after_a_window_and_a_steady_flow_never() {
        assert_eq!(slow_after(0, 300), Some(1_000));
        assert_eq!(slow_after(9, 100), Some(1_000));
        assert_eq!(slow_after(20, 100), None);
    }

    #[test]
    fn the_end_of_a_window_is_never_due_at_its_start() {
        let limits = Limits { throughput_grace_ms: 0, ..limits() };
        let mut pace = Pace::new();
        pace.wait(500);
        assert!(pace.due_ms(&limits) > 500 && !pace.is_slow(500, &limits));
    }

    #[test]
    fn time_in_which_nothing_is_waited_for_does_not_count() {
        let mut pace = Pace::new();
        pace.wait(0);
        pace.moved(10, 20);
        assert!(!pace.is_slow(1 << 40, &limits()));
        pace.wait(1 << 40);
        assert!(!pace.is_slow((1 << 40) + 979, &limits()));
        assert!(pace.is_slow((1 << 40) + 980, &limits()));
    }
}
