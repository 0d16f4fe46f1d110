use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aws_lc_rs::digest::{Context, SHA256};
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::sign::CertifiedKey;
use rustls_pki_types::pem::{self, PemObject};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use webpki::EndEntityCert;

use crate::ListenError;

/// Where a certificate is, in PEM form.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CertificateFiles {
    /// The certificate, followed by its intermediates.
    pub chain: PathBuf,
    /// The private key: PKCS#8, SEC1 or PKCS#1, not encrypted.
    pub key: PathBuf,
}

/// A certificate in use.
#[derive(Debug)]
pub(crate) struct Certificate {
    files: CertificateFiles,
    /// Of both files' contents.
    digest: [u8; 32],
    signing: Arc<CertifiedKey>,
    names: Vec<String>,
}

impl Certificate {
    pub(crate) fn load(files: &CertificateFiles) -> Result<Self, ListenError> {
        Self::parse(files, &Contents::read(files)?)
    }

    /// The certificate as it is in its files now; `None` if they have not changed.
    pub(crate) fn reload(&self) -> Result<Option<Self>, ListenError> {
        let contents = Contents::read(&self.files)?;
        if contents.digest() == self.digest {
            return Ok(None);
        }
        Self::parse(&self.files, &contents).map(Some)
    }

    pub(crate) fn files(&self) -> &CertificateFiles {
        &self.files
    }

    pub(crate) fn signing(&self) -> &Arc<CertifiedKey> {
        &self.signing
    }

    /// DNS names of the certificate (subjectAltName), in lower case, some with `*` as first label.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    fn parse(files: &CertificateFiles, contents: &Contents) -> Result<Self, ListenError> {
        let invalid = |problem: String| ListenError::CertificateInvalid {
            chain: files.chain.clone(),
            key: files.key.clone(),
            problem,
        };
        let chain: Result<Vec<CertificateDer<'static>>, pem::Error> =
            CertificateDer::pem_slice_iter(&contents.chain).collect();
        let chain = chain.map_err(|error| pem_error(&files.chain, &error, "certificate"))?;
        let Some(leaf) = chain.first() else {
            return Err(ListenError::PemEmpty { path: files.chain.clone(), wanted: "certificate" });
        };
        let names = EndEntityCert::try_from(leaf)
            .map_err(|error| invalid(format!("the first certificate is malformed ({error:?})")))?
            .valid_dns_names()
            .map(str::to_ascii_lowercase)
            .collect();
        let key = PrivateKeyDer::from_pem_slice(&contents.key)
            .map_err(|error| pem_error(&files.key, &error, "private key"))?;
        let signing = CertifiedKey::from_der(chain, key, &default_provider()).map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => invalid(
                "the key does not belong to the first certificate of the chain; the server's own certificate comes first"
                    .to_owned(),
            ),
            error => invalid(error.to_string()),
        })?;
        Ok(Self { files: files.clone(), digest: contents.digest(), signing: Arc::new(signing), names })
    }
}

fn pem_error(path: &Path, error: &pem::Error, wanted: &'static str) -> ListenError {
    match error {
        pem::Error::NoItemsFound => ListenError::PemEmpty { path: path.to_owned(), wanted },
        error => ListenError::PemInvalid { path: path.to_owned(), problem: error.to_string() },
    }
}

struct Contents {
    chain: Vec<u8>,
    key: Vec<u8>,
}

impl Contents {
    fn read(files: &CertificateFiles) -> Result<Self, ListenError> {
        let read = |path: &PathBuf| fs::read(path).map_err(|error| ListenError::File { path: path.clone(), error });
        Ok(Self { chain: read(&files.chain)?, key: read(&files.key)? })
    }

    fn digest(&self) -> [u8; 32] {
        let mut context = Context::new(&SHA256);
        context.update(&(self.chain.len() as u64).to_be_bytes());
        context.update(&self.chain);
        context.update(&self.key);
        context.finish().as_ref().try_into().unwrap_or_default()
    }
}
