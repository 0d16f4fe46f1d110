use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use aws_lc_rs::digest::{Context, SHA256};
use rustls::sign::CertifiedKey;

use super::pem::{self, Identity, PemError};
use super::text::CertificateText;
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
    source: Source,
    identity: Identity,
}

/// Where a certificate came from.
#[derive(Debug)]
enum Source {
    /// Files, of whose contents this is the digest.
    Files(CertificateFiles, [u8; 32]),
    /// A program, which brings a new one itself.
    Text,
}

impl Certificate {
    pub(crate) fn load(files: &CertificateFiles) -> Result<Self, ListenError> {
        Self::parse(files, &Contents::read(files)?)
    }

    pub(crate) fn from_text(text: &CertificateText) -> Result<Self, PemError> {
        Ok(Self { source: Source::Text, identity: pem::identity(&text.chain, &text.key)? })
    }

    /// The certificate as it is in its files now, and the file of its chain; `None` if they have not changed.
    pub(crate) fn reload(&self) -> Result<Option<(Self, PathBuf)>, ListenError> {
        let Source::Files(files, digest) = &self.source else { return Ok(None) };
        let contents = Contents::read(files)?;
        if contents.digest() == *digest {
            return Ok(None);
        }
        Ok(Some((Self::parse(files, &contents)?, files.chain.clone())))
    }

    pub(crate) fn signing(&self) -> &Arc<CertifiedKey> {
        &self.identity.signing
    }

    /// DNS names of the certificate (subjectAltName), in lower case, some with `*` as first label.
    pub(crate) fn names(&self) -> &[String] {
        &self.identity.names
    }

    fn parse(files: &CertificateFiles, contents: &Contents) -> Result<Self, ListenError> {
        let invalid = |problem: String| ListenError::CertificateInvalid {
            chain: files.chain.clone(),
            key: files.key.clone(),
            problem,
        };
        let empty = |path: &PathBuf, wanted| ListenError::PemEmpty { path: path.clone(), wanted };
        let malformed = |path: &PathBuf, problem| ListenError::PemInvalid { path: path.clone(), problem };
        let identity = pem::identity(&contents.chain, &contents.key).map_err(|error| match error {
            PemError::ChainEmpty => empty(&files.chain, "certificate"),
            PemError::ChainMalformed(problem) => malformed(&files.chain, problem),
            PemError::KeyEmpty => empty(&files.key, "private key"),
            PemError::KeyMalformed(problem) => malformed(&files.key, problem),
            error => invalid(error.to_string()),
        })?;
        Ok(Self { source: Source::Files(files.clone(), contents.digest()), identity })
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
