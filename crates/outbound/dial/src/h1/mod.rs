//! One exchange at a time over an HTTP/1.1 connection.

mod connection;
mod receive;
mod send;

pub(crate) use connection::Connection;
