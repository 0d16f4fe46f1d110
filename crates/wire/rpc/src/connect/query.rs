//! The query of a GET: `message`, `encoding`, `base64`, `compression`, `connect`.

use base64::Engine as _;
use base64::alphabet::URL_SAFE;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The parameters that the protocol knows, not decoded. Others are left out; of repeated ones the first counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Query<'a> {
    /// The message.
    pub message: Option<&'a [u8]>,
    /// Its form: `proto` or `json`.
    pub encoding: Option<&'a [u8]>,
    /// `1` where the message is Base64 for URLs.
    pub base64: Option<&'a [u8]>,
    /// How the message is compressed.
    pub compression: Option<&'a [u8]>,
    /// The version of the protocol: `v1`.
    pub connect: Option<&'a [u8]>,
}

/// A message that is not what `base64` or the percent escapes promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryError;

impl<'a> Query<'a> {
    /// Finds the parameters. Allocates nothing.
    pub fn read(query: &'a [u8]) -> Self {
        let mut found = Self::default();
        for pair in query.split(|&byte| byte == b'&') {
            let equals = pair.iter().position(|&byte| byte == b'=').unwrap_or(pair.len());
            let value = pair.get(equals + 1..).unwrap_or_default();
            let place = match pair.get(..equals).unwrap_or_default() {
                b"message" => &mut found.message,
                b"encoding" => &mut found.encoding,
                b"base64" => &mut found.base64,
                b"compression" => &mut found.compression,
                b"connect" => &mut found.connect,
                _ => continue,
            };
            place.get_or_insert(value);
        }
        found
    }

    /// Appends the message's bytes, still compressed.
    ///
    /// # Errors
    /// [`QueryError`] for a `%` without two digits, and for what is not Base64 where it should be.
    pub fn decode(&self, out: &mut Vec<u8>) -> Result<(), QueryError> {
        let message = self.message.unwrap_or_default();
        if self.base64 != Some(b"1") {
            return unescape(message, out);
        }
        let plain = message.iter().all(|byte| !matches!(byte, b'%' | b'+'));
        let result = if plain {
            BASE64.decode_vec(message, out)
        } else {
            let mut text = Vec::with_capacity(message.len());
            unescape(message, &mut text)?;
            BASE64.decode_vec(text, out)
        };
        result.map_err(|_| QueryError)
    }
}

/// Percent escapes and `+`, as forms write them.
fn unescape(mut text: &[u8], out: &mut Vec<u8>) -> Result<(), QueryError> {
    let hex = |digit: u8| char::from(digit).to_digit(16).map(|digit| digit as u8);
    while let Some((&byte, rest)) = text.split_first() {
        text = rest;
        out.push(match byte {
            b'+' => b' ',
            b'%' => {
                let (&[high, low], rest) = rest.split_first_chunk().ok_or(QueryError)?;
                text = rest;
                hex(high).ok_or(QueryError)? << 4 | hex(low).ok_or(QueryError)?
            }
            byte => byte,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_decoded_as_the_query_says() {
        for (query, expected) in [
            ("message=%7B%22a%22%3A+1%7D&encoding=json", Ok(&b"{\"a\": 1}"[..])),
            ("encoding=json&message={}", Ok(b"{}")),
            ("message=-_8&base64=1", Ok(&[0xfb, 0xff])),
            ("message=YQ==&base64=1", Ok(b"a")),
            ("message=YQ%3D%3D&base64=1", Ok(b"a")),
            ("message=a%2", Err(QueryError)),
            ("message=%gg", Err(QueryError)),
            ("message=Y&base64=1", Err(QueryError)),
            ("message=Y*==&base64=1", Err(QueryError)),
            ("message=&base64=1", Ok(b"")),
            ("message", Ok(b"")),
        ] {
            let mut out = Vec::new();
            assert_eq!(Query::read(query.as_bytes()).decode(&mut out).map(|()| &*out), expected, "{query}");
        }
    }

    #[test]
    fn the_first_of_repeated_parameters_counts() {
        let query = Query::read(b"x=1&encoding=proto&encoding=json&connect=v1&compression=gzip&&=");
        let expected =
            Query { encoding: Some(b"proto"), connect: Some(b"v1"), compression: Some(b"gzip"), ..Query::default() };
        assert_eq!(query, expected);
    }
}
