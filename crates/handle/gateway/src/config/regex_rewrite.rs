use leat_message::Reason;
use regex::bytes::{Captures, Regex, RegexBuilder};

/// The longest pattern, and the longest text in place of a path, in bytes.
pub(super) const PATTERN_BYTES_MAX: usize = 1_024;

/// Groups that one text may name, each time counted.
pub(super) const GROUPS_MAX: usize = 16;

/// What a compiled pattern may take, in bytes: repetitions of repetitions grow without end otherwise.
const COMPILED_BYTES_MAX: usize = 256 * 1024;

/// The longest path that comes of it, in bytes: a group that stands many times multiplies what a client sends.
const PATH_BYTES_MAX: usize = 16 * 1024;

/// A path in place of those that a pattern matches as a whole. Time grows with the path's length and never faster: the
/// engine knows no going back.
#[derive(Clone, Debug)]
pub struct RegexRewrite {
    regex: Regex,
    parts: Vec<RegexPart>,
    keep_query: bool,
}

/// A part of the new path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RegexPart {
    Text(String),
    /// What this group has matched; nothing where it has no part in the match.
    Group(usize),
}

impl PartialEq for RegexRewrite {
    fn eq(&self, other: &Self) -> bool {
        self.regex.as_str() == other.regex.as_str() && self.parts == other.parts
    }
}

impl Eq for RegexRewrite {}

impl RegexRewrite {
    /// `pattern` has to match from the first byte of a path to its last one.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn compile(pattern: &str) -> Result<Regex, String> {
        let build = |pattern: &str| {
            let mut builder = RegexBuilder::new(pattern);
            builder.unicode(false).size_limit(COMPILED_BYTES_MAX).nest_limit(32).build()
        };
        // By itself first: a `)` in it must not end the group around it.
        let built = build(pattern).and_then(|_| build(&format!("^(?:{pattern})$")));
        built.map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => "it is too large once its repetitions are written out".to_owned(),
            // The last line says what; those before it draw the place in a pattern that is not as it was written.
            other => other.to_string().lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned(),
        })
    }

    pub(super) fn new(regex: Regex, parts: Vec<RegexPart>, keep_query: bool) -> Self {
        Self { regex, parts, keep_query }
    }

    /// Appends the new path; the old one where it is not matched. Says whether the request's own query comes behind it.
    pub(super) fn write(&self, path: &[u8], out: &mut Vec<u8>) -> bool {
        let found = self.regex.captures(path);
        match &found {
            None => out.extend_from_slice(path),
            Some(captures) => self.expand(captures, out),
        }
        self.keep_query || found.is_none()
    }

    /// The same where nothing is sent yet, and a path that may not be rewritten is refused.
    ///
    /// # Errors
    /// `route.path_dots` where the new path has a `.` or `..` segment that the old one had not, in some spelling;
    /// `limit.target_bytes` where it is too long.
    pub(super) fn write_checked(&self, path: &[u8], out: &mut Vec<u8>) -> Result<bool, Reason> {
        let Some(captures) = self.regex.captures(path) else {
            out.extend_from_slice(path);
            return Ok(true);
        };
        let mut bytes = 0_usize;
        for part in &self.parts {
            bytes += match part {
                RegexPart::Text(text) => text.len(),
                RegexPart::Group(group) => captures.get(*group).map_or(0, |found| found.len()),
            };
        }
        if bytes > PATH_BYTES_MAX {
            return Err(Reason::LimitTargetBytes);
        }
        let start = out.len();
        out.reserve(bytes);
        self.expand(&captures, out);
        let made = out.get(start..).unwrap_or_default();
        if made.len() > PATH_BYTES_MAX {
            return Err(Reason::LimitTargetBytes);
        }
        let path = made.split(|&byte| byte == b'?').next().unwrap_or_default();
        if has_dots(path) { Err(Reason::RoutePathDots) } else { Ok(self.keep_query) }
    }

    fn expand(&self, captures: &Captures<'_>, out: &mut Vec<u8>) {
        let mut in_query = false;
        for part in &self.parts {
            match part {
                RegexPart::Text(text) => {
                    in_query |= text.contains('?');
                    out.extend_from_slice(text.as_bytes());
                }
                RegexPart::Group(group) => {
                    let found = captures.get(*group).map(|found| found.as_bytes()).unwrap_or_default();
                    if in_query { push_value(found, out) } else { out.extend_from_slice(found) }
                }
            }
        }
    }
}

/// Appends what was in a path as the value of a parameter: it can't begin another one, and means what it meant.
pub(super) fn push_value(path: &[u8], out: &mut Vec<u8>) {
    for &byte in path {
        match byte {
            b'&' => out.extend_from_slice(b"%26"),
            b'+' => out.extend_from_slice(b"%2B"),
            b';' => out.extend_from_slice(b"%3B"),
            byte => out.push(byte),
        }
    }
}

/// Whether some server sees a `.` or `..` segment: percent-decoded, with `\` as a slash, with parameters behind `;`.
pub(super) fn has_dots(path: &[u8]) -> bool {
    let mut plain = Vec::with_capacity(path.len());
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let mut at = 0;
    while let Some(&byte) = path.get(at) {
        match (byte, digit(path.get(at + 1)), digit(path.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                plain.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                plain.push(byte);
                at += 1;
            }
        }
    }
    let mut segments = plain.split(|&byte| matches!(byte, b'/' | b'\\'));
    segments.any(|segment| matches!(segment.split(|&byte| byte == b';').next(), Some(b"." | b"..")))
}

#[cfg(test)]
mod tests {
    use super::has_dots;

    #[test]
    fn dots_are_seen_in_every_spelling() {
        for (path, wanted) in [
            ("/a/b.c/..d/...", false),
            ("/a/../b", true),
            ("/a/.", true),
            ("/%2e%2E/b", true),
            ("/a/%2e.;x/b", true),
            ("/a%2f..%5cb", true),
            ("/a\\..\\b", true),
            ("/a%2/..%", false),
        ] {
            assert_eq!(has_dots(path.as_bytes()), wanted, "{path}");
        }
    }
}
