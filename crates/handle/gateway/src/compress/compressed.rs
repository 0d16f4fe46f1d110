use std::future::poll_fn;
use std::task::{Context, Poll, ready};

use leat_message::{Exchange, Fields, Fixed, Layer, Length, Method, OwnedFields, Reason};

use super::choice::{Choice, choose, has_coded};
use super::encoder::Encoder;
use crate::admit::FieldLines;
use crate::config::Compression;

/// The most that is compressed at one go, before what came of it is sent on: a bound on the time that others wait.
const PIECE_BYTES_MAX: usize = 16 * 1024;

/// An exchange whose reply is compressed where that is right. The final head is held back until its length is known;
/// pieces are compressed as they come, and made readable for the client whenever the handler has nothing more at hand, so
/// that streams stay streams.
///
/// Costs a copy of the reply's head, and where it compresses one encoder and the copies into and out of it.
pub(crate) struct Compressed<'a, X> {
    inner: &'a mut X,
    /// `None`: nothing is compressed.
    config: Option<&'a Compression>,
    status: u16,
    fields: FieldLines,
    body: Body,
}

/// What becomes of the body.
enum Body {
    /// It passes.
    Plain,
    /// It is compressed; how many bytes are announced and have not come, and whether there is something that the client
    /// can't read yet.
    Coded {
        encoder: Encoder,
        left: u64,
        dirty: bool,
    },
    /// All of it was compressed; what has not gone out yet, and the trailers.
    Ended {
        rest: Vec<u8>,
        trailers: Option<OwnedFields>,
    },
    Failed,
}

impl<'a, X: Exchange> Compressed<'a, X> {
    pub(crate) fn new(inner: &'a mut X, config: Option<&'a Compression>) -> Self {
        Self { inner, config, status: 0, fields: FieldLines::default(), body: Body::Plain }
    }

    /// Sends what the end of the body left behind. To be called when the handler is done.
    ///
    /// # Errors
    /// The client went, or the encoder failed: the reply is not whole.
    pub(crate) async fn finish(mut self) -> Result<(), Reason> {
        if matches!(self.body, Body::Coded { left: 0, .. }) {
            Layer::end(&mut self, None);
        }
        poll_fn(|cx| match self.poll_drain(cx) {
            Poll::Pending => self.inner.poll_gone(cx).map(Err),
            ready => ready,
        })
        .await?;
        match self.body {
            Body::Ended { trailers, .. } => self.inner.end(trailers.as_ref().map(OwnedFields::fields)),
            // The handler itself did not end it.
            Body::Plain | Body::Coded { .. } => {}
            Body::Failed => return Err(Reason::HandlerFailed),
        }
        Ok(())
    }

    /// Sends what was made.
    fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Reason>> {
        let made = match &mut self.body {
            Body::Coded { encoder, .. } => encoder.made(),
            Body::Ended { rest, .. } => rest,
            Body::Plain | Body::Failed => return Poll::Ready(Ok(())),
        };
        let mut sent = 0;
        let result = loop {
            match made.get(sent..) {
                None | Some([]) => break Poll::Ready(Ok(())),
                Some(bytes) => match self.inner.poll_send(cx, bytes) {
                    Poll::Ready(Ok(count)) => sent += count,
                    Poll::Ready(Err(reason)) => break Poll::Ready(Err(reason)),
                    Poll::Pending => break Poll::Pending,
                },
            }
        };
        made.drain(..sent.min(made.len()));
        result
    }

    fn write_head(&mut self, coding: Option<&'static str>, choice: Choice) {
        self.inner.status(self.status);
        for (name, value) in self.fields.iter() {
            let is = |wanted: &[u8]| name.eq_ignore_ascii_case(wanted);
            match coding {
                // Of the plain bytes.
                Some(_) if is(b"content-length") || is(b"accept-ranges") || is(b"content-encoding") => {}
                // What is compressed on the way is the same to readers, and not to the byte (RFC 9110 section 8.8.1).
                Some(_) if is(b"etag") && !value.starts_with(b"W/") => {
                    self.inner.field(name, &[b"W/", value].concat());
                }
                // The cache that asks looks for the validator that it has (RFC 9111 section 4.3.4).
                None if choice == Choice::NotModified && is(b"etag") && has_coded(self.inner.request(), value) => {
                    self.inner.field(name, &[b"W/", value].concat());
                }
                _ => self.inner.field(name, value),
            }
        }
        if let Some(coding) = coding {
            self.inner.field(b"content-encoding", coding.as_bytes());
        }
        if choice != Choice::Never && !self.fields.iter().any(says_so) {
            self.inner.field(b"vary", b"accept-encoding");
        }
    }
}

/// Whether the upstream's `vary` names the field already, or all of them.
fn says_so((name, value): (&[u8], &[u8])) -> bool {
    let mut members = value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    name.eq_ignore_ascii_case(b"vary")
        && members.any(|member| member == b"*" || member.eq_ignore_ascii_case(b"accept-encoding"))
}

impl<X: Exchange> Layer for Compressed<'_, X> {
    type Inner = X;

    fn inner(&self) -> &X {
        self.inner
    }

    fn inner_mut(&mut self) -> &mut X {
        self.inner
    }

    fn status(&mut self, status: u16) {
        let Some(_) = self.config else { return self.inner.status(status) };
        self.status = status;
    }

    fn field(&mut self, name: &[u8], value: &[u8]) {
        let Some(_) = self.config else { return self.inner.field(name, value) };
        self.fields.put(name, |out| out.extend_from_slice(value));
    }

    fn length(&mut self, length: Length) {
        let Some(config) = self.config else { return self.inner.length(length) };
        let choice = choose(config, self.inner.request(), self.status, &self.fields, length);
        if let Choice::With(coding) = choice
            && self.inner.request().method() == Method::Head
        {
            // Nobody knows how long the body would be (RFC 9110 section 8.6).
            self.write_head(Some(coding.name()), choice);
            return self.inner.length(Length::None);
        }
        let encoder = match choice {
            Choice::With(coding) => Encoder::new(coding).map(|encoder| (coding.name(), encoder)),
            Choice::Never | Choice::NotNow | Choice::NotModified => None,
        };
        self.write_head(encoder.as_ref().map(|(name, _)| *name), choice);
        match encoder {
            None => self.inner.length(length),
            Some((_, encoder)) => {
                let left = if let Length::Known(count) = length { count } else { u64::MAX };
                self.body = Body::Coded { encoder, left, dirty: false };
                self.inner.length(Length::Stream);
            }
        }
    }

    fn body(&mut self, bytes: &[u8]) {
        match &mut self.body {
            Body::Coded { encoder, .. } => {
                if encoder.write(bytes).is_err() {
                    self.body = Body::Failed;
                }
                Layer::end(self, None);
            }
            Body::Plain => self.inner.body(bytes),
            Body::Ended { .. } | Body::Failed => {}
        }
    }

    fn fixed(&mut self, reply: &Fixed) {
        self.inner.fixed(reply);
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize, Reason>> {
        if matches!(self.body, Body::Plain) {
            return self.inner.poll_send(cx, bytes);
        }
        // Nothing more is made while the client has not taken what there is.
        ready!(self.poll_drain(cx))?;
        let Body::Coded { encoder, left, dirty } = &mut self.body else {
            return Poll::Ready(Err(Reason::HandlerFailed));
        };
        let piece = bytes.get(..bytes.len().min(PIECE_BYTES_MAX)).unwrap_or_default();
        encoder.write(piece).map_err(|_| Reason::HandlerFailed)?;
        *left = left.saturating_sub(piece.len() as u64);
        *dirty = true;
        if let Poll::Ready(Err(reason)) = self.poll_drain(cx) {
            return Poll::Ready(Err(reason));
        }
        Poll::Ready(Ok(piece.len()))
    }

    fn end(&mut self, trailers: Option<Fields<'_>>) {
        match std::mem::replace(&mut self.body, Body::Failed) {
            Body::Plain => {
                self.body = Body::Plain;
                self.inner.end(trailers);
            }
            Body::Coded { encoder, .. } => {
                if let Ok(rest) = encoder.finish() {
                    self.body = Body::Ended { rest, trailers: trailers.map(OwnedFields::from_iter) };
                }
            }
            ended => self.body = ended,
        }
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Reason>> {
        if let Body::Coded { encoder, dirty, .. } = &mut self.body
            && std::mem::take(dirty)
        {
            encoder.flush().map_err(|_| Reason::HandlerFailed)?;
        }
        ready!(self.poll_drain(cx))?;
        self.inner.poll_flush(cx)
    }
}
