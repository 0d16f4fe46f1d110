//! Exchanges over shared HTTP/2 connections.

mod connection;
mod driver;
mod exchange;
mod head;

pub(crate) use connection::{Connection, Seat};
pub(crate) use exchange::Exchange;
