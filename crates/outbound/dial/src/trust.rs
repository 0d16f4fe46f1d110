use std::fmt;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;

use crate::verify::Verifier;

/// Which certificates are trusted; shared by all endpoints that trust the same, together with their TLS sessions.
#[derive(Clone)]
pub struct Trust {
    identity: Arc<str>,
    h1: Arc<ClientConfig>,
    h2: Arc<ClientConfig>,
}

/// Why a file of trusted certificates is of no use.
#[derive(Debug)]
pub enum TrustError {
    /// It cannot be read.
    Read(PathBuf, std::io::Error),
    /// It is not PEM, or a certificate in it is malformed.
    Malformed(PathBuf, String),
    /// There is no certificate in it.
    Empty(PathBuf),
}

impl fmt::Display for TrustError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(path, error) => write!(f, "{}: cannot be read: {error}", path.display()),
            Self::Malformed(path, what) => {
                write!(f, "{}: {what}: write certificates in PEM, each from BEGIN to END CERTIFICATE", path.display())
            }
            Self::Empty(path) => write!(f, "{}: no certificate in it: add the PEM block of the CA", path.display()),
        }
    }
}

impl std::error::Error for TrustError {}

impl Trust {
    /// The public certificate authorities as Mozilla lists them. They are compiled in: no file to read at the start, the
    /// same result in an empty container, renewed with each release.
    pub fn public() -> Self {
        let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        Self::from_roots("public".into(), roots, Vec::new())
    }

    /// Only the authorities in a PEM file.
    ///
    /// # Errors
    /// The file cannot be read, is malformed or has no certificate.
    pub fn file(path: &Path) -> Result<Self, TrustError> {
        let pem = std::fs::read(path).map_err(|error| TrustError::Read(path.into(), error))?;
        Self::pem(&pem).map_err(|error| match error {
            TrustError::Malformed(_, what) => TrustError::Malformed(path.into(), what),
            _ => TrustError::Empty(path.into()),
        })
    }

    /// Only the authorities in PEM text.
    ///
    /// # Errors
    /// The text is malformed or has no certificate; the path in the error is empty.
    pub fn pem(pem: &[u8]) -> Result<Self, TrustError> {
        let mut roots = RootCertStore::empty();
        let mut authorities = Vec::new();
        // The content is the identity: a file that was changed in place is other trust.
        let mut hasher = DefaultHasher::new();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate =
                certificate.map_err(|error| TrustError::Malformed(PathBuf::new(), format!("not PEM ({error:?})")))?;
            hasher.write(&certificate);
            roots.add(certificate.clone()).map_err(|error| {
                TrustError::Malformed(PathBuf::new(), format!("a certificate is malformed ({error})"))
            })?;
            authorities.push(certificate);
        }
        if roots.is_empty() {
            return Err(TrustError::Empty(PathBuf::new()));
        }
        Ok(Self::from_roots(format!("{:016x}", hasher.finish()).into(), roots, authorities))
    }

    fn from_roots(identity: Arc<str>, roots: RootCertStore, authorities: Vec<CertificateDer<'static>>) -> Self {
        let roots = Arc::new(roots);
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let verifier = Verifier::new(Arc::clone(&roots), authorities, Arc::clone(&provider)).ok().map(Arc::new);
        let config = |alpn: &[u8]| {
            let versions =
                ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions();
            // Not reached: the provider's suites cover the default versions.
            let builder = versions.unwrap_or_else(|_| ClientConfig::builder());
            let builder = match &verifier {
                Some(verifier) => builder.dangerous().with_custom_certificate_verifier(verifier.clone()),
                // Not reached: there are roots.
                None => builder.with_root_certificates(Arc::clone(&roots)),
            };
            let mut config = builder.with_no_client_auth();
            config.alpn_protocols = vec![alpn.to_vec()];
            Arc::new(config)
        };
        Self { identity, h1: config(b"http/1.1"), h2: config(b"h2") }
    }

    /// What tells this trust from another one.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    pub(crate) fn config(&self, is_h2: bool) -> &Arc<ClientConfig> {
        if is_h2 { &self.h2 } else { &self.h1 }
    }
}

impl fmt::Debug for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Trust").field(&self.identity).finish()
    }
}
