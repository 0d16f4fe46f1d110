//! Plug-ins in a prepared world: middleware of the package's contract (`leat/middleware`), compiled to plans when they are loaded,
//! and run for one request after the other on the thread that serves it.
//!
//! A plug-in sees its request through an object that is prepared once and used again, whose getters read the head; what it
//! changes comes back as a [`Patch`]. A request that no plug-in touches builds no object, and synchronous ones add no task.

mod body;
mod class;
mod counters;
mod edits;
mod failure;
mod head;
mod headers;
mod kit;
mod names;
mod natives;
mod patch;
mod prepared;
mod record;
mod run;
mod seat;
mod shapes;
mod straight;

use std::cell::{Cell, RefCell};
use std::fmt;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use leat_message::Head;

pub use counters::PluginCounters;
pub use failure::Failure;
pub(crate) use natives::group;
pub use patch::Patch;
use prepared::Prepared;
pub use run::{Decision, Run};

use crate::options::{COLLECT_BYTES, Limits, Names};
use crate::size::Size;

/// The memory of a world of plug-ins unless said otherwise: there is one for each core, and they hold little between requests.
const MEMORY_BYTES: usize = 64_000_000;
/// How long plug-ins may run at once unless said otherwise. While they do, nobody else on the core is answered.
const TURN_MS: u64 = 100;
/// How long loading may take: longer than that of any plug-in, and short enough for whoever starts the process and waits.
const LOAD: Duration = Duration::from_secs(10);
/// How long one may wait, for a `fetch` say, unless said otherwise.
const WAIT_MS: u64 = 10_000;
/// A world that lives longer than this is no failed start.
const SETTLED: Duration = Duration::from_secs(10);
/// Worlds that are lost one after the other, each before it has settled, until the next one waits for that time.
const LOST_MAX: u32 = 5;

/// What plug-ins may use.
#[derive(Clone, Debug)]
pub struct PluginLimits {
    /// Bytes of their world's heap, buffers included.
    pub memory: Size,
    /// How long they may run at once.
    pub turn: Duration,
    /// How long one may wait before its request fails.
    pub wait: Duration,
}

impl Default for PluginLimits {
    fn default() -> Self {
        Self {
            memory: Size::new(MEMORY_BYTES),
            turn: Duration::from_millis(TURN_MS),
            wait: Duration::from_millis(WAIT_MS),
        }
    }
}

/// A plug-in's file, and how it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginFile {
    /// What messages call it.
    pub name: String,
    /// The file, which exports middleware, one or several, or a function that makes them.
    pub path: PathBuf,
    /// What the function gets, as JSON. A file that exports no function takes none.
    pub options: Option<String>,
    /// What a hook of it throws is told, and the request goes on as if the hook had returned nothing.
    pub bypass: bool,
}

impl PluginFile {
    /// A file without options, whose errors are those of the request. It is called as its path is.
    pub fn new(path: PathBuf) -> Self {
        Self { name: path.display().to_string(), path, options: None, bypass: false }
    }
}

/// The plug-ins of one thread: one world, and a plan for each set of them that is used together.
pub struct Plugins {
    files: Vec<PluginFile>,
    sets: Vec<Vec<usize>>,
    limits: PluginLimits,
    counters: Arc<PluginCounters>,
    /// What runs were given of bodies, which is in the world's heap.
    bodies_bytes: Cell<usize>,
    prepared: RefCell<Option<Rc<Prepared>>>,
    began: Cell<Instant>,
    /// Worlds in a row that were lost before they settled, by nobody's fault: to what was under way, or since none could be made.
    lost: Cell<u32>,
    /// What went wrong in a world that is lost, and was not handed out.
    troubles: RefCell<Vec<(Failure, String)>>,
    /// The same of each set, by what was run for a request with it.
    blamed: RefCell<Vec<Blame>>,
}

/// What a set has cost.
#[derive(Clone, Copy, Debug)]
struct Blame {
    /// Worlds in a row, each within [`SETTLED`] of the one before.
    lost: u32,
    last: Instant,
}

/// How the world of a thread's plug-ins is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PluginWorld {
    /// Whether there is one; one that was lost is made anew by the next request.
    pub is_loaded: bool,
    /// How long ago the latest was made.
    pub age: Duration,
    /// Worlds in a row that were lost, each before it had settled.
    pub lost: u32,
}

/// Why plug-ins can't be loaded.
#[derive(Clone, Debug)]
pub struct PluginsError {
    message: String,
}

impl fmt::Display for PluginsError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message.fmt(to)
    }
}

impl std::error::Error for PluginsError {}

impl PluginsError {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

impl Plugins {
    /// Loads files that export middleware, and compiles a plan for each of `sets`, which has numbers of files in their order. To be
    /// called in a `LocalSet`, where timers and waiting of the plug-ins run. Costs a world: about a millisecond and 2 MB.
    ///
    /// # Errors
    /// What JavaScript says of a file that can't be loaded, or of middleware that don't go together: with file and place.
    pub fn load(files: &[PluginFile], sets: &[Vec<usize>], limits: PluginLimits) -> Result<Rc<Self>, PluginsError> {
        Self::load_counting(files, sets, limits, Arc::default())
    }

    /// The same with what they count, which others read.
    ///
    /// # Errors
    /// As of [`Plugins::load`].
    pub fn load_counting(
        files: &[PluginFile],
        sets: &[Vec<usize>],
        limits: PluginLimits,
        counters: Arc<PluginCounters>,
    ) -> Result<Rc<Self>, PluginsError> {
        let prepared = Prepared::new(files, sets, &limits, &counters)?;
        Ok(Rc::new(Self {
            files: files.to_vec(),
            sets: sets.to_vec(),
            limits,
            counters,
            bodies_bytes: Cell::new(0),
            prepared: RefCell::new(Some(Rc::new(prepared))),
            began: Cell::new(Instant::now()),
            lost: Cell::new(0),
            troubles: RefCell::default(),
            blamed: RefCell::new(vec![Blame { lost: 0, last: Instant::now() }; sets.len()]),
        }))
    }

    /// The plans as tables to read, outermost first, in the order of their sets.
    pub fn explain(&self) -> String {
        self.prepared.borrow().as_ref().map(|prepared| prepared.explained.clone()).unwrap_or_default()
    }

    /// How their world is.
    pub fn state(&self) -> PluginWorld {
        PluginWorld {
            is_loaded: self.prepared.borrow().is_some(),
            age: self.began.get().elapsed(),
            lost: self.blamed.borrow().iter().map(|blame| blame.lost).fold(self.lost.get(), u32::max),
        }
    }

    /// Of each set, whether the host calls its hooks itself.
    #[cfg(test)]
    fn straight(&self) -> Vec<bool> {
        self.prepared.borrow().as_ref().map(|prepared| prepared.straight()).unwrap_or_default()
    }

    /// The files that they were loaded from, and what those import; not what is in packages.
    pub fn sources(&self) -> Vec<PathBuf> {
        self.prepared.borrow().as_ref().map(|prepared| prepared.sources.clone()).unwrap_or_default()
    }

    /// Runs the plug-ins of a set for a request. The head is copied, into memory that is used again. What the request came to is
    /// [`Run::decision`].
    pub fn request(self: &Rc<Self>, set: usize, head: Head<'_>) -> Run {
        if self.is_shut_out(set) {
            let why = format!("{LOST_MAX} worlds of plug-ins in a row were lost at once, by those of this route");
            return Run::failed(Rc::clone(self), why);
        }
        match self.world() {
            Ok(prepared) => Run::begin(Rc::clone(self), prepared, set, head),
            Err(error) => Run::failed(Rc::clone(self), error.message),
        }
    }

    /// Hands out what plug-ins threw that goes on without them, each with its name; at most a few since the last time.
    pub fn take_bypassed(&self) -> Vec<(String, String)> {
        self.prepared.borrow().as_ref().map(|prepared| prepared.seats.take_bypassed()).unwrap_or_default()
    }

    /// Hands out what went wrong where no request waited for it, at most a few since the last time: errors that nobody caught, in
    /// a timer say, and what was stopped for its time.
    pub fn take_troubles(&self) -> Vec<(Failure, String)> {
        let mut troubles = self.troubles.take();
        if let Some(prepared) = &*self.prepared.borrow() {
            troubles.append(&mut prepared.take_troubles(&self.limits));
        }
        troubles
    }

    /// The world, which is made anew if the last one was lost.
    fn world(&self) -> Result<Rc<Prepared>, PluginsError> {
        let current = self.prepared.borrow().clone();
        match current {
            Some(prepared) if !prepared.is_lost() => return Ok(prepared),
            // By what was under way, and nobody has waited for it.
            Some(prepared) => self.lose(&prepared, None),
            None => {}
        }
        if self.lost.get() >= LOST_MAX && self.began.get().elapsed() < SETTLED {
            return Err(PluginsError::new(format!("{LOST_MAX} worlds of plug-ins in a row were lost at once")));
        }
        self.began.set(Instant::now());
        // One that can't be made, its files may be gone, counts as lost too.
        let made = Prepared::new(&self.files, &self.sets, &self.limits, &self.counters)
            .inspect_err(|_| self.lost.set(self.lost.get() + 1));
        let prepared = Rc::new(made?);
        *self.prepared.borrow_mut() = Some(Rc::clone(&prepared));
        Ok(prepared)
    }

    /// A world can't be entered any more: its runs fail, and the next request finds another one. `by` is the set that was run when
    /// it was lost.
    fn lose(&self, prepared: &Rc<Prepared>, by: Option<usize>) {
        prepared.forget();
        *self.troubles.borrow_mut() = prepared.take_troubles(&self.limits);
        let mut current = self.prepared.borrow_mut();
        if !current.as_ref().is_some_and(|current| Rc::ptr_eq(current, prepared)) {
            return;
        }
        *current = None;
        let mut blamed = self.blamed.borrow_mut();
        match by.and_then(|set| blamed.get_mut(set)) {
            Some(blame) => {
                let lost = if blame.last.elapsed() >= SETTLED { 1 } else { blame.lost + 1 };
                *blame = Blame { lost, last: Instant::now() };
            }
            None => {
                let settled = self.began.get().elapsed() >= SETTLED;
                self.lost.set(if settled { 1 } else { self.lost.get() + 1 });
            }
        }
    }

    /// Whether a set has lost so many worlds that it waits: those of other routes go on.
    fn is_shut_out(&self, set: usize) -> bool {
        let blamed = self.blamed.borrow();
        blamed.get(set).is_some_and(|blame| blame.lost >= LOST_MAX && blame.last.elapsed() < SETTLED)
    }
}

impl PluginLimits {
    /// What is said of what ran too long; `stack` says where, if that is known.
    fn stopped(&self, stack: &str) -> String {
        format!("a plug-in ran for more than {} ms and was stopped{}", self.turn.as_millis(), prepared::frames(stack))
    }

    fn of_world(&self) -> Limits {
        Limits {
            memory: self.memory,
            turn: Some(LOAD),
            collect: Size::new(COLLECT_BYTES),
            names: Names { memory: "the limit of plug-ins", turn: "the limit of plug-ins" },
        }
    }
}

#[cfg(test)]
mod kept_tests;
#[cfg(test)]
mod lost_tests;
#[cfg(test)]
mod straight_tests;
#[cfg(test)]
mod tests;
