use std::fmt;

use crate::form;
use crate::params::PARAMS_MAX;

/// Segments in one pattern, at most.
pub const SEGMENTS_MAX: usize = 32;

/// One part of a path between slashes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Segment {
    /// This text, in the form that requests are matched in.
    Text(Box<[u8]>),
    /// Anything that is not empty.
    Param,
}

/// Where a pattern stops looking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum End {
    /// The path ends here too.
    Exact,
    /// The path ends here or goes on with a slash.
    Boundary,
    /// The path goes on with a slash, and anything after it.
    Slash,
}

/// Which paths a route is for.
#[derive(Clone, Debug)]
pub struct Path {
    /// As it was written, for messages.
    text: String,
    pub(crate) shape: Shape,
    /// Names of the parameters, each with the number of its segment.
    names: Vec<(String, usize)>,
    /// Name of the rest.
    rest: Option<String>,
}

/// What decides whether a path matches; two patterns of the same shape match the same paths.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Shape {
    /// Everything, also `*` and the empty path of CONNECT.
    Any,
    Segments {
        segments: Vec<Segment>,
        end: End,
    },
}

/// What is wrong with a path pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathError {
    /// It does not start with a slash.
    NoSlash,
    /// `?` or `#`.
    Query(char),
    /// A space or a control character.
    Character(char),
    /// `.` or `..` as a segment.
    Dots,
    /// Two slashes in a row.
    Doubled,
    /// A character that servers read in different ways: no request could match it safely.
    Ambiguous(&'static str),
    /// Braces that are not a whole segment, or not closed.
    Braces(String),
    /// A parameter's name that is not letters, digits and `_`.
    Name(String),
    /// A parameter's name that stands twice.
    Repeated(String),
    /// `{*name}` before the end.
    RestNotLast(String),
    /// `{*name}` in a prefix.
    RestInPrefix,
    /// `*` used as in a shell.
    Star,
    /// More than [`PARAMS_MAX`] parameters.
    Params,
    /// More than [`SEGMENTS_MAX`] segments.
    Segments,
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSlash => f.write_str("a path starts with `/`"),
            Self::Query(c) => write!(f, "`{c}` does not belong to a path"),
            Self::Character(c) => write!(f, "`{}` is not allowed in a path", c.escape_default()),
            Self::Dots => f.write_str("`.` and `..` are never matched: requests with such segments are refused"),
            Self::Doubled => f.write_str("`//` in a path"),
            Self::Ambiguous(what) => write!(f, "`{what}` in a path is read differently by different servers"),
            Self::Braces(segment) => write!(f, "`{segment}`: a parameter is a whole segment, as in `/users/{{id}}`"),
            Self::Name(name) => {
                write!(f, "`{name}`: a parameter's name is letters, digits and `_`, and does not start with a digit")
            }
            Self::Repeated(name) => write!(f, "the parameter `{name}` stands twice"),
            Self::RestNotLast(name) => write!(f, "`{{*{name}}}` takes the rest of the path and must come last"),
            Self::RestInPrefix => f.write_str("a prefix takes the rest of the path anyway"),
            Self::Star => f.write_str("`*` has no meaning in a path"),
            Self::Params => write!(f, "a path has at most {PARAMS_MAX} parameters"),
            Self::Segments => write!(f, "a path has at most {SEGMENTS_MAX} segments"),
        }
    }
}

impl std::error::Error for PathError {}

impl Default for Path {
    fn default() -> Self {
        Self::any()
    }
}

impl Path {
    /// Every path.
    pub fn any() -> Self {
        Self { text: "/".into(), shape: Shape::Any, names: Vec::new(), rest: None }
    }

    /// This path alone: `/users/{id}` with parameters, `/files/{*rest}` with a rest, which may be empty.
    ///
    /// # Errors
    /// If the pattern is malformed, or could not be matched safely.
    pub fn exact(text: &str) -> Result<Self, PathError> {
        Self::parse(text, false)
    }

    /// This path and everything below it: `/api` matches `/api` and `/api/x` but not `/apix`; `/api/` matches `/api/`
    /// and `/api/x` but not `/api`. Parameters are allowed.
    ///
    /// # Errors
    /// If the pattern is malformed, or could not be matched safely.
    pub fn prefix(text: &str) -> Result<Self, PathError> {
        Self::parse(text, true)
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Names of the parameters, in order; that of the rest comes last.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|(name, _)| name.as_str()).chain(self.rest.as_deref())
    }

    /// Whether more than one path matches because the pattern is open at its end.
    pub fn is_open(&self) -> bool {
        !matches!(&self.shape, Shape::Segments { end: End::Exact, .. })
    }

    pub(crate) fn param_segments(&self) -> impl Iterator<Item = usize> {
        self.names.iter().map(|(_, segment)| *segment)
    }

    /// The number of segments before the rest, if the pattern names it.
    pub(crate) fn rest_after(&self) -> Option<usize> {
        match (&self.rest, &self.shape) {
            (Some(_), Shape::Segments { segments, .. }) => Some(segments.len()),
            _ => None,
        }
    }

    fn parse(text: &str, prefix: bool) -> Result<Self, PathError> {
        let Some(after) = text.strip_prefix('/') else {
            return Err(PathError::NoSlash);
        };
        check_characters(text)?;
        let mut path = Self { text: text.to_owned(), shape: Shape::Any, names: Vec::new(), rest: None };
        let parts: Vec<&str> = after.split('/').collect();
        if parts.len() > SEGMENTS_MAX {
            return Err(PathError::Segments);
        }
        let mut segments = Vec::new();
        let mut end = if prefix { End::Boundary } else { End::Exact };
        for (at, part) in parts.iter().enumerate() {
            let last = at + 1 == parts.len();
            if part.is_empty() && last && prefix {
                end = End::Slash;
            } else if part.is_empty() && !last {
                return Err(PathError::Doubled);
            } else if let Some(name) = part.strip_prefix("{*").and_then(|name| name.strip_suffix('}')) {
                if prefix {
                    return Err(PathError::RestInPrefix);
                }
                if !last {
                    return Err(PathError::RestNotLast(name.to_owned()));
                }
                path.claim(name)?;
                path.rest = Some(name.to_owned());
                end = End::Slash;
            } else if let Some(name) = part.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
                path.claim(name)?;
                path.names.push((name.to_owned(), at));
                segments.push(Segment::Param);
            } else {
                segments.push(Segment::Text(text_segment(part)?));
            }
        }
        if path.names().count() > PARAMS_MAX {
            return Err(PathError::Params);
        }
        path.shape = Shape::Segments { segments, end };
        Ok(path)
    }

    fn claim(&self, name: &str) -> Result<(), PathError> {
        let letters = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if name.is_empty() || !letters || name.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(PathError::Name(name.to_owned()));
        }
        if self.names().any(|held| held == name) {
            return Err(PathError::Repeated(name.to_owned()));
        }
        Ok(())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn check_characters(text: &str) -> Result<(), PathError> {
    for c in text.chars() {
        match c {
            '?' | '#' => return Err(PathError::Query(c)),
            '\\' => return Err(PathError::Ambiguous("\\")),
            ';' => return Err(PathError::Ambiguous(";")),
            ' ' | '\0'..='\x1f' | '\x7f' => return Err(PathError::Character(c)),
            _ => {}
        }
    }
    Ok(())
}

/// Brings a literal segment into the form that requests are matched in.
fn text_segment(part: &str) -> Result<Box<[u8]>, PathError> {
    if part.contains(['{', '}']) {
        return Err(PathError::Braces(part.to_owned()));
    }
    if part.contains('*') {
        return Err(PathError::Star);
    }
    let mut out = Vec::new();
    form::decode(part.as_bytes(), &mut out);
    if out == b"." || out == b".." {
        return Err(PathError::Dots);
    }
    for (what, bytes) in [("%2F", &b"%2F"[..]), ("%5C", b"\\"), ("%3B", b";"), ("%00", b"\0")] {
        if out.windows(bytes.len()).any(|window| window == bytes) {
            return Err(PathError::Ambiguous(what));
        }
    }
    Ok(out.into_boxed_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_patterns_are_refused() {
        let braces = |text: &str| PathError::Braces(text.into());
        for (text, wanted) in [
            ("users", PathError::NoSlash),
            ("", PathError::NoSlash),
            ("/a?b", PathError::Query('?')),
            ("/a#b", PathError::Query('#')),
            ("/a b", PathError::Character(' ')),
            ("/a/../b", PathError::Dots),
            ("/a/%2e", PathError::Dots),
            ("/a//b", PathError::Doubled),
            ("/a;b", PathError::Ambiguous(";")),
            ("/a%2fb", PathError::Ambiguous("%2F")),
            ("/a%5cb", PathError::Ambiguous("%5C")),
            ("/a%3bb", PathError::Ambiguous("%3B")),
            ("/v{n}", braces("v{n}")),
            ("/{n", braces("{n")),
            ("/{}", PathError::Name("".into())),
            ("/{a-b}", PathError::Name("a-b".into())),
            ("/{1a}", PathError::Name("1a".into())),
            ("/{a}/{a}", PathError::Repeated("a".into())),
            ("/{*rest}/x", PathError::RestNotLast("rest".into())),
            ("/a/*", PathError::Star),
        ] {
            assert_eq!(Path::exact(text).unwrap_err(), wanted, "{text}");
        }
        assert_eq!(Path::prefix("/a/{*rest}").unwrap_err(), PathError::RestInPrefix);
        assert_eq!(Path::exact(&"/{a}".repeat(33)).unwrap_err(), PathError::Segments);
        let many: String = (0..17).map(|n| format!("/{{p{n}}}")).collect();
        assert_eq!(Path::exact(&many).unwrap_err(), PathError::Params);
    }

    #[test]
    fn a_rest_and_a_prefix_with_a_final_slash_have_the_same_shape() {
        assert_eq!(Path::exact("/a/{*rest}").unwrap().shape, Path::prefix("/a/").unwrap().shape);
        assert_eq!(Path::exact("/{*rest}").unwrap().shape, Path::prefix("/").unwrap().shape);
    }
}
