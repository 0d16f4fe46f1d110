//! Identifiers: UUID, ULID, names of protobuf, and what HTTP's header fields may hold.

/// Whether the text is a UUID of 8-4-4-4-12 hexadecimal digits.
pub fn is_uuid(text: &str) -> bool {
    let Ok(bytes) = <&[u8; 36]>::try_from(text.as_bytes()) else { return false };
    let dashes = bytes[8] == b'-' && bytes[13] == b'-' && bytes[18] == b'-' && bytes[23] == b'-';
    let mut digits = 0;
    for byte in bytes {
        digits += u32::from(byte.is_ascii_hexdigit());
    }
    dashes && digits == 32
}

/// Whether the text is a UUID without its hyphens.
pub fn is_trimmed_uuid(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether the text is a ULID: 26 of Crockford's characters, the first at most 7.
pub fn is_ulid(text: &str) -> bool {
    let crockford = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_alphabetic() && !b"ILOUilou".contains(&byte);
    text.len() == 26 && text.bytes().all(crockford) && matches!(text.bytes().next(), Some(b'0'..=b'7'))
}

/// Whether the text is a full name of protobuf, such as `acme.v1.Order`; `dotted`: with a dot in front.
pub fn is_protobuf_name(text: &str, dotted: bool) -> bool {
    let text = if dotted { text.strip_prefix('.') } else { Some(text) };
    text.is_some_and(|text| {
        text.split('.').all(|part| {
            let starts = part.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
            starts && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        })
    })
}

/// Whether the text is the name of a header field: a token, with a colon in front if it is a pseudo field; where not
/// `strict`, anything but NUL and the ends of lines.
pub fn is_header_name(text: &str, strict: bool) -> bool {
    if !strict {
        return !text.is_empty() && !has_line_end(text);
    }
    let name = text.strip_prefix(':').unwrap_or(text);
    // The class of protovalidate's pattern has the range from + to the dot, and with it the comma.
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+,-.^_|~`".contains(&byte))
}

/// Whether the text is the value of a header field: no control characters but the tab; where not `strict`, no NUL and no
/// ends of lines.
pub fn is_header_value(text: &str, strict: bool) -> bool {
    if !strict {
        return !has_line_end(text);
    }
    text.bytes().all(|byte| !matches!(byte, 0..=8 | 10..=31 | 127))
}

fn has_line_end(text: &str) -> bool {
    text.bytes().any(|byte| matches!(byte, 0 | b'\n' | b'\r'))
}
