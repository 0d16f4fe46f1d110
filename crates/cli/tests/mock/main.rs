//! `leat mock`: calls are answered by rules, kept, verified, recorded and compared.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod admin;
mod answers;
mod bounds;
mod commands;
mod record;
mod reload;
mod support;
