//! Native checks: each says that a value passes, or that its expressions must say what is wrong.

use buffa_descriptor::reflect::Value as Proto;

use crate::cel::{Duration, Pattern, Timestamp, format};

/// A value as checks see it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Datum<'a> {
    Bool(bool),
    /// Integers of all widths, and nanoseconds.
    Whole(i128),
    Real(f64),
    Text(&'a str),
    Bytes(&'a [u8]),
    List(&'a [Proto]),
    /// How many items or pairs there are, where they are not at hand.
    Size(usize),
    Other,
}

impl<'a> Datum<'a> {
    /// Of a decoded value; of a wrapper, what it wraps.
    pub(super) fn of(value: &'a Proto) -> Datum<'a> {
        match value {
            Proto::Bool(flag) => Datum::Bool(*flag),
            Proto::I32(number) | Proto::EnumNumber(number) => Datum::Whole((*number).into()),
            Proto::I64(number) => Datum::Whole((*number).into()),
            Proto::U32(number) => Datum::Whole((*number).into()),
            Proto::U64(number) => Datum::Whole((*number).into()),
            Proto::F32(number) => Datum::Real((*number).into()),
            Proto::F64(number) => Datum::Real(*number),
            Proto::String(text) => Datum::Text(text),
            Proto::Bytes(bytes) => Datum::Bytes(bytes),
            Proto::List(items) => Datum::List(items),
            Proto::Map(map) => Datum::Size(map.len()),
            Proto::Message(message) => match message.pool().message(message.message_index()).full_name() {
                "google.protobuf.Timestamp" => Datum::Whole(Timestamp::of(message).0),
                "google.protobuf.Duration" => Datum::Whole(Duration::of(message).0),
                // A wrapper whose value is not set holds a zero; expressions know which.
                name if name.ends_with("Value") => message.field_by_number(1).map_or(Datum::Other, Datum::of),
                _ => Datum::Other,
            },
        }
    }
}

impl Datum<'_> {
    /// Whether it is its type's zero value; -0.0 is none.
    pub(super) fn is_zero(&self) -> bool {
        match self {
            Datum::Bool(flag) => !flag,
            Datum::Whole(number) => *number == 0,
            Datum::Real(number) => number.to_bits() == 0,
            Datum::Text(text) => text.is_empty(),
            Datum::Bytes(bytes) => bytes.is_empty(),
            Datum::List(items) => items.is_empty(),
            Datum::Size(size) => *size == 0,
            Datum::Other => false,
        }
    }
}

/// One end of a range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound<T> {
    pub(super) value: T,
    pub(super) inclusive: bool,
}

/// A range; where the upper end is below the lower, what lies outside of both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range<T> {
    pub(super) lower: Option<Bound<T>>,
    pub(super) upper: Option<Bound<T>>,
}

impl<T: PartialOrd + Copy> Range<T> {
    pub(super) const ALL: Range<T> = Range { lower: None, upper: None };

    /// NaN is in no range, since it compares with nothing.
    fn contains(&self, value: T) -> bool {
        let above = |bound: Bound<T>| value > bound.value || bound.inclusive && value == bound.value;
        let below = |bound: Bound<T>| value < bound.value || bound.inclusive && value == bound.value;
        match (self.lower, self.upper) {
            (Some(lower), Some(upper)) if upper.value < lower.value => above(lower) || below(upper),
            (lower, upper) => lower.is_none_or(above) && upper.is_none_or(below),
        }
    }
}

/// A rule in native code.
#[derive(Clone, Debug)]
pub(super) enum Check {
    Bool(bool),
    Whole(Range<i128>),
    WholeConst(i128),
    WholeIn(Vec<i128>),
    WholeNotIn(Vec<i128>),
    Real(Range<f64>),
    RealConst(f64),
    RealIn(Vec<f64>),
    RealNotIn(Vec<f64>),
    Finite,
    TextConst(String),
    TextIn(Vec<String>),
    TextNotIn(Vec<String>),
    /// In characters.
    TextLength(Range<u64>),
    TextBytes(Range<u64>),
    Pattern(Pattern),
    Prefix(Vec<u8>),
    Suffix(Vec<u8>),
    Contains(Vec<u8>),
    NotContains(Vec<u8>),
    Text(fn(&str) -> bool),
    BytesConst(Vec<u8>),
    BytesIn(Vec<Vec<u8>>),
    BytesNotIn(Vec<Vec<u8>>),
    BytesLength(Range<u64>),
    /// One of these lengths: addresses in bytes.
    BytesSized(&'static [usize]),
    Items(Range<u64>),
    Unique,
    Pairs(Range<u64>),
}

impl Check {
    /// Whether the value passes for certain. A value of a kind that the check does not know does not.
    pub(super) fn passes(&self, datum: Datum<'_>) -> bool {
        match (self, datum) {
            (Check::Bool(wanted), Datum::Bool(flag)) => *wanted == flag,
            (Check::Whole(range), Datum::Whole(number)) => range.contains(number),
            (Check::WholeConst(wanted), Datum::Whole(number)) => *wanted == number,
            (Check::WholeIn(wanted), Datum::Whole(number)) => wanted.contains(&number),
            (Check::WholeNotIn(unwanted), Datum::Whole(number)) => !unwanted.contains(&number),
            (Check::Real(range), Datum::Real(number)) => range.contains(number),
            (Check::RealConst(wanted), Datum::Real(number)) => *wanted == number,
            (Check::RealIn(wanted), Datum::Real(number)) => wanted.contains(&number),
            (Check::RealNotIn(unwanted), Datum::Real(number)) => !unwanted.contains(&number),
            (Check::Finite, Datum::Real(number)) => number.is_finite(),
            (check, Datum::Text(text)) => check.text(text),
            (check, Datum::Bytes(bytes)) => check.bytes(bytes),
            (Check::Items(range), Datum::List(items)) => range.contains(items.len() as u64),
            (Check::Unique, Datum::List(items)) => unique(items),
            (Check::Pairs(range) | Check::Items(range), Datum::Size(size)) => range.contains(size as u64),
            _ => false,
        }
    }

    fn text(&self, text: &str) -> bool {
        match self {
            Check::TextConst(wanted) => wanted == text,
            Check::TextIn(wanted) => wanted.iter().any(|each| each == text),
            Check::TextNotIn(unwanted) => !unwanted.iter().any(|each| each == text),
            Check::TextLength(range) => range.contains(characters(text) as u64),
            Check::TextBytes(range) => range.contains(text.len() as u64),
            Check::Pattern(pattern) => pattern.matches(text),
            Check::Text(is_valid) => is_valid(text),
            check => check.part(text.as_bytes()),
        }
    }

    fn bytes(&self, bytes: &[u8]) -> bool {
        match self {
            Check::BytesConst(wanted) => wanted == bytes,
            Check::BytesIn(wanted) => wanted.iter().any(|each| each == bytes),
            Check::BytesNotIn(unwanted) => !unwanted.iter().any(|each| each == bytes),
            Check::BytesLength(range) => range.contains(bytes.len() as u64),
            Check::BytesSized(sizes) => sizes.contains(&bytes.len()),
            Check::Pattern(pattern) => std::str::from_utf8(bytes).is_ok_and(|text| pattern.matches(text)),
            check => check.part(bytes),
        }
    }

    fn part(&self, bytes: &[u8]) -> bool {
        match self {
            Check::Prefix(wanted) => bytes.starts_with(wanted),
            Check::Suffix(wanted) => bytes.ends_with(wanted),
            Check::Contains(wanted) => memchr::memmem::find(bytes, wanted).is_some(),
            Check::NotContains(unwanted) => memchr::memmem::find(bytes, unwanted).is_none(),
            _ => false,
        }
    }
}

/// Characters of a text; an ASCII text, as most are, by its length.
fn characters(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}

/// Whether scalars differ pairwise, for lists that are short enough to compare; longer ones are sorted by the expression.
fn unique(items: &[Proto]) -> bool {
    const COMPARED_MAX: usize = 16;
    items.len() <= COMPARED_MAX
        && items.iter().enumerate().all(|(place, item)| !items.iter().take(place).any(|before| before == item))
}

/// The check of one of the well-known formats, by the name of its rule; none where the name is not known.
pub(super) fn known_format(rule: &str) -> Option<fn(&str) -> bool> {
    use format::Version::{Any, V4, V6};
    Some(match rule {
        "email" => format::is_email,
        "hostname" => format::is_hostname,
        "ip" => |text| format::is_ip(text, Any),
        "ipv4" => |text| format::is_ip(text, V4),
        "ipv6" => |text| format::is_ip(text, V6),
        "uri" => format::is_uri,
        "uri_ref" => format::is_uri_reference,
        "address" => |text| format::is_hostname(text) || format::is_ip(text, Any),
        "uuid" => format::is_uuid,
        "tuuid" => format::is_trimmed_uuid,
        "ip_with_prefixlen" => |text| format::is_ip_prefix(text, Any, false),
        "ipv4_with_prefixlen" => |text| format::is_ip_prefix(text, V4, false),
        "ipv6_with_prefixlen" => |text| format::is_ip_prefix(text, V6, false),
        "ip_prefix" => |text| format::is_ip_prefix(text, Any, true),
        "ipv4_prefix" => |text| format::is_ip_prefix(text, V4, true),
        "ipv6_prefix" => |text| format::is_ip_prefix(text, V6, true),
        "host_and_port" => |text| format::is_host_and_port(text, true),
        "ulid" => format::is_ulid,
        "protobuf_fqn" => |text| format::is_protobuf_name(text, false),
        "protobuf_dot_fqn" => |text| format::is_protobuf_name(text, true),
        _ => return None,
    })
}
