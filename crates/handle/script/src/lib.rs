//! The lane: requests to a JavaScript host and replies back, and the host's calls out, in batches. One lane joins one engine thread and one
//! JavaScript thread; neither ever waits for the other. Knows no host: who lends memory and who is woken comes from outside.
//!
//! Engine to host: records are written once, into memory that the host has lent ([`Slab`]), and published together. Host to
//! engine: one [`Batch`] a turn. Both wake-ups are sent only to a side that sleeps.

mod batch;
#[cfg(all(test, not(feature = "loom")))]
mod body_tests;
mod call;
mod connections;
mod exchanges;
mod flow;
mod group;
#[cfg(all(test, not(feature = "loom")))]
mod hand_over_tests;
mod ids;
mod lane;
mod latch;
#[cfg(all(test, feature = "loom"))]
mod loom_models;
mod memory;
mod nap;
mod out;
mod port;
mod record;
mod ring;
mod script;
mod shared;
mod sync;

pub use batch::{Batch, Buffer};
pub use call::Given;
pub use connections::Control;
pub use group::{Arrival, Group};
pub use lane::{Lane, LaneSeed, lane};
pub use memory::{Lent, Slab};
pub use nap::{after_park, before_park};
pub use port::{Port, Published};
pub use record::{
    BODIES_MAX, CREDIT_BYTES, FIELDS_MAX, HEAD_BYTES_MAX, REPLY_WORDS, SLAB_BYTES, SLABS_MAX, TRAILER_BYTES_MAX,
};
pub use script::{Plan, Script};
pub use shared::{Counts, Wake};
