//! Replies that are read whole before the client gets their head.
//!
//! [`Buffered`] stands around the exchange: the handler behind it writes its reply as ever, and is done with it as soon as
//! it has written it.

mod buffered;

pub(crate) use buffered::Buffered;
