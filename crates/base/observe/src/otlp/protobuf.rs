//! The little of protobuf that is needed to write a message (protobuf.dev, "Encoding").

const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const LENGTH: u64 = 2;
const FIXED32: u64 = 5;

/// Appends the fields of one message. Fields with their default value are left out, as proto3 does.
pub(super) struct Writer<'a> {
    out: &'a mut Vec<u8>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out }
    }

    pub(super) fn varint(&mut self, field: u64, value: u64) {
        if value > 0 {
            self.varint_or_zero(field, value);
        }
    }

    /// For a field that tells 0 from nothing.
    pub(super) fn varint_or_zero(&mut self, field: u64, value: u64) {
        self.number(field << 3 | VARINT);
        self.number(value);
    }

    pub(super) fn fixed64(&mut self, field: u64, value: u64) {
        if value > 0 {
            self.fixed64_or_zero(field, value);
        }
    }

    /// For a field that tells 0 from nothing.
    pub(super) fn fixed64_or_zero(&mut self, field: u64, value: u64) {
        self.number(field << 3 | FIXED64);
        self.out.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn fixed32(&mut self, field: u64, value: u32) {
        self.number(field << 3 | FIXED32);
        self.out.extend_from_slice(&value.to_le_bytes());
    }

    /// A double that tells 0 from nothing.
    pub(super) fn double(&mut self, field: u64, value: f64) {
        self.fixed64_or_zero(field, value.to_bits());
    }

    pub(super) fn text(&mut self, field: u64, value: &str) {
        if !value.is_empty() {
            self.bytes(field, value.as_bytes());
        }
    }

    /// For a field that tells an empty text from nothing.
    pub(super) fn text_or_empty(&mut self, field: u64, value: &str) {
        self.bytes(field, value.as_bytes());
    }

    pub(super) fn bytes(&mut self, field: u64, value: &[u8]) {
        self.number(field << 3 | LENGTH);
        self.number(value.len() as u64);
        self.out.extend_from_slice(value);
    }

    /// A packed list of fixed64.
    pub(super) fn fixed64s(&mut self, field: u64, values: impl ExactSizeIterator<Item = u64>) {
        self.number(field << 3 | LENGTH);
        self.number(values.len() as u64 * 8);
        values.for_each(|value| self.out.extend_from_slice(&value.to_le_bytes()));
    }

    /// A message in this one. Its length comes before it and is known after it: the bytes are moved by those of the length.
    pub(super) fn message(&mut self, field: u64, write: impl FnOnce(&mut Writer<'_>)) {
        self.number(field << 3 | LENGTH);
        let start = self.out.len();
        write(&mut Writer { out: self.out });
        let mut length = (self.out.len() - start) as u64;
        let mut bytes = [0; 10];
        let mut count = 0;
        for byte in &mut bytes {
            *byte = length as u8 & 0x7f | if length > 0x7f { 0x80 } else { 0 };
            count += 1;
            length >>= 7;
            if length == 0 {
                break;
            }
        }
        self.out.splice(start..start, bytes.into_iter().take(count));
    }

    /// Fields that were encoded before.
    pub(super) fn raw(&mut self, fields: &[u8]) {
        self.out.extend_from_slice(fields);
    }

    fn number(&mut self, mut value: u64) {
        while value > 0x7f {
            self.out.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.out.push(value as u8);
    }
}
