//! The values of a template's variables at one moment of a call.

use std::cell::RefCell;
use std::rc::Rc;

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
    fakes: Fakes<'f>,
    metadata: Metadata<'f>,
}

/// The variables that some templates name, with their values.
pub(in crate::mock::reply) struct Scope<'f> {
    pub(super) slots: [Value<'f>; COUNT],
    pub(super) draws: &'f RefCell<Draws>,
}

impl<'f> Scope<'f> {
    /// The call's random numbers.
    pub(in crate::mock::reply) fn draws(&self) -> &'f RefCell<Draws> {
        self.draws
    }
}

impl<'f> Frame<'f> {
    pub(in crate::mock::reply) fn new(
        facts: &'f Facts<'f>,
        received: &'f Received,
        moment: Moment,
        draws: &'f RefCell<Draws>,
    ) -> Self {
        Self { facts, received, moment, draws, fakes: Fakes(draws), metadata: Metadata(facts.metadata) }
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
        Ok(Scope { slots, draws: self.draws })
    }

    fn value(&'f self, variable: Uses, item: &Value<'f>) -> Result<Value<'f>, Failure> {
        let facts = self.facts;
        Ok(match variable {
            Uses::REQUEST => Value::message(self.received.first()?),
            Uses::LAST => Value::message(self.received.last()?),
            Uses::REQUESTS => self.messages(false)?,
            Uses::UNANSWERED => self.messages(true)?,
            Uses::METADATA => Value::named(&self.metadata),
            Uses::METADATA_ALL => all_values(facts.metadata),
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

/// The variable `metadata_all`: names in lower case, in the order of their first values.
fn all_values<'f>(metadata: &'f dyn RequestFields) -> Value<'f> {
    let mut entries: Vec<(String, Vec<Value<'f>>)> = Vec::new();
    for (name, value) in metadata.all() {
        match entries.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            Some((_, values)) => values.push(Value::text(value)),
            None => entries.push((name.to_ascii_lowercase(), vec![Value::text(value)])),
        }
    }
    let entry = |(name, values): (String, _)| (Value::String(name.into()), Value::list(values));
    Value::Map(Map::Entries(Rc::new(entries.into_iter().map(entry).collect())))
}
