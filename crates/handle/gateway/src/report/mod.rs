//! What a running gateway is and has counted, as JSON for operators. Shapes are stable: keys come, and none goes.
//!
//! Lists are cut into pages, so that an answer is bounded whatever the configuration has.

mod limits;
mod routes;
mod upstreams;

use leat_observe::Snapshot;
use serde_json::{Value, json};

use crate::Lasting;
use crate::config::Config;

/// Elements of a page.
pub const PAGE: usize = 500;

/// What reports are made of.
pub struct Report<'a> {
    /// The live configuration.
    pub config: &'a Config,
    /// What is known beyond it.
    pub lasting: &'a Lasting,
    /// What was counted.
    pub counts: &'a Snapshot,
}

/// One page of a list: the elements, and where the next page begins if there is one.
fn page(name: &str, count: usize, from: usize, element: impl FnMut(usize) -> Option<Value>) -> Value {
    let end = count.min(from.saturating_add(PAGE));
    let elements: Vec<Value> = (from.min(end)..end).filter_map(element).collect();
    let next = if end < count { end.into() } else { Value::Null };
    json!({ name: elements, "count": count, "next": next })
}
