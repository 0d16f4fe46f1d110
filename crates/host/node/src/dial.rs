use std::sync::OnceLock;

use leat_dial::{Endpoint, EndpointLimits, Protocol, Target, Trust};
use leat_script::Given;
use napi_derive::napi;

use crate::error::{Coded, coded};

/// Longest head of a response, in bytes: it fits a slab together with the spans of as many fields as fit it.
const HEAD_BYTES_MAX: usize = 32 * 1024;
/// Most fields of a response.
const FIELDS_MAX: usize = 1_000;
/// No time: whoever waits for a connection has a time of its own.
const NEVER_MS: u64 = u64::MAX / 4;

/// Where calls go, as `packages/leat/src/native/addon.ts` says it.
#[napi(object)]
pub struct Destination {
    pub client: u32,
    pub target: String,
    pub authority: String,
    pub tls: bool,
    pub http2: bool,
    pub ca: Option<String>,
    pub server_name: Option<String>,
    pub connections_max: u32,
    pub waiting_max: u32,
    pub connect_time_ms: f64,
    pub idle_time_ms: f64,
}

impl Destination {
    /// Checks it all.
    ///
    /// # Errors
    /// `LEAT_ARGUMENT` with what is wrong.
    pub(crate) fn read(self) -> Result<Given, Coded> {
        let wrong = |error: &dyn std::fmt::Display| coded("LEAT_ARGUMENT", error.to_string());
        let protocol = match (self.tls, self.http2) {
            (false, false) => Protocol::H1,
            (true, false) => Protocol::H1Tls,
            (false, true) => Protocol::H2c,
            (true, true) => Protocol::H2Tls,
        };
        let trust = match (self.tls, &self.ca) {
            (false, _) => None,
            (true, None) => Some(public()),
            (true, Some(pem)) => Some(Trust::pem(pem.as_bytes()).map_err(|error| wrong(&error))?),
        };
        let limits = EndpointLimits {
            connections_max: self.connections_max.max(1) as usize,
            h2_connections_max: self.connections_max.max(1) as usize,
            queue_max: self.waiting_max as usize,
            queue_time_ms: NEVER_MS,
            connect_time_ms: ms(self.connect_time_ms),
            idle_time_ms: ms(self.idle_time_ms),
            head_bytes_max: HEAD_BYTES_MAX,
            fields_max: FIELDS_MAX,
            ..EndpointLimits::default()
        };
        let target = Target::parse(&self.target).map_err(|error| wrong(&error))?;
        let endpoint = Endpoint::new(target, protocol, trust, self.server_name.as_deref(), limits);
        let endpoint = endpoint.map_err(|error| wrong(&error))?;
        Ok(Given { client: self.client, endpoint, authority: self.authority })
    }
}

/// Milliseconds of a host, for which `Infinity` is none.
fn ms(given: f64) -> u64 {
    // Out of range it saturates, and NaN is 0.
    (given.ceil() as u64).clamp(1, NEVER_MS)
}

/// One for the process: it has a hundred and fifty certificates.
fn public() -> Trust {
    static PUBLIC: OnceLock<Trust> = OnceLock::new();
    PUBLIC.get_or_init(Trust::public).clone()
}
