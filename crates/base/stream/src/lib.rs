//! What a core of the engine owns: its sockets, its pool of buffers, its coarse clock and timer wheel, its drain switch.
//! Everything here belongs to one thread and is shared by that thread's connections.

mod buffer;
pub mod clock;
mod drain;
pub mod memory;
mod output;
mod socket;
mod turn;

pub use buffer::{BUFFER_BYTES, BULK_BYTES, Buffer};
pub use clock::Timer;
pub use drain::{begin_drain, drain_begun, is_draining};
pub use output::Output;
pub use socket::{Plain, Socket};
pub use turn::others_first;
