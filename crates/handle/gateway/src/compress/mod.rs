//! Bodies of replies, compressed on their way to clients that take it.
//!
//! [`Compressed`] stands around the exchange: the handler behind it writes its reply as ever, and knows nothing of it.

mod choice;
mod compressed;
mod encoder;

pub(crate) use compressed::Compressed;
