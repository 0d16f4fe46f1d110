//! Rival: hyper's HTTP/1 server with one fixed reply, no timer, and `pipeline_flush` by flag.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;

use bytes::Bytes;
use clap::Parser;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use leat_bench_rivals::{PLAIN, serve};

#[derive(Parser)]
struct Options {
    #[arg(long)]
    listen: SocketAddr,
    /// Answer every pipelined request in the buffer before writing.
    #[arg(long)]
    pipeline_flush: bool,
}

fn main() -> io::Result<()> {
    let options = Options::parse();
    let mut builder = http1::Builder::new();
    builder.pipeline_flush(options.pipeline_flush);
    serve(options.listen, |socket| {
        let connection = builder.serve_connection(TokioIo::new(socket), service_fn(answer));
        async move {
            // The load generator closes as it likes; a connection's end is no result.
            let _ = connection.await;
        }
    })
}

async fn answer(_: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let mut reply = Response::new(Full::new(Bytes::from_static(PLAIN.as_bytes())));
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    Ok(reply)
}
