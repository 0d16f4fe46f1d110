//! HTTP/2 clients and servers by the h2 crate: the other opinion on both sides.

use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use h2::client::SendRequest;
use h2::server::SendResponse;
use h2::{RecvStream, SendStream};
use http::{HeaderMap, Request, Response};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{LocalSet, spawn_local};

/// Runs a test within ten seconds.
pub(crate) fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let within = async { tokio::time::timeout(Duration::from_secs(10), test).await.expect("the test takes too long") };
    LocalSet::new().block_on(&runtime, within);
}

/// Starts a server on plain TCP, or on TLS; `script` runs for every request.
pub(crate) async fn server<F, Fut>(tls: Option<Arc<rustls::ServerConfig>>, script: F) -> SocketAddr
where
    F: Fn(Request<RecvStream>, SendResponse<Bytes>) -> Fut + Clone + 'static,
    Fut: Future<Output = ()> + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    spawn_local(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (script, tls) = (script.clone(), tls.clone());
            spawn_local(async move {
                match tls {
                    Some(config) => {
                        let accepted = tokio_rustls::TlsAcceptor::from(config).accept(stream).await;
                        serve(accepted.expect("a handshake"), script).await;
                    }
                    None => serve(stream, script).await,
                }
            });
        }
    });
    address
}

async fn serve<S, F, Fut>(stream: S, script: F)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
    F: Fn(Request<RecvStream>, SendResponse<Bytes>) -> Fut,
    Fut: Future<Output = ()> + 'static,
{
    let mut connection = h2::server::handshake(stream).await.expect("an HTTP/2 client");
    while let Some(Ok((request, answer))) = connection.accept().await {
        spawn_local(script(request, answer));
    }
}

/// Connects with prior knowledge.
pub(crate) async fn connect(address: SocketAddr) -> SendRequest<Bytes> {
    let stream = TcpStream::connect(address).await.unwrap();
    let (client, connection) = h2::client::handshake(stream).await.unwrap();
    spawn_local(async move {
        let _ = connection.await;
    });
    client.ready().await.unwrap()
}

pub(crate) fn request(method: &str, uri: &str, fields: &[(&'static str, &'static str)]) -> Request<()> {
    let mut request = Request::builder().method(method).uri(uri);
    for (name, value) in fields {
        request = request.header(*name, *value);
    }
    request.body(()).unwrap()
}

pub(crate) fn response(status: u16, fields: &[(&'static str, &'static str)]) -> Response<()> {
    let mut response = Response::builder().status(status);
    for (name, value) in fields {
        response = response.header(*name, *value);
    }
    response.body(()).unwrap()
}

/// Names and values, in order.
pub(crate) fn listed(fields: &HeaderMap) -> Vec<String> {
    fields.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect()
}

/// Reads the next piece of a body and gives the window back.
pub(crate) async fn piece(body: &mut RecvStream) -> Option<Bytes> {
    let bytes = body.data().await?.expect("a piece of a body");
    body.flow_control().release_capacity(bytes.len()).unwrap();
    Some(bytes)
}

/// Reads the rest of a body and its trailers.
pub(crate) async fn rest(body: &mut RecvStream) -> (Vec<u8>, Vec<String>) {
    let mut all = Vec::new();
    while let Some(bytes) = piece(body).await {
        all.extend_from_slice(&bytes);
    }
    let trailers = body.trailers().await.expect("trailers or none");
    (all, trailers.map(|trailers| listed(&trailers)).unwrap_or_default())
}

pub(crate) fn trailers(fields: &[(&'static str, &'static str)]) -> HeaderMap {
    fields.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
}

/// Waits until the stream was reset; the code of the reset.
pub(crate) async fn reset(stream: &mut SendStream<Bytes>) -> h2::Reason {
    poll_fn(|cx| stream.poll_reset(cx)).await.expect("a reset")
}
