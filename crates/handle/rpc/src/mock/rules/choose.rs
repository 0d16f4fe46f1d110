use std::cell::{Cell, OnceCell};

use leat_schema::buffa_descriptor::reflect::DynamicMessage;
use leat_schema::{DecodeProblem, MessageType, Method};

use super::condition::Condition;
use super::expression::Expression;
use super::nearest::{self, Unmatched};
use super::scalar::Scalar;
use super::test::Test;
use super::tree::Seen;
use super::{Fields, Gate, Rule, Set};
use crate::cel::Error;

/// A call, as rules look at it.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// What is called: of the schema that the rules were loaded with.
    pub method: &'a Method,
    /// Its metadata.
    pub metadata: &'a dyn Fields,
    /// The message in binary form; of a client stream the first one, or nothing where none came.
    pub message: &'a [u8],
}

/// What became of a choice.
#[derive(Debug)]
pub enum Choice<'s, R> {
    /// This rule answers.
    Found {
        /// The rule.
        rule: &'s Rule<R>,
        /// The number of its answer in the session, from 1; what the gate said.
        number: u64,
    },
    /// No rule matches.
    Unmatched(Unmatched),
    /// The bytes are no message of the method's type.
    Malformed,
    /// A rule looks at the message as a whole, which would take too much memory (`leat_schema::DECODED_BYTES_MAX`).
    TooLarge,
}

/// Slots that stand on the stack; more take an allocation.
const SLOTS_ON_STACK: usize = 16;

impl<R> Set<R> {
    /// Picks the rule that answers a call. `gate` is asked only about rules that match and need what was remembered.
    ///
    /// Costs one pass over the message's bytes and one look-up for each kind of literal conditions, whatever the number of
    /// rules. No allocation, unless rules look at lists, maps or other messages as a whole: then the message is decoded once.
    pub fn choose<'s>(&'s self, request: &Request<'_>, gate: &mut dyn Gate<R>) -> Choice<'s, R> {
        let Some(rules) = self.of(request.method) else {
            return Choice::Unmatched(Unmatched::no_rules(request.method));
        };
        let mut few = [None; SLOTS_ON_STACK];
        let mut many = Vec::new();
        let values = match few.get_mut(..rules.slots.len()) {
            Some(values) => values,
            None => {
                many.resize(rules.slots.len(), None);
                &mut many[..]
            }
        };
        if rules.slots.read(request.message, values).is_none() {
            return Choice::Malformed;
        }
        let looked = Looked::new(request, values);
        let mut blocked = None;
        for rank in rules.index.candidates(values, request.metadata) {
            let Some(rule) = rules.rules.get(rank as usize) else { continue };
            if rule.uses_calls {
                looked.calls.set(gate.calls(rule));
            }
            if !looked.all(&rule.conditions) {
                continue;
            }
            match gate.claim(rule) {
                Ok(number) => return Choice::Found { rule, number },
                Err(why) => blocked = blocked.or(Some((rule, why))),
            }
        }
        match looked.problem.get() {
            Some(Undecoded::Malformed) => return Choice::Malformed,
            Some(Undecoded::TooLarge) => return Choice::TooLarge,
            None => {}
        }
        let unmatched = match blocked {
            Some((rule, why)) => Unmatched::blocked(rule, &why, rules.rules.len(), request.method),
            None => nearest::find(&rules.rules, &rules.slots, &looked, (request.method, self.redact()), gate),
        };
        Choice::Unmatched(unmatched)
    }
}

impl<R> Set<R> {
    /// Whether the conditions of a rule of its method hold for a call, whatever was remembered.
    pub(super) fn matches(&self, request: &Request<'_>) -> bool {
        let Some(rules) = self.of(request.method) else { return false };
        let mut values = vec![None; rules.slots.len()];
        if rules.slots.read(request.message, &mut values).is_none() {
            return false;
        }
        let looked = Looked::new(request, &values);
        rules.rules.iter().any(|rule| looked.all(&rule.conditions))
    }
}

/// Why there is no decoded message.
#[derive(Clone, Copy, Debug)]
enum Undecoded {
    Malformed,
    TooLarge,
}

/// What conditions look at.
pub(super) struct Looked<'a> {
    pub(super) values: &'a [Option<Scalar<'a>>],
    pub(super) metadata: &'a dyn Fields,
    message: &'a [u8],
    kind: &'a MessageType,
    decoded: OnceCell<Option<DynamicMessage>>,
    /// Why the message could not be decoded.
    problem: Cell<Option<Undecoded>>,
    /// How often the rule that is looked at has answered, where it asks.
    pub(super) calls: Cell<u64>,
}

impl<'a> Looked<'a> {
    fn new(request: &Request<'a>, values: &'a [Option<Scalar<'a>>]) -> Self {
        Self {
            values,
            metadata: request.metadata,
            message: request.message,
            kind: request.method.input(),
            decoded: OnceCell::new(),
            problem: Cell::new(None),
            calls: Cell::new(0),
        }
    }

    /// Whether all of these hold.
    #[inline]
    pub(super) fn all(&self, conditions: &[Condition]) -> bool {
        conditions.iter().all(|condition| self.holds(condition))
    }

    /// Whether a condition holds.
    #[inline]
    pub(super) fn holds(&self, condition: &Condition) -> bool {
        match condition {
            Condition::Slot { slot, test } => test.holds(self.value(*slot)),
            _ => self.holds_slowly(condition),
        }
    }

    fn holds_slowly(&self, condition: &Condition) -> bool {
        match condition {
            Condition::Slot { slot, test } => test.holds(self.value(*slot)),
            Condition::Metadata { name, test } => metadata_holds(name, test, self.metadata),
            Condition::Tree(condition) => {
                let Some(message) = self.decoded() else { return false };
                condition.tree.holds(below(&condition.steps, message))
            }
            Condition::Cel(expression) => self.truth(expression).unwrap_or(false),
            Condition::Any(groups) => groups.iter().any(|group| self.all(group)),
            Condition::None(groups) => !groups.iter().any(|group| self.all(group)),
        }
    }

    #[inline]
    pub(super) fn value(&self, slot: u16) -> Option<Scalar<'a>> {
        self.values.get(usize::from(slot)).copied().flatten()
    }

    /// Whether an expression is true of the call.
    pub(super) fn truth(&self, expression: &Expression) -> Result<bool, Error> {
        let request = if expression.uses_request() { self.decoded() } else { None };
        if request.is_none() && expression.uses_request() {
            return Ok(false);
        }
        expression.truth(request, self.metadata, self.calls.get())
    }

    /// The message, decoded when it is first needed.
    pub(super) fn decoded(&self) -> Option<&DynamicMessage> {
        let decoded = self.decoded.get_or_init(|| {
            let problem = match self.kind.decode(self.message) {
                Ok(decoded) => return Some(decoded),
                Err(DecodeProblem::Malformed(_)) => Undecoded::Malformed,
                Err(DecodeProblem::TooLarge) => Undecoded::TooLarge,
            };
            self.problem.set(Some(problem));
            None
        });
        decoded.as_ref()
    }
}

/// The value that the steps lead to.
pub(super) fn below<'m>(steps: &'m [super::tree::Step], message: &'m DynamicMessage) -> Option<Seen<'m>> {
    steps.iter().try_fold(Seen::Message(message), |seen, step| match seen {
        Seen::Message(message) => step.of(message),
        _ => None,
    })
}

/// Of several values of a name one must pass; `not` turns that round.
fn metadata_holds(name: &str, test: &Test, fields: &dyn Fields) -> bool {
    match test {
        Test::Not(test) => !metadata_holds(name, test, fields),
        Test::All(tests) => tests.iter().all(|test| metadata_holds(name, test, fields)),
        Test::Any(tests) => tests.iter().any(|test| metadata_holds(name, test, fields)),
        Test::Exists(wanted) => fields.any(name, &mut |_| true) == *wanted,
        test => fields.any(name, &mut |value| test.holds(Some(metadata_scalar(name, value)))),
    }
}

/// A value of metadata as tests see it.
#[inline]
pub(super) fn metadata_scalar<'v>(name: &str, value: &'v [u8]) -> Scalar<'v> {
    if leat_rpc_wire::Metadata::is_binary(name) { Scalar::Bytes(value) } else { Scalar::Text(value) }
}
