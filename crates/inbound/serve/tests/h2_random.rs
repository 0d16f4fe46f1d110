//! Random exchanges of the h2 crate's client, many at once, over windows of every width, encrypted and byte by byte:
//! whatever is not cancelled arrives as it was sent, and every exchange that began ends.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use h2::client::{Builder, SendRequest};
use h2::{Reason as Code, RecvStream, SendStream};
use http::{HeaderMap, HeaderValue, Request};
use leat_testkit::eventually;
use rustls::pki_types::{PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use support::{Event, Options, Server, pattern};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;

/// A connection whose exchanges take longer stands still.
const STANDSTILL: Duration = Duration::from_secs(90);
/// Round trips that the windows may make of a body: a wider one gets longer bodies.
const WINDOWS_PER_BODY: u64 = 200;
const BODY_BYTES_MAX: u64 = 1024 * 1024;

/// SplitMix64 (Steele, Lea, Flood 2014): small, and the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }
}

/// A socket that reads and writes one byte at a time.
struct ByteByByte(TcpStream);

impl AsyncRead for ByteByByte {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut byte = [0];
        let mut one = ReadBuf::new(&mut byte);
        let read = Pin::new(&mut self.0).poll_read(cx, &mut one);
        buf.put_slice(one.filled());
        read
    }
}

impl AsyncWrite for ByteByByte {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, &buf[..buf.len().min(1)])
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

#[derive(Clone, Copy, Debug)]
enum Ask {
    Raw(u64),
    Stream(u64, u64),
    Echo(u64),
    Pipe(u64),
    RawEcho(u64),
    /// A body with trailers, which are told.
    Count(u64),
    /// Part of a body, and then a reset.
    Cancel(u64),
    /// The reply is dropped where it begins.
    Drop(u64),
}

impl Ask {
    fn new(random: &mut Random, bytes_max: u64) -> Self {
        let limit = random.pick(&[2, 100, 20_000, bytes_max]).min(bytes_max) + 1;
        let bytes = random.below(limit);
        match random.below(10) {
            0 => Self::Raw(bytes.min(50_000)),
            1 | 2 => Self::Stream(bytes, 1 + random.below(20_000)),
            3 | 4 => Self::Echo(bytes),
            5 | 6 => Self::Pipe(bytes),
            7 => Self::Count(bytes),
            8 => Self::RawEcho(bytes.min(10_000)),
            _ if random.below(2) == 0 => Self::Cancel(bytes),
            _ => Self::Drop(bytes),
        }
    }

    async fn run(self, client: SendRequest<Bytes>) -> Result<(), h2::Error> {
        let (method, path, sent) = match self {
            Self::Raw(bytes) => ("GET", format!("/raw?{bytes}"), 0),
            Self::Stream(bytes, size) => ("GET", format!("/stream?{bytes},{size}"), 0),
            Self::Drop(bytes) => ("GET", format!("/stream?{bytes}"), 0),
            Self::Echo(bytes) => ("POST", "/echo".to_owned(), bytes),
            Self::Pipe(bytes) => ("POST", "/pipe".to_owned(), bytes),
            Self::RawEcho(bytes) => ("POST", "/raw/echo".to_owned(), bytes),
            Self::Count(bytes) | Self::Cancel(bytes) => ("POST", "/count".to_owned(), bytes),
        };
        let request = Request::builder().method(method).uri(format!("http://leat.test{path}")).body(()).unwrap();
        let mut client = client.ready().await?;
        let (response, mut stream) = client.send_request(request, method == "GET")?;
        let body: Bytes = (0..sent).map(pattern).collect::<Vec<u8>>().into();
        let sending = async {
            if method == "GET" {
                return Ok(());
            }
            send(&mut stream, body.clone()).await?;
            match self {
                Self::Cancel(_) => stream.send_reset(Code::CANCEL),
                Self::Count(_) => {
                    stream.send_trailers(HeaderMap::from_iter([("x-sum".parse().unwrap(), HeaderValue::from(42))]))?;
                }
                _ => stream.send_data(Bytes::new(), true)?,
            }
            Ok::<_, h2::Error>(())
        };
        let receiving = async {
            let response = response.await?;
            assert_eq!(response.status(), 200, "{self:?}");
            if matches!(self, Self::Drop(_)) { Ok(Vec::new()) } else { collect(response.into_body()).await }
        };
        let (sent, got) = tokio::join!(sending, receiving);
        sent?;
        let expected: Vec<u8> = match self {
            Self::Cancel(_) => return Ok(()),
            Self::Drop(_) => Vec::new(),
            Self::Raw(bytes) => vec![b'r'; bytes as usize],
            Self::Stream(bytes, _) => (0..bytes).map(pattern).collect(),
            Self::Echo(_) | Self::Pipe(_) | Self::RawEcho(_) => body.to_vec(),
            Self::Count(bytes) => format!("{bytes} x-sum: 42").into_bytes(),
        };
        assert!(got? == expected, "other bytes for {self:?}");
        Ok(())
    }
}

async fn send(stream: &mut SendStream<Bytes>, mut body: Bytes) -> Result<(), h2::Error> {
    while !body.is_empty() {
        stream.reserve_capacity(body.len());
        let capacity = poll_fn(|cx| stream.poll_capacity(cx)).await.ok_or(Code::STREAM_CLOSED)??;
        stream.send_data(body.split_to(capacity.min(body.len())), false)?;
    }
    Ok(())
}

async fn collect(mut body: RecvStream) -> Result<Vec<u8>, h2::Error> {
    let mut bytes = Vec::new();
    while let Some(piece) = body.data().await {
        let piece = piece?;
        body.flow_control().release_capacity(piece.len())?;
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}

/// Asks `count` things at once over a connection of random settings; says how many were not to be cancelled.
async fn exchanges<T>(socket: T, mut random: Random, count: u64, bytes_max: u64) -> usize
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let window = random.pick(&[1_u32, 100, 5_000, 65_535, 1 << 20, (1 << 31) - 1]);
    let mut builder = Builder::new();
    builder
        .initial_window_size(window)
        .initial_connection_window_size(random.pick(&[65_535, 1 << 20, (1 << 31) - 1]))
        .max_frame_size(random.pick(&[16_384, 16_385, 1 << 20]))
        .header_table_size(random.pick(&[0, 100, 4_096, 65_536]))
        .initial_max_send_streams(count as usize);
    let (client, connection) = builder.handshake(socket).await.unwrap();
    let connection = tokio::spawn(connection);
    let bytes_max = bytes_max.min(u64::from(window) * WINDOWS_PER_BODY);
    let asks: Vec<Ask> = (0..count).map(|_| Ask::new(&mut random, bytes_max)).collect();
    let mut running = JoinSet::new();
    for &ask in &asks {
        let client = client.clone();
        running.spawn(async move { (ask, ask.run(client).await) });
    }
    while let Some(ended) = running.join_next().await {
        let (ask, result) = ended.unwrap();
        result.unwrap_or_else(|error| panic!("{ask:?}: {error}"));
    }
    drop(client);
    connection.await.unwrap().unwrap();
    asks.iter().filter(|ask| !matches!(ask, Ask::Cancel(_) | Ask::Drop(_))).count()
}

/// Every exchange that began ends, and no request is told of twice.
fn ended(server: &Server, asked: u64, whole: usize) {
    eventually("the end of every exchange", || {
        let events = server.events();
        let begun = events.iter().filter(|event| matches!(event, Event::Begun(_))).count();
        let count = |with_path: bool| {
            events
                .iter()
                .filter(|event| matches!(event, Event::Ended { path, .. } if path.is_some() == with_path))
                .count()
        };
        assert!(count(true) <= asked as usize && count(false) == 0);
        (count(true) >= whole.max(begun)).then_some(())
    });
}

async fn connect(server: &Server) -> TcpStream {
    let socket = TcpStream::connect(server.address).await.unwrap();
    socket.set_nodelay(true).unwrap();
    socket
}

async fn within<T>(seed: u64, exchanges: impl Future<Output = T>) -> T {
    tokio::time::timeout(STANDSTILL, exchanges).await.unwrap_or_else(|_| panic!("seed {seed} stands still"))
}

#[tokio::test]
async fn a_hundred_at_once_over_windows_of_every_width() {
    for seed in 0..12 {
        let server = Server::start();
        let socket = connect(&server).await;
        let whole = within(seed, exchanges(socket, Random(seed), 100, BODY_BYTES_MAX)).await;
        ended(&server, 100, whole);
    }
}

#[tokio::test]
async fn byte_by_byte() {
    for seed in 100..108 {
        let server = Server::start();
        let socket = ByteByByte(connect(&server).await);
        let whole = within(seed, exchanges(socket, Random(seed), 20, 3_000)).await;
        ended(&server, 20, whole);
    }
}

#[tokio::test]
async fn encrypted() {
    let made = rcgen::generate_simple_self_signed(["leat.test".to_owned()]).unwrap();
    let certificate = made.cert.der().clone();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let config =
        ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate.clone()], key).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    let client = Arc::new(ClientConfig::builder().with_root_certificates(roots).with_no_client_auth());
    let config = Arc::new(config);
    for seed in 200..206 {
        let tls = Some(Arc::clone(&config));
        let server = Server::with(Options { tls, send_buffer_bytes: Some(64 * 1024), ..Options::default() });
        let name = ServerName::try_from("leat.test").unwrap();
        let socket = TlsConnector::from(Arc::clone(&client)).connect(name, connect(&server).await).await.unwrap();
        let whole = within(seed, exchanges(socket, Random(seed), 60, BODY_BYTES_MAX)).await;
        ended(&server, 60, whole);
    }
}
