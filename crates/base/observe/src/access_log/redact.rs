use super::record::Text;
use super::text::{self, Place};

/// What stands in place of a value.
const REDACTED: &[u8] = b"[redacted]";

/// Appends a target or another text that may hold a query, without the values of the parameters named. `names` are in lower
/// case; a client's spelling with percent signs is seen through (`%74oken` is `token`).
pub(super) fn write(text: Text<'_>, names: &[Box<str>], place: Place, out: &mut Vec<u8>) {
    let query = if names.is_empty() { None } else { text.bytes.iter().position(|&byte| byte == b'?') };
    let Some(query) = query else { return text::write(text, place, out) };
    let (before, mut rest) = text.bytes.split_at(query);
    let part = |bytes, out: &mut Vec<u8>| text::write(Text { bytes, cut: false }, place, out);
    part(before, out);
    // Each round takes a delimiter and the parameter behind it.
    while let Some((delimiter, behind)) = rest.split_first() {
        part(std::slice::from_ref(delimiter), out);
        let end = behind.iter().position(|byte| matches!(byte, b'&' | b';' | b'#' | b'?')).unwrap_or(behind.len());
        let (parameter, next) = behind.split_at(end);
        let equals = parameter.iter().position(|&byte| byte == b'=');
        match equals.map(|at| parameter.split_at(at)) {
            Some((name, value)) if value.len() > 1 && names.iter().any(|hidden| is_name(name, hidden.as_bytes())) => {
                part(name, out);
                out.push(b'=');
                out.extend_from_slice(REDACTED);
            }
            _ => part(parameter, out),
        }
        rest = next;
    }
    if text.cut {
        text::write(Text { bytes: b"", cut: true }, place, out);
    }
}

/// Whether a parameter's name, decoded and in lower case, is `wanted`.
fn is_name(name: &[u8], wanted: &[u8]) -> bool {
    let (mut left, mut wanted) = (name, wanted.iter());
    while let Some((&first, rest)) = left.split_first() {
        let (byte, rest) = match (first, rest) {
            (b'%', [high, low, rest @ ..]) => match (nibble(*high), nibble(*low)) {
                (Some(high), Some(low)) => (high << 4 | low, rest),
                _ => (first, rest_of(left)),
            },
            _ => (first, rest),
        };
        if wanted.next() != Some(&byte.to_ascii_lowercase()) {
            return false;
        }
        left = rest;
    }
    wanted.next().is_none()
}

fn rest_of(bytes: &[u8]) -> &[u8] {
    bytes.get(1..).unwrap_or_default()
}

fn nibble(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|number| number as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_named_parameters_are_not_written() {
        let names: Vec<Box<str>> = vec!["token".into(), "a[b]".into()];
        for (target, shown) in [
            ("/", "/"),
            ("/token=1", "/token=1"),
            ("/?token=1", "/?token=[redacted]"),
            ("/?TOKEN=1&x=2", "/?TOKEN=[redacted]&x=2"),
            ("/?x=token&token=s&y", "/?x=token&token=[redacted]&y"),
            ("/?token=a=b;token=c", "/?token=[redacted];token=[redacted]"),
            ("/?%74oke%6E=1", "/?%74oke%6E=[redacted]"),
            ("/?%5=1&token%=1&%zztoken=1", "/?%5=1&token%=1&%zztoken=1"),
            ("/?a%5bb%5D=1&a[b]=2", "/?a%5bb%5D=[redacted]&a[b]=[redacted]"),
            ("/?tokens=1&toke=2&=3", "/?tokens=1&toke=2&=3"),
            ("/?token=&token", "/?token=&token"),
            ("https://h/p?token=1#token=2", "https://h/p?token=[redacted]#token=[redacted]"),
            ("/??token=1&&", "/??token=[redacted]&&"),
        ] {
            let mut out = Vec::new();
            write(Text { bytes: target.as_bytes(), cut: false }, &names, Place::Json, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), shown, "{target}");
        }
    }

    #[test]
    fn a_text_that_was_cut_in_a_value_shows_nothing_of_it() {
        let mut out = Vec::new();
        write(Text { bytes: b"/?token=abc", cut: true }, &["token".into()], Place::Word, &mut out);
        assert_eq!(out, b"/?token=[redacted]...");
    }
}
