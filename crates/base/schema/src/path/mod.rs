//! Fields by path (`customer.address.city`, `items[0].sku`, `labels["env"]`), compiled once and then read straight from a
//! message in binary form: no tree, and no allocation for scalars. What is read is what a parser would have read: the last of
//! several values, messages merged of their parts, one member of a oneof, packed and unpacked lists, defaults.

mod list;
mod map;
mod parse;
mod parts;
mod scan;
mod value;

use std::fmt;
use std::sync::Arc;

pub use list::List;
pub use map::{Key, Map};
pub use parse::Problem;
pub use parts::Parts;
pub use value::Value;

use crate::types::Types;
use crate::{Enum, Field, Kind, MessageId, MessageType, Presence, Shape};
use scan::Single;
pub(crate) use scan::wire_type;

/// Fields one below the other in a path.
pub const STEPS_MAX: usize = 32;

/// A compiled path.
#[derive(Clone)]
pub struct Path {
    types: Arc<Types>,
    steps: Box<[Step]>,
}

/// A field, and what is taken of it.
#[derive(Clone, Debug)]
struct Step {
    /// The message that the field is in, and the field's place there.
    of: MessageId,
    at: u16,
    single: Single,
    presence: Presence,
    shape: Shape,
    /// Other members of its oneof, which take its value away.
    rivals: Box<[Single]>,
    pick: Pick,
}

/// What is taken of a list or a map.
#[derive(Clone, Debug)]
enum Pick {
    Whole,
    Index(usize),
    Key(Key),
}

/// The bytes are no message: a length beyond their end, a tag that does not exist, a string that is not UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("malformed message")
    }
}

impl std::error::Error for Malformed {}

/// What stands at a path.
#[derive(Clone, Debug)]
pub struct Seen<'a> {
    /// The value; the default if there is none.
    pub value: Value<'a>,
    /// Whether there is one: the field is there, or, where absence cannot be told from the default, it is not the default.
    pub present: bool,
}

impl Path {
    /// Compiles `text` for messages of a type. Names are those of the .proto file or of JSON; `[0]` or `.0` picks of a list,
    /// `["key"]`, `[7]` or `.key` of a map, and `[package.name]` is an extension.
    pub fn compile(of: &MessageType, text: &str) -> Result<Self, Problem> {
        parse::compile(of, text)
    }

    /// The last field of the path.
    pub fn field(&self) -> &Field {
        let step = self.last();
        &self.types.message(step.of).fields[usize::from(step.at)]
    }

    /// The type of what is read, or of its elements or values.
    pub fn kind(&self) -> Kind {
        self.last().single.kind
    }

    /// Whether a list, a map or one value is read. What is picked of a list or a map is one value.
    pub fn shape(&self) -> Shape {
        match self.last().pick {
            Pick::Whole => self.last().shape,
            _ => Shape::One,
        }
    }

    /// The type of the messages that are read. `None` if they are none.
    pub fn message(&self) -> Option<MessageType> {
        match self.kind() {
            Kind::Message(id) => Some(MessageType { types: Arc::clone(&self.types), id }),
            _ => None,
        }
    }

    /// The enum of what is read.
    pub fn enumeration(&self) -> Option<&Enum> {
        match self.kind() {
            Kind::Enum(id) => Some(self.types.enumeration(id)),
            _ => None,
        }
    }

    /// Whether the value may be an enum's number that has no name.
    pub fn is_closed(&self) -> bool {
        self.last().single.closed
    }

    /// Reads from a message in binary form. Only what leads to the path is looked at; the time is that of passing over the
    /// fields of the messages on the way.
    pub fn read<'a>(&'a self, message: &'a [u8]) -> Result<Seen<'a>, Malformed> {
        // A scalar at the top is what most rules look at.
        if let [step @ Step { shape: Shape::One, rivals, single, .. }] = &*self.steps
            && rivals.is_empty()
            && !single.closed
            && !matches!(single.kind, Kind::Message(_))
        {
            let found = scan::last(message, single.number, scan::wire_type(single.kind))?;
            let found = found.map_or(Ok(None), |mut reader| single.scalar(&self.types, &mut reader))?;
            return Ok(self.or_written(step.counted(&self.types, found)));
        }
        self.read_parts(Parts::one(message))
    }

    /// Reads from a message that another path gave.
    pub fn read_parts<'a>(&'a self, message: Parts<'a>) -> Result<Seen<'a>, Malformed> {
        let mut parts = message;
        let Some((last, before)) = self.steps.split_last() else { return Err(Malformed) };
        for step in before {
            parts = match step.read(&self.types, parts)?.value {
                Value::Message(parts) => parts,
                // The compiler lets only messages have fields.
                _ => Parts::none(),
            };
        }
        Ok(self.or_written(last.read(&self.types, parts)?))
    }

    #[inline]
    fn or_written<'a>(&'a self, mut seen: Seen<'a>) -> Seen<'a> {
        if !seen.present
            && let Some(default) = self.written_default()
        {
            seen.value = default;
        }
        seen
    }

    /// The default that the .proto file writes for it, which stands for a field that is not there.
    fn written_default(&self) -> Option<Value<'_>> {
        let field = matches!(self.last().shape, Shape::One).then(|| self.field())?;
        value::written(field.default()?, field.kind())
    }

    fn last(&self) -> &Step {
        // A path has a step: the compiler refuses empty ones.
        &self.steps[self.steps.len() - 1]
    }
}

impl Step {
    fn read<'a>(&'a self, types: &'a Types, parts: Parts<'a>) -> Result<Seen<'a>, Malformed> {
        match (self.shape, &self.pick) {
            (Shape::One, _) => self.read_one(types, parts),
            (Shape::List, Pick::Index(at)) => {
                let picked = List::new(types, &self.single, parts).iter().nth(*at).transpose()?;
                Ok(self.seen(types, picked))
            }
            (Shape::List, _) => {
                let list = List::new(types, &self.single, parts);
                let present = list.iter().next().transpose()?.is_some();
                Ok(Seen { value: Value::List(list), present })
            }
            (Shape::Map { key }, Pick::Key(wanted)) => {
                let picked = Map::new(types, key, &self.single, parts).get(wanted)?;
                Ok(self.seen(types, picked))
            }
            (Shape::Map { key }, _) => {
                let map = Map::new(types, key, &self.single, parts);
                let present = !map.is_empty()?;
                Ok(Seen { value: Value::Map(map), present })
            }
        }
    }

    fn read_one<'a>(&'a self, types: &'a Types, parts: Parts<'a>) -> Result<Seen<'a>, Malformed> {
        if let Kind::Message(_) = self.single.kind {
            let found = scan::message(types, &parts, &self.single, &self.rivals)?;
            return Ok(Seen { present: found.is_some(), value: Value::Message(found.unwrap_or_default()) });
        }
        Ok(self.counted(types, scan::scalar(types, &parts, &self.single, &self.rivals)?))
    }

    /// A scalar, by its presence.
    #[inline]
    fn counted<'a>(&self, types: &Types, found: Option<Value<'a>>) -> Seen<'a> {
        let mut seen = self.seen(types, found);
        if self.presence == Presence::Implicit && seen.value.is_zero() {
            seen.present = false;
        }
        seen
    }

    fn seen<'a>(&self, types: &Types, found: Option<Value<'a>>) -> Seen<'a> {
        let present = found.is_some();
        Seen { present, value: found.unwrap_or_else(|| value::zero(self.single.kind, types)) }
    }
}

impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.steps.iter().enumerate() {
            let field = &self.types.message(step.of).fields[usize::from(step.at)];
            write!(f, "{}{}", if at == 0 { "" } else { "." }, field.name())?;
            match &step.pick {
                Pick::Whole => {}
                Pick::Index(index) => write!(f, "[{index}]")?,
                Pick::Key(key) => write!(f, "[{key:?}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
