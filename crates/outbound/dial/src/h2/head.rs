use http::header::HeaderMap;
use leat_message::{Field, Fields, Length, Method, Name, ResponseHead, ResponseLines, Span, Version};

use super::names;
use super::values::Values;

/// Room for a response's fields to begin with, in bytes: most heads fit.
const BYTES: usize = 256;

/// A response head or a trailer section as spans over bytes, the same form that HTTP/1.1 has.
#[derive(Debug, Default)]
pub(super) struct Head {
    bytes: Vec<u8>,
    lines: ResponseLines,
}

impl Head {
    /// Takes over a head. The body is delimited by END_STREAM, unless there is none or its length was announced.
    pub(super) fn fill(&mut self, status: u16, fields: &HeaderMap, method: Method, ended: bool) {
        self.fill_fields(fields);
        self.lines.status = status;
        self.lines.version = Version::Http2;
        self.lines.keep_alive = true;
        self.lines.length = match status {
            200..=299 if method == Method::Connect => Length::Tunnel,
            100..=199 | 204 | 304 => Length::None,
            _ if method == Method::Head => Length::None,
            _ => match self.announced() {
                Some(length) => Length::Known(length),
                None if ended => Length::None,
                None => Length::Stream,
            },
        };
    }

    /// Takes over field lines alone.
    pub(super) fn fill_fields(&mut self, fields: &HeaderMap) {
        self.bytes.clear();
        self.bytes.reserve(BYTES);
        self.lines.clear();
        self.lines.fields.reserve(fields.len());
        for (name, value) in fields {
            let start = self.bytes.len();
            self.bytes.extend_from_slice(name.as_str().as_bytes());
            let middle = self.bytes.len();
            self.bytes.extend_from_slice(value.as_bytes());
            self.lines.fields.push(Field {
                id: Name::from_bytes(name.as_str().as_bytes()),
                name: Span::new(start, middle),
                value: Span::new(middle, self.bytes.len()),
            });
        }
    }

    fn announced(&self) -> Option<u64> {
        let value = self.fields().get(Name::ContentLength)?;
        std::str::from_utf8(value).ok()?.parse().ok()
    }

    pub(super) fn response(&self) -> ResponseHead<'_> {
        ResponseHead::new(&self.bytes, &self.lines)
    }

    pub(super) fn fields(&self) -> Fields<'_> {
        Fields::new(&self.bytes, &self.lines.fields)
    }
}

/// Adds a field to an HTTP/2 head, its name in lower case. What concerns one connection only, and what the framing says
/// itself, is left out (RFC 9113 section 8.2.2). Says whether the field is legal. What is different in each request is sent as
/// never indexed (RFC 7541 section 6.2.3): no table on the way is better for it.
pub(super) fn add(fields: &mut HeaderMap, values: &mut Values, name: &[u8], value: &[u8]) -> bool {
    let id = Name::from_bytes(name);
    let skipped = match id {
        Name::Te => !value.eq_ignore_ascii_case(b"trailers"),
        Name::Host | Name::ContentLength => true,
        id => id.is_hop_by_hop(),
    };
    if skipped {
        return true;
    }
    let (Some(name), Some(mut value)) = (names::of(id, name), values.take(value)) else {
        return false;
    };
    if names::is_fleeting(id) {
        value.set_sensitive(true);
    }
    fields.try_append(name, value).is_ok()
}
