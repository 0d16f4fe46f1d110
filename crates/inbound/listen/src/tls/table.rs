use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use leat_message::HostPolicy;
use rustls::SignatureScheme;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use super::certificate::Certificate;

/// Longest DNS name, in bytes (RFC 1035 section 2.3.4), with a trailing dot. A longer one has no certificate.
const NAME_BYTES_MAX: usize = 254;

/// Certificates and the names that lead to them. Never changed, only replaced.
#[derive(Debug)]
pub(crate) struct Table {
    certificates: Vec<Arc<Certificate>>,
    /// Indices of certificates by name, in lower case.
    exact: HashMap<Box<[u8]>, Vec<usize>>,
    /// The same by what follows `*.`.
    wildcard: HashMap<Box<[u8]>, Vec<usize>>,
    default: Vec<usize>,
}

impl Table {
    /// The first certificate is the default one, with those that share a name with it.
    pub(crate) fn new(certificates: Vec<Arc<Certificate>>) -> Self {
        let mut exact: HashMap<Box<[u8]>, Vec<usize>> = HashMap::new();
        let mut wildcard: HashMap<Box<[u8]>, Vec<usize>> = HashMap::new();
        for (index, certificate) in certificates.iter().enumerate() {
            for name in certificate.names() {
                let (names, key) = match name.strip_prefix("*.") {
                    Some(parent) => (&mut wildcard, parent),
                    None => (&mut exact, name.as_str()),
                };
                let indices = names.entry(key.as_bytes().into()).or_default();
                if indices.last() != Some(&index) {
                    indices.push(index);
                }
            }
        }
        let default = std::iter::once(0)
            .chain((1..certificates.len()).filter(|&index| same_names(certificates.first(), certificates.get(index))))
            .collect();
        Self { certificates, exact, wildcard, default }
    }

    pub(crate) fn certificates(&self) -> &[Arc<Certificate>] {
        &self.certificates
    }

    /// Certificates for `name`, in any case: those with exactly this name, else those with a wildcard for it
    /// (one label, RFC 6125 section 6.4.3), else the default.
    fn certificates_for(&self, name: &[u8]) -> &[usize] {
        let mut lower = [0; NAME_BYTES_MAX];
        let Some(lower) = lower.get_mut(..name.len()) else { return &self.default };
        lower.copy_from_slice(name);
        lower.make_ascii_lowercase();
        let name = lower.strip_suffix(b".").unwrap_or(lower);
        if let Some(indices) = self.exact.get(name) {
            return indices;
        }
        let parent = name.iter().position(|&b| b == b'.').and_then(|dot| name.get(dot + 1..));
        parent.and_then(|parent| self.wildcard.get(parent)).unwrap_or(&self.default)
    }

    fn certificates_for_server_name(&self, name: Option<&str>) -> &[usize] {
        name.map_or(&self.default[..], |name| self.certificates_for(name.as_bytes()))
    }

    /// The first certificate for the name whose key the client can verify; if it can verify none, the first.
    fn choose(&self, name: Option<&str>, schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        let indices = self.certificates_for_server_name(name);
        let mut candidates = indices.iter().filter_map(|&index| self.certificates.get(index)).map(|c| c.signing());
        let first = candidates.clone().next();
        candidates.find(|signing| signing.key.choose_scheme(schemes).is_some()).or(first).cloned()
    }
}

fn same_names(one: Option<&Arc<Certificate>>, other: Option<&Arc<Certificate>>) -> bool {
    matches!((one, other), (Some(one), Some(other)) if one.names() == other.names())
}

/// The table that new handshakes use.
#[derive(Debug)]
pub(crate) struct CurrentTable(ArcSwap<Table>);

impl CurrentTable {
    pub(crate) fn new(table: Table) -> Self {
        Self(ArcSwap::from_pointee(table))
    }

    pub(crate) fn load(&self) -> Arc<Table> {
        self.0.load_full()
    }

    pub(crate) fn store(&self, table: Table) {
        self.0.store(Arc::new(table));
    }
}

impl ResolvesServerCert for CurrentTable {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.0.load().choose(hello.server_name(), hello.signature_schemes())
    }
}

/// A connection is for the hosts that have the certificate of its server name: a client that checked that certificate
/// may well ask for them too (RFC 9113 section 9.1.1), and a request for any other host was sent astray.
#[derive(Debug)]
pub(crate) struct CertificateHosts(Arc<CurrentTable>);

impl CertificateHosts {
    pub(crate) fn new(table: Arc<CurrentTable>) -> Self {
        Self(table)
    }
}

impl HostPolicy for CertificateHosts {
    fn allows(&self, server_name: Option<&str>, host: &[u8]) -> bool {
        if server_name.is_some_and(|name| name.as_bytes().eq_ignore_ascii_case(host)) {
            return true;
        }
        let table = self.0.0.load();
        if table.certificates.len() <= 1 {
            return true;
        }
        let opened_for = table.certificates_for_server_name(server_name);
        table.certificates_for(host).iter().any(|index| opened_for.contains(index))
    }
}

/// For a program that judges hosts itself.
#[derive(Debug)]
pub(crate) struct AnyHost;

impl HostPolicy for AnyHost {
    fn allows(&self, _server_name: Option<&str>, _host: &[u8]) -> bool {
        true
    }
}
