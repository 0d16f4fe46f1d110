//! Bytes as values of header fields: Base64, written without padding and read with or without it (gRPC over HTTP/2,
//! "Binary-Header").

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_encode_padding(false).with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The bytes of a value; `None` where it is not Base64. One allocation.
pub fn decode(value: &[u8]) -> Option<Vec<u8>> {
    BASE64.decode(value).ok()
}

/// Appends bytes as a value.
pub fn encode(bytes: &[u8], out: &mut String) {
    BASE64.encode_string(bytes, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_read_and_not_written() {
        for (bytes, text) in [(&b""[..], ""), (b"a", "YQ"), (b"ab", "YWI"), (b"abc", "YWJj"), (&[0xfb, 0xff], "+/8")] {
            let mut out = String::new();
            encode(bytes, &mut out);
            assert_eq!(out, text);
            assert_eq!(decode(text.as_bytes()).as_deref(), Some(bytes));
        }
        assert_eq!(decode(b"YQ==").as_deref(), Some(&b"a"[..]));
        for bad in ["Y", "Y!==", "YQ=Q", "-_8"] {
            assert_eq!(decode(bad.as_bytes()), None, "{bad}");
        }
    }
}
