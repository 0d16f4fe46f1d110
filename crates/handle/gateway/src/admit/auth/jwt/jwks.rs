use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

use super::algorithm::{Algorithm, Algorithms};
use super::key::{KeySet, VerifyKey};

/// The longest set that is read, in bytes: those of large providers are below 20 KiB.
pub(crate) const JWKS_BYTES_MAX: usize = 256 * 1_024;
/// Keys of one set: each is parsed once for every algorithm that it fits.
const KEYS_MAX: usize = 100;
/// The longest id of a key, in bytes.
const ID_BYTES_MAX: usize = 256;

/// Why a set of keys is of no use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JwksError {
    /// Longer than a set may be.
    TooLong,
    /// Not JSON, or not an object with a list `keys`.
    Malformed,
    /// More keys than a set may have.
    TooMany,
    /// No key in it that signatures can be verified with.
    NoKey,
}

impl fmt::Display for JwksError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "the key set is longer than {JWKS_BYTES_MAX} bytes"),
            Self::Malformed => f.write_str("it is not a JSON object with a list `keys`"),
            Self::TooMany => write!(f, "the key set has more than {KEYS_MAX} keys"),
            Self::NoKey => f.write_str("the key set has no key that these signatures can be verified with"),
        }
    }
}

/// Reads a JWK set (RFC 7517). Keys that are not for verifying signatures, or that we know nothing of, are passed over, as
/// section 5 asks. A shared secret (`oct`) is taken only where `shared` says so: from a file, never from a URL.
///
/// # Errors
/// See [`JwksError`].
pub(crate) fn parse_jwks(bytes: &[u8], algorithms: Algorithms, shared: bool) -> Result<KeySet, JwksError> {
    if bytes.len() > JWKS_BYTES_MAX {
        return Err(JwksError::TooLong);
    }
    let set: Value = serde_json::from_slice(bytes).map_err(|_| JwksError::Malformed)?;
    let keys = set.get("keys").and_then(Value::as_array).ok_or(JwksError::Malformed)?;
    if keys.len() > KEYS_MAX {
        return Err(JwksError::TooMany);
    }
    let keys = keys.iter().filter_map(Value::as_object).filter_map(|key| parse_key(key, algorithms, shared));
    let set = KeySet::new(keys.collect());
    if set.is_empty() { Err(JwksError::NoKey) } else { Ok(set) }
}

fn parse_key(key: &Map<String, Value>, algorithms: Algorithms, shared: bool) -> Option<VerifyKey> {
    if !is_for_verifying(key) {
        return None;
    }
    let id = match key.get("kid") {
        None => None,
        Some(Value::String(id)) if id.len() <= ID_BYTES_MAX => Some(id.as_str()),
        Some(_) => return None,
    };
    // A key that names its algorithm is for that one alone (section 4.4).
    let named = match key.get("alg") {
        None => None,
        Some(name) => Some(Algorithm::from_name(name.as_str()?)?),
    };
    let fits = |algorithm: &Algorithm| algorithms.has(*algorithm) && named.is_none_or(|named| named == *algorithm);
    let wanted = Algorithm::ALL.into_iter().filter(fits);
    match text(key, "kty")? {
        "RSA" => VerifyKey::rsa(id, &member(key, "n")?, &member(key, "e")?, wanted).ok(),
        "EC" => {
            let (algorithm, bytes) = match text(key, "crv")? {
                "P-256" => (Algorithm::Es256, 32),
                "P-384" => (Algorithm::Es384, 48),
                "P-521" => (Algorithm::Es512, 66),
                _ => return None,
            };
            let (x, y) = (member(key, "x")?, member(key, "y")?);
            if (x.len(), y.len()) != (bytes, bytes) {
                return None;
            }
            let point = [&[4][..], &x, &y].concat();
            VerifyKey::public(id, &point, wanted.filter(|one| *one == algorithm)).ok()
        }
        "OKP" if text(key, "crv")? == "Ed25519" => {
            VerifyKey::public(id, &member(key, "x")?, wanted.filter(|one| *one == Algorithm::EdDsa)).ok()
        }
        "oct" if shared => VerifyKey::secret(id, &member(key, "k")?, wanted).ok(),
        _ => None,
    }
}

/// What `use` and `key_ops` say, where they say anything (sections 4.2 and 4.3).
fn is_for_verifying(key: &Map<String, Value>) -> bool {
    let by_use = key.get("use").is_none_or(|usage| usage == "sig");
    let by_operations = key.get("key_ops").is_none_or(|operations| {
        operations.as_array().is_some_and(|operations| operations.iter().any(|operation| operation == "verify"))
    });
    by_use && by_operations
}

fn text<'k>(key: &'k Map<String, Value>, name: &str) -> Option<&'k str> {
    key.get(name).and_then(Value::as_str)
}

fn member(key: &Map<String, Value>, name: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text(key, name)?).ok()
}
