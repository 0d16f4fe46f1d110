use leat_listen::{CertificateText, ClientAuth, ServeOptions, TlsSettings, TlsTextOptions, TlsVersions};
use leat_message::{LeftToHandler, Limits, Profile};
use leat_script::{FIELDS_MAX, HEAD_BYTES_MAX, TRAILER_BYTES_MAX};

use crate::rpc::Rpc;

/// A time that never comes, in milliseconds: 100 years, which can be added to any clock.
const NEVER_MS: u64 = 3_155_760_000_000;
/// How long an unread request body is read off after the reply.
const DRAIN_TIME_MS: u64 = 30_000;
/// How much of it.
const DRAIN_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Connections of one server: as many as a lane can tell apart.
const CONNECTIONS_MAX: usize = 1 << 20;

/// What a server was told, with the names and units of `node:http`: times in milliseconds, 0 for none.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "named as the options of node:http are")]
pub struct Settings {
    pub headers_timeout: Option<f64>,
    pub request_timeout: Option<f64>,
    pub keep_alive_timeout: Option<f64>,
    pub max_header_size: Option<f64>,
    pub max_headers_count: Option<f64>,
    pub http2: Option<bool>,
    pub no_delay: Option<bool>,
    pub keep_alive: Option<bool>,
    pub keep_alive_initial_delay: Option<f64>,
    pub connections_max: Option<f64>,
    pub tls: Option<Tls>,
    pub rpc: Option<Rpc>,
}

/// Certificates and keys in PEM form, with the names of `node:https`.
#[derive(Clone)]
#[allow(missing_docs, reason = "named as the options of node:https are")]
pub struct Tls {
    pub cert: Vec<String>,
    pub key: Vec<String>,
    pub ca: Option<Vec<String>>,
    pub request_cert: Option<bool>,
    pub reject_unauthorized: Option<bool>,
    pub min_version: Option<String>,
    pub max_version: Option<String>,
    pub alpn_protocols: Option<Vec<String>>,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Keys are nobody's to print.
        out.debug_struct("Tls").finish_non_exhaustive()
    }
}

/// Why certificates and keys can't be used, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsRefusal(pub String);

impl Settings {
    /// Takes over what is set in `newer`.
    pub fn merge(&mut self, newer: Self) {
        macro_rules! take {
            ($($key:ident)+) => { $(if newer.$key.is_some() { self.$key = newer.$key; })+ };
        }
        take!(headers_timeout request_timeout keep_alive_timeout max_header_size max_headers_count);
        take!(http2 no_delay keep_alive keep_alive_initial_delay connections_max tls rpc);
    }

    /// The engine's limits. Where Node has none, there is none, or the widest that a lane can carry.
    pub fn limits(&self) -> Limits {
        let head_bytes = count(self.max_header_size).unwrap_or(16 * 1024).clamp(1, HEAD_BYTES_MAX);
        let head_time_ms = time(self.headers_timeout, 60_000).min(time(self.request_timeout, 300_000));
        let request_time_ms = time(self.request_timeout, 300_000);
        Limits {
            head_bytes_max: head_bytes,
            field_bytes_max: head_bytes,
            target_bytes_max: head_bytes,
            fields_max: count(self.max_headers_count).filter(|&count| count > 0).unwrap_or(FIELDS_MAX).min(FIELDS_MAX),
            body_bytes_max: u64::MAX,
            trailer_bytes_max: head_bytes.min(TRAILER_BYTES_MAX),
            chunk_extension_bytes_max: 16 * 1024,
            head_time_ms,
            idle_time_ms: time(self.keep_alive_timeout, 5_000),
            first_time_ms: Some(head_time_ms),
            // Node's server has its own words for both.
            left_to_handler: LeftToHandler { expect: true, host: true, upgrade: true },
            half_closed_ms: 0,
            body_time_ms: (request_time_ms < NEVER_MS).then_some(request_time_ms),
            throughput_bytes_min: 0,
            drain_bytes_max: DRAIN_BYTES_MAX,
            drain_time_ms: DRAIN_TIME_MS,
            requests_per_connection_max: u64::MAX,
            connections_max: count(self.connections_max).unwrap_or(CONNECTIONS_MAX).min(CONNECTIONS_MAX),
            connections_per_client_max: CONNECTIONS_MAX,
            ..Limits::default()
        }
    }

    /// How connections are accepted.
    ///
    /// # Errors
    /// Certificates or keys that can't be used.
    pub fn serve_options(&self) -> Result<ServeOptions, TlsRefusal> {
        let http2 = self.http2.unwrap_or(false);
        let tls = self.tls.as_ref().map(|tls| tls.settings(http2)).transpose()?;
        Ok(ServeOptions {
            http2_plain: http2 && tls.is_none(),
            tls,
            handshake_time_ms: 120_000,
            ..ServeOptions::default()
        })
    }

    /// Forms that Node takes are taken.
    pub fn profile(&self) -> Profile {
        Profile::Compatible
    }
}

impl Tls {
    fn settings(&self, http2: bool) -> Result<TlsSettings, TlsRefusal> {
        let (certs, keys) = (list(&self.cert), list(&self.key));
        if certs.len() != keys.len() {
            return Err(TlsRefusal("as many keys as certificates are needed, in the same order".to_owned()));
        }
        let certificates = certs.into_iter().zip(keys).map(|(chain, key)| CertificateText { chain, key }).collect();
        let mut options = TlsTextOptions::new(certificates);
        let offered = |name: &str| self.alpn_protocols.as_ref().is_none_or(|list| list.iter().any(|one| one == name));
        options.http2 = http2 && offered("h2");
        options.http1 = offered("http/1.1");
        options.versions = match (self.min_version.as_deref(), self.max_version.as_deref()) {
            (Some("TLSv1.3"), _) => TlsVersions::Only13,
            (_, Some("TLSv1.2")) => TlsVersions::Only12,
            _ => TlsVersions::default(),
        };
        let authorities = self.ca.as_ref().map(|ca| list(ca).join(&b'\n')).unwrap_or_default();
        options.client_auth = match (self.request_cert, self.reject_unauthorized) {
            (Some(true), Some(false)) => ClientAuth::Requested { authorities },
            (Some(true), _) => ClientAuth::Required { authorities },
            _ => ClientAuth::Off,
        };
        TlsSettings::from_text(&options).map_err(|error| TlsRefusal(error.to_string()))
    }
}

fn list(text: &[String]) -> Vec<Vec<u8>> {
    text.iter().map(|one| one.clone().into_bytes()).collect()
}

fn time(ms: Option<f64>, default: u64) -> u64 {
    match ms {
        None => default,
        Some(ms) if ms > 0.0 && ms < NEVER_MS as f64 => (ms as u64).max(1),
        Some(_) => NEVER_MS,
    }
}

fn count(count: Option<f64>) -> Option<usize> {
    count.filter(|count| count.is_finite() && *count >= 0.0).map(|count| count as usize)
}
