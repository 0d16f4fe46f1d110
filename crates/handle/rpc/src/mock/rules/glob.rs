/// A pattern over a whole text: `*` is any run of characters, `?` is one, `[a-z]` one of a set, `[!a-z]` one of none of it,
/// and `\` takes the next character as itself.
///
/// Matching is linear in the text times the pattern's parts at worst: a star is left at most once for each later star.
/// Bytes are compared; `?` and sets stand for one character of UTF-8.
#[derive(Clone, Debug)]
pub(crate) struct Glob {
    source: Box<str>,
    parts: Box<[Part]>,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Bytes(Box<[u8]>),
    One,
    Set { ranges: Box<[(char, char)]>, negated: bool },
    Star,
}

/// Longest pattern, in bytes; no path or name is longer.
pub(crate) const PATTERN_BYTES_MAX: usize = 4096;

impl Glob {
    /// # Errors
    /// What is wrong with the pattern, for people.
    pub(crate) fn new(source: &str) -> Result<Self, &'static str> {
        if source.len() > PATTERN_BYTES_MAX {
            return Err("the pattern is longer than 4096 bytes");
        }
        let mut parts: Vec<Part> = Vec::new();
        let mut text = String::new();
        let mut rest = source.chars();
        while let Some(next) = rest.next() {
            let part = match next {
                '\\' => {
                    text.push(rest.next().ok_or("a `\\` at the end takes no character as itself")?);
                    continue;
                }
                '*' => Part::Star,
                '?' => Part::One,
                '[' => set(&mut rest)?,
                plain => {
                    text.push(plain);
                    continue;
                }
            };
            flush(&mut text, &mut parts);
            if part != Part::Star || parts.last() != Some(&Part::Star) {
                parts.push(part);
            }
        }
        flush(&mut text, &mut parts);
        Ok(Self { source: source.into(), parts: parts.into() })
    }

    /// The pattern as it was written.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// Whether the pattern is the whole of `text`.
    pub(crate) fn matches(&self, text: &[u8]) -> bool {
        let (mut part, mut at) = (0, 0);
        // Where to go on when a part does not fit: behind the last star, one byte further.
        let mut retry: Option<(usize, usize)> = None;
        loop {
            let rest = text.get(at..).unwrap_or_default();
            let step = match self.parts.get(part) {
                None if rest.is_empty() => return true,
                None => None,
                Some(Part::Star) => {
                    part += 1;
                    if part == self.parts.len() {
                        return true;
                    }
                    retry = Some((part, at));
                    continue;
                }
                Some(Part::Bytes(bytes)) => rest.starts_with(bytes).then_some(bytes.len()),
                Some(Part::One) => first_char(rest).map(|(_, len)| len),
                Some(Part::Set { ranges, negated }) => first_char(rest)
                    .filter(|(c, _)| ranges.iter().any(|(from, to)| (from..=to).contains(&c)) != *negated)
                    .map(|(_, len)| len),
            };
            match (step, &mut retry) {
                (Some(len), _) => {
                    part += 1;
                    at += len;
                }
                (None, Some((behind, from))) if *from < text.len() => {
                    *from += 1;
                    (part, at) = (*behind, *from);
                }
                (None, _) => return false,
            }
        }
    }
}

fn flush(text: &mut String, parts: &mut Vec<Part>) {
    if !text.is_empty() {
        parts.push(Part::Bytes(std::mem::take(text).into_bytes().into()));
    }
}

fn set(rest: &mut std::str::Chars<'_>) -> Result<Part, &'static str> {
    const OPEN: &str = "a `[` without its `]`; write `\\[` for the character itself";
    let mut ranges = Vec::new();
    let mut negated = false;
    let mut next = rest.next().ok_or(OPEN)?;
    if next == '!' || next == '^' {
        negated = true;
        next = rest.next().ok_or(OPEN)?;
    }
    loop {
        let from = if next == '\\' { rest.next().ok_or(OPEN)? } else { next };
        next = rest.next().ok_or(OPEN)?;
        let mut to = from;
        if next == '-' && !rest.as_str().starts_with(']') {
            to = rest.next().ok_or(OPEN)?;
            if to == '\\' {
                to = rest.next().ok_or(OPEN)?;
            }
            if to < from {
                return Err("a range in `[…]` that ends before it starts");
            }
            next = rest.next().ok_or(OPEN)?;
        }
        ranges.push((from, to));
        if next == ']' {
            return Ok(Part::Set { ranges: ranges.into(), negated });
        }
    }
}

/// The first character and its length; a byte that is no UTF-8 counts as one character.
fn first_char(bytes: &[u8]) -> Option<(char, usize)> {
    let head = bytes.get(..bytes.len().min(4))?;
    let valid = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(head.get(..error.valid_up_to())?).unwrap_or_default(),
    };
    match valid.chars().next() {
        Some(c) => Some((c, c.len_utf8())),
        None => bytes.first().map(|_| (char::REPLACEMENT_CHARACTER, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::Glob;

    #[test]
    fn patterns_stand_for_whole_texts() {
        for (pattern, text, wanted) in [
            ("A*", "Ada", true),
            ("A*", "ada", false),
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("a?c", "abc", true),
            ("a?c", "aéc", true),
            ("a?c", "ac", false),
            ("*.example.com", "www.example.com", true),
            ("*.example.com", "example.com", false),
            ("a*b*c", "a1b2b3c", true),
            ("a*b*c", "a1b2b3", false),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[^a-c]x", "dx", true),
            ("[a-]", "-", true),
            (r"\*", "*", true),
            (r"\*", "a", false),
            (r"[\]]", "]", true),
            ("**a**", "xxaxx", true),
        ] {
            assert_eq!(Glob::new(pattern).unwrap().matches(text.as_bytes()), wanted, "{pattern} {text}");
        }
        assert!(Glob::new("?").unwrap().matches(&[0xff]), "a byte that is no text is one character");
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for pattern in ["[", "[a", "[]", "[a-", r"\", "[z-a]"] {
            assert!(Glob::new(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn many_stars_do_not_multiply() {
        let glob = Glob::new(&"*a".repeat(200)).unwrap();
        assert!(!glob.matches("a".repeat(199).as_bytes()));
        assert!(!glob.matches(format!("{}b", "a".repeat(20_000)).as_bytes()));
    }
}
