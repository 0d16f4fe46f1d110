//! The values of a template's variables at one moment of a call.

use std::cell::RefCell;
use std::rc::Rc;

use super::budget::Budget;
use super::fake::Fakes;
use super::names::{COUNT, Uses};
use crate::cel::{Map, Named, Timestamp, Value};
use crate::mock::reply::facts::{Facts, RequestFields};
use crate::mock::reply::received::Received;
use crate::mock::state::Draws;

use super::{Failure, WallTime};

/// What can be told of the moment.
#[derive(Clone, Copy, Debug)]
pub(in crate::mock::reply) struct Moment {
    pub(in crate::mock::reply) now: WallTime,
    /// Messages that were sent.
    pub(in crate::mock::reply) sent: u64,
}

/// What the values of variables borrow from. Stands beside [`Scope`], which cannot borrow from itself.
pub(in crate::mock::reply) struct Frame<'f> {
    facts: &'f Facts<'f>,
    received: &'f Received,
    moment: Moment,
    draws: &'f RefCell<Draws>,
    budget: Budget,
    fakes: Fakes<'f>,
    metadata: Metadata<'f>,
}

/// The variables that some templates name, with their values.
pub(in crate::mock::reply) struct Scope<'f> {
    pub(super) slots: [Value<'f>; COUNT],
    pub(super) draws: &'f RefCell<Draws>,
    budget: &'f Budget,
}

impl<'f> Scope<'f> {
    /// The same variables, with another `item`.
    pub(in crate::mock::reply) fn with_item(&self, item: Value<'f>) -> Self {
        let mut slots = self.slots.clone();
        if let Some(slot) = slots.get_mut(Uses::ITEM.index()) {
            *slot = item;
        }
        Self { slots, draws: self.draws, budget: self.budget }
    }

    /// The call's random numbers.
    pub(in crate::mock::reply) fn draws(&self) -> &'f RefCell<Draws> {
        self.draws
    }

    /// What may still be made.
    pub(in crate::mock::reply) fn budget(&self) -> &'f Budget {
        self.budget
    }
}

impl<'f> Frame<'f> {
    pub(in crate::mock::reply) fn new(
        facts: &'f Facts<'f>,
        received: &'f Received,
        moment: Moment,
        draws: &'f RefCell<Draws>,
    ) -> Self {
        let (fakes, metadata) = (Fakes(draws), Metadata(facts.metadata));
        Self { facts, received, moment, draws, budget: Budget::new(), fakes, metadata }
    }

    /// Prepares the variables in `uses`; `item` is what an `each` is at.
    pub(in crate::mock::reply) fn scope(&'f self, uses: Uses, item: Value<'f>) -> Result<Scope<'f>, Failure> {
        let mut slots = [const { Value::Null }; COUNT];
        for (index, slot) in slots.iter_mut().enumerate() {
            let this = Uses::slot(index);
            if uses.any(this) {
                *slot = self.value(this, &item)?;
            }
        }
        Ok(Scope { slots, draws: self.draws, budget: &self.budget })
    }

    fn value(&'f self, variable: Uses, item: &Value<'f>) -> Result<Value<'f>, Failure> {
        let facts = self.facts;
        Ok(match variable {
            Uses::REQUEST => Value::message(self.received.first()?),
            Uses::LAST => Value::message(self.received.last()?),
            Uses::REQUESTS => self.messages(false)?,
            Uses::UNANSWERED => self.messages(true)?,
            Uses::METADATA => Value::named(&self.metadata),
            Uses::METADATA_ALL => grouped(
                facts.metadata.all().into_iter().map(|(name, value)| (name.to_ascii_lowercase(), Value::text(value))),
            ),
            Uses::QUERY => facts.metadata.query().map_or(Value::Null, |query| grouped(pairs(query))),
            Uses::CALL => int(facts.call),
            Uses::INDEX => int(self.moment.sent),
            Uses::ITEM => item.clone(),
            Uses::RECEIVED => int(self.received.count()),
            Uses::SESSION => Value::text(facts.session),
            Uses::STATE => Value::text(facts.state),
            Uses::NOW => Value::Timestamp(Timestamp::at(self.moment.now.seconds, self.moment.now.nanos)),
            Uses::FAKE => Value::named(&self.fakes),
            Uses::TIMEOUT_MS => facts.timeout_ms.map_or(Value::Null, int),
            Uses::METHOD => Value::text(facts.method),
            Uses::PEER => Value::text(facts.peer),
            _ => Value::Null,
        })
    }

    fn messages(&'f self, unanswered: bool) -> Result<Value<'f>, Failure> {
        let messages = self.received.messages(unanswered)?;
        Ok(Value::list(messages.into_iter().map(Value::message).collect()))
    }
}

fn int<'f>(number: u64) -> Value<'f> {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

/// The variable `metadata`.
struct Metadata<'f>(&'f dyn RequestFields);

impl Named for Metadata<'_> {
    fn get(&self, key: &str) -> Option<Value<'_>> {
        self.0.first(key).map(Value::text)
    }

    fn keys(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in self.0.all() {
            if !names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
                names.push(name);
            }
        }
        names
    }
}

/// A map from each name to all of its values, in the order of the first ones.
fn grouped<'f>(pairs: impl Iterator<Item = (String, Value<'f>)>) -> Value<'f> {
    let mut entries: Vec<(String, Vec<Value<'f>>)> = Vec::new();
    for (name, value) in pairs {
        match entries.iter_mut().find(|(known, _)| *known == name) {
            Some((_, values)) => values.push(value),
            None => entries.push((name, vec![value])),
        }
    }
    let entry = |(name, values): (String, _)| (Value::String(name.into()), Value::list(values));
    Value::Map(Map::Entries(Rc::new(entries.into_iter().map(entry).collect())))
}

/// Names and values of a query, decoded as those of forms are.
fn pairs<'f>(query: &str) -> impl Iterator<Item = (String, Value<'f>)> {
    query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(name), Value::String(decoded(value).into()))
    })
}

/// `+` as a space, `%` and two digits as a byte; bytes that are not UTF-8 are replaced.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = digits.filter(|_| first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        rest = if escaped.is_some() { after.get(2..).unwrap_or_default() } else { after };
        bytes.push(escaped.unwrap_or(if first == b'+' { b' ' } else { first }));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
