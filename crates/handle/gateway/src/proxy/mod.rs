//! The `proxy` handler: match → admit → pick → forward → retry → record. Matching and admission happened before; this
//! folder sends the request to the endpoints that `pick` names, and brings the response back.

mod connection_tokens;
mod edits;
mod enter;
mod forward;
mod forwarded;
mod hedges;
mod last_hop;
mod replay;
mod request;
mod request_id;
mod respond;
mod route;
mod transfer;
mod tries;

pub(crate) use edits::Edits;
pub(crate) use forward::forward;
pub(crate) use forwarded::ForwardedPolicy;
pub(crate) use last_hop::{answer_as_last, forwards_left};
pub(crate) use request::{RequestSink, Try, body_length, write_request};
pub(crate) use request_id::accepted_id;
pub(crate) use route::ProxyRoute;
