use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use leat_dial::Pools;
use leat_files::{Files, SettingsError};
use leat_message::{Ended, Exchange, Fault, Handler, Head, Length, Peer, Reason, Reply, Step};
use leat_route::{Found, Params};

use crate::config::{Action, Config, Problem, Redirect, Rewrite};
use crate::edited::Edited;
use crate::endpoints::{EndpointsError, seats};
use crate::observer::Observer;
use crate::proxy::{Edits, ForwardedPolicy, ProxyRoute, Upstream, forward};
use crate::refuse::refuse;

/// Parameter tables that a core keeps for reuse.
const SPARE_PARAMS_MAX: usize = 256;

/// The gateway's handler of one core: a configuration, compiled, and the core's connections to upstreams.
pub struct Gateway {
    config: Arc<Config>,
    /// What the routes need beyond their configuration, by route number.
    routes: Vec<Compiled>,
    upstreams: Vec<Rc<Upstream>>,
    observer: Observer,
    params: RefCell<Vec<Params>>,
}

/// A route, ready to run.
enum Compiled {
    /// Answered in the raw step, from the configuration itself.
    Respond,
    /// Answered in the raw step.
    Redirect(Edits),
    Proxy(Box<ProxyRoute>),
    Files(Box<Files>, Rewrite, Edits),
}

/// What the raw step found: the route and its parameters.
pub struct Plan {
    route: usize,
    params: Params,
}

impl Gateway {
    /// Compiles a configuration for the calling core. `pools` outlives reloads, and with it the connections to endpoints
    /// that stay.
    ///
    /// # Errors
    /// An endpoint whose TLS settings can't be used, or a directory that can't be opened.
    pub fn new(config: Arc<Config>, pools: &Rc<Pools>, observer: Observer) -> Result<Self, GatewayError> {
        let observer = observer.believing(config.forwarded());
        let mut first = 0;
        let mut counted = HashSet::new();
        let mut upstreams = Vec::with_capacity(config.upstreams().len());
        for upstream in config.upstreams() {
            let mut seats = seats(upstream, first).map_err(GatewayError::Endpoint)?;
            for seat in &mut seats {
                seat.counts = counted.insert(Arc::clone(seat.endpoint.identity()));
            }
            first += seats.len() as u32;
            let weights: Vec<u32> = upstream.endpoints().iter().map(|endpoint| endpoint.weight()).collect();
            upstreams.push(Rc::new(Upstream::new(seats, &weights, Rc::clone(pools))));
        }
        let forwarded = Rc::new(ForwardedPolicy::new(config.forwarded()));
        let mut routes = Vec::with_capacity(config.routes().len());
        for route in config.routes() {
            routes.push(match route.action() {
                Action::Respond(_) => Compiled::Respond,
                Action::Redirect(_) => Compiled::Redirect(Edits::new(route.response_fields())),
                Action::Files(files, rewrite) => {
                    let files = crate::files::compile(files).map_err(GatewayError::Files)?;
                    Compiled::Files(Box::new(files), rewrite.clone(), Edits::new(route.response_fields()))
                }
                Action::Proxy(proxy, rewrite) => {
                    let upstream = upstreams.get(proxy.upstream()).ok_or(GatewayError::Upstream(proxy.upstream()))?;
                    let forwarded = Rc::clone(&forwarded);
                    let route = ProxyRoute::new(route, proxy, rewrite, Rc::clone(upstream), forwarded);
                    Compiled::Proxy(Box::new(route))
                }
            });
        }
        Ok(Self { config, routes, upstreams, observer, params: RefCell::new(vec![Params::default()]) })
    }

    /// Finds out whether a configuration can be run, without running it: certificates are read, directories opened.
    /// Everything that is wrong, in no order; `file` is how problems call the configuration.
    pub fn check(config: &Config, file: &str) -> Vec<Problem> {
        let mut problems = Vec::new();
        for upstream in config.upstreams() {
            if let Err(error) = seats(upstream, 0) {
                problems.push(Problem::new(file, upstream.place(), error.to_string()));
            }
        }
        for route in config.routes() {
            if let Action::Files(files, _) = route.action()
                && let Err(error) = crate::files::compile(files)
            {
                problems.push(Problem::new(file, route.place(), error.to_string()));
            }
        }
        problems
    }

    /// Brings the counters of the core's connections to endpoints up to date; to be called about once a second.
    pub fn publish(&self) {
        self.upstreams.iter().for_each(|upstream| upstream.publish(self.observer.core()));
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

/// Why a configuration can't be run, although it reads well.
#[derive(Debug)]
pub enum GatewayError {
    /// An endpoint's settings don't go together.
    Endpoint(EndpointsError),
    /// A directory can't be served.
    Files(SettingsError),
    /// A route names an upstream by a number that there is none of: a bug in the reader.
    Upstream(usize),
}

impl fmt::Display for GatewayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Endpoint(error) => write!(f, "{error}"),
            Self::Files(error) => write!(f, "{error}"),
            Self::Upstream(number) => write!(f, "there is no upstream number {number}"),
        }
    }
}

impl std::error::Error for GatewayError {}

impl Handler for Gateway {
    type Plan = Plan;

    fn raw<R: Reply>(&self, request: Head<'_>, _peer: &Peer, reply: &mut R) -> Step<Plan> {
        let mut spare = self.params.borrow_mut();
        let mut params = spare.pop().unwrap_or_default();
        let step = match self.config.table().find(&request, &mut params) {
            Found::Route(number) => {
                reply.record().route = Some(number);
                let number = number as usize;
                match (self.config.routes().get(number).map(|route| route.action()), self.routes.get(number)) {
                    (Some(Action::Respond(fixed)), _) => reply.fixed(fixed),
                    (Some(Action::Redirect(redirect)), Some(Compiled::Redirect(edits))) => {
                        redirect_to(request, redirect, &params, &mut Edited::new(reply, edits));
                    }
                    (Some(_), Some(_)) => return Step::Exchange(Plan { route: number, params }),
                    _ => refuse(reply, Reason::RouteNotFound, &[]),
                }
                Step::Done
            }
            Found::MethodNotAllowed => {
                refuse(reply, Reason::RouteMethod, &[(b"allow", params.allow())]);
                Step::Done
            }
            Found::NotFound => {
                refuse(reply, Reason::RouteNotFound, &[]);
                Step::Done
            }
            Found::Refused(reason) => {
                refuse(reply, reason, &[]);
                Step::Done
            }
        };
        spare.push(params);
        step
    }

    async fn exchange<X: Exchange>(&self, plan: Plan, exchange: &mut X) -> Result<(), Fault> {
        let Plan { route, params } = plan;
        let result = match self.routes.get(route) {
            Some(Compiled::Proxy(proxy)) => forward(exchange, proxy, &params, self.observer.core()).await,
            // Boxed: this future would make the one of every exchange as large as itself (docs/design/memory.md).
            Some(Compiled::Files(files, rewrite, edits)) => {
                let mut edited = Edited::new(exchange, edits);
                Box::pin(crate::files::serve(&mut edited, files, rewrite, &params)).await
            }
            Some(Compiled::Respond | Compiled::Redirect(_)) | None => Err(Reason::HandlerFailed.into()),
        };
        let mut spare = self.params.borrow_mut();
        if spare.len() < SPARE_PARAMS_MAX {
            spare.push(params);
        }
        result
    }

    fn ended(&self, ended: Ended<'_>) {
        self.observer.ended(&ended);
    }
}

/// Answers with a redirect. Allocates for the target.
fn redirect_to<R: Reply>(request: Head<'_>, redirect: &Redirect, params: &Params, reply: &mut R) {
    let mut location = Vec::new();
    redirect.to().write(&request, params, &mut location);
    reply.status(redirect.status());
    reply.field(b"location", &location);
    reply.length(Length::Known(0));
    reply.body(&[]);
}
