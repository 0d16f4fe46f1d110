use crate::Kind;

/// A default that a .proto file writes (`[default = …]`; proto2 and editions).
#[derive(Clone, Debug, PartialEq)]
pub enum Default {
    /// Of all signed integers, and the number of an enum's value.
    Int(i64),
    /// Of all unsigned integers.
    Uint(u64),
    /// Of `float` and `double`.
    Float(f64),
    /// Of `bool`.
    Bool(bool),
    /// Of `string`.
    String(Box<str>),
    /// Of `bytes`.
    Bytes(Box<[u8]>),
}

impl Default {
    /// Reads what descriptors hold as text: bytes are escaped as in C, enums are named. `None` if it is no value of `kind`.
    pub(crate) fn read(text: &str, kind: Kind, number_of: impl Fn(&str) -> Option<i32>) -> Option<Self> {
        Some(match kind {
            Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 | Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => {
                Default::Int(text.parse().ok()?)
            }
            Kind::Uint32 | Kind::Fixed32 | Kind::Uint64 | Kind::Fixed64 => Default::Uint(text.parse().ok()?),
            // "inf", "-inf" and "nan" are what Rust reads too.
            Kind::Float | Kind::Double => Default::Float(text.parse().ok()?),
            Kind::Bool => Default::Bool(text.parse().ok()?),
            Kind::String => Default::String(text.into()),
            Kind::Bytes => Default::Bytes(unescape(text)?.into()),
            Kind::Enum(_) => Default::Int(number_of(text)?.into()),
            Kind::Message(_) => return None,
        })
    }
}

/// Undoes C's escapes as `protoc` writes them: `\n`, `\"`, octal and hexadecimal.
fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        out.push(match bytes.next()? {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'a' => 7,
            b'b' => 8,
            b'f' => 12,
            b'v' => 11,
            b'x' | b'X' => digits(&mut bytes, 16, 2, 0)?,
            digit @ b'0'..=b'7' => digits(&mut bytes, 8, 2, u32::from(digit - b'0'))?,
            other => other,
        });
    }
    Some(out)
}

fn digits(bytes: &mut std::iter::Peekable<std::str::Bytes<'_>>, radix: u32, most: usize, start: u32) -> Option<u8> {
    let mut value = start;
    for _ in 0..most {
        let Some(digit) = bytes.peek().and_then(|&byte| char::from(byte).to_digit(radix)) else { break };
        value = value * radix + digit;
        bytes.next();
    }
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::{Default, unescape};
    use crate::Kind;

    #[test]
    fn defaults_are_read_by_kind() {
        let none = |_: &str| None;
        assert_eq!(Default::read("-7", Kind::Sint32, none), Some(Default::Int(-7)));
        assert_eq!(Default::read("18446744073709551615", Kind::Uint64, none), Some(Default::Uint(u64::MAX)));
        assert_eq!(Default::read("-inf", Kind::Float, none), Some(Default::Float(f64::NEG_INFINITY)));
        assert_eq!(Default::read("true", Kind::Bool, none), Some(Default::Bool(true)));
        assert_eq!(Default::read("x", Kind::Int32, none), None);
    }

    #[test]
    fn escapes_of_bytes_are_undone() {
        assert_eq!(unescape(r#"a\n\"\\\001\x7f\377"#).as_deref(), Some(&b"a\n\"\\\x01\x7f\xff"[..]));
        assert_eq!(unescape(r"\777"), None);
        assert_eq!(unescape("\\"), None);
    }
}
