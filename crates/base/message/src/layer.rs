use std::mem::MaybeUninit;
use std::task::{Context, Poll};

use crate::{BodyLimits, BreakOff, Exchange, Fields, Fixed, Head, Length, Peer, Piece, Reason, Record, Reply};

/// An exchange around another one, or a reply around another: it writes only what it changes, all else goes to
/// [`Layer::inner`]. What a layer has to say of both traits is here, so that none can be forgotten.
///
/// Some methods belong together. Who changes one of `poll_body`, `consume` and `poll_read` in what it lends writes all
/// three. [`Reply::fixed`] and [`Reply::whole`] are not passed on by themselves, since they would go past `field` and
/// `length`: a fixed reply is written by the layer's own methods, and a whole one is refused. `verbatim`, `interim` and
/// `take_over` do go past them.
///
/// Costs nothing: calls are resolved when the layer is compiled.
pub trait Layer {
    /// What stands behind it.
    type Inner: Reply;

    /// What stands behind it.
    fn inner(&self) -> &Self::Inner;

    /// The same, to be written to.
    fn inner_mut(&mut self) -> &mut Self::Inner;

    /// [`Reply::status`]
    #[inline]
    fn status(&mut self, status: u16) {
        self.inner_mut().status(status);
    }

    /// [`Reply::field`]
    #[inline]
    fn field(&mut self, name: &[u8], value: &[u8]) {
        self.inner_mut().field(name, value);
    }

    /// [`Reply::length`]
    #[inline]
    fn length(&mut self, length: Length) {
        self.inner_mut().length(length);
    }

    /// [`Reply::body`]
    #[inline]
    fn body(&mut self, bytes: &[u8]) {
        self.inner_mut().body(bytes);
    }

    /// [`Reply::body_with_trailers`]
    #[inline]
    fn body_with_trailers(&mut self, parts: &[&[u8]], trailers: Fields<'_>) {
        self.inner_mut().body_with_trailers(parts, trailers);
    }

    /// [`Reply::fixed`]
    #[inline]
    fn fixed(&mut self, reply: &Fixed) {
        self.status(reply.status());
        for (name, value) in reply.fields() {
            self.field(name.as_bytes(), value.as_bytes());
        }
        self.length(Length::whole(reply.status(), reply.body().len()));
        self.body(reply.body());
    }

    /// [`Reply::record`]
    #[inline]
    fn record(&mut self) -> &mut Record {
        self.inner_mut().record()
    }

    /// [`Exchange::request`]
    #[inline]
    fn request(&self) -> Head<'_>
    where
        Self::Inner: Exchange,
    {
        self.inner().request()
    }

    /// [`Exchange::peer`]
    #[inline]
    fn peer(&self) -> &Peer
    where
        Self::Inner: Exchange,
    {
        self.inner().peer()
    }

    /// [`Exchange::limit_body`]
    #[inline]
    fn limit_body(&mut self, limits: BodyLimits)
    where
        Self::Inner: Exchange,
    {
        self.inner_mut().limit_body(limits);
    }

    /// [`Exchange::poll_body`]
    #[inline]
    fn poll_body(&mut self, cx: &mut Context<'_>) -> Poll<Result<Piece<'_>, Reason>>
    where
        Self::Inner: Exchange,
    {
        self.inner_mut().poll_body(cx)
    }

    /// [`Exchange::poll_gone`]
    #[inline]
    fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<Reason>
    where
        Self::Inner: Exchange,
    {
        self.inner_mut().poll_gone(cx)
    }

    /// [`Exchange::consume`]
    #[inline]
    fn consume(&mut self, count: usize)
    where
        Self::Inner: Exchange,
    {
        self.inner_mut().consume(count);
    }

    /// [`Exchange::poll_read`]
    #[inline]
    fn poll_read(&mut self, cx: &mut Context<'_>, into: &mut [MaybeUninit<u8>]) -> Poll<Result<usize, Reason>>
    where
        Self::Inner: Exchange,
    {
        self.inner_mut().poll_read(cx, into)
    }

    /// [`Exchange::trailers`]
    #[inline]
    fn trailers(&self) -> Option<Fields<'_>>
    where
        Self::Inner: Exchange,
    {
        self.inner().trailers()
    }

    /// [`Exchange::interim`]
    #[inline]
    fn interim(&mut self, status: u16, fields: Fields<'_>)
    where
        Self::Inner: Exchange,
    {
        self.inner_mut().interim(status, fields);
    }

    /// [`Exchange::poll_send`]
    #[inline]
    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize, Reason>>
    where
        Self::Inner: Exchange,
    {
        self.inner_mut().poll_send(cx, bytes)
    }

    /// [`Exchange::end`]
    #[inline]
    fn end(&mut self, trailers: Option<Fields<'_>>)
    where
        Self::Inner: Exchange,
    {
        self.inner_mut().end(trailers);
    }

    /// [`Exchange::reads_on`]
    #[inline]
    fn reads_on(&self) -> bool
    where
        Self::Inner: Exchange,
    {
        self.inner().reads_on()
    }

    /// [`Exchange::poll_flush`]
    #[inline]
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Reason>>
    where
        Self::Inner: Exchange,
    {
        self.inner_mut().poll_flush(cx)
    }

    /// [`Exchange::head_sent`]
    #[inline]
    fn head_sent(&self) -> bool
    where
        Self::Inner: Exchange,
    {
        self.inner().head_sent()
    }

    /// [`Exchange::verbatim`]
    #[inline]
    fn verbatim(&mut self, status: u16, head: &[u8])
    where
        Self::Inner: Exchange,
    {
        self.inner_mut().verbatim(status, head);
    }

    /// [`Exchange::keep_alive`]
    #[inline]
    fn keep_alive(&mut self, keep: bool)
    where
        Self::Inner: Exchange,
    {
        self.inner_mut().keep_alive(keep);
    }

    /// [`Exchange::interim_verbatim`]
    #[inline]
    fn interim_verbatim(&mut self, status: u16, head: &[u8])
    where
        Self::Inner: Exchange,
    {
        self.inner_mut().interim_verbatim(status, head);
    }

    /// [`Exchange::waive_continue`]
    #[inline]
    fn waive_continue(&mut self)
    where
        Self::Inner: Exchange,
    {
        self.inner_mut().waive_continue();
    }

    /// [`Exchange::take_over`]
    #[inline]
    fn take_over(&mut self) -> bool
    where
        Self::Inner: Exchange,
    {
        self.inner_mut().take_over()
    }

    /// [`Exchange::reset`]
    #[inline]
    fn reset(&mut self)
    where
        Self::Inner: Exchange,
    {
        self.inner_mut().reset();
    }

    /// [`Exchange::break_off`]
    #[inline]
    fn break_off(&mut self, how: BreakOff)
    where
        Self::Inner: Exchange,
    {
        self.inner_mut().break_off(how);
    }
}

impl<L: Layer> Reply for L {
    #[inline]
    fn status(&mut self, status: u16) {
        Layer::status(self, status);
    }

    #[inline]
    fn field(&mut self, name: &[u8], value: &[u8]) {
        Layer::field(self, name, value);
    }

    #[inline]
    fn length(&mut self, length: Length) {
        Layer::length(self, length);
    }

    #[inline]
    fn body(&mut self, bytes: &[u8]) {
        Layer::body(self, bytes);
    }

    #[inline]
    fn body_with_trailers(&mut self, parts: &[&[u8]], trailers: Fields<'_>) {
        Layer::body_with_trailers(self, parts, trailers);
    }

    #[inline]
    fn fixed(&mut self, reply: &Fixed) {
        Layer::fixed(self, reply);
    }

    #[inline]
    fn record(&mut self) -> &mut Record {
        Layer::record(self)
    }
}

impl<L: Layer<Inner: Exchange>> Exchange for L {
    #[inline]
    fn request(&self) -> Head<'_> {
        Layer::request(self)
    }

    #[inline]
    fn peer(&self) -> &Peer {
        Layer::peer(self)
    }

    #[inline]
    fn limit_body(&mut self, limits: BodyLimits) {
        Layer::limit_body(self, limits);
    }

    #[inline]
    fn poll_body(&mut self, cx: &mut Context<'_>) -> Poll<Result<Piece<'_>, Reason>> {
        Layer::poll_body(self, cx)
    }

    #[inline]
    fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<Reason> {
        Layer::poll_gone(self, cx)
    }

    #[inline]
    fn consume(&mut self, count: usize) {
        Layer::consume(self, count);
    }

    #[inline]
    fn poll_read(&mut self, cx: &mut Context<'_>, into: &mut [MaybeUninit<u8>]) -> Poll<Result<usize, Reason>> {
        Layer::poll_read(self, cx, into)
    }

    #[inline]
    fn trailers(&self) -> Option<Fields<'_>> {
        Layer::trailers(self)
    }

    #[inline]
    fn interim(&mut self, status: u16, fields: Fields<'_>) {
        Layer::interim(self, status, fields);
    }

    #[inline]
    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize, Reason>> {
        Layer::poll_send(self, cx, bytes)
    }

    #[inline]
    fn end(&mut self, trailers: Option<Fields<'_>>) {
        Layer::end(self, trailers);
    }

    #[inline]
    fn reads_on(&self) -> bool {
        Layer::reads_on(self)
    }

    #[inline]
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Reason>> {
        Layer::poll_flush(self, cx)
    }

    #[inline]
    fn head_sent(&self) -> bool {
        Layer::head_sent(self)
    }

    #[inline]
    fn verbatim(&mut self, status: u16, head: &[u8]) {
        Layer::verbatim(self, status, head);
    }

    #[inline]
    fn keep_alive(&mut self, keep: bool) {
        Layer::keep_alive(self, keep);
    }

    #[inline]
    fn interim_verbatim(&mut self, status: u16, head: &[u8]) {
        Layer::interim_verbatim(self, status, head);
    }

    #[inline]
    fn waive_continue(&mut self) {
        Layer::waive_continue(self);
    }

    #[inline]
    fn take_over(&mut self) -> bool {
        Layer::take_over(self)
    }

    #[inline]
    fn reset(&mut self) {
        Layer::reset(self);
    }

    #[inline]
    fn break_off(&mut self, how: BreakOff) {
        Layer::break_off(self, how);
    }
}
