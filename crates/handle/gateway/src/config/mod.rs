//! The configuration: a file of YAML becomes a [`Config`] whose values cannot be wrong, or a list of all that is wrong
//! with it.

mod action;
mod fields;
mod model;
mod problem;
mod template;
mod upstream;

pub use action::{Coding, Files, Proxy, ProxyHost, Redirect};
pub use fields::FieldEdits;
pub use model::{
    AccessLog, Action, Bind, Certificate, Config, Drain, Forwarded, ForwardedStyle, Listener, LogFormat, LogTarget,
    Network, OnError, ProxyProtocol, RequestId, Route, ServerTls, TlsVersion, Workers,
};
pub use problem::{Place, Problem};
pub use template::{Rewrite, Template};
pub use upstream::{ClientTls, Endpoint, EndpointAddress, Protocol, Upstream};

/// A configuration that was read, and what is doubtful about it.
#[derive(Debug)]
pub struct Loaded {
    /// The configuration.
    pub config: Config,
    /// What is probably a mistake but stops nothing.
    pub warnings: Vec<Problem>,
}
