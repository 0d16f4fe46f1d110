use std::sync::Arc;

use leat_message::ClientCertificate;
use leat_trust::is_authority_itself;
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{CertificateError, DigitallySignedStruct, DistinguishedName, Error, RootCertStore, SignatureScheme};
use rustls_pki_types::{CertificateDer, UnixTime};
use webpki::EndEntityCert;

use super::pem::{self, PemError};
use super::text::{ClientAuth, TlsTextError};

/// How the certificates of clients are judged.
#[derive(Clone, Debug)]
pub(crate) struct Judge {
    verifier: Arc<dyn ClientCertVerifier>,
    authorities: Arc<[CertificateDer<'static>]>,
    /// Whether the handshake goes on whatever the verdict is.
    lenient: bool,
}

impl Judge {
    /// `None` where clients are not asked.
    pub(crate) fn new(auth: &ClientAuth) -> Result<Option<Self>, TlsTextError> {
        let (authorities, lenient) = match auth {
            ClientAuth::Off => return Ok(None),
            ClientAuth::Requested { authorities } => (authorities, true),
            ClientAuth::Required { authorities } => (authorities, false),
        };
        let authorities = pem::certificates(authorities).map_err(|error| match error {
            PemError::ChainMalformed(problem) => TlsTextError::AuthoritiesMalformed(problem),
            _ => TlsTextError::AuthorityMissing,
        })?;
        let mut roots = RootCertStore::empty();
        for (index, authority) in authorities.iter().enumerate() {
            roots
                .add(authority.clone())
                .map_err(|error| TlsTextError::AuthorityUnusable { index, problem: error.to_string() })?;
        }
        let provider = Arc::new(default_provider());
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
        let verifier = verifier.map_err(|_| TlsTextError::AuthorityMissing)?;
        Ok(Some(Self { verifier, authorities: authorities.into(), lenient }))
    }

    /// What takes part in handshakes.
    pub(crate) fn verifier(&self) -> Arc<dyn ClientCertVerifier> {
        Arc::new(self.clone())
    }

    /// What is known of a client that showed `chain` in a handshake.
    pub(crate) fn certificate(&self, chain: &[CertificateDer<'_>]) -> Option<ClientCertificate> {
        let (own, intermediates) = chain.split_first()?;
        let problem = match self.lenient {
            // The handshake has judged already.
            false => None,
            true => self.verdict(own, intermediates, UnixTime::now()).err().map(|error| problem(&error, chain)),
        };
        Some(ClientCertificate { chain: chain.iter().map(|der| der.as_ref().into()).collect(), problem })
    }

    fn verdict(
        &self,
        own: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        let verdict = self.verifier.verify_client_cert(own, intermediates, now);
        match &verdict {
            // A client may be its own authority: `openssl req -x509` makes certificates of this kind. The validity in
            // time was looked at before.
            Err(error) if is_authority_itself(error) && self.authorities.iter().any(|one| one == own) => {
                Ok(ClientCertVerified::assertion())
            }
            _ => verdict,
        }
    }
}

/// The problem in OpenSSL's words, as the programs know it that look at it.
fn problem(error: &Error, chain: &[CertificateDer<'_>]) -> &'static str {
    let is_authority_itself = is_authority_itself(error);
    let Error::InvalidCertificate(error) = error else { return "CERT_UNTRUSTED" };
    match error {
        _ if is_authority_itself && chain.len() == 1 => "DEPTH_ZERO_SELF_SIGNED_CERT",
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "CERT_HAS_EXPIRED",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => "CERT_NOT_YET_VALID",
        CertificateError::Revoked => "CERT_REVOKED",
        CertificateError::BadSignature => "CERT_SIGNATURE_FAILURE",
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => "INVALID_PURPOSE",
        CertificateError::UnknownIssuer => match (chain.len(), chain.last().is_some_and(is_self_signed)) {
            (1, true) => "DEPTH_ZERO_SELF_SIGNED_CERT",
            (1, false) => "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
            (_, true) => "SELF_SIGNED_CERT_IN_CHAIN",
            (_, false) => "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
        },
        _ => "CERT_UNTRUSTED",
    }
}

fn is_self_signed(der: &CertificateDer<'_>) -> bool {
    EndEntityCert::try_from(der).is_ok_and(|certificate| certificate.issuer() == certificate.subject())
}

/// That a client has the key of what it shows is to be proved in any case.
impl ClientCertVerifier for Judge {
    fn client_auth_mandatory(&self) -> bool {
        !self.lenient
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.verifier.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        own: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        if self.lenient { Ok(ClientCertVerified::assertion()) } else { self.verdict(own, intermediates, now) }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.supported_verify_schemes()
    }
}
