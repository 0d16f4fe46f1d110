//! The origin behind every proxy: small JSON, large bodies, an upload sink, a delay. The same for all subjects.
//!
//! Speaks HTTP/1.1, and HTTP/2 with prior knowledge to whoever begins with its preface.
//!
//! - `/100k`, `/10m`, `/bytes/N`: a body of 100,000, of 10,000,000 or of N bytes (10,000,000 at most) with a content length
//! - `/upload`: reads the whole request body, answers how many bytes it had
//! - `/delay/MS`: answers the small JSON after so many milliseconds (60,000 at most)
//! - anything else: the small JSON, 128 bytes

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use clap::Parser;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use leat_bench_rivals::serve;

/// Longest delay that a path may ask for.
const DELAY_MS_MAX: u64 = 60_000;

/// Requests that one HTTP/2 connection may have under way: more than any load asks at once.
const STREAMS_MAX: u32 = 1000;

const SMALL: &str = concat!(
    r#"{"id":4711,"name":"mill race","state":"flowing","litres_per_second":128,"#,
    r#""gates":["upper","lower"],"checked":"2026-01-01T00:00Z"}"#,
);
const _: () = assert!(SMALL.len() == 128);

static LARGE: [u8; 10_000_000] = [b'x'; 10_000_000];

#[derive(Parser)]
struct Options {
    #[arg(long)]
    listen: SocketAddr,
}

fn main() -> io::Result<()> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().pipeline_flush(true);
    builder.http2().max_concurrent_streams(STREAMS_MAX);
    serve(Options::parse().listen, |socket| {
        let builder = builder.clone();
        async move {
            // The proxy closes as it likes; a connection's end is no result.
            let _ = builder.serve_connection(TokioIo::new(socket), service_fn(answer)).await;
        }
    })
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path();
    Ok(match path {
        "/100k" => reply("application/octet-stream", Bytes::from_static(LARGE.get(..100_000).unwrap_or_default())),
        "/10m" => reply("application/octet-stream", Bytes::from_static(&LARGE)),
        "/upload" => swallow(request.into_body()).await,
        _ => {
            if let Some(count) = path.strip_prefix("/bytes/").and_then(|count| count.parse::<usize>().ok()) {
                let bytes = LARGE.get(..count.min(LARGE.len())).unwrap_or_default();
                return Ok(reply("application/octet-stream", Bytes::from_static(bytes)));
            }
            if let Some(ms) = path.strip_prefix("/delay/").and_then(|ms| ms.parse::<u64>().ok()) {
                tokio::time::sleep(Duration::from_millis(ms.min(DELAY_MS_MAX))).await;
            }
            reply("application/json", Bytes::from_static(SMALL.as_bytes()))
        }
    })
}

async fn swallow(mut body: Incoming) -> Response<Full<Bytes>> {
    let mut bytes = 0;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else {
            let mut cut = Response::new(Full::default());
            *cut.status_mut() = StatusCode::BAD_REQUEST;
            return cut;
        };
        bytes += frame.data_ref().map_or(0, Bytes::len);
    }
    reply("application/json", Bytes::from(format!("{{\"bytes\":{bytes:>10}}}")))
}

fn reply(kind: &'static str, body: Bytes) -> Response<Full<Bytes>> {
    let mut reply = Response::new(Full::new(body));
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    reply
}
