use std::future::poll_fn;
use std::mem::MaybeUninit;
use std::task::{Context, Poll, ready};

use leat_message::{
    BodyLimits, Exchange, Fault, Fields, Head, Layer, Length, Method, Name, OwnedFields, Piece, Reason, Reply,
};

use super::body::{BodyRule, RequestBody};
use super::changes::{Changed, takes_coding};
use super::rewritten::Rewritten;
use super::{Decision, Patch, PluginRun, respond};
use crate::admit::FieldLines;
use crate::edited::Edited;
use crate::proxy::Edits;

/// Bytes of a body that are read to no end where a plug-in's body takes their place, so that the connection they come from can be
/// used again; from there on it is closed.
const SWALLOWED_BYTES_MAX: u64 = 64 * 1024;
/// Memory of a body that is kept for another request.
const SPARE_BODY_BYTES_MAX: usize = 64 * 1024;

/// An exchange that plug-ins look at: who answers sees the request as they left it, and the client the response as they left it. Where
/// they want to see the response, its head is held back until they have; else it passes.
pub(crate) struct Plugged<'a, X, R> {
    inner: &'a mut X,
    run: R,
    spare: Spare,
    /// Fields of the route's checks, which every reply has.
    added: Option<&'a FieldLines>,
    is_rewritten: bool,
    request_body: RequestBody,
    rule: BodyRule,
    state: State,
    /// What answers has written a whole body with the head.
    is_whole: bool,
    /// What answers has written all of its response.
    ended: Ended,
    /// Plug-ins were given the response's body.
    is_read: bool,
}

/// Memory of a plugged exchange, used again for others. Boxed: it would make every exchange's future larger.
#[derive(Debug, Default)]
pub(crate) struct Spare(Box<Memory>);

#[derive(Debug, Default)]
struct Memory {
    request: Rewritten,
    response: Changed,
    /// Where the response's fields are changed.
    changed: Changed,
    status: u16,
    length: Length,
    /// What came of the body while the head is held back, or what a plug-in put in its place.
    body: Vec<u8>,
    trailers: OwnedFields,
}

/// Where the response is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Everything passes.
    Through,
    /// The head is written, to be shown.
    Head,
    /// Plug-ins have seen the head, and one waits; `for_body`: for the body, which is put together.
    Waiting { for_body: bool },
    /// What was held back of the body goes out, from this byte on; then everything passes.
    Replay { sent: usize },
    /// A plug-in's body is sent, from this byte on; what comes from inside goes nowhere, so many bytes until now.
    Replaced { sent: usize, swallowed: u64, done: bool },
    /// A plug-in failed: nothing goes out.
    Failed(Reason),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    No,
    Yes,
    WithTrailers,
}

impl<'a, X: Exchange, R: PluginRun> Plugged<'a, X, R> {
    /// `run` has decided on the request: that it goes on as it is, or changed.
    pub(crate) fn new(
        inner: &'a mut X,
        run: R,
        mut spare: Spare,
        added: Option<&'a FieldLines>,
        (mut request_body, rule): (RequestBody, BodyRule),
    ) -> Self {
        let patch = if run.decision() == Decision::Changed { run.patch() } else { None };
        let is_rewritten = patch.is_some();
        if let Some(patch) = &patch {
            spare.0.request.copy(inner.request());
            spare.0.request.change(patch);
            if let Some(body) = patch.body() {
                request_body.put(body);
            }
        }
        drop(patch);
        let (state, ended) = (State::Through, Ended::No);
        let (is_whole, is_read) = (false, false);
        Self { inner, run, spare, added, is_rewritten, request_body, rule, state, is_whole, ended, is_read }
    }

    /// What answers has come to its end. Gives back the memory.
    ///
    /// # Errors
    /// As of the handler's exchange.
    pub(crate) async fn finish(mut self, result: Result<(), Fault>) -> (Result<(), Fault>, Spare) {
        if result.is_ok() && self.state == (State::Waiting { for_body: true }) {
            self.gathered();
        }
        let result = match result {
            Ok(()) => poll_fn(|cx| self.poll_out(cx)).await.map_err(Fault::from),
            Err(_) if matches!(self.state, State::Replaced { .. }) => {
                poll_fn(|cx| self.poll_out(cx)).await.map_err(Fault::from)
            }
            Err(fault) if self.state == State::Through && !self.inner.head_sent() && self.run.wants_response() => {
                self.without_response(fault).await
            }
            Err(fault) => {
                self.run.leave(fault.reason);
                Err(fault)
            }
        };
        // A body is rare, and no other request wants so much memory.
        if self.spare.0.body.capacity() > SPARE_BODY_BYTES_MAX {
            self.spare.0.body = Vec::new();
        }
        (result, self.spare)
    }

    /// There is no response; a plug-in may have one.
    async fn without_response(&mut self, fault: Fault) -> Result<(), Fault> {
        self.run.no_response(fault.reason);
        let decision = poll_fn(|cx| self.run.poll_decided(cx)).await;
        match (decision, self.run.patch()) {
            // Where nobody is there to hear, the fault has no status.
            (Decision::Respond, Some(patch)) if fault.reason.status() != 0 => {
                let edits = Edits::default();
                respond(&patch, &mut Edited::new(self.inner, &edits, self.added)).await
            }
            (Decision::Failed(reason), _) if fault.reason.status() != 0 => Err(reason.into()),
            _ => Err(fault),
        }
    }

    /// Writes out what is held back.
    fn poll_out(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Reason>> {
        if let State::Waiting { .. } = self.state {
            ready!(self.poll_waiting(cx));
        }
        match self.state {
            State::Replay { .. } => self.poll_replay(cx),
            State::Replaced { .. } => self.poll_replaced(cx),
            State::Failed(reason) => Poll::Ready(Err(reason)),
            State::Through | State::Head | State::Waiting { .. } => Poll::Ready(Ok(())),
        }
    }

    /// Ready once it is known what becomes of the head that is held back.
    fn poll_waiting(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while let State::Waiting { for_body } = self.state {
            if for_body {
                // Whoever answers wakes when there is more of it.
                return Poll::Pending;
            }
            let decision = ready!(self.run.poll_decided(cx));
            self.decided(decision);
        }
        Poll::Ready(())
    }

    /// Sends what was held back of the body; ready once it is out.
    fn poll_replay(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Reason>> {
        while let State::Replay { sent } = self.state {
            let rest = self.spare.0.body.get(sent..).unwrap_or_default();
            if rest.is_empty() {
                self.state = State::Through;
                self.end_as_before();
                break;
            }
            let count = ready!(self.inner.poll_send(cx, rest))?;
            self.state = State::Replay { sent: sent + count };
        }
        Poll::Ready(Ok(()))
    }

    /// Ends the response if what answers has ended it while it was held back.
    fn end_as_before(&mut self) {
        match self.ended {
            Ended::No => {}
            Ended::Yes => self.inner.end(None),
            Ended::WithTrailers => {
                self.inner.end(Some(self.spare.0.trailers.fields()));
            }
        }
    }

    /// The head is out as it is to be, and what was held back of the body follows.
    fn go_on(&mut self) {
        self.state = State::Through;
        let held = &self.spare.0.body;
        if !self.is_whole && !held.is_empty() {
            self.state = State::Replay { sent: 0 };
            return;
        }
        if self.is_whole {
            self.inner.body(held);
        }
        self.end_as_before();
    }

    /// All of the response's body is there.
    fn gathered(&mut self) {
        self.is_read = true;
        let decision = self.run.body(Some(self.spare.0.body.clone()));
        self.decided(decision);
    }

    /// The response's body is longer than plug-ins may read.
    fn too_long(&mut self) {
        if self.rule.passes {
            let decision = self.run.body(None);
            self.decided(decision);
        } else {
            self.run.leave(Reason::PluginResponseBody);
            self.state = State::Failed(Reason::PluginResponseBody);
        }
    }

    /// A plug-in waits for the response's body.
    fn wants_body(&mut self) {
        let bytes_max = self.rule.bytes_max as u64;
        match self.spare.0.length {
            // What is in a tunnel is no body.
            Length::Tunnel => {
                let decision = self.run.body(None);
                self.decided(decision);
            }
            _ if self.is_whole || self.ended != Ended::No => self.gathered(),
            Length::Known(count) if count > bytes_max && self.inner.request().method() != Method::Head => {
                self.too_long();
            }
            _ => self.state = State::Waiting { for_body: true },
        }
    }

    /// Sends a plug-in's body; ready once it is out.
    fn poll_replaced(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Reason>> {
        while let State::Replaced { sent, swallowed, done: false } = self.state {
            let rest = self.spare.0.body.get(sent..).unwrap_or_default();
            let count = if rest.is_empty() { 0 } else { ready!(self.inner.poll_send(cx, rest))? };
            let done = count == rest.len();
            self.state = State::Replaced { sent: sent + count, swallowed, done };
            if done {
                self.inner.end(None);
            }
        }
        Poll::Ready(Ok(()))
    }

    /// What becomes of the response whose head is held back.
    fn decided(&mut self, decision: Decision) {
        match decision {
            Decision::Pending => self.state = State::Waiting { for_body: false },
            Decision::WantsBody => self.wants_body(),
            Decision::Failed(reason) => self.state = State::Failed(reason),
            Decision::Unchanged | Decision::Changed | Decision::Respond => {
                if self.write_head(decision) {
                    self.go_on();
                }
            }
        }
    }

    /// Writes the head, changed where it is to be; says whether the body behind it is the one that there is.
    fn write_head(&mut self, decision: Decision) -> bool {
        let memory = &mut *self.spare.0;
        let patch = if decision == Decision::Unchanged { None } else { self.run.patch() };
        let Some(patch) = patch else {
            write(self.inner, memory.status, memory.response.fields(), memory.length);
            return true;
        };
        let status = patch.status().unwrap_or(memory.status);
        let replaced = patch.body();
        if memory.length == Length::Tunnel && (replaced.is_some() || status != memory.status) {
            // The protocol is another one from here on: there is nothing left to answer with.
            self.state = State::Failed(Reason::PluginFailed);
            return false;
        }
        memory.changed.clear();
        let none = Fields::new(&[], &[]);
        let fields = if decision == Decision::Respond { none } else { memory.response.fields() };
        let plain = takes_coding(&patch);
        // A length is told of a body that is not sent only to HEAD and with 304, and never with 204 (RFC 9110 section 8.6).
        let is_told = self.inner.request().method() == Method::Head || status == 304;
        let is_stale = status == 204 || memory.length == Length::None && !is_told;
        memory.changed.take(fields, &patch, |id| {
            (replaced.is_some() || is_stale) && id == Name::ContentLength || plain && id == Name::ContentEncoding
        });
        if decision == Decision::Respond {
            for (name, value) in self.added.into_iter().flat_map(FieldLines::iter) {
                memory.changed.push(Name::from_bytes(name), name, value);
            }
        }
        if let Some(body) = replaced {
            memory.body.clear();
            memory.body.extend_from_slice(body);
            memory.length = Length::Known(body.len() as u64);
            // What was made of a body that did not come says nothing of the length that it would have.
            let has_none = self.inner.request().method() == Method::Head || status == 304;
            if self.is_read && has_none || status == 204 {
                memory.length = Length::None;
            }
            self.state = State::Replaced { sent: 0, swallowed: 0, done: false };
        }
        write(self.inner, status, memory.changed.fields(), memory.length);
        replaced.is_none()
    }

    /// The client may have begun to send the body that it was to wait with.
    fn look_at_expect(&mut self) {
        if self.is_rewritten {
            self.spare.0.request.expects_continue(self.inner.request().lines().expect_continue);
        }
    }
}

fn write<R: Reply>(reply: &mut R, status: u16, fields: Fields<'_>, length: Length) {
    reply.status(status);
    for (_, name, value) in fields {
        reply.field(name, value);
    }
    reply.length(length);
}

impl<X: Exchange, R: PluginRun> Layer for Plugged<'_, X, R> {
    type Inner = X;

    fn inner(&self) -> &X {
        self.inner
    }

    fn inner_mut(&mut self) -> &mut X {
        self.inner
    }

    fn status(&mut self, status: u16) {
        if !self.run.wants_response() {
            return self.inner.status(status);
        }
        self.state = State::Head;
        self.spare.0.status = status;
        self.spare.0.response.clear();
        self.spare.0.body.clear();
        (self.is_whole, self.ended) = (false, Ended::No);
    }

    fn field(&mut self, name: &[u8], value: &[u8]) {
        match self.state {
            State::Through => self.inner.field(name, value),
            State::Head => self.spare.0.response.push(Name::from_bytes(name), name, value),
            _ => {}
        }
    }

    fn length(&mut self, length: Length) {
        match self.state {
            State::Through => self.inner.length(length),
            State::Head => {
                let memory = &mut *self.spare.0;
                memory.length = length;
                let decision = self.run.response(memory.status, memory.response.fields());
                self.decided(decision);
            }
            _ => {}
        }
    }

    fn body(&mut self, bytes: &[u8]) {
        match self.state {
            State::Through => self.inner.body(bytes),
            State::Waiting { for_body } => {
                self.is_whole = true;
                self.spare.0.body.clear();
                self.spare.0.body.extend_from_slice(bytes);
                match for_body {
                    true if bytes.len() > self.rule.bytes_max => self.too_long(),
                    true => self.gathered(),
                    false => {}
                }
            }
            _ => {}
        }
    }

    fn request(&self) -> Head<'_> {
        if self.is_rewritten { self.spare.0.request.head() } else { self.inner.request() }
    }

    fn limit_body(&mut self, limits: BodyLimits) {
        // It has its limits where it was read already.
        if self.request_body.is_untouched() {
            self.inner.limit_body(limits);
        }
    }

    fn poll_body(&mut self, cx: &mut Context<'_>) -> Poll<Result<Piece<'_>, Reason>> {
        self.look_at_expect();
        match self.request_body.piece() {
            Some(piece) => Poll::Ready(Ok(piece)),
            None => self.inner.poll_body(cx),
        }
    }

    fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<Reason> {
        let gone = self.inner.poll_gone(cx);
        self.look_at_expect();
        gone
    }

    fn consume(&mut self, count: usize) {
        let rest = self.request_body.consume(count);
        if rest > 0 {
            self.inner.consume(rest);
        }
    }

    fn poll_read(&mut self, cx: &mut Context<'_>, into: &mut [MaybeUninit<u8>]) -> Poll<Result<usize, Reason>> {
        match self.request_body.piece() {
            Some(piece) => {
                let count = piece.copy_to(into);
                self.request_body.consume(count);
                Poll::Ready(Ok(count))
            }
            None => self.inner.poll_read(cx, into),
        }
    }

    fn trailers(&self) -> Option<Fields<'_>> {
        if self.request_body.is_put() { None } else { self.inner.trailers() }
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize, Reason>> {
        loop {
            match &mut self.state {
                State::Waiting { for_body: true } => {
                    let held = &mut self.spare.0.body;
                    if held.len() + bytes.len() <= self.rule.bytes_max {
                        held.extend_from_slice(bytes);
                        return Poll::Ready(Ok(bytes.len()));
                    }
                    self.too_long();
                }
                State::Waiting { for_body: false } => {
                    let decision = ready!(self.run.poll_decided(cx));
                    self.decided(decision);
                }
                State::Replay { .. } => ready!(self.poll_replay(cx))?,
                State::Replaced { done: false, .. } => ready!(self.poll_replaced(cx))?,
                State::Replaced { swallowed, .. } => {
                    *swallowed += bytes.len() as u64;
                    // What answers gives up, and `finish` knows that the reply is whole all the same.
                    let enough = *swallowed > SWALLOWED_BYTES_MAX;
                    return Poll::Ready(if enough { Err(Reason::PluginFailed) } else { Ok(bytes.len()) });
                }
                State::Failed(reason) => return Poll::Ready(Err(*reason)),
                State::Through | State::Head => return self.inner.poll_send(cx, bytes),
            }
        }
    }

    fn end(&mut self, trailers: Option<Fields<'_>>) {
        match self.state {
            State::Through | State::Head => self.inner.end(trailers),
            State::Waiting { .. } | State::Replay { .. } => {
                self.ended = Ended::Yes;
                if let Some(trailers) = trailers {
                    self.ended = Ended::WithTrailers;
                    self.spare.0.trailers.clear();
                    self.spare.0.trailers.extend(trailers);
                }
                if self.state == (State::Waiting { for_body: true }) {
                    self.gathered();
                }
            }
            State::Replaced { .. } | State::Failed(_) => {}
        }
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Reason>> {
        ready!(self.poll_out(cx))?;
        let flushed = self.inner.poll_flush(cx);
        self.look_at_expect();
        flushed
    }

    fn head_sent(&self) -> bool {
        // One that is held back can't be written again either.
        self.state != State::Through || self.inner.head_sent()
    }
}
