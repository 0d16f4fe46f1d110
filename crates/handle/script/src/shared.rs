use std::ops::Deref;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;
use std::task::Waker;
use std::time::{Duration, Instant};

use crate::latch::Latch;
use crate::record::SLABS_MAX;
use crate::sync::{Arc, AtomicBool, AtomicU32, AtomicU64, AtomicWaker, Mutex, Ordering};

/// Wakes a host's thread. Called from the engine's thread, at most once until the host has said that it is ready again.
pub trait Wake: Send + Sync {
    /// Makes the host take what was published, soon. Must not block.
    fn wake(&self);
}

/// The engine's thread will look at the lane before it sleeps.
const BUSY: u32 = 0;
/// There is something for it, and it will look.
const ASKED: u32 = 1;
/// It sleeps, or may do so at any time: it must be woken.
const ASLEEP: u32 = 2;

/// What both sides of a lane see.
pub(crate) struct Shared {
    published: Position,
    /// Whether the host was woken and has not said yet that it is ready for the next wake-up.
    scheduled: AtomicBool,
    closed: AtomicBool,
    /// What the engine's thread is about: `BUSY`, `ASKED` or `ASLEEP`.
    engine_is: AtomicU32,
    engine: AtomicWaker,
    wake: Box<dyn Wake>,
    /// Tokens of lent buffers that are not needed any more.
    returned: Mutex<Vec<usize>>,
    detached: Latch,
    pub(crate) counts: Counts,
    began: Instant,
}

/// The engine's hold on a lane. Wherever it is dropped, also by an engine that fails, the host's memory is let go of: nobody
/// is left who would write to it.
pub(crate) struct Hold(Arc<Shared>);

impl Hold {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        Self(Arc::clone(shared))
    }
}

impl Deref for Hold {
    type Target = Arc<Shared>;

    fn deref(&self) -> &Arc<Shared> {
        &self.0
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.detach();
    }
}

/// How far the engine has published: a slab's number and the bytes of it, in one word.
struct Position {
    at: AtomicU64,
    /// Bytes used of each slab that was left behind, by its number modulo the most that can be lent.
    filled: [AtomicU32; SLABS_MAX],
}

/// What is counted of a lane, for the metrics. Written by one thread each, read by any.
#[derive(Debug, Default)]
pub struct Counts {
    /// Requests given to the host.
    pub requests: std::sync::atomic::AtomicU64,
    /// Calls out that the host has begun.
    pub calls: std::sync::atomic::AtomicU64,
    /// Times that the host was woken: crossings towards JavaScript.
    pub wakes: std::sync::atomic::AtomicU64,
    /// Batches of replies: crossings back.
    pub flushes: std::sync::atomic::AtomicU64,
    /// Records published, of all kinds.
    pub records: std::sync::atomic::AtomicU64,
    /// Exchanges that are open.
    pub exchanges: std::sync::atomic::AtomicU64,
    /// Connections that are open.
    pub connections: std::sync::atomic::AtomicU64,
    /// Bytes published; less those taken, this is what waits for the host.
    pub published_bytes: std::sync::atomic::AtomicU64,
    /// Bytes taken by the host.
    pub taken_bytes: std::sync::atomic::AtomicU64,
    /// Sum of the times from a wake-up until the host took the batch, in microseconds: how late its loop was.
    pub delay_us_sum: std::sync::atomic::AtomicU64,
    /// The longest such time, in microseconds.
    pub delay_us_max: std::sync::atomic::AtomicU64,
    /// When the host was woken, in microseconds since the lane began; 0 while it is not late.
    pub(crate) woken_us: std::sync::atomic::AtomicU64,
}

impl Shared {
    pub(crate) fn new(wake: Box<dyn Wake>) -> Arc<Self> {
        Arc::new(Self {
            published: Position { at: AtomicU64::new(0), filled: std::array::from_fn(|_| AtomicU32::new(0)) },
            scheduled: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            engine_is: AtomicU32::new(ASLEEP),
            engine: AtomicWaker::new(),
            wake,
            returned: Mutex::default(),
            detached: Latch::new(),
            counts: Counts::default(),
            began: Instant::now(),
        })
    }

    /// Says that a slab was left, filled up to `bytes`. To be called before anything of the next one is published. The
    /// host has read what stood in this place before: it is lent no more slabs than there are places, counted from the
    /// one that it is reading.
    pub(crate) fn leave_slab(&self, slab: u32, bytes: u32) {
        if let Some(filled) = self.published.filled.get(slab as usize % SLABS_MAX) {
            filled.store(bytes, Ordering::Relaxed);
        }
    }

    /// Bytes used of a slab that was left.
    pub(crate) fn filled(&self, slab: u32) -> u32 {
        self.published.filled.get(slab as usize % SLABS_MAX).map_or(0, |filled| filled.load(Ordering::Relaxed))
    }

    /// Publishes everything up to `bytes` of `slab`, and wakes the host unless it was woken already.
    pub(crate) fn publish(&self, slab: u32, bytes: u32) {
        // Release: who sees this position sees the bytes before it, and how far the slabs before were filled.
        self.published.at.store(u64::from(slab) << 32 | u64::from(bytes), Ordering::Release);
        self.schedule();
    }

    /// How far was published.
    pub(crate) fn published(&self) -> (u32, u32) {
        let at = self.published.at.load(Ordering::Acquire);
        ((at >> 32) as u32, at as u32)
    }

    /// Wakes the host unless it was woken already.
    pub(crate) fn schedule(&self) {
        // Both swaps of this flag stand in one order. Where ours comes after `rearm`'s, it finds the flag down and wakes;
        // where it comes before, `rearm` takes over (release, acquire) what was published, and the host looks for that next.
        if !self.scheduled.swap(true, Ordering::AcqRel) {
            self.counts.woken_us.store(self.now_us().max(1), Relaxed);
            add(&self.counts.wakes, 1);
            self.wake.wake();
        }
    }

    /// The host is ready to be woken again. It must look at [`Shared::published`] afterwards.
    pub(crate) fn rearm(&self) {
        self.scheduled.swap(false, Ordering::AcqRel);
    }

    /// Makes the engine look at the lane: wakes its thread, unless that is awake and will look by itself. To be called behind
    /// whatever it is to see.
    pub(crate) fn ask_engine(&self) {
        if self.engine_is.swap(ASKED, Ordering::AcqRel) == ASLEEP {
            self.engine.wake();
        }
    }

    /// Whether the host has asked since the engine has looked.
    pub(crate) fn is_asked(&self) -> bool {
        self.engine_is.load(Ordering::Relaxed) == ASKED
    }

    /// The engine looks now, and is to be woken by `waker`. `naps` says whether it will tell before it sleeps.
    pub(crate) fn attend(&self, waker: &Waker, naps: bool) {
        self.engine.register(waker);
        self.engine_is.swap(if naps { BUSY } else { ASLEEP }, Ordering::AcqRel);
    }

    /// The engine's thread is about to sleep; `false` where it must look at the lane first.
    pub(crate) fn fall_asleep(&self) -> bool {
        let slept = self.engine_is.compare_exchange(BUSY, ASLEEP, Ordering::AcqRel, Ordering::Acquire);
        slept != Err(ASKED)
    }

    /// The engine's thread was woken, by whatever it was.
    pub(crate) fn wake_up(&self) {
        let _ = self.engine_is.compare_exchange(ASLEEP, BUSY, Ordering::AcqRel, Ordering::Acquire);
    }

    /// The host has begun to take a batch: notes how late it was.
    pub(crate) fn note_delay(&self) {
        let woken = self.counts.woken_us.swap(0, Relaxed);
        if woken != 0 {
            let late = self.now_us().saturating_sub(woken);
            add(&self.counts.delay_us_sum, late);
            self.counts.delay_us_max.fetch_max(late, Relaxed);
        }
    }

    /// For how long the host has been woken without taking anything, in microseconds.
    pub(crate) fn late_us(&self) -> u64 {
        match self.counts.woken_us.load(Relaxed) {
            0 => 0,
            woken => self.now_us().saturating_sub(woken),
        }
    }

    /// Gives lent buffers back. Takes the lock only where there are any.
    pub(crate) fn give_back(&self, tokens: impl Iterator<Item = usize>) {
        let mut tokens = tokens.peekable();
        if tokens.peek().is_some() {
            self.returned.lock().unwrap_or_else(PoisonError::into_inner).extend(tokens);
        }
    }

    /// What was given back.
    pub(crate) fn take_back(&self) -> Vec<usize> {
        std::mem::take(&mut *self.returned.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.ask_engine();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// The engine touches no lent memory any more.
    pub(crate) fn detach(&self) {
        self.detached.open();
    }

    /// Waits for [`Shared::detach`]; says whether it came in time.
    pub(crate) fn wait_detached(&self, within: Duration) -> bool {
        self.detached.wait(within)
    }

    fn now_us(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

/// Counts where only one thread writes: no locked instruction.
#[inline]
pub(crate) fn add(count: &std::sync::atomic::AtomicU64, more: u64) {
    count.store(count.load(Relaxed).wrapping_add(more), Relaxed);
}

/// The other way.
#[inline]
pub(crate) fn subtract(count: &std::sync::atomic::AtomicU64, less: u64) {
    count.store(count.load(Relaxed).wrapping_sub(less), Relaxed);
}
