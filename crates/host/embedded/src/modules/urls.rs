//! Files as URLs.

/// The URL of a file.
pub(crate) fn url_of(path: &str, suffix: &str) -> String {
    let mut url = String::with_capacity(path.len() + suffix.len() + 8);
    url.push_str("file://");
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => url.push(char::from(byte)),
            b'/' | b'-' | b'_' | b'.' | b'~' | b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';'
            | b'=' | b':' | b'@' | b'[' | b']' | b'|' | b'^' => url.push(char::from(byte)),
            byte => url.push_str(&format!("%{byte:02X}")),
        }
    }
    url.push_str(suffix);
    url
}

/// The path and the suffix of a file's URL.
pub(crate) fn path_of(url: &str) -> Option<(String, &str)> {
    let path = url.strip_prefix("file://")?;
    let cut = path.find(['?', '#']).unwrap_or(path.len());
    let (path, suffix) = path.split_at_checked(cut)?;
    Some((decode(path)?, suffix))
}

/// Without percent signs; `None` if that is no text.
pub(crate) fn decode(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let hex = if byte == b'%' { text.get(at + 1..at + 3) } else { None };
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(value) => {
                decoded.push(value);
                at += 3;
            }
            None => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(decoded).ok()
}
