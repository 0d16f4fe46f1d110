use leat_dial::Call;
use leat_message::Length;

use super::MIRRORED_FIELD;
use crate::admit::FieldLines;
use crate::proxy::RequestSink;

/// A request's head, kept to be sent when the request itself is long gone.
#[derive(Debug)]
pub(crate) struct Recorded {
    method: Box<[u8]>,
    authority: Box<[u8]>,
    scheme: &'static str,
    target: Box<[u8]>,
    fields: FieldLines,
    length: Length,
}

impl Recorded {
    /// Empty, for an endpoint of this scheme.
    pub(super) fn new(scheme: &'static str) -> Self {
        let none = Box::<[u8]>::default;
        Self {
            method: none(),
            authority: none(),
            scheme,
            target: none(),
            fields: FieldLines::default(),
            length: Length::None,
        }
    }

    /// Writes it to a call, as the copy that it is.
    pub(super) fn write(&self, call: &mut Call) {
        call.request(&self.method, &self.authority, self.scheme, &self.target);
        for (name, value) in self.fields.iter() {
            call.field(name, value);
        }
        call.field(MIRRORED_FIELD, b"1");
        call.length(self.length);
    }
}

impl RequestSink for Recorded {
    fn request(&mut self, method: &[u8], authority: &[u8], _scheme: &str, target: &[u8]) {
        self.method = method.into();
        self.authority = authority.into();
        self.target = target.into();
    }

    fn field(&mut self, name: &[u8], value: &[u8]) {
        // The body is there when the copy is sent, its trailers are not, and nobody waits for those of the answer.
        let is_left_out = [&b"expect"[..], b"te", b"connection"].iter().any(|other| name.eq_ignore_ascii_case(other));
        if !is_left_out {
            self.fields.put(name, |bytes| bytes.extend_from_slice(value));
        }
    }

    fn length(&mut self, length: Length) {
        self.length = length;
    }

    /// A copy never switches protocols.
    fn may_switch(&self) -> bool {
        false
    }
}
