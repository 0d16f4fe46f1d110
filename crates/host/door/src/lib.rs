//! Servers of JavaScript hosts, with the settings and the errors of `node:http`: listeners, and connections whose requests go
//! to a program. Each connection has a handler of its own, which the host makes of the lane's [`leat_script::Script`].

mod bind;
mod connection;
mod errno;
mod rpc;
mod server;
mod settings;
mod speaking;
mod unshaken;

pub use bind::{BACKLOG, Bound, Place, accepted, open};
pub use errno::{errno_of, name_of};
pub use leat_rpc::serve::Cors;
pub use rpc::{Rpc, RpcSettings, descriptors};
pub use server::{MakeHandler, Server};
pub use settings::{Settings, Tls, TlsRefusal};
pub use speaking::Speaking;
