//! Exchanges over shared HTTP/2 connections.

mod connection;
mod driver;
mod exchange;
mod head;
mod names;
mod values;

pub(crate) use connection::{Connection, Seat};
pub(crate) use exchange::Exchange;
