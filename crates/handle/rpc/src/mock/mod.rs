//! Mocks: rules choose a reply, state remembers what was answered.

pub mod reply;
pub mod rules;
pub mod journal;
pub mod record;
pub mod secret;
pub mod state;
