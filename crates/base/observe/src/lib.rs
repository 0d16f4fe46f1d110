//! What Leat counts and what it writes down about every exchange.
//!
//! A core counts into cells that only it writes ([`Core`]): a load and a store each, no lock and no shared cache line.
//! The control thread sums the cores up ([`Registry::snapshot`]) and formats the sums ([`exposition::write`]). Access
//! records go from each core through a ring of its own to one writer thread ([`access_log`]).
//!
//! Nothing here opens a port or a connection: who serves the text, and who sends the messages of [`otlp`], decides where.

pub mod access_log;
mod block;
mod cell;
mod core;
mod exemplar;
pub mod exposition;
mod histogram;
mod limit;
pub mod otlp;
mod registry;
mod shape;
mod snapshot;
mod span;
pub mod trace_context;

pub use self::core::{Core, Endpoint, Limit};
pub use block::EndpointCells;
pub use cell::{Counter, Gauge, Shared};
pub use exemplar::Exemplar;
pub use histogram::{BOUNDS_US, Histogram, HistogramCounts};
pub use limit::LimitCells;
pub use registry::{NAMES_MAX, Process, Registry};
pub use shape::{EndpointName, Shape};
pub use snapshot::{EndpointCounts, LimitCounts, RouteCounts, Snapshot};
pub use span::{SPANS_MAX, Span, SpanKind, SpanQueue, Value};
