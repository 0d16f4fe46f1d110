use std::num::{NonZeroU16, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use leat_listen::ListenAddress;

use crate::host::OnError;
use crate::size::Size;

/// The least memory that a world can be given: what one with Express and an app of some size begins with, twice.
pub const MEMORY_BYTES_MIN: usize = 8_000_000;
/// The memory of a world unless said otherwise: dozens of times what an app of the usual size holds, and half of the smallest
/// usual container, so that the world is made anew before the system kills the process.
pub const MEMORY_BYTES: usize = 256_000_000;
/// The time of one turn unless said otherwise. While JavaScript runs, nobody else is answered: this is longer than any handler
/// that is meant to end, and shorter than clients and balancers wait (30 s and 60 s).
pub const TURN_MS: u64 = 10_000;
/// Growth between two collections unless said otherwise.
pub const COLLECT_BYTES: usize = 4_000_000;
/// Most workers.
pub const WORKERS_MAX: u16 = 256;

/// What one world may use.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of its heap, buffers included.
    pub memory: Size,
    /// How long JavaScript may run at once, from when the program listens; `None` is for ever.
    pub turn: Option<Duration>,
    /// By how much the heap grows until garbage is collected.
    pub collect: Size,
    /// What the first two are called where a message tells of them.
    pub names: Names,
}

/// Names of limits, as a person set them.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// That of `memory`.
    pub memory: &'static str,
    /// That of `turn`.
    pub turn: &'static str,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory: Size::new(MEMORY_BYTES),
            turn: Some(Duration::from_millis(TURN_MS)),
            collect: Size::new(COLLECT_BYTES),
            names: Names { memory: "--memory", turn: "--request-timeout" },
        }
    }
}

/// What a program is run with.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program's file.
    pub app: PathBuf,
    /// What stands behind it on the command line.
    pub arguments: Vec<String>,
    /// What an error does that nobody caught.
    pub on_error: OnError,
    /// Variables beside those of the process, which they replace.
    pub environment: Vec<(String, String)>,
    /// `process.env.PORT`, and where the first server listens that asks for no particular port.
    pub port: Option<NonZeroU16>,
    /// Threads, each with a world.
    pub workers: NonZeroUsize,
    /// The program is started anew when one of its files changes.
    pub watch: bool,
    /// What each world may use.
    pub limits: Limits,
    /// The program finds `gc`.
    pub expose_gc: bool,
    /// Compiled modules are kept on disk.
    pub cache: bool,
    /// Where metrics are answered.
    pub metrics: Option<ListenAddress>,
    /// The process is somebody else's: what would end it ends the world alone, and what would change it for others is refused.
    pub is_guest: bool,
}

impl Options {
    /// Runs `app` with what everything else is by default.
    pub fn new(app: PathBuf) -> Self {
        Self {
            app,
            arguments: Vec::new(),
            on_error: OnError::Exit,
            environment: Vec::new(),
            port: None,
            workers: NonZeroUsize::MIN,
            watch: false,
            limits: Limits::default(),
            expose_gc: false,
            cache: true,
            metrics: None,
            is_guest: false,
        }
    }
}
