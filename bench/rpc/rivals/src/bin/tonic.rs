//! Rival: the echo service on tonic, one thread.

use std::io;
use std::net::SocketAddr;

use clap::Parser;
use proto::Note;
use proto::echo_server::{Echo, EchoServer};
use tonic::transport::Server;
use tonic::{Request, Response, Status};

#[allow(missing_docs, clippy::all, unreachable_pub)]
mod proto {
    include!(concat!(env!("OUT_DIR"), "/tonic/bench.v1.rs"));
}

#[derive(Parser)]
struct Options {
    #[arg(long)]
    listen: SocketAddr,
}

struct Same;

#[tonic::async_trait]
impl Echo for Same {
    async fn say(&self, request: Request<Note>) -> Result<Response<Note>, Status> {
        Ok(Response::new(request.into_inner()))
    }
}

fn main() -> io::Result<()> {
    let options = Options::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime
        .block_on(Server::builder().tcp_nodelay(true).add_service(EchoServer::new(Same)).serve(options.listen))
        .map_err(io::Error::other)
}
