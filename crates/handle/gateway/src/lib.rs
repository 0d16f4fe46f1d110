//! The gateway: routes requests of every protocol to fixed replies, redirects, files and upstreams.
//!
//! [`config`] reads what a person wrote; [`Gateway`] is that, compiled for one core.

mod admit;
mod buffer;
mod check;
mod compress;
pub mod config;
mod decompress;
mod edited;
mod endpoints;
mod error;
mod explain;
mod files;
mod gateway;
pub mod health;
mod lasting;
mod mirror;
mod mock;
mod observe;
mod observer;
mod pick;
mod plugin;
mod proxy;
mod refuse;
mod report;
mod transcode;

pub use admit::Ledger;
pub use admit::auth::{AuthState, Fetched, SchemeError, fetch_keys};
pub use check::{Checked, check};
pub use endpoints::EndpointsError;
pub use error::GatewayError;
pub use explain::{Explanation, Step};
pub use gateway::{Gateway, Plan};
pub use lasting::Lasting;
pub use observe::{Exported, export};
pub use observer::{Observer, shape};
pub use pick::States;
/// What the control thread does for limits that Redis counts.
pub mod redis {
    pub use leat_redis::{News, Servers, follow};
}
pub use plugin::{Decision, NoPlugins, Patch, PluginHost, PluginRun};
pub use report::{PAGE, Report};
