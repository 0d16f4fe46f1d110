//! Evaluation: a walk over the program with the caller's values, bounded in steps.

use std::fmt;
use std::rc::Rc;

use super::arithmetic::{self, Arithmetic};
use super::compare::{equal, order, ordered, weight};
use super::node::{Constant, Loop, Node, Relation};
use super::value::take_unpacked_bytes;
use super::{List, Text, Timestamp, Value, build, call};

/// Steps of one evaluation: operations, elements that are looked at, eighths of bytes that are read, written or unpacked. A hundred
/// thousand elements under a dozen operations stay below; nested loops over a large message do not.
pub const STEPS_MAX: u64 = 4_000_000;

/// Why an evaluation has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// An operator or a function met a value of a type that it does not take.
    Overload {
        /// The operator or function.
        what: &'static str,
        /// The type of the value.
        given: Box<str>,
    },
    /// A map has no such key.
    Key(Box<str>),
    /// A message has no such field.
    Field(Box<str>),
    /// A list has no such element.
    Index,
    /// Division or remainder by zero.
    Division,
    /// A number, a time or a span that its type cannot hold.
    Overflow,
    /// A text that is no number, time or pattern; a pattern that is none.
    Invalid(Box<str>),
    /// The evaluation took more than its steps.
    Steps,
}

impl Error {
    pub(super) fn overload(what: &'static str, given: &Value<'_>) -> Error {
        Error::Overload { what, given: given.type_name().into() }
    }

    pub(super) fn invalid(text: impl Into<Box<str>>) -> Error {
        Error::Invalid(text.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Overload { what, given } => write!(f, "'{what}' does not take a value of type {given}"),
            Error::Key(key) => write!(f, "there is no key '{key}'"),
            Error::Field(name) => write!(f, "there is no field '{name}'"),
            Error::Index => f.write_str("the index is out of the list's bounds"),
            Error::Division => f.write_str("division by zero"),
            Error::Overflow => f.write_str("the result is out of its type's range"),
            Error::Invalid(text) => f.write_str(text),
            Error::Steps => f.write_str("the expression took too many steps"),
        }
    }
}

impl std::error::Error for Error {}

/// The values of the variables, in the order of their declaration.
#[derive(Clone, Copy, Debug)]
pub struct Activation<'a> {
    slots: &'a [Value<'a>],
    steps: u64,
}

impl<'a> Activation<'a> {
    /// With the default bound of [`STEPS_MAX`].
    pub fn new(slots: &'a [Value<'a>]) -> Activation<'a> {
        Activation { slots, steps: STEPS_MAX }
    }

    /// With another bound.
    pub fn with_steps(slots: &'a [Value<'a>], steps: u64) -> Activation<'a> {
        Activation { slots, steps }
    }
}

/// One evaluation.
pub(super) struct Evaluation<'a> {
    slots: &'a [Value<'a>],
    /// Variables of macros. An error stays in its place, since `error && false` is false.
    locals: Vec<Result<Value<'a>, Error>>,
    left: u64,
}

impl<'a> Evaluation<'a> {
    pub(super) fn new(activation: &Activation<'a>) -> Evaluation<'a> {
        // What the caller unpacked for the variables is not this evaluation's.
        take_unpacked_bytes();
        Evaluation { slots: activation.slots, locals: Vec::new(), left: activation.steps }
    }

    /// Takes steps off what is left.
    pub(super) fn charge(&mut self, steps: u64) -> Result<(), Error> {
        self.left = self.left.checked_sub(steps).ok_or(Error::Steps)?;
        Ok(())
    }

    pub(super) fn value(&mut self, node: &'a Node) -> Result<Value<'a>, Error> {
        self.charge(1 + take_unpacked_bytes() / 8)?;
        match node {
            Node::Constant(constant) => Ok(literal(constant)),
            Node::Variable(slot) => self.slots.get(*slot).cloned().ok_or(Error::Index),
            Node::Local(place) => self.locals.get(*place).cloned().unwrap_or(Err(Error::Index)),
            Node::Select { operand, name, field } => self.select(operand, name, *field),
            Node::Has { operand, name } => self.has(operand, name).map(Value::Bool),
            Node::Index(operand, index) => self.index(operand, index),
            Node::Not(operand) => self.truth(operand, "!").map(|truth| Value::Bool(!truth)),
            Node::Negate(operand) => arithmetic::negate(&self.value(operand)?),
            Node::And(left, right) => self.connect(left, right, false),
            Node::Or(left, right) => self.connect(left, right, true),
            Node::Conditional(parts) => {
                let (condition, yes, no) = &**parts;
                if self.truth(condition, "?:")? { self.value(yes) } else { self.value(no) }
            }
            Node::Equal { left, right, negated } => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                self.charge(weight(&left).min(weight(&right)))?;
                Ok(Value::Bool(equal(&left, &right) != *negated))
            }
            Node::Order { left, right, relation } => self.relate(left, right, *relation),
            Node::In(left, right) => self.contains(left, right).map(Value::Bool),
            Node::Arithmetic(operator, left, right) => self.arithmetic(*operator, left, right),
            Node::NotStrictlyFalse(operand) => match self.value(operand) {
                Err(Error::Steps) => Err(Error::Steps),
                Ok(Value::Bool(false)) => Ok(Value::Bool(false)),
                _ => Ok(Value::Bool(true)),
            },
            Node::Append { accumulator, item } => self.append(*accumulator, item),
            Node::Call(function, arguments) => {
                let mut values = Vec::with_capacity(arguments.len());
                for each in arguments {
                    values.push(self.value(each)?);
                }
                call::call(self, *function, &values)
            }
            Node::Matches(subject, pattern) => match self.value(subject)? {
                Value::String(text) => {
                    self.charge(text.len() as u64)?;
                    Ok(Value::Bool(pattern.matches(&text)))
                }
                other => Err(Error::overload("matches", &other)),
            },
            Node::List(items) => {
                let mut values = Vec::with_capacity(items.len());
                for each in items {
                    values.push(self.value(each)?);
                }
                Ok(Value::list(values))
            }
            Node::Map(entries) => self.map(entries),
            Node::Build { pool, message, fields } => {
                let mut values = Vec::with_capacity(fields.len());
                for (number, node) in fields {
                    values.push((*number, self.value(node)?));
                }
                build::build(pool, *message, values)
            }
            Node::Loop(parts) => self.walk(parts),
        }
    }

    fn truth(&mut self, node: &'a Node, what: &'static str) -> Result<bool, Error> {
        match self.value(node)? {
            Value::Bool(truth) => Ok(truth),
            other => Err(Error::overload(what, &other)),
        }
    }

    /// `&&` and `||`: the `decisive` value of either side decides, even beside an error.
    fn connect(&mut self, left: &'a Node, right: &'a Node, decisive: bool) -> Result<Value<'a>, Error> {
        let what = if decisive { "||" } else { "&&" };
        let left = match self.truth(left, what) {
            Ok(truth) if truth == decisive => return Ok(Value::Bool(decisive)),
            Err(Error::Steps) => return Err(Error::Steps),
            other => other,
        };
        match self.truth(right, what) {
            Ok(truth) if truth == decisive => Ok(Value::Bool(decisive)),
            Err(Error::Steps) => Err(Error::Steps),
            right => left.and(right).map(Value::Bool),
        }
    }

    fn select(
        &mut self,
        operand: &'a Node,
        name: &'a str,
        field: Option<(buffa_descriptor::MessageIndex, u32)>,
    ) -> Result<Value<'a>, Error> {
        match self.value(operand)? {
            Value::Message(message) => {
                if let Some((index, number)) = field
                    && message.get().message_index() == index
                    && let Some(descriptor) = message.get().pool().message(index).field(number)
                {
                    return Ok(message.select(descriptor));
                }
                let Some(descriptor) = message.field(name) else { return Err(Error::Field(name.into())) };
                Ok(message.select(descriptor))
            }
            Value::Map(map) => map.get(&Value::text(name)).ok_or_else(|| Error::Key(name.into())),
            other => Err(Error::overload(".", &other)),
        }
    }

    fn has(&mut self, operand: &'a Node, name: &'a str) -> Result<bool, Error> {
        match self.value(operand)? {
            Value::Message(message) => {
                let field = message.field(name).ok_or_else(|| Error::Field(name.into()))?;
                Ok(message.has(field))
            }
            Value::Map(map) => Ok(map.get(&Value::text(name)).is_some()),
            other => Err(Error::overload("has", &other)),
        }
    }

    fn index(&mut self, operand: &'a Node, index: &'a Node) -> Result<Value<'a>, Error> {
        let (operand, index) = (self.value(operand)?, self.value(index)?);
        match operand {
            Value::List(list) => {
                let place = match index {
                    Value::Int(number) => usize::try_from(number).ok(),
                    Value::Uint(number) => usize::try_from(number).ok(),
                    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                    Value::Double(number) if number.fract() == 0.0 && (0.0..4e15).contains(&number) => {
                        Some(number as usize)
                    }
                    other => return Err(Error::overload("[]", &other)),
                };
                place.and_then(|place| list.get(place)).ok_or(Error::Index)
            }
            Value::Map(map) => {
                self.charge(map_weight(&map))?;
                map.get(&index).ok_or_else(|| Error::Key(call::text_of(&index).into()))
            }
            other => Err(Error::overload("[]", &other)),
        }
    }

    fn relate(&mut self, left: &'a Node, right: &'a Node, relation: Relation) -> Result<Value<'a>, Error> {
        let (left, right) = (self.value(left)?, self.value(right)?);
        self.charge(weight(&left).min(weight(&right)))?;
        match order(&left, &right) {
            Some(order) => Ok(Value::Bool(relation.holds(order))),
            // NaN: ordered in kind, but beside nothing.
            None if ordered(&left, &right) => Ok(Value::Bool(false)),
            None => Err(Error::overload(relation.symbol(), &right)),
        }
    }

    fn contains(&mut self, left: &'a Node, right: &'a Node) -> Result<bool, Error> {
        let (left, right) = (self.value(left)?, self.value(right)?);
        match right {
            Value::List(list) => {
                self.charge(list.len() as u64)?;
                Ok(list.iter().any(|each| equal(&each, &left)))
            }
            Value::Map(map) => {
                self.charge(map_weight(&map))?;
                Ok(map.get(&left).is_some())
            }
            other => Err(Error::overload("in", &other)),
        }
    }

    fn arithmetic(&mut self, operator: Arithmetic, left: &'a Node, right: &'a Node) -> Result<Value<'a>, Error> {
        let (left, right) = (self.value(left)?, self.value(right)?);
        self.charge(weight(&left) + weight(&right))?;
        operator.apply(&left, &right)
    }

    /// Takes the list out of its place, so that it is not shared while it grows.
    fn append(&mut self, accumulator: usize, item: &'a Node) -> Result<Value<'a>, Error> {
        let item = self.value(item)?;
        let place = self.locals.get_mut(accumulator).ok_or(Error::Index)?;
        match std::mem::replace(place, Ok(Value::Null))? {
            Value::List(List::Items(mut items)) => {
                Rc::make_mut(&mut items).push(item);
                Ok(Value::List(List::Items(items)))
            }
            other => Err(Error::overload("+", &other)),
        }
    }

    fn map(&mut self, entries: &'a [(Node, Node)]) -> Result<Value<'a>, Error> {
        let mut values: Vec<(Value<'a>, Value<'a>)> = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            let key = self.value(key)?;
            if !matches!(key, Value::String(_) | Value::Int(_) | Value::Uint(_) | Value::Bool(_)) {
                return Err(Error::overload("{}", &key));
            }
            self.charge(values.len() as u64)?;
            if values.iter().any(|(before, _)| equal(before, &key)) {
                return Err(Error::invalid(format!("the key '{}' stands twice", call::text_of(&key))));
            }
            let value = self.value(value)?;
            values.push((key, value));
        }
        Ok(Value::Map(super::Map::Entries(Rc::new(values))))
    }

    fn walk(&mut self, parts: &'a Loop) -> Result<Value<'a>, Error> {
        let range = match self.value(&parts.range)? {
            Value::List(list) => list,
            Value::Map(map) => {
                self.charge(map.len() as u64)?;
                List::Items(Rc::new(map.keys()))
            }
            other => return Err(Error::overload("macro", &other)),
        };
        let initial = self.value(&parts.initial);
        let base = self.locals.len();
        self.locals.push(initial);
        self.locals.push(Ok(Value::Null));
        let result = self.steps(parts, &range, base);
        self.locals.truncate(base);
        result
    }

    fn steps(&mut self, parts: &'a Loop, range: &List<'a>, base: usize) -> Result<Value<'a>, Error> {
        for element in range.iter() {
            if !self.truth(&parts.condition, "macro")? {
                break;
            }
            if let Some(place) = self.locals.get_mut(base + 1) {
                *place = Ok(element);
            }
            let next = match self.value(&parts.step) {
                Err(Error::Steps) => return Err(Error::Steps),
                next => next,
            };
            if let Some(place) = self.locals.get_mut(base) {
                *place = next;
            }
        }
        self.value(&parts.result)
    }
}

fn map_weight(map: &super::Map<'_>) -> u64 {
    match map {
        super::Map::Entries(entries) => entries.len() as u64,
        _ => 1,
    }
}

fn literal(constant: &Constant) -> Value<'_> {
    match constant {
        Constant::Null => Value::Null,
        Constant::Bool(flag) => Value::Bool(*flag),
        Constant::Int(number) => Value::Int(*number),
        Constant::Uint(number) => Value::Uint(*number),
        Constant::Double(number) => Value::Double(*number),
        Constant::String(text) => Value::String(Text::Borrowed(text)),
        Constant::Bytes(bytes) => Value::Bytes(super::Blob::Borrowed(bytes)),
        Constant::Type(name) => Value::Type(Text::Borrowed(name)),
    }
}

/// The time of the caller's clock, as a value.
impl From<Timestamp> for Value<'_> {
    fn from(at: Timestamp) -> Self {
        Value::Timestamp(at)
    }
}
