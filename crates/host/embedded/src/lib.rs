//! JavaScript without Node: a QuickJS world on each engine thread, its built-in modules, and the way of a request into it.
//!
//! A [`World`] is one JavaScript runtime. It belongs to the thread that serves its connections, so a request is a call:
//! there is no queue and no second thread between the socket and the program.

mod builtins;
mod bytecode;
mod contexts;
mod host;
mod modules;
mod native;
mod run;
mod serve;
mod world;

pub use host::{Host, OnError};
pub use run::{Options, run};
pub use world::World;
