use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use leat_message::Reason;
use serde_json::{Map, Value};

use super::algorithm::Algorithm;

/// The longest token that is looked at, in bytes. A head may be as long as 32 KiB; a token of more than this is a mistake
/// or an attempt to make us compute.
pub(crate) const TOKEN_BYTES_MAX: usize = 8 * 1_024;

/// A token, taken apart and not believed yet.
pub(super) struct Token<'t> {
    pub(super) algorithm: Algorithm,
    /// Which key signed it, by its own word. Compared and nothing else: it is never a path, a query or a URL.
    pub(super) key_id: Option<Box<str>>,
    /// What is signed: header and claims as they arrived.
    pub(super) signed: &'t [u8],
    claims: &'t [u8],
    pub(super) signature: Vec<u8>,
}

impl<'t> Token<'t> {
    /// Takes a token apart. What its header says about where to find keys (`jku`, `jwk`, `x5u`, `x5c`) is not read.
    ///
    /// # Errors
    /// `auth.token_malformed`; `auth.algorithm` for an algorithm that there is not, such as `none`.
    pub(super) fn parse(token: &'t [u8]) -> Result<Self, Reason> {
        if token.len() > TOKEN_BYTES_MAX {
            return Err(Reason::AuthTokenMalformed);
        }
        let mut parts = token.split(|&byte| byte == b'.');
        let (Some(header), Some(claims), Some(signature), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(Reason::AuthTokenMalformed);
        };
        let signed = token.get(..header.len() + 1 + claims.len()).ok_or(Reason::AuthTokenMalformed)?;
        let header = object(header)?;
        // RFC 7515 section 4.1.11: what must be understood is not, since we know no extension.
        if header.contains_key("crit") {
            return Err(Reason::AuthTokenMalformed);
        }
        let algorithm = header.get("alg").and_then(Value::as_str).ok_or(Reason::AuthTokenMalformed)?;
        let algorithm = Algorithm::from_name(algorithm).ok_or(Reason::AuthAlgorithm)?;
        let key_id = match header.get("kid") {
            None => None,
            Some(Value::String(id)) => Some(id.as_str().into()),
            Some(_) => return Err(Reason::AuthTokenMalformed),
        };
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| Reason::AuthTokenMalformed)?;
        Ok(Self { algorithm, key_id, signed, claims, signature })
    }

    /// The claims; to be read after the signature was verified.
    ///
    /// # Errors
    /// `auth.token_malformed`.
    pub(super) fn claims(&self) -> Result<Map<String, Value>, Reason> {
        object(self.claims)
    }
}

fn object(part: &[u8]) -> Result<Map<String, Value>, Reason> {
    let json = URL_SAFE_NO_PAD.decode(part).map_err(|_| Reason::AuthTokenMalformed)?;
    match serde_json::from_slice(&json) {
        Ok(Value::Object(object)) => Ok(object),
        _ => Err(Reason::AuthTokenMalformed),
    }
}
