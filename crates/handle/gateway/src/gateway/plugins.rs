//! What a gateway does with the plug-ins of a route.

use std::future::poll_fn;
use std::task::Poll;

use leat_message::{Exchange, Fault, Head, Phase, Reason};
use leat_route::Params;

use super::{Gateway, SPARE_MAX};
use crate::admit::Admitted;
use crate::edited::Edited;
use crate::observe::mark;
use crate::plugin::{
    BodyRule, Decision, Patch, Plugged, PluginHost, PluginRun, RequestBody, Restated, Rewritten, only_restates, respond,
};

/// What goes along with a request that plug-ins were shown: the run, or the head that it came to.
type Going<R> = (Option<Box<R>>, Option<Box<Rewritten>>);

impl<P: PluginHost> Gateway<P> {
    /// Shows a request to the plug-ins of its route, if it has some: as the route's authentication leaves it, so that they take
    /// nobody's word on who the client is but its own. The head is what they were shown, where it is not the request's.
    pub(super) fn plug_in(
        &self,
        route: usize,
        request: Head<'_>,
        admitted: Option<&Admitted>,
    ) -> Option<(P::Run, Option<Box<Rewritten>>)> {
        let set = self.config.routes().get(route)?.plugins()?;
        let plugins = self.plugins.as_ref()?;
        match (self.own_fields.get(route).filter(|own| !own.is_empty()), admitted) {
            (Some(own), Some(admitted)) => {
                let mut shown = self.rewritten.borrow_mut().pop().unwrap_or_default();
                shown.identify(request, own, &admitted.upstream);
                Some((plugins.begin(set, shown.head()), Some(shown)))
            }
            _ => Some((plugins.begin(set, request), None)),
        }
    }

    /// Ends a run that wants another head of the request and nothing else: what it holds is the next request's at once. Where bodies are
    /// changed on their way, the request that it has to do with is one that is not there yet.
    ///
    /// # Errors
    /// As of [`OwnPaths::read`](crate::plugin::OwnPaths::read).
    pub(super) fn restated(
        &self,
        route: usize,
        request: Head<'_>,
        (run, shown): (P::Run, Option<Box<Rewritten>>),
        params: &mut Params,
    ) -> Result<Going<P::Run>, Reason> {
        if self.is_layered(route) || !only_restates(&run) {
            self.reuse_rewritten(shown);
            return Ok((Some(Box::new(run)), None));
        }
        let Some(patch) = run.patch() else { return Ok((None, None)) };
        // What they were shown is a copy already; what authentication says is written to the upstream from its own notes in any case.
        let mut rewritten = match shown {
            Some(shown) => shown,
            None => {
                let mut copy = self.rewritten.borrow_mut().pop().unwrap_or_default();
                copy.copy(request);
                copy
            }
        };
        rewritten.change(&patch);
        if patch.target().is_some() {
            self.own_paths.read(route, request.path(), &rewritten.head(), params)?;
        }
        drop(patch);
        Ok((None, Some(rewritten)))
    }

    /// Keeps the memory of a request that plug-ins have changed.
    pub(super) fn reuse_rewritten(&self, rewritten: Option<Box<Rewritten>>) {
        let mut spare = self.rewritten.borrow_mut();
        if let Some(rewritten) = rewritten.filter(|_| spare.len() < SPARE_MAX) {
            spare.push(rewritten);
        }
    }

    /// Answers with what the route has, and with plug-ins where they have something to do with it.
    #[expect(
        clippy::manual_async_fn,
        reason = "an `async fn` has room for its arguments twice (docs/design/memory.md)"
    )]
    pub(super) fn answer_plugged<X: Exchange>(
        &self,
        exchange: &mut X,
        (run, rewritten): (Option<Box<P::Run>>, Option<&mut Rewritten>),
        route: usize,
        params: &Params,
        admitted: Option<&Admitted>,
    ) -> impl Future<Output = Result<(), Fault>> {
        async move {
            match run {
                None => self.answer(&mut Restated::new(exchange, rewritten), route, None, params, admitted).await,
                // Boxed, as all that is not on every exchange's way.
                Some(run) => Box::pin(self.plugged(exchange, *run, route, params, admitted)).await,
            }
        }
    }

    async fn plugged<X: Exchange>(
        &self,
        x: &mut X,
        mut run: P::Run,
        route: usize,
        params: &Params,
        admitted: Option<&Admitted>,
    ) -> Result<(), Fault> {
        let limits = self.config.plugins().limits();
        let rule = BodyRule { bytes_max: limits.body_bytes_max(), passes: limits.long_bodies_pass() };
        let mut body = RequestBody::default();
        let decided = self.decided(x, &mut run, route, &mut body, rule).await;
        let decided = decided.inspect_err(|reason| run.leave(*reason));
        let added = admitted.map(|admitted| &admitted.reply);
        let decision = decided?;
        mark(x, Phase::Plugin);
        match decision {
            Decision::Failed(reason) => return Err(reason.into()),
            Decision::Respond => {
                let patch = run.patch().ok_or(Reason::PluginFailed)?;
                return respond(&patch, &mut Edited::new(x, &self.no_edits, added)).await;
            }
            Decision::Unchanged | Decision::Changed | Decision::Pending | Decision::WantsBody => {}
        }
        let named = run.patch().and_then(|patch| Some(self.config.upstream_named(patch.upstream()?)));
        let upstream = named.map(|found| found.ok_or(Reason::PluginFailed)).transpose()?;
        let is_other_path = run.patch().is_some_and(|patch| patch.target().is_some());
        let before = is_other_path.then(|| (x.request().path().to_vec(), params.clone()));
        let spare = self.plugged.borrow_mut().pop().unwrap_or_default();
        let mut plugged = Plugged::new(x, run, spare, added, (body, rule));
        let read = before.map(|(path, mut params)| {
            self.own_paths.read(route, &path, &plugged.request(), &mut params).map(|()| params)
        });
        let result = match read.transpose() {
            Ok(read) => self.answer(&mut plugged, route, upstream, read.as_ref().unwrap_or(params), admitted).await,
            Err(reason) => Err(reason.into()),
        };
        let (result, spare) = plugged.finish(result).await;
        let mut spares = self.plugged.borrow_mut();
        if spares.len() < SPARE_MAX {
            spares.push(spare);
        }
        result
    }

    /// What plug-ins decide on the request, which may take its body to know.
    async fn decided<X: Exchange>(
        &self,
        x: &mut X,
        run: &mut P::Run,
        route: usize,
        body: &mut RequestBody,
        rule: BodyRule,
    ) -> Result<Decision, Reason> {
        loop {
            let decided = poll_fn(|cx| match run.poll_decided(cx) {
                Poll::Ready(decision) => Poll::Ready(Ok(decision)),
                Poll::Pending => x.poll_gone(cx).map(Err),
            });
            match decided.await? {
                Decision::WantsBody => {
                    if let Some(route) = self.config.routes().get(route) {
                        x.limit_body(route.body());
                    }
                    // Boxed, as all that is not on every exchange's way.
                    let bytes = Box::pin(body.take(x, rule)).await?;
                    run.body(bytes);
                }
                decision => return Ok(decision),
            }
        }
    }
}
