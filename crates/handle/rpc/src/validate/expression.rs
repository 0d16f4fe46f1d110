//! One expression of CEL that judges a value: it yields whether the value passes, or what is wrong with it.

use std::sync::{Arc, OnceLock};

use buffa_descriptor::reflect::{DynamicMessage, Value as Proto};

use super::FieldPath;
use crate::cel::{Activation, Declarations, Program, Timestamp, Type, Value};

/// A rule in CEL.
#[derive(Debug)]
pub(super) struct Expression {
    source: String,
    known: Option<Known>,
    names: Declarations,
    /// Compiled when it is first needed: native checks spare most of the standard rules that.
    program: OnceLock<Result<Program, String>>,
    /// The rule's name.
    pub(super) id: String,
    message: String,
    /// Where the rule stands; none for rules of messages.
    pub(super) path: Option<Arc<FieldPath>>,
    /// The message of rules around a predefined rule, and that rule's own value.
    rules: Option<(Arc<DynamicMessage>, Proto)>,
}

/// What an expression finds.
pub(super) enum Verdict {
    Passes,
    /// With what is wrong.
    Breaks(String),
}

/// What the author wrote.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) id: String,
    pub(super) message: String,
    pub(super) source: String,
    /// Native code in the place of an expression.
    pub(super) known: Option<Known>,
}

impl Written {
    /// A rule that nothing breaks: one that is switched off.
    pub(super) fn passing() -> Written {
        Written { source: "true".to_owned(), ..Written::default() }
    }
}

/// What a value must be, in native code.
#[derive(Clone, Debug)]
pub(super) enum Known {
    /// A string of this format.
    Format(fn(&str) -> bool),
    /// Bytes of one of these lengths.
    Sized(&'static [usize]),
    NotEmpty,
    UnlessEmpty(Box<Known>),
}

impl Known {
    fn holds(&self, value: &Value<'_>) -> bool {
        let empty = match value {
            Value::String(text) => text.is_empty(),
            Value::Bytes(bytes) => bytes.is_empty(),
            _ => false,
        };
        match (self, value) {
            (Known::NotEmpty, _) => !empty,
            (Known::UnlessEmpty(known), value) => empty || known.holds(value),
            (Known::Format(is_valid), Value::String(text)) => is_valid(text),
            (Known::Sized(sizes), Value::Bytes(bytes)) => sizes.contains(&bytes.len()),
            _ => false,
        }
    }
}

impl Expression {
    /// A rule over `this`, a value of type `of`.
    pub(super) fn own(
        pool: &Arc<buffa_descriptor::DescriptorPool>,
        of: Type,
        written: Written,
        path: Option<Arc<FieldPath>>,
    ) -> Expression {
        let mut names = Declarations::new(pool);
        names.variable("this", of).variable("now", Type::Timestamp);
        let Written { id, message, source, known } = written;
        Expression { source, known, names, program: OnceLock::new(), id, message, path, rules: None }
    }

    /// A rule that is predefined: `rules` is the message that sets it, `rule` its value there.
    pub(super) fn predefined(
        of: Type,
        written: Written,
        path: Arc<FieldPath>,
        rules: &Arc<DynamicMessage>,
        rule: (Type, Proto),
    ) -> Expression {
        let mut names = Declarations::new(rules.pool());
        names.variable("this", of).variable("now", Type::Timestamp);
        names.variable("rules", Type::Message(rules.message_index())).variable("rule", rule.0);
        let Written { id, message, source, known } = written;
        let rules = Some((Arc::clone(rules), rule.1));
        Expression { source, known, names, program: OnceLock::new(), id, message, path: Some(path), rules }
    }

    /// What is wrong with the expression, if it is one: compiles it now.
    ///
    /// # Errors
    /// The mistake.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.known.is_some() { Ok(()) } else { self.compiled().map(|_| ()) }
    }

    fn compiled(&self) -> Result<&Program, String> {
        let program = self.program.get_or_init(|| {
            let at = |problem: String| format!("rule '{}': {problem} in: {}", self.id, self.source);
            let program = Program::compile(&self.source, &self.names).map_err(|problem| at(problem.to_string()))?;
            match program.result() {
                Type::Bool | Type::String | Type::Dyn => Ok(program),
                other => Err(at(format!("the result is {other}, where a bool or a string must be"))),
            }
        });
        program.as_ref().map_err(Clone::clone)
    }

    /// Judges `this`.
    ///
    /// # Errors
    /// An error of compilation or evaluation, as text.
    pub(super) fn judge(&self, this: &Value<'_>, now: Timestamp) -> Result<Verdict, Fault> {
        if let Some(known) = &self.known {
            return Ok(if known.holds(this) { Verdict::Passes } else { Verdict::Breaks(self.message.clone()) });
        }
        let program = self.compiled().map_err(Fault::Compile)?;
        let result = match &self.rules {
            None => {
                let slots = [this.clone(), Value::from(now)];
                verdict(program.evaluate(&Activation::new(&slots)))
            }
            Some((rules, rule)) => {
                // Rules are messages even where their type is a well-known one.
                let slots = [this.clone(), Value::from(now), Value::message(rules), Value::of(rule)];
                verdict(program.evaluate(&Activation::new(&slots)))
            }
        };
        match result.map_err(|error| Fault::Evaluate(format!("rule '{}': {error}", self.id)))? {
            None => Ok(Verdict::Passes),
            Some(text) if text.is_empty() && self.message.is_empty() => {
                Ok(Verdict::Breaks(format!("\"{}\" returned false", self.source)))
            }
            Some(text) if text.is_empty() => Ok(Verdict::Breaks(self.message.clone())),
            Some(text) => Ok(Verdict::Breaks(text)),
        }
    }
}

/// Why a value could not be judged.
#[derive(Clone, Debug)]
pub(super) enum Fault {
    Compile(String),
    Evaluate(String),
}

/// None for a value that passes, else what the expression says, which may be nothing.
fn verdict(result: Result<Value<'_>, crate::cel::Error>) -> Result<Option<String>, String> {
    match result.map_err(|error| error.to_string())? {
        Value::Bool(true) => Ok(None),
        Value::Bool(false) => Ok(Some(String::new())),
        Value::String(text) if text.is_empty() => Ok(None),
        Value::String(text) => Ok(Some((*text).to_owned())),
        other => Err(format!("the result is {}, where a bool or a string must be", other.type_name())),
    }
}
