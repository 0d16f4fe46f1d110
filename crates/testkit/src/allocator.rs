use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The system's allocator with counters. A test binary installs it:
///
/// ```
/// # use leat_testkit::Counting;
/// #[global_allocator]
/// static ALLOCATOR: Counting = Counting;
///
/// let (spent, boxed) = Counting::count(|| Box::new(7u64));
/// assert_eq!((spent.count, spent.bytes, *boxed), (1, 8, 7));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Counting;

/// What was allocated. A reallocation counts as one allocation of its new size; frees are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocations {
    /// How many times memory was asked for.
    pub count: u64,
    /// How many bytes were asked for.
    pub bytes: u64,
}

thread_local! {
    // Constant and without a destructor, so that touching it never allocates.
    static OF_THREAD: Cell<Allocations> = const { Cell::new(Allocations { count: 0, bytes: 0 }) };
    static TRACED: Cell<usize> = const { Cell::new(0) };
}
static COUNT: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

impl Counting {
    /// Runs `work` and says what this thread allocated meanwhile.
    pub fn count<T>(work: impl FnOnce() -> T) -> (Allocations, T) {
        let before = Self::of_thread();
        let result = work();
        (Self::of_thread().since(before), result)
    }

    /// What this thread has allocated since it started.
    pub fn of_thread() -> Allocations {
        OF_THREAD.get()
    }

    /// Prints where this thread's next `count` allocations come from: for finding out, not for a test that stays.
    pub fn trace(count: usize) {
        TRACED.set(count);
    }

    /// What all threads have allocated since the start; not one instant, but never less than what is complete.
    pub fn of_process() -> Allocations {
        Allocations { count: COUNT.load(Relaxed), bytes: BYTES.load(Relaxed) }
    }
}

impl Allocations {
    /// The difference to an earlier reading.
    pub fn since(self, earlier: Self) -> Self {
        Self { count: self.count - earlier.count, bytes: self.bytes - earlier.bytes }
    }
}

fn note(bytes: usize) {
    let bytes = bytes as u64;
    COUNT.fetch_add(1, Relaxed);
    BYTES.fetch_add(bytes, Relaxed);
    // A thread that is ending has no counter any more.
    let _ = OF_THREAD.try_with(|of_thread| {
        let now = of_thread.get();
        of_thread.set(Allocations { count: now.count + 1, bytes: now.bytes + bytes });
    });
    // What is printed here allocates itself, unseen.
    if let Ok(left @ 1..) = TRACED.try_with(|traced| traced.replace(0)) {
        let before = OF_THREAD.get();
        eprintln!("{bytes} bytes\n{}", std::backtrace::Backtrace::force_capture());
        OF_THREAD.set(before);
        TRACED.set(left - 1);
    }
}

// SAFETY: every call goes to the system's allocator with the arguments it came with; counting neither allocates nor
// unwinds.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller's promises about `layout` are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller's promises about `layout` are passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size);
        // SAFETY: `block` came from `System` through this allocator, with this layout.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: `block` came from `System` through this allocator, with this layout.
        unsafe { System.dealloc(block, layout) }
    }
}
