//! Peers that do as they are told, over real sockets, and a driver that runs an exchange the way the gateway does.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod frames;
pub mod names;
pub mod streams;

use std::future::Future;
use std::net::SocketAddr;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use leat_dial::{Call, Endpoint, EndpointLimits, Pools, Protocol, Resolver, ResolverSettings, Target};
use leat_message::{Fault, Length, Piece, Reason};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::LocalSet;

/// A test that takes longer than this hangs.
const TEST_TIME: Duration = Duration::from_secs(20);

/// Runs a test as a core of the engine does: one thread, its clock running.
pub fn on_core<F: Future>(test: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let local = LocalSet::new();
    local.spawn_local(leat_stream::clock::run());
    runtime.block_on(local.run_until(async { tokio::time::timeout(TEST_TIME, test).await.expect("the test hangs") }))
}

/// A peer's end of a connection.
pub struct Conn<S = TcpStream>(pub S);

impl<S: AsyncRead + AsyncWrite + Unpin> Conn<S> {
    /// Reads up to and including the end of a head, byte by byte, so that nothing behind it is taken. Empty at the end of
    /// the connection.
    pub async fn head(&mut self) -> String {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match self.0.read_u8().await {
                Ok(byte) => head.push(byte),
                Err(_) => break,
            }
        }
        String::from_utf8(head).unwrap()
    }

    pub async fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.0.read_exact(&mut bytes).await.unwrap();
        bytes
    }

    pub async fn until(&mut self, end: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        while !bytes.ends_with(end) {
            bytes.push(self.0.read_u8().await.unwrap());
        }
        bytes
    }

    pub async fn rest(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let _ = self.0.read_to_end(&mut bytes).await;
        bytes
    }

    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let _ = self.0.write_all(bytes.as_ref()).await;
        let _ = self.0.flush().await;
    }

    /// Keeps the connection open until the other side closes it.
    pub async fn hold(mut self) {
        self.rest().await;
    }
}

impl Conn<TcpStream> {
    /// Ends the connection with a reset.
    pub fn reset(self) {
        socket2::SockRef::from(&self.0).set_linger(Some(Duration::ZERO)).unwrap();
    }
}

/// Starts a peer: `script` is called for each connection with its number, from 0.
pub async fn peer<F, Fut>(script: F) -> SocketAddr
where
    F: Fn(usize, Conn) -> Fut + 'static,
    Fut: Future<Output = ()> + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    accept(listener, script);
    address
}

pub fn accept<F, Fut>(listener: TcpListener, script: F)
where
    F: Fn(usize, Conn) -> Fut + 'static,
    Fut: Future<Output = ()> + 'static,
{
    tokio::task::spawn_local(async move {
        for number in 0.. {
            let (stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            tokio::task::spawn_local(script(number, Conn(stream)));
        }
    });
}

/// A peer that answers every request, read up to its head, with the same bytes and keeps the connection.
pub async fn repeating(answer: &'static str) -> SocketAddr {
    peer(move |_, mut conn| async move {
        while !conn.head().await.is_empty() {
            conn.send(answer).await;
        }
    })
    .await
}

pub fn pools() -> Rc<Pools> {
    Pools::new(Resolver::new(ResolverSettings::default()))
}

pub fn h1(address: impl ToString) -> Rc<Endpoint> {
    endpoint(address, Protocol::H1, EndpointLimits::default())
}

pub fn endpoint(address: impl ToString, protocol: Protocol, limits: EndpointLimits) -> Rc<Endpoint> {
    let target = Target::parse(&address.to_string()).unwrap();
    Rc::new(Endpoint::new(target, protocol, None, None, limits).unwrap())
}

/// What is sent.
#[derive(Clone, Default)]
pub struct Ask {
    pub method: &'static str,
    pub target: &'static str,
    pub fields: Vec<(&'static str, &'static str)>,
    pub length: Length,
    pub body: Vec<u8>,
    pub trailers: Vec<(&'static str, &'static str)>,
}

pub fn get(target: &'static str) -> Ask {
    Ask { method: "GET", target, fields: vec![("Host", "up.example")], ..Ask::default() }
}

pub fn post(target: &'static str, length: Length, body: impl Into<Vec<u8>>) -> Ask {
    Ask { method: "POST", length, body: body.into(), ..get(target) }
}

/// What came back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    pub interims: Vec<u16>,
    pub status: u16,
    pub fields: Vec<(String, String)>,
    pub length: Length,
    pub body: Vec<u8>,
    pub trailers: Vec<(String, String)>,
}

impl Answer {
    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }
}

/// Fields over a buffer, as a parser would have made them.
pub struct Lines(Vec<u8>, Vec<leat_message::Field>);

impl Lines {
    pub fn new(fields: &[(&str, &str)]) -> Self {
        let (mut bytes, mut list) = (Vec::new(), Vec::new());
        for (name, value) in fields {
            let start = bytes.len();
            bytes.extend_from_slice(name.as_bytes());
            let middle = bytes.len();
            bytes.extend_from_slice(value.as_bytes());
            list.push(leat_message::Field {
                id: leat_message::Name::from_bytes(name.as_bytes()),
                name: leat_message::Span::new(start, middle),
                value: leat_message::Span::new(middle, bytes.len()),
            });
        }
        Self(bytes, list)
    }

    pub fn fields(&self) -> leat_message::Fields<'_> {
        leat_message::Fields::new(&self.0, &self.1)
    }
}

pub fn strings(fields: leat_message::Fields<'_>) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    fields.iter().map(|(_, name, value)| (text(name), text(value))).collect()
}

/// Writes the head of a request.
pub fn begin(call: &mut Call, ask: &Ask) {
    call.request(ask.method.as_bytes(), b"up.example", "http", ask.target.as_bytes());
    for (name, value) in &ask.fields {
        call.field(name.as_bytes(), value.as_bytes());
    }
    call.length(ask.length);
}

/// Runs one exchange, both directions in one poll loop. Ends with the response, also where the request was not all sent.
pub async fn drive(call: &mut Call, ask: &Ask) -> Result<Answer, Reason> {
    begin(call, ask);
    let mut exchange = Exchange { sent: 0, ended: false, answer: Answer::default() };
    std::future::poll_fn(|cx| exchange.poll(call, ask, cx)).await
}

struct Exchange {
    sent: usize,
    ended: bool,
    answer: Answer,
}

impl Exchange {
    fn poll(&mut self, call: &mut Call, ask: &Ask, cx: &mut Context<'_>) -> Poll<Result<Answer, Reason>> {
        while self.sent < ask.body.len() {
            match call.poll_send(cx, &ask.body[self.sent..]) {
                Poll::Ready(sent) => self.sent += sent?,
                Poll::Pending => break,
            }
        }
        if self.sent == ask.body.len() && !self.ended {
            self.ended = true;
            if ask.length == Length::Stream {
                let lines = Lines::new(&ask.trailers);
                call.end((!ask.trailers.is_empty()).then(|| lines.fields()));
            }
        }
        if let Poll::Ready(flushed) = call.poll_flush(cx) {
            flushed?;
        }
        while self.answer.status < 200 && self.answer.status != 101 {
            match call.poll_response(cx) {
                Poll::Ready(status) => self.answer.status = status?,
                Poll::Pending => return Poll::Pending,
            }
            if self.answer.status < 200 && self.answer.status != 101 {
                self.answer.interims.push(self.answer.status);
            }
            self.answer.fields = strings(call.response().fields());
            self.answer.length = call.response().length();
        }
        if self.answer.length == Length::Tunnel {
            return Poll::Ready(Ok(std::mem::take(&mut self.answer)));
        }
        loop {
            let count = match call.poll_body(cx) {
                Poll::Ready(piece) => match piece? {
                    Piece::Data(bytes) => {
                        self.answer.body.extend_from_slice(bytes);
                        bytes.len()
                    }
                    Piece::End => break,
                },
                Poll::Pending => return Poll::Pending,
            };
            call.consume(count);
        }
        self.answer.trailers = call.trailers().map(strings).unwrap_or_default();
        Poll::Ready(Ok(std::mem::take(&mut self.answer)))
    }
}

/// Leases a connection and runs one exchange on it; what went wrong is said as exactly as it is known.
pub async fn fetch(pools: &Rc<Pools>, endpoint: &Rc<Endpoint>, ask: &Ask) -> Result<Answer, Reason> {
    let mut call = pools.lease(endpoint).await.map_err(Fault::cause)?;
    drive(&mut call, ask).await
}

/// Lets other tasks and the reactor run.
pub async fn settle() {
    tokio::time::sleep(Duration::from_millis(5)).await;
}

/// Waits until `holds` does.
pub async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..400 {
        if holds() {
            return;
        }
        settle().await;
    }
    panic!("not reached: {what}");
}

/// A listener that is full: connecting to it neither succeeds nor fails.
pub struct BlackHole {
    pub address: SocketAddr,
    _listener: socket2::Socket,
    _fillers: Vec<socket2::Socket>,
}

pub fn black_hole(address: &str) -> BlackHole {
    use socket2::{Domain, Socket, Type};
    let listener = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    listener.bind(&address.parse::<SocketAddr>().unwrap().into()).unwrap();
    listener.listen(1).unwrap();
    let address = listener.local_addr().unwrap().as_socket().unwrap();
    let fillers = (0..16).map(|_| {
        let filler = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        filler.set_nonblocking(true).unwrap();
        let _ = filler.connect(&address.into());
        filler
    });
    BlackHole { address, _fillers: fillers.collect(), _listener: listener }
}
