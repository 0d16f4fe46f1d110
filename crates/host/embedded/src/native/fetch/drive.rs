use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll};

use leat_dial::Call;
use leat_message::{Fault, Fields, Length, Piece, Reason, ResponseHead};
use leat_stream::Timer;

use super::event;
use super::exchange::Exchange;
use super::inflate::{Inflate, Inflated};
use super::origin::{Origin, Origins};
use crate::native::view;

/// Bytes of a response that are held before JavaScript asks for them, so that a small one ends without being read.
const READ_AHEAD_BYTES: usize = 64 * 1024;
/// Times that a request is sent again because an unused connection was closed by its server at that moment.
const RETRIES_MAX: usize = 2;
/// Methods that may be sent again (RFC 9110 section 9.2.2).
const IDEMPOTENT: [&str; 6] = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"];

/// What is sent.
pub(super) struct Request {
    pub(super) origin: Origin,
    pub(super) method: String,
    pub(super) path: String,
    pub(super) fields: Vec<(Vec<u8>, Vec<u8>)>,
    pub(super) length: Length,
    /// Whether content codings are undone.
    pub(super) inflates: bool,
    /// Longest wait for a response's head, in milliseconds; 0: for ever.
    pub(super) head_ms: u64,
    /// Longest wait for the next piece of it while JavaScript waits for one; 0: for ever.
    pub(super) idle_ms: u64,
}

/// Why there is no response, or no whole one: a word for JavaScript, which makes the error.
pub(super) struct Problem {
    pub(super) kind: &'static str,
    pub(super) detail: String,
    retries: bool,
}

impl Problem {
    fn new(kind: &'static str, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), retries: false }
    }
}

impl From<Reason> for Problem {
    fn from(reason: Reason) -> Self {
        Fault::from(reason).into()
    }
}

impl From<Fault> for Problem {
    fn from(fault: Fault) -> Self {
        let kind = match fault.reason {
            Reason::UpstreamResolve => "resolve",
            Reason::UpstreamConnect => "connect",
            Reason::UpstreamConnectTime => "connectTime",
            Reason::UpstreamTls => "tls",
            Reason::UpstreamPool => "pool",
            Reason::UpstreamReset => "reset",
            Reason::UpstreamHeadBytes => "headBytes",
            Reason::HandlerFailed => "length",
            _ => "invalid",
        };
        Self { kind, detail: fault.cause().code().into(), retries: matches!(fault.reason, Reason::UpstreamReset) }
    }
}

/// Sends a request and gives its response to JavaScript, to the end of both.
///
/// # Errors
/// Why it did not come to that.
pub(super) async fn drive(exchange: &Exchange, origins: &Origins, request: &Request) -> Result<(), Problem> {
    let endpoint = origins.endpoint(request.origin.clone()).map_err(|error| Problem::new("origin", error))?;
    for tried in 0.. {
        let leased = origins.pools().lease(&endpoint).await;
        let mut call = leased.map_err(Problem::from)?;
        let is_reused = call.was_reused();
        exchange.tell(|_, on| on.call((event::CONNECTED, is_reused)));
        let scheme = if request.origin.is_tls { "https" } else { "http" };
        call.request(request.method.as_bytes(), request.path.as_bytes(), scheme, request.path.as_bytes());
        for (name, value) in &request.fields {
            call.field(name, value);
        }
        call.length(request.length);
        let mut way = Way::new(request, call);
        match way.run(exchange).await {
            Err(problem) if problem.retries && tried < RETRIES_MAX && way.may_retry(is_reused) => {}
            done => return done,
        }
    }
    Ok(())
}

/// What there is to tell JavaScript.
enum Turn {
    /// There is room for more of the request's body.
    Drained,
    /// The whole request was given to the connection.
    Sent,
    Head(u16),
    Data(Vec<u8>),
    End,
}

/// One try.
struct Way<'a> {
    request: &'a Request,
    /// `None` once the response is complete and its connection went back.
    call: Option<Call>,
    piece: Vec<u8>,
    offset: usize,
    is_ending: bool,
    is_sent: bool,
    has_head: bool,
    is_tunnel: bool,
    inflate: Option<Inflate>,
    /// What is compressed has ended: what stands behind it is read only so that the connection can be used again.
    is_inflated: bool,
    ready: Vec<u8>,
    over: Option<Result<(), Problem>>,
    trailers: Vec<String>,
    has_told_end: bool,
    timer: Timer,
    is_timed: bool,
}

impl<'a> Way<'a> {
    fn new(request: &'a Request, call: Call) -> Self {
        let mut way = Self {
            request,
            call: Some(call),
            piece: Vec::new(),
            offset: 0,
            is_ending: false,
            is_sent: false,
            has_head: false,
            is_tunnel: false,
            inflate: None,
            is_inflated: false,
            ready: Vec::new(),
            over: None,
            trailers: Vec::new(),
            has_told_end: false,
            timer: Timer::default(),
            is_timed: false,
        };
        way.time(request.head_ms);
        way
    }

    fn time(&mut self, ms: u64) {
        self.is_timed = ms > 0;
        if self.is_timed {
            self.timer.set_after(ms);
        }
    }

    /// Whether the server can't have seen the request, or it does no harm to send it again.
    fn may_retry(&self, is_reused: bool) -> bool {
        let untouched = self.call.as_ref().is_some_and(|call| !call.response_started() && !call.body_taken());
        is_reused && untouched && IDEMPOTENT.contains(&self.request.method.as_str())
    }

    async fn run(&mut self, exchange: &Exchange) -> Result<(), Problem> {
        loop {
            let turn = poll_fn(|cx| self.poll(cx, exchange)).await?;
            match turn {
                Turn::Head(status) => self.tell_head(exchange, status),
                Turn::Data(bytes) => {
                    if exchange.tell(|ctx, on| on.call((event::DATA, view::uint8_array(ctx, &bytes)?))) {
                        exchange.read();
                    }
                    self.time(self.request.idle_ms);
                }
                Turn::End => {
                    if self.is_sent {
                        // What JavaScript sends next finds the connection free.
                        self.call = None;
                    }
                    let trailers = std::mem::take(&mut self.trailers);
                    exchange.tell(|_, on| on.call((event::END, trailers)));
                    self.has_told_end = true;
                }
                Turn::Drained => _ = exchange.tell(|_, on| on.call((event::DRAINED,))),
                Turn::Sent => _ = exchange.tell(|_, on| on.call((event::SENT,))),
            }
            if exchange.is_over() || self.has_told_end && self.is_sent {
                return Ok(());
            }
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>, exchange: &Exchange) -> Poll<Result<Turn, Problem>> {
        exchange.wait(cx.waker());
        if let Poll::Ready(turn) = self.poll_send(cx, exchange) {
            return Poll::Ready(turn);
        }
        if let Poll::Ready(turn) = self.poll_receive(cx) {
            return Poll::Ready(turn);
        }
        if self.has_told_end {
            return Poll::Pending;
        }
        if !self.ready.is_empty() {
            if exchange.take_want() {
                return Poll::Ready(Ok(Turn::Data(std::mem::take(&mut self.ready))));
            }
            if self.over.is_some() && self.is_sent {
                // The rest needs no connection any more.
                self.call = None;
                exchange.rest();
            }
            return Poll::Pending;
        }
        match self.over.take() {
            Some(Ok(())) => return Poll::Ready(Ok(Turn::End)),
            Some(Err(problem)) => return Poll::Ready(Err(problem)),
            None => {}
        }
        let waits = !self.has_head || exchange.wants();
        if waits && self.is_timed && self.timer.poll_due(cx).is_ready() {
            let kind = if self.has_head { "bodyTime" } else { "headTime" };
            return Poll::Ready(Err(Problem::new(kind, "")));
        }
        Poll::Pending
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, exchange: &Exchange) -> Poll<Result<Turn, Problem>> {
        let Some(call) = &mut self.call else { return Poll::Pending };
        if self.is_sent {
            return Poll::Pending;
        }
        loop {
            if self.offset >= self.piece.len() {
                let Some(piece) = exchange.next_piece() else { break };
                self.piece = piece;
                self.offset = 0;
            }
            match call.poll_send(cx, self.piece.get(self.offset..).unwrap_or_default()) {
                Poll::Ready(Ok(count)) => {
                    self.offset += count;
                    if exchange.sent(count) {
                        return Poll::Ready(Ok(Turn::Drained));
                    }
                }
                Poll::Ready(Err(reason)) => return Poll::Ready(Err(reason.into())),
                Poll::Pending => return Poll::Pending,
            }
        }
        if !self.is_ending && exchange.is_ended() {
            self.is_ending = true;
            call.end(None);
        }
        match call.poll_flush(cx) {
            Poll::Ready(Ok(())) if self.is_ending => {
                self.is_sent = true;
                Poll::Ready(Ok(Turn::Sent))
            }
            Poll::Ready(Err(reason)) => Poll::Ready(Err(reason.into())),
            Poll::Ready(Ok(())) | Poll::Pending => Poll::Pending,
        }
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Result<Turn, Problem>> {
        let Some(call) = &mut self.call else { return Poll::Pending };
        if !self.has_head {
            return call.poll_response(cx).map(|head| head.map(Turn::Head).map_err(Problem::from));
        }
        while self.over.is_none() && self.ready.len() < READ_AHEAD_BYTES {
            if let Some(inflate) = self.inflate.as_mut().filter(|_| !self.is_inflated) {
                match inflate.read() {
                    Ok(Inflated::Data(bytes)) => {
                        if self.ready.is_empty() {
                            self.ready = bytes;
                        } else {
                            self.ready.extend_from_slice(&bytes);
                        }
                        continue;
                    }
                    Ok(Inflated::More) => {}
                    Ok(Inflated::End) => self.is_inflated = true,
                    Err(error) => {
                        self.over = Some(Err(Problem::new("inflate", error.to_string())));
                        continue;
                    }
                }
            }
            let read = match call.poll_body(cx) {
                Poll::Pending => break,
                Poll::Ready(Ok(Piece::Data(bytes))) => {
                    match &self.inflate {
                        Some(_) if self.is_inflated => {}
                        Some(inflate) => inflate.push(bytes),
                        None => self.ready.extend_from_slice(bytes),
                    }
                    bytes.len()
                }
                Poll::Ready(Ok(Piece::End)) => {
                    match &self.inflate {
                        Some(inflate) if !self.is_inflated => inflate.end(),
                        _ => self.over = Some(Ok(())),
                    }
                    self.trailers = call.trailers().map(lines).unwrap_or_default();
                    0
                }
                Poll::Ready(Err(reason)) => {
                    self.over = Some(Err(Problem { retries: false, ..Problem::from(reason) }));
                    0
                }
            };
            call.consume(read);
        }
        Poll::Pending
    }

    fn tell_head(&mut self, exchange: &Exchange, status: u16) {
        let Some(call) = &self.call else { return };
        let head = call.response();
        let reason = latin1(head.reason());
        let fields = lines(head.fields());
        let minor = u8::from(head.lines().version == leat_message::Version::Http11);
        if status < 200 && status != 101 {
            exchange.tell(|_, on| on.call((event::INTERIM, status, reason, fields, minor)));
            return;
        }
        self.has_head = true;
        self.is_tunnel = head.length() == Length::Tunnel;
        if self.request.inflates && !matches!(head.length(), Length::None | Length::Tunnel) {
            self.inflate = codings(&head).and_then(|codings| Inflate::new(&codings));
        }
        if self.is_tunnel {
            exchange.reopen();
            self.is_ending = false;
            self.is_sent = false;
        }
        let is_tunnel = self.is_tunnel;
        self.time(if is_tunnel { 0 } else { self.request.idle_ms });
        if exchange.tell(|_, on| on.call((event::RESPONSE, status, reason, fields, minor, is_tunnel))) {
            exchange.read();
        }
    }
}

fn codings(head: &ResponseHead<'_>) -> Option<String> {
    let lines: Vec<String> = head.fields().get_all(leat_message::Name::ContentEncoding).map(latin1).collect();
    (!lines.is_empty()).then(|| lines.join(","))
}

/// Names and values in turn, in arrival order. Each byte is one character.
fn lines(fields: Fields<'_>) -> Vec<String> {
    fields.iter().flat_map(|(_, name, value)| [latin1(name), latin1(value)]).collect()
}

fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

/// Runs an exchange as a task of this thread.
pub(super) fn start(exchange: &Rc<Exchange>, origins: &Rc<Origins>, request: Request, over: impl FnOnce() + 'static) {
    let running = Rc::clone(exchange);
    let origins = Rc::clone(origins);
    let task = tokio::task::spawn_local(async move {
        let running = Ending { exchange: running, over: Some(over) };
        if let Err(problem) = drive(&running.exchange, &origins, &request).await {
            running.exchange.tell(|_, on| on.call((event::FAILED, problem.kind, problem.detail)));
        }
    });
    exchange.runs_as(task.abort_handle());
}

/// The end of an exchange, also where its task is dropped because its world is lost: what it holds of the world, the world holds.
struct Ending<F: FnOnce()> {
    exchange: Rc<Exchange>,
    over: Option<F>,
}

impl<F: FnOnce()> Drop for Ending<F> {
    fn drop(&mut self) {
        self.exchange.finish();
        if let Some(over) = self.over.take() {
            over();
        }
    }
}
