//! TLS by rustls: certificates chosen by server name, replaced while connections use them.

mod certificate;
mod client;
mod handshake;
mod pem;
mod table;
mod text;
mod unshaken;

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use leat_message::HostPolicy;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs::{Ticketer, default_provider};
use rustls::server::{NoServerSessionStorage, ProducesTickets};
use rustls::version::{TLS12, TLS13};
use tokio_rustls::TlsAcceptor;

pub use certificate::CertificateFiles;
pub(crate) use handshake::{handshake, is_plain_http};
pub use pem::PemError;
pub use text::{CertificateText, ClientAuth, TlsTextError, TlsTextOptions};
pub use unshaken::{OnUnshaken, TlsProblem, Unshaken};

use crate::ListenError;
use certificate::Certificate;
use client::Judge;
use table::{AnyHost, CertificateHosts, CurrentTable, Table};

/// Which versions of TLS are spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TlsVersions {
    /// TLS 1.2 and 1.3.
    #[default]
    From12,
    /// TLS 1.2 only.
    Only12,
    /// TLS 1.3 only.
    Only13,
}

/// How a listener speaks TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsOptions {
    /// Certificates with their keys. The first one is the default, for clients that ask for no name or for one that no
    /// certificate has. Several may have the same names with keys of different kinds: a client gets one it can use.
    pub certificates: Vec<CertificateFiles>,
    /// Whether ALPN offers `http/1.1`; also what a client without ALPN speaks.
    pub http1: bool,
    /// Whether ALPN offers `h2`, before `http/1.1`.
    pub http2: bool,
    /// The versions.
    pub versions: TlsVersions,
    /// Whether clients are asked for a certificate, and who may have signed it.
    pub client_auth: ClientAuth,
}

impl TlsOptions {
    /// HTTP/1.1 and HTTP/2 over TLS 1.2 and 1.3 with these certificates.
    pub fn new(certificates: Vec<CertificateFiles>) -> Self {
        let (versions, client_auth) = Default::default();
        Self { certificates, http1: true, http2: true, versions, client_auth }
    }
}

/// The keys that session tickets are sealed with: new ones every 6 hours, the last ones valid for another 6. One for the
/// process, so that a session resumes on whichever core and listener the client comes back to, also after a reload.
#[derive(Clone, Debug)]
pub struct TicketKeys(Arc<dyn ProducesTickets>);

impl TicketKeys {
    /// Fresh keys.
    ///
    /// # Errors
    /// [`ListenError::TicketKeys`] without a source of random bytes.
    pub fn new() -> Result<Self, ListenError> {
        Ticketer::new().map(Self).map_err(ListenError::TicketKeys)
    }
}

/// TLS ready to use; a copy is a reference to the same. Cores read it without a lock.
#[derive(Clone)]
pub struct TlsSettings {
    config: Arc<ServerConfig>,
    table: Arc<CurrentTable>,
    reloading: Arc<Mutex<()>>,
    judge: Option<Judge>,
    any_host: bool,
}

/// What a reload did.
#[derive(Debug, Default)]
pub struct Reloaded {
    /// Chain files of the certificates that were replaced.
    pub replaced: Vec<PathBuf>,
    /// Why others were not although their files changed; the old ones stay in use. Reported by every reload for as long
    /// as the files are as they are.
    pub refused: Vec<ListenError>,
}

impl TlsSettings {
    /// Reads the certificates.
    ///
    /// # Errors
    /// The first file that cannot be read or used, by name; authorities of clients that cannot be.
    pub fn load(options: &TlsOptions, tickets: &TicketKeys) -> Result<Self, ListenError> {
        if options.certificates.is_empty() {
            return Err(ListenError::CertificateMissing);
        }
        if !options.http1 && !options.http2 {
            return Err(ListenError::ProtocolMissing);
        }
        let certificates: Result<Vec<_>, _> =
            options.certificates.iter().map(|files| Certificate::load(files).map(Arc::new)).collect();
        let judge =
            Judge::new(&options.client_auth).map_err(|error| ListenError::ClientAuthority(error.to_string()))?;
        // A ticket carries what its client has shown: where another listener made it, that was not asked for here.
        let own_tickets = judge.is_some().then(TicketKeys::new).transpose()?;
        let tickets = own_tickets.as_ref().unwrap_or(tickets);
        Self::new(certificates?, (options.http1, options.http2), options.versions, tickets, judge)
            .map_err(|_| ListenError::ProtocolMissing)
    }

    /// Takes the certificates as a program has them. Tickets of its sessions are good for this server only: they carry
    /// what the client has shown, which another server may not ask for.
    ///
    /// # Errors
    /// The first thing that cannot be used, and what to do about it.
    pub fn from_text(options: &TlsTextOptions) -> Result<Self, TlsTextError> {
        if !options.http1 && !options.http2 {
            return Err(TlsTextError::ProtocolMissing);
        }
        let certificates = read_texts(&options.certificates)?;
        let judge = Judge::new(&options.client_auth)?;
        let tickets = Ticketer::new().map_err(|error| TlsTextError::TicketKeys(error.to_string()))?;
        let alpn = (options.http1, options.http2);
        Self::new(certificates, alpn, options.versions, &TicketKeys(tickets), judge)
            .map(|settings| Self { any_host: true, ..settings })
            .map_err(|_| TlsTextError::ProtocolMissing)
    }

    /// Puts other certificates in the place of those that [`TlsSettings::from_text`] took, for new handshakes;
    /// connections are not touched.
    ///
    /// # Errors
    /// The first thing that cannot be used; then the old ones stay.
    pub fn replace_certificates(&self, certificates: &[CertificateText]) -> Result<(), TlsTextError> {
        let certificates = read_texts(certificates)?;
        let _one_at_a_time = self.reloading.lock().unwrap_or_else(PoisonError::into_inner);
        self.table.store(Table::new(certificates));
        Ok(())
    }

    /// Reads every certificate's files again and puts those that changed to use, for new handshakes; connections are not
    /// touched. Compares contents, so it sees every change and costs only the reading: for a control thread, on a timer
    /// or on demand. A certificate whose new files do not fit (such as a chain that was renewed before its key) stays
    /// the old one.
    pub fn reload(&self) -> Reloaded {
        let _one_at_a_time = self.reloading.lock().unwrap_or_else(PoisonError::into_inner);
        let mut reloaded = Reloaded::default();
        let current = self.table.load();
        let certificates = current
            .certificates()
            .iter()
            .map(|old| match old.reload() {
                Ok(None) => Arc::clone(old),
                Ok(Some((new, chain))) => {
                    reloaded.replaced.push(chain);
                    Arc::new(new)
                }
                Err(error) => {
                    reloaded.refused.push(error);
                    Arc::clone(old)
                }
            })
            .collect();
        if !reloaded.replaced.is_empty() {
            self.table.store(Table::new(certificates));
        }
        reloaded
    }

    /// The rule of which hosts a connection is for: those whose certificate is the one that the server name got.
    pub(crate) fn host_policy(&self) -> Rc<dyn HostPolicy> {
        if self.any_host {
            return Rc::new(AnyHost);
        }
        Rc::new(CertificateHosts::new(Arc::clone(&self.table)))
    }

    /// How clients' certificates are judged; `None` where none is asked for.
    pub(crate) fn judge(&self) -> Option<&Judge> {
        self.judge.as_ref()
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.config))
    }

    /// `Err` only where a version of TLS has no cipher suite.
    fn new(
        certificates: Vec<Arc<Certificate>>,
        (http1, http2): (bool, bool),
        versions: TlsVersions,
        tickets: &TicketKeys,
        judge: Option<Judge>,
    ) -> Result<Self, rustls::Error> {
        let table = Arc::new(CurrentTable::new(Table::new(certificates)));
        let versions = match versions {
            TlsVersions::From12 => &[&TLS13, &TLS12][..],
            TlsVersions::Only12 => &[&TLS12][..],
            TlsVersions::Only13 => &[&TLS13][..],
        };
        let builder =
            ServerConfig::builder_with_provider(Arc::new(default_provider())).with_protocol_versions(versions)?;
        let builder = match &judge {
            None => builder.with_no_client_auth(),
            Some(judge) => builder.with_client_cert_verifier(judge.verifier()),
        };
        let mut config = builder.with_cert_resolver(Arc::clone(&table) as _);
        // Tickets carry the whole session: a cache on our side would only be a lock that all cores share.
        config.ticketer = Arc::clone(&tickets.0);
        config.session_storage = Arc::new(NoServerSessionStorage {});
        if http2 {
            config.alpn_protocols.push(b"h2".to_vec());
        }
        if http1 {
            config.alpn_protocols.push(b"http/1.1".to_vec());
        }
        Ok(Self { config: Arc::new(config), table, reloading: Arc::default(), judge, any_host: false })
    }
}

fn read_texts(texts: &[CertificateText]) -> Result<Vec<Arc<Certificate>>, TlsTextError> {
    if texts.is_empty() {
        return Err(TlsTextError::CertificateMissing);
    }
    let read = |(index, text)| match Certificate::from_text(text) {
        Ok(certificate) => Ok(Arc::new(certificate)),
        Err(error) => Err(TlsTextError::Certificate { index, error }),
    };
    texts.iter().enumerate().map(read).collect()
}

impl std::fmt::Debug for TlsSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TlsSettings").finish_non_exhaustive()
    }
}
