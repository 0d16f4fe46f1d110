//! The end of a call: `grpc-status`, `grpc-message`, and `grpc-status-details-bin`, which is a `google.rpc.Status`.

use bytes::Bytes;
use leat_message::Fields;

use crate::{Code, Detail, Status, binary_value};

const TYPE_URL_PREFIX: &str = "type.googleapis.com/";

/// Gives the fields of a status to `put`. Allocates nothing for success.
pub fn write(status: &Status, mut put: impl FnMut(&[u8], &[u8])) {
    put(b"grpc-status", NUMBERS.get(usize::from(status.code.number())).unwrap_or(&"2").as_bytes());
    if !status.message.is_empty() {
        let mut text = String::new();
        escape(&status.message, &mut text);
        put(b"grpc-message", text.as_bytes());
    }
    if !status.details.is_empty() {
        let mut text = String::new();
        binary_value::encode(&to_message(status), &mut text);
        put(b"grpc-status-details-bin", text.as_bytes());
    }
}

const NUMBERS: [&str; 17] =
    ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"];

/// Reads the status from trailers, or from a head that has them; `None` where there is no `grpc-status`. A status that is no
/// code is `unknown`. Malformed details are left out.
pub fn read(fields: Fields<'_>) -> Option<Status> {
    let number = fields.get_named(b"grpc-status")?;
    let number = std::str::from_utf8(number).ok().and_then(|text| text.trim().parse().ok());
    let code = number.and_then(Code::from_number).unwrap_or(Code::Unknown);
    let message = fields.get_named(b"grpc-message").map(unescape).unwrap_or_default();
    let details = fields.get_named(b"grpc-status-details-bin").and_then(binary_value::decode);
    let details = details.and_then(|bytes| from_message(&bytes)).map(|status| status.details).unwrap_or_default();
    Some(Status { code, message, details })
}

/// Escapes a message: what is not printable ASCII, and `%`, as `%` and two digits.
pub fn escape(message: &str, out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in message.bytes() {
        if (0x20..0x7f).contains(&byte) && byte != b'%' {
            out.push(char::from(byte));
        } else {
            out.push('%');
            for digit in [byte >> 4, byte & 15] {
                out.push(char::from(DIGITS[usize::from(digit)]));
            }
        }
    }
}

/// The message that was escaped. What is malformed stays as it is, as gRPC asks for; what is not UTF-8 is replaced.
pub fn unescape(value: &[u8]) -> String {
    let mut out = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some((&byte, behind)) = rest.split_first() {
        let escaped = match (byte, behind) {
            (b'%', &[high, low, ..]) => hex(high).zip(hex(low)).map(|(high, low)| high << 4 | low),
            _ => None,
        };
        out.push(escaped.unwrap_or(byte));
        rest = if escaped.is_some() { behind.get(2..).unwrap_or_default() } else { behind };
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|digit| digit as u8)
}

/// A status as a `google.rpc.Status` in binary form: code 1, message 2, details 3 (each a `google.protobuf.Any`: its type's
/// URL 1, its value 2).
pub fn to_message(status: &Status) -> Vec<u8> {
    let mut out = Vec::new();
    if status.code != Code::Ok {
        out.extend_from_slice(&[1 << 3, status.code.number()]);
    }
    if !status.message.is_empty() {
        field(2, status.message.as_bytes(), &mut out);
    }
    for detail in &status.details {
        let mut any = Vec::new();
        field(1, format!("{TYPE_URL_PREFIX}{}", detail.type_name).as_bytes(), &mut any);
        if !detail.value.is_empty() {
            field(2, &detail.value, &mut any);
        }
        field(3, &any, &mut out);
    }
    out
}

/// Reads a `google.rpc.Status`; `None` where it is malformed. Codes that are none of gRPC's are `unknown`.
pub fn from_message(bytes: &[u8]) -> Option<Status> {
    let mut status = Status::OK;
    each_field(bytes, |number, value| {
        match (number, value) {
            (1, Value::Number(code)) => {
                status.code = u32::try_from(code).ok().and_then(Code::from_number).unwrap_or(Code::Unknown);
            }
            (2, Value::Bytes(text)) => status.message = String::from_utf8_lossy(text).into_owned(),
            (3, Value::Bytes(any)) => status.details.push(detail(any)?),
            _ => {}
        }
        Some(())
    })?;
    Some(status)
}

fn detail(any: &[u8]) -> Option<Detail> {
    let mut detail = Detail { type_name: String::new(), value: Bytes::new() };
    each_field(any, |number, value| {
        match (number, value) {
            (1, Value::Bytes(url)) => {
                let url = std::str::from_utf8(url).ok()?;
                detail.type_name = url.rsplit('/').next().unwrap_or_default().to_owned();
            }
            (2, Value::Bytes(value)) => detail.value = Bytes::copy_from_slice(value),
            _ => {}
        }
        Some(())
    })?;
    Some(detail)
}

enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Fixed,
}

fn each_field<'a>(mut bytes: &'a [u8], mut each: impl FnMut(u64, Value<'a>) -> Option<()>) -> Option<()> {
    while !bytes.is_empty() {
        let key = varint(&mut bytes)?;
        let value = match key & 7 {
            0 => Value::Number(varint(&mut bytes)?),
            2 => {
                let length = usize::try_from(varint(&mut bytes)?).ok()?;
                Value::Bytes(split(&mut bytes, length)?)
            }
            1 => split(&mut bytes, 8).map(|_| Value::Fixed)?,
            5 => split(&mut bytes, 4).map(|_| Value::Fixed)?,
            _ => return None,
        };
        each(key >> 3, value)?;
    }
    Some(())
}

fn split<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (start, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(start)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn field(number: u8, content: &[u8], out: &mut Vec<u8>) {
    out.push(number << 3 | 2);
    let mut length = content.len();
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
    out.extend_from_slice(content);
}

#[cfg(test)]
mod tests {
    use leat_message::{Name, OwnedFields};

    use super::*;

    #[test]
    fn messages_are_escaped_and_come_back() {
        for (message, escaped) in [
            ("plain text", "plain text"),
            ("100%", "100%25"),
            ("a\r\nb\t", "a%0D%0Ab%09"),
            ("\u{7f}é☺", "%7F%C3%A9%E2%98%BA"),
            ("", ""),
        ] {
            let mut out = String::new();
            escape(message, &mut out);
            assert_eq!(out, escaped);
            assert_eq!(unescape(out.as_bytes()), message);
        }
        for (value, message) in [("100%", "100%"), ("%zz%4", "%zz%4"), ("%c3%a9", "é"), ("%ff", "\u{fffd}")] {
            assert_eq!(unescape(value.as_bytes()), message, "{value}");
        }
    }

    #[test]
    fn a_status_comes_back_from_its_fields() {
        let detail =
            |name: &str, value: &'static [u8]| Detail { type_name: name.into(), value: Bytes::from_static(value) };
        let long = Detail { type_name: "a.B".into(), value: Bytes::from(vec![7; 300]) };
        for status in [
            Status::OK,
            Status::new(Code::NotFound, "no such thing: ☺"),
            Status {
                code: Code::Internal,
                message: "x".into(),
                details: vec![detail("google.rpc.ErrorInfo", b"\x0a\x01R"), detail("a.Empty", b""), long],
            },
        ] {
            let mut fields = OwnedFields::default();
            write(&status, |name, value| fields.push(Name::from_bytes(name), name, value));
            assert_eq!(read(fields.fields()), Some(status));
        }
        let mut odd = OwnedFields::default();
        assert_eq!(read(odd.fields()), None);
        odd.push(Name::Other, b"grpc-status", b"99");
        odd.push(Name::Other, b"grpc-status-details-bin", b"////");
        assert_eq!(read(odd.fields()), Some(Status::new(Code::Unknown, "")));
    }

    #[test]
    fn malformed_details_are_refused() {
        for bytes in [
            &b"\x0a"[..],
            b"\x12\x05ab",
            b"\x0b",
            b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
            b"\x1a\x02\x0a\x05",
            b"\x09\x01",
        ] {
            assert_eq!(from_message(bytes), None, "{bytes:?}");
        }
    }
}
