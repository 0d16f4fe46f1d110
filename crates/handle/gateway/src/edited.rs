use std::task::{Context, Poll};

use leat_message::{BodyLimits, Exchange, Fields, Head, Length, Peer, Piece, Reason, Record, Reply};

use crate::admit::FieldLines;
use crate::proxy::Edits;

/// A reply whose fields are changed on their way, as the route's `response_headers` say, with those of its checks behind
/// them. Costs a comparison a field.
pub(crate) struct Edited<'a, R> {
    inner: &'a mut R,
    edits: &'a Edits,
    added: Option<&'a FieldLines>,
}

impl<'a, R> Edited<'a, R> {
    pub(crate) fn new(inner: &'a mut R, edits: &'a Edits, added: Option<&'a FieldLines>) -> Self {
        Self { inner, edits, added }
    }
}

impl<R: Reply> Reply for Edited<'_, R> {
    fn status(&mut self, status: u16) {
        self.inner.status(status);
    }

    fn field(&mut self, name: &[u8], value: &[u8]) {
        if !self.edits.takes_out(name) {
            self.inner.field(name, value);
        }
    }

    fn length(&mut self, length: Length) {
        self.edits.write(self.inner);
        for (name, value) in self.added.into_iter().flat_map(FieldLines::iter) {
            self.inner.field(name, value);
        }
        self.inner.length(length);
    }

    fn body(&mut self, bytes: &[u8]) {
        self.inner.body(bytes);
    }

    fn record(&mut self) -> &mut Record {
        self.inner.record()
    }
}

impl<X: Exchange> Exchange for Edited<'_, X> {
    fn request(&self) -> Head<'_> {
        self.inner.request()
    }

    fn peer(&self) -> &Peer {
        self.inner.peer()
    }

    fn limit_body(&mut self, limits: BodyLimits) {
        self.inner.limit_body(limits);
    }

    fn poll_body(&mut self, cx: &mut Context<'_>) -> Poll<Result<Piece<'_>, Reason>> {
        self.inner.poll_body(cx)
    }

    fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<Reason> {
        self.inner.poll_gone(cx)
    }

    fn consume(&mut self, count: usize) {
        self.inner.consume(count);
    }

    fn trailers(&self) -> Option<Fields<'_>> {
        self.inner.trailers()
    }

    fn interim(&mut self, status: u16, fields: Fields<'_>) {
        self.inner.interim(status, fields);
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize, Reason>> {
        self.inner.poll_send(cx, bytes)
    }

    fn end(&mut self, trailers: Option<Fields<'_>>) {
        self.inner.end(trailers);
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Reason>> {
        self.inner.poll_flush(cx)
    }

    fn head_sent(&self) -> bool {
        self.inner.head_sent()
    }

    fn verbatim(&mut self, status: u16, head: &[u8]) {
        self.inner.verbatim(status, &self.edits.apply(head));
    }

    fn keep_alive(&mut self, keep: bool) {
        self.inner.keep_alive(keep);
    }

    fn interim_verbatim(&mut self, status: u16, head: &[u8]) {
        self.inner.interim_verbatim(status, head);
    }

    fn waive_continue(&mut self) {
        self.inner.waive_continue();
    }

    fn take_over(&mut self) -> bool {
        self.inner.take_over()
    }
}
