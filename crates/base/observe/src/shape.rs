use std::sync::Arc;

/// What a configuration has to be counted by name: its routes, endpoints and rate limits, in the order that
/// [`leat_message::Record`] refers to them by index.
///
/// The names are the identity: a route that keeps its name over a reload keeps its numbers, wherever it stands in the
/// new order. Two routes of one name share their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Names of the routes.
    pub routes: Vec<Arc<str>>,
    /// Names of the endpoints of all upstreams.
    pub endpoints: Vec<EndpointName>,
    /// Names of the rate limits.
    pub limits: Vec<Arc<str>>,
}

/// The name of an endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EndpointName {
    /// The upstream that it belongs to.
    pub upstream: Arc<str>,
    /// Its address as the configuration writes it.
    pub address: Arc<str>,
}
