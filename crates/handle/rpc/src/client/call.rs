use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use leat_dial::{Call, Endpoint, Pools};
use leat_message::{Fields, Length, Piece, Reason};
use leat_rpc_wire::envelope::{self, Found, Reader};
use leat_rpc_wire::grpc::{status, timeout};
use leat_rpc_wire::{Code, Metadata, Status, binary_value};

use super::Backend;
use crate::outgoing::Outgoing;

/// The longest message that is taken from a server, in bytes: four times gRPC's usual limit, since large fixtures are recorded.
pub const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Metadata of a call that HTTP or gRPC itself writes, and that is never passed on.
const OWN: [&str; 16] = [
    "host",
    "connection",
    "content-type",
    "content-length",
    "te",
    "trailer",
    "transfer-encoding",
    "user-agent",
    "date",
    "keep-alive",
    "accept-encoding",
    "accept",
    "content-encoding",
    "expect",
    "origin",
    "upgrade",
];

/// Makes calls to one server, over the core's connections.
#[derive(Clone)]
pub struct Client {
    pools: Rc<Pools>,
    endpoint: Rc<Endpoint>,
    authority: Rc<str>,
    scheme: &'static str,
}

impl Client {
    /// A client of `backend`; connections are made when they are needed.
    pub fn new(backend: &Backend, pools: Rc<Pools>) -> Self {
        let endpoint = Rc::new(backend.endpoint().clone());
        Self { pools, endpoint, authority: backend.authority().into(), scheme: backend.scheme() }
    }

    /// Begins a call of `path` (`/package.Service/Method`).
    ///
    /// # Errors
    /// `unavailable` where no connection can be had.
    pub async fn call(&self, path: &str, metadata: &Metadata, time: Option<Duration>) -> Result<ClientCall, Status> {
        let leased = self.pools.lease(&self.endpoint).await;
        let mut call = leased.map_err(|fault| unavailable(fault.cause()))?;
        call.request(b"POST", self.authority.as_bytes(), self.scheme, path.as_bytes());
        call.field(b"content-type", b"application/grpc");
        call.field(b"te", b"trailers");
        call.field(b"grpc-accept-encoding", b"identity");
        let mut text = String::new();
        if let Some(time) = time {
            timeout::write(time, &mut text);
            call.field(b"grpc-timeout", text.as_bytes());
        }
        for (name, value) in metadata.iter().filter(|(name, _)| is_passed_on(name)) {
            if Metadata::is_binary(name) {
                text.clear();
                binary_value::encode(value, &mut text);
                call.field(name.as_bytes(), text.as_bytes());
            } else {
                call.field(name.as_bytes(), value);
            }
        }
        call.length(Length::Stream);
        Ok(ClientCall {
            call,
            waiting: Outgoing::default(),
            has_ended: false,
            has_head: false,
            headers: Metadata::new(),
            reader: Reader::default(),
            end: None,
        })
    }

    /// A unary call: its reply, and how it ended.
    pub async fn unary(&self, path: &str, metadata: &Metadata, message: &[u8]) -> (Option<Vec<u8>>, Status) {
        let mut call = match self.call(path, metadata, None).await {
            Ok(call) => call,
            Err(status) => return (None, status),
        };
        call.send(message);
        call.end();
        let mut reply = None;
        loop {
            match poll_fn(|cx| call.poll_receive(cx)).await {
                Ok(Some(message)) => reply = Some(message),
                Ok(None) => return (reply, call.status()),
                Err(status) => return (None, status),
            }
        }
    }
}

/// Whether metadata may go on to another server.
pub(crate) fn is_passed_on(name: &str) -> bool {
    !(name.is_empty()
        || name.starts_with(':')
        || name.starts_with("grpc-")
        || name.starts_with("connect-")
        || OWN.contains(&name))
}

/// A call that is under way, driven by one task in both directions.
pub struct ClientCall {
    call: Call,
    /// What is to be sent.
    waiting: Outgoing,
    has_ended: bool,
    has_head: bool,
    headers: Metadata,
    reader: Reader,
    end: Option<(Status, Metadata)>,
}

impl ClientCall {
    /// Queues a message; it leaves while the call is polled.
    pub fn send(&mut self, message: &[u8]) {
        envelope::write(0, message, self.waiting.tail());
    }

    /// Says that no message comes any more, once those that wait have left.
    pub fn end(&mut self) {
        self.has_ended = true;
    }

    /// Bytes that wait to be sent.
    pub fn waiting_bytes(&self) -> usize {
        self.waiting.waiting_bytes()
    }

    /// The headers of the reply; empty before [`ClientCall::poll_receive`] was ready once.
    pub fn headers(&self) -> &Metadata {
        &self.headers
    }

    /// Whether the reply's head has arrived.
    pub fn has_headers(&self) -> bool {
        self.has_head
    }

    /// How the call ended, once `poll_receive` said `None`.
    pub fn status(&self) -> Status {
        self.end.as_ref().map(|(status, _)| status.clone()).unwrap_or(Status::OK)
    }

    /// The trailers, once `poll_receive` said `None`.
    pub fn trailers(&self) -> Metadata {
        self.end.as_ref().map(|(_, trailers)| trailers.clone()).unwrap_or_default()
    }

    /// Sends what waits; ready when nothing does.
    ///
    /// # Errors
    /// `unavailable` where the connection fails.
    pub fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Status>> {
        while self.waiting.waiting_bytes() > 0 {
            let count = ready!(self.call.poll_send(cx, self.waiting.waiting())).map_err(unavailable)?;
            self.waiting.sent(count);
        }
        if std::mem::take(&mut self.has_ended) {
            self.call.end(None);
        }
        self.call.poll_flush(cx).map_err(unavailable)
    }

    /// Waits for the reply's head, and sends what waits meanwhile.
    ///
    /// # Errors
    /// As for [`ClientCall::poll_receive`].
    pub fn poll_headers(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Status>> {
        // What can't be sent now is sent when the connection has room, which wakes the same task.
        if let Poll::Ready(Err(status)) = self.poll_drain(cx) {
            return Poll::Ready(Err(status));
        }
        while !self.has_head {
            let http = ready!(self.call.poll_response(cx)).map_err(unavailable)?;
            if http < 200 {
                continue;
            }
            self.has_head = true;
            let fields = self.call.response().fields();
            let is_grpc = fields.get_named(b"content-type").is_some_and(|kind| kind.starts_with(b"application/grpc"));
            // A head that has the status ends the call ("Trailers-Only").
            if let Some(status) = status::read(fields) {
                self.end = Some((status, metadata(fields)));
            } else if http != 200 || !is_grpc {
                let text = format!("the server answered with HTTP status {http}, which is no gRPC");
                self.end = Some((Status::new(Code::from_http_status(http), text), Metadata::new()));
            } else {
                self.headers = metadata(fields);
            }
        }
        Poll::Ready(Ok(()))
    }

    /// The next message of the reply, and `None` at its end. Sends what waits meanwhile.
    ///
    /// # Errors
    /// `unavailable` where the connection fails, `internal` for what is no gRPC, `resource_exhausted` for a message that is
    /// longer than [`MESSAGE_BYTES_MAX`].
    pub fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Vec<u8>>, Status>> {
        ready!(self.poll_headers(cx))?;
        loop {
            if self.end.is_some() {
                return Poll::Ready(Ok(None));
            }
            let (used, found) = match ready!(self.call.poll_body(cx)).map_err(unavailable)? {
                Piece::Data(bytes) => self.reader.read(bytes, MESSAGE_BYTES_MAX),
                Piece::End => {
                    self.end = Some(self.ending());
                    continue;
                }
            };
            self.call.consume(used);
            match found {
                Found::More => {}
                Found::Whole { flags: 0 } => return Poll::Ready(Ok(Some(self.reader.take()))),
                Found::Whole { .. } => {
                    let text = "the server compressed a message although nothing was offered to it";
                    return Poll::Ready(Err(Status::new(Code::Internal, text)));
                }
                Found::TooLarge { bytes } => {
                    let text = format!("a message of {bytes} bytes is longer than {MESSAGE_BYTES_MAX}");
                    return Poll::Ready(Err(Status::new(Code::ResourceExhausted, text)));
                }
            }
        }
    }

    fn ending(&self) -> (Status, Metadata) {
        if self.reader.is_inside() {
            return (Status::new(Code::Internal, "the reply ended inside a message"), Metadata::new());
        }
        match self.call.trailers().map(|fields| (status::read(fields), metadata(fields))) {
            Some((Some(status), trailers)) => (status, trailers),
            _ => (Status::new(Code::Internal, "the reply ended without a status"), Metadata::new()),
        }
    }
}

/// The metadata among the fields of a reply.
fn metadata(fields: Fields<'_>) -> Metadata {
    let mut metadata = Metadata::new();
    for (_, name, value) in fields.iter() {
        let Ok(name) = std::str::from_utf8(name) else { continue };
        let name = name.to_ascii_lowercase();
        if !is_passed_on(&name) {
            continue;
        }
        if !Metadata::is_binary(&name) {
            metadata.push(&name, value);
            continue;
        }
        let parts = value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
        parts.filter_map(binary_value::decode).for_each(|value| metadata.push(&name, &value));
    }
    metadata
}

fn unavailable(reason: Reason) -> Status {
    Status::new(Code::Unavailable, format!("the server can't be reached, or broke off: {}", reason.code()))
}
