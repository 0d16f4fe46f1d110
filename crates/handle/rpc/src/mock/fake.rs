//! Made-up messages: of any type, the same for the same seed, valid by the simple constraints of the schema.

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
const NAMES: [&str; 8] = ["Ada", "Chen", "Grace", "Imani", "Kofi", "Lena", "Omar", "Priya"];
const CITIES: [&str; 6] = ["Accra", "Dublin", "Kyoto", "Lima", "Oslo", "Riga"];

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
            return self.well_known(kind, known);
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
                for _ in 0..self.between(least, most) {
                    let name = match key {
                        Kind::String => self.text("key", keys),
                        Kind::Bool => (self.draws.index(2) == 0).to_string(),
                        _ => self.integer(keys, (0, i64::from(i32::MAX))).to_string(),
                    };
                    map.insert(name, self.value(kind, field, items, depth));
                }
                Value::Object(map)
            }
        }
    }

    fn value(&mut self, kind: &MessageType, field: &Field, rules: &Constraints, depth: usize) -> Value {
        let fixed = rules.only.iter().chain(rules.within.iter()).chain(rules.examples.iter()).filter_map(plain);
        let fixed: Vec<Value> = if rules.only.is_some() { fixed.take(1).collect() } else { fixed.collect() };
        if let Some(value) = fixed.get(self.draws.index(fixed.len())) {
            return value.clone();
        }
        match field.kind() {
            Kind::Bool => json!(self.draws.index(2) == 0),
            Kind::String => self.text(field.name(), rules).into(),
            Kind::Bytes => {
                use base64::Engine as _;
                let size = self.between(rules.size_min.unwrap_or(4), rules.size_max.unwrap_or(8)).min(SIZE_MAX);
                let bytes: Vec<u8> = (0..size).map(|_| self.draws.index(256) as u8).collect();
                base64::engine::general_purpose::STANDARD.encode(bytes).into()
            }
            Kind::Enum(id) => {
                let values = kind.enumeration(id).values();
                // The first is "nothing said" by custom.
                let at = if values.len() > 1 { 1 + self.draws.index(values.len() - 1) } else { 0 };
                values.get(at).map_or(Value::Null, |value| value.name().into())
            }
            Kind::Message(_) => kind.message_of(field).map_or(Value::Null, |inner| self.message(&inner, depth + 1)),
            Kind::Double | Kind::Float => {
                let (least, most) = bounds(rules, (0.0, 1_000.0));
                let value = least + self.draws.fraction() * (most - least);
                // Two digits are what people expect of prices and rates, where the range has room for them.
                let short = (value * 100.0).round() / 100.0;
                json!(if short > least && short < most { short } else { value })
            }
            Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 | Kind::Uint64 | Kind::Fixed64 => {
                self.integer(rules, (1, 100_000)).to_string().into()
            }
            _ => json!(self.integer(rules, (1, 1_000))),
        }
    }

    fn integer(&mut self, rules: &Constraints, usual: (i64, i64)) -> i64 {
        let (least, most) = bounds(rules, (usual.0 as f64, usual.1 as f64));
        let is_open = |end: &Option<(Proto, bool)>| i64::from(matches!(end, Some((_, false))));
        self.draws.between(least as i64 + is_open(&rules.least), most as i64 - is_open(&rules.greatest))
    }

    fn text(&mut self, name: &str, rules: &Constraints) -> String {
        let format = rules.format.as_ref().map_or("", |format| format.0.as_str());
        let lower = name.to_ascii_lowercase();
        let is = |part: &str| lower.contains(part);
        let word = WORDS.get(self.draws.index(WORDS.len())).copied().unwrap_or_default();
        let number = self.draws.between(100, 999);
        let mut text = match format {
            "uuid" | "tuuid" => self.uuid(format == "tuuid"),
            "email" => format!("{word}{number}@example.com"),
            "hostname" | "address" | "host_and_port" => {
                format!("{word}.example.com{}", if format == "host_and_port" { ":443" } else { "" })
            }
            "ip" | "ipv4" => format!("192.0.2.{}", self.draws.between(1, 254)),
            "ipv6" => format!("2001:db8::{:x}", self.draws.between(1, 65_535)),
            "uri" | "uri_ref" => format!("https://example.com/{word}"),
            _ if is("email") => format!("{word}{number}@example.com"),
            _ if is("uuid") || is("guid") => self.uuid(false),
            _ if lower == "id" || lower.ends_with("_id") => format!("{word}-{number}"),
            _ if is("url") || is("uri") || is("link") => format!("https://example.com/{word}"),
            _ if is("phone") => format!("+1555{:07}", self.draws.between(0, 9_999_999)),
            _ if is("city") => CITIES.get(self.draws.index(CITIES.len())).copied().unwrap_or_default().to_owned(),
            _ if is("currency") => "EUR".to_owned(),
            _ if is("country") => "NO".to_owned(),
            _ if is("name") => NAMES.get(self.draws.index(NAMES.len())).copied().unwrap_or_default().to_owned(),
            _ => word.to_owned(),
        };
        if let Some(part) = &rules.contains {
            text.push_str(part);
        }
        let size = |text: &str| text.chars().count() as u64;
        let around = [&rules.prefix, &rules.suffix].into_iter().flatten().map(|end| size(end)).sum::<u64>();
        let least = rules.size_min.unwrap_or(0).min(SIZE_MAX).saturating_sub(around);
        while size(&text) < least {
            text.push('x');
        }
        let most = rules.size_max.unwrap_or(u64::MAX).saturating_sub(around);
        if size(&text) > most {
            text = text.chars().take(usize::try_from(most).unwrap_or(usize::MAX)).collect();
        }
        [rules.prefix.as_deref().unwrap_or_default(), &text, rules.suffix.as_deref().unwrap_or_default()].concat()
    }

    /// RFC 9562 section 5.4.
    fn uuid(&mut self, is_trimmed: bool) -> String {
        let (high, low) = (self.draws.wide(), self.draws.wide());
        let high = high & 0xffff_ffff_ffff_0fff | 0x4000;
        let low = low & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000;
        let whole = format!("{high:016x}{low:016x}");
        let part = |from: usize, to: usize| whole.get(from..to).unwrap_or_default();
        if is_trimmed {
            return whole.clone();
        }
        format!("{}-{}-{}-{}-{}", part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32))
    }

    fn well_known(&mut self, kind: &MessageType, known: WellKnown) -> Value {
        let word = WORDS.get(self.draws.index(WORDS.len())).copied().unwrap_or_default();
        match known {
            WellKnown::Timestamp => {
                let mut part = |most: i64| self.draws.between(1, most);
                format!("2025-{:02}-{:02}T{:02}:{:02}:00Z", part(12), part(28), part(23), part(59)).into()
            }
            WellKnown::Duration => format!("{}s", self.draws.between(1, 3_600)).into(),
            WellKnown::Struct => json!({ word: self.draws.between(1, 99) }),
            WellKnown::Value => word.into(),
            WellKnown::ListValue => json!([word]),
            WellKnown::FieldMask => "".into(),
            // The packed type is anybody's guess.
            WellKnown::Any => json!({}),
            WellKnown::Wrapper => match kind.field(1) {
                Some(field) => self.value(kind, field, &Constraints::default(), DEPTH_MAX),
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
        (Some(least), Some(greatest)) => (least, greatest),
    }
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

/// A value of a constraint in its JSON form; `None` for messages and bytes.
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
        _ => return None,
    })
}

#[cfg(test)]
#[path = "fake_tests.rs"]
mod tests;
