//! From sections to values: one file for each part of the configuration, its table beside what reads it.

mod access;
mod address;
mod auth;
mod balance;
mod breaker;
mod compression;
mod cors;
mod edits;
mod endpoint;
mod faults;
mod file;
mod files;
mod forwarded;
mod health;
mod limits;
mod listener;
mod log;
mod maintenance;
mod matching;
mod outliers;
mod plugin;
mod policies;
mod proxy;
mod rate_limit;
mod redirect;
mod redis;
mod respond;
mod retry;
mod rewrite;
mod root;
mod route;
mod split;
mod upstream;

pub(super) use root::{ROOT, read};
