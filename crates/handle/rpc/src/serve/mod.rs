//! From a request to a call, and from what a service says to the reply of the client's protocol.
//!
//! [`Rpc`] is a [`Handler`]: alone on a listener, or behind a route. A unary call whose request is whole costs no future and
//! no task. Everything else is a conversation: the service's future, polled beside the connection, so that a deadline and a
//! client that goes end it wherever it waits.

mod answering;
mod breaking;
mod calling;
mod cors;
mod encode;
mod head;
mod receiving;
mod scratch;
mod settings;
mod talk;
mod wire;

use std::borrow::Cow;
use std::sync::Arc;

use leat_message::{BodyLimits, Exchange, Fault, Handler, Head, Length, Peer, Reason, Reply, Step, Version};
use leat_rpc_wire::connect::query::Query;
use leat_rpc_wire::rest::Bound;
use leat_rpc_wire::{Code, MediaType, Opening, Refused, Status};
use leat_schema::{Idempotency, Method};

pub use cors::{Cors, Origin, OwnedOrigin};
pub use settings::Settings;

use crate::call::{Answer as _, Call, Message, Protocol, Refusal, Service};
use crate::metadata::CallMetadata;
use crate::transcode::{Transcoder, status_of};
use answering::Answering;

/// Serves the calls of a service by every protocol.
#[derive(Debug)]
pub struct Rpc<S> {
    service: S,
    settings: Settings,
    rest: Option<Arc<Transcoder>>,
}

/// What the raw step found out.
#[derive(Debug)]
pub enum Plan<P> {
    /// A call of gRPC, gRPC-Web or Connect.
    Call(CallPlan<P>),
    /// A request that `google.api.http` makes a call.
    Rest,
    /// A request of HTTP/2 that begins no call, and whose end is not here.
    Refused,
}

/// What the raw step found out of a call.
#[derive(Debug)]
pub struct CallPlan<P> {
    opening: Opening,
    /// What the client speaks.
    protocol: Protocol,
    /// What the service said to the request, which was whole then, and the request without envelope and compression.
    asked: Option<(P, Vec<u8>)>,
}

impl<P> From<Opening> for CallPlan<P> {
    fn from(opening: Opening) -> Self {
        Self { opening, protocol: protocol(opening.media), asked: None }
    }
}

/// Why the head of a request begins no call.
enum Unopened<'m> {
    /// A page asks whether it may.
    Preflight,
    /// The client is told in its protocol.
    Call(Opening, Option<&'m Method>, Status, Reason),
    /// The client is told by HTTP.
    Problem(Reason),
}

/// How long the request of a call that streams nothing may take, in milliseconds.
const REQUEST_TIME_MS: u64 = 60_000;

impl<S: Service> Rpc<S> {
    /// Serves `service`.
    pub fn new(service: S, settings: Settings) -> Self {
        Self { service, settings, rest: None }
    }

    /// Serves HTTP and JSON too, by the bindings of the service's schema.
    pub fn with_rest(mut self, transcoder: Arc<Transcoder>) -> Self {
        self.rest = Some(transcoder);
        self
    }

    /// The service.
    pub fn service(&self) -> &S {
        &self.service
    }

    /// Answers an exchange from its head on: for those who could not take the raw step, because something in front had to
    /// wait. Copies the head.
    ///
    /// # Errors
    /// As [`Handler::exchange`].
    pub async fn answer<X: Exchange>(&self, exchange: &mut X) -> Result<(), Fault> {
        match self.is_rest(exchange.request()) {
            true => self.exchange_rest(exchange).await,
            false => self.answer_call(exchange, exchange.request().version(), None).await,
        }
    }

    /// `spoken` is what the client speaks, where the head says another.
    async fn answer_call<X: Exchange>(
        &self,
        exchange: &mut X,
        version: Version,
        spoken: Option<Protocol>,
    ) -> Result<(), Fault> {
        let (head, peer) = (exchange.request(), exchange.peer().clone());
        let (bytes, mut lines) = (head.bytes().to_vec(), head.lines().clone());
        lines.version = version;
        let head = Head::new(&bytes, &lines);
        let opened = match self.read(head) {
            Ok(opened) => opened,
            Err(unopened) => {
                if !is_whole(head) {
                    // More may be on its way than would be read off: HTTP/1 must not promise to go on behind it.
                    exchange.keep_alive(false);
                }
                self.answer_unopened(head, &peer, unopened, exchange);
                return Ok(());
            }
        };
        let spoken = spoken.unwrap_or_else(|| protocol(opened.0.media));
        exchange.record().rpc = Some(spoken);
        // Only the query of a GET is looked at here: the raw step's replies go past layers.
        let step = match opened.0.is_get {
            true => self.raw_call(opened, head, None, &peer, exchange),
            false => Step::Exchange(opened.0.into()),
        };
        match step {
            Step::Done => Ok(()),
            Step::Exchange(plan) => {
                let plan = CallPlan { protocol: spoken, ..plan };
                self.exchange_call(plan, exchange).await
            }
        }
    }

    /// Whether a request is no call of an RPC protocol's, and is bound to a method by its path. Preflights are not, whatever is
    /// bound to their path.
    fn is_rest(&self, head: Head<'_>) -> bool {
        self.rest.as_ref().is_some_and(|rest| {
            let path = std::str::from_utf8(head.path()).unwrap_or_default();
            self.service.method(path).is_none()
                && !cors::is_preflight(head, &self.settings.cors)
                && !matches!(rest.bindings().find(head.method_bytes(), head.path()), Bound::Nothing)
        })
    }

    /// Answers a REST request: to what stands behind the transcoder it is a call of gRPC.
    async fn exchange_rest<X: Exchange>(&self, exchange: &mut X) -> Result<(), Fault> {
        let Some(rest) = &self.rest else { return Err(Reason::HandlerFailed.into()) };
        let origin = self.origin(exchange.request()).to_owned();
        let added = |put: &mut dyn FnMut(&[u8], &[u8])| origin.origin().each(put);
        let limits = |streams: bool| BodyLimits { bytes_max: u64::MAX, time_ms: (!streams).then_some(REQUEST_TIME_MS) };
        let Some(mut transcoded) = rest.open(exchange, limits, &added).await? else {
            let reason = exchange.record().reason.unwrap_or(Reason::RpcProtocol);
            self.tell_refused_rest(rest, exchange.request(), exchange.peer(), reason);
            return Ok(());
        };
        let result = self.answer_call(&mut transcoded, Version::Http2, Some(Protocol::Rest)).await;
        transcoded.finish(result).await
    }

    /// The raw step, with the body where that is at hand.
    fn begin<R: Reply>(
        &self,
        request: Head<'_>,
        body: Option<&[u8]>,
        peer: &Peer,
        reply: &mut R,
    ) -> Step<Plan<S::Plan>> {
        if self.is_rest(request) {
            return Step::Exchange(Plan::Rest);
        }
        match self.read(request) {
            Ok(opened) => {
                reply.record().rpc = Some(protocol(opened.0.media));
                match self.raw_call(opened, request, body, peer, reply) {
                    Step::Done => Step::Done,
                    Step::Exchange(plan) => Step::Exchange(Plan::Call(plan)),
                }
            }
            // The reply of a raw step ends behind the request, which a client that waits for the reply may not end.
            Err(_) if request.version() == Version::Http2 && body.is_none() && !is_whole(request) => {
                Step::Exchange(Plan::Refused)
            }
            Err(unopened) => {
                self.answer_unopened(request, peer, unopened, reply);
                Step::Done
            }
        }
    }

    /// The raw step of a call.
    fn raw_call<R: Reply>(
        &self,
        (opening, method): (Opening, &Method),
        request: Head<'_>,
        body: Option<&[u8]>,
        peer: &Peer,
        reply: &mut R,
    ) -> Step<CallPlan<S::Plan>> {
        if opening.is_get {
            return scratch::with_bytes(|room| {
                if Query::read(request.query().unwrap_or_default()).decode(room).is_ok() {
                    return self.whole((opening, method), request, peer, room, reply);
                }
                reply.record().reason = Some(Reason::RpcProtocol);
                let status =
                    Status::new(Code::InvalidArgument, "protocol error: the message in the query is malformed");
                self.tell_malformed((opening, method), request, peer, &status);
                Answering::new(reply, opening, Some(method), self.origin(request)).fail(&status);
                Step::Done
            });
        }
        let Some(body) = body.or_else(|| is_whole(request).then_some(&[])).filter(|_| method.is_unary()) else {
            return Step::Exchange(opening.into());
        };
        let step = self.whole((opening, method), request, peer, body, reply);
        if matches!(step, Step::Done) {
            reply.record().bytes_in = body.len() as u64;
        }
        step
    }

    /// Reads the head. Whoever gets an error answers it.
    fn read(&self, head: Head<'_>) -> Result<(Opening, &Method), Unopened<'_>> {
        if cors::is_preflight(head, &self.settings.cors) {
            return Err(Unopened::Preflight);
        }
        let path = std::str::from_utf8(head.path()).unwrap_or_default();
        let method = self.service.method(path);
        let opening = match Opening::read(head) {
            Ok(opening) => opening,
            Err(Refused::Call(opening, status)) => {
                return Err(Unopened::Call(opening, method, status, Reason::RpcProtocol));
            }
            Err(_) if method.is_none() => return Err(Unopened::Problem(Reason::RouteNotFound)),
            Err(Refused::Method) => return Err(Unopened::Problem(Reason::RouteMethod)),
            Err(Refused::Media) => return Err(Unopened::Problem(Reason::RpcMediaType)),
            Err(Refused::Version) => return Err(Unopened::Problem(Reason::RpcHttpVersion)),
        };
        let Some(method) = method else {
            let status = self.service.unknown(path).unwrap_or_else(|| unknown(path));
            return Err(Unopened::Call(opening, None, status, Reason::RpcUnknownMethod));
        };
        let fits = match opening.media {
            MediaType::Connect(_) => method.is_unary(),
            MediaType::ConnectStream(_) => !method.is_unary(),
            _ => true,
        };
        if !fits {
            return Err(Unopened::Problem(Reason::RpcMediaType));
        }
        if opening.is_get && method.idempotency() != Idempotency::NoSideEffects {
            return Err(Unopened::Problem(Reason::RouteMethod));
        }
        Ok((opening, method))
    }

    fn answer_unopened<R: Reply>(&self, head: Head<'_>, peer: &Peer, unopened: Unopened<'_>, reply: &mut R) {
        self.tell_refused(head, peer, &unopened);
        match unopened {
            Unopened::Preflight => {
                let path = std::str::from_utf8(head.path()).unwrap_or_default();
                cors::answer_preflight(head, &self.settings.cors, self.service.method(path).is_some(), reply);
            }
            Unopened::Call(opening, method, status, reason) => {
                reply.record().reason = Some(reason);
                reply.record().rpc.get_or_insert(protocol(opening.media));
                Answering::new(reply, opening, method, self.origin(head)).fail(&status);
            }
            Unopened::Problem(reason) => head::write_problem(reply, reason, self.origin(head)),
        }
    }

    /// Tells the service of a request that begins no call. What asks whether it may, and what goes elsewhere in no protocol of RPC, was
    /// never meant to be one.
    fn tell_refused(&self, head: Head<'_>, peer: &Peer, unopened: &Unopened<'_>) {
        let path = String::from_utf8_lossy(head.path());
        let of_path = || self.service.method(&path);
        let (method, protocol, status) = match unopened {
            Unopened::Preflight => return,
            Unopened::Call(opening, method, status, _) => {
                (*method, Some(protocol(opening.media)), Cow::Borrowed(status))
            }
            Unopened::Problem(_) if of_path().is_none() => return,
            Unopened::Problem(reason) => (of_path(), None, Cow::Owned(status_of(*reason))),
        };
        let method = method.map_or(path.trim_start_matches('/'), Method::full_name);
        self.service.refused(&Refusal { method, protocol, head, peer, status: &status });
    }

    /// The same for one whose message can't be read.
    #[cold]
    fn tell_malformed(&self, (opening, method): (Opening, &Method), head: Head<'_>, peer: &Peer, status: &Status) {
        let (method, protocol) = (method.full_name(), Some(protocol(opening.media)));
        self.service.refused(&Refusal { method, protocol, head, peer, status });
    }

    /// The same for one that is bound to a method by its path.
    fn tell_refused_rest(&self, rest: &Transcoder, head: Head<'_>, peer: &Peer, reason: Reason) {
        let path = match rest.explain(head) {
            Ok((_, path)) => path,
            Err(_) => String::from_utf8_lossy(head.path()).into_owned(),
        };
        let method = path.trim_start_matches('/');
        let status = status_of(reason);
        self.service.refused(&Refusal { method, protocol: Some(Protocol::Rest), head, peer, status: &status });
    }

    fn origin<'h>(&self, head: Head<'h>) -> Origin<'h> {
        self.settings.cors.origin(head)
    }

    /// Asks the service about a unary request that is whole and plain.
    fn ask<R: Reply>(
        &self,
        (opening, method): (Opening, &Method),
        head: Head<'_>,
        peer: &Peer,
        message: &[u8],
        reply: &mut R,
    ) -> Step<S::Plan> {
        let call = Call {
            method,
            metadata: CallMetadata::new(head.fields()),
            timeout: opening.timeout,
            peer,
            protocol: protocol(opening.media),
            get_query: opening.is_get.then(|| head.query().unwrap_or_default()),
        };
        let mut answering = Answering::new(reply, opening, Some(method), self.origin(head));
        self.service.whole(&call, Message { form: opening.form(), bytes: message }, &mut answering)
    }

    /// Answers a unary request whose body is at hand, or makes the plan to go on.
    fn whole<R: Reply>(
        &self,
        (opening, method): (Opening, &Method),
        head: Head<'_>,
        peer: &Peer,
        body: &[u8],
        reply: &mut R,
    ) -> Step<CallPlan<S::Plan>> {
        let origin = self.origin(head);
        let step = scratch::with_bytes(|room| {
            match receiving::only_message(opening, body, self.settings.receive_bytes_max, room) {
                Ok(message) => match self.ask((opening, method), head, peer, message, reply) {
                    Step::Done => Step::Done,
                    Step::Exchange(plan) => Step::Exchange((plan, message.to_vec())),
                },
                Err(status) => {
                    reply.record().reason = Some(reason_of(&status));
                    self.tell_malformed((opening, method), head, peer, &status);
                    Answering::new(reply, opening, Some(method), origin).fail(&status);
                    Step::Done
                }
            }
        });
        match step {
            Step::Done => Step::Done,
            Step::Exchange(asked) => Step::Exchange(CallPlan { asked: Some(asked), ..opening.into() }),
        }
    }
}

impl<S: Service> Handler for Rpc<S> {
    type Plan = Plan<S::Plan>;

    fn raw<R: Reply>(&self, request: Head<'_>, peer: &Peer, reply: &mut R) -> Step<Self::Plan> {
        self.begin(request, None, peer, reply)
    }

    fn raw_with_body<R: Reply>(&self, request: Head<'_>, body: &[u8], peer: &Peer, reply: &mut R) -> Step<Self::Plan> {
        self.begin(request, Some(body), peer, reply)
    }

    async fn exchange<X: Exchange>(&self, plan: Self::Plan, exchange: &mut X) -> Result<(), Fault> {
        match plan {
            Plan::Call(plan) => self.exchange_call(plan, exchange).await,
            Plan::Rest => self.exchange_rest(exchange).await,
            Plan::Refused => self.answer_call(exchange, exchange.request().version(), None).await,
        }
    }
}

/// Whether a request has no body, so that its head is all of it.
fn is_whole(head: Head<'_>) -> bool {
    matches!(head.length(), Length::None | Length::Known(0))
}

/// The protocol of a type.
fn protocol(media: MediaType) -> Protocol {
    match media {
        MediaType::Grpc(_) => Protocol::Grpc,
        MediaType::GrpcWeb(_) | MediaType::GrpcWebText(_) => Protocol::GrpcWeb,
        MediaType::Connect(_) | MediaType::ConnectStream(_) => Protocol::Connect,
    }
}

fn unknown(path: &str) -> Status {
    Status::new(Code::Unimplemented, format!("there is no method {}", path.escape_debug()))
}

/// What the record says of a status that serve itself made of a request.
fn reason_of(status: &Status) -> Reason {
    match status.code {
        Code::ResourceExhausted => Reason::RpcMessageBytes,
        Code::DeadlineExceeded => Reason::RpcDeadline,
        _ => Reason::RpcProtocol,
    }
}
