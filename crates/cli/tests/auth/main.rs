//! Authentication from end to end: the built `leat`, real sockets, keys and certificates made for the test, issuers and
//! services that rotate, fail, hang and lie.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod certificates;
mod credentials;
mod external;
mod fetched_keys;
mod issuer;
mod places;
mod plugins;
mod secrets;
mod support;
mod tokens;
