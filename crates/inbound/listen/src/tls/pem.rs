use std::fmt;
use std::sync::Arc;

use rustls::crypto::aws_lc_rs::default_provider;
use rustls::sign::CertifiedKey;
use rustls_pki_types::pem::{self, PemObject};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use webpki::EndEntityCert;

/// How an encrypted key begins: its label in PKCS#8, or a header below the label of another form.
const ENCRYPTED: [&[u8]; 2] = [b"-----BEGIN ENCRYPTED PRIVATE KEY-----", b"Proc-Type: 4,ENCRYPTED"];

/// What a server shows and signs with.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) signing: Arc<CertifiedKey>,
    /// DNS names of the certificate (subjectAltName), in lower case, some with `*` as first label.
    pub(crate) names: Vec<String>,
}

/// Why a certificate and its key are of no use. Says what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PemError {
    /// There is no certificate.
    ChainEmpty,
    /// The chain is not valid PEM.
    ChainMalformed(String),
    /// The first certificate cannot be read.
    CertificateMalformed(String),
    /// There is no private key.
    KeyEmpty,
    /// The key is not valid PEM.
    KeyMalformed(String),
    /// The key is encrypted.
    KeyEncrypted,
    /// The key is of a kind or size that is not supported.
    KeyUnsupported(String),
    /// The key is another certificate's.
    KeyMismatch,
}

impl fmt::Display for PemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ChainEmpty => f.write_str("there is no certificate; it must hold one in PEM form"),
            Self::ChainMalformed(problem) => write!(f, "the certificate chain is not valid PEM: {problem}"),
            Self::CertificateMalformed(problem) => write!(f, "the first certificate is malformed ({problem})"),
            Self::KeyEmpty => f.write_str("there is no private key; it must hold one in PEM form"),
            Self::KeyMalformed(problem) => write!(f, "the private key is not valid PEM: {problem}"),
            Self::KeyEncrypted => f.write_str(
                "the private key is encrypted; decrypt it first (openssl pkey -in encrypted.key -out plain.key), and \
                 protect the file instead",
            ),
            Self::KeyUnsupported(problem) => write!(
                f,
                "the private key is not one of RSA (2048 to 8192 bits), ECDSA (P-256, P-384, P-521) and Ed25519, or is \
                 malformed ({problem})"
            ),
            Self::KeyMismatch => f.write_str(
                "the key does not belong to the first certificate of the chain; the server's own certificate comes first",
            ),
        }
    }
}

impl std::error::Error for PemError {}

/// Reads a certificate with its intermediates, and its key.
pub(crate) fn identity(chain: &[u8], key: &[u8]) -> Result<Identity, PemError> {
    let chain = certificates(chain)?;
    let leaf = chain.first().ok_or(PemError::ChainEmpty)?;
    let names = match EndEntityCert::try_from(leaf) {
        Ok(certificate) => certificate.valid_dns_names().map(str::to_ascii_lowercase).collect(),
        // Of version 1, as many made for tests are: it has no extensions, so no names either.
        Err(webpki::Error::UnsupportedCertVersion) => Vec::new(),
        Err(error) => return Err(PemError::CertificateMalformed(format!("{error:?}"))),
    };
    let signing = default_provider()
        .key_provider
        .load_private_key(private_key(key)?)
        .map_err(|error| PemError::KeyUnsupported(error.to_string()))?;
    // The certificate holds its public key as it is; nothing else in it could be the same by chance.
    let public = signing.public_key();
    if public.is_some_and(|public| !leaf.windows(public.len()).any(|part| part == public.as_ref())) {
        return Err(PemError::KeyMismatch);
    }
    Ok(Identity { signing: Arc::new(CertifiedKey::new(chain, signing)), names })
}

/// Reads every certificate of a text.
pub(crate) fn certificates(text: &[u8]) -> Result<Vec<CertificateDer<'static>>, PemError> {
    let found: Result<Vec<_>, pem::Error> = CertificateDer::pem_slice_iter(text).collect();
    match found {
        Ok(found) if found.is_empty() => Err(PemError::ChainEmpty),
        Ok(found) => Ok(found),
        Err(pem::Error::NoItemsFound) => Err(PemError::ChainEmpty),
        Err(error) => Err(PemError::ChainMalformed(error.to_string())),
    }
}

fn private_key(text: &[u8]) -> Result<PrivateKeyDer<'static>, PemError> {
    PrivateKeyDer::from_pem_slice(text).map_err(|error| match error {
        _ if ENCRYPTED.iter().any(|mark| text.windows(mark.len()).any(|part| part == *mark)) => PemError::KeyEncrypted,
        pem::Error::NoItemsFound => PemError::KeyEmpty,
        error => PemError::KeyMalformed(error.to_string()),
    })
}
