use std::cmp::Ordering;
use std::fmt::Write;

use leat_config::table::shorten;
use leat_schema::{Kind, MessageType};

/// A value without parts, as a call carries it: read from the bytes and not copied.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scalar<'a> {
    Bool(bool),
    Int(i64),
    Uint(u64),
    /// Of both widths; a `float` is widened.
    Float(f64),
    /// UTF-8 as far as the sender kept to it.
    Text(&'a [u8]),
    Bytes(&'a [u8]),
    Enum(i32),
    /// A timestamp or a duration.
    Moment {
        seconds: i64,
        nanos: i32,
    },
}

/// A scalar that a rule says.
#[derive(Clone, Debug)]
pub(crate) enum Literal {
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    Text(Box<[u8]>),
    Bytes(Box<[u8]>),
    Enum(i32),
    Moment { seconds: i64, nanos: i32 },
}

/// What scalars of a field are: tells how a literal is written and shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Domain {
    /// Of this kind, which is no message.
    Kind(Kind),
    Timestamp,
    Duration,
}

impl Literal {
    /// The same as a call would carry it.
    #[inline]
    pub(crate) fn scalar(&self) -> Scalar<'_> {
        match self {
            Self::Bool(value) => Scalar::Bool(*value),
            Self::Int(value) => Scalar::Int(*value),
            Self::Uint(value) => Scalar::Uint(*value),
            Self::Float(value) => Scalar::Float(*value),
            Self::Text(value) => Scalar::Text(value),
            Self::Bytes(value) => Scalar::Bytes(value),
            Self::Enum(value) => Scalar::Enum(*value),
            Self::Moment { seconds, nanos } => Scalar::Moment { seconds: *seconds, nanos: *nanos },
        }
    }
}

impl Scalar<'_> {
    /// Equal as values: NaN is itself, and the two zeros are one.
    #[inline]
    pub(crate) fn equals(self, other: Self) -> bool {
        match (self, other) {
            (Self::Text(one), Self::Text(two)) | (Self::Bytes(one), Self::Bytes(two)) => one == two,
            (Self::Float(one), Self::Float(two)) if one.is_nan() => two.is_nan(),
            _ => self.order(other) == Some(Ordering::Equal),
        }
    }

    /// How two of one kind compare: text and bytes by their bytes, enums by their numbers. `None` for NaN.
    pub(crate) fn order(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Bool(one), Self::Bool(two)) => Some(one.cmp(&two)),
            (Self::Int(one), Self::Int(two)) => Some(one.cmp(&two)),
            (Self::Uint(one), Self::Uint(two)) => Some(one.cmp(&two)),
            (Self::Float(one), Self::Float(two)) => one.partial_cmp(&two),
            (Self::Text(one), Self::Text(two)) | (Self::Bytes(one), Self::Bytes(two)) => Some(one.cmp(two)),
            (Self::Enum(one), Self::Enum(two)) => Some(one.cmp(&two)),
            (Self::Moment { seconds, nanos }, Self::Moment { seconds: other_seconds, nanos: other_nanos }) => {
                Some((seconds, nanos).cmp(&(other_seconds, other_nanos)))
            }
            _ => None,
        }
    }

    /// Characters of a text, bytes of bytes.
    pub(crate) fn size(self) -> Option<u64> {
        match self {
            Self::Text(text) => Some(text.iter().filter(|byte| **byte & 0xc0 != 0x80).count() as u64),
            Self::Bytes(bytes) => Some(bytes.len() as u64),
            _ => None,
        }
    }

    /// Whether this is what a field reads as that was not written.
    pub(crate) fn is_zero(self) -> bool {
        match self {
            Self::Bool(value) => !value,
            Self::Int(value) => value == 0,
            Self::Uint(value) => value == 0,
            Self::Float(value) => value.to_bits() == 0,
            Self::Text(value) | Self::Bytes(value) => value.is_empty(),
            Self::Enum(value) => value == 0,
            Self::Moment { seconds, nanos } => seconds == 0 && nanos == 0,
        }
    }

    /// A number for tables: equal values have the same one. Rules choose what is in a table, callers only look up, so it
    /// need not withstand chosen collisions: a candidate is compared anyway.
    #[inline]
    pub(crate) fn hash(self) -> u64 {
        match self {
            Self::Bool(value) => mix(u64::from(value) + 1),
            Self::Int(value) => mix(value as u64),
            Self::Uint(value) => mix(value),
            Self::Float(value) if value.is_nan() => mix(u64::MAX),
            // Adding zero makes both zeros one.
            Self::Float(value) => mix((value + 0.0).to_bits()),
            Self::Text(value) | Self::Bytes(value) => hash_bytes(value),
            Self::Enum(value) => mix(value as u64),
            Self::Moment { seconds, nanos } => mix(mix(seconds as u64) ^ nanos as u64),
        }
    }

    /// As a rule would write it, cut where it gets long. `types` is any message of the schema.
    pub(crate) fn show(self, domain: Domain, types: &MessageType) -> String {
        match (self, domain) {
            (Self::Bool(value), _) => value.to_string(),
            (Self::Int(value), _) => value.to_string(),
            (Self::Uint(value), _) => value.to_string(),
            (Self::Float(value), Domain::Kind(Kind::Float)) => (value as f32).to_string(),
            (Self::Float(value), _) => value.to_string(),
            (Self::Text(value), _) => format!("\"{}\"", shorten(&String::from_utf8_lossy(value))),
            (Self::Bytes(value), _) => show_bytes(value),
            (Self::Enum(value), Domain::Kind(Kind::Enum(id))) => match types.enumeration(id).name_of(value) {
                Some(name) => name.to_owned(),
                None => value.to_string(),
            },
            (Self::Enum(value), _) => value.to_string(),
            (Self::Moment { seconds, nanos }, Domain::Duration) => super::moment::show_duration(seconds, nanos),
            (Self::Moment { seconds, nanos }, _) => super::moment::show_timestamp(seconds, nanos),
        }
    }
}

/// One step of a hash over several values.
#[inline]
pub(crate) fn combine(hash: u64, value: u64) -> u64 {
    mix(hash.rotate_left(23) ^ value)
}

/// The two halves of a wide product, folded: every bit of the value reaches every bit of the result.
#[inline]
fn mix(value: u64) -> u64 {
    let wide = u128::from(value ^ 0x9e37_79b9_7f4a_7c15) * 0xd1b5_4a32_d192_ed03_u128;
    (wide as u64) ^ ((wide >> 64) as u64)
}

#[inline]
fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut hash = mix(bytes.len() as u64 ^ 0x7f4a_7c15_5bd1_e995);
    let (chunks, rest) = bytes.as_chunks::<8>();
    for chunk in chunks {
        hash = mix(hash ^ u64::from_le_bytes(*chunk));
    }
    if !rest.is_empty() {
        let mut last = 0;
        for &byte in rest {
            last = last << 8 | u64::from(byte);
        }
        hash = mix(hash ^ last);
    }
    hash
}

fn show_bytes(bytes: &[u8]) -> String {
    const SHOWN_MAX: usize = 24;
    let mut text = String::from("0x");
    for byte in bytes.iter().take(SHOWN_MAX) {
        let _ = write!(text, "{byte:02x}");
    }
    if bytes.len() > SHOWN_MAX {
        let _ = write!(text, "… ({} bytes)", bytes.len());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::Scalar;

    #[test]
    fn equal_values_hash_alike_and_others_do_not() {
        let values = [
            Scalar::Int(0),
            Scalar::Int(1),
            Scalar::Int(-1),
            Scalar::Float(0.5),
            Scalar::Float(f64::NAN),
            Scalar::Text(b""),
            Scalar::Text(b"a"),
            Scalar::Text(b"12345678"),
            Scalar::Text(b"123456789"),
            Scalar::Moment { seconds: 1, nanos: 2 },
            Scalar::Moment { seconds: 2, nanos: 1 },
        ];
        for (i, one) in values.iter().enumerate() {
            for (j, two) in values.iter().enumerate() {
                assert_eq!(one.equals(*two), i == j, "{one:?} {two:?}");
                // Values of different kinds are never in one table.
                if std::mem::discriminant(one) == std::mem::discriminant(two) {
                    assert_eq!(one.hash() == two.hash(), i == j, "{one:?} {two:?}");
                }
            }
        }
        assert!(Scalar::Float(0.0).equals(Scalar::Float(-0.0)));
        assert_eq!(Scalar::Float(0.0).hash(), Scalar::Float(-0.0).hash());
    }
}
