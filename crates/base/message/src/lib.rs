//! What every part of Leat agrees on: a head, a body's length, the named limits, the reasons for refusing, and the
//! contract between the code that carries bytes and the code that answers requests. No I/O and no clock.

mod decimal;
mod handler;
mod head;
mod layer;
mod limits;
mod method;
mod name;
mod owned_fields;
mod peer;
mod phases;
mod reason;
mod record;
mod rpc;
mod trace;

pub use decimal::{decimal, decimal_word};
pub use handler::{BreakOff, Ended, Exchange, Fault, Fixed, Handler, Piece, Reply, Step, WHOLE_BODY_BYTES_MAX};
pub use head::{Field, FieldIter, Fields, Head, Length, RequestLines, ResponseHead, ResponseLines, Span, Version};
pub use layer::Layer;
pub use limits::{BodyLimits, LeftToHandler, Limits, Profile};
pub use method::Method;
pub use name::Name;
pub use owned_fields::OwnedFields;
pub use peer::{Address, ClientCertificate, HostPolicy, Peer, Scheme, TlsInfo};
pub use phases::{Phase, Phases, ticks};
pub use reason::{Blame, Reason};
pub use record::Record;
pub use rpc::RpcProtocol;
pub use trace::Trace;
