use leat_message::{Field, Head, Length, Method, Name, RequestLines, Span};

use super::Patch;
use super::changes::takes_coding;
use crate::admit::{FieldLines, OwnFields};

/// A request's head as plug-ins changed it: a copy in one piece, with what is new behind it. Its memory is used again.
#[derive(Debug, Default)]
pub(crate) struct Rewritten {
    bytes: Vec<u8>,
    lines: RequestLines,
}

impl Rewritten {
    /// Makes the changes of a patch: a field that is set stands where the first of its name stood, in the spelling that
    /// the message has; one that is new behind all others. Costs a look at each field for each edit.
    pub(crate) fn change(&mut self, patch: &impl Patch) {
        if let Some(method) = patch.method() {
            self.lines.method = Method::from_bytes(method);
            self.lines.method_span = self.put(method);
        }
        if let Some(target) = patch.target() {
            self.retarget(target);
        }
        if let Some(body) = patch.body() {
            self.replace_body(body, takes_coding(patch));
        }
        let mut edits = patch.edits().peekable();
        while let Some((name, value)) = edits.next() {
            let id = Name::from_bytes(name);
            let first = self.take_out(id, name, value.is_some());
            let Some(value) = value else { continue };
            let mut at = self.set(first, (id, name), value);
            if id == Name::Host {
                self.lines.authority = self.lines.fields.get(at).map_or(self.lines.authority, |field| field.value);
            }
            // A name with several values comes several times, one behind the other.
            while let Some((_, value)) = edits.next_if(|(next, value)| *next == name && value.is_some()) {
                at = self.set_behind(at, value.unwrap_or_default());
            }
        }
        if let Some(body) = patch.body() {
            self.measure_body(body);
        }
    }

    /// Takes a head over as a route's authentication leaves it: without what the client says under the names that are the
    /// authentication's, and with what that knows of the client behind all others. Costs as much as a copy.
    pub(crate) fn identify(&mut self, head: Head<'_>, own: &OwnFields, known: &FieldLines) {
        self.copy(head);
        let bytes = &self.bytes;
        self.lines.fields.retain(|field| !own.has(field.name.of(bytes)));
        for (name, value) in known.iter() {
            self.set(None, (Name::from_bytes(name), name), value);
        }
    }

    pub(crate) fn head(&self) -> Head<'_> {
        Head::new(&self.bytes, &self.lines)
    }

    /// Whether the client still waits for 100 (Continue): its connection knows.
    pub(crate) fn expects_continue(&mut self, expects: bool) {
        self.lines.expect_continue &= expects;
    }

    /// Takes a head over; its ranges stay what they are. Costs two copies of memory.
    pub(crate) fn copy(&mut self, head: Head<'_>) {
        self.bytes.clear();
        self.bytes.extend_from_slice(head.bytes());
        let before = head.lines();
        let mut fields = std::mem::take(&mut self.lines.fields);
        fields.clear();
        fields.extend_from_slice(&before.fields);
        self.lines = RequestLines {
            method: before.method,
            method_span: before.method_span,
            target: before.target,
            authority: before.authority,
            path: before.path,
            query: before.query,
            version: before.version,
            fields,
            length: before.length,
            keep_alive: before.keep_alive,
            expect_continue: before.expect_continue,
            upgrade: before.upgrade,
        };
    }

    fn put(&mut self, text: &[u8]) -> Span {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(text);
        Span::new(start, self.bytes.len())
    }

    fn retarget(&mut self, target: &[u8]) {
        let span = self.put(target);
        let (start, end) = (span.start as usize, span.end as usize);
        let query = target.iter().position(|byte| *byte == b'?').map(|at| start + at);
        self.lines.target = span;
        self.lines.path = Span::new(start, query.unwrap_or(end));
        self.lines.query = query.map(|at| Span::new(at + 1, end));
    }

    /// Takes all fields of a name out, except for the first where `keeps_first`; says where that is.
    fn take_out(&mut self, id: Name, name: &[u8], keeps_first: bool) -> Option<usize> {
        let bytes = &self.bytes;
        let is_it = |field: &Field| field.id == id && (id != Name::Other || is_named(field, bytes, name));
        let first = self.lines.fields.iter().position(is_it)?;
        let kept = first + usize::from(keeps_first);
        let mut at = 0;
        self.lines.fields.retain(|field| {
            at += 1;
            at <= kept || !is_it(field)
        });
        Some(first)
    }

    /// Sets the field at `first`, or a new one behind all others; says where it is.
    fn set(&mut self, first: Option<usize>, (id, name): (Name, &[u8]), value: &[u8]) -> usize {
        let value = self.put(value);
        if let Some(at) = first
            && let Some(field) = self.lines.fields.get_mut(at)
        {
            field.value = value;
            return at;
        }
        let name = self.put(name);
        self.lines.fields.push(Field { id, name, value });
        self.lines.fields.len() - 1
    }

    /// Puts another value of the same name behind a field; says where it is.
    fn set_behind(&mut self, at: usize, value: &[u8]) -> usize {
        let value = self.put(value);
        if let Some(Field { id, name, .. }) = self.lines.fields.get(at).copied() {
            self.lines.fields.insert(at + 1, Field { id, name, value });
        }
        at + 1
    }

    /// What says how the client's body comes says nothing of the one in its place.
    fn replace_body(&mut self, body: &[u8], is_plain: bool) {
        self.lines.fields.retain(|field| match field.id {
            Name::ContentEncoding => !is_plain,
            Name::TransferEncoding | Name::Trailer | Name::Expect => false,
            _ => true,
        });
        self.lines.expect_continue = false;
        if !(body.is_empty() && self.lines.length == Length::None) {
            self.lines.length = Length::Known(body.len() as u64);
        }
    }

    /// Says how long the body is where the head says so.
    fn measure_body(&mut self, body: &[u8]) {
        if body.is_empty() && self.lines.length == Length::None {
            return;
        }
        if self.lines.fields.iter().any(|field| field.id == Name::ContentLength) {
            let value = self.put(body.len().to_string().as_bytes());
            let lengths = self.lines.fields.iter_mut().filter(|field| field.id == Name::ContentLength);
            lengths.for_each(|field| field.value = value);
        }
    }
}

fn is_named(field: &Field, bytes: &[u8], name: &[u8]) -> bool {
    let own = field.name.of(bytes);
    own.len() == name.len() && own.eq_ignore_ascii_case(name)
}

#[cfg(test)]
mod tests {
    use leat_message::Version;

    use super::super::changes::tests::{CASES, Edits, LINES};
    use super::*;

    fn request(lines: &[&str]) -> (Vec<u8>, RequestLines) {
        let mut made = Rewritten::default();
        made.lines.method_span = made.put(b"GET");
        made.retarget(b"/a?b");
        for line in lines {
            let (name, value) = line.split_once(": ").unwrap();
            made.set(None, (Name::from_bytes(name.as_bytes()), name.as_bytes()), value.as_bytes());
        }
        made.lines.method = Method::Get;
        made.lines.version = Version::Http11;
        made.lines.authority = made.lines.fields.first().unwrap().value;
        (made.bytes, made.lines)
    }

    #[test]
    fn fields_keep_their_places_and_spelling_in_a_copy_that_was_another_request() {
        let (bytes, lines) = request(LINES.split_last().unwrap().1);
        let mut rewritten = Rewritten::default();
        for (edits, wanted) in CASES {
            rewritten.copy(Head::new(&bytes, &lines));
            rewritten.change(&Edits(edits));
            let head = rewritten.head();
            let told = head.fields().iter().map(|(id, name, value)| {
                assert_eq!(id, Name::from_bytes(name));
                format!("{}: {}", String::from_utf8_lossy(name), String::from_utf8_lossy(value))
            });
            assert_eq!(told.collect::<Vec<_>>().join("|"), *wanted, "{edits:?}");
            assert_eq!((head.method_bytes(), head.target(), head.path()), (&b"GET"[..], &b"/a?b"[..], &b"/a"[..]));
            assert_eq!((head.query(), head.authority()), (Some(&b"b"[..]), &b"a"[..]), "{edits:?}");
        }
    }

    #[test]
    fn another_host_is_another_authority() {
        let (bytes, lines) = request(LINES);
        let mut rewritten = Rewritten::default();
        for (edits, wanted) in [
            (&[("host", Some("b"))][..], "b"),
            (&[("host", Some("b")), ("host", Some("c"))], "b"),
            (&[("host", None)], "a"),
            (&[("x-one", Some("host"))], "a"),
        ] {
            rewritten.copy(Head::new(&bytes, &lines));
            rewritten.change(&Edits(edits));
            assert_eq!(rewritten.head().authority(), wanted.as_bytes(), "{edits:?}");
        }
    }
}
