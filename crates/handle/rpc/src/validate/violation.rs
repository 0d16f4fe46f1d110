//! What is wrong with a message: as text, as protovalidate's own detail of an error, and as Google's.

use std::fmt;
use std::sync::Arc;

use super::FieldPath;

/// The most violations that one message is told. Each has a path and a text; a hostile message could have millions.
pub const VIOLATIONS_MAX: usize = 100;

/// One rule that a value breaks.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// The value; none for the message as a whole.
    pub field: Option<FieldPath>,
    /// The rule, below `buf.validate.FieldRules`; none for rules of messages and oneofs.
    pub rule: Option<Arc<FieldPath>>,
    /// The rule's name, such as `string.min_len`, or the author's.
    pub rule_id: String,
    /// What is wrong.
    pub message: String,
    /// Whether it is a map's key, not its value.
    pub for_key: bool,
}

/// All that is wrong with a message. Empty for a valid one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Violations(pub Vec<Violation>);

impl Violations {
    /// Whether the message is valid.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `buf.validate.Violations` in its binary form.
    pub fn to_binary(&self) -> Vec<u8> {
        let mut out = Writer::default();
        for violation in &self.0 {
            out.message(1, |out| violation.write(out));
        }
        out.bytes
    }

    /// `google.rpc.BadRequest` in its binary form: the field, the rule's name as the reason, what is wrong.
    pub fn to_bad_request(&self) -> Vec<u8> {
        let mut out = Writer::default();
        for violation in &self.0 {
            out.message(1, |out| {
                let field = violation.field.as_ref().map(ToString::to_string).unwrap_or_default();
                out.text(1, &field);
                out.text(2, &violation.message);
                out.text(3, &violation.rule_id);
            });
        }
        out.bytes
    }
}

impl fmt::Display for Violations {
    /// One line: `name: must be at least 3 characters; …`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, violation) in self.0.iter().enumerate() {
            if place > 0 {
                f.write_str("; ")?;
            }
            write!(f, "{violation}")?;
        }
        Ok(())
    }
}

impl Violation {
    fn write(&self, out: &mut Writer) {
        out.text(2, &self.rule_id);
        out.text(3, &self.message);
        if self.for_key {
            out.varint(4, 1);
        }
        if let Some(field) = &self.field {
            out.message(5, |out| field.write(out));
        }
        if let Some(rule) = &self.rule {
            out.message(6, |out| rule.write(out));
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(field) = &self.field {
            write!(f, "{field}")?;
            f.write_str(if self.for_key { " (key): " } else { ": " })?;
        }
        f.write_str(if self.message.is_empty() { &self.rule_id } else { &self.message })
    }
}

/// Writes protobuf's wire format, which three small messages need.
#[derive(Debug, Default)]
pub(super) struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// A field of a number, a bool or an enum.
    pub(super) fn varint(&mut self, field: u32, value: u64) {
        self.number(u64::from(field) << 3);
        self.number(value);
    }

    /// A field of text.
    pub(super) fn text(&mut self, field: u32, text: &str) {
        self.number(u64::from(field) << 3 | 2);
        self.number(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// A field that is a message.
    pub(super) fn message(&mut self, field: u32, write: impl FnOnce(&mut Writer)) {
        let mut inner = Writer::default();
        write(&mut inner);
        self.number(u64::from(field) << 3 | 2);
        self.number(inner.bytes.len() as u64);
        self.bytes.append(&mut inner.bytes);
    }

    fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push((value & 0x7f) as u8);
    }
}
