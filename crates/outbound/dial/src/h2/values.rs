use bytes::{Bytes, BytesMut};
use http::HeaderValue;

/// Size of the blocks that values are carved from, in bytes. Each lives as long as its last value: those in the table of
/// HPACK, 128 at most (RFC 7541 section 4.1), may keep as many blocks.
const BLOCK_BYTES: usize = 2 * 1024;

/// Makes the values of fields, several from one block of memory: an allocation for some requests, not one for each value.
#[derive(Debug, Default)]
pub(super) struct Values {
    block: BytesMut,
}

impl Values {
    /// A copy of `value`; `None` where it is not legal.
    pub(super) fn take(&mut self, value: &[u8]) -> Option<HeaderValue> {
        if value.len() > BLOCK_BYTES / 4 {
            return HeaderValue::from_bytes(value).ok();
        }
        if self.block.capacity() < value.len() {
            self.block = BytesMut::with_capacity(BLOCK_BYTES);
        }
        self.block.extend_from_slice(value);
        HeaderValue::from_maybe_shared::<Bytes>(self.block.split().freeze()).ok()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn values_are_copies_whatever_block_they_come_from() {
        let mut values = Values::default();
        let texts: Vec<String> = (0..2_000).step_by(7).map(|length| "v".repeat(length)).collect();
        let taken: Vec<HeaderValue> = texts.iter().map(|text| values.take(text.as_bytes()).unwrap()).collect();
        assert_eq!(taken, texts.iter().map(|text| HeaderValue::from_str(text).unwrap()).collect::<Vec<_>>());
        assert_eq!(values.take(b""), Some(HeaderValue::from_static("")));
    }

    #[test]
    fn what_is_no_value_is_refused_and_the_next_one_is_made() {
        let mut values = Values::default();
        for wrong in [&b"a\r\nb"[..], b"\0", b"\x7f"] {
            assert_eq!(values.take(wrong), None, "{}", wrong.escape_ascii());
        }
        assert_eq!(values.take(b"right"), Some(HeaderValue::from_static("right")));
    }
}
