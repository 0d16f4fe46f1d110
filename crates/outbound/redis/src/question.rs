use std::io::Write;
use std::ops::Range;

use crate::slots::slot;

/// What a script is asked: its keys, then its arguments, as they go over the wire. To be kept and cleared, so that asking
/// allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct Question {
    keys: usize,
    parts: usize,
    /// Where the first key stands.
    first: Range<usize>,
    body: Vec<u8>,
}

impl Question {
    /// Begins anew.
    pub fn clear(&mut self) {
        (self.keys, self.parts, self.first) = (0, 0, 0..0);
        self.body.clear();
    }

    /// Adds a key, which is these pieces in a row. All keys come before all arguments; in a cluster all must be of one slot
    /// ([`crate::slot`]).
    pub fn key(&mut self, pieces: &[&[u8]]) {
        self.keys += 1;
        self.parts += 1;
        count(b'$', pieces.iter().map(|piece| piece.len()).sum(), &mut self.body);
        let start = self.body.len();
        pieces.iter().for_each(|piece| self.body.extend_from_slice(piece));
        if self.keys == 1 {
            self.first = start..self.body.len();
        }
        self.body.extend_from_slice(b"\r\n");
    }

    /// Adds an argument that is a number.
    pub fn number(&mut self, number: u64) {
        let mut digits = [0; 20];
        self.argument(decimal(number, &mut digits));
    }

    /// Adds an argument.
    pub fn argument(&mut self, argument: &[u8]) {
        self.parts += 1;
        put(argument, &mut self.body);
    }

    /// Adds arguments that were written before.
    pub fn arguments(&mut self, arguments: &Arguments) {
        self.parts += arguments.count;
        self.body.extend_from_slice(&arguments.bytes);
    }

    /// The slot of its keys.
    pub(crate) fn slot(&self) -> u16 {
        slot(self.body.get(self.first.clone()).unwrap_or_default())
    }

    /// Appends the whole command. `call` is `EVALSHA` and the script's hash as [`put`] writes them.
    pub(crate) fn write(&self, call: &[u8], out: &mut Vec<u8>) {
        out.reserve(call.len() + self.body.len() + 32);
        count(b'*', 3 + self.parts, out);
        out.extend_from_slice(call);
        let mut digits = [0; 20];
        put(decimal(self.keys as u64, &mut digits), out);
        out.extend_from_slice(&self.body);
    }
}

/// Arguments that stay the same, written once.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    count: usize,
    bytes: Vec<u8>,
}

impl Arguments {
    /// Writes these.
    pub fn new<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Self {
        let mut written = Self::default();
        for argument in arguments {
            written.count += 1;
            put(argument.as_bytes(), &mut written.bytes);
        }
        written
    }
}

/// Appends a bulk string.
pub(crate) fn put(part: &[u8], out: &mut Vec<u8>) {
    count(b'$', part.len(), out);
    out.extend_from_slice(part);
    out.extend_from_slice(b"\r\n");
}

fn count(kind: u8, number: usize, out: &mut Vec<u8>) {
    out.push(kind);
    let mut digits = [0; 20];
    out.extend_from_slice(decimal(number as u64, &mut digits));
    out.extend_from_slice(b"\r\n");
}

/// By hand: this is on the path of every request, and the formatter's machinery is not cheap.
fn decimal(mut number: u64, digits: &mut [u8; 20]) -> &[u8] {
    let mut first = digits.len();
    for (place, digit) in digits.iter_mut().enumerate().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
        first = place;
        if number == 0 {
            break;
        }
    }
    digits.get(first..).unwrap_or_default()
}

/// Appends a command of its own.
pub(crate) fn write_command(parts: &[&[u8]], out: &mut Vec<u8>) {
    // Writing to a Vec can't fail.
    let _ = write!(out, "*{}\r\n", parts.len());
    parts.iter().for_each(|part| put(part, out));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_arrays_of_bulk_strings() {
        let mut out = Vec::new();
        write_command(&[b"GET", b"", b"a\r\nb"], &mut out);
        assert_eq!(out, b"*3\r\n$3\r\nGET\r\n$0\r\n\r\n$4\r\na\r\nb\r\n");
    }

    #[test]
    fn a_question_has_its_keys_then_its_arguments_and_can_be_asked_again() {
        let mut question = Question::default();
        for _ in 0..2 {
            question.clear();
            question.key(&[b"a{", b"x}"]);
            question.key(&[b"b{x}"]);
            question.number(123_456_789);
            question.arguments(&Arguments::new(["g", ""]));
            let mut out = Vec::new();
            question.write(b"$1\r\nC\r\n", &mut out);
            let wanted =
                "*8\r\n$1\r\nC\r\n$1\r\n2\r\n$4\r\na{x}\r\n$4\r\nb{x}\r\n$9\r\n123456789\r\n$1\r\ng\r\n$0\r\n\r\n";
            assert_eq!(String::from_utf8_lossy(&out), wanted);
            assert_eq!(question.slot(), slot(b"x"));
        }
    }
}
