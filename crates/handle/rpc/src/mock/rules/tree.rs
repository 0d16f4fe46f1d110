use leat_schema::buffa_descriptor::reflect::{DynamicMessage, MapKey, MapValue, Value};
use leat_schema::{Field, MessageType, Presence, Shape};

use super::scalar::{Literal, Scalar};
use super::test::Test;

/// What a rule asks of a value with parts: a message, a list, a map. Needs the decoded message, where a [`Test`] of a scalar
/// needs its bytes only.
#[derive(Clone, Debug)]
pub(crate) enum Tree {
    Scalar(Test),
    /// A message around one scalar, or of seconds and nanoseconds: read as that scalar.
    Wrapped(Test),
    Moment(Test),
    /// These fields of a message; what else is in it does not matter.
    Fields(Box<[(Step, Tree)]>),
    /// This message and nothing else.
    Exactly(MessageType, Box<DynamicMessage>),
    /// A message in an `Any`.
    Packed {
        type_name: Box<str>,
        inner: Box<Tree>,
    },
    /// Whether it is there; for lists and maps, whether anything is in it.
    Exists(bool),
    Size(Test),
    List(Elements),
    /// These entries of a map; others do not matter.
    Entries(Box<[(MapKey, Tree)]>),
    /// These entries and no others.
    ExactEntries(Box<[(MapKey, Tree)]>),
    Not(Box<Tree>),
    All(Box<[Tree]>),
    Any(Box<[Tree]>),
}

/// What a rule asks of the elements of a list, or of the values of a map.
#[derive(Clone, Debug)]
pub(crate) enum Elements {
    /// As many elements, each as said, in this order.
    InOrder(Box<[Tree]>),
    /// As many elements, each said once, in any order.
    Unordered(Box<[Tree]>),
    /// Each of these is some element's.
    Contain(Box<[Tree]>),
    At(usize, Box<Tree>),
    Any(Box<Tree>),
    All(Box<Tree>),
    None(Box<Tree>),
}

/// A field of a message.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    number: u32,
    shape: Shape,
    absent: Option<Literal>,
}

/// A value with its parts, where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Seen<'a> {
    Scalar(Scalar<'a>),
    Message(&'a DynamicMessage),
    List(&'a [Value]),
    Map(&'a MapValue),
}

static NO_ENTRIES: MapValue = MapValue::new();

impl Step {
    pub(crate) fn new(field: &Field) -> Self {
        Self { number: field.number(), shape: field.shape(), absent: super::slots::absent(field) }
    }

    /// The field's value; its default, or an empty list, where it is not written.
    pub(crate) fn of<'a>(&'a self, message: &'a DynamicMessage) -> Option<Seen<'a>> {
        match (message.field_by_number(self.number), self.shape) {
            (Some(value), _) => Some(seen(value)),
            (None, Shape::One) => self.absent.as_ref().map(|literal| Seen::Scalar(literal.scalar())),
            (None, Shape::List) => Some(Seen::List(&[])),
            (None, Shape::Map { .. }) => Some(Seen::Map(&NO_ENTRIES)),
        }
    }
}

impl Tree {
    /// Whether a value is as asked; `None` is one that is not there.
    pub(crate) fn holds(&self, value: Option<Seen<'_>>) -> bool {
        match (self, value) {
            (Self::Not(tree), _) => !tree.holds(value),
            (Self::All(trees), _) => trees.iter().all(|tree| tree.holds(value)),
            (Self::Any(trees), _) => trees.iter().any(|tree| tree.holds(value)),
            (Self::Exists(wanted), _) => is_there(value) == *wanted,
            (Self::Scalar(test), Some(Seen::Scalar(scalar))) => test.holds(Some(scalar)),
            (Self::Scalar(test), None) => test.holds(None),
            (Self::Wrapped(test), _) => test.holds(wrapped(value)),
            (Self::Moment(test), _) => test.holds(moment(value)),
            (Self::Fields(fields), Some(Seen::Message(message))) => {
                fields.iter().all(|(step, tree)| tree.holds(step.of(message)))
            }
            (Self::Exactly(types, wanted), Some(Seen::Message(message))) => same(types, wanted, message),
            (Self::Packed { type_name, inner }, Some(Seen::Message(any))) => {
                packed(any, type_name).is_some_and(|message| inner.holds(Some(Seen::Message(&message))))
            }
            (Self::Size(test), Some(value)) => size(value).is_some_and(|size| test.holds(Some(Scalar::Uint(size)))),
            (Self::List(elements), Some(Seen::List(values))) => elements.hold(values.len(), |at| values.get(at)),
            (Self::List(elements), Some(Seen::Map(map))) => {
                elements.hold(map.len(), |at| map.entries().get(at).map(|(_, value)| value))
            }
            (Self::Entries(entries), Some(Seen::Map(map))) => holds_entries(entries, map),
            (Self::ExactEntries(entries), Some(Seen::Map(map))) => {
                map.len() == entries.len() && holds_entries(entries, map)
            }
            _ => false,
        }
    }

    /// Whether only one value passes.
    pub(crate) fn is_exact(&self) -> bool {
        match self {
            Self::Scalar(test) | Self::Wrapped(test) | Self::Moment(test) => test.literal().is_some(),
            Self::Exactly(..) | Self::ExactEntries(_) => true,
            _ => false,
        }
    }

    /// How many conditions this is: those that all must hold add up, of alternatives the least counts.
    pub(crate) fn weight(&self) -> u32 {
        match self {
            Self::Scalar(test) | Self::Wrapped(test) | Self::Moment(test) => test.weight(),
            Self::Fields(fields) => fields.iter().map(|(_, tree)| tree.weight()).sum(),
            Self::Packed { inner, .. } => 1 + inner.weight(),
            Self::Entries(entries) | Self::ExactEntries(entries) => {
                entries.iter().map(|(_, tree)| tree.weight()).sum::<u32>().max(1)
            }
            Self::All(trees) => trees.iter().map(Self::weight).sum(),
            Self::Any(trees) => trees.iter().map(Self::weight).min().unwrap_or(0),
            Self::List(Elements::InOrder(trees) | Elements::Unordered(trees) | Elements::Contain(trees)) => {
                trees.iter().map(Self::weight).sum::<u32>().max(1)
            }
            _ => 1,
        }
    }
}

impl Elements {
    fn hold<'v>(&self, len: usize, value: impl Fn(usize) -> Option<&'v Value>) -> bool {
        let holds = |tree: &Tree, at: usize| tree.holds(value(at).map(seen));
        match self {
            Self::InOrder(trees) => len == trees.len() && trees.iter().enumerate().all(|(at, tree)| holds(tree, at)),
            Self::Unordered(trees) => {
                len == trees.len() && pairs_up(len, |tree, at| trees.get(tree).is_some_and(|tree| holds(tree, at)))
            }
            Self::Contain(trees) => trees.iter().all(|tree| (0..len).any(|at| holds(tree, at))),
            Self::At(at, tree) => holds(tree, *at),
            Self::Any(tree) => (0..len).any(|at| holds(tree, at)),
            Self::All(tree) => (0..len).all(|at| holds(tree, at)),
            Self::None(tree) => !(0..len).any(|at| holds(tree, at)),
        }
    }
}

/// Whether every tree can have an element of its own: augmenting paths, since one element may suit several trees.
fn pairs_up(len: usize, suits: impl Fn(usize, usize) -> bool) -> bool {
    let suits: Vec<Vec<bool>> = (0..len).map(|tree| (0..len).map(|at| suits(tree, at)).collect()).collect();
    let mut owner: Vec<Option<usize>> = vec![None; len];
    (0..len).all(|tree| take(tree, &suits, &mut owner, &mut vec![false; len]))
}

/// Finds an element for a tree; an owner is moved to another element if it has one.
fn take(tree: usize, suits: &[Vec<bool>], owner: &mut [Option<usize>], tried: &mut [bool]) -> bool {
    for at in 0..owner.len() {
        let suitable = suits.get(tree).and_then(|row| row.get(at)) == Some(&true);
        if !suitable || tried.get(at) != Some(&false) {
            continue;
        }
        if let Some(mark) = tried.get_mut(at) {
            *mark = true;
        }
        let free = match owner.get(at).copied().flatten() {
            None => true,
            Some(other) => take(other, suits, owner, tried),
        };
        if free {
            if let Some(place) = owner.get_mut(at) {
                *place = Some(tree);
            }
            return true;
        }
    }
    false
}

/// A value of the library's, without a copy.
pub(crate) fn seen(value: &Value) -> Seen<'_> {
    match value {
        Value::Message(message) => Seen::Message(message),
        Value::List(values) => Seen::List(values),
        Value::Map(map) => Seen::Map(map),
        Value::Bool(value) => Seen::Scalar(Scalar::Bool(*value)),
        Value::I32(value) => Seen::Scalar(Scalar::Int(i64::from(*value))),
        Value::I64(value) => Seen::Scalar(Scalar::Int(*value)),
        Value::U32(value) => Seen::Scalar(Scalar::Uint(u64::from(*value))),
        Value::U64(value) => Seen::Scalar(Scalar::Uint(*value)),
        Value::F32(value) => Seen::Scalar(Scalar::Float(f64::from(*value))),
        Value::F64(value) => Seen::Scalar(Scalar::Float(*value)),
        Value::String(value) => Seen::Scalar(Scalar::Text(value.as_bytes())),
        Value::Bytes(value) => Seen::Scalar(Scalar::Bytes(value)),
        Value::EnumNumber(value) => Seen::Scalar(Scalar::Enum(*value)),
    }
}

fn is_there(value: Option<Seen<'_>>) -> bool {
    match value {
        Some(Seen::List(values)) => !values.is_empty(),
        Some(Seen::Map(map)) => !map.is_empty(),
        value => value.is_some(),
    }
}

fn size(value: Seen<'_>) -> Option<u64> {
    match value {
        Seen::List(values) => Some(values.len() as u64),
        Seen::Map(map) => Some(map.len() as u64),
        Seen::Scalar(scalar) => scalar.size(),
        Seen::Message(_) => None,
    }
}

/// What a wrapper is around: what is in field 1, or zero.
fn wrapped(value: Option<Seen<'_>>) -> Option<Scalar<'_>> {
    let Some(Seen::Message(message)) = value else { return None };
    if let Some(value) = message.field_by_number(1) {
        return match seen(value) {
            Seen::Scalar(scalar) => Some(scalar),
            _ => None,
        };
    }
    let descriptor = message.pool().message(message.message_index());
    super::slots::wrapper_zero(descriptor.full_name())
}

fn moment(value: Option<Seen<'_>>) -> Option<Scalar<'_>> {
    let Some(Seen::Message(message)) = value else { return None };
    let seconds = if let Some(Value::I64(seconds)) = message.field_by_number(1) { *seconds } else { 0 };
    let nanos = if let Some(Value::I32(nanos)) = message.field_by_number(2) { *nanos } else { 0 };
    Some(Scalar::Moment { seconds, nanos })
}

/// The message in an `Any`, if it is of this type.
fn packed(any: &DynamicMessage, type_name: &str) -> Option<DynamicMessage> {
    let Some(Value::String(url)) = any.field_by_number(1) else { return None };
    if url.rsplit('/').next() != Some(type_name) {
        return None;
    }
    leat_schema::decoded::unpack_any(any)
}

fn holds_entries(entries: &[(MapKey, Tree)], map: &MapValue) -> bool {
    entries.iter().all(|(key, tree)| tree.holds(map.get(key).map(seen)))
}

/// Whether two messages of one type say the same: what is zero and cannot be told from nothing may be written or not, and
/// fields that the schema does not know do not count.
fn same(types: &MessageType, one: &DynamicMessage, two: &DynamicMessage) -> bool {
    types.fields().iter().all(|field| {
        match (one.field_by_number(field.number()), two.field_by_number(field.number())) {
            (None, None) => true,
            (Some(one), Some(two)) => same_value(types, field, one, two),
            (Some(only), None) | (None, Some(only)) => field.presence() == Presence::Implicit && is_zero(only),
        }
    })
}

fn same_value(types: &MessageType, field: &Field, one: &Value, two: &Value) -> bool {
    match (seen(one), seen(two)) {
        (Seen::Scalar(one), Seen::Scalar(two)) => one.equals(two),
        (Seen::Message(one), Seen::Message(two)) => types.message_of(field).is_some_and(|types| same(&types, one, two)),
        (Seen::List(one), Seen::List(two)) => {
            one.len() == two.len() && one.iter().zip(two).all(|(one, two)| same_value(types, field, one, two))
        }
        (Seen::Map(one), Seen::Map(two)) => {
            let equal = |key, value| two.get(key).is_some_and(|other| same_value(types, field, value, other));
            one.len() == two.len() && one.iter().all(|(key, value)| equal(key, value))
        }
        _ => false,
    }
}

fn is_zero(value: &Value) -> bool {
    match seen(value) {
        Seen::Scalar(scalar) => scalar.is_zero(),
        Seen::Message(_) => false,
        Seen::List(values) => values.is_empty(),
        Seen::Map(map) => map.is_empty(),
    }
}
