//! The text form: the body as Base64, which may be padded at the end of any part of it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Appends bytes as one padded part.
pub fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    let length = base64::encoded_len(bytes.len(), true).unwrap_or_default();
    out.resize(start + length, 0);
    if let Some(place) = out.get_mut(start..) {
        // There is room for exactly that.
        let _ = STANDARD.encode_slice(bytes, place);
    }
}

/// Decodes a body from pieces of any length.
#[derive(Debug, Default)]
pub struct Decoder {
    quad: [u8; 4],
    len: usize,
}

/// Not Base64, or cut off inside four characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextError;

impl Decoder {
    /// Appends what `text` stands for to `out`, as far as four characters are complete.
    ///
    /// # Errors
    /// [`TextError`] for what is not Base64.
    pub fn decode(&mut self, text: &[u8], out: &mut Vec<u8>) -> Result<(), TextError> {
        for &byte in text {
            if let Some(place) = self.quad.get_mut(self.len) {
                *place = byte;
            }
            self.len += 1;
            if self.len == self.quad.len() {
                self.len = 0;
                let mut bytes = [0; 3];
                let count = STANDARD.decode_slice(self.quad, &mut bytes).map_err(|_| TextError)?;
                out.extend_from_slice(bytes.get(..count).unwrap_or_default());
            }
        }
        Ok(())
    }

    /// Whether the text may end here.
    pub fn is_complete(&self) -> bool {
        self.len == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_may_be_padded_and_cut_anywhere() {
        let mut text = Vec::new();
        for part in [&b"a"[..], b"", b"bc", b"def", b"\xff\0"] {
            encode(part, &mut text);
        }
        for size in 1..=text.len() {
            let (mut decoder, mut out) = (Decoder::default(), Vec::new());
            text.chunks(size).try_for_each(|piece| decoder.decode(piece, &mut out)).unwrap();
            assert!(decoder.is_complete());
            assert_eq!(out, b"abcdef\xff\0", "pieces of {size}");
        }
    }

    #[test]
    fn what_is_not_base64_is_refused() {
        for text in ["a*==", "====", "YQ=Q", "YQ==YQ=x"] {
            assert_eq!(Decoder::default().decode(text.as_bytes(), &mut Vec::new()), Err(TextError), "{text}");
        }
        let mut decoder = Decoder::default();
        decoder.decode(b"YQ", &mut Vec::new()).unwrap();
        assert!(!decoder.is_complete());
    }
}
