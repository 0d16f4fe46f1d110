use std::fmt;
use std::io;

use rustls::{CertificateError, Error, OtherError};

/// Why a certificate was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Distrust {
    /// Its time is over.
    Expired,
    /// Its time has not begun: it is too new, or a clock is wrong.
    NotYetValid,
    /// It is another host's.
    Name,
    /// No authority that is trusted has signed it.
    Issuer,
    /// Anything else: a use that it was not made for, a form that nobody reads, one that was revoked.
    Invalid,
}

impl Distrust {
    /// What a TLS handshake ended with; `None` where it was no certificate.
    #[must_use]
    pub fn of(error: &io::Error) -> Option<Self> {
        let Some(Error::InvalidCertificate(error)) = error.get_ref().and_then(|inner| inner.downcast_ref()) else {
            return None;
        };
        Some(match error {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => Self::Expired,
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => Self::NotYetValid,
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => Self::Name,
            // Signed with another key than that of the authority of this name: one that was made anew, for example.
            CertificateError::UnknownIssuer | CertificateError::BadSignature => Self::Issuer,
            // One that may sign others, and is not among the authorities itself.
            error if is_authority(error) => Self::Issuer,
            _ => Self::Invalid,
        })
    }
}

impl fmt::Display for Distrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Expired => "its certificate has expired",
            Self::NotYetValid => "its certificate is not valid yet",
            Self::Name => "its certificate is for another name",
            Self::Issuer => "no authority that is trusted has signed its certificate",
            Self::Invalid => "its certificate is not valid",
        })
    }
}

/// Whether somebody has shown a certificate as his own that may sign others, as `openssl req -x509` makes them. Its validity in time was
/// looked at before, its name was not.
#[must_use]
pub fn is_authority_itself(error: &Error) -> bool {
    matches!(error, Error::InvalidCertificate(error) if is_authority(error))
}

fn is_authority(error: &CertificateError) -> bool {
    match error {
        CertificateError::Other(OtherError(error)) => {
            matches!(error.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
        }
        _ => false,
    }
}
