//! From an address to accepted connections: binds sockets (or inherits them), accepts under caps, reads PROXY protocol
//! headers, ends TLS, and says who is on the other end. What it hands on starts with the first byte of HTTP.
//!
//! A process binds one [`ListenerSet`] and makes one [`Gate`]; each core runs [`serve`] for its [`Listener`] of every
//! endpoint.

mod address;
mod bind;
mod bound;
mod error;
mod gate;
mod handover;
mod inherited;
mod listener;
mod proxy;
mod receive;
mod serve;
mod shed;
mod supervisor;
mod tcp;
mod tls;
mod unix;

pub use address::{AddressError, ListenAddress, TrustedSource};
pub use bind::{Endpoint, ListenerSet};
pub use bound::BACKLOG;
pub use error::ListenError;
pub use gate::{Gate, Permit};
pub use handover::{Successor, hand_over};
pub use inherited::{Inherited, ReadySignal};
pub use listener::Listener;
pub use proxy::ProxyProtocol;
pub use serve::{Accepted, Entrance, Protocol, ServeOptions, Stop, serve, serve_telling, serve_until};
pub use supervisor::Supervisor;
pub use tls::{CertificateFiles, CertificateText, ClientAuth, PemError, Reloaded, TicketKeys, TlsOptions, TlsSettings};
pub use tls::{OnUnshaken, TlsProblem, TlsTextError, TlsTextOptions, TlsVersions, Unshaken};
