//! The `admit` phase: after a request was matched with its route, and before anything answers it.
//!
//! A route has a list of checks ([`Admission`]), compiled once. They run in their order on the head alone, at first in the
//! raw step, without a future or an allocation; one that has to wait (for a server elsewhere) says so, and goes on in the
//! exchange step. What they find out stands in [`Admitted`], which goes with the request: fields for the upstream, fields
//! for the reply.

mod access;
mod admission;
mod admitted;
pub(crate) mod auth;
mod client;
mod coding;
mod cors;
mod faults;
mod hashed;
mod head_limits;
mod hops;
mod limit;
mod maintenance;
mod own_fields;

pub(crate) use admission::{Admission, Verdict};
pub(crate) use admitted::{Admitted, FieldLines};
pub(crate) use client::ClientAddress;
pub(crate) use cors::{CORS_FIELDS, answer_preflight, preflight};
pub(crate) use hops::hops_from_end;
pub use limit::Ledger;
pub(crate) use limit::{Asker, Counted, Left, compile as compile_limits, look_at};
pub(crate) use own_fields::OwnFields;
