//! Text with `{{ … }}` in it, taken apart. What stands between the braces is not looked into, except for its strings:
//! braces and bars inside of quotes mean nothing.

/// A piece of a template's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part<'t> {
    /// As it is.
    Text(&'t str),
    /// An expression with its filters, and where it starts, in characters from the start of the text.
    Expression {
        /// What is computed.
        source: &'t str,
        /// Where that starts.
        at: usize,
        /// What is done with it, from left to right.
        filters: Vec<(&'t str, usize)>,
    },
}

/// Why text cannot be taken apart: where, what is wrong, and what to write.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Broken {
    pub(super) at: usize,
    pub(super) message: &'static str,
    pub(super) help: &'static str,
}

/// All parts, in order; neither empty texts nor empty expressions.
pub(super) fn parts(text: &str) -> Result<Vec<Part<'_>>, Broken> {
    let mut parts = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..) {
        let Some(open) = rest.find("{{") else {
            if !rest.is_empty() {
                parts.push(Part::Text(rest));
            }
            break;
        };
        if open > 0 {
            parts.push(Part::Text(rest.get(..open).unwrap_or_default()));
        }
        let start = at + open + 2;
        let inside = text.get(start..).unwrap_or_default();
        let (length, bars) = scan(inside).ok_or(Broken {
            at: count(text, at + open),
            message: "`{{` without `}}`",
            help: "close it with `}}`; to reply with braces, write `{{ '{{' }}`",
        })?;
        parts.push(expression(text, start, length, &bars)?);
        at = start + length + 2;
    }
    Ok(parts)
}

fn expression<'t>(text: &'t str, start: usize, length: usize, bars: &[usize]) -> Result<Part<'t>, Broken> {
    let mut pieces = Vec::new();
    let mut from = start;
    for to in bars.iter().map(|bar| start + bar).chain([start + length]) {
        let piece = text.get(from..to).unwrap_or_default();
        let skipped = piece.len() - piece.trim_start().len();
        let at = count(text, from + skipped);
        if piece.trim().is_empty() {
            let message =
                if pieces.is_empty() { "`{{ }}` with nothing in it" } else { "`|` without a filter behind it" };
            return Err(Broken { at, message, help: "write for example `{{ request.name | upper }}`" });
        }
        pieces.push((piece.trim(), at));
        from = to + 1;
    }
    let filters = pieces.split_off(1);
    match pieces.pop() {
        Some((source, at)) => Ok(Part::Expression { source, at, filters }),
        None => Ok(Part::Text("")),
    }
}

/// The length of what stands before `}}`, and where single bars are in it.
fn scan(inside: &str) -> Option<(usize, Vec<usize>)> {
    let bytes = inside.as_bytes();
    let (mut at, mut depth, mut quote) = (0, 0usize, None);
    let mut bars = Vec::new();
    while let Some(&byte) = bytes.get(at) {
        let next = bytes.get(at + 1).copied();
        match (quote, byte) {
            (Some(_), b'\\') => at += 1,
            (Some(open), _) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'}') if depth == 0 && next == Some(b'}') => return Some((at, bars)),
            (None, b'(' | b'[' | b'{') => depth += 1,
            (None, b')' | b']' | b'}') => depth = depth.saturating_sub(1),
            (None, b'|') if next == Some(b'|') => at += 1,
            (None, b'|') if depth == 0 => bars.push(at),
            _ => {}
        }
        at += 1;
    }
    None
}

/// Characters before a byte.
fn count(text: &str, byte: usize) -> usize {
    text.get(..byte).map_or(0, |before| before.chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expression<'t>(source: &'t str, at: usize, filters: &[(&'t str, usize)]) -> Part<'t> {
        Part::Expression { source, at, filters: filters.to_vec() }
    }

    #[test]
    fn text_is_taken_apart() {
        for (text, wanted) in [
            ("", vec![]),
            ("plain }} text", vec![Part::Text("plain }} text")]),
            ("{{ a }}", vec![expression("a", 3, &[])]),
            ("é{{a}}{{b}}!", vec![Part::Text("é"), expression("a", 3, &[]), expression("b", 8, &[]), Part::Text("!")]),
            ("{{ a || b }}", vec![expression("a || b", 3, &[])]),
            ("{{ a | upper |left(3) }}", vec![expression("a", 3, &[("upper", 7), ("left(3)", 14)])]),
            ("{{ '}}|' + \"\\\"}}\" }}", vec![expression("'}}|' + \"\\\"}}\"", 3, &[])]),
            ("{{ {'a': {'b': 1}} }}", vec![expression("{'a': {'b': 1}}", 3, &[])]),
            ("{{ f(a | b) }}", vec![expression("f(a | b)", 3, &[])]),
        ] {
            assert_eq!(parts(text), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn broken_text_has_its_place() {
        for (text, at) in [("ab {{ c", 3), ("{{ }}", 3), ("{{ a | }}", 7), ("{{ 'a }}", 0), ("x{{ | b }}", 4)] {
            assert_eq!(parts(text).map_err(|broken| broken.at), Err(at), "{text}");
        }
    }
}
