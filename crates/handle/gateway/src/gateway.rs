mod plugins;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use leat_dial::Pools;
use leat_files::Files;
use leat_message::{Ended, Exchange, Fault, Handler, Head, Length, Peer, Phase, Reason, Reply, Step, decimal};
use leat_route::{Found, Params};
use leat_rpc::transcode::Transcoder;

use crate::admit::auth::Schemes;
use crate::admit::{
    Admission, Admitted, ClientAddress, Counted, FieldLines, OwnFields, Verdict, answer_preflight, compile_limits,
    preflight,
};
use crate::buffer::Buffered;
use crate::compress::Compressed;
use crate::config::{self, Action, Config, Redirect, Rewrite};
use crate::decompress::Decompressed;
use crate::edited::Edited;
use crate::endpoints::seats;
use crate::error::GatewayError;
use crate::lasting::Lasting;
use crate::mirror::Mirror;
use crate::mock::{MockPlan, MockRoute};
use crate::observe::{TimingPolicy, mark};
use crate::observer::Observer;
use crate::pick::Upstream;
use crate::plugin::{NoPlugins, Opening, OwnPaths, PluginHost, PluginRun, Rewritten, Spare, opening};
use crate::proxy::{Edits, ForwardedPolicy, ProxyRoute, answer_as_last, forward, forwards_left};
use crate::refuse::{refuse, refuse_as, says_so};
use crate::transcode::{forward_transcoded, refuse_call};

/// Parameter tables, and as many notes of checks, that a core keeps for reuse.
const SPARE_MAX: usize = 256;

/// The gateway's handler of one core: a configuration, compiled, and the core's connections to upstreams. `P` runs its plug-ins.
pub struct Gateway<P: PluginHost = NoPlugins> {
    config: Arc<Config>,
    /// What the routes need beyond their configuration, by route number.
    routes: Vec<Compiled>,
    /// Who is let in, by route number.
    admissions: Vec<Option<Admission>>,
    limits: Vec<Rc<Counted>>,
    upstreams: Vec<Rc<Upstream>>,
    observer: Observer,
    /// Boxes, since they move into plans, futures and back: a quarter of a kilobyte each, a dozen times a request.
    #[expect(clippy::vec_box, reason = "the box is what is kept for reuse")]
    params: RefCell<Vec<Box<Params>>>,
    /// Boxes, for the same reason.
    #[expect(clippy::vec_box, reason = "the box is what is kept for reuse")]
    admitted: RefCell<Vec<Box<Admitted>>>,
    /// Of `respond` routes, whose own changes are in their reply.
    no_edits: Edits,
    plugins: Option<P>,
    /// Fields that plug-ins see as authentication leaves them, by route number.
    own_fields: Vec<OwnFields>,
    /// Paths that a plug-in may put.
    own_paths: OwnPaths,
    plugged: RefCell<Vec<Spare>>,
    /// Boxes, for the same reason.
    #[expect(clippy::vec_box, reason = "the box is what is kept for reuse")]
    rewritten: RefCell<Vec<Box<Rewritten>>>,
    /// Routes with another upstream, which a plug-in has chosen, by the numbers of both.
    chosen: RefCell<HashMap<(usize, usize), Rc<ProxyRoute>>>,
}

/// A route, ready to run.
enum Compiled {
    /// Answered in the raw step, from the configuration itself.
    Respond,
    /// Answered in the raw step.
    Redirect(Edits),
    Proxy(Box<ProxyRoute>),
    Files(Box<Files>, Rewrite, Edits),
    /// Answered in the raw step where the request is whole.
    Mock(Box<MockRoute>, Edits),
}

/// What the raw step found: the route and its parameters, and what its checks and plug-ins noted.
pub struct Plan<R> {
    route: usize,
    params: Box<Params>,
    /// `None` for a route without checks.
    admitted: Option<Box<Admitted>>,
    /// Whether a check has yet to be waited for.
    waits: bool,
    /// Plug-ins that have something to do with the exchange.
    run: Option<Box<R>>,
    /// The request as plug-ins have left it that have nothing more to do with the exchange.
    rewritten: Option<Box<Rewritten>>,
    /// What a mock's raw step found out, where there was one.
    called: Option<Box<MockPlan>>,
}

impl<R> Plan<R> {
    /// To go on with what answers.
    fn of(route: usize, params: Box<Params>, admitted: Option<Box<Admitted>>) -> Self {
        Self { route, params, admitted, waits: false, run: None, rewritten: None, called: None }
    }
}

impl<P: PluginHost> Gateway<P> {
    /// Compiles a configuration for the calling core. `pools` outlives reloads, and with it the connections to endpoints
    /// that stay; `lasting` does as well, and is that of all cores.
    /// `plugins` runs the sets of plug-ins that the configuration has; without it, routes have none.
    ///
    /// # Errors
    /// An endpoint whose TLS settings can't be used, or a directory that can't be opened.
    pub fn new(
        config: Arc<Config>,
        pools: &Rc<Pools>,
        lasting: &Lasting,
        observer: Observer,
        plugins: Option<P>,
    ) -> Result<Self, GatewayError> {
        let observer = observer.under(&config);
        let client = ClientAddress::new(config.forwarded());
        let mut first = 0;
        let mut counted = HashSet::new();
        let mut upstreams = Vec::with_capacity(config.upstreams().len());
        for upstream in config.upstreams() {
            let mut seats = seats(upstream, first).map_err(GatewayError::Endpoint)?;
            for seat in &mut seats {
                seat.counts = counted.insert(Arc::clone(seat.endpoint.identity()));
            }
            first += seats.len() as u32;
            let group = lasting.group(&config, upstream, &seats);
            upstreams.push(Rc::new(Upstream::new(upstream, seats, group, Rc::clone(pools), client, observer.core())));
        }
        let timing = config.observation().server_timing().map(|timing| TimingPolicy::new(timing, config.forwarded()));
        let forwarded = Rc::new(ForwardedPolicy::new(config.forwarded()).timing(timing));
        let mut routes = Vec::with_capacity(config.routes().len());
        for route in config.routes() {
            routes.push(match route.action() {
                Action::Respond(_) => Compiled::Respond,
                Action::Redirect(_) => Compiled::Redirect(Edits::new(route.response_fields())),
                Action::Files(files, rewrite) => {
                    let files = crate::files::compile(files).map_err(GatewayError::Files)?;
                    Compiled::Files(Box::new(files), rewrite.clone(), Edits::new(route.response_fields()))
                }
                Action::Mock(mock) => {
                    let made = crate::mock::compile(route, mock, &config, lasting, pools);
                    Compiled::Mock(Box::new(made.map_err(GatewayError::Mock)?), Edits::new(route.response_fields()))
                }
                Action::Proxy(proxy, rewrite) => {
                    let forwarded = Rc::clone(&forwarded);
                    let mirror = proxy.mirror().map(|mirror| compile_mirror(mirror, &config, &upstreams, lasting));
                    let mirror = mirror.transpose()?;
                    let route = ProxyRoute::new(route, config.auth(), proxy, rewrite, &upstreams, forwarded, mirror)?;
                    Compiled::Proxy(Box::new(route))
                }
            });
        }
        let limits = compile_limits(&config, &lasting.ledger, &lasting.servers, observer.core());
        let schemes = Schemes::new(&config, &lasting.auth, pools).map_err(GatewayError::Auth)?;
        let routes_of = config.routes().iter();
        let admissions = routes_of.map(|route| Admission::new(route, &config, &limits, &schemes)).collect();
        let own_fields = config.routes().iter().map(|route| OwnFields::of(route, config.auth())).collect();
        let own_paths = OwnPaths::of(&config);
        let (params, admitted) = (RefCell::default(), RefCell::default());
        let no_edits = Edits::default();
        Ok(Self {
            config,
            routes,
            admissions,
            limits,
            upstreams,
            observer,
            params,
            admitted,
            no_edits,
            plugins,
            own_fields,
            own_paths,
            plugged: RefCell::default(),
            rewritten: RefCell::default(),
            chosen: RefCell::default(),
        })
    }

    /// Brings the counters of the core's connections to endpoints up to date; to be called about once a second.
    pub fn publish(&self) {
        self.upstreams.iter().for_each(|upstream| upstream.publish(self.observer.core()));
        self.limits.iter().for_each(|limit| limit.publish());
    }

    /// Closes pooled connections to endpoints that this configuration doesn't name.
    pub fn retire(&self, pools: &Pools) {
        pools.retire(|identity| self.upstreams.iter().any(|upstream| upstream.has(identity)));
    }

    /// The configuration.
    pub fn config(&self) -> &Arc<Config> {
        &self.config
    }

    /// The core's counters under this configuration.
    pub fn observer(&self) -> &Observer {
        &self.observer
    }
}

impl<P: PluginHost> Gateway<P> {
    /// Finds the route of a request, and begins to answer it.
    #[inline]
    fn find<R: Reply>(&self, request: Head<'_>, body: Option<&[u8]>, peer: &Peer, reply: &mut R) -> Step<Plan<P::Run>> {
        self.observer.begin(request, peer, reply);
        let mut params = self.params.borrow_mut().pop().unwrap_or_default();
        if let Some(asked) = preflight(request)
            && self.preflight(request, asked, &mut params, reply)
        {
            self.reuse(params, None);
            return Step::Done;
        }
        let refused = match self.config.table().find(&request, &mut params) {
            Found::Route(number) => {
                reply.record().route = Some(number);
                mark(reply, Phase::Route);
                return self.begin(number as usize, params, (request, body), peer, reply);
            }
            Found::MethodNotAllowed => Reason::RouteMethod,
            Found::NotFound => Reason::RouteNotFound,
            Found::Refused(reason) => reason,
        };
        let allow = (refused == Reason::RouteMethod).then(|| (&b"allow"[..], params.allow()));
        refuse(reply, refused, allow);
        self.reuse(params, None);
        Step::Done
    }

    /// Lets the request in, or not, and answers it where that takes no exchange.
    fn begin<R: Reply>(
        &self,
        route: usize,
        mut params: Box<Params>,
        (request, body): (Head<'_>, Option<&[u8]>),
        peer: &Peer,
        reply: &mut R,
    ) -> Step<Plan<P::Run>> {
        let mut admitted = None;
        if let Some(Some(admission)) = self.admissions.get(route) {
            let notes = admitted.insert(self.admitted.borrow_mut().pop().unwrap_or_default());
            let verdict = admission.ask(request, peer, notes, reply);
            if verdict == Verdict::Wait {
                let plan = Plan { waits: true, ..Plan::of(route, params, admitted) };
                return Step::Exchange(plan);
            }
            if let Some((reason, status)) = verdict.refusal() {
                match self.transcoder(route) {
                    None => refuse_as(reply, reason, status, notes.reply.iter()),
                    Some(transcoder) => {
                        refuse_call(transcoder, transcoder.voice(request), reply, (reason, status), &notes.reply);
                    }
                }
                self.reuse(params, admitted);
                return Step::Done;
            }
        }
        let added = admitted.as_deref().map(|admitted| &admitted.reply).filter(|fields| !fields.is_empty());
        if let Some((run, shown)) = self.plug_in(route, request, admitted.as_deref()) {
            let opened = opening(&run, &mut Edited::new(reply, &self.no_edits, added));
            mark(reply, Phase::Plugin);
            match opened {
                Opening::Answered => {
                    self.reuse_rewritten(shown);
                    self.reuse(params, admitted);
                    return Step::Done;
                }
                Opening::Goes => {
                    match self.restated(route, request, (run, shown), &mut params) {
                        Ok((run, rewritten)) => {
                            return Step::Exchange(Plan { run, rewritten, ..Plan::of(route, params, admitted) });
                        }
                        Err(reason) => refuse(reply, reason, added.into_iter().flat_map(FieldLines::iter)),
                    }
                    self.reuse(params, admitted);
                    return Step::Done;
                }
                Opening::Unchanged => self.reuse_rewritten(shown),
            }
        }
        match (self.config.routes().get(route).map(config::Route::action), self.routes.get(route)) {
            (Some(Action::Respond(fixed)), _) => match added {
                None => reply.fixed(fixed),
                Some(_) => Edited::new(reply, &self.no_edits, added).fixed(fixed),
            },
            (Some(Action::Redirect(redirect)), Some(Compiled::Redirect(edits))) => {
                let mut location = Vec::new();
                redirect.to().write(&request, &params, &mut location);
                write_redirect(redirect, &location, &mut Edited::new(reply, edits, added));
            }
            (Some(Action::Mock(_)), Some(Compiled::Mock(rpc, edits))) if !self.is_layered(route) => {
                let mut edited = Edited::new(reply, edits, added);
                let step = match body {
                    Some(body) => rpc.raw_with_body(request, body, peer, &mut edited),
                    None => rpc.raw(request, peer, &mut edited),
                };
                if let Step::Exchange(plan) = step {
                    let called = Some(Box::new(plan));
                    return Step::Exchange(Plan { called, ..Plan::of(route, params, admitted) });
                }
            }
            (Some(_), Some(_)) => return Step::Exchange(Plan::of(route, params, admitted)),
            _ => refuse(reply, Reason::RouteNotFound, None),
        }
        self.reuse(params, admitted);
        Step::Done
    }

    /// Answers a browser that asks ahead, if the route that it asks about has a word on that; says whether it has.
    #[cold]
    fn preflight<R: Reply>(&self, request: Head<'_>, asked: &[u8], params: &mut Params, reply: &mut R) -> bool {
        let Found::Route(number) = self.config.table().find_for(&request, asked, params) else { return false };
        let cors = self.config.routes().get(number as usize).and_then(config::Route::cors);
        let Some(cors) = cors else { return false };
        reply.record().route = Some(number);
        if let Err(reason) = answer_preflight(cors, request, asked, reply) {
            refuse(reply, reason, None);
        }
        true
    }

    /// Answers with what the route has, or with `upstream` in place of its own.
    #[expect(
        clippy::manual_async_fn,
        reason = "an `async fn` has room for its arguments twice (docs/design/memory.md)"
    )]
    fn answer<X: Exchange>(
        &self,
        exchange: &mut X,
        route: usize,
        upstream: Option<usize>,
        params: &Params,
        admitted: Option<&Admitted>,
    ) -> impl Future<Output = Result<(), Fault>> {
        async move {
            let added = admitted.map(|admitted| &admitted.reply);
            match (self.routes.get(route), self.config.routes().get(route).map(config::Route::action)) {
                (Some(Compiled::Proxy(_)), _) if forwards_left(exchange.request()) == Some(0) => {
                    self.answer_as_last(exchange, added);
                    Ok(())
                }
                (Some(Compiled::Proxy(proxy)), _) if upstream.is_some() => {
                    let chosen = upstream.and_then(|upstream| self.chosen(route, proxy, upstream));
                    let chosen = chosen.ok_or(Reason::PluginFailed)?;
                    if let Some(transcoder) = chosen.transcoder() {
                        let observer = &self.observer;
                        return Box::pin(forward_transcoded(exchange, transcoder, &chosen, params, admitted, observer))
                            .await;
                    }
                    forward(exchange, &chosen, params, admitted, &self.observer).await
                }
                (Some(Compiled::Proxy(proxy)), _) if proxy.transcoder().is_some() => {
                    let transcoder = proxy.transcoder().ok_or(Reason::HandlerFailed)?;
                    Box::pin(forward_transcoded(exchange, transcoder, proxy, params, admitted, &self.observer)).await
                }
                (Some(Compiled::Proxy(proxy)), _) => forward(exchange, proxy, params, admitted, &self.observer).await,
                // Boxed: this future would make the one of every exchange as large as itself (docs/design/memory.md).
                (Some(Compiled::Files(files, rewrite, edits)), _) => {
                    let mut edited = Edited::new(exchange, edits, added);
                    Box::pin(crate::files::serve(&mut edited, files, rewrite, params)).await
                }
                (Some(Compiled::Mock(rpc, edits)), _) => {
                    Box::pin(rpc.answer(&mut Edited::new(exchange, edits, added))).await
                }
                (Some(Compiled::Respond), Some(Action::Respond(fixed))) => {
                    Edited::new(exchange, &self.no_edits, added).fixed(fixed);
                    Ok(())
                }
                (Some(Compiled::Redirect(edits)), Some(Action::Redirect(redirect))) => {
                    let mut location = Vec::new();
                    redirect.to().write(&exchange.request(), params, &mut location);
                    write_redirect(redirect, &location, &mut Edited::new(exchange, edits, added));
                    Ok(())
                }
                _ => Err(Reason::HandlerFailed.into()),
            }
        }
    }

    /// Answers a request that may go no further, with the methods that its path takes.
    #[cold]
    fn answer_as_last<X: Exchange>(&self, exchange: &mut X, added: Option<&FieldLines>) {
        let mut params = Params::default();
        // No route takes CONNECT unless it names it, so the table says what it takes instead.
        self.config.table().find_for(&exchange.request(), b"CONNECT", &mut params);
        answer_as_last(&mut Edited::new(exchange, &self.no_edits, added), params.allow());
    }

    /// What makes gRPC of the requests of a route, if something does.
    fn transcoder(&self, route: usize) -> Option<&Transcoder> {
        match self.routes.get(route)? {
            Compiled::Proxy(proxy) => proxy.transcoder(),
            _ => None,
        }
    }

    /// The route with another upstream; made when it is first asked for.
    fn chosen(&self, number: usize, route: &ProxyRoute, upstream: usize) -> Option<Rc<ProxyRoute>> {
        if let Some(chosen) = self.chosen.borrow().get(&(number, upstream)) {
            return Some(Rc::clone(chosen));
        }
        let chosen = Rc::new(route.with_upstream(Rc::clone(self.upstreams.get(upstream)?)));
        self.chosen.borrow_mut().insert((number, upstream), Rc::clone(&chosen));
        Some(chosen)
    }

    /// The same with bodies that are changed or held on their way: plug-ins see them as they are.
    async fn answer_layered<X: Exchange>(
        &self,
        exchange: &mut X,
        config: &config::Route,
        mut run: Option<Box<P::Run>>,
        route: usize,
        params: &Params,
        admitted: Option<&Admitted>,
    ) -> Result<(), Fault> {
        let plain = Decompressed::new(exchange, config.decompression(), config.body().bytes_max);
        if let (Err(reason), Some(run)) = (&plain, &mut run) {
            // Before there is anything to answer with, so what they come to is nobody's.
            if run.wants_response() {
                let _ = run.no_response(*reason);
            } else {
                run.leave(*reason);
            }
        }
        let mut plain = plain?;
        let mut buffered = Buffered::new(&mut plain, config.buffer_bytes_max(), self.config.limits().memory_bytes_max);
        let mut compressed = Compressed::new(&mut buffered, config.compression());
        self.answer_plugged(&mut compressed, (run, None), route, params, admitted).await?;
        compressed.finish().await?;
        buffered.finish().await.map_err(Fault::from)
    }

    /// Whether bodies of a route are changed or held on their way.
    fn is_layered(&self, route: usize) -> bool {
        self.config.routes().get(route).is_some_and(config::Route::is_layered)
    }

    /// Keeps the memory of a request for another one.
    fn reuse(&self, params: Box<Params>, admitted: Option<Box<Admitted>>) {
        let mut spare = self.params.borrow_mut();
        if spare.len() < SPARE_MAX {
            spare.push(params);
        }
        if let Some(mut admitted) = admitted {
            let mut spare = self.admitted.borrow_mut();
            if spare.len() < SPARE_MAX {
                admitted.clear();
                spare.push(admitted);
            }
        }
    }
}

impl<P: PluginHost> Handler for Gateway<P> {
    type Plan = Plan<P::Run>;

    fn raw<R: Reply>(&self, request: Head<'_>, peer: &Peer, reply: &mut R) -> Step<Self::Plan> {
        self.find(request, None, peer, reply)
    }

    fn raw_with_body<R: Reply>(&self, request: Head<'_>, body: &[u8], peer: &Peer, reply: &mut R) -> Step<Self::Plan> {
        self.find(request, Some(body), peer, reply)
    }

    // A block and not an `async fn`, which has room for its arguments twice (docs/design/memory.md).
    fn exchange<X: Exchange>(&self, plan: Self::Plan, exchange: &mut X) -> impl Future<Output = Result<(), Fault>> {
        let Plan { route, mut params, mut admitted, waits, mut run, mut rewritten, called } = plan;
        async move {
            if waits
            && let (Some(Some(admission)), Some(notes)) = (self.admissions.get(route), &mut admitted)
            // Boxed: its future would make that of every exchange larger.
            && let Some((reason, status)) = Box::pin(admission.wait(exchange, notes)).await.refusal()
            {
                // Without a status the connection just ends.
                let result = if status == 0 { Err(reason.into()) } else { Ok(()) };
                if result.is_ok() {
                    match self.transcoder(route) {
                        None => refuse_as(exchange, reason, status, notes.reply.iter()),
                        Some(transcoder) => {
                            let voice = transcoder.voice(exchange.request());
                            refuse_call(transcoder, voice, exchange, (reason, status), &notes.reply);
                        }
                    }
                }
                self.reuse(params, admitted);
                return result;
            }
            if waits {
                let request = exchange.request();
                if let Some(begun) = self.plug_in(route, request, admitted.as_deref()) {
                    (run, rewritten) = self.restated(route, request, begun, &mut params)?;
                    mark(exchange, Phase::Plugin);
                }
            }
            if let (Some(plan), Some(Compiled::Mock(rpc, edits))) = (called, self.routes.get(route)) {
                let added = admitted.as_deref().map(|admitted| &admitted.reply);
                // Boxed, as all that is not on every exchange's way.
                let result = Box::pin(rpc.exchange(*plan, &mut Edited::new(exchange, edits, added))).await;
                self.reuse(params, admitted);
                return result;
            }
            let result = match self.config.routes().get(route).filter(|route| route.is_layered()) {
                None => {
                    let changes = (run, rewritten.as_deref_mut());
                    self.answer_plugged(exchange, changes, route, &params, admitted.as_deref()).await
                }
                // Boxed, as all that is not on every exchange's way.
                Some(config) => {
                    Box::pin(self.answer_layered(exchange, config, run, route, &params, admitted.as_deref())).await
                }
            };
            let result = match result {
                Err(fault) if says_so(fault.reason) && !exchange.head_sent() => {
                    let added = admitted.as_deref().map(|admitted| &admitted.reply);
                    refuse_with_notes(exchange, fault, added)
                }
                result => result,
            };
            self.reuse(params, admitted);
            self.reuse_rewritten(rewritten);
            result
        }
    }

    fn ended(&self, ended: Ended<'_>) {
        self.observer.ended(&ended);
    }
}

/// Where a route's copies go.
fn compile_mirror(
    mirror: &config::Mirror,
    config: &Config,
    upstreams: &[Rc<Upstream>],
    lasting: &Lasting,
) -> Result<Rc<Mirror>, GatewayError> {
    let number = mirror.upstream();
    let (Some(upstream), Some(named)) = (upstreams.get(number), config.upstreams().get(number)) else {
        return Err(GatewayError::Upstream(number));
    };
    Ok(Rc::new(Mirror::new(Rc::clone(upstream), mirror, lasting.states.mirror(named.name()))))
}

/// Tells the client of a failure with what the checks noted, which a browser or a limited client waits for, and when it may come
/// again: of neither the engine's own error reply has a word. Where there is none, that is left to it.
#[cold]
fn refuse_with_notes<X: Exchange>(x: &mut X, fault: Fault, added: Option<&FieldLines>) -> Result<(), Fault> {
    let wait_s = x.record().retry_after_s;
    let mut retry_after = FieldLines::default();
    if wait_s > 0 {
        retry_after.put(b"retry-after", |out| decimal(wait_s.into(), out));
    }
    let fields = || added.into_iter().chain([&retry_after]).flat_map(FieldLines::iter);
    if fields().next().is_none() {
        return Err(fault);
    }
    refuse(x, fault.reason, fields());
    Ok(())
}

/// Answers with a redirect to this place.
fn write_redirect<R: Reply>(redirect: &Redirect, location: &[u8], reply: &mut R) {
    reply.status(redirect.status());
    reply.field(b"location", location);
    reply.length(Length::Known(0));
    reply.body(&[]);
}
