//! Classes of bytes, as tables made at compile time.

/// A set of bytes, in two forms: a table, and the rows that a vector unit looks up by nibbles.
pub(crate) struct Class {
    table: [bool; 256],
    /// Bit `h` of `rows[l]`: the byte with high nibble `h` (0 to 7) and low nibble `l` is a member.
    pub(crate) rows: [u8; 16],
    /// Whether bytes of 0x80 and above are members: all or none.
    pub(crate) high: bool,
}

impl Class {
    #[inline(always)]
    pub(crate) const fn has(&self, byte: u8) -> bool {
        self.table[byte as usize]
    }

    pub(crate) fn all(&self, bytes: &[u8]) -> bool {
        bytes.iter().all(|&byte| self.has(byte))
    }

    /// Letters and digits and `others`.
    const fn alphanumeric_and(others: &[u8]) -> Self {
        let mut table = [false; 256];
        let mut byte = 0;
        while byte < 256 {
            table[byte] = (byte as u8).is_ascii_alphanumeric();
            byte += 1;
        }
        let mut i = 0;
        while i < others.len() {
            table[others[i] as usize] = true;
            i += 1;
        }
        Self::new(table)
    }

    /// Everything from `first` on but DEL, without or with the `exceptions` below and above it.
    const fn from_byte_on(first: u8, exceptions: &[u8]) -> Self {
        let mut table = [false; 256];
        let mut byte = first as usize;
        while byte < 256 {
            table[byte] = byte != 0x7f;
            byte += 1;
        }
        let mut i = 0;
        while i < exceptions.len() {
            let exception = exceptions[i] as usize;
            table[exception] = !table[exception];
            i += 1;
        }
        Self::new(table)
    }

    const fn new(table: [bool; 256]) -> Self {
        let mut rows = [0u8; 16];
        let mut byte = 0;
        while byte < 128 {
            if table[byte] {
                rows[byte & 15] |= 1 << (byte >> 4);
            }
            byte += 1;
        }
        while byte < 256 {
            assert!(table[byte] == table[128], "bytes of 0x80 and above belong together");
            byte += 1;
        }
        Self { table, rows, high: table[128] }
    }
}

/// `tchar` (RFC 9110 section 5.6.2): methods, field names, list members.
pub(crate) static TOKEN: Class = Class::alphanumeric_and(b"!#$%&'*+-.^_`|~");

/// What a field value may hold (RFC 9110 section 5.5): HTAB, SP, VCHAR, obs-text.
pub(crate) static VALUE: Class = Class::from_byte_on(b' ', b"\t");

/// What neither ends a target nor splits it: no control, space, `#` or `?`.
pub(crate) static TARGET: Class = Class::from_byte_on(b'!', b"#?");

/// `pchar`, `/` and `?` without `%` (RFC 3986 section 3.3): what a target may consist of beside percent-encoding.
pub(crate) static URI: Class = Class::alphanumeric_and(b"-._~!$&'()*+,;=:@/?");

/// `reg-name` without `%` (RFC 3986 section 3.2.2).
pub(crate) static REG_NAME: Class = Class::alphanumeric_and(b"-._~!$&'()*+,;=");

/// SP or HTAB.
#[inline(always)]
pub(crate) const fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_those_of_the_grammar() {
        for byte in 0..=255u8 {
            let text = char::from(byte);
            assert_eq!(TOKEN.has(byte), byte.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(text), "{byte}");
            assert_eq!(VALUE.has(byte), byte == b'\t' || (byte >= 0x20 && byte != 0x7f), "{byte}");
            assert_eq!(TARGET.has(byte), byte > 0x20 && byte != 0x7f && byte != b'#' && byte != b'?', "{byte}");
        }
        assert!(!TOKEN.high && VALUE.high && TARGET.high && !URI.high && !REG_NAME.high);
    }
}
