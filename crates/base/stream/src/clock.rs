//! A core's coarse clock and its timer wheel: one tick moves the time on for all connections, and a connection that
//! pushes its deadline further away (as each request does) writes one integer.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::Notify;
use tokio::time::Instant;

/// Resolution of the clock and of every timeout, in milliseconds.
pub const TICK_MS: u64 = 20;
/// Buckets of the wheel; deadlines further away are looked at once a turn.
const BUCKETS: usize = 512;

/// A deadline that means never.
pub const NEVER: u64 = u64::MAX;

#[derive(Debug)]
struct Entry {
    /// Where the owner wants to be woken; may lie behind `bucket_ms`, then the tick moves the entry on.
    deadline_ms: u64,
    /// The earliest tick at which the wheel looks at this entry, also for its next owner.
    bucket_ms: u64,
    waker: Option<Waker>,
}

struct Wheel {
    entries: Vec<Entry>,
    /// Those of them that nobody has, the last one first. Who takes one finds its place in the wheel: an exchange that brings a timer of its
    /// own mostly writes one integer too, and the wheel does not grow by the exchanges of a turn.
    free: Vec<usize>,
    /// Keys of entries by the tick that looks at them; a key may be stale, which costs one look.
    buckets: Vec<Vec<usize>>,
    ticked_ms: u64,
}

struct Core {
    start: Instant,
    now_ms: Cell<u64>,
    /// An instant and the wall's time then, in milliseconds since 1970.
    wall: Cell<(Instant, u64)>,
    date_second: Cell<u64>,
    date: Cell<[u8; 29]>,
    wheel: RefCell<Wheel>,
    awake: Rc<Notify>,
    asleep: Cell<bool>,
}

thread_local! {
    static CORE: Core = Core {
        start: Instant::now(),
        now_ms: Cell::new(0),
        wall: Cell::new((Instant::now(), 0)),
        date_second: Cell::new(0),
        date: Cell::new([b' '; 29]),
        wheel: RefCell::new(Wheel::new()),
        awake: Rc::new(Notify::new()),
        asleep: Cell::new(true),
    };
}

/// Milliseconds since this core started, at most [`TICK_MS`] old while any timer exists.
#[inline]
pub fn now_ms() -> u64 {
    CORE.with(|core| core.now_ms.get())
}

/// The current time as an IMF-fixdate (RFC 9110 section 5.6.7), formatted once a second.
#[inline]
pub fn date() -> [u8; 29] {
    CORE.with(|core| {
        if core.asleep.get() {
            core.refresh();
        }
        core.date.get()
    })
}

/// The wall's time at an instant that is now or was just now, in milliseconds since 1970. Where the system's clock is set, up to
/// [`TICK_MS`] pass until it is seen. Cheaper than asking the system.
#[inline]
pub fn unix_ms(at: std::time::Instant) -> u64 {
    CORE.with(|core| {
        if core.asleep.get() {
            core.refresh();
        }
        let (instant, ms) = core.wall.get();
        let since = at.saturating_duration_since(instant.into_std());
        ms.saturating_add(u64::try_from(since.as_millis()).unwrap_or(0))
    })
}

/// Moves this core's time on and wakes what is due; runs for as long as the core does. Sleeps while there is no timer.
pub async fn run() {
    let awake = CORE.with(|core| Rc::clone(&core.awake));
    loop {
        if CORE.with(Core::may_sleep) {
            awake.notified().await;
        }
        tokio::time::sleep(Duration::from_millis(TICK_MS)).await;
        CORE.with(Core::tick);
    }
}

/// Wakes the owner of every timer, due or not: they look at the state of the core again.
pub fn wake_all() {
    CORE.with(|core| {
        let wakers: Vec<Waker> =
            core.wheel.borrow_mut().entries.iter_mut().filter_map(|entry| entry.waker.take()).collect();
        wakers.into_iter().for_each(Waker::wake);
    });
}

impl Core {
    /// Whether there is no timer; then the clock stands still until there is one.
    fn may_sleep(&self) -> bool {
        let wheel = &mut *self.wheel.borrow_mut();
        let is_idle = wheel.free.len() == wheel.entries.len();
        if is_idle {
            // Ticks go by uncounted from here on: what has a place in one of them would be looked at too late.
            wheel.clear();
            self.asleep.set(true);
        }
        is_idle
    }

    fn refresh(&self) {
        let now = Instant::now();
        self.now_ms.set(u64::try_from(now.duration_since(self.start).as_millis()).unwrap_or(NEVER - 1));
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.wall.set((now, u64::try_from(since.as_millis()).unwrap_or(u64::MAX)));
        let second = since.as_secs();
        if second != self.date_second.get() {
            self.date_second.set(second);
            self.date.set(imf_fixdate(second));
        }
    }

    fn tick(&self) {
        self.refresh();
        let now = self.now_ms.get();
        let mut due = Vec::new();
        {
            let wheel = &mut *self.wheel.borrow_mut();
            let first = wheel.ticked_ms / TICK_MS + 1;
            let last = now / TICK_MS;
            // After a long pause every bucket is looked at once, not more.
            for tick in first.max((last + 1).saturating_sub(BUCKETS as u64))..=last {
                wheel.turn(tick as usize % BUCKETS, now, &mut due);
            }
            wheel.ticked_ms = now.max(wheel.ticked_ms);
        }
        // Outside the borrow: a waker may run code that sets timers.
        due.into_iter().for_each(Waker::wake);
    }
}

impl Wheel {
    fn new() -> Self {
        Self { entries: Vec::new(), free: Vec::new(), buckets: vec![Vec::new(); BUCKETS], ticked_ms: 0 }
    }

    fn clear(&mut self) {
        self.entries.clear();
        self.free.clear();
        self.buckets.iter_mut().for_each(Vec::clear);
    }

    /// An entry that nobody has.
    fn take(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.entries.push(Entry { deadline_ms: NEVER, bucket_ms: NEVER, waker: None });
            self.entries.len() - 1
        })
    }

    /// Moves an entry's deadline. Only a nearer one than the wheel knows of needs a place in it.
    #[inline]
    fn set(&mut self, key: usize, deadline_ms: u64, now: u64) {
        let Some(entry) = self.entries.get_mut(key) else { return };
        entry.deadline_ms = deadline_ms;
        if entry.bucket_ms > deadline_ms {
            self.place(key, deadline_ms, now);
        }
    }

    fn give_back(&mut self, key: usize) -> Option<Waker> {
        let entry = self.entries.get_mut(key)?;
        entry.deadline_ms = NEVER;
        self.free.push(key);
        entry.waker.take()
    }

    fn turn(&mut self, bucket: usize, now: u64, due: &mut Vec<Waker>) {
        let mut keys = self.buckets.get_mut(bucket).map(std::mem::take).unwrap_or_default();
        for key in keys.drain(..) {
            let Some(entry) = self.entries.get_mut(key) else {
                continue;
            };
            if entry.bucket_ms > now {
                continue;
            }
            if entry.deadline_ms <= now {
                entry.bucket_ms = NEVER;
                due.extend(entry.waker.take());
            } else {
                let deadline = entry.deadline_ms;
                self.place(key, deadline, now);
            }
        }
        if let Some(slot) = self.buckets.get_mut(bucket)
            && slot.is_empty()
        {
            *slot = keys;
        }
    }

    /// Notes that `key` is to be looked at by the tick at or after `deadline`, or within one turn of the wheel.
    fn place(&mut self, key: usize, deadline_ms: u64, now: u64) {
        let Some(entry) = self.entries.get_mut(key) else {
            return;
        };
        if deadline_ms == NEVER {
            entry.bucket_ms = NEVER;
            return;
        }
        let base = now.max(self.ticked_ms);
        let horizon = base + (BUCKETS as u64 - 2) * TICK_MS;
        let tick = deadline_ms.clamp(base + 1, horizon).div_ceil(TICK_MS);
        entry.bucket_ms = tick * TICK_MS;
        if let Some(bucket) = self.buckets.get_mut(tick as usize % BUCKETS) {
            bucket.push(key);
        }
    }
}

/// A deadline that its owner moves as it likes and polls beside its I/O. Setting it is a write or two; it takes a slot
/// in the core's wheel on first use and gives it back on drop.
#[derive(Debug, Default)]
pub struct Timer {
    key: Option<usize>,
    /// Timers belong to the thread that made them.
    _core: PhantomData<Rc<()>>,
}

impl Timer {
    /// Moves the deadline to `deadline_ms` on the core's clock ([`now_ms`]); [`NEVER`] switches it off.
    #[inline]
    pub fn set(&mut self, deadline_ms: u64) {
        CORE.with(|core| {
            let wheel = &mut *core.wheel.borrow_mut();
            if let Some(key) = self.key {
                return wheel.set(key, deadline_ms, core.now_ms.get());
            }
            if deadline_ms == NEVER {
                return;
            }
            let before = core.now_ms.get();
            if core.asleep.replace(false) {
                core.refresh();
                wheel.ticked_ms = core.now_ms.get();
                core.awake.notify_one();
            }
            // The caller reckoned with a clock that may have stood still.
            let deadline_ms = deadline_ms.saturating_add(core.now_ms.get() - before);
            let key = wheel.take();
            self.key = Some(key);
            wheel.set(key, deadline_ms, core.now_ms.get());
        });
    }

    /// Moves the deadline to `ms` milliseconds from now.
    #[inline]
    pub fn set_after(&mut self, ms: u64) {
        self.set(now_ms().saturating_add(ms));
    }

    /// Ready once the deadline has passed. Also wakes the task when the core starts to drain.
    #[inline]
    pub fn poll_due(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(key) = self.key else {
            return Poll::Pending;
        };
        // Dropped outside the borrow: it may be the end of a task, with timers of its own.
        let mut replaced = None;
        let due = CORE.with(|core| {
            let wheel = &mut *core.wheel.borrow_mut();
            let Some(entry) = wheel.entries.get_mut(key) else {
                return Poll::Pending;
            };
            if entry.deadline_ms <= core.now_ms.get() {
                return Poll::Ready(());
            }
            match &entry.waker {
                Some(waker) if waker.will_wake(cx.waker()) => {}
                _ => replaced = entry.waker.replace(cx.waker().clone()),
            }
            Poll::Pending
        });
        drop(replaced);
        due
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        let Some(key) = self.key else { return };
        // The thread may be ending, its wheel gone.
        let waker = CORE.try_with(|core| core.wheel.try_borrow_mut().ok()?.give_back(key));
        // Outside the borrow: it may be the end of a task, with timers of its own.
        drop(waker);
    }
}

/// Waits `ms` milliseconds on the core's wheel.
pub async fn sleep(ms: u64) {
    let mut timer = Timer::default();
    timer.set_after(ms);
    std::future::poll_fn(|cx| timer.poll_due(cx)).await;
}

/// Formats seconds since 1970 as an IMF-fixdate (days to date: Howard Hinnant, "chrono-compatible date algorithms").
fn imf_fixdate(second: u64) -> [u8; 29] {
    const DAYS: [&[u8; 3]; 7] = [b"Thu", b"Fri", b"Sat", b"Sun", b"Mon", b"Tue", b"Wed"];
    const MONTHS: [&[u8; 3]; 12] =
        [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];
    let days = second / 86_400;
    let of_day = second % 86_400;
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let of_era = shifted % 146_097;
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);

    let mut out = *b"Thu, 00 Jan 0000 00:00:00 GMT";
    put(&mut out, 0, DAYS.get(days as usize % 7).map_or(b"Thu", |d| *d));
    put(&mut out, 5, &two(day));
    put(&mut out, 8, MONTHS.get(month as usize - 1).map_or(b"Jan", |m| *m));
    put(&mut out, 12, &two(year / 100));
    put(&mut out, 14, &two(year % 100));
    put(&mut out, 17, &two(of_day / 3_600));
    put(&mut out, 20, &two(of_day / 60 % 60));
    put(&mut out, 23, &two(of_day % 60));
    out
}

fn put(out: &mut [u8; 29], at: usize, bytes: &[u8]) {
    for (slot, &byte) in out.iter_mut().skip(at).zip(bytes) {
        *slot = byte;
    }
}

fn two(number: u64) -> [u8; 2] {
    [b'0' + (number / 10 % 10) as u8, b'0' + (number % 10) as u8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_imf_fixdates() {
        for (second, text) in [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (4_102_444_799, "Thu, 31 Dec 2099 23:59:59 GMT"),
        ] {
            assert_eq!(imf_fixdate(second), text.as_bytes());
        }
    }

    async fn expires_after(first_ms: u64, then_ms: Option<u64>) -> Duration {
        let start = Instant::now();
        let mut timer = Timer::default();
        timer.set_after(first_ms);
        if let Some(ms) = then_ms {
            timer.set_after(ms);
        }
        std::future::poll_fn(|cx| timer.poll_due(cx)).await;
        start.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_timer_is_due_within_two_ticks_of_its_deadline() {
        let local = tokio::task::LocalSet::new();
        local.spawn_local(run());
        local
            .run_until(async {
                for (first, then) in [(1, None), (100, None), (30_000, None), (30_000, Some(100)), (100, Some(30_000))]
                {
                    let wanted = Duration::from_millis(then.unwrap_or(first));
                    let took = expires_after(first, then).await;
                    assert!(
                        took >= wanted && took <= wanted + Duration::from_millis(2 * TICK_MS),
                        "{wanted:?} {took:?}"
                    );
                }
            })
            .await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_timer_in_the_place_of_another_is_due_in_its_own_time() {
        let local = tokio::task::LocalSet::new();
        local.spawn_local(run());
        local
            .run_until(async {
                for first in [20, 500, 5_000, 60_000] {
                    for wanted in [20, 400, 5_000, 30_000] {
                        // One that goes at once, one that goes after a while, and one that keeps the clock awake or does not.
                        for (ms, stays) in [(0, false), (300, false), (0, true), (12_000, true)] {
                            let mut other = Timer::default();
                            if stays {
                                other.set_after(100_000);
                            }
                            let mut timer = Timer::default();
                            timer.set_after(first);
                            tokio::time::sleep(Duration::from_millis(ms)).await;
                            drop(timer);
                            tokio::time::sleep(Duration::from_millis(ms / 2)).await;
                            let took = expires_after(wanted, None).await.as_millis();
                            let (wanted, tick) = (u128::from(wanted), u128::from(TICK_MS));
                            // The clock that it was reckoned by may have been a tick behind.
                            assert!(
                                (wanted - tick..=wanted + 2 * tick).contains(&took),
                                "{first}, then {wanted}: {took} ({ms} {stays})"
                            );
                        }
                    }
                }
            })
            .await;
    }

    #[tokio::test(start_paused = true)]
    async fn the_wheel_grows_with_the_timers_at_once_and_not_with_those_of_a_turn() {
        let local = tokio::task::LocalSet::new();
        local.spawn_local(run());
        local
            .run_until(async {
                let mut connection = Timer::default();
                connection.set_after(75_000);
                for _ in 0..2_000 {
                    for _ in 0..50 {
                        let [mut response, mut idle] = [Timer::default(), Timer::default()];
                        response.set_after(60_000);
                        idle.set_after(30_000);
                        response.set_after(15_000);
                    }
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                let held: usize = CORE.with(|core| core.wheel.borrow().buckets.iter().map(Vec::capacity).sum());
                assert!(held < 50, "{held} places for 3 timers");
            })
            .await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_timer_set_to_never_does_not_fire() {
        let local = tokio::task::LocalSet::new();
        local.spawn_local(run());
        local
            .run_until(async {
                let mut timer = Timer::default();
                timer.set_after(50);
                timer.set(NEVER);
                let due = std::future::poll_fn(|cx| timer.poll_due(cx));
                assert!(tokio::time::timeout(Duration::from_secs(60), due).await.is_err());
            })
            .await;
    }
}
