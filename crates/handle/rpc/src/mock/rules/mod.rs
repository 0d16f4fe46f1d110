//! Rules: which calls a mock answers, and with what. Files of rules are compiled against the schema, once; choosing one for
//! a call is a function of the call and of what was remembered, without a clock, a lock or I/O.
//!
//! A method's rules stand in one order: priority, then how much a rule asks for, then the order of the files. The first one
//! that matches answers. Which rules are compared at all says an index on the values that rules want exactly
//! (docs/design/mock-rules.md).

mod asked;
mod choose;
mod condition;
mod expression;
mod fields;
mod glob;
mod index;
mod literal;
mod moment;
mod nearest;
mod operators;
mod path;
mod read;
mod rule;
mod scalar;
mod set;
mod shadow;
mod slots;
mod source;
mod table;
mod test;
mod tree;
mod trees;

pub use asked::Asked;
pub use choose::{Choice, Request};
pub use nearest::{Nearest, Unmatched};
pub use rule::{Head, Info, Rule, Scenario};
pub use set::{Loaded, Set};

use leat_config::table::Open;
use leat_schema::Method;

use super::state::Blocked;

/// Longest file of rules, in bytes: some 300,000 short rules.
pub const FILE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Most rules of a mock.
pub const RULES_MAX: usize = 1_000_000;

/// Compiles what rules answer with.
pub trait Replies {
    /// What a rule answers with.
    type Reply;

    /// Compiles the reply of a rule for a method; `rule` is open at its table, of which `reply` is still to be asked for.
    /// `None`: problems went to the rule's reader.
    fn compile(&mut self, info: &Info, rule: &Open<'_>, method: &Method) -> Option<Self::Reply>;
}

/// What is remembered between calls, for one call in its session.
pub trait Gate<R> {
    /// Whether the rule, which matches, may answer now; if so, it has answered once more. The number of that answer in the
    /// session, from 1; a rule that nothing is counted of may say 0.
    ///
    /// # Errors
    /// Why it may not answer.
    fn claim(&mut self, rule: &Rule<R>) -> Result<u64, Blocked>;

    /// How often the rule has answered in the session.
    fn calls(&mut self, rule: &Rule<R>) -> u64;
}

/// The metadata of a call, as rules look at it.
pub trait Fields {
    /// Whether `test` says yes to one of the values of `name`, which is in lower case. Values of names that end in `-bin` are
    /// bytes, already decoded. No more values are shown after the first yes.
    fn any(&self, name: &str, test: &mut dyn FnMut(&[u8]) -> bool) -> bool;

    /// Shows all names, in any case; a name may come more than once.
    fn names(&self, each: &mut dyn FnMut(&str));
}

impl Fields for leat_rpc_wire::Metadata {
    fn any(&self, name: &str, test: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        self.values(name).any(test)
    }

    fn names(&self, each: &mut dyn FnMut(&str)) {
        self.iter().for_each(|(name, _)| each(name));
    }
}

impl Fields for crate::CallMetadata<'_> {
    fn any(&self, name: &str, test: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        if leat_rpc_wire::Metadata::is_binary(name) {
            return self.binary(name).iter().any(|value| test(value));
        }
        self.values(name).any(test)
    }

    fn names(&self, each: &mut dyn FnMut(&str)) {
        self.iter().filter_map(|(name, _)| std::str::from_utf8(name).ok()).for_each(each);
    }
}

/// The JSON Schema (2020-12) of files of rules.
pub fn schema() -> serde_json::Value {
    let mut schema = leat_config::table::schema(&table::FILE, "Rules of a Leat mock");
    let Some(defs) = schema.get_mut("$defs").map(serde_json::Value::take) else { return schema };
    let file = schema;
    serde_json::json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Rules of a Leat mock",
        "anyOf": [{ "$ref": "#/$defs/file" }, { "$ref": "#/$defs/rule" }, { "type": "array", "items": { "$ref": "#/$defs/rule" } }],
        "$defs": with_file(defs, file),
    })
}

fn with_file(mut defs: serde_json::Value, mut file: serde_json::Value) -> serde_json::Value {
    if let (Some(defs), Some(file)) = (defs.as_object_mut(), file.as_object_mut()) {
        for key in ["$schema", "title", "$defs"] {
            file.remove(key);
        }
        defs.insert("file".to_owned(), serde_json::Value::Object(std::mem::take(file)));
    }
    defs
}

/// The reference page of files of rules.
pub fn reference_markdown() -> String {
    leat_config::table::markdown(&table::FILE, include_str!("reference_top.md"))
}
