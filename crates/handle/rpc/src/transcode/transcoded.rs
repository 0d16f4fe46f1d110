use std::future::poll_fn;
use std::mem::MaybeUninit;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use leat_message::{
    Blame, BodyLimits, Exchange, Fault, Fields, Fixed, Head, Layer, Length, Name, OwnedFields, Piece, Reason, Version,
};
use leat_rpc_wire::{Code, Metadata, Status, grpc};
use leat_stream::Timer;
use leat_stream::clock::{NEVER, now_ms};

use super::dialect::{Dialect, Tongue};
use super::download::{Download, Phase};
use super::failure::{Failure, status_of};
use super::head::MadeHead;
use super::reply::{
    self, Refusal, coding_field, content_type, error_body, error_head, grpc_trailers, pass_fields, trailers_in_head,
};
use super::transcoder::{Added, Behind, Transcoder};
use super::upload::{By, Stopped, Upload};
use super::verbatim;

/// How much earlier than the client's deadline an upstream may end the stream because of it, in milliseconds: its clock began
/// with the time that was left.
const DEADLINE_SLACK_MS: u64 = 50;

/// An exchange whose request is gRPC's, whatever the client speaks, and whose response becomes what the client waits for.
///
/// Streams flow message by message with the back pressure of both sides; what is held is bounded by
/// `Settings::message_bytes_max`. The client's deadline ends the call, in its protocol, whether or not the upstream keeps it.
///
/// Costs, where the client does not speak gRPC, a box of the call's state, a copy of the head, and of each message one copy or
/// what its other form takes.
pub struct Transcoded<'a, X> {
    inner: &'a mut X,
    transcoder: &'a Transcoder,
    tongue: Tongue,
    /// `None`: gRPC passes.
    call: Option<Box<Call<'a>>>,
    passing: Passing,
    added: Added<'a>,
}

/// What is noted of a call of gRPC that passes.
#[derive(Clone, Copy, Debug, Default)]
struct Passing {
    deadline_ms: u64,
    /// Whether the reply is gRPC's.
    is_grpc: bool,
}

/// A call that is made for the client.
pub(super) struct Call<'t> {
    transcoder: &'t Transcoder,
    dialect: Dialect<'t>,
    head: MadeHead,
    upload: Upload,
    download: Download,
    failure: Option<Failure>,
    /// Whether a reply's head has been written to the client.
    is_begun: bool,
    timer: Timer,
    deadline_ms: u64,
}

impl<'t> Call<'t> {
    pub(super) fn new(transcoder: &'t Transcoder, dialect: Dialect<'t>, client: Head<'_>) -> Self {
        let deadline_ms = deadline(dialect.timeout);
        let compressing = transcoder.settings().compressing;
        let own = compressing.and_then(|compressing| compressing.coding(&dialect.accepted));
        let program = (transcoder.settings().behind == Behind::Program).then(|| dialect.tongue.name());
        Self {
            head: MadeHead::new(client, dialect.method.path(), &dialect.accepted, dialect.timeout, program),
            upload: Upload::new(dialect.tongue),
            download: Download::new(own),
            failure: None,
            is_begun: false,
            timer: Timer::default(),
            deadline_ms,
            transcoder,
            dialect,
        }
    }

    /// Whether the request is one message without an envelope.
    pub(super) fn is_whole(&self) -> bool {
        match self.dialect.tongue {
            Tongue::Connect(_) => true,
            Tongue::Rest => !self.dialect.method.client_streams(),
            _ => false,
        }
    }

    pub(super) fn begin_stream(&mut self, head: Head<'_>) -> Result<(), Failure> {
        let by = By { transcoder: self.transcoder, dialect: &self.dialect };
        match self.dialect.binding {
            Some(binding) => self.upload.begin(by, binding, head),
            None => Ok(()),
        }
    }

    pub(super) fn whole(&mut self, head: Head<'_>, body: &[u8]) -> Result<(), Failure> {
        let by = By { transcoder: self.transcoder, dialect: &self.dialect };
        self.upload.whole(by, head, body)
    }

    /// Ready when the client's deadline has passed, with what it is told.
    pub(super) fn poll_deadline(&mut self, cx: &mut Context<'_>) -> Poll<Failure> {
        if self.deadline_ms == NEVER {
            return Poll::Pending;
        }
        self.timer.set(self.deadline_ms);
        self.timer.poll_due(cx).map(|()| late())
    }

    /// Whether the reply's head can go before the end of the call is known.
    fn is_stream(&self) -> bool {
        match self.dialect.tongue {
            Tongue::Connect(_) => false,
            Tongue::Rest => self.dialect.method.server_streams(),
            _ => true,
        }
    }

    fn fail(&mut self, failure: Failure) -> Reason {
        let reason = failure.reason;
        self.failure.get_or_insert(failure);
        reason
    }
}

impl<'a, X: Exchange> Transcoded<'a, X> {
    pub(super) fn new(
        inner: &'a mut X,
        transcoder: &'a Transcoder,
        tongue: Tongue,
        call: Option<Box<Call<'a>>>,
        added: Added<'a>,
    ) -> Self {
        let mut passing = Passing { deadline_ms: NEVER, is_grpc: false };
        if call.is_none() {
            let timeout = inner.request().fields().get_named(b"grpc-timeout").and_then(grpc::timeout::read);
            passing.deadline_ms = deadline(timeout);
        }
        Self { inner, transcoder, tongue, call, passing, added }
    }

    /// Ends a call that never began.
    pub(super) async fn fail(mut self, failure: Failure) -> Result<(), Fault> {
        let reason = failure.reason;
        if let Some(call) = &mut self.call {
            call.fail(failure);
        }
        self.finish(Err(reason.into())).await
    }

    /// Ends the call: writes what its end leaves to be written, or tells the client why there is no more. To be called with
    /// what the handler behind it came to.
    ///
    /// # Errors
    /// The client went, or can't be told.
    pub async fn finish(mut self, result: Result<(), Fault>) -> Result<(), Fault> {
        if let Err(fault) = result
            && !self.tells(fault.reason)
        {
            return result;
        }
        let Some(call) = &mut self.call else {
            return match result {
                Ok(()) => Ok(()),
                Err(fault) => self.pass_on(fault),
            };
        };
        if let Err(fault) = result {
            call.fail(told(fault.reason, call.deadline_ms));
        }
        let mut is_cut_off = false;
        if let Some(failure) = call.failure.take() {
            self.inner.record().reason = Some(failure.reason);
            is_cut_off = call.is_begun && !says_end(call);
            call.download.status = Some(failure.status);
        }
        self.write_end();
        poll_fn(|cx| match self.poll_drain(cx) {
            Poll::Pending => self.inner.poll_gone(cx).map(Err),
            ready => ready,
        })
        .await?;
        if is_cut_off {
            return Err(self.inner.record().reason.unwrap_or(Reason::UpstreamRpc).into());
        }
        let trailers = self.call.as_mut().and_then(|call| call.download.http_trailers.take());
        self.inner.end(trailers.as_ref().map(OwnedFields::fields));
        Ok(())
    }

    /// Tells a client of gRPC, whose call passed as it is, why there is no more of its reply.
    fn pass_on(&mut self, fault: Fault) -> Result<(), Fault> {
        let Failure { reason, status } = told(fault.reason, self.passing.deadline_ms);
        if !self.inner.head_sent() {
            self.inner.record().reason = Some(reason);
            reply::refuse(self.transcoder, self.inner, self.tongue, &Refusal::plain(&status), self.added);
            return Ok(());
        }
        // Trailers are the end of a stream of gRPC, also behind half a message. Nobody else would look at them.
        if !self.passing.is_grpc || self.inner.request().version() != Version::Http2 {
            return Err(fault);
        }
        self.inner.record().reason = Some(reason);
        self.inner.end(Some(grpc_trailers(&status, &Metadata::new()).fields()));
        Ok(())
    }

    /// Whether the client can be told of this and its connection goes on. What concerns the connection is the engine's.
    fn tells(&self, reason: Reason) -> bool {
        let is_ours = self.call.as_ref().is_some_and(|call| call.failure.is_some());
        let is_told = matches!(reason, Reason::LimitBodyBytes | Reason::RpcDeadline | Reason::UpstreamRpc);
        is_ours || is_told || reason.status() != 0 && reason.blame() == Blame::Upstream
    }

    /// Writes the end of the reply, all of it where nothing has gone out.
    fn write_end(&mut self) {
        let Some(call) = &mut self.call else { return };
        let tongue = call.dialect.tongue;
        let is_stream = call.is_stream();
        let by_rest = call.dialect.binding.filter(|_| is_stream);
        let mut status = call
            .download
            .status
            .take()
            .unwrap_or_else(|| Status::new(Code::Internal, "the upstream's response has no status"));
        if status.is_ok() && !call.dialect.method.server_streams() && call.download.count != 1 {
            let what = format!("the upstream sent {} messages where one belongs", call.download.count);
            status = Status::new(Code::Internal, what);
        }
        let trailers = std::mem::take(&mut call.download.trailers);
        if let Some(binding) = by_rest {
            if !status.is_ok() && !call.is_begun {
                return self.write_error(&status, &trailers);
            }
            self.write_head();
            if let Some(call) = &mut self.call
                && !binding.gives_bytes()
            {
                let mut error = Vec::new();
                if !status.is_ok() {
                    error_body(call.transcoder, Tongue::Rest, &status, &trailers, &mut error);
                }
                let error = (!status.is_ok()).then_some(error.as_slice());
                let is_first = call.download.count == 0;
                call.dialect.stream.end(error, is_first, &mut call.download.out);
            }
        } else if is_stream {
            self.write_head();
            if let Some(call) = &mut self.call {
                error_body(call.transcoder, tongue, &status, &trailers, &mut call.download.out);
                if let Tongue::Grpc(_) = tongue {
                    call.download.http_trailers = Some(grpc_trailers(&status, &trailers));
                }
            }
        } else if status.is_ok() {
            self.write_message(&trailers);
        } else {
            self.write_error(&status, &trailers);
        }
    }

    /// Writes the head of a stream, once.
    fn write_head(&mut self) {
        let Some(call) = &mut self.call else { return };
        if std::mem::replace(&mut call.is_begun, true) {
            return;
        }
        let by = By { transcoder: call.transcoder, dialect: &call.dialect };
        let tongue = call.dialect.tongue;
        let kind = match call.dialect.binding {
            Some(binding) if binding.gives_bytes() => bytes_type(&call.download.bytes_type),
            Some(_) => call.dialect.stream.content_type().as_bytes(),
            None => content_type(tongue).as_bytes(),
        };
        promise(self.inner, call);
        self.inner.status(200);
        self.inner.field(b"content-type", kind);
        if let Some((name, value)) = call.download.told_coding(by).and_then(|coding| coding_field(tongue, coding)) {
            self.inner.field(name, value);
        }
        pass(self.inner, call, self.added);
        self.inner.length(Length::Stream);
    }

    /// Writes a unary reply.
    fn write_message(&mut self, trailers: &Metadata) {
        let Some(call) = &mut self.call else { return };
        call.is_begun = true;
        let tongue = call.dialect.tongue;
        let kind = match call.dialect.binding {
            Some(binding) if binding.gives_bytes() => bytes_type(&call.download.bytes_type),
            _ => content_type(tongue).as_bytes(),
        };
        promise(self.inner, call);
        self.inner.status(200);
        self.inner.field(b"content-type", kind);
        if let Some((name, value)) = coding_field(tongue, call.download.message_coding) {
            self.inner.field(name, value);
        }
        if call.download.depends_on_codings(By { transcoder: call.transcoder, dialect: &call.dialect }) {
            self.inner.field(b"vary", b"accept-encoding");
        }
        pass(self.inner, call, self.added);
        trailers_in_head(self.inner, tongue, trailers);
        self.inner.length(Length::Known(call.download.message.len() as u64));
        call.download.out = std::mem::take(&mut call.download.message);
        call.download.sent = 0;
    }

    /// Writes an error that is the whole reply.
    fn write_error(&mut self, status: &Status, trailers: &Metadata) {
        let Some(call) = &mut self.call else { return };
        call.is_begun = true;
        let tongue = call.dialect.tongue;
        let mut body = Vec::new();
        error_body(call.transcoder, tongue, status, trailers, &mut body);
        let (http_status, kind) = error_head(tongue, status);
        promise(self.inner, call);
        self.inner.status(http_status);
        self.inner.field(b"content-type", kind.as_bytes());
        pass(self.inner, call, self.added);
        trailers_in_head(self.inner, tongue, trailers);
        self.inner.length(Length::Known(body.len() as u64));
        call.download.out = body;
        call.download.sent = 0;
    }

    /// Sends what was made.
    fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Reason>> {
        let Some(call) = &mut self.call else { return Poll::Ready(Ok(())) };
        let download = &mut call.download;
        while let Some(bytes) = download.out.get(download.sent..).filter(|bytes| !bytes.is_empty()) {
            download.sent += ready!(self.inner.poll_send(cx, bytes))?;
        }
        download.out.clear();
        download.sent = 0;
        Poll::Ready(Ok(()))
    }
}

/// HTTP/1 promises to go on behind the reply only where all of the request is here: what is still on its way may be more than
/// would be read off.
fn promise<X: Exchange>(inner: &mut X, call: &Call<'_>) {
    if !call.upload.has_all() {
        inner.keep_alive(false);
    }
}

/// When a call is over whose client would wait so long.
fn deadline(timeout: Option<Duration>) -> u64 {
    timeout.map_or(NEVER, |timeout| now_ms().saturating_add(u64::try_from(timeout.as_millis()).unwrap_or(NEVER)))
}

/// What the client is told of a failure. A server that keeps the deadline as well ends the stream about when it passes.
fn told(reason: Reason, deadline_ms: u64) -> Failure {
    if reason == Reason::UpstreamReset && deadline_ms <= now_ms().saturating_add(DEADLINE_SLACK_MS) {
        return late();
    }
    reason.into()
}

fn late() -> Failure {
    let status = Status::new(Code::DeadlineExceeded, "the deadline that the client set has passed");
    Failure { reason: Reason::RpcDeadline, status }
}

/// Whether a stream that has begun has a way to say that it failed.
fn says_end(call: &Call<'_>) -> bool {
    !call.dialect.binding.is_some_and(|binding| binding.gives_bytes())
}

/// The upstream's fields, or where it has not answered those that the gateway would have added. A program adds nothing but its
/// own, which win.
fn pass<X: Exchange>(inner: &mut X, call: &Call<'_>, added: Added<'_>) {
    let fields = call.download.fields.fields();
    if fields.is_empty() {
        return added(&mut |name, value| inner.field(name, value));
    }
    pass_fields(inner, fields);
    if call.transcoder.settings().behind == Behind::Program {
        added(&mut |name, value| {
            // What a reply depends on adds up.
            if name == b"vary" || fields.get_named(name).is_none() {
                inner.field(name, value);
            }
        });
    }
}

fn bytes_type(told: &[u8]) -> &[u8] {
    let is_sendable = !told.is_empty() && leat_rpc_wire::field::is_text(told);
    if is_sendable { told } else { b"application/octet-stream" }
}

impl<X: Exchange> Layer for Transcoded<'_, X> {
    type Inner = X;

    fn inner(&self) -> &X {
        self.inner
    }

    fn inner_mut(&mut self) -> &mut X {
        self.inner
    }

    fn request(&self) -> Head<'_> {
        match &self.call {
            Some(call) => call.head.head(),
            None => self.inner.request(),
        }
    }

    fn limit_body(&mut self, limits: BodyLimits) {
        // Set before the first byte was read.
        if self.call.is_none() {
            self.inner.limit_body(limits);
        }
    }

    fn poll_body(&mut self, cx: &mut Context<'_>) -> Poll<Result<Piece<'_>, Reason>> {
        let Some(call) = &mut self.call else { return self.inner.poll_body(cx) };
        let by = By { transcoder: call.transcoder, dialect: &call.dialect };
        match ready!(call.upload.poll(cx, by, self.inner)) {
            Ok(piece) => Poll::Ready(Ok(piece)),
            Err(Stopped::Broken(reason)) => Poll::Ready(Err(reason)),
            Err(Stopped::Wrong(failure)) => {
                let reason = failure.reason;
                call.failure.get_or_insert(failure);
                Poll::Ready(Err(reason))
            }
        }
    }

    fn consume(&mut self, count: usize) {
        match &mut self.call {
            Some(call) => call.upload.consume(count),
            None => self.inner.consume(count),
        }
    }

    fn poll_read(&mut self, cx: &mut Context<'_>, into: &mut [MaybeUninit<u8>]) -> Poll<Result<usize, Reason>> {
        if self.call.is_none() {
            return self.inner.poll_read(cx, into);
        }
        let count = ready!(Layer::poll_body(self, cx))?.copy_to(into);
        Layer::consume(self, count);
        Poll::Ready(Ok(count))
    }

    fn trailers(&self) -> Option<Fields<'_>> {
        if self.call.is_some() { None } else { self.inner.trailers() }
    }

    fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<Reason> {
        if let Some(call) = &mut self.call
            && let Poll::Ready(late) = call.poll_deadline(cx)
        {
            return Poll::Ready(call.fail(late));
        }
        self.inner.poll_gone(cx)
    }

    fn interim(&mut self, status: u16, fields: Fields<'_>) {
        // What the upstream says ahead is of its own protocol.
        if self.call.is_none() {
            self.inner.interim(status, fields);
        }
    }

    fn status(&mut self, status: u16) {
        match &mut self.call {
            Some(call) => call.download.begin(status),
            None => self.inner.status(status),
        }
    }

    fn field(&mut self, name: &[u8], value: &[u8]) {
        match &mut self.call {
            Some(call) => call.download.fields.push(Name::from_bytes(name), name, value),
            None => {
                self.passing.is_grpc |=
                    name.eq_ignore_ascii_case(b"content-type") && value.starts_with(b"application/grpc");
                self.inner.field(name, value);
            }
        }
    }

    fn length(&mut self, length: Length) {
        let Some(call) = &mut self.call else { return self.inner.length(length) };
        if let Err(reason) = call.download.head(length) {
            // What the gateway itself answers in the upstream's place has a reason already.
            let own = *self.inner.record().reason.get_or_insert(reason);
            if own != reason {
                call.download.status = Some(status_of(own));
            }
        }
        let is_at_once = call.is_stream() && call.dialect.tongue != Tongue::Rest && call.download.phase == Phase::Body;
        if is_at_once {
            self.write_head();
        }
    }

    fn body(&mut self, bytes: &[u8]) {
        match &mut self.call {
            // Small replies are the gateway's own: their head has said all.
            Some(call) => call.download.end(None),
            None => self.inner.body(bytes),
        }
    }

    fn fixed(&mut self, fixed: &Fixed) {
        if self.call.is_none() {
            return self.inner.fixed(fixed);
        }
        Layer::status(self, fixed.status());
        for (name, value) in fixed.fields() {
            Layer::field(self, name.as_bytes(), value.as_bytes());
        }
        Layer::length(self, Length::whole(fixed.status(), fixed.body().len()));
        Layer::body(self, fixed.body());
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize, Reason>> {
        if self.call.is_none() {
            return self.inner.poll_send(cx, bytes);
        }
        // Nothing more is made while the client has not taken what there is.
        ready!(self.poll_drain(cx))?;
        let Some(call) = &mut self.call else { return Poll::Ready(Err(Reason::HandlerFailed)) };
        let by = By { transcoder: call.transcoder, dialect: &call.dialect };
        let used = match call.download.feed(by, bytes) {
            Ok(used) => used,
            Err(failure) => return Poll::Ready(Err(call.fail(failure))),
        };
        if !call.download.out.is_empty() {
            self.write_head();
            if let Poll::Ready(Err(reason)) = self.poll_drain(cx) {
                return Poll::Ready(Err(reason));
            }
        }
        Poll::Ready(Ok(used))
    }

    fn end(&mut self, trailers: Option<Fields<'_>>) {
        match &mut self.call {
            Some(call) => call.download.end(trailers),
            None => self.inner.end(trailers),
        }
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Reason>> {
        ready!(self.poll_drain(cx))?;
        self.inner.poll_flush(cx)
    }

    fn verbatim(&mut self, status: u16, head: &[u8]) {
        if self.call.is_none() {
            return self.inner.verbatim(status, head);
        }
        Layer::status(self, status);
        let length = verbatim::each_field(head, |name, value| Layer::field(self, name, value));
        Layer::length(self, length);
    }

    fn keep_alive(&mut self, keep: bool) {
        // What a program says of its connection is about one that only it sees.
        if self.call.is_none() {
            self.inner.keep_alive(keep);
        }
    }

    fn take_over(&mut self) -> bool {
        self.call.is_none() && self.inner.take_over()
    }
}
