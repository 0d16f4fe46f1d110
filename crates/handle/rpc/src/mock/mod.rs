//! Mocks: rules choose a reply, state remembers what was answered.

mod admin;
mod answering;
mod constrained;
mod counts;
mod fake;
mod files;
pub mod journal;
mod loaded;
#[expect(clippy::module_inception, reason = "a mock is what this folder is about")]
mod mock;
mod noted;
pub mod record;
mod reflect;
pub mod reply;
pub mod rules;
pub mod secret;
mod service;
#[cfg(test)]
mod service_tests;
mod settings;
pub mod state;

pub use crate::validate::Mode as Validate;
pub use admin::{PAGE, Reset, problems};
pub use loaded::Loaded;
pub use mock::{Mock, Mocks};
pub use service::{MockPlan, MockService};
pub use settings::{Record, Settings};
