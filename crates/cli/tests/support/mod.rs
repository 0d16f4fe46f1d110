//! What these tests share: load that notices every request that is not answered whole, a plain upstream, the numbers on
//! the admin address.
#![allow(dead_code, unreachable_pub, unused_imports, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod load;
mod upstream;

use std::net::SocketAddr;

use leat_testkit::Client;
pub use load::{Load, Manner};
pub use upstream::Upstream;

/// The value of a metric, with its labels as they are written (`name{label="value"}`); 0 where it is not there yet.
pub fn metric(admin: SocketAddr, name: &str) -> u64 {
    let text = Client::connect(admin).get("/metrics").response();
    let line = text.text().lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.map_or(0, |value| value.trim().parse().unwrap_or_else(|_| panic!("{name} is not a number: {value}")))
}

/// The lines of a log that tell of `event`, JSON or not.
pub fn events(log: &[String], event: &str) -> usize {
    let wanted = format!("\"event\":\"{event}\"");
    log.iter().filter(|line| line.contains(&wanted)).count()
}
