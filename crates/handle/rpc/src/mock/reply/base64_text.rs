//! Base64 as protobuf's JSON form and metadata read it: both alphabets, padded or not.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// The bytes; `None` where the text is not Base64.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    if text.contains(['-', '_']) {
        return LENIENT.decode(text.replace('-', "+").replace('_', "/")).ok();
    }
    LENIENT.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn both_alphabets_are_read_with_and_without_padding() {
        for (text, wanted) in [
            ("", Some(&b""[..])),
            ("YQ", Some(b"a")),
            ("YQ==", Some(b"a")),
            ("+/8", Some(&[0xfb, 0xff])),
            ("-_8=", Some(&[0xfb, 0xff])),
            ("Y", None),
            ("Y!==", None),
        ] {
            assert_eq!(decode(text).as_deref(), wanted, "{text}");
        }
    }
}
