//! Conditions on messages alone, as those under `match.message` of a rule: what somebody asks of calls that came.

use std::sync::Arc;

use leat_config::table::Open;
use leat_rpc_wire::Metadata;
use leat_schema::{Method, Schema};
use serde_json::{Value, json};

use super::{Info, Replies, Request, Set};

/// What a message of a method's client is asked for.
#[derive(Debug)]
pub struct Asked {
    /// One rule without a reply.
    set: Set<()>,
    method: Method,
}

impl Asked {
    /// Compiles conditions in JSON.
    ///
    /// # Errors
    /// What is wrong with the first of them, and what to write.
    pub fn compile(wanted: &Value, method: &Method, schema: &Arc<Schema>) -> Result<Self, String> {
        let rule = json!({ "method": method.full_name(), "match": { "message": wanted }, "reply": {} }).to_string();
        let loaded = Set::load(&[("message", &rule)], schema, &mut Nothing);
        let wrong = loaded.problems.first().map(|problem| match &problem.help {
            Some(help) => format!("{} ({help})", problem.message()),
            None => problem.message().to_owned(),
        });
        let set = loaded.set.ok_or_else(|| wrong.unwrap_or_default())?;
        Ok(Self { set, method: method.clone() })
    }

    /// Whether a message, in binary form, is so.
    pub fn holds(&self, message: &[u8]) -> bool {
        self.set.matches(&Request { method: &self.method, metadata: &Metadata::new(), message })
    }
}

/// Replies that say nothing.
struct Nothing;

impl Replies for Nothing {
    type Reply = ();

    fn compile(&mut self, _: &Info, rule: &Open<'_>, _: &Method) -> Option<()> {
        let _ = rule.json("reply");
        Some(())
    }
}
