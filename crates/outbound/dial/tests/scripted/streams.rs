//! HTTP/2 servers that do as they are told.

use std::net::SocketAddr;
use std::rc::Rc;

use bytes::Bytes;
use h2::RecvStream;
use h2::server::SendResponse;
use http::{Request, Response};
use leat_dial::{Endpoint, EndpointLimits, Pools, Protocol};
use leat_message::Reason;

use super::{endpoint, fetch, get, peer, settle};

/// What a scripted server gets for each request: its number on the connection, the request, and how to answer.
pub type Asked = (usize, Request<RecvStream>, SendResponse<Bytes>);

/// Starts an HTTP/2 server on plain TCP; `script` runs for each request as a task of its own.
pub async fn server<F, Fut>(builder: h2::server::Builder, script: F) -> SocketAddr
where
    F: Fn(Asked) -> Fut + Clone + 'static,
    Fut: Future<Output = ()> + 'static,
{
    peer(move |_, conn| serve(builder.clone(), conn.0, script.clone(), usize::MAX)).await
}

/// Serves one connection; says goodbye after `requests`.
pub async fn serve<S, F, Fut>(builder: h2::server::Builder, stream: S, script: F, requests: usize)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
    F: Fn(Asked) -> Fut,
    Fut: Future<Output = ()> + 'static,
{
    let Ok(mut connection) = builder.handshake::<_, Bytes>(stream).await else { return };
    for number in 1.. {
        let Some(Ok((request, answer))) = connection.accept().await else { return };
        tokio::task::spawn_local(script((number - 1, request, answer)));
        if number == requests {
            connection.graceful_shutdown();
        }
    }
}

pub fn h2c(address: SocketAddr) -> Rc<Endpoint> {
    endpoint(address, Protocol::H2c, EndpointLimits::default())
}

pub fn head(status: u16, fields: &[(&'static str, &'static str)]) -> Response<()> {
    let mut response = Response::builder().status(status);
    for (name, value) in fields {
        response = response.header(*name, *value);
    }
    response.body(()).unwrap()
}

/// Reads a whole body, giving the window back.
pub async fn read_all(body: &mut RecvStream) -> Vec<u8> {
    let mut all = Vec::new();
    while let Some(Ok(bytes)) = body.data().await {
        body.flow_control().release_capacity(bytes.len()).unwrap();
        all.extend_from_slice(&bytes);
    }
    all
}

pub async fn ok((_, mut request, mut answer): Asked) {
    read_all(request.body_mut()).await;
    if let Ok(mut body) = answer.send_response(head(200, &[]), false) {
        let _ = body.send_data("ok".into(), true);
    }
}

pub async fn slow(asked: Asked) {
    settle().await;
    settle().await;
    ok(asked).await;
}

pub fn spawn_fetch(pools: &Rc<Pools>, endpoint: &Rc<Endpoint>) -> tokio::task::JoinHandle<Result<String, Reason>> {
    let (pools, endpoint) = (Rc::clone(pools), Rc::clone(endpoint));
    tokio::task::spawn_local(async move { Ok(fetch(&pools, &endpoint, &get("/")).await?.text()) })
}
