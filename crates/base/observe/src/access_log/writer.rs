use std::io;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::block::lock;

use super::output::Output;
use super::pen::Pen;
use super::record::decode;
use super::ring::Ring;
use super::{Format, Look, Tally, human, json};

/// How long a record may wait for company before it is written.
const GATHER: Duration = Duration::from_millis(100);
/// How long the writer sleeps at most where nothing happens. Also bounds the delay of a record whose wake-up is lost in
/// the race between the two sides (there is no fence on the core's side).
const SLEEP: Duration = Duration::from_secs(1);
/// Looks in vain after which the writer goes from gathering to sleeping.
const IDLE_LOOKS: u32 = 10;
/// Words read from one ring at a time, so that no ring is starved.
const READ_WORDS: usize = 8 * 1024;
/// Formatted bytes after which they are written.
const WRITE_BYTES: usize = 64 * 1024;
/// Reads of one ring in one pass: a whole ring and what may come meanwhile.
const READS_MAX: usize = 16;

const AWAKE: u8 = 0;
/// Wakes up by itself soon: only a filling ring is worth a system call.
const GATHERING: u8 = 1;
/// Is to be woken by the next record.
const ASLEEP: u8 = 2;

/// What the cores and the control thread share with the writer's thread.
#[derive(Debug)]
pub(super) struct Writer {
    state: AtomicU8,
    is_reopening: AtomicBool,
    is_finishing: AtomicBool,
    rings: Mutex<Vec<Arc<Ring>>>,
    thread: OnceLock<Thread>,
    is_done: Mutex<bool>,
    done: Condvar,
    tally: Arc<Tally>,
}

/// Starts the thread.
pub(super) fn start(output: Output, look: Look, tally: Arc<Tally>) -> io::Result<Arc<Writer>> {
    let writer = Arc::new(Writer {
        state: AtomicU8::new(AWAKE),
        is_reopening: AtomicBool::new(false),
        is_finishing: AtomicBool::new(false),
        rings: Mutex::default(),
        thread: OnceLock::new(),
        is_done: Mutex::new(false),
        done: Condvar::new(),
        tally,
    });
    let lines = vec![0; WRITE_BYTES + look.line_bytes_max()].into();
    let work =
        Work { writer: Arc::clone(&writer), output, look, sources: Vec::new(), lines, lines_bytes: 0, lines_count: 0 };
    let handle = std::thread::Builder::new().name("leat-access-log".into()).spawn(move || work.run())?;
    let _ = writer.thread.set(handle.thread().clone());
    Ok(writer)
}

impl Writer {
    /// Reads `ring` from now on, unless there are `sinks_max` already.
    pub(super) fn adopt(&self, ring: Arc<Ring>, sinks_max: usize) {
        let mut rings = lock(&self.rings);
        if rings.len() < sinks_max {
            rings.push(ring);
        }
    }

    pub(super) fn count_dropped(&self) {
        self.tally.dropped.add(1);
    }

    /// Called by a core after each record.
    #[inline]
    pub(super) fn wake_if_wanted(&self, is_filling: impl FnOnce() -> bool) {
        match self.state.load(Ordering::Relaxed) {
            AWAKE => {}
            GATHERING if !is_filling() => {}
            _ => self.wake(),
        }
    }

    #[cold]
    fn wake(&self) {
        // Only one of the cores makes the system call.
        if self.state.swap(AWAKE, Ordering::AcqRel) != AWAKE {
            self.unpark();
        }
    }

    fn unpark(&self) {
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }

    pub(super) fn reopen(&self) {
        self.is_reopening.store(true, Ordering::Release);
        self.unpark();
    }

    pub(super) fn finish(&self, deadline: Duration) -> bool {
        self.is_finishing.store(true, Ordering::Release);
        self.unpark();
        let end = Instant::now() + deadline;
        let mut is_done = lock(&self.is_done);
        while !*is_done {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            is_done = self.done.wait_timeout(is_done, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

/// The writer's thread.
struct Work {
    writer: Arc<Writer>,
    output: Output,
    look: Look,
    sources: Vec<Source>,
    /// Lines that were not written yet, and room for one more behind the last of them.
    lines: Box<[u8]>,
    lines_bytes: usize,
    lines_count: u64,
}

struct Source {
    ring: Arc<Ring>,
    /// Drops that the log has told of.
    dropped_told: u64,
}

impl Work {
    fn run(mut self) {
        let mut idle_looks = 0;
        loop {
            if self.writer.is_reopening.swap(false, Ordering::AcqRel)
                && let Err(error) = self.output.reopen()
            {
                self.writer.tally.failed(&error);
            }
            let is_finishing = self.writer.is_finishing.load(Ordering::Acquire);
            let words = self.pass();
            if is_finishing {
                break;
            }
            idle_looks = if words == 0 { idle_looks + 1 } else { 0 };
            let (state, time) = if idle_looks < IDLE_LOOKS { (GATHERING, GATHER) } else { (ASLEEP, SLEEP) };
            self.writer.state.store(state, Ordering::Release);
            std::thread::park_timeout(time);
            self.writer.state.store(AWAKE, Ordering::Release);
        }
        *lock(&self.writer.is_done) = true;
        self.writer.done.notify_all();
    }

    /// Reads all rings, writes their records, and says how many words there were.
    fn pass(&mut self) -> usize {
        self.adopt_new();
        let mut total = 0;
        let mut sources = std::mem::take(&mut self.sources);
        sources.retain_mut(|source| {
            let is_closed = source.ring.is_closed();
            for _ in 0..READS_MAX {
                let words = source.ring.read(READ_WORDS, |record| self.format(record));
                if words == 0 {
                    break;
                }
                total += words;
            }
            self.tell_dropped(source);
            !is_closed
        });
        self.sources = sources;
        self.write();
        total
    }

    fn adopt_new(&mut self) {
        let mut rings = lock(&self.writer.rings);
        // The shared list keeps every ring that is open, for the sake of its limit.
        rings.retain(|ring| {
            if !self.sources.iter().any(|source| Arc::ptr_eq(&source.ring, ring)) {
                self.sources.push(Source { ring: Arc::clone(ring), dropped_told: 0 });
            }
            !ring.is_closed()
        });
    }

    fn format(&mut self, record: &[AtomicU64]) {
        let Some(line) = decode(record) else { return };
        self.line(|look, out| match look.format {
            Format::Json => json::write(&line, look, out),
            Format::Human => human::write(&line, look, out),
        });
        self.lines_count += 1;
    }

    /// Has one line written behind the others, and all of them given to the target if they are enough.
    fn line(&mut self, write: impl FnOnce(&mut Look, &mut Pen<'_>)) {
        let place = self.lines.get_mut(self.lines_bytes..).unwrap_or_default();
        let room = place.len();
        let mut pen = Pen::new(place);
        write(&mut self.look, &mut pen);
        self.lines_bytes += room - pen.room();
        if self.lines_bytes >= WRITE_BYTES {
            self.write();
        }
    }

    fn tell_dropped(&mut self, source: &mut Source) {
        let dropped = source.ring.dropped();
        let more = dropped - source.dropped_told;
        if more > 0 {
            source.dropped_told = dropped;
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let now_ms = u64::try_from(now.as_millis()).unwrap_or_default();
            self.line(|look, out| match look.format {
                Format::Json => json::write_dropped(now_ms, more, look, out),
                Format::Human => human::write_dropped(now_ms, more, look, out),
            });
        }
    }

    fn write(&mut self) {
        let lines = self.lines.get(..self.lines_bytes).unwrap_or_default();
        if lines.is_empty() {
            return;
        }
        match self.output.write(lines) {
            Ok(()) => self.writer.tally.records.add(self.lines_count),
            Err(error) => self.writer.tally.failed(&error),
        }
        self.lines_bytes = 0;
        self.lines_count = 0;
    }
}
