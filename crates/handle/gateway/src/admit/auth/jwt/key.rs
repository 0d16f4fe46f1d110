use std::fmt;
use std::sync::Arc;

use aws_lc_rs::hmac;
use aws_lc_rs::signature::{ParsedPublicKey, RsaPublicKeyComponents};

use super::algorithm::{Algorithm, Scheme};
use crate::admit::auth::api_key::sha256;

/// Keys of one token that are tried where it names none: more would let a peer buy signature checks by the dozen.
const TRIED_MAX: usize = 4;
/// Modulus of an RSA key, in bytes: 2048 to 8192 bits.
const RSA_BYTES_MIN: usize = 256;
const RSA_BYTES_MAX: usize = 1_024;

/// A key that tokens are verified with. It knows which algorithms it is for by what it is made of: a public key never
/// becomes the secret of an HMAC, whatever a token says.
pub(crate) struct VerifyKey {
    id: Option<Box<str>>,
    uses: Vec<(Algorithm, Material)>,
    /// The SHA-256 of what it was made from: the same key read again is the same.
    fingerprint: [u8; 32],
}

enum Material {
    /// Boxed: it is as large as its hash's state.
    Shared(Box<hmac::Key>),
    Public(ParsedPublicKey),
}

/// Why a key is of no use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyError {
    /// The secret is shorter than the hash it is used with (RFC 7518 section 3.2): so many bytes are needed.
    SecretShort(usize),
    /// It is no public key of RSA (2048 to 8192 bits), ECDSA (P-256, P-384, P-521) or Ed25519.
    Unsupported,
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SecretShort(bytes) => write!(f, "the secret is shorter than {bytes} bytes"),
            Self::Unsupported => {
                f.write_str("it is not a public key of RSA (2048 to 8192 bits), ECDSA (P-256, P-384, P-521) or Ed25519")
            }
        }
    }
}

impl VerifyKey {
    /// A shared secret, for each of `algorithms` that computes with one.
    ///
    /// # Errors
    /// [`KeyError::SecretShort`].
    pub(crate) fn secret(
        id: Option<&str>,
        secret: &[u8],
        algorithms: impl IntoIterator<Item = Algorithm>,
    ) -> Result<Self, KeyError> {
        let mut uses = Vec::new();
        for algorithm in algorithms {
            let Scheme::Hmac(scheme) = algorithm.scheme() else { continue };
            let needed = scheme.digest_algorithm().output_len();
            if secret.len() < needed {
                return Err(KeyError::SecretShort(needed));
            }
            uses.push((algorithm, Material::Shared(Box::new(hmac::Key::new(scheme, secret)))));
        }
        Self::new(id, uses, secret)
    }

    /// A public key: DER (SubjectPublicKeyInfo), a raw point or a raw Ed25519 key, for each of `algorithms` that it fits.
    ///
    /// # Errors
    /// [`KeyError::Unsupported`].
    pub(crate) fn public(
        id: Option<&str>,
        bytes: &[u8],
        algorithms: impl IntoIterator<Item = Algorithm>,
    ) -> Result<Self, KeyError> {
        let parse = |algorithm: Algorithm| {
            let key = match algorithm.scheme() {
                Scheme::Public(scheme) => ParsedPublicKey::new(scheme, bytes).ok()?,
                // A key that is too short is parsed all the same; its length shows in the encoding.
                Scheme::Rsa(scheme) if bytes.len() > RSA_BYTES_MIN => ParsedPublicKey::new(scheme, bytes).ok()?,
                Scheme::Rsa(_) | Scheme::Hmac(_) => return None,
            };
            Some((algorithm, Material::Public(key)))
        };
        Self::new(id, algorithms.into_iter().filter_map(parse).collect(), bytes)
    }

    /// An RSA key by its modulus and exponent, big-endian, without leading zeros.
    ///
    /// # Errors
    /// [`KeyError::Unsupported`].
    pub(crate) fn rsa(
        id: Option<&str>,
        modulus: &[u8],
        exponent: &[u8],
        algorithms: impl IntoIterator<Item = Algorithm>,
    ) -> Result<Self, KeyError> {
        if !(RSA_BYTES_MIN..=RSA_BYTES_MAX).contains(&modulus.len()) {
            return Err(KeyError::Unsupported);
        }
        let components = RsaPublicKeyComponents { n: modulus, e: exponent };
        let parse = |algorithm: Algorithm| match algorithm.scheme() {
            Scheme::Rsa(scheme) => {
                let key = components.to_parsed_public_key(scheme).ok()?;
                Some((algorithm, Material::Public(key)))
            }
            Scheme::Public(_) | Scheme::Hmac(_) => None,
        };
        let uses = algorithms.into_iter().filter_map(parse).collect();
        Self::new(id, uses, &[modulus, b"/", exponent].concat())
    }

    fn new(id: Option<&str>, uses: Vec<(Algorithm, Material)>, source: &[u8]) -> Result<Self, KeyError> {
        if uses.is_empty() {
            return Err(KeyError::Unsupported);
        }
        let named = [id.unwrap_or_default().as_bytes(), b"/", source].concat();
        Ok(Self { id: id.map(Box::from), uses, fingerprint: sha256(&named) })
    }

    pub(crate) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    pub(crate) fn fingerprint(&self) -> &[u8; 32] {
        &self.fingerprint
    }

    fn material(&self, algorithm: Algorithm) -> Option<&Material> {
        self.uses.iter().find(|(held, _)| *held == algorithm).map(|(_, material)| material)
    }

    /// Whether the signature is this key's. The comparison of an HMAC takes the same time wherever it differs.
    pub(crate) fn verifies(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        match self.material(algorithm) {
            Some(Material::Shared(key)) => hmac::verify(key, message, signature).is_ok(),
            Some(Material::Public(key)) => key.verify_sig(message, signature).is_ok(),
            None => false,
        }
    }
}

/// Says nothing of what it is made of.
impl fmt::Debug for VerifyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerifyKey").field("id", &self.id).finish_non_exhaustive()
    }
}

/// The keys that a scheme verifies with at one time.
#[derive(Debug, Default)]
pub(crate) struct KeySet {
    keys: Vec<Arc<VerifyKey>>,
}

impl KeySet {
    pub(crate) fn new(keys: Vec<VerifyKey>) -> Self {
        Self { keys: keys.into_iter().map(Arc::new).collect() }
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Whether a key is still among them.
    pub(crate) fn has(&self, fingerprint: &[u8; 32]) -> bool {
        self.keys.iter().any(|key| key.fingerprint() == fingerprint)
    }

    /// Whether both have the same keys.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.len() == other.len() && self.keys.iter().all(|key| other.has(key.fingerprint()))
    }

    /// Keys that a token with this id and algorithm may be signed with: those of the id and those without one. A token that
    /// names no key is tried with the first few of its algorithm.
    pub(crate) fn candidates<'k>(
        &'k self,
        id: Option<&'k str>,
        algorithm: Algorithm,
    ) -> impl Iterator<Item = &'k Arc<VerifyKey>> {
        let fits = move |key: &&Arc<VerifyKey>| {
            (id.is_none() || key.id().is_none() || key.id() == id) && key.material(algorithm).is_some()
        };
        self.keys.iter().filter(fits).take(TRIED_MAX)
    }
}
