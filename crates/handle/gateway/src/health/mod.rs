//! Active health checks: endpoints are asked whether they are well, by whoever runs the checks (the control thread), and
//! all cores see what came of it.

mod check;
mod grpc;
mod probe;

pub use check::{Check, checks};
