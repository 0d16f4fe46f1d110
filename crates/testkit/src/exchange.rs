use std::fmt;
use std::task::{Context, Poll};

use leat_message::{
    Address, BodyLimits, Exchange, Field, Fields, Head, Length, Method, Name, Peer, Piece, Reason, Record, Reply,
    RequestLines, Scheme, Span,
};

/// An exchange without a connection: the test says what the request is and how the client behaves, the code under test
/// answers, the test looks at what it wrote. Asserts that the reply is written in the order of the contract.
pub struct RecordedExchange {
    bytes: Vec<u8>,
    lines: RequestLines,
    peer: Peer,
    record: Record,
    request_body: Vec<u8>,
    consumed: usize,
    piece_max: usize,
    is_late: bool,
    send_max: usize,
    is_stalled: bool,
    gone_after: Option<usize>,
    on_send: Option<Box<dyn FnMut(usize)>>,
    stage: Stage,
    status: u16,
    fields: Vec<(Vec<u8>, Vec<u8>)>,
    length: Length,
    body: Vec<u8>,
    trailers: Vec<(Vec<u8>, Vec<u8>)>,
    interims: Vec<u16>,
    verbatim: Vec<u8>,
    keeps_alive: bool,
    waives_continue: bool,
    is_taken_over: bool,
    reads_on: bool,
    body_fault: Option<Reason>,
}

/// How far the reply is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Start,
    Head,
    Body,
    Ended,
}

impl RecordedExchange {
    /// A request with a method and an origin-form target, to `example.org`, from 127.0.0.1.
    pub fn new(method: &str, target: &str) -> Self {
        let mut this = Self {
            bytes: Vec::new(),
            lines: RequestLines { method: Method::from_bytes(method.as_bytes()), ..RequestLines::default() },
            peer: Peer {
                remote: Address::Ip(([127, 0, 0, 1], 40_000).into()),
                local: Address::Ip(([127, 0, 0, 1], 80).into()),
                scheme: Scheme::Http,
                tls: None,
            },
            record: Record::default(),
            request_body: Vec::new(),
            consumed: 0,
            piece_max: usize::MAX,
            is_late: false,
            send_max: usize::MAX,
            is_stalled: false,
            gone_after: None,
            on_send: None,
            stage: Stage::Start,
            status: 0,
            fields: Vec::new(),
            length: Length::None,
            body: Vec::new(),
            trailers: Vec::new(),
            interims: Vec::new(),
            verbatim: Vec::new(),
            keeps_alive: true,
            waives_continue: false,
            is_taken_over: false,
            reads_on: false,
            body_fault: None,
        };
        this.lines.method_span = this.put(method.as_bytes());
        this.lines.target = this.put(target.as_bytes());
        let (start, end) = (this.lines.target.start, this.lines.target.end);
        let path_end = target.find('?').map_or(end, |at| start + at as u32);
        this.lines.path = Span { start, end: path_end };
        this.lines.query = (path_end < end).then_some(Span { start: path_end + 1, end });
        this.lines.authority = this.put(b"example.org");
        this.with_field("host", "example.org")
    }

    /// Adds a field line to the request.
    pub fn with_field(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        let id = Name::from_bytes(name.as_bytes());
        let field = Field { id, name: self.put(name.as_bytes()), value: self.put(value.as_ref()) };
        self.lines.fields.push(field);
        self
    }

    /// Gives the request a body.
    pub fn with_body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.request_body = body.into();
        self.lines.length = Length::Known(self.request_body.len() as u64);
        self
    }

    /// Gives the request a body whose length nobody knows before its end.
    pub fn with_streamed_body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self = self.with_body(body);
        self.lines.length = Length::Stream;
        self
    }

    /// The request's body comes in pieces of so many bytes, and nothing at every other try.
    pub fn with_slow_upload(mut self, piece_max: usize) -> Self {
        self.piece_max = piece_max;
        self
    }

    /// The client takes at most so many bytes at a time, and nothing at every other try.
    pub fn with_slow_client(mut self, send_max: usize) -> Self {
        self.send_max = send_max;
        self
    }

    /// The client goes away once it has so many bytes of the body.
    pub fn with_client_gone_after(mut self, bytes: usize) -> Self {
        self.gone_after = Some(bytes);
        self
    }

    /// As over HTTP/2: the request may be read on behind the reply's end.
    pub fn with_directions_apart(mut self) -> Self {
        self.reads_on = true;
        self
    }

    /// The request's body breaks off behind its bytes.
    pub fn with_broken_upload(mut self, reason: Reason) -> Self {
        self.body_fault = Some(reason);
        self
    }

    /// What the record says was wrong.
    pub fn recorded_reason(&self) -> Option<Reason> {
        self.record.reason
    }

    /// Calls `act` with the bytes taken so far, each time before more are taken.
    pub fn with_act_on_send(mut self, act: impl FnMut(usize) + 'static) -> Self {
        self.on_send = Some(Box::new(act));
        self
    }

    /// The status of the reply; 0 if there is none.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The value of a reply field; `None` if it is missing.
    pub fn reply_field(&self, name: &str) -> Option<&str> {
        let mut values = self.fields.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name.as_bytes()));
        let value = values.next().and_then(|(_, value)| std::str::from_utf8(value).ok());
        assert!(values.next().is_none(), "{name} stands twice in {:?}", self.fields);
        value
    }

    /// The reply's field lines.
    pub fn reply_fields(&self) -> &[(Vec<u8>, Vec<u8>)] {
        &self.fields
    }

    /// The announced length of the reply.
    pub fn reply_length(&self) -> Length {
        self.length
    }

    /// The body as far as it was sent.
    pub fn reply_body(&self) -> &[u8] {
        &self.body
    }

    /// The trailers of the reply.
    pub fn reply_trailers(&self) -> &[(Vec<u8>, Vec<u8>)] {
        &self.trailers
    }

    /// The interim responses.
    pub fn interims(&self) -> &[u16] {
        &self.interims
    }

    /// The final head that the code under test formatted itself; empty if it did not.
    pub fn verbatim_head(&self) -> &[u8] {
        &self.verbatim
    }

    /// Whether the connection may go on after the reply.
    pub fn keeps_alive(&self) -> bool {
        self.keeps_alive
    }

    /// Whether the code under test answers `Expect: 100-continue` itself.
    pub fn waives_continue(&self) -> bool {
        self.waives_continue
    }

    /// Whether the exchange is opaque bytes now.
    pub fn is_taken_over(&self) -> bool {
        self.is_taken_over
    }

    /// Whether the reply was ended, with as many bytes as were announced (none for HEAD, 204 and 304).
    pub fn is_complete(&self) -> bool {
        let is_bodiless = self.lines.method == Method::Head || matches!(self.status, 204 | 304);
        let expected = match self.length {
            _ if is_bodiless => Some(0),
            Length::Known(count) => Some(count),
            Length::None => Some(0),
            Length::Stream | Length::Close | Length::Tunnel => None,
        };
        self.stage == Stage::Ended && expected.is_none_or(|count| self.body.len() as u64 == count)
    }

    fn put(&mut self, bytes: &[u8]) -> Span {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        Span::new(start, self.bytes.len())
    }

    fn is_gone(&self) -> bool {
        self.gone_after.is_some_and(|bytes| self.body.len() >= bytes)
    }
}

impl fmt::Debug for RecordedExchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let fields: Vec<_> = self.fields.iter().map(|(name, value)| (text(name), text(value))).collect();
        f.debug_struct("RecordedExchange")
            .field("stage", &self.stage)
            .field("status", &self.status)
            .field("fields", &fields)
            .field("length", &self.length)
            .field("body_bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

impl Reply for RecordedExchange {
    fn status(&mut self, status: u16) {
        assert_eq!(self.stage, Stage::Start, "a second final head");
        assert!((200..600).contains(&status) || status == 101, "{status} is no final status");
        self.stage = Stage::Head;
        self.status = status;
        self.record.status = status;
    }

    fn field(&mut self, name: &[u8], value: &[u8]) {
        assert_eq!(self.stage, Stage::Head, "a field outside the head");
        let is_legal = |bytes: &[u8]| !bytes.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0));
        assert!(is_legal(name) && is_legal(value), "a field that splits the head");
        let is_framing = [&b"content-length"[..], b"transfer-encoding", b"connection"]
            .iter()
            .any(|framing| name.eq_ignore_ascii_case(framing));
        assert!(!is_framing, "the framing fields belong to the connection");
        self.fields.push((name.to_vec(), value.to_vec()));
    }

    fn length(&mut self, length: Length) {
        assert_eq!(self.stage, Stage::Head, "a length outside the head");
        self.stage = Stage::Body;
        self.length = length;
    }

    fn body(&mut self, bytes: &[u8]) {
        assert_eq!(self.stage, Stage::Body, "a body outside its place");
        assert!(self.body.is_empty(), "body is called once");
        if self.lines.method != Method::Head {
            self.body.extend_from_slice(bytes);
        }
        self.stage = Stage::Ended;
    }

    fn body_with_trailers(&mut self, parts: &[&[u8]], trailers: Fields<'_>) {
        assert_eq!(self.length, Length::Stream, "trailers behind a known length");
        self.body(&parts.concat());
        self.stage = Stage::Body;
        self.end(Some(trailers));
    }

    fn record(&mut self) -> &mut Record {
        &mut self.record
    }
}

impl Exchange for RecordedExchange {
    fn request(&self) -> Head<'_> {
        Head::new(&self.bytes, &self.lines)
    }

    fn peer(&self) -> &Peer {
        &self.peer
    }

    fn limit_body(&mut self, _limits: BodyLimits) {}

    fn poll_body(&mut self, cx: &mut Context<'_>) -> Poll<Result<Piece<'_>, Reason>> {
        if self.piece_max != usize::MAX {
            self.is_late = !self.is_late;
            if self.is_late {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
        Poll::Ready(Ok(match self.request_body.get(self.consumed..) {
            Some(rest) if !rest.is_empty() => Piece::Data(rest.get(..self.piece_max).unwrap_or(rest)),
            _ => match self.body_fault {
                Some(reason) => return Poll::Ready(Err(reason)),
                None => Piece::End,
            },
        }))
    }

    fn poll_gone(&mut self, _cx: &mut Context<'_>) -> Poll<Reason> {
        if self.is_gone() { Poll::Ready(Reason::PeerReset) } else { Poll::Pending }
    }

    fn consume(&mut self, count: usize) {
        self.consumed += count;
        assert!(self.consumed <= self.request_body.len(), "more is consumed than was lent");
    }

    fn trailers(&self) -> Option<Fields<'_>> {
        None
    }

    fn interim(&mut self, status: u16, _fields: Fields<'_>) {
        self.interims.push(status);
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize, Reason>> {
        assert_eq!(self.stage, Stage::Body, "body bytes outside their place");
        assert!(!bytes.is_empty(), "nothing to send");
        if self.is_gone() {
            return Poll::Ready(Err(Reason::PeerReset));
        }
        if self.send_max != usize::MAX {
            self.is_stalled = !self.is_stalled;
            if self.is_stalled {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
        if let Some(act) = &mut self.on_send {
            act(self.body.len());
        }
        let taken = bytes.get(..self.send_max).unwrap_or(bytes);
        self.body.extend_from_slice(taken);
        if let Length::Known(count) = self.length {
            assert!(self.body.len() as u64 <= count, "more than the announced {count} bytes");
        }
        Poll::Ready(Ok(taken.len()))
    }

    fn end(&mut self, trailers: Option<Fields<'_>>) {
        assert_eq!(self.stage, Stage::Body, "an end outside the body");
        self.stage = Stage::Ended;
        let trailers = trailers.into_iter().flatten();
        self.trailers.extend(trailers.map(|(_, name, value)| (name.to_vec(), value.to_vec())));
    }

    fn reads_on(&self) -> bool {
        self.reads_on && self.stage == Stage::Ended
    }

    fn poll_flush(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Reason>> {
        Poll::Ready(Ok(()))
    }

    fn head_sent(&self) -> bool {
        !self.body.is_empty()
    }

    fn verbatim(&mut self, status: u16, head: &[u8]) {
        assert_eq!(self.stage, Stage::Start, "a second final head");
        self.stage = Stage::Body;
        self.status = status;
        self.record.status = status;
        self.length = Length::Close;
        self.verbatim.extend_from_slice(head);
    }

    fn keep_alive(&mut self, keep: bool) {
        assert_ne!(self.stage, Stage::Ended, "the reply has ended");
        self.keeps_alive &= keep;
    }

    fn interim_verbatim(&mut self, status: u16, _head: &[u8]) {
        self.interim(status, Fields::new(&[], &[]));
    }

    fn waive_continue(&mut self) {
        self.waives_continue = true;
    }

    fn take_over(&mut self) -> bool {
        assert!(matches!(self.stage, Stage::Start | Stage::Body), "the reply has ended");
        self.stage = Stage::Body;
        self.length = Length::Tunnel;
        self.is_taken_over = true;
        true
    }
}
