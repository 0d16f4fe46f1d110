use std::cell::OnceCell;

use leat_config::table::Open;
use leat_rpc_wire::Metadata;
use leat_schema::Method;
use leat_schema::buffa_descriptor::reflect::DynamicMessage;

use super::Fields;
use super::condition::Condition;
use crate::cel::{Activation, Blob, Declarations, Error, Named, Program, Text, Type, Value};

/// A condition in CEL.
#[derive(Debug)]
pub(crate) struct Expression {
    program: Program,
    source: Box<str>,
    uses_request: bool,
}

/// Reads the expression of a rule's conditions, if there is one. `None`: problems were reported.
pub(super) fn read(open: &Open<'_>, method: &Method) -> Option<Vec<Condition>> {
    let Some(text) = open.text("cel") else { return Some(Vec::new()) };
    let pool = method.input().pool();
    let mut names = Declarations::new(pool);
    names.variable("request", Type::message(pool, method.input().index()));
    names.variable("metadata", Type::map(Type::String, Type::Dyn));
    names.variable("calls", Type::Int);
    let program = match Program::compile(text.value, &names) {
        Ok(program) => program,
        Err(problem) => {
            let message =
                format!("in the expression, line {}, column {}: {}", problem.line, problem.column, problem.message);
            open.reader.problem_help(text.place, message, "an expression may name `request`, `metadata` and `calls`");
            return None;
        }
    };
    if !program.yields_bool() {
        let help = "compare with something, such as `request.id == 7`";
        open.reader.problem_help(text.place, "the expression is neither true nor false", help);
        return None;
    }
    let uses_request = program.uses("request");
    Some(vec![Condition::Cel(Box::new(Expression { program, source: text.value.into(), uses_request }))])
}

impl Expression {
    /// As it was written.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// Whether it asks how often the rule has answered.
    pub(crate) fn uses_calls(&self) -> bool {
        self.program.uses("calls")
    }

    /// Whether it looks at metadata.
    pub(crate) fn uses_metadata(&self) -> bool {
        self.program.uses("metadata")
    }

    /// Whether the request has to be decoded for it.
    pub(crate) fn uses_request(&self) -> bool {
        self.uses_request
    }

    /// Whether it is true of a call; `request` may be left out if it is not used.
    ///
    /// # Errors
    /// What CEL calls an error, or too many steps.
    pub(crate) fn truth(
        &self,
        request: Option<&DynamicMessage>,
        metadata: &dyn Fields,
        calls: u64,
    ) -> Result<bool, Error> {
        let named = View { metadata, names: OnceCell::new() };
        let request = request.map_or(Value::Null, Value::message);
        let slots = [request, Value::named(&named), Value::Int(i64::try_from(calls).unwrap_or(i64::MAX))];
        self.program.truth(&Activation::new(&slots))
    }
}

/// Metadata as a map from names to their first values.
struct View<'a> {
    metadata: &'a dyn Fields,
    names: OnceCell<Vec<String>>,
}

impl Named for View<'_> {
    fn get(&self, key: &str) -> Option<Value<'_>> {
        let mut first = None;
        self.metadata.any(key, &mut |value| {
            first = Some(match Metadata::is_binary(key) {
                true => Value::Bytes(Blob::Shared(value.into())),
                false => Value::String(Text::Shared(String::from_utf8_lossy(value).into())),
            });
            true
        });
        first
    }

    fn keys(&self) -> Vec<&str> {
        let names = self.names.get_or_init(|| {
            let mut names = Vec::new();
            self.metadata.names(&mut |name| {
                let name = name.to_ascii_lowercase();
                if !names.contains(&name) {
                    names.push(name);
                }
            });
            names
        });
        names.iter().map(String::as_str).collect()
    }
}
