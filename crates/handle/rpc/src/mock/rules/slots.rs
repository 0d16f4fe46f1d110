use std::collections::HashMap;

use leat_schema::wire::{Reader, Tag, WireType};
use leat_schema::{Default as Declared, Field, Kind, MessageType, Presence, WellKnown};

use super::scalar::{Domain, Literal, Scalar};

/// The fields that the rules of a method look at, each with a number: its slot. One pass over a message's bytes fills them
/// all, however many rules there are. Nothing is allocated or copied on the way.
#[derive(Debug)]
pub(crate) struct Slots {
    nodes: Vec<Node>,
    slots: Vec<Slot>,
    by_path: HashMap<Box<str>, u16>,
}

/// What is known of a slot.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) path: Box<str>,
    pub(crate) domain: Domain,
    /// What it reads as while its message is there and it is not.
    absent: Option<Literal>,
}

/// A message on the way to slots.
#[derive(Debug)]
struct Node {
    message: MessageType,
    entries: Vec<Entry>,
    /// Entries by number, plus one; the few with large numbers are found in `entries`.
    dense: Box<[u16]>,
    /// Slots right below that have a value while nothing is written.
    defaults: Vec<u16>,
}

#[derive(Debug)]
struct Entry {
    number: u32,
    oneof: Option<usize>,
    wire: WireType,
    /// Numbers that are not known count as not there.
    closed: bool,
    act: Act,
    /// Says that the field is there.
    presence: Option<u16>,
    /// Slots of the other members of the same oneof.
    clears: Box<[u16]>,
}

/// What the value of a field is good for.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// It only puts the other members of its oneof out.
    Nothing,
    Scalar {
        slot: u16,
        kind: Kind,
    },
    /// A message around one scalar.
    Wrapped {
        slot: u16,
        kind: Kind,
    },
    /// A message of seconds and nanoseconds.
    Moment {
        slot: u16,
    },
    Message {
        node: u16,
    },
}

/// Most slots of a method.
const SLOTS_MAX: usize = 4096;
/// Numbers below this one are found without a search.
const DENSE_MAX: u32 = 256;

impl Slots {
    /// No slots yet, in a message of this type.
    pub(crate) fn new(message: MessageType) -> Self {
        Self { nodes: vec![Node::new(message)], slots: Vec::new(), by_path: HashMap::new() }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// What is known of one.
    pub(crate) fn get(&self, slot: u16) -> Option<&Slot> {
        self.slots.get(usize::from(slot))
    }

    /// The message at the top.
    pub(crate) fn message(&self) -> Option<&MessageType> {
        self.nodes.first().map(|node| &node.message)
    }

    /// The node of a message field below `node`; 0 is the top. `None` if there are too many.
    pub(crate) fn descend(&mut self, node: u16, field: &Field) -> Option<u16> {
        let at = self.entry(node, field)?;
        let below = self.nodes.get(usize::from(node))?.message.message_of(field)?;
        let next = u16::try_from(self.nodes.len()).ok()?;
        let entry = self.nodes.get_mut(usize::from(node))?.entries.get_mut(at)?;
        if let Act::Message { node } = entry.act {
            return Some(node);
        }
        entry.act = Act::Message { node: next };
        self.nodes.push(Node::new(below));
        Some(next)
    }

    /// The slot of a field that reads as a scalar. `path` is its name in messages.
    pub(crate) fn scalar(&mut self, node: u16, field: &Field, domain: Domain, path: &str) -> Option<u16> {
        let key = format!("{node}:{}", field.number());
        if let Some(&slot) = self.by_path.get(&*key) {
            return Some(slot);
        }
        let at = self.entry(node, field)?;
        let wrapped = match field.kind() {
            Kind::Message(_) => {
                let message = self.nodes.get(usize::from(node))?.message.message_of(field)?;
                message.field(1).filter(|_| message.well_known() == Some(WellKnown::Wrapper)).map(Field::kind)
            }
            _ => None,
        };
        let slot = self.add(key, Slot { path: path.into(), domain, absent: absent(field) })?;
        let known = self.slots.get(usize::from(slot))?.absent.is_some();
        let node = self.nodes.get_mut(usize::from(node))?;
        node.entries.get_mut(at)?.act = match (field.kind(), wrapped) {
            (Kind::Message(_), Some(kind)) => Act::Wrapped { slot, kind },
            (Kind::Message(_), None) => Act::Moment { slot },
            (kind, _) => Act::Scalar { slot, kind },
        };
        if known {
            node.defaults.push(slot);
        }
        Some(slot)
    }

    /// The slot that says whether a field with presence is there.
    pub(crate) fn presence(&mut self, node: u16, field: &Field, path: &str) -> Option<u16> {
        let key = format!("{node}:{}?", field.number());
        if let Some(&slot) = self.by_path.get(&*key) {
            return Some(slot);
        }
        let at = self.entry(node, field)?;
        let slot = self.add(key, Slot { path: path.into(), domain: Domain::Kind(Kind::Bool), absent: None })?;
        self.nodes.get_mut(usize::from(node))?.entries.get_mut(at)?.presence = Some(slot);
        Some(slot)
    }

    /// Makes ready to read, once all slots are there.
    pub(crate) fn finish(&mut self) {
        for node in 0..self.nodes.len() {
            self.oneofs(node);
            let Some(node) = self.nodes.get_mut(node) else { continue };
            let end = node.entries.iter().map(|entry| entry.number + 1).filter(|end| *end <= DENSE_MAX).max();
            let mut dense = vec![0; end.unwrap_or(0) as usize];
            for (at, entry) in node.entries.iter().enumerate() {
                if let Some(place) = dense.get_mut(entry.number as usize) {
                    *place = at as u16 + 1;
                }
            }
            node.dense = dense.into();
        }
    }

    /// Fills `out`, which has as many places as there are slots. `None` if the bytes are no message.
    pub(crate) fn read<'a>(&'a self, bytes: &'a [u8], out: &mut [Option<Scalar<'a>>]) -> Option<()> {
        out.fill(None);
        if self.slots.is_empty() {
            return Some(());
        }
        self.message_at(0, bytes, out)
    }

    fn message_at<'a>(&'a self, at: u16, bytes: &'a [u8], out: &mut [Option<Scalar<'a>>]) -> Option<()> {
        let node = self.nodes.get(usize::from(at))?;
        for &slot in &node.defaults {
            let place = out.get_mut(usize::from(slot))?;
            if place.is_none() {
                *place = self.slots.get(usize::from(slot))?.absent.as_ref().map(Literal::scalar);
            }
        }
        let mut reader = Reader::new(bytes);
        while !reader.is_empty() {
            let tag = reader.tag()?;
            match node.entry(tag.number) {
                Some(entry) if entry.wire == tag.wire => self.field(node, entry, &mut reader, out)?,
                _ => reader.skip(tag)?,
            }
        }
        Some(())
    }

    fn field<'a>(
        &'a self,
        node: &'a Node,
        entry: &Entry,
        reader: &mut Reader<'a>,
        out: &mut [Option<Scalar<'a>>],
    ) -> Option<()> {
        match entry.act {
            Act::Nothing => {
                reader.skip(Tag { number: entry.number, wire: entry.wire })?;
                clear(entry, out)?;
            }
            Act::Scalar { slot, kind } => {
                let value = scalar(kind, reader)?;
                if entry.closed && !is_known(value, kind, &node.message) {
                    return Some(());
                }
                clear(entry, out)?;
                *out.get_mut(usize::from(slot))? = Some(value);
            }
            Act::Wrapped { slot, kind } => {
                let last = last_scalar(message_bytes(entry, reader)?, kind)?;
                clear(entry, out)?;
                let place = out.get_mut(usize::from(slot))?;
                *place = last.or(*place).or_else(|| Some(zero(kind)));
            }
            Act::Moment { slot } => {
                let bytes = message_bytes(entry, reader)?;
                clear(entry, out)?;
                let place = out.get_mut(usize::from(slot))?;
                *place = Some(moment(bytes, *place)?);
            }
            Act::Message { node } => {
                let bytes = message_bytes(entry, reader)?;
                clear(entry, out)?;
                self.message_at(node, bytes, out)?;
            }
        }
        if let Some(slot) = entry.presence {
            *out.get_mut(usize::from(slot))? = Some(Scalar::Bool(true));
        }
        Some(())
    }

    fn entry(&mut self, node: u16, field: &Field) -> Option<usize> {
        let node = self.nodes.get_mut(usize::from(node))?;
        let known = node.entries.iter().position(|entry| entry.number == field.number());
        Some(known.unwrap_or_else(|| {
            node.entries.push(Entry::new(field));
            node.entries.len() - 1
        }))
    }

    fn add(&mut self, key: String, slot: Slot) -> Option<u16> {
        let number = u16::try_from(self.slots.len()).ok().filter(|_| self.slots.len() < SLOTS_MAX)?;
        self.slots.push(slot);
        self.by_path.insert(key.into(), number);
        Some(number)
    }

    /// Notes for every member of a oneof what it puts out, members that no rule looks at too.
    fn oneofs(&mut self, at: usize) {
        let Some(node) = self.nodes.get_mut(at) else { return };
        let mut used: Vec<usize> = node.entries.iter().filter_map(|entry| entry.oneof).collect();
        used.sort_unstable();
        used.dedup();
        let members: Vec<Entry> = node
            .message
            .fields()
            .iter()
            .filter(|field| {
                field.oneof().is_some_and(|oneof| used.contains(&oneof))
                    && !node.entries.iter().any(|entry| entry.number == field.number())
            })
            .map(Entry::new)
            .collect();
        node.entries.extend(members);
        let Some(node) = self.nodes.get(at) else { return };
        let clears: Vec<Box<[u16]>> = node
            .entries
            .iter()
            .map(|entry| {
                let others = node.entries.iter().filter(|other| {
                    other.oneof.is_some() && other.oneof == entry.oneof && other.number != entry.number
                });
                let mut slots = Vec::new();
                others.for_each(|other| self.below(other, &mut slots));
                slots.into()
            })
            .collect();
        let Some(node) = self.nodes.get_mut(at) else { return };
        for (entry, clears) in node.entries.iter_mut().zip(clears) {
            entry.clears = clears;
        }
    }

    /// All slots that an entry fills.
    fn below(&self, entry: &Entry, slots: &mut Vec<u16>) {
        slots.extend(entry.presence);
        match entry.act {
            Act::Nothing => {}
            Act::Scalar { slot, .. } | Act::Wrapped { slot, .. } | Act::Moment { slot } => slots.push(slot),
            Act::Message { node } => {
                let entries = self.nodes.get(usize::from(node)).map_or(&[][..], |node| &node.entries);
                entries.iter().for_each(|entry| self.below(entry, slots));
            }
        }
    }
}

impl Node {
    fn new(message: MessageType) -> Self {
        Self { message, entries: Vec::new(), dense: Box::default(), defaults: Vec::new() }
    }

    #[inline]
    fn entry(&self, number: u32) -> Option<&Entry> {
        match self.dense.get(number as usize) {
            Some(&at) => self.entries.get(usize::from(at.checked_sub(1)?)),
            None if number < DENSE_MAX => None,
            None => self.entries.iter().find(|entry| entry.number == number),
        }
    }
}

impl Entry {
    fn new(field: &Field) -> Self {
        Self {
            number: field.number(),
            oneof: field.oneof(),
            wire: wire_type(field),
            closed: field.is_closed(),
            act: Act::Nothing,
            presence: None,
            clears: Box::default(),
        }
    }
}

/// Puts out the other members of the field's oneof.
#[inline]
fn clear(entry: &Entry, out: &mut [Option<Scalar<'_>>]) -> Option<()> {
    for &slot in &entry.clears {
        *out.get_mut(usize::from(slot))? = None;
    }
    Some(())
}

fn is_known(value: Scalar<'_>, kind: Kind, types: &MessageType) -> bool {
    match (value, kind) {
        (Scalar::Enum(number), Kind::Enum(id)) => types.enumeration(id).name_of(number).is_some(),
        _ => true,
    }
}

#[inline]
fn message_bytes<'a>(entry: &Entry, reader: &mut Reader<'a>) -> Option<&'a [u8]> {
    match entry.wire {
        WireType::GroupStart => reader.group(entry.number),
        _ => reader.length_delimited(),
    }
}

fn wire_type(field: &Field) -> WireType {
    match field.kind() {
        Kind::Message(_) if field.is_delimited() => WireType::GroupStart,
        Kind::Message(_) | Kind::String | Kind::Bytes => WireType::Length,
        Kind::Double | Kind::Fixed64 | Kind::Sfixed64 => WireType::Fixed64,
        Kind::Float | Kind::Fixed32 | Kind::Sfixed32 => WireType::Fixed32,
        _ => WireType::Varint,
    }
}

/// What a field reads as that is not there: its declared default, or zero where that cannot be told from nothing.
pub(crate) fn absent(field: &Field) -> Option<Literal> {
    if let Some(declared) = field.default() {
        return Some(match declared {
            Declared::Int(number) if matches!(field.kind(), Kind::Enum(_)) => Literal::Enum(*number as i32),
            Declared::Int(number) => Literal::Int(*number),
            Declared::Uint(number) => Literal::Uint(*number),
            Declared::Float(number) if field.kind() == Kind::Float => Literal::Float(f64::from(*number as f32)),
            Declared::Float(number) => Literal::Float(*number),
            Declared::Bool(flag) => Literal::Bool(*flag),
            Declared::String(text) => Literal::Text(text.as_bytes().into()),
            Declared::Bytes(bytes) => Literal::Bytes(bytes.clone()),
        });
    }
    (field.presence() == Presence::Implicit && !matches!(field.kind(), Kind::Message(_)))
        .then(|| owned_zero(field.kind()))
}

fn owned_zero(kind: Kind) -> Literal {
    match zero(kind) {
        Scalar::Bool(value) => Literal::Bool(value),
        Scalar::Int(value) => Literal::Int(value),
        Scalar::Uint(value) => Literal::Uint(value),
        Scalar::Float(value) => Literal::Float(value),
        Scalar::Text(_) => Literal::Text(Box::default()),
        Scalar::Bytes(_) => Literal::Bytes(Box::default()),
        Scalar::Enum(value) => Literal::Enum(value),
        Scalar::Moment { seconds, nanos } => Literal::Moment { seconds, nanos },
    }
}

/// What a wrapper without its field is around.
pub(crate) fn wrapper_zero(full_name: &str) -> Option<Scalar<'static>> {
    Some(zero(match full_name.strip_prefix("google.protobuf.")? {
        "DoubleValue" | "FloatValue" => Kind::Double,
        "Int64Value" | "Int32Value" => Kind::Int64,
        "UInt64Value" | "UInt32Value" => Kind::Uint64,
        "BoolValue" => Kind::Bool,
        "StringValue" => Kind::String,
        "BytesValue" => Kind::Bytes,
        _ => return None,
    }))
}

fn zero(kind: Kind) -> Scalar<'static> {
    match kind {
        Kind::Bool => Scalar::Bool(false),
        Kind::Int32 | Kind::Int64 | Kind::Sint32 | Kind::Sint64 | Kind::Sfixed32 | Kind::Sfixed64 => Scalar::Int(0),
        Kind::Uint32 | Kind::Uint64 | Kind::Fixed32 | Kind::Fixed64 => Scalar::Uint(0),
        Kind::Float | Kind::Double => Scalar::Float(0.0),
        Kind::String => Scalar::Text(b""),
        Kind::Bytes => Scalar::Bytes(b""),
        Kind::Enum(_) => Scalar::Enum(0),
        Kind::Message(_) => Scalar::Moment { seconds: 0, nanos: 0 },
    }
}

/// A scalar behind its tag. Integers that are too wide lose their upper bits, as in every decoder.
#[inline]
fn scalar<'a>(kind: Kind, reader: &mut Reader<'a>) -> Option<Scalar<'a>> {
    Some(match kind {
        Kind::Int32 => Scalar::Int(i64::from(reader.varint()? as i32)),
        Kind::Int64 => Scalar::Int(reader.varint()? as i64),
        Kind::Sint32 => {
            let raw = reader.varint()? as u32;
            Scalar::Int(i64::from((raw >> 1) as i32 ^ -((raw & 1) as i32)))
        }
        Kind::Sint64 => {
            let raw = reader.varint()?;
            Scalar::Int((raw >> 1) as i64 ^ -((raw & 1) as i64))
        }
        Kind::Uint32 => Scalar::Uint(u64::from(reader.varint()? as u32)),
        Kind::Uint64 => Scalar::Uint(reader.varint()?),
        Kind::Bool => Scalar::Bool(reader.varint()? != 0),
        Kind::Enum(_) => Scalar::Enum(reader.varint()? as i32),
        Kind::Fixed32 => Scalar::Uint(u64::from(reader.fixed32()?)),
        Kind::Fixed64 => Scalar::Uint(reader.fixed64()?),
        Kind::Sfixed32 => Scalar::Int(i64::from(reader.fixed32()? as i32)),
        Kind::Sfixed64 => Scalar::Int(reader.fixed64()? as i64),
        Kind::Float => Scalar::Float(f64::from(f32::from_bits(reader.fixed32()?))),
        Kind::Double => Scalar::Float(f64::from_bits(reader.fixed64()?)),
        Kind::String => Scalar::Text(reader.length_delimited()?),
        Kind::Bytes => Scalar::Bytes(reader.length_delimited()?),
        Kind::Message(_) => return None,
    })
}

/// The last value of field 1, if it was written: what a wrapper is around. The outer `None` is for bytes that are no message.
fn last_scalar(bytes: &[u8], kind: Kind) -> Option<Option<Scalar<'_>>> {
    let wire = match kind {
        Kind::String | Kind::Bytes => WireType::Length,
        Kind::Double => WireType::Fixed64,
        Kind::Float => WireType::Fixed32,
        _ => WireType::Varint,
    };
    let mut reader = Reader::new(bytes);
    let mut last = None;
    while !reader.is_empty() {
        let tag = reader.tag()?;
        if tag.number == 1 && tag.wire == wire {
            last = Some(scalar(kind, &mut reader)?);
        } else {
            reader.skip(tag)?;
        }
    }
    Some(last)
}

fn moment(bytes: &[u8], before: Option<Scalar<'_>>) -> Option<Scalar<'static>> {
    let (mut seconds, mut nanos) = match before {
        Some(Scalar::Moment { seconds, nanos }) => (seconds, nanos),
        _ => (0, 0),
    };
    let mut reader = Reader::new(bytes);
    while !reader.is_empty() {
        let tag = reader.tag()?;
        match (tag.number, tag.wire) {
            (1, WireType::Varint) => seconds = reader.varint()? as i64,
            (2, WireType::Varint) => nanos = reader.varint()? as i32,
            _ => reader.skip(tag)?,
        }
    }
    Some(Scalar::Moment { seconds, nanos })
}
