use std::fmt;
use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;

use rustls::client::WantsClientCert;
use rustls::{ClientConfig, ConfigBuilder, RootCertStore};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;

use crate::verifier::Verifier;

/// Certificate authorities that are trusted.
#[derive(Clone, Debug)]
pub struct Authorities {
    identity: Arc<str>,
    roots: Arc<RootCertStore>,
    /// Those of a file; one of them may be a server's own certificate.
    listed: Vec<CertificateDer<'static>>,
}

/// Why a text has no authorities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthoritiesError {
    /// It is not PEM, or a certificate in it is malformed.
    Malformed(String),
    /// There is no certificate in it.
    Empty,
}

impl fmt::Display for AuthoritiesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(what) => write!(f, "{what}: write certificates in PEM, each from BEGIN to END CERTIFICATE"),
            Self::Empty => f.write_str("no certificate in it: add the PEM block of the CA"),
        }
    }
}

impl std::error::Error for AuthoritiesError {}

impl Authorities {
    /// The public ones as Mozilla lists them. They are compiled in: no file to read at the start, the same result in an
    /// empty container, renewed with each release.
    #[must_use]
    pub fn public() -> Self {
        let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        Self { identity: "public".into(), roots: Arc::new(roots), listed: Vec::new() }
    }

    /// Only those in PEM text. A server may show one of them as its own certificate.
    ///
    /// # Errors
    /// The text is malformed or has no certificate.
    pub fn pem(pem: &[u8]) -> Result<Self, AuthoritiesError> {
        let mut roots = RootCertStore::empty();
        let mut listed = Vec::new();
        // The content is the identity: a file that was changed in place is other trust.
        let mut hasher = DefaultHasher::new();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate =
                certificate.map_err(|error| AuthoritiesError::Malformed(format!("not PEM ({error:?})")))?;
            hasher.write(&certificate);
            roots
                .add(certificate.clone())
                .map_err(|error| AuthoritiesError::Malformed(format!("a certificate is malformed ({error})")))?;
            listed.push(certificate);
        }
        if roots.is_empty() {
            return Err(AuthoritiesError::Empty);
        }
        Ok(Self { identity: format!("{:016x}", hasher.finish()).into(), roots: Arc::new(roots), listed })
    }

    /// What tells these from others.
    #[must_use]
    pub fn identity(&self) -> &Arc<str> {
        &self.identity
    }

    /// Settings of a client that trusts them, to be ended with what it shows of itself.
    #[must_use]
    pub fn client(&self) -> ConfigBuilder<ClientConfig, WantsClientCert> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let versions = ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions();
        // Not reached: the provider's suites cover the default versions.
        let builder = versions.unwrap_or_else(|_| ClientConfig::builder());
        match Verifier::new(Arc::clone(&self.roots), self.listed.clone(), provider) {
            Ok(verifier) => builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)),
            // Not reached: there are roots.
            Err(_) => builder.with_root_certificates(Arc::clone(&self.roots)),
        }
    }
}
