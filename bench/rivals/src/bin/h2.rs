//! Rival: the h2 crate with nothing around it, HTTP/2 by prior knowledge, as its documentation shows it.

use std::io;
use std::net::SocketAddr;

use bytes::Bytes;
use clap::Parser;
use h2::server::SendResponse;
use http::Response;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use leat_bench_rivals::{PLAIN, serve};
use tokio::net::TcpStream;

#[derive(Parser)]
struct Options {
    #[arg(long)]
    listen: SocketAddr,
}

fn main() -> io::Result<()> {
    serve(Options::parse().listen, |socket| async move {
        // The load generator closes as it likes; a connection's end is no result.
        let _ = connection(socket).await;
    })
}

async fn connection(socket: TcpStream) -> Result<(), h2::Error> {
    let mut connection = h2::server::handshake(socket).await?;
    while let Some(accepted) = connection.accept().await {
        let (_, reply) = accepted?;
        answer(reply)?;
    }
    Ok(())
}

fn answer(mut reply: SendResponse<Bytes>) -> Result<(), h2::Error> {
    let mut head = Response::new(());
    head.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    head.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from_static("13"));
    reply.send_response(head, false)?.send_data(Bytes::from_static(PLAIN.as_bytes()), true)
}
