//! What the workers of one process share.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use leat_listen::ListenerSet;
use tokio::sync::watch;

use crate::control;
use crate::listeners::{Listeners, Listening, Place};
use crate::metrics::Metrics;
use crate::options::Options;
use crate::watch::LoadedFiles;

/// Signals that can be listened for, by number.
const SIGNALS: usize = 65;

/// What the process is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The program runs; the number grows when it is to be started anew.
    Run(u64),
    /// A signal asked for the end.
    Drain,
}

/// The process.
pub(crate) struct Process {
    pub(crate) options: Options,
    /// The program's file, wherever it may go: it may change the directory before its next world is made.
    pub(crate) app: PathBuf,
    pub(crate) metrics: Vec<Metrics>,
    pub(crate) phase: watch::Sender<Phase>,
    listeners: Arc<Listeners>,
    heard: [AtomicUsize; SIGNALS],
    controlled: OnceLock<()>,
    /// What the program's modules are made of, where it is watched.
    pub(crate) loaded: Arc<LoadedFiles>,
    /// The socket for metrics, where they are asked for.
    pub(crate) admin: OnceLock<ListenerSet>,
}

impl Process {
    pub(crate) fn new(options: Options) -> Arc<Self> {
        let app = std::path::absolute(&options.app).unwrap_or_else(|_| options.app.clone());
        let workers = options.workers.get();
        let port = options.port.map_or(0, std::num::NonZeroU16::get);
        Arc::new(Self {
            metrics: (0..workers).map(|_| Metrics::default()).collect(),
            phase: watch::Sender::new(Phase::Run(0)),
            listeners: Listeners::new(workers, port),
            heard: std::array::from_fn(|_| AtomicUsize::new(0)),
            controlled: OnceLock::new(),
            loaded: Arc::default(),
            admin: OnceLock::new(),
            app,
            options,
        })
    }

    /// Starts the thread that signals, metrics and changed files come to, unless it runs. To be called in a worker's
    /// runtime. Before that signals do what they do to any program.
    pub(crate) fn control(self: &Arc<Self>) {
        self.controlled.get_or_init(|| {
            if let Err(error) = control::start(self) {
                eprintln!("leat: signals can't be heard: {error}");
            }
        });
    }

    /// Whether the program listens for a signal, and so decides what becomes of it.
    pub(crate) fn hears(&self, signal: i32) -> bool {
        let heard = usize::try_from(signal).ok().and_then(|number| self.heard.get(number));
        heard.is_some_and(|count| count.load(Ordering::SeqCst) > 0)
    }
}

/// The program listens for a signal until this is dropped.
pub struct Hears {
    process: Arc<Process>,
    signal: i32,
}

impl Hears {
    fn count(&self) -> Option<&AtomicUsize> {
        usize::try_from(self.signal).ok().and_then(|number| self.process.heard.get(number))
    }
}

impl Drop for Hears {
    fn drop(&mut self) {
        if let Some(count) = self.count() {
            count.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// A world's place in the process.
pub(crate) struct Seat {
    pub(crate) process: Arc<Process>,
    pub(crate) worker: usize,
    /// How often this world has asked for port 0, by place.
    asked: RefCell<HashMap<String, usize>>,
    /// Whether sockets stay open when their servers end.
    keep: Rc<Cell<bool>>,
}

impl Seat {
    pub(crate) fn new(process: &Arc<Process>, worker: usize) -> Self {
        Self { process: Arc::clone(process), worker, asked: RefCell::default(), keep: Rc::default() }
    }

    /// The numbers of this worker.
    pub(crate) fn metrics(&self) -> Option<&Metrics> {
        self.process.metrics.get(self.worker)
    }

    /// Listens at a place.
    ///
    /// # Errors
    /// What the system says; EADDRINUSE where this world listens there already.
    pub(crate) fn listen(&self, place: &Place, backlog: i32) -> std::io::Result<(leat_door::Bound, Listening)> {
        let nth = match place {
            Place::Tcp { ip, port: 0, .. } => {
                let mut asked = self.asked.borrow_mut();
                let count = asked.entry(ip.to_string()).or_default();
                *count += 1;
                *count - 1
            }
            _ => 0,
        };
        self.process.listeners.bind(place, nth, backlog, self.worker, &self.keep)
    }

    /// What listens now stays open for the next world.
    pub(crate) fn keep_sockets(&self) {
        self.keep.set(true);
    }

    /// The program listens for `signal`.
    pub(crate) fn hear(&self, signal: i32) -> Hears {
        let hears = Hears { process: Arc::clone(&self.process), signal };
        if let Some(count) = hears.count() {
            count.fetch_add(1, Ordering::SeqCst);
        }
        hears
    }

    /// Variables that replace those of the process.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let options = &self.process.options;
        let mut all = options.environment.clone();
        if let Some(port) = options.port {
            all.push(("PORT".into(), port.to_string()));
        }
        all.push(("LEAT_WORKER".into(), self.worker.to_string()));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_found_wherever_it_goes() {
        let process = Process::new(Options::new("app.js".into()));
        assert!(process.app.is_absolute() && process.app.ends_with("app.js"));
    }
}
