//! From sections to values: one file for each part of the configuration, its table beside what reads it.

mod access;
mod address;
mod compression;
mod cors;
mod edits;
mod endpoint;
mod faults;
mod file;
mod files;
mod forwarded;
mod limits;
mod listener;
mod log;
mod maintenance;
mod matching;
mod proxy;
mod redirect;
mod respond;
mod rewrite;
mod root;
mod route;
mod upstream;

pub(super) use root::{ROOT, read};
