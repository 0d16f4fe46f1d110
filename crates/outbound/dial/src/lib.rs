//! The upstream side: names become addresses, addresses become pooled connections, and a request goes out and its
//! response comes back over one of them. Everything but the resolver belongs to one core: no locks, no shared state.
//!
//! [`Pools`] leases a [`Call`] for an [`Endpoint`]; the call is one exchange, over HTTP/1.1 or HTTP/2, plain, over TLS or
//! over a Unix socket, always with the same methods.

mod call;
mod connect;
mod endpoint;
mod h1;
mod h2;
mod limits;
mod pool;
mod pools;
mod queue;
mod resolve;
mod trust;
mod within;

pub use call::Call;
pub use endpoint::{Endpoint, EndpointError, Host, Protocol, Target};
pub use leat_trust::AuthoritiesError;
pub use limits::EndpointLimits;
pub use pools::{EndpointStats, Pools};
pub use resolve::{Resolver, ResolverSettings};
pub use trust::{Trust, TrustError};
