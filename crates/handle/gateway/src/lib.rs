//! The gateway: its configuration, and the handler that carries it out.

pub mod config;
