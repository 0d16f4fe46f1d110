//! JavaScript without Node: a QuickJS world on each engine thread, its built-in modules, and the way of a request into it.
//!
//! A [`World`] is one JavaScript runtime. It belongs to the thread that serves its connections, so a request is a call:
//! there is no queue and no second thread between the socket and the program.

mod admin;
mod builtins;
mod bytecode;
mod contexts;
mod control;
pub mod env_file;
mod heap;
mod host;
mod limits;
mod listeners;
mod metrics;
mod modules;
mod native;
mod options;
mod plugin;
mod process;
mod run;
mod serve;
mod size;
mod tell;
mod unmap;
mod watch;
mod worker;
mod world;

pub use host::{Host, Life, OnError, UnderWay};
pub use listeners::{Listening, Place};
pub use modules::{Built, Finding, build, check, open_carried};
pub use options::{COLLECT_BYTES, Limits, MEMORY_BYTES, MEMORY_BYTES_MIN, Names, Options, TURN_MS, WORKERS_MAX};
pub use plugin::{
    Decision, Failure, Patch, PluginCounters, PluginFile, PluginLimits, PluginWorld, Plugins, PluginsError, Run,
};
pub use process::Hears;
pub use run::run;
pub use size::{Size, SizeError};
pub use tell::print_by;
pub use world::{Entered, World};
