use std::task::{Context, Poll};

use leat_message::{Exchange, Fixed, Head, Layer, Piece, Reason};

use super::rewritten::Rewritten;
use super::{Decision, Patch, PluginRun};

/// An exchange whose request plug-ins may have changed: who answers sees the head as they left it. Where they have not, it costs a comparison
/// for each look at the head.
pub(crate) struct Restated<'a, X> {
    inner: &'a mut X,
    head: Option<&'a mut Rewritten>,
}

impl<'a, X> Restated<'a, X> {
    pub(crate) fn new(inner: &'a mut X, head: Option<&'a mut Rewritten>) -> Self {
        Self { inner, head }
    }
}

impl<X: Exchange> Restated<'_, X> {
    /// The client may have begun to send the body that it was to wait with.
    #[inline]
    fn look_at_expect(&mut self) {
        if let Some(head) = &mut self.head {
            head.expects_continue(self.inner.request().lines().expect_continue);
        }
    }
}

/// Whether plug-ins are through with the exchange but for another head of the request, so that their run can end before it begins.
pub(crate) fn only_restates(run: &impl PluginRun) -> bool {
    run.decision() == Decision::Changed
        && !run.wants_response()
        && run.patch().is_some_and(|patch| patch.body().is_none() && patch.upstream().is_none())
}

impl<X: Exchange> Layer for Restated<'_, X> {
    type Inner = X;

    #[inline]
    fn inner(&self) -> &X {
        self.inner
    }

    #[inline]
    fn inner_mut(&mut self) -> &mut X {
        self.inner
    }

    /// It changes nothing of a reply.
    #[inline]
    fn fixed(&mut self, reply: &Fixed) {
        self.inner.fixed(reply);
    }

    #[inline]
    fn request(&self) -> Head<'_> {
        match &self.head {
            Some(head) => head.head(),
            None => self.inner.request(),
        }
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

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Reason>> {
        let flushed = self.inner.poll_flush(cx);
        self.look_at_expect();
        flushed
    }
}
