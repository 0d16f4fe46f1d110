//! The native checks of a rules message, such as `buf.validate.Int32Rules`: which of its fields they answer for.

use buffa_descriptor::reflect::{DynamicMessage, ReflectMessage, Value as Proto};

use super::check::{Bound, Check, Range, known_format};
use crate::cel::{Duration, Pattern, Timestamp, format};

/// Checks, and the numbers of the rules' fields that they answer for together.
#[derive(Debug, Default)]
pub(super) struct Checks {
    pub(super) list: Vec<Check>,
    pub(super) covered: Vec<u32>,
}

/// Reads the rules that are set in `rules`, which `kind` names as `buf.validate.FieldRules` does.
///
/// # Errors
/// A pattern that is none.
pub(super) fn checks(kind: &str, rules: &DynamicMessage) -> Result<Checks, String> {
    let mut set: Vec<(u32, String)> = Vec::new();
    let descriptor = rules.pool().message(rules.message_index());
    rules.for_each_set(&mut |field, _| {
        if descriptor.field(field.number()).is_some() {
            set.push((field.number(), field.name().to_owned()));
        }
    });
    let mut found = Checks::default();
    let mut ranges = Ranges::default();
    for (number, name) in set {
        let Some(value) = rules.field_by_number(number) else { continue };
        let known = match (name.as_str(), value) {
            // No rules: examples, and a switch that other rules read.
            ("example", _) => true,
            ("strict", _) => kind == "string",
            (name, value) => ranges.take(kind, name, value) || found.take(kind, name, value, rules)?,
        };
        if known {
            found.covered.push(number);
        }
    }
    ranges.finish(&mut found.list);
    Ok(found)
}

/// Ends of ranges, which several fields of a rules message give.
struct Ranges {
    whole: Range<i128>,
    real: Range<f64>,
    length: Range<u64>,
    bytes: Range<u64>,
    items: Range<u64>,
    kind: Option<String>,
}

impl Default for Ranges {
    fn default() -> Self {
        Ranges {
            whole: Range::ALL,
            real: Range::ALL,
            length: Range::ALL,
            bytes: Range::ALL,
            items: Range::ALL,
            kind: None,
        }
    }
}

impl Ranges {
    fn take(&mut self, kind: &str, name: &str, value: &Proto) -> bool {
        self.kind = Some(kind.to_owned());
        let (upper, inclusive) = match name {
            "lt" => (true, false),
            "lte" => (true, true),
            "gt" => (false, false),
            "gte" => (false, true),
            name => return self.take_size(name, value),
        };
        if let Some(number) = whole(value) {
            let bound = Some(Bound { value: number, inclusive });
            *if upper { &mut self.whole.upper } else { &mut self.whole.lower } = bound;
            return true;
        }
        if let Some(number) = real(value) {
            let bound = Some(Bound { value: number, inclusive });
            *if upper { &mut self.real.upper } else { &mut self.real.lower } = bound;
            return true;
        }
        false
    }

    fn take_size(&mut self, name: &str, value: &Proto) -> bool {
        let Proto::U64(number) = value else { return false };
        let bound = Some(Bound { value: *number, inclusive: true });
        let (range, lower, upper) = match name {
            "len" => (&mut self.length, true, true),
            "min_len" => (&mut self.length, true, false),
            "max_len" => (&mut self.length, false, true),
            "len_bytes" => (&mut self.bytes, true, true),
            "min_bytes" => (&mut self.bytes, true, false),
            "max_bytes" => (&mut self.bytes, false, true),
            "min_items" | "min_pairs" => (&mut self.items, true, false),
            "max_items" | "max_pairs" => (&mut self.items, false, true),
            _ => return false,
        };
        // Two rules for one end, or ends that cross: what both mean only the expressions say.
        if lower && range.lower.is_some() || upper && range.upper.is_some() {
            return false;
        }
        if lower {
            range.lower = bound;
        }
        if upper {
            range.upper = bound;
        }
        true
    }

    fn finish(self, out: &mut Vec<Check>) {
        let given = |range: &Range<u64>| range.lower.is_some() || range.upper.is_some();
        if self.whole.lower.is_some() || self.whole.upper.is_some() {
            out.push(Check::Whole(self.whole));
        }
        if self.real.lower.is_some() || self.real.upper.is_some() {
            out.push(Check::Real(self.real));
        }
        let is = |kind: &str| self.kind.as_deref() == Some(kind);
        if given(&self.length) {
            out.push(if is("bytes") {
                Check::BytesLength(plain(self.length))
            } else {
                Check::TextLength(plain(self.length))
            });
        }
        if given(&self.bytes) {
            out.push(Check::TextBytes(plain(self.bytes)));
        }
        if given(&self.items) {
            out.push(if is("map") { Check::Pairs(plain(self.items)) } else { Check::Items(plain(self.items)) });
        }
    }
}

/// A range of sizes holds nothing when its ends cross: no value passes both rules, and expressions say which it breaks.
fn plain(range: Range<u64>) -> Range<u64> {
    match (range.lower, range.upper) {
        (Some(lower), Some(upper)) if upper.value < lower.value => {
            // Sizes never reach it.
            Range { lower: Some(Bound { value: u64::MAX, inclusive: true }), upper: None }
        }
        _ => range,
    }
}

impl Checks {
    fn take(&mut self, kind: &str, name: &str, value: &Proto, rules: &DynamicMessage) -> Result<bool, String> {
        let check = match (kind, name, value) {
            ("bool", "const", Proto::Bool(flag)) => Check::Bool(*flag),
            ("string", "pattern", Proto::String(source)) | ("bytes", "pattern", Proto::String(source)) => {
                Check::Pattern(Pattern::new(source)?)
            }
            ("string", name, value) => match string(name, value, rules) {
                Some(check) => check,
                // A format that is switched off.
                None => return Ok(matches!(value, Proto::Bool(false)) && known_format(name).is_some()),
            },
            ("bytes", name, value) => match bytes(name, value) {
                Some(check) => check,
                None => return Ok(false),
            },
            ("repeated", "unique", Proto::Bool(true)) => Check::Unique,
            ("repeated", "items", _) | ("map", "keys" | "values", _) => return Ok(true),
            ("float" | "double", "finite", Proto::Bool(true)) => Check::Finite,
            (_, "const", value) => match (whole(value), real(value)) {
                (Some(number), _) => Check::WholeConst(number),
                (_, Some(number)) => Check::RealConst(number),
                _ => return Ok(false),
            },
            (_, "in" | "not_in", Proto::List(items)) => match numbers(name == "in", items) {
                Some(check) => check,
                None => return Ok(false),
            },
            _ => return Ok(false),
        };
        self.list.push(check);
        Ok(true)
    }
}

fn numbers(within: bool, items: &[Proto]) -> Option<Check> {
    if let Some(list) = items.iter().map(whole).collect::<Option<Vec<_>>>() {
        return Some(if within { Check::WholeIn(list) } else { Check::WholeNotIn(list) });
    }
    let list = items.iter().map(real).collect::<Option<Vec<_>>>()?;
    Some(if within { Check::RealIn(list) } else { Check::RealNotIn(list) })
}

fn string(name: &str, value: &Proto, rules: &DynamicMessage) -> Option<Check> {
    let list = |items: &[Proto]| {
        items
            .iter()
            .map(|each| if let Proto::String(text) = each { Some(text.clone()) } else { None })
            .collect::<Option<Vec<_>>>()
    };
    Some(match (name, value) {
        ("const", Proto::String(text)) => Check::TextConst(text.clone()),
        ("prefix", Proto::String(text)) => Check::Prefix(text.clone().into_bytes()),
        ("suffix", Proto::String(text)) => Check::Suffix(text.clone().into_bytes()),
        ("contains", Proto::String(text)) => Check::Contains(text.clone().into_bytes()),
        ("not_contains", Proto::String(text)) => Check::NotContains(text.clone().into_bytes()),
        ("in", Proto::List(items)) => Check::TextIn(list(items)?),
        ("not_in", Proto::List(items)) => Check::TextNotIn(list(items)?),
        ("well_known_regex", Proto::EnumNumber(which)) => {
            // `strict`, on unless it is switched off.
            let loose = matches!(rules.field_by_number(25), Some(Proto::Bool(false)));
            Check::Text(match (which, loose) {
                (1, false) => |text| format::is_header_name(text, true),
                (1, true) => |text| format::is_header_name(text, false),
                (2, false) => |text| format::is_header_value(text, true),
                (2, true) => |text| format::is_header_value(text, false),
                _ => return None,
            })
        }
        (name, Proto::Bool(true)) => Check::Text(known_format(name)?),
        _ => return None,
    })
}

fn bytes(name: &str, value: &Proto) -> Option<Check> {
    let list = |items: &[Proto]| {
        items
            .iter()
            .map(|each| if let Proto::Bytes(bytes) = each { Some(bytes.clone()) } else { None })
            .collect::<Option<Vec<_>>>()
    };
    Some(match (name, value) {
        ("const", Proto::Bytes(bytes)) => Check::BytesConst(bytes.clone()),
        ("prefix", Proto::Bytes(bytes)) => Check::Prefix(bytes.clone()),
        ("suffix", Proto::Bytes(bytes)) => Check::Suffix(bytes.clone()),
        ("contains", Proto::Bytes(bytes)) => Check::Contains(bytes.clone()),
        ("in", Proto::List(items)) => Check::BytesIn(list(items)?),
        ("not_in", Proto::List(items)) => Check::BytesNotIn(list(items)?),
        ("ip", Proto::Bool(true)) => Check::BytesSized(&[4, 16]),
        ("ipv4", Proto::Bool(true)) => Check::BytesSized(&[4]),
        ("ipv6" | "uuid", Proto::Bool(true)) => Check::BytesSized(&[16]),
        _ => return None,
    })
}

/// An integer, or a time or a span in nanoseconds.
fn whole(value: &Proto) -> Option<i128> {
    Some(match value {
        Proto::I32(number) | Proto::EnumNumber(number) => (*number).into(),
        Proto::I64(number) => (*number).into(),
        Proto::U32(number) => (*number).into(),
        Proto::U64(number) => (*number).into(),
        Proto::Message(message) => match message.pool().message(message.message_index()).full_name() {
            "google.protobuf.Timestamp" => Timestamp::of(message).0,
            "google.protobuf.Duration" => Duration::of(message).0,
            _ => return None,
        },
        _ => return None,
    })
}

fn real(value: &Proto) -> Option<f64> {
    match value {
        Proto::F32(number) => Some((*number).into()),
        Proto::F64(number) => Some(*number),
        _ => None,
    }
}
