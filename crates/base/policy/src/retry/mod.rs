//! Whether to try again, and when: conditions, attempts, back-off, `Retry-After`, deadline and budget.

mod backoff;
mod budget;
mod conditions;
mod outcome;
mod retry_after;
mod verdict;

pub use backoff::{Backoff, Jitter};
pub use budget::{Budget, BudgetCell};
pub use conditions::Conditions;
pub use outcome::{Body, Idempotency, Outcome};
pub use retry_after::parse as parse_retry_after;
pub use verdict::{Again, Retry, Stop, Try};

#[cfg(test)]
mod tests;
