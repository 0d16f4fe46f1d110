//! A list of fields becomes HTTP/1 text (RFC 9113 section 8.3), so that HTTP/1's parser judges it like any other head.

use leat_message::Reason;

use crate::field::{is_line, is_name, is_token, is_trimmed, is_visible};

/// What is wrong with a list of fields for HTTP/2 alone: the stream is reset (section 8.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// A head that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    /// The body's length that it announces, where it is a number.
    pub(crate) content_length: Option<u64>,
    /// What the request is to be refused for.
    pub(crate) problem: Option<Reason>,
}

/// Writes request heads and trailers. Its memory is reused.
#[derive(Debug, Default)]
pub(crate) struct RequestText {
    pub(crate) text: Vec<u8>,
    /// The values of the pseudo-header fields, one behind the other.
    pseudo: Vec<u8>,
    /// Where they end in it, in the order of [`Pseudo`]; with their beginnings.
    spans: [Option<(usize, usize)>; 4],
    cookies: Vec<u8>,
    part: Part,
    malformed: bool,
    content_length: Option<u64>,
    problem: Option<Reason>,
}

/// What is being written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    /// The pseudo-header fields of a head, which come first.
    #[default]
    Pseudo,
    /// The fields of a head.
    Fields,
    /// A trailer section.
    Trailers,
    /// Nothing: the table is only kept in step.
    Nothing,
}

#[derive(Clone, Copy, Debug)]
enum Pseudo {
    Method,
    Scheme,
    Authority,
    Path,
}

impl RequestText {
    pub(crate) fn begin_head(&mut self) {
        self.begin(Part::Pseudo);
        self.pseudo.clear();
        self.spans = [None; 4];
        self.cookies.clear();
        self.content_length = None;
    }

    pub(crate) fn begin_trailers(&mut self) {
        self.begin(Part::Trailers);
        // As behind the last chunk of a body.
        self.text.extend_from_slice(b"0\r\n");
    }

    /// What comes is thrown away.
    pub(crate) fn begin_nothing(&mut self) {
        self.begin(Part::Nothing);
    }

    fn begin(&mut self, part: Part) {
        self.text.clear();
        self.part = part;
        self.malformed = false;
        self.problem = None;
    }

    /// Takes a field. Copies it once.
    #[inline]
    pub(crate) fn field(&mut self, name: &[u8], value: &[u8]) {
        let taken = match (name, self.part) {
            (_, Part::Nothing) => return,
            _ if self.malformed => return,
            ([b':', name @ ..], Part::Pseudo) => self.pseudo(name, value),
            (_, Part::Pseudo) => self.request_line().and_then(|()| self.regular(name, value)),
            (_, Part::Fields | Part::Trailers) => self.regular(name, value),
        };
        self.malformed |= taken.is_err();
    }

    fn pseudo(&mut self, name: &[u8], value: &[u8]) -> Result<(), Malformed> {
        let (pseudo, fits) = match name {
            b"method" => (Pseudo::Method, is_token(value)),
            b"scheme" => (Pseudo::Scheme, is_visible(value)),
            b"authority" => (Pseudo::Authority, is_visible(value)),
            b"path" => (Pseudo::Path, is_visible(value) && (value.starts_with(b"/") || value == b"*")),
            _ => return Err(Malformed),
        };
        match self.spans.get_mut(pseudo as usize) {
            Some(span @ None) if fits => *span = Some((self.pseudo.len(), self.pseudo.len() + value.len())),
            _ => return Err(Malformed),
        }
        self.pseudo.extend_from_slice(value);
        Ok(())
    }

    /// Writes the request line, and Host from `:authority`.
    fn request_line(&mut self) -> Result<(), Malformed> {
        self.part = Part::Fields;
        let [method, scheme, authority, path] =
            self.spans.map(|span| span.and_then(|(start, end)| self.pseudo.get(start..end)));
        let method = method.ok_or(Malformed)?;
        let target = match (method, scheme, authority, path) {
            (b"CONNECT", None, Some(authority), None) => authority,
            (b"CONNECT", ..) => return Err(Malformed),
            (b"OPTIONS", Some(_), _, Some(path)) => path,
            (_, Some(_), _, Some(path)) if path != b"*" => path,
            _ => return Err(Malformed),
        };
        let text = &mut self.text;
        text.reserve(method.len() + target.len() + authority.map_or(0, <[u8]>::len) + 24);
        text.extend_from_slice(method);
        text.push(b' ');
        text.extend_from_slice(target);
        text.extend_from_slice(b" HTTP/1.1\r\n");
        if let Some(authority) = authority {
            put(text, b"host", authority);
        }
        Ok(())
    }

    fn pseudo_value(&self, pseudo: Pseudo) -> Option<&[u8]> {
        let (start, end) = self.spans.get(pseudo as usize).copied().flatten()?;
        self.pseudo.get(start..end)
    }

    fn regular(&mut self, name: &[u8], value: &[u8]) -> Result<(), Malformed> {
        // White space around a value would be cut off: a length would be another one here than in the text. The parser of heads
        // judges the rest of it.
        if !is_name(name) || !is_line(value) || !is_trimmed(value) {
            return Err(Malformed);
        }
        match name {
            // What belongs to a connection has no place here (section 8.2.2).
            b"connection" | b"proxy-connection" | b"keep-alive" | b"transfer-encoding" | b"upgrade" => {
                return Err(Malformed);
            }
            b"te" if !value.eq_ignore_ascii_case(b"trailers") => return Err(Malformed),
            _ if self.part == Part::Trailers => {}
            b"host" => {
                if let Some(authority) = self.pseudo_value(Pseudo::Authority) {
                    let scheme = self.pseudo_value(Pseudo::Scheme).unwrap_or_default();
                    if !portless(authority, scheme).eq_ignore_ascii_case(portless(value, scheme)) {
                        self.problem = Some(Reason::HostConflict);
                    }
                    return Ok(());
                }
            }
            b"cookie" => {
                // Crumbs become one field again (section 8.2.3).
                if !self.cookies.is_empty() {
                    self.cookies.extend_from_slice(b"; ");
                }
                self.cookies.extend_from_slice(value);
                return Ok(());
            }
            // Of several the parser says that they are.
            b"content-length" => self.content_length = self.content_length.or_else(|| decimal(value)),
            _ => {}
        }
        put(&mut self.text, name, value);
        Ok(())
    }

    /// Ends the list.
    ///
    /// # Errors
    /// Where the stream is to be reset.
    pub(crate) fn finish(&mut self) -> Result<Written, Malformed> {
        if self.part == Part::Pseudo && !self.malformed {
            self.request_line()?;
        }
        if self.malformed {
            return Err(Malformed);
        }
        if self.part == Part::Fields && !self.cookies.is_empty() {
            let (text, cookies) = (&mut self.text, &self.cookies);
            put(text, b"cookie", cookies);
        }
        self.text.extend_from_slice(b"\r\n");
        Ok(Written { content_length: self.content_length, problem: self.problem })
    }
}

#[inline]
fn put(text: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    text.reserve(name.len() + value.len() + 4);
    text.extend_from_slice(name);
    text.extend_from_slice(b": ");
    text.extend_from_slice(value);
    text.extend_from_slice(b"\r\n");
}

/// An authority without its scheme's default port, which need not be said (RFC 9113 section 8.3.1, RFC 3986 section 6.2.3).
fn portless<'a>(authority: &'a [u8], scheme: &[u8]) -> &'a [u8] {
    let default: &[u8] = match scheme {
        b"http" => b":80",
        b"https" => b":443",
        _ => return authority,
    };
    authority.strip_suffix(default).unwrap_or(authority)
}

pub(crate) fn decimal(value: &[u8]) -> Option<u64> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    value.iter().try_fold(0_u64, |number, digit| number.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
