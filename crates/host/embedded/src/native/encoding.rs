//! Text to bytes and back, as TextEncoder and TextDecoder need them.

use rquickjs::function::Func;
use rquickjs::{Ctx, Object, Result, TypedArray, Value};

use super::view;

/// What Windows-1252 has at 0x80 to 0x9F (WHATWG Encoding, index windows-1252).
const WINDOWS_1252: [u16; 32] = [
    0x20AC, 0x81, 0x201A, 0x192, 0x201E, 0x2026, 0x2020, 0x2021, 0x2C6, 0x2030, 0x160, 0x2039, 0x152, 0x8D, 0x17D,
    0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x2DC, 0x2122, 0x161, 0x203A, 0x153, 0x9D,
    0x17E, 0x178,
];

pub(super) fn make<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let group = Object::new(ctx.clone())?;
    group.set("encode", Func::from(|ctx: Ctx<'js>, text: String| view::uint8_array(&ctx, text.as_bytes())))?;
    // Fills `into` with whole characters; gives the UTF-16 units read and the bytes written.
    group.set("encodeInto", Func::from(encode_into))?;
    // Text of all bytes; undefined where they are malformed and `fatal` is set.
    group.set("decode", Func::from(decode))?;
    // How many bytes at the end are the beginning of a character that may go on.
    group.set(
        "unfinished",
        Func::from(|bytes: TypedArray<'js, u8>, kind: String| view::read(&bytes, |bytes| unfinished(bytes, &kind))),
    )?;
    Ok(group)
}

fn encode_into<'js>(text: String, into: TypedArray<'js, u8>) -> Vec<u32> {
    view::write(&into, |into| {
        let mut end = text.len().min(into.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let taken = text.get(..end).unwrap_or_default();
        if let Some(place) = into.get_mut(..end) {
            place.copy_from_slice(taken.as_bytes());
        }
        vec![taken.encode_utf16().count() as u32, end as u32]
    })
}

fn decode<'js>(ctx: Ctx<'js>, bytes: Value<'js>, kind: String, fatal: bool) -> Result<Option<String>> {
    let Some(array) = view::array(&bytes) else {
        return Err(rquickjs::Exception::throw_type(&ctx, "not a Uint8Array"));
    };
    Ok(view::read(&array, |bytes| text_of(bytes, &kind, fatal)))
}

fn text_of(bytes: &[u8], kind: &str, fatal: bool) -> Option<String> {
    match kind {
        "utf-16le" => utf16(bytes, fatal, u16::from_le_bytes),
        "utf-16be" => utf16(bytes, fatal, u16::from_be_bytes),
        "windows-1252" => {
            let unit = |&byte: &u8| match byte {
                0x80..=0x9F => WINDOWS_1252.get(usize::from(byte) - 0x80).copied().unwrap_or(0xFFFD),
                _ => u16::from(byte),
            };
            Some(bytes.iter().filter_map(|byte| char::from_u32(u32::from(unit(byte)))).collect())
        }
        _ if fatal => std::str::from_utf8(bytes).ok().map(str::to_owned),
        _ => Some(String::from_utf8_lossy(bytes).into_owned()),
    }
}

fn utf16(bytes: &[u8], fatal: bool, unit: fn([u8; 2]) -> u16) -> Option<String> {
    let pairs = bytes.chunks_exact(2);
    let odd = !pairs.remainder().is_empty();
    let units = pairs.map(|pair| unit([pair.first().copied().unwrap_or(0), pair.last().copied().unwrap_or(0)]));
    let mut text = String::with_capacity(bytes.len());
    for decoded in char::decode_utf16(units) {
        match decoded {
            Ok(character) => text.push(character),
            Err(_) if fatal => return None,
            Err(_) => text.push(char::REPLACEMENT_CHARACTER),
        }
    }
    if odd {
        if fatal {
            return None;
        }
        text.push(char::REPLACEMENT_CHARACTER);
    }
    Some(text)
}

fn unfinished(bytes: &[u8], kind: &str) -> u32 {
    match kind {
        "windows-1252" => 0,
        "utf-16le" | "utf-16be" => {
            let odd = bytes.len() % 2;
            let whole = bytes.get(..bytes.len() - odd).unwrap_or_default();
            let last = whole
                .last_chunk::<2>()
                .map(|&pair| if kind == "utf-16le" { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) });
            let high = last.is_some_and(|unit| (0xD800..0xDC00).contains(&unit));
            (odd + if high { 2 } else { 0 }) as u32
        }
        _ => {
            // Only the last three bytes can be the beginning of a character that lacks its end.
            let from = bytes.len().saturating_sub(3);
            for start in from..bytes.len() {
                let tail = bytes.get(start..).unwrap_or_default();
                if let Err(error) = std::str::from_utf8(tail)
                    && error.valid_up_to() == 0
                    && error.error_len().is_none()
                {
                    return tail.len() as u32;
                }
            }
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_character_is_left_for_later() {
        for (bytes, kind, left) in [
            (&b"abc"[..], "utf-8", 0),
            (b"a\xE2\x82", "utf-8", 2),
            (b"\xE2\x82\xAC", "utf-8", 0),
            (b"\xF0\x9F\x98", "utf-8", 3),
            (b"\xFF", "utf-8", 0),
            (b"a\xC3", "utf-8", 1),
            (b"ab\x3D\xD8", "utf-16le", 2),
            (b"ab\x3D", "utf-16le", 1),
            (b"\x80", "windows-1252", 0),
        ] {
            assert_eq!(unfinished(bytes, kind), left, "{bytes:?} {kind}");
        }
    }
}
