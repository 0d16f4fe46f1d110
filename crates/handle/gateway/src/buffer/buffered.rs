use std::future::poll_fn;
use std::task::{Context, Poll, ready};

use leat_message::{Exchange, Fields, Fixed, Layer, Length, Method, Name, OwnedFields, Reason};
use leat_stream::memory::{self, Held};

/// An exchange whose reply is held back until it is whole, or longer than `bytes_max`, or the process has no memory for more: from
/// there on it streams. Until then
/// nothing has been sent, so a handler that fails leaves room for an error reply, and one that is done waits for no client.
///
/// What passes at once: replies without a body, tunnels, fixed replies, and streams that would make no sense when they are
/// late (`text/event-stream`, gRPC).
///
/// Costs a copy of the reply. What it holds counts as memory of the process. `None` in place of a limit: all passes.
pub(crate) struct Buffered<'a, X> {
    inner: &'a mut X,
    bytes_max: Option<usize>,
    /// Of the process: where that much is in use, nothing more is held.
    memory_bytes_max: usize,
    state: State,
    reply: Option<Box<Kept>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Everything passes. What is still held goes first.
    Through,
    /// The head is being written.
    Head,
    /// The body is taken in.
    Body,
    /// All of it is here.
    Whole,
}

/// A reply that is held back.
#[derive(Default)]
struct Kept {
    status: u16,
    fields: OwnedFields,
    length: Length,
    body: Vec<u8>,
    /// What of `body` has gone out.
    sent: usize,
    trailers: Option<OwnedFields>,
    held: Held,
}

impl<'a, X: Exchange> Buffered<'a, X> {
    pub(crate) fn new(inner: &'a mut X, bytes_max: Option<usize>, memory_bytes_max: usize) -> Self {
        Self { inner, bytes_max, memory_bytes_max, state: State::Through, reply: None }
    }

    /// Sends what is held. To be called when the handler is done and has not failed.
    ///
    /// # Errors
    /// The client went.
    pub(crate) async fn finish(mut self) -> Result<(), Reason> {
        let is_whole = self.state == State::Whole;
        if is_whole {
            self.write_whole();
        } else if self.state == State::Body {
            // The handler itself did not end it: the client shall see that.
            self.write_begun();
        }
        poll_fn(|cx| match self.poll_drain(cx) {
            Poll::Pending => self.inner.poll_gone(cx).map(Err),
            ready => ready,
        })
        .await?;
        if is_whole {
            let reply = self.reply.take().unwrap_or_default();
            self.inner.end(reply.trailers.as_ref().map(OwnedFields::fields));
        }
        Ok(())
    }

    /// Writes the head of a reply that is here as a whole: its length is known now, unless trailers need another framing.
    fn write_whole(&mut self) {
        if let Some(reply) = &mut self.reply
            && reply.length == Length::Stream
            && reply.trailers.is_none()
        {
            reply.length = Length::Known(reply.body.len() as u64);
        }
        self.write_begun();
    }

    fn write_begun(&mut self) {
        if let Some(reply) = &self.reply {
            self.inner.status(reply.status);
            for (_, name, value) in reply.fields.fields() {
                self.inner.field(name, value);
            }
            self.inner.length(reply.length);
        }
        self.state = State::Through;
    }

    /// Sends what is held of the body.
    fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Reason>> {
        let Some(reply) = &mut self.reply else { return Poll::Ready(Ok(())) };
        while let Some(bytes) = reply.body.get(reply.sent..).filter(|bytes| !bytes.is_empty()) {
            reply.sent += ready!(self.inner.poll_send(cx, bytes))?;
        }
        if reply.sent > 0 {
            reply.body = Vec::new();
            reply.sent = 0;
            reply.held.set(0);
        }
        Poll::Ready(Ok(()))
    }

    /// Whether a reply with this head is held back.
    fn holds(&self, reply: &Kept, bytes_max: usize) -> bool {
        let no_body = matches!(reply.status, 101 | 204 | 205 | 304) || self.inner.request().method() == Method::Head;
        let fits = match reply.length {
            Length::None | Length::Tunnel => false,
            Length::Known(count) => usize::try_from(count).is_ok_and(|count| count <= bytes_max),
            Length::Stream | Length::Close => true,
        };
        fits && !no_body && !reply.fields.fields().get(Name::ContentType).is_some_and(is_live)
    }
}

/// Whether somebody waits for each piece of such a body.
fn is_live(content_type: &[u8]) -> bool {
    let starts = |start: &[u8]| content_type.get(..start.len()).is_some_and(|own| own.eq_ignore_ascii_case(start));
    starts(b"text/event-stream") || starts(b"application/grpc")
}

impl<X: Exchange> Layer for Buffered<'_, X> {
    type Inner = X;

    fn inner(&self) -> &X {
        self.inner
    }

    fn inner_mut(&mut self) -> &mut X {
        self.inner
    }

    fn status(&mut self, status: u16) {
        if self.bytes_max.is_none() {
            return self.inner.status(status);
        }
        self.state = State::Head;
        self.reply = Some(Box::new(Kept { status, ..Kept::default() }));
    }

    fn field(&mut self, name: &[u8], value: &[u8]) {
        match (&mut self.reply, self.state) {
            (Some(reply), State::Head) => reply.fields.push(Name::from_bytes(name), name, value),
            _ => self.inner.field(name, value),
        }
    }

    fn length(&mut self, length: Length) {
        let (Some(mut reply), State::Head, Some(bytes_max)) = (self.reply.take(), self.state, self.bytes_max) else {
            return self.inner.length(length);
        };
        reply.length = length;
        let holds = self.holds(&reply, bytes_max);
        self.reply = Some(reply);
        if holds {
            self.state = State::Body;
        } else {
            self.write_begun();
        }
    }

    fn body(&mut self, bytes: &[u8]) {
        if self.state == State::Body {
            self.write_begun();
        }
        // All of it is here already: nothing is won by holding it.
        self.inner.body(bytes);
    }

    fn fixed(&mut self, reply: &Fixed) {
        self.inner.fixed(reply);
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize, Reason>> {
        if let (Some(reply), State::Body, Some(bytes_max)) = (&mut self.reply, self.state, self.bytes_max) {
            let has_room = reply.body.len().saturating_add(bytes.len()) <= bytes_max;
            if has_room && memory::in_use() <= self.memory_bytes_max {
                reply.body.extend_from_slice(bytes);
                reply.held.set(reply.body.capacity());
                return Poll::Ready(Ok(bytes.len()));
            }
            self.write_begun();
        }
        ready!(self.poll_drain(cx))?;
        self.inner.poll_send(cx, bytes)
    }

    fn end(&mut self, trailers: Option<Fields<'_>>) {
        match (&mut self.reply, self.state) {
            (Some(reply), State::Body) => {
                reply.trailers = trailers.map(OwnedFields::from_iter);
                self.state = State::Whole;
            }
            _ => self.inner.end(trailers),
        }
    }

    fn head_sent(&self) -> bool {
        // To the handler it is: who sees the reply from inside has had its say. Whoever stands around knows better.
        self.state != State::Through || self.inner.head_sent()
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Reason>> {
        if self.state == State::Through {
            ready!(self.poll_drain(cx))?;
        }
        self.inner.poll_flush(cx)
    }
}
