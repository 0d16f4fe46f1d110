use crate::{Method, Name};

/// A range of bytes in a head's buffer. Heads are bounded well below 4 GiB, so 32 bits are enough.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A span from byte offsets.
    #[inline]
    pub fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end as u32 }
    }

    /// The bytes of this span in `buffer`; empty if the span does not fit (which would be a bug, never a panic).
    #[inline]
    pub fn of(self, buffer: &[u8]) -> &[u8] {
        buffer.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    /// Length in bytes.
    #[inline]
    pub fn len(self) -> usize {
        self.end.saturating_sub(self.start) as usize
    }

    /// Whether the span is empty.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// One field line: ranges of its name and of its value (without surrounding white space), in arrival order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Field {
    /// The name's id, where it is a known one.
    pub id: Name,
    /// The name as it arrived.
    pub name: Span,
    /// The value as it arrived.
    pub value: Span,
}

/// The version in a request or status line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// HTTP/1.0
    Http10,
    /// HTTP/1.1
    #[default]
    Http11,
    /// HTTP/2
    Http2,
}

/// How a message's body is delimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Length {
    /// There is no body.
    #[default]
    None,
    /// Exactly so many bytes (zero is possible, and is announced).
    Known(u64),
    /// Until the framing says so: chunked in HTTP/1.1, END_STREAM in HTTP/2. Trailers may follow.
    Stream,
    /// Until the connection closes (HTTP/1.x responses only).
    Close,
    /// After 101 or a 2xx to CONNECT: both directions are opaque bytes until they close.
    Tunnel,
}

impl Length {
    /// How a reply whose whole body is at hand tells of it. A 304 without a body tells nothing: its length would be that of a 200's,
    /// which nobody knows (RFC 9110 section 8.6).
    #[must_use]
    pub fn whole(status: u16, bytes: usize) -> Self {
        if status == 304 && bytes == 0 { Self::None } else { Self::Known(bytes as u64) }
    }
}

/// The ranges of a request head. Reused from request to request, so a steady connection allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct RequestLines {
    /// The method, if it is a well-known one.
    pub method: Method,
    /// The method's bytes.
    pub method_span: Span,
    /// The request target as it arrived.
    pub target: Span,
    /// Host and port that the request is for, from the absolute target or from Host; empty for HTTP/1.0 without Host.
    pub authority: Span,
    /// The path (`*` for OPTIONS *; empty for CONNECT).
    pub path: Span,
    /// The query without its `?`.
    pub query: Option<Span>,
    /// The version.
    pub version: Version,
    /// Field lines in arrival order.
    pub fields: Vec<Field>,
    /// How the body is delimited.
    pub length: Length,
    /// Whether the connection may carry another request after this one.
    pub keep_alive: bool,
    /// Whether the client waits for 100 (Continue). No more once it has begun to send the body all the same.
    pub expect_continue: bool,
    /// Whether `Connection: upgrade` and `Upgrade` are both present.
    pub upgrade: bool,
}

impl RequestLines {
    /// Makes the value ready for the next head; keeps its memory.
    pub fn clear(&mut self) {
        let mut fields = std::mem::take(&mut self.fields);
        fields.clear();
        *self = Self { fields, ..Self::default() };
    }
}

/// A request head: one buffer and the ranges into it. A copy of two references; makes no `String`.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    bytes: &'a [u8],
    lines: &'a RequestLines,
}

impl<'a> Head<'a> {
    /// Puts a buffer and the ranges that were parsed from it together.
    #[inline]
    pub fn new(bytes: &'a [u8], lines: &'a RequestLines) -> Self {
        Self { bytes, lines }
    }

    /// The ranges.
    #[inline]
    pub fn lines(&self) -> &'a RequestLines {
        self.lines
    }

    /// The buffer that the ranges point into.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The method's id.
    #[inline]
    pub fn method(&self) -> Method {
        self.lines.method
    }

    /// The method's bytes.
    #[inline]
    pub fn method_bytes(&self) -> &'a [u8] {
        self.lines.method_span.of(self.bytes)
    }

    /// The target as it arrived.
    #[inline]
    pub fn target(&self) -> &'a [u8] {
        self.lines.target.of(self.bytes)
    }

    /// Host and port that the request is for; empty if there is none.
    #[inline]
    pub fn authority(&self) -> &'a [u8] {
        self.lines.authority.of(self.bytes)
    }

    /// The authority without its port, in the case that it arrived in. IPv6 literals keep their brackets.
    pub fn host(&self) -> &'a [u8] {
        let authority = self.authority();
        let after_bracket = authority.iter().rposition(|&b| b == b']').map_or(0, |i| i + 1);
        let tail = authority.get(after_bracket..).unwrap_or_default();
        match tail.iter().rposition(|&b| b == b':') {
            Some(colon) => authority.get(..after_bracket + colon).unwrap_or_default(),
            None => authority,
        }
    }

    /// The path, not decoded.
    #[inline]
    pub fn path(&self) -> &'a [u8] {
        self.lines.path.of(self.bytes)
    }

    /// The query without its `?`.
    #[inline]
    pub fn query(&self) -> Option<&'a [u8]> {
        self.lines.query.map(|span| span.of(self.bytes))
    }

    /// The version.
    #[inline]
    pub fn version(&self) -> Version {
        self.lines.version
    }

    /// How the body is delimited.
    #[inline]
    pub fn length(&self) -> Length {
        self.lines.length
    }

    /// The field lines in arrival order.
    #[inline]
    pub fn fields(&self) -> Fields<'a> {
        Fields { bytes: self.bytes, list: &self.lines.fields }
    }
}

/// The ranges of a response head.
#[derive(Clone, Debug, Default)]
pub struct ResponseLines {
    /// The version.
    pub version: Version,
    /// The status code, 100 to 599.
    pub status: u16,
    /// The reason phrase; often empty.
    pub reason: Span,
    /// Field lines in arrival order.
    pub fields: Vec<Field>,
    /// How the body is delimited, given the request's method.
    pub length: Length,
    /// Whether the connection may carry another request after this response.
    pub keep_alive: bool,
}

impl ResponseLines {
    /// Makes the value ready for the next head; keeps its memory.
    pub fn clear(&mut self) {
        let mut fields = std::mem::take(&mut self.fields);
        fields.clear();
        *self = Self { fields, ..Self::default() };
    }
}

/// A response head: one buffer and the ranges into it.
#[derive(Clone, Copy, Debug)]
pub struct ResponseHead<'a> {
    bytes: &'a [u8],
    lines: &'a ResponseLines,
}

impl<'a> ResponseHead<'a> {
    /// Puts a buffer and the ranges that were parsed from it together.
    #[inline]
    pub fn new(bytes: &'a [u8], lines: &'a ResponseLines) -> Self {
        Self { bytes, lines }
    }

    /// The ranges.
    #[inline]
    pub fn lines(&self) -> &'a ResponseLines {
        self.lines
    }

    /// The buffer that the ranges point into.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The status code.
    #[inline]
    pub fn status(&self) -> u16 {
        self.lines.status
    }

    /// The reason phrase.
    #[inline]
    pub fn reason(&self) -> &'a [u8] {
        self.lines.reason.of(self.bytes)
    }

    /// How the body is delimited.
    #[inline]
    pub fn length(&self) -> Length {
        self.lines.length
    }

    /// The field lines in arrival order.
    #[inline]
    pub fn fields(&self) -> Fields<'a> {
        Fields { bytes: self.bytes, list: &self.lines.fields }
    }
}

/// Field lines over the buffer they point into: a head's, or a trailer section's.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    bytes: &'a [u8],
    list: &'a [Field],
}

impl<'a> Fields<'a> {
    /// Puts a buffer and the ranges that were parsed from it together.
    #[inline]
    pub fn new(bytes: &'a [u8], list: &'a [Field]) -> Self {
        Self { bytes, list }
    }

    /// How many field lines there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Every line as (id, name, value), in arrival order.
    #[inline]
    pub fn iter(&self) -> FieldIter<'a> {
        FieldIter { bytes: self.bytes, list: self.list.iter() }
    }

    /// The first value of a known name.
    #[inline]
    pub fn get(&self, id: Name) -> Option<&'a [u8]> {
        self.list.iter().find(|field| field.id == id).map(|field| field.value.of(self.bytes))
    }

    /// Every value of a known name.
    pub fn get_all(&self, id: Name) -> impl DoubleEndedIterator<Item = &'a [u8]> + use<'a> {
        let bytes = self.bytes;
        self.list.iter().filter(move |field| field.id == id).map(move |field| field.value.of(bytes))
    }

    /// The first value of any name, in any case.
    pub fn get_named(&self, name: &[u8]) -> Option<&'a [u8]> {
        let id = Name::from_bytes(name);
        if id != Name::Other {
            return self.get(id);
        }
        let same = |field: &&Field| field.id == Name::Other && field.name.of(self.bytes).eq_ignore_ascii_case(name);
        self.list.iter().find(same).map(|field| field.value.of(self.bytes))
    }
}

impl<'a> IntoIterator for Fields<'a> {
    type Item = (Name, &'a [u8], &'a [u8]);
    type IntoIter = FieldIter<'a>;

    fn into_iter(self) -> FieldIter<'a> {
        self.iter()
    }
}

/// Iterates over (id, name, value).
#[derive(Clone, Debug)]
pub struct FieldIter<'a> {
    bytes: &'a [u8],
    list: std::slice::Iter<'a, Field>,
}

impl<'a> Iterator for FieldIter<'a> {
    type Item = (Name, &'a [u8], &'a [u8]);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let field = self.list.next()?;
        Some((field.id, field.name.of(self.bytes), field.value.of(self.bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_leaves_the_port_out() {
        for (authority, host) in [
            ("example.org", "example.org"),
            ("example.org:80", "example.org"),
            ("[::1]:8080", "[::1]"),
            ("[::1]", "[::1]"),
            ("", ""),
        ] {
            let lines = RequestLines { authority: Span::new(0, authority.len()), ..RequestLines::default() };
            assert_eq!(Head::new(authority.as_bytes(), &lines).host(), host.as_bytes(), "{authority}");
        }
    }
}
