use std::fmt;

use super::TlsVersions;
use super::pem::PemError;

/// A certificate as a program holds it.
#[derive(Clone, PartialEq, Eq)]
pub struct CertificateText {
    /// The certificate, followed by its intermediates, in PEM form.
    pub chain: Vec<u8>,
    /// The private key in PEM form: PKCS#8, SEC1 or PKCS#1, not encrypted.
    pub key: Vec<u8>,
}

impl fmt::Debug for CertificateText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CertificateText").finish_non_exhaustive()
    }
}

/// Whether clients are asked for a certificate. Authorities are certificates in PEM form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ClientAuth {
    /// They are not.
    #[default]
    Off,
    /// They are, and whatever they show is taken: what is wrong with it stands in the peer's
    /// [`problem`](leat_message::ClientCertificate::problem). They must only prove that they have its key.
    Requested {
        /// Who may have signed it.
        authorities: Vec<u8>,
    },
    /// A handshake without a certificate that can be verified fails.
    Required {
        /// Who may have signed it.
        authorities: Vec<u8>,
    },
}

/// How one server of a program speaks TLS. The program answers for the hosts that it is asked for: no request is
/// misdirected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsTextOptions {
    /// Certificates with their keys; which one a client gets is said at [`crate::TlsOptions::certificates`].
    pub certificates: Vec<CertificateText>,
    /// Whether clients are asked for theirs.
    pub client_auth: ClientAuth,
    /// Whether ALPN offers `http/1.1`; also what a client without ALPN speaks.
    pub http1: bool,
    /// Whether ALPN offers `h2`, before `http/1.1`.
    pub http2: bool,
    /// The versions.
    pub versions: TlsVersions,
}

impl TlsTextOptions {
    /// HTTP/1.1 over TLS 1.2 and 1.3 with these certificates, for clients without one.
    pub fn new(certificates: Vec<CertificateText>) -> Self {
        let (client_auth, versions) = Default::default();
        Self { certificates, client_auth, http1: true, http2: false, versions }
    }
}

/// Why a program's TLS options cannot be used. Says what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TlsTextError {
    /// There is no certificate.
    CertificateMissing,
    /// Neither HTTP/1.1 nor HTTP/2.
    ProtocolMissing,
    /// A certificate or its key.
    Certificate {
        /// Which, counted from 0.
        index: usize,
        /// What is wrong.
        error: PemError,
    },
    /// Clients are to show a certificate, and nobody is named who may have signed it.
    AuthorityMissing,
    /// The authorities are not valid PEM.
    AuthoritiesMalformed(String),
    /// An authority cannot be used.
    AuthorityUnusable {
        /// Which, counted from 0.
        index: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// The system gave no random bytes for the keys of session tickets.
    TicketKeys(String),
}

impl fmt::Display for TlsTextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CertificateMissing => f.write_str("TLS needs at least one certificate with its key: pass both"),
            Self::ProtocolMissing => f.write_str("TLS needs at least one of http/1.1 and h2: offer one"),
            Self::Certificate { index: 0, error } => error.fmt(f),
            Self::Certificate { index, error } => write!(f, "certificate {}: {error}", index + 1),
            Self::AuthorityMissing => f.write_str(
                "clients are asked for a certificate, but no authority may have signed it: pass the certificates of those \
                 that may, in PEM form",
            ),
            Self::AuthoritiesMalformed(problem) => write!(f, "the authorities are not valid PEM: {problem}"),
            Self::AuthorityUnusable { index, problem } => {
                write!(f, "authority {} is not a certificate that can sign others ({problem}): leave it out", index + 1)
            }
            Self::TicketKeys(problem) => write!(f, "cannot make the keys of session tickets: {problem}"),
        }
    }
}

impl std::error::Error for TlsTextError {}
