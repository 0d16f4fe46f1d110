//! What tests share: stand-ins for the parts around the one that is tested. For `dev-dependencies` only.

mod exchange;

pub use exchange::RecordedExchange;
