//! Validates messages by the rules of protovalidate: `buf.validate` options, compiled once per message type.
//!
//! A standard rule is an expression of CEL that says what is wrong (`standard`). Native code beside most of them
//! (`check`) proves in a few instructions that a value passes; only where it does not, the expressions are evaluated.
//! So a valid message runs no CEL but what its author wrote, and both ways are judged by the same conformance suite.

mod check;
mod checks;
mod compile;
mod constraints;
mod declared;
mod evaluate;
mod expression;
mod guard;
mod mode;
mod path;
mod plan;
mod quick;
mod standard;
mod validators;
mod violation;

#[cfg(test)]
mod tests;

pub use constraints::{Constraints, Format};
pub use guard::Guard;
pub use mode::Mode;
pub use path::{FieldPath, PathElement, Subscript};
pub use validators::{Failure, Problem, Validators};
pub use violation::{VIOLATIONS_MAX, Violation, Violations};
