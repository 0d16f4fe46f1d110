use std::future::poll_fn;
use std::task::{Context, Poll, ready};

use leat_message::{Exchange, Fault, Fields, Head, Layer, Length, Name, OwnedFields, Piece, Reason, Reply};

use super::changes::Changed;
use super::rewritten::Rewritten;
use super::{Decision, Patch, PluginRun, respond};
use crate::admit::FieldLines;
use crate::edited::Edited;
use crate::proxy::Edits;

/// Bytes of a body that are read to no end where a plug-in's body takes their place, so that the connection they come from can be
/// used again; from there on it is closed.
const SWALLOWED_BYTES_MAX: u64 = 64 * 1024;

/// An exchange that plug-ins look at: who answers sees the request as they left it, and the client the response as they left it. Where
/// they want to see the response, its head is held back until they have; else it passes.
pub(crate) struct Plugged<'a, X, R> {
    inner: &'a mut X,
    run: R,
    spare: Spare,
    /// Fields of the route's checks, which every reply has.
    added: Option<&'a FieldLines>,
    is_rewritten: bool,
    state: State,
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
    /// A whole body that came with the head, or the one that a plug-in put in its place.
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
    /// Plug-ins have seen the head, and one waits. `ended`: what answers has written all of its response.
    Waiting { has_body: bool, ended: Ended },
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
    pub(crate) fn new(inner: &'a mut X, run: R, mut spare: Spare, added: Option<&'a FieldLines>) -> Self {
        let patch = if run.decision() == Decision::Changed { run.patch() } else { None };
        let is_rewritten = patch.is_some();
        if let Some(patch) = &patch {
            spare.0.request.take(inner.request(), patch);
        }
        drop(patch);
        Self { inner, run, spare, added, is_rewritten, state: State::Through }
    }

    /// What answers has come to its end. Gives back the memory.
    ///
    /// # Errors
    /// As of the handler's exchange.
    pub(crate) async fn finish(mut self, result: Result<(), Fault>) -> (Result<(), Fault>, Spare) {
        let result = match result {
            Ok(()) => poll_fn(|cx| self.poll_out(cx)).await.map_err(Fault::from),
            Err(_) if matches!(self.state, State::Replaced { .. }) => {
                poll_fn(|cx| self.poll_out(cx)).await.map_err(Fault::from)
            }
            Err(fault) if self.state == State::Through && !self.inner.head_sent() && self.run.wants_response() => {
                self.without_response(fault).await
            }
            Err(fault) => Err(fault),
        };
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
            State::Replaced { .. } => self.poll_replaced(cx),
            State::Failed(reason) => Poll::Ready(Err(reason)),
            State::Through | State::Head | State::Waiting { .. } => Poll::Ready(Ok(())),
        }
    }

    /// Ready once the head that is held back is out.
    fn poll_waiting(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let decision = ready!(self.run.poll_decided(cx));
        let State::Waiting { has_body, ended } = self.state else { return Poll::Ready(()) };
        self.decided(decision);
        if self.state == State::Through {
            if has_body {
                self.inner.body(&self.spare.0.body);
            }
            match ended {
                Ended::No => {}
                Ended::Yes => self.inner.end(None),
                Ended::WithTrailers => {
                    self.inner.end(Some(self.spare.0.trailers.fields()));
                }
            }
        }
        Poll::Ready(())
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
        let memory = &mut *self.spare.0;
        let patch = match decision {
            Decision::Pending => {
                self.state = State::Waiting { has_body: false, ended: Ended::No };
                return;
            }
            Decision::Failed(reason) => {
                self.state = State::Failed(reason);
                return;
            }
            Decision::Unchanged => None,
            Decision::Changed | Decision::Respond => self.run.patch(),
        };
        let Some(patch) = patch else {
            write(self.inner, memory.status, memory.response.fields(), memory.length);
            self.state = State::Through;
            return;
        };
        let status = patch.status().unwrap_or(memory.status);
        let replaced = patch.body();
        if memory.length == Length::Tunnel && (replaced.is_some() || status != memory.status) {
            // The protocol is another one from here on: there is nothing left to answer with.
            self.state = State::Failed(Reason::PluginFailed);
            return;
        }
        memory.changed.clear();
        let none = Fields::new(&[], &[]);
        let fields = if decision == Decision::Respond { none } else { memory.response.fields() };
        memory.changed.take(fields, &patch, |id| replaced.is_some() && id == Name::ContentLength);
        if decision == Decision::Respond {
            for (name, value) in self.added.into_iter().flat_map(FieldLines::iter) {
                memory.changed.push(Name::from_bytes(name), name, value);
            }
        }
        self.state = match replaced {
            None => State::Through,
            Some(body) => {
                memory.body.clear();
                memory.body.extend_from_slice(body);
                memory.length = Length::Known(body.len() as u64);
                State::Replaced { sent: 0, swallowed: 0, done: false }
            }
        };
        write(self.inner, status, memory.changed.fields(), memory.length);
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
        match &mut self.state {
            State::Through => self.inner.body(bytes),
            State::Waiting { has_body, .. } => {
                *has_body = true;
                self.spare.0.body.clear();
                self.spare.0.body.extend_from_slice(bytes);
            }
            _ => {}
        }
    }

    fn request(&self) -> Head<'_> {
        if self.is_rewritten { self.spare.0.request.head() } else { self.inner.request() }
    }

    fn poll_body(&mut self, cx: &mut Context<'_>) -> Poll<Result<Piece<'_>, Reason>> {
        self.look_at_expect();
        self.inner.poll_body(cx)
    }

    fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<Reason> {
        let gone = self.inner.poll_gone(cx);
        self.look_at_expect();
        gone
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize, Reason>> {
        if let State::Waiting { .. } = self.state {
            ready!(self.poll_waiting(cx));
        }
        if let State::Replaced { done: false, .. } = self.state {
            ready!(self.poll_replaced(cx))?;
        }
        match &mut self.state {
            State::Replaced { swallowed, .. } => {
                *swallowed += bytes.len() as u64;
                // What answers gives up, and `finish` knows that the reply is whole all the same.
                let enough = *swallowed > SWALLOWED_BYTES_MAX;
                Poll::Ready(if enough { Err(Reason::PluginFailed) } else { Ok(bytes.len()) })
            }
            State::Failed(reason) => Poll::Ready(Err(*reason)),
            State::Through | State::Head | State::Waiting { .. } => self.inner.poll_send(cx, bytes),
        }
    }

    fn end(&mut self, trailers: Option<Fields<'_>>) {
        match &mut self.state {
            State::Through | State::Head => self.inner.end(trailers),
            State::Waiting { ended, .. } => {
                *ended = Ended::Yes;
                if let Some(trailers) = trailers {
                    *ended = Ended::WithTrailers;
                    self.spare.0.trailers.clear();
                    self.spare.0.trailers.extend(trailers);
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
