//! Exchanges over shared HTTP/2 connections.

mod connection;
mod driver;
mod exchange;
mod link;
mod request;
mod target;

pub(crate) use connection::{Connection, Seat};
pub(crate) use exchange::Exchange;
