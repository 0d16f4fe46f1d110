use napi::Either;
use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;

use crate::error::{Coded, coded};

/// What a server was told, with the names of `node:http`.
#[napi(object)]
#[derive(Default)]
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

/// A server of RPC.
#[napi(object)]
pub struct Rpc {
    pub descriptors: Uint8Array,
    pub read_max_bytes: Option<f64>,
    pub has_fallback: Option<bool>,
    pub origins: Option<Vec<String>>,
    pub no_cors: Option<bool>,
    pub codings: Option<Vec<String>>,
    pub compress_min_bytes: Option<f64>,
}

/// Certificates and keys in PEM form.
#[napi(object)]
#[derive(Clone)]
pub struct Tls {
    pub cert: Either<String, Vec<String>>,
    pub key: Either<String, Vec<String>>,
    pub ca: Option<Either<String, Vec<String>>>,
    pub request_cert: Option<bool>,
    pub reject_unauthorized: Option<bool>,
    pub min_version: Option<String>,
    pub max_version: Option<String>,
    #[napi(js_name = "ALPNProtocols")]
    pub alpn_protocols: Option<Vec<String>>,
}

impl TryFrom<Settings> for leat_door::Settings {
    type Error = Coded;

    fn try_from(given: Settings) -> Result<Self, Coded> {
        Ok(Self {
            headers_timeout: given.headers_timeout,
            request_timeout: given.request_timeout,
            keep_alive_timeout: given.keep_alive_timeout,
            max_header_size: given.max_header_size,
            max_headers_count: given.max_headers_count,
            http2: given.http2,
            no_delay: given.no_delay,
            keep_alive: given.keep_alive,
            keep_alive_initial_delay: given.keep_alive_initial_delay,
            connections_max: given.connections_max,
            tls: given.tls.map(Into::into),
            rpc: given.rpc.map(rpc).transpose()?,
        })
    }
}

impl From<Tls> for leat_door::Tls {
    fn from(given: Tls) -> Self {
        Self {
            cert: list(given.cert),
            key: list(given.key),
            ca: given.ca.map(list),
            request_cert: given.request_cert,
            reject_unauthorized: given.reject_unauthorized,
            min_version: given.min_version,
            max_version: given.max_version,
            alpn_protocols: given.alpn_protocols,
        }
    }
}

fn list(text: Either<String, Vec<String>>) -> Vec<String> {
    match text {
        Either::A(one) => vec![one],
        Either::B(many) => many,
    }
}

fn rpc(given: Rpc) -> Result<leat_door::Rpc, Coded> {
    let cors = match (given.no_cors, given.origins) {
        (Some(true), _) => leat_door::Cors::Off,
        (_, Some(origins)) => leat_door::Cors::Origins(origins),
        (_, None) => leat_door::Cors::Any,
    };
    let settings = leat_door::RpcSettings {
        message_bytes_max: given.read_max_bytes,
        has_fallback: given.has_fallback == Some(true),
        cors,
        codings: given.codings.unwrap_or_default(),
        compress_bytes_min: given.compress_min_bytes,
    };
    leat_door::Rpc::new(given.descriptors.to_vec(), settings).map_err(|problem| coded("LEAT_RPC", problem))
}
