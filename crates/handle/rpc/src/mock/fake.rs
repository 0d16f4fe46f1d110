//! Made-up messages: of any type, the same for the same seed, valid by the simple constraints of the schema.

mod moment;
mod pattern;
mod text;

use base64::Engine as _;
use leat_schema::buffa_descriptor::reflect::Value as Proto;
use leat_schema::{Field, Kind, MessageType, Shape, WellKnown};
use serde_json::{Map, Value, json};

use super::state::Draws;
use crate::validate::{Constraints, Validators};

/// Messages inside of messages that are made; below them only what must be there.
const DEPTH_MAX: usize = 4;
/// The same where messages must be there: a type that requires itself has no message.
const REQUIRED_DEPTH_MAX: usize = 16;
/// Items of a list, where nothing asks for more.
const ITEMS_MAX: u64 = 2;
/// The longest text and the longest list that constraints can ask for.
const SIZE_MAX: u64 = 4_096;
/// How many messages are tried until one keeps all constraints.
const TRIES: u64 = 32;

const WORDS: [&str; 16] = [
    "amber", "birch", "copper", "delta", "ember", "field", "granite", "harbor", "island", "juniper", "lantern",
    "meadow", "north", "olive", "pebble", "quartz",
];

/// A made-up message in binary form. `is_valid` says what is wrong with one by constraints that are not simple.
///
/// # Errors
/// Why none could be made, in words.
pub(super) fn message(
    kind: &MessageType,
    validators: Option<&Validators>,
    (seed, number): (u64, u64),
    is_valid: impl Fn(&[u8]) -> Result<(), String>,
) -> Result<Vec<u8>, String> {
    let mut why = String::new();
    for attempt in 0..TRIES {
        let mut faker = Faker { draws: Draws::new(seed, &[number, attempt]), validators };
        let value = faker.message(kind, 0);
        let mut bytes = Vec::new();
        let made = kind.to_binary(value.to_string().as_bytes(), &mut bytes).map_err(|error| error.to_string());
        match made.and_then(|()| is_valid(&bytes)) {
            Ok(()) => return Ok(bytes),
            Err(message) => why = message,
        }
    }
    Err(format!("no valid {} could be made up: {why}; write a rule for it", kind.full_name()))
}

struct Faker<'v> {
    draws: Draws,
    validators: Option<&'v Validators>,
}

impl Faker<'_> {
    fn message(&mut self, kind: &MessageType, depth: usize) -> Value {
        if let Some(known) = kind.well_known() {
            return self.well_known(kind, known, &Constraints::default());
        }
        let mut fields = Map::new();
        let mut taken: Vec<Option<usize>> = kind.oneofs().iter().map(|_| None).collect();
        for (at, oneof) in kind.oneofs().iter().enumerate() {
            let members: Vec<usize> = oneof.members().collect();
            if let Some(slot) = taken.get_mut(at) {
                *slot = members.get(self.draws.index(members.len())).copied();
            }
        }
        for (at, field) in kind.fields().iter().enumerate() {
            let is_other = field.oneof().is_some_and(|oneof| taken.get(oneof).copied().flatten() != Some(at));
            if is_other || field.is_extension() {
                continue;
            }
            let rules =
                self.validators.and_then(|validators| validators.constraints(kind.index(), field.number())).cloned();
            let rules = rules.unwrap_or_default();
            let is_required = rules.required || field.presence() == leat_schema::Presence::Required;
            let depth_max = if is_required { REQUIRED_DEPTH_MAX } else { DEPTH_MAX };
            if matches!(field.kind(), Kind::Message(_)) && depth >= depth_max {
                continue;
            }
            fields.insert(field.json_name().to_owned(), self.field(kind, field, &rules, depth));
        }
        Value::Object(fields)
    }

    fn field(&mut self, kind: &MessageType, field: &Field, rules: &Constraints, depth: usize) -> Value {
        let least = rules.size_min.unwrap_or(1).min(SIZE_MAX);
        let most = rules.size_max.unwrap_or(ITEMS_MAX.max(least)).min(ITEMS_MAX.max(least)).max(least);
        let none = Constraints::default();
        let items = rules.items.as_deref().unwrap_or(&none);
        match field.shape() {
            Shape::One => self.value(kind, field, rules, depth),
            Shape::List => {
                let count = self.between(least, most);
                let mut list = Vec::new();
                for _ in 0..count {
                    let mut item = self.value(kind, field, items, depth);
                    for _ in 0..TRIES {
                        if !rules.unique || !list.contains(&item) {
                            break;
                        }
                        item = self.value(kind, field, items, depth);
                    }
                    list.push(item);
                }
                Value::Array(list)
            }
            Shape::Map { key } => {
                let keys = rules.keys.as_deref().unwrap_or(&none);
                let mut map = Map::new();
                let count = self.between(least, most);
                // Two keys may come out the same.
                for _ in 0..count + TRIES {
                    if map.len() as u64 == count {
                        break;
                    }
                    let name = match key {
                        Kind::String => self.text("key", keys),
                        Kind::Bool => (self.draws.index(2) == 0).to_string(),
                        key => self.integer(key, keys, (0, i128::from(i32::MAX))).to_string(),
                    };
                    map.insert(name, self.value(kind, field, items, depth));
                }
                Value::Object(map)
            }
        }
    }

    fn value(&mut self, kind: &MessageType, field: &Field, rules: &Constraints, depth: usize) -> Value {
        let message = kind.message_of(field);
        let known = message.as_ref().and_then(MessageType::well_known);
        let plain = |value: &Proto| match known {
            Some(known @ (WellKnown::Timestamp | WellKnown::Duration)) => {
                moment::plain(value, known == WellKnown::Timestamp)
            }
            Some(WellKnown::Any) => plain(value).map(|name| json!({ "@type": name })),
            _ => plain(value),
        };
        let fixed = rules.only.iter().chain(rules.within.iter()).chain(rules.examples.iter()).filter_map(plain);
        let fixed: Vec<Value> = if rules.only.is_some() { fixed.take(1).collect() } else { fixed.collect() };
        if let Some(value) = fixed.get(self.draws.index(fixed.len())) {
            return value.clone();
        }
        let refused: Vec<Value> = rules.not_within.iter().filter_map(plain).collect();
        let mut value = Value::Null;
        for _ in 0..TRIES {
            value = self.drawn(kind, field, rules, depth);
            if !refused.contains(&value) {
                break;
            }
        }
        value
    }

    fn drawn(&mut self, kind: &MessageType, field: &Field, rules: &Constraints, depth: usize) -> Value {
        match field.kind() {
            Kind::Bool => json!(self.draws.index(2) == 0),
            Kind::String => self.text(field.name(), rules).into(),
            Kind::Bytes => {
                let usual = match rules.format.as_ref().map_or("", |format| format.0.as_str()) {
                    "ip" | "ipv4" => (4, 4),
                    "ipv6" | "uuid" => (16, 16),
                    _ => (4, 8),
                };
                let least = rules.size_min.unwrap_or(usual.0.min(rules.size_max.unwrap_or(usual.0)));
                let size = self.between(least, rules.size_max.unwrap_or(usual.1.max(least))).min(SIZE_MAX);
                let bytes: Vec<u8> = match &rules.pattern {
                    // It is about text, then.
                    Some(pattern) => {
                        pattern::text(pattern, (least, rules.size_max.unwrap_or(SIZE_MAX)), &mut self.draws)
                            .unwrap_or_default()
                            .into()
                    }
                    None => (0..size).map(|_| self.draws.index(256) as u8).collect(),
                };
                base64::engine::general_purpose::STANDARD.encode(bytes).into()
            }
            Kind::Enum(id) => {
                let refused = |number: i32| {
                    rules.not_within.iter().any(|value| matches!(value, Proto::EnumNumber(other) if *other == number))
                };
                let all = kind.enumeration(id);
                let values: Vec<_> = all.values().iter().filter(|value| !refused(value.number())).collect();
                // The first is "nothing said" by custom.
                let is_said = values.len() > 1 && values.first().is_some_and(|value| value.number() == 0);
                let at = if is_said { 1 + self.draws.index(values.len() - 1) } else { self.draws.index(values.len()) };
                values.get(at).map_or(Value::Null, |value| value.name().into())
            }
            Kind::Message(_) => kind.message_of(field).map_or(Value::Null, |inner| match inner.well_known() {
                Some(known) => self.well_known(&inner, known, rules),
                None => self.message(&inner, depth + 1),
            }),
            Kind::Double | Kind::Float => {
                let (least, most) = bounds(rules, (0.0, 1_000.0));
                let value = least + self.draws.fraction() * (most - least);
                // Two digits are what people expect of prices and rates, where the range has room for them.
                let short = (value * 100.0).round() / 100.0;
                json!(if short > least && short < most { short } else { value })
            }
            long @ (Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 | Kind::Uint64 | Kind::Fixed64) => {
                self.integer(long, rules, (1, 100_000)).to_string().into()
            }
            // The range of 32 bits.
            short => json!(self.integer(short, rules, (1, 1_000)) as i64),
        }
    }

    fn integer(&mut self, kind: Kind, rules: &Constraints, usual: (i128, i128)) -> i128 {
        let end = |end: &Option<(Proto, bool)>, step: i128| {
            end.as_ref().and_then(|(value, included)| Some(whole(value)? + if *included { 0 } else { step }))
        };
        let (least, most) = match (end(&rules.least, 1), end(&rules.greatest, -1)) {
            (None, None) => usual,
            (Some(least), Some(most)) if least <= most => (least, most),
            // Ends that are the wrong way round exclude what is between them.
            (Some(least), _) => (least, if usual.1 > least { usual.1 } else { least + 1_000 }),
            (None, Some(most)) => (if usual.0 < most { usual.0 } else { most - 1_000 }, most),
        };
        let (first, last) = range_of(kind);
        let (least, most) = (least.clamp(first, last), most.clamp(first, last));
        let width = most.abs_diff(least) + 1;
        // At most 64 bits times 65.
        let part = (u128::from(self.draws.wide()) * width.min(1 << 64)) >> 64;
        least + part as i128
    }

    fn text(&mut self, name: &str, rules: &Constraints) -> String {
        text::made(name, rules, &mut self.draws)
    }

    fn well_known(&mut self, kind: &MessageType, known: WellKnown, rules: &Constraints) -> Value {
        let word = WORDS.get(self.draws.index(WORDS.len())).copied().unwrap_or_default();
        match known {
            WellKnown::Timestamp => moment::instant(rules, &mut self.draws),
            WellKnown::Duration => moment::duration(rules, &mut self.draws),
            WellKnown::Struct => json!({ word: self.draws.between(1, 99) }),
            WellKnown::Value => word.into(),
            WellKnown::ListValue => json!([word]),
            WellKnown::FieldMask => "".into(),
            // The packed type is anybody's guess.
            WellKnown::Any => json!({}),
            WellKnown::Wrapper => match kind.field(1) {
                Some(field) => self.value(kind, field, rules, DEPTH_MAX),
                None => Value::Null,
            },
        }
    }

    fn between(&mut self, least: u64, most: u64) -> u64 {
        let number = |size: u64| i64::try_from(size).unwrap_or(i64::MAX);
        self.draws.between(number(least), number(most).max(number(least))).unsigned_abs()
    }
}

/// The range that constraints leave of a usual one.
fn bounds(rules: &Constraints, usual: (f64, f64)) -> (f64, f64) {
    let end = |end: &Option<(Proto, bool)>| end.as_ref().and_then(|(value, _)| number(value));
    match (end(&rules.least), end(&rules.greatest)) {
        (None, None) => usual,
        (Some(least), None) => (least, if usual.1 > least { usual.1 } else { least + 1_000.0 }),
        (None, Some(greatest)) => (if usual.0 < greatest { usual.0 } else { greatest - 1_000.0 }, greatest),
        // Ends that are the wrong way round exclude what is between them.
        (Some(least), Some(greatest)) if least > greatest => (least, least + 1_000.0),
        (Some(least), Some(greatest)) => (least, greatest),
    }
}

/// The numbers that a kind of field has.
fn range_of(kind: Kind) -> (i128, i128) {
    match kind {
        Kind::Uint32 | Kind::Fixed32 => (0, u32::MAX.into()),
        Kind::Uint64 | Kind::Fixed64 => (0, u64::MAX.into()),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => (i64::MIN.into(), i64::MAX.into()),
        _ => (i32::MIN.into(), i32::MAX.into()),
    }
}

fn whole(value: &Proto) -> Option<i128> {
    Some(match value {
        Proto::I32(number) => i128::from(*number),
        Proto::U32(number) => i128::from(*number),
        Proto::I64(number) => i128::from(*number),
        Proto::U64(number) => i128::from(*number),
        _ => return None,
    })
}

fn number(value: &Proto) -> Option<f64> {
    Some(match value {
        Proto::I32(number) => f64::from(*number),
        Proto::U32(number) => f64::from(*number),
        Proto::I64(number) => *number as f64,
        Proto::U64(number) => *number as f64,
        Proto::F32(number) => f64::from(*number),
        Proto::F64(number) => *number,
        _ => return None,
    })
}

/// A value of a constraint in its JSON form; `None` for messages.
fn plain(value: &Proto) -> Option<Value> {
    Some(match value {
        Proto::Bool(flag) => json!(flag),
        Proto::String(text) => json!(text),
        Proto::EnumNumber(number) | Proto::I32(number) => json!(number),
        Proto::U32(number) => json!(number),
        Proto::I64(number) => number.to_string().into(),
        Proto::U64(number) => number.to_string().into(),
        Proto::F32(number) => json!(number),
        Proto::F64(number) => json!(number),
        Proto::Bytes(bytes) => base64::engine::general_purpose::STANDARD.encode(bytes).into(),
        _ => return None,
    })
}

#[cfg(test)]
#[path = "fake_tests.rs"]
mod tests;
