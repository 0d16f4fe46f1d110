//! What plug-ins want changed of a head, or their reply.

use leat_h1::encode::is_field;
use leat_h1::is_authority;
use leat_message::{Name, Span};

/// Field lines that one step of a run may set or remove, at most.
const EDITS_MAX: usize = 256;
/// Bytes of a reply's body, or of one that takes a response's place.
const BODY_BYTES_MAX: usize = 8 << 20;

/// Changes of a head. Of a whole reply, all of it. Its memory is used again for other requests.
#[derive(Debug, Default)]
pub struct Patch {
    text: Vec<u8>,
    method: Option<Span>,
    target: Option<Span>,
    status: Option<u16>,
    upstream: Option<Span>,
    /// Names in lower case; without a value all lines of the name are taken away. A name with several values comes several times,
    /// one behind the other.
    edits: Vec<(Span, Option<Span>)>,
    /// Edits of a change that is not whole yet.
    pending: Vec<(Span, Option<Span>)>,
    body: Option<Vec<u8>>,
    is_text: bool,
}

impl Patch {
    /// The method, where another one is wanted.
    pub fn method(&self) -> Option<&[u8]> {
        self.method.map(|span| span.of(&self.text))
    }

    /// Path and query, where others are wanted.
    pub fn target(&self) -> Option<&[u8]> {
        self.target.map(|span| span.of(&self.text))
    }

    /// The name of the upstream, where one is chosen.
    pub fn upstream(&self) -> Option<&[u8]> {
        self.upstream.map(|span| span.of(&self.text))
    }

    /// The status of a reply, or where another one is wanted.
    pub fn status(&self) -> Option<u16> {
        self.status
    }

    /// The body of a reply, or what takes the place of a message's.
    pub fn body(&self) -> Option<&[u8]> {
        self.body.as_deref()
    }

    /// Whether the body was given as a text, which is no content-coding's.
    pub fn is_text(&self) -> bool {
        self.is_text
    }

    /// Fields by their names in lower case: lines that take the place of all of that name, or `None` where these go.
    pub fn edits(&self) -> impl Iterator<Item = (&[u8], Option<&[u8]>)> {
        self.edits.iter().map(|(name, value)| (name.of(&self.text), value.map(|span| span.of(&self.text))))
    }

    /// Whether all lines of a name, in any case, go or are replaced.
    pub fn takes_out(&self, name: &[u8]) -> bool {
        self.edits.iter().any(|(out, _)| out.of(&self.text).eq_ignore_ascii_case(name))
    }

    pub(super) fn clear(&mut self) {
        let Self { text, method, target, status, upstream, edits, pending, body, is_text } = self;
        text.clear();
        edits.clear();
        pending.clear();
        (*method, *target, *status, *upstream, *body, *is_text) = (None, None, None, None, None, false);
    }

    /// Whether a header or the status is changed.
    pub(super) fn is_changed(&self) -> bool {
        !self.edits.is_empty() || self.status.is_some()
    }

    /// The status that is wanted, which can be sent; `None` for the one that there is.
    pub(super) fn restate(&mut self, status: Option<u16>) {
        self.status = status;
    }

    /// What was put down is the headers of a whole reply. `false`: its body is too long, and nothing is changed.
    pub(super) fn answer(&mut self, status: u16, body: Vec<u8>, is_text: bool) -> bool {
        if self.set_body(body, is_text).is_err() {
            return false;
        }
        self.status = Some(status);
        self.edits.clear();
        self.edits.append(&mut self.pending);
        true
    }

    /// What a header was set to, `Some(None)` if it was taken away, or `None` where it was not touched.
    pub(super) fn edited(&self, name: &[u8]) -> Option<Option<&[u8]>> {
        let (_, value) = self.edits.iter().find(|(other, _)| other.of(&self.text) == name)?;
        Some(value.map(|span| span.of(&self.text)))
    }

    /// Where a change begins that may be taken back.
    pub(super) fn mark(&self) -> usize {
        self.text.len()
    }

    /// Puts down an edit of a change that is not whole yet. The name may be set, and the value is one on the wire. `None`: there are too
    /// many.
    pub(super) fn pend(&mut self, name: &[u8], value: Option<&[u8]>) -> Option<()> {
        if self.edits.len() + self.pending.len() >= EDITS_MAX {
            return None;
        }
        let name = self.put(name);
        let value = value.map(|value| self.put(value));
        self.pending.push((name, value));
        Some(())
    }

    /// Forgets what was put down since `mark`.
    pub(super) fn take_back(&mut self, mark: usize) {
        self.pending.clear();
        self.text.truncate(mark);
    }

    /// The change is whole. A header that was edited before keeps its place.
    pub(super) fn commit(&mut self) {
        for (name, value) in self.pending.drain(..) {
            let text = &self.text;
            match self.edits.iter_mut().find(|(other, _)| other.of(text) == name.of(text)) {
                Some((_, before)) => *before = value,
                None => self.edits.push((name, value)),
            }
        }
    }

    fn put(&mut self, bytes: &[u8]) -> Span {
        let start = self.text.len();
        self.text.extend_from_slice(bytes);
        Span::new(start, self.text.len())
    }

    pub(super) fn set_method(&mut self, method: &str) -> Result<(), String> {
        if !is_field(method.as_bytes(), b"") {
            return Err(format!("`{}` is no method", method.escape_debug()));
        }
        if method == "CONNECT" {
            return Err("a request does not become a tunnel: CONNECT is no method that a plug-in may set".to_owned());
        }
        self.method = Some(self.put(method.as_bytes()));
        Ok(())
    }

    pub(super) fn set_target(&mut self, target: &str) -> Result<(), String> {
        let visible = target.bytes().all(|byte| (b'!'..=b'~').contains(&byte) && byte != b'#');
        if !target.starts_with('/') || !visible {
            return Err(format!(
                "`{}` is no path: it begins with a slash, and what is not plain ASCII is escaped by encodeURIComponent",
                target.escape_debug()
            ));
        }
        self.target = Some(self.put(target.as_bytes()));
        Ok(())
    }

    pub(super) fn set_upstream(&mut self, name: &str) {
        self.upstream = Some(self.put(name.as_bytes()));
    }

    pub(super) fn set_status(&mut self, status: f64) -> Result<(), String> {
        if !(200.0..=599.0).contains(&status) || status.fract() != 0.0 {
            return Err(format!("{status} is no status of a reply: it is a whole number from 200 to 599"));
        }
        self.status = Some(status as u16);
        Ok(())
    }

    pub(super) fn set_body(&mut self, body: Vec<u8>, is_text: bool) -> Result<(), String> {
        if body.len() > BODY_BYTES_MAX {
            return Err(format!("a plug-in's body has at most {} MiB", BODY_BYTES_MAX >> 20));
        }
        self.body = Some(body);
        self.is_text = is_text;
        Ok(())
    }

    /// A line for `name`, or with `None` none. `name` is in lower case.
    pub(super) fn edit(&mut self, name: &str, value: Option<&str>) -> Result<(), String> {
        may_set(name.as_bytes(), Name::from_bytes(name.as_bytes()))?;
        if self.edits.len() >= EDITS_MAX {
            return Err(format!("a plug-in changes at most {EDITS_MAX} headers of a message"));
        }
        let is_host = Name::from_bytes(name.as_bytes()) == Name::Host;
        let name = self.put(name.as_bytes());
        let value = value.map(|value| self.put_value(value)).transpose()?;
        // What is no host says something else to each reader, and to a careful one nothing at all.
        if is_host && value.is_some_and(|value| !is_authority(value.of(&self.text))) {
            return Err(
                "the header `host` is a host, with a port or without: `app.example` or `app.example:8080`".to_owned()
            );
        }
        self.edits.push((name, value));
        Ok(())
    }

    /// A value on the wire, one byte a character.
    fn put_value(&mut self, value: &str) -> Result<Span, String> {
        let start = self.text.len();
        for character in value.trim_matches([' ', '\t']).chars() {
            match u8::try_from(u32::from(character)) {
                Ok(byte) if byte == b'\t' || (byte >= b' ' && byte != 0x7f) => self.text.push(byte),
                _ => {
                    return Err(format!(
                        "a header's value has {} in it, which can't be sent; escape it, as encodeURIComponent does",
                        character.escape_unicode()
                    ));
                }
            }
        }
        Ok(Span::new(start, self.text.len()))
    }
}

/// Whether a header may be set or taken away.
///
/// # Errors
/// What to do instead.
pub(super) fn may_set(name: &[u8], id: Name) -> Result<(), String> {
    let shown = || String::from_utf8_lossy(name);
    if !is_field(name, b"") {
        return Err(format!("`{}` is no name of a header", shown().escape_debug()));
    }
    match id {
        Name::ContentLength | Name::TransferEncoding | Name::Trailer => {
            Err(format!("the header `{}` is the engine's, which frames bodies itself: leave it out", shown()))
        }
        Name::Expect => Err("the engine answers `expect` itself: leave it out".to_owned()),
        id if id.is_hop_by_hop() => {
            Err(format!("the header `{}` is the engine's, which manages connections: leave it out", shown()))
        }
        _ => Ok(()),
    }
}
