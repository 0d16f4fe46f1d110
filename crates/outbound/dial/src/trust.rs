use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use leat_trust::{Authorities, AuthoritiesError};
use rustls::ClientConfig;

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
    /// It has no authorities.
    Authorities(PathBuf, AuthoritiesError),
}

impl fmt::Display for TrustError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(path, error) => write!(f, "{}: cannot be read: {error}", path.display()),
            Self::Authorities(path, error) => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for TrustError {}

impl Trust {
    /// As [`Authorities::public`].
    pub fn public() -> Self {
        Self::new(&Authorities::public())
    }

    /// Only the authorities in a PEM file.
    ///
    /// # Errors
    /// The file cannot be read, is malformed or has no certificate.
    pub fn file(path: &Path) -> Result<Self, TrustError> {
        let pem = std::fs::read(path).map_err(|error| TrustError::Read(path.into(), error))?;
        Self::pem(&pem).map_err(|error| TrustError::Authorities(path.into(), error))
    }

    /// Only the authorities in PEM text.
    ///
    /// # Errors
    /// The text is malformed or has no certificate.
    pub fn pem(pem: &[u8]) -> Result<Self, AuthoritiesError> {
        Authorities::pem(pem).map(|authorities| Self::new(&authorities))
    }

    fn new(authorities: &Authorities) -> Self {
        let config = |alpn: &[u8]| {
            let mut config = authorities.client().with_no_client_auth();
            config.alpn_protocols = vec![alpn.to_vec()];
            Arc::new(config)
        };
        Self { identity: Arc::clone(authorities.identity()), h1: config(b"http/1.1"), h2: config(b"h2") }
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
