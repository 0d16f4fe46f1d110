//! A server on a port of its own, and clients that show everything of a reply.

use std::future::poll_fn;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use bytes::Bytes;
use h2::client::SendRequest;
use http::{HeaderMap, Request};
use leat_message::{Address, Limits, Peer, Profile, Scheme};
use leat_rpc::serve::{Cors, Rpc, Settings};
use leat_rpc::transcode::Transcoder;
use leat_rpc_wire::envelope;
use leat_serve::{OnError, Protocol, Service, Site, serve};
use tokio::task::{LocalSet, spawn_local};

use crate::service::{Seen, Texts, schema};

/// Longest message that the server takes, in bytes.
pub(crate) const RECEIVE_BYTES_MAX: usize = 2000;

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) seen: Arc<Seen>,
}

impl Server {
    /// Serves until the test process ends.
    pub(crate) fn start() -> Self {
        let (send, receive) = channel();
        let seen = Arc::new(Seen::default());
        let of_service = Arc::clone(&seen);
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            LocalSet::new().block_on(&runtime, async move {
                spawn_local(leat_stream::clock::run());
                let cors = Cors::Origins(vec!["https://a.example".into()]);
                let settings = Settings { receive_bytes_max: RECEIVE_BYTES_MAX, cors };
                let schema = schema();
                let rest = Transcoder::new(Arc::clone(&schema), Default::default()).unwrap();
                let service = Service::new(Site {
                    handler: Rpc::new(Texts::new(Arc::clone(&schema), of_service), settings).with_rest(Arc::new(rest)),
                    limits: Limits::default(),
                    profile: Profile::Compatible,
                    on_error: OnError::Close,
                    drain_grace_ms: 500,
                });
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
                let local = listener.local_addr().unwrap();
                send.send(local).unwrap();
                loop {
                    let (stream, remote) = listener.accept().await.unwrap();
                    let (remote, local) = (Address::Ip(remote), Address::Ip(local));
                    let peer = Rc::new(Peer { remote, local, scheme: Scheme::Http, tls: None });
                    spawn_local(serve(stream.into(), Vec::new(), Protocol::Sniff, peer, Rc::clone(&service)));
                }
            });
        });
        Self { address: receive.recv().unwrap(), seen }
    }

    pub(crate) fn connect(&self) -> Http1 {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        Http1 { stream, rest: Vec::new() }
    }
}

/// A connection of HTTP/1 whose replies have a length, or end with the connection.
pub(crate) struct Http1 {
    stream: TcpStream,
    rest: Vec<u8>,
}

/// A reply in text: status line and fields, and the body.
pub(crate) struct Text {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Http1 {
    pub(crate) fn ask(&mut self, line: &str, fields: &str, body: &[u8]) -> Text {
        let length =
            if line.starts_with("POST") { format!("content-length: {}\r\n", body.len()) } else { String::new() };
        self.begin(line, &format!("{length}{fields}"), body)
    }

    /// The reply to a request that says itself how long it is, and may not be all of it.
    pub(crate) fn begin(&mut self, line: &str, fields: &str, body: &[u8]) -> Text {
        let fields: String = fields.lines().map(|line| format!("{}\r\n", line.trim())).collect();
        let head = format!("{line} HTTP/1.1\r\nhost: test\r\n{fields}\r\n");
        self.stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
        self.reply()
    }

    /// The next reply; what is there of it, where the connection ends inside.
    pub(crate) fn reply(&mut self) -> Text {
        let mut block = [0; 4096];
        loop {
            if let Some(end) = self.rest.windows(4).position(|window| window == b"\r\n\r\n") {
                let head = String::from_utf8(self.rest[..end + 2].to_vec()).unwrap();
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
                let length = if head.starts_with("HTTP/1.1 204 ") { Some("0") } else { length };
                let length: usize = length.map_or(usize::MAX, |length| length.parse().unwrap());
                if self.rest.len() - end - 4 >= length {
                    let body = self.rest[end + 4..end + 4 + length].to_vec();
                    self.rest.drain(..end + 4 + length);
                    return Text { head, body };
                }
            }
            match self.stream.read(&mut block) {
                Ok(count) if count > 0 => self.rest.extend_from_slice(&block[..count]),
                _ => {
                    let end = self.rest.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4);
                    let (head, body) = self.rest.split_at(end.unwrap_or(self.rest.len()));
                    return Text { head: String::from_utf8_lossy(head).into_owned(), body: body.to_vec() };
                }
            }
        }
    }
}

/// Runs a client's future.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let within = async { tokio::time::timeout(Duration::from_secs(20), future).await.expect("in time") };
    LocalSet::new().block_on(&runtime, within)
}

/// A client of HTTP/2, and the error that its connection ended with.
pub(crate) async fn http2(server: &Server) -> (SendRequest<Bytes>, tokio::task::JoinHandle<Result<(), h2::Error>>) {
    let stream = tokio::net::TcpStream::connect(server.address).await.unwrap();
    // A stream that is not read leaves the others of the connection their room.
    let mut builder = h2::client::Builder::new();
    let (client, connection) = builder.initial_connection_window_size(1 << 20).handshake(stream).await.unwrap();
    (client.ready().await.unwrap(), spawn_local(connection))
}

pub(crate) fn request(method: &str, fields: &[(&str, &str)]) -> Request<()> {
    let mut request = Request::post(format!("http://test/test.Texts/{method}"));
    if !fields.iter().any(|(name, _)| *name == "content-type") {
        request = request.header("content-type", "application/grpc");
    }
    fields.iter().fold(request, |request, (name, value)| request.header(*name, *value)).body(()).unwrap()
}

/// All of a reply over HTTP/2, as far as it came.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) head: HeaderMap,
    pub(crate) body: Vec<u8>,
    pub(crate) trailers: HeaderMap,
    pub(crate) pieces: usize,
    pub(crate) error: Option<h2::Reason>,
}

impl Reply {
    /// `grpc-status`, wherever it stands.
    pub(crate) fn status(&self) -> Option<&str> {
        let value = self.trailers.get("grpc-status").or_else(|| self.head.get("grpc-status"));
        value.map(|value| value.to_str().unwrap())
    }
}

/// A call with one request body; `Err` where there is not even a head.
pub(crate) async fn call(
    client: &mut SendRequest<Bytes>,
    request: Request<()>,
    body: Vec<u8>,
) -> Result<Reply, h2::Error> {
    let (response, mut stream) = client.send_request(request, false).unwrap();
    stream.send_data(body.into(), true).unwrap();
    let (parts, mut body) = response.await?.into_parts();
    let mut reply = Reply { head: parts.headers, body: Vec::new(), trailers: HeaderMap::new(), pieces: 0, error: None };
    while let Some(piece) = poll_fn(|cx| body.poll_data(cx)).await {
        match piece {
            Ok(piece) => {
                let _ = body.flow_control().release_capacity(piece.len());
                reply.pieces += 1;
                reply.body.extend_from_slice(&piece);
            }
            Err(error) => {
                reply.error = error.reason();
                return Ok(reply);
            }
        }
    }
    reply.trailers = poll_fn(|cx| body.poll_trailers(cx)).await?.unwrap_or_default();
    Ok(reply)
}

pub(crate) fn enveloped(flags: u8, message: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    envelope::write(flags, message, &mut out);
    out
}
