//! One file for each command.

pub(crate) mod build;
pub(crate) mod check;
mod check_rules;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod gateway;
pub(crate) mod mock;

/// Exit code for bad usage or a bad configuration.
const BAD_CONFIG: u8 = 2;
pub(crate) mod run;
