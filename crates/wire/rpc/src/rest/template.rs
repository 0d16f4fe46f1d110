use std::fmt;

/// Segments in one template. Google's longest have about a dozen.
pub(crate) const SEGMENTS_MAX: usize = 64;

/// A path template of `google.api.http`, such as `/v1/{name=shelves/*/books/*}:read`
/// (google/api/http.proto, "Path template syntax"):
///
/// ```text
/// Template = "/" Segments [ Verb ] ;
/// Segments = Segment { "/" Segment } ;
/// Segment  = "*" | "**" | LITERAL | Variable ;
/// Variable = "{" FieldPath [ "=" Segments ] "}" ;
/// Verb     = ":" LITERAL ;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pub(crate) segments: Vec<Segment>,
    pub(crate) verb: Option<String>,
    pub(crate) variables: Vec<Variable>,
}

/// One segment of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    /// This text, without escapes.
    Literal(String),
    /// Any one segment.
    One,
    /// All that is left, of any number of segments; the last one.
    Rest,
}

/// A field that takes its value from segments of the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    /// The path of the field, names joined by dots.
    pub(crate) field: String,
    /// Its first segment.
    pub(crate) start: usize,
    /// Behind its last segment; `usize::MAX` where it has all that is left.
    pub(crate) end: usize,
    /// Whether it stands for more than one segment: then an escaped slash stays escaped in it.
    pub(crate) is_many: bool,
}

/// What is wrong with a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError {
    /// Where, in bytes from its start.
    pub at: usize,
    what: &'static str,
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.what, self.at)
    }
}

impl std::error::Error for TemplateError {}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// What breaks the grammar, a `**` that is not last, a variable in a variable, or more than 64 segments.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut reader =
            Reader { text, at: 0, found: Self { segments: Vec::new(), verb: None, variables: Vec::new() } };
        reader.expect(b'/', "a template starts with `/`")?;
        // The root of a server has no segments.
        if reader.peek().is_some() {
            reader.segments(false)?;
        }
        if reader.peek() == Some(b':') {
            reader.at += 1;
            let verb = reader.literal("a verb follows `:`")?;
            reader.found.verb = Some(verb);
        }
        if reader.peek().is_some() {
            return reader.error("`/`, `:` or the end should be here");
        }
        let found = reader.found;
        let rest = found.segments.iter().position(|segment| *segment == Segment::Rest);
        if rest.is_some_and(|rest| rest + 1 != found.segments.len()) {
            return Err(TemplateError { at: 0, what: "`**` must be the last segment" });
        }
        Ok(found)
    }

    /// Paths of the fields that it gives values to.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().map(|variable| variable.field.as_str())
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for segment in &self.segments {
            match segment {
                Segment::Literal(text) => write!(f, "/{text}")?,
                Segment::One => f.write_str("/*")?,
                Segment::Rest => f.write_str("/**")?,
            }
        }
        if self.segments.is_empty() {
            f.write_str("/")?;
        }
        self.verb.as_ref().map_or(Ok(()), |verb| write!(f, ":{verb}"))
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    found: Template,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn error<T>(&self, what: &'static str) -> Result<T, TemplateError> {
        Err(TemplateError { at: self.at, what })
    }

    fn expect(&mut self, byte: u8, what: &'static str) -> Result<(), TemplateError> {
        if self.peek() != Some(byte) {
            return self.error(what);
        }
        self.at += 1;
        Ok(())
    }

    fn segments(&mut self, in_variable: bool) -> Result<(), TemplateError> {
        loop {
            self.segment(in_variable)?;
            if self.found.segments.len() > SEGMENTS_MAX {
                return self.error("there are more than 64 segments");
            }
            if self.peek() != Some(b'/') {
                return Ok(());
            }
            self.at += 1;
        }
    }

    fn segment(&mut self, in_variable: bool) -> Result<(), TemplateError> {
        match self.peek() {
            Some(b'*') => {
                self.at += 1;
                let is_rest = self.peek() == Some(b'*');
                self.at += usize::from(is_rest);
                self.found.segments.push(if is_rest { Segment::Rest } else { Segment::One });
                Ok(())
            }
            Some(b'{') if in_variable => self.error("a variable can't stand in a variable"),
            Some(b'{') => self.variable(),
            _ => {
                let text = self.literal("a segment should be here")?;
                self.found.segments.push(Segment::Literal(text));
                Ok(())
            }
        }
    }

    fn variable(&mut self) -> Result<(), TemplateError> {
        self.at += 1;
        let field = self.field()?;
        let start = self.found.segments.len();
        if self.peek() == Some(b'=') {
            self.at += 1;
            self.segments(true)?;
        } else {
            self.found.segments.push(Segment::One);
        }
        self.expect(b'}', "`}` should be here")?;
        let ended = self.found.segments.len();
        let is_rest = self.found.segments.last() == Some(&Segment::Rest);
        let is_many = ended - start > 1 || is_rest;
        let end = if is_rest { usize::MAX } else { ended };
        self.found.variables.push(Variable { field, start, end, is_many });
        Ok(())
    }

    fn field(&mut self) -> Result<String, TemplateError> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.') {
            self.at += 1;
        }
        let field = self.text.get(start..self.at).unwrap_or_default();
        if field.split('.').any(|name| name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit())) {
            return self.error("a variable is named by a field, or by fields joined by dots");
        }
        Ok(field.to_owned())
    }

    /// Text up to what has a meaning of its own. Escapes in it are resolved, as they are in the paths that it is held against.
    fn literal(&mut self, what: &'static str) -> Result<String, TemplateError> {
        let start = self.at;
        while self.peek().is_some_and(|byte| !b"/:*{}=?#".contains(&byte) && byte > b' ' && byte != 0x7f) {
            self.at += 1;
        }
        let text = self.text.get(start..self.at).unwrap_or_default();
        let mut plain = Vec::with_capacity(text.len());
        super::escape::decode(text.as_bytes(), super::escape::Keep::Nothing, &mut plain);
        match String::from_utf8(plain) {
            Ok(plain) if !plain.is_empty() => Ok(plain),
            Ok(_) => self.error(what),
            Err(_) => self.error("the text is not UTF-8"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> String {
        Template::parse(text).map_or_else(|error| format!("! {error}"), |template| template.to_string())
    }

    #[test]
    fn templates_are_read_by_the_grammar() {
        for (text, expected) in [
            ("/", "/"),
            ("/v1/messages", "/v1/messages"),
            ("/v1/{message_id}", "/v1/*"),
            ("/v1/{name=shelves/*/books/*}", "/v1/shelves/*/books/*"),
            ("/v1/{name=messages/**}:cancel", "/v1/messages/**:cancel"),
            ("/v1/*/{a.b_c.d}/**", "/v1/*/*/**"),
            ("/a%20b", "/a b"),
            ("/v1:watch", "/v1:watch"),
            ("", "! a template starts with `/` (at byte 0)"),
            ("v1", "! a template starts with `/` (at byte 0)"),
            ("//", "! a segment should be here (at byte 1)"),
            ("/v1/", "! a segment should be here (at byte 4)"),
            ("/v1/{a", "! `}` should be here (at byte 6)"),
            ("/v1/{a={b}}", "! a variable can't stand in a variable (at byte 7)"),
            ("/v1/{}", "! a variable is named by a field, or by fields joined by dots (at byte 5)"),
            ("/v1/{a..b}", "! a variable is named by a field, or by fields joined by dots (at byte 9)"),
            ("/v1/{1a}", "! a variable is named by a field, or by fields joined by dots (at byte 7)"),
            ("/v1/**/a", "! `**` must be the last segment (at byte 0)"),
            ("/v1:", "! a verb follows `:` (at byte 4)"),
            ("/v1:a/b", "! `/`, `:` or the end should be here (at byte 5)"),
            ("/v1?a=b", "! `/`, `:` or the end should be here (at byte 3)"),
            ("/%ff", "! the text is not UTF-8 (at byte 4)"),
        ] {
            assert_eq!(shape(text), expected, "{text}");
        }
        assert!(shape(&"/a".repeat(SEGMENTS_MAX + 1)).contains("more than 64"));
    }

    #[test]
    fn variables_know_their_segments() {
        let template = Template::parse("/v1/{a.b=x/*}/{c}/{d=**}").unwrap_or_else(|error| panic!("{error}"));
        let found: Vec<_> = template.variables.iter().map(|v| (v.field.as_str(), v.start, v.end, v.is_many)).collect();
        assert_eq!(found, [("a.b", 1, 3, true), ("c", 3, 4, false), ("d", 4, usize::MAX, true)]);
    }
}
