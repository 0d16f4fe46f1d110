//! Templates: text with `{{ … }}` in it, where an expression of CEL computes a value from the call.

mod budget;
mod clock;
mod expression;
mod fake;
mod filter;
mod names;
mod parts;
mod reference;
mod scope;
mod text;

pub(super) use budget::Budget;
pub use clock::WallTime;
pub use expression::Failure;
pub(super) use expression::{At, Expression, Template};
pub(super) use names::{Names, Uses};
pub use reference::templates_markdown;
pub(super) use scope::{Frame, Moment, Scope};
pub(super) use text::{json, span, text, wall};
