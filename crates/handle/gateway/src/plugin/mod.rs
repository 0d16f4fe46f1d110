//! The phase between match and everything else: plug-ins see the request, and later the response. Who runs them is not known
//! here: a [`PluginHost`] of the process's own does, and says what becomes of a message.

mod body;
mod changes;
mod host;
mod none;
mod opening;
mod own_paths;
mod plugged;
mod respond;
mod restated;
mod rewritten;

pub(crate) use body::{BodyRule, RequestBody};
pub use host::{Decision, Patch, PluginHost, PluginRun};
pub use none::NoPlugins;
pub(crate) use opening::{Opening, opening};
pub(crate) use own_paths::OwnPaths;
pub(crate) use plugged::{Plugged, Spare};
pub(crate) use respond::respond;
pub(crate) use restated::{Restated, only_restates};
pub(crate) use rewritten::Rewritten;
