//! A list of fields becomes a response's head or its trailers: the form that the parser of HTTP/1 makes of a text.

use std::collections::VecDeque;

use leat_message::{Field, Name, ResponseLines, Span, Version};

use crate::field::{is_name, is_trimmed, is_value};
use crate::request::{Malformed, decimal};

/// A response's head, or its trailers: names and values in one buffer, and where they are. Reused, it takes no memory.
#[derive(Debug, Default)]
pub struct Section {
    /// Names and values, one behind the other.
    pub bytes: Vec<u8>,
    /// Where they are; with the status, which is 0 in trailers. How long the body is, is for the caller to fill in.
    pub lines: ResponseLines,
    /// Whether nothing follows.
    pub ends: bool,
}

impl Section {
    /// Empties it; keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        // Most trailers never were.
        if self.bytes.is_empty() && self.lines.status == 0 {
            return;
        }
        self.bytes.clear();
        self.lines.clear();
        self.ends = false;
    }

    /// The memory that it keeps, in bytes.
    pub fn capacity(&self) -> usize {
        self.bytes.capacity() + self.lines.fields.capacity() * size_of::<Field>()
    }

    fn empty(&mut self, kept_bytes: usize) {
        self.clear();
        if self.capacity() > kept_bytes {
            *self = Self::default();
        }
    }
}

/// What of a response has come beside its body, and was not taken.
#[derive(Debug, Default)]
pub(crate) struct Response {
    pub(crate) interims: VecDeque<Section>,
    /// Interim responses that came, taken or not.
    pub(crate) interims_seen: u32,
    pub(crate) head: Section,
    pub(crate) has_head: bool,
    pub(crate) trailers: Section,
    pub(crate) has_trailers: bool,
}

impl Response {
    /// Throws away what was not taken; says how many bytes that were.
    pub(crate) fn discard(&mut self) -> usize {
        let mut bytes = 0;
        if !self.interims.is_empty() {
            bytes = self.interims.iter().map(|section| section.bytes.len()).sum();
            self.interims = VecDeque::new();
        }
        for (section, is_there) in [(&mut self.head, &mut self.has_head), (&mut self.trailers, &mut self.has_trailers)]
        {
            bytes += if std::mem::take(is_there) { section.bytes.len() } else { 0 };
            section.clear();
        }
        bytes
    }

    /// Makes it ready for another stream; keeps a little memory.
    pub(crate) fn clear(&mut self, kept_bytes: usize) {
        self.discard();
        self.interims_seen = 0;
        self.head.empty(kept_bytes);
        self.trailers.empty(kept_bytes);
    }

    /// Memory of its buffers.
    pub(crate) fn capacity(&self) -> usize {
        size_of::<Self>() + self.head.capacity() + self.trailers.capacity()
    }
}

/// Reads responses' heads and trailers. Its memory is reused.
#[derive(Debug, Default)]
pub(crate) struct ResponseReader {
    pub(crate) section: Section,
    part: Part,
    malformed: bool,
    content_length: Option<u64>,
}

/// What is being read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    /// The status, which comes first.
    #[default]
    Status,
    /// The fields of a head, or of trailers.
    Fields,
    /// Nothing: the table is only kept in step.
    Nothing,
}

impl ResponseReader {
    pub(crate) fn begin_head(&mut self) {
        self.begin(Part::Status);
    }

    pub(crate) fn begin_trailers(&mut self) {
        self.begin(Part::Fields);
    }

    /// What comes is thrown away.
    pub(crate) fn begin_nothing(&mut self) {
        self.begin(Part::Nothing);
    }

    fn begin(&mut self, part: Part) {
        self.section.clear();
        self.section.lines.version = Version::Http2;
        self.section.lines.keep_alive = true;
        self.part = part;
        self.malformed = false;
        self.content_length = None;
    }

    /// Takes a field. Copies it once.
    #[inline]
    pub(crate) fn field(&mut self, name: &[u8], value: &[u8]) {
        let taken = match (name, self.part) {
            (_, Part::Nothing) => return,
            _ if self.malformed => return,
            (b":status", Part::Status) => self.status(value),
            // Other pseudo-header fields, and those behind a field, have no legal name (RFC 9113 section 8.3).
            (_, Part::Status) => Err(Malformed),
            (_, Part::Fields) => self.regular(name, value),
        };
        self.malformed |= taken.is_err();
    }

    fn status(&mut self, value: &[u8]) -> Result<(), Malformed> {
        let &[first @ b'1'..=b'9', second @ b'0'..=b'9', third @ b'0'..=b'9'] = value else { return Err(Malformed) };
        let [first, second, third] = [first, second, third].map(|digit| u16::from(digit - b'0'));
        self.section.lines.status = first * 100 + second * 10 + third;
        self.part = Part::Fields;
        Ok(())
    }

    fn regular(&mut self, name: &[u8], value: &[u8]) -> Result<(), Malformed> {
        if !is_name(name) || !is_value(value) || !is_trimmed(value) {
            return Err(Malformed);
        }
        let id = Name::from_bytes(name);
        match id {
            // What belongs to a connection has no place here (section 8.2.2).
            Name::Connection | Name::ProxyConnection | Name::KeepAlive | Name::TransferEncoding | Name::Upgrade => {
                return Err(Malformed);
            }
            Name::Te if !value.eq_ignore_ascii_case(b"trailers") => return Err(Malformed),
            Name::ContentLength => {
                let length = decimal(value).ok_or(Malformed)?;
                if self.content_length.replace(length).is_some_and(|before| before != length) {
                    return Err(Malformed);
                }
            }
            _ => {}
        }
        let Section { bytes, lines, .. } = &mut self.section;
        let start = bytes.len();
        bytes.reserve(name.len() + value.len());
        bytes.extend_from_slice(name);
        let middle = bytes.len();
        bytes.extend_from_slice(value);
        lines.fields.push(Field { id, name: Span::new(start, middle), value: Span::new(middle, bytes.len()) });
        Ok(())
    }

    /// Ends the list; says which length of a body it announces.
    ///
    /// # Errors
    /// Where the stream is to be reset.
    pub(crate) fn finish(&mut self) -> Result<Option<u64>, Malformed> {
        if self.malformed || self.part == Part::Status { Err(Malformed) } else { Ok(self.content_length) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type List<'a> = &'a [(&'a str, &'a str)];

    fn read(list: List<'_>, begin: impl Fn(&mut ResponseReader)) -> Result<(u16, String, Option<u64>), Malformed> {
        let mut reader = ResponseReader::default();
        // What came before leaves no trace.
        for list in [&[(":status", "404"), ("content-length", "9"), ("connection", "x")][..], list] {
            begin(&mut reader);
            list.iter().for_each(|(name, value)| reader.field(name.as_bytes(), value.as_bytes()));
        }
        let content_length = reader.finish()?;
        let Section { bytes, lines, .. } = &reader.section;
        let text = |span: &Span| String::from_utf8(span.of(bytes).to_vec()).unwrap();
        let fields: Vec<String> = lines
            .fields
            .iter()
            .map(|field| format!("{:?} {}={}", field.id, text(&field.name), text(&field.value)))
            .collect();
        Ok((lines.status, fields.join("|"), content_length))
    }

    #[test]
    fn heads_become_spans() {
        let cases: [(List<'_>, u16, &str, Option<u64>); 4] = [
            (&[(":status", "200")], 200, "", None),
            (&[(":status", "103"), ("link", "</a>")], 103, "Other link=</a>", None),
            (
                &[(":status", "999"), ("content-type", "a/b"), ("content-length", "70"), ("content-length", "70")],
                999,
                "ContentType content-type=a/b|ContentLength content-length=70|ContentLength content-length=70",
                Some(70),
            ),
            (
                &[(":status", "200"), ("x", ""), ("x", "a\tb c\u{e9}"), ("te", "trailers")],
                200,
                "Other x=|Other x=a\tb c\u{e9}|Te te=trailers",
                None,
            ),
        ];
        for (list, status, fields, content_length) in cases {
            let expected = Ok((status, fields.to_owned(), content_length));
            assert_eq!(read(list, ResponseReader::begin_head), expected, "{list:?}");
        }
    }

    #[test]
    fn malformed_heads_are_told() {
        let whole: [List<'_>; 9] = [
            &[],
            &[("a", "b")],
            &[("a", "b"), (":status", "200")],
            &[(":status", "20")],
            &[(":status", "2000")],
            &[(":status", "099")],
            &[(":status", "2x0")],
            &[(":status", "200"), (":status", "200")],
            &[(":path", "/"), (":status", "200")],
        ];
        for list in whole {
            assert_eq!(read(list, ResponseReader::begin_head), Err(Malformed), "{list:?}");
        }
        let behind: [(&str, &str); 20] = [
            (":path", "/"),
            ("A", "b"),
            ("", "b"),
            ("a b", "c"),
            ("a", "b\r\nc: d"),
            ("a", "b\n"),
            ("a", "b\0"),
            ("a", "\x01"),
            ("a", "\x7f"),
            ("a", " b"),
            ("a", "b "),
            ("connection", "close"),
            ("proxy-connection", "x"),
            ("keep-alive", "x"),
            ("transfer-encoding", "chunked"),
            ("upgrade", "x"),
            ("te", "gzip"),
            ("content-length", "+1"),
            ("content-length", "1, 1"),
            ("content-length", "18446744073709551616"),
        ];
        for field in behind {
            assert_eq!(read(&[(":status", "200"), field], ResponseReader::begin_head), Err(Malformed), "{field:?}");
            assert_eq!(read(&[field], ResponseReader::begin_trailers), Err(Malformed), "{field:?}");
        }
        let lengths = &[(":status", "200"), ("content-length", "1"), ("content-length", "2")];
        assert_eq!(read(lengths, ResponseReader::begin_head), Err(Malformed));
        assert_eq!(read(&[(":status", "200")], ResponseReader::begin_trailers), Err(Malformed));
        let trailers = read(&[("x-sum", "1")], ResponseReader::begin_trailers);
        assert_eq!(trailers, Ok((0, "Other x-sum=1".to_owned(), None)));
    }
}
