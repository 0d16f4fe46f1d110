use super::pen::Pen;
use super::text::{self, CUT, Place, Text};

/// What stands in place of a value.
const REDACTED: &[u8; 10] = b"[redacted]";

/// Appends a target or another text that may hold a query, without the values of the parameters named. `names` are in lower
/// case; a client's spelling with percent signs is seen through (`%74oken` is `token`). `scratch` is for a text that has a query.
#[inline]
pub(super) fn write(text: Text<'_>, names: &[Box<str>], place: Place, scratch: &mut Vec<u8>, out: &mut Pen<'_>) {
    if names.is_empty() || !text.has(b'?') {
        return text::write(text, place, out);
    }
    scratch.clear();
    text.copy_to(scratch);
    without_values(scratch, names, place, out);
    if text.cut {
        out.fixed(CUT);
    }
}

fn without_values(text: &[u8], names: &[Box<str>], place: Place, out: &mut Pen<'_>) {
    let query = text.iter().position(|&byte| byte == b'?').unwrap_or(text.len());
    let (before, mut rest) = text.split_at(query);
    text::write_bytes(before, place, out);
    // Each round takes a delimiter and the parameter behind it.
    while let Some((delimiter, behind)) = rest.split_first() {
        text::write_bytes(std::slice::from_ref(delimiter), place, out);
        let end = behind.iter().position(|byte| matches!(byte, b'&' | b';' | b'#' | b'?')).unwrap_or(behind.len());
        let (parameter, next) = behind.split_at(end);
        let equals = parameter.iter().position(|&byte| byte == b'=');
        match equals.map(|at| parameter.split_at(at)) {
            Some((name, value)) if value.len() > 1 && names.iter().any(|hidden| is_name(name, hidden.as_bytes())) => {
                text::write_bytes(name, place, out);
                out.fixed(b"=");
                out.fixed(REDACTED);
            }
            _ => text::write_bytes(parameter, place, out),
        }
        rest = next;
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
    use super::super::text::tests::words;
    use super::*;

    fn written(target: &[u8], cut: bool, names: &[Box<str>], place: Place) -> String {
        let text = Text { words: &words(target), length: target.len(), cut };
        let mut buffer = vec![0; 256];
        let mut pen = Pen::new(&mut buffer);
        write(text, names, place, &mut Vec::new(), &mut pen);
        let length = 256 - pen.room();
        buffer.truncate(length);
        String::from_utf8(buffer).unwrap()
    }

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
            assert_eq!(written(target.as_bytes(), false, &names, Place::Json), shown, "{target}");
        }
    }

    #[test]
    fn a_text_that_was_cut_in_a_value_shows_nothing_of_it() {
        assert_eq!(written(b"/?token=abc", true, &["token".into()], Place::Word), "/?token=[redacted]...");
    }
}
