//! Classes of bytes, as tables made at compile time.

/// A set of bytes.
pub(crate) struct Class([bool; 256]);

impl Class {
    #[inline(always)]
    pub(crate) const fn has(&self, byte: u8) -> bool {
        self.0[byte as usize]
    }

    pub(crate) fn all(&self, bytes: &[u8]) -> bool {
        bytes.iter().all(|&byte| self.has(byte))
    }

    const fn of(extra: &[u8], alnum: bool, from: u8) -> Self {
        let mut set = [false; 256];
        let mut byte = 0;
        while byte < 256 {
            let b = byte as u8;
            set[byte] = (alnum && b.is_ascii_alphanumeric()) || (from > 0 && b >= from);
            byte += 1;
        }
        let mut i = 0;
        while i < extra.len() {
            set[extra[i] as usize] = true;
            i += 1;
        }
        Self(set)
    }
}

/// `tchar` (RFC 9110 section 5.6.2): methods, field names, list members.
pub(crate) static TOKEN: Class = Class::of(b"!#$%&'*+-.^_`|~", true, 0);

/// `pchar`, `/` and `?` without `%` (RFC 3986 section 3.3): what a target may consist of beside percent-encoding.
pub(crate) static URI: Class = Class::of(b"-._~!$&'()*+,;=:@/?", true, 0);

/// `reg-name` without `%` (RFC 3986 section 3.2.2).
pub(crate) static REG_NAME: Class = Class::of(b"-._~!$&'()*+,;=", true, 0);

/// Whether a value may hold `byte`: HTAB, SP, VCHAR, obs-text (RFC 9110 section 5.5).
#[inline(always)]
pub(crate) const fn in_value(byte: u8) -> bool {
    (byte >= b' ' && byte != 0x7f) || byte == b'\t'
}

/// Whether `byte` neither ends a target nor splits it: no control, space, `#` or `?`.
#[inline(always)]
pub(crate) const fn in_target(byte: u8) -> bool {
    byte > b' ' && byte != 0x7f && byte != b'#' && byte != b'?'
}

/// SP or HTAB.
#[inline(always)]
pub(crate) const fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}
