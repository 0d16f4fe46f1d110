//! Rival: the echo service on connect-rust, one thread: gRPC, gRPC-Web and Connect on one port.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use clap::Parser;
use connectrpc::{RequestContext, Response, Router, Server, ServiceRequest, ServiceResult};
use proto::bench::v1::{Echo, Note};

#[allow(missing_docs, clippy::all, unreachable_pub, rust_2018_idioms, unused)]
mod proto {
    include!(concat!(env!("OUT_DIR"), "/connect.rs"));
}

#[derive(Parser)]
struct Options {
    #[arg(long)]
    listen: SocketAddr,
}

struct Same;

#[allow(refining_impl_trait)]
impl Echo for Same {
    async fn say(&self, _: RequestContext, request: ServiceRequest<'_, Note>) -> ServiceResult<Note> {
        Response::ok(request.to_owned_message())
    }
}

fn main() -> io::Result<()> {
    let options = Options::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let router = Router::new().add_service(Arc::new(Same));
    runtime.block_on(Server::new(router).serve(options.listen)).map_err(|error| io::Error::other(error.to_string()))
}
