//! From a request to a call, and from what a service says to the reply of the client's protocol.
//!
//! [`Rpc`] is a [`Handler`]: alone on a listener, or behind a route. A unary call whose request is whole costs no future and
//! no task. Everything else is a conversation: the service's future, polled beside the connection, so that a deadline and a
//! client that goes end it wherever it waits.

mod answering;
mod breaking;
mod cors;
mod encode;
mod head;
mod receiving;
mod scratch;
mod settings;
mod talk;
mod wire;

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::pin;
use std::task::{Poll, ready};

use leat_message::{
    BodyLimits, Exchange, Fault, Handler, Head, Length, Method as HttpMethod, Peer, Reason, Reply, Step,
};
use leat_rpc_wire::connect::query::Query;
use leat_rpc_wire::{Code, MediaType, Opening, Refused, Status};
use leat_schema::{Idempotency, Method};
use leat_stream::Timer;
use leat_stream::clock::TICK_MS;

pub use settings::{Cors, Settings};

use crate::call::{Answer as _, Call, Message, Outcome, Protocol, Service};
use crate::metadata::CallMetadata;
use answering::{Answering, Later};
use head::CallHead;
use receiving::{Bad, Receiving};
use talk::Talk;
use wire::Wire;

/// Serves the calls of a service by every protocol.
#[derive(Debug)]
pub struct Rpc<S> {
    service: S,
    settings: Settings,
}

/// What the raw step found out.
#[derive(Debug)]
pub struct Plan<P> {
    opening: Opening,
    /// What the service said to the request, which was whole then, and the request without envelope and compression.
    asked: Option<(P, Vec<u8>)>,
}

/// How long the request of a call that streams nothing may take, in milliseconds.
const REQUEST_TIME_MS: u64 = 60_000;

impl<S: Service> Rpc<S> {
    /// Serves `service`.
    pub fn new(service: S, settings: Settings) -> Self {
        Self { service, settings }
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
        let (head, peer) = (exchange.request(), exchange.peer().clone());
        let (bytes, lines) = (head.bytes().to_vec(), head.lines().clone());
        match self.raw(Head::new(&bytes, &lines), &peer, exchange) {
            Step::Done => Ok(()),
            Step::Exchange(plan) => self.exchange(plan, exchange).await,
        }
    }

    /// Reads the head; `None` where it was answered.
    fn open<R: Reply>(&self, head: Head<'_>, reply: &mut R) -> Option<(Opening, &Method)> {
        if head.method() == HttpMethod::Options && cors::answer_preflight(head, &self.settings.cors, reply) {
            return None;
        }
        let path = std::str::from_utf8(head.path()).unwrap_or_default();
        let method = self.service.method(path);
        let opening = match Opening::read(head) {
            Ok(opening) => opening,
            Err(Refused::Call(opening, status)) => {
                reply.record().reason = Some(Reason::RpcProtocol);
                Answering::new(reply, opening, method, self.origin(head)).fail(&status);
                return None;
            }
            Err(_) if method.is_none() => return head::write_problem(reply, Reason::RouteNotFound),
            Err(Refused::Method) => return head::write_problem(reply, Reason::RouteMethod),
            Err(Refused::Media) => return head::write_problem(reply, Reason::RpcMediaType),
            Err(Refused::Version) => return head::write_problem(reply, Reason::RpcHttpVersion),
        };
        let Some(method) = method else {
            let status = self.service.unknown(path).unwrap_or_else(|| unknown(path));
            reply.record().reason = Some(Reason::RpcUnknownMethod);
            Answering::new(reply, opening, None, self.origin(head)).fail(&status);
            return None;
        };
        let fits = match opening.media {
            MediaType::Connect(_) => method.is_unary(),
            MediaType::ConnectStream(_) => !method.is_unary(),
            _ => true,
        };
        if !fits {
            return head::write_problem(reply, Reason::RpcMediaType);
        }
        if opening.is_get && method.idempotency() != Idempotency::NoSideEffects {
            return head::write_problem(reply, Reason::RouteMethod);
        }
        Some((opening, method))
    }

    fn origin<'h>(&self, head: Head<'h>) -> Option<&'h [u8]> {
        self.settings.cors.allowed(head)
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
    ) -> Step<Plan<S::Plan>> {
        let origin = self.origin(head);
        let step = scratch::with_bytes(|room| {
            match receiving::only_message(opening, body, self.settings.receive_bytes_max, room) {
                Ok(message) => match self.ask((opening, method), head, peer, message, reply) {
                    Step::Done => Step::Done,
                    Step::Exchange(plan) => Step::Exchange((plan, message.to_vec())),
                },
                Err(status) => {
                    reply.record().reason = Some(reason_of(&status));
                    Answering::new(reply, opening, Some(method), origin).fail(&status);
                    Step::Done
                }
            }
        });
        match step {
            Step::Done => Step::Done,
            Step::Exchange(asked) => Step::Exchange(Plan { opening, asked: Some(asked) }),
        }
    }
}

impl<S: Service> Handler for Rpc<S> {
    type Plan = Plan<S::Plan>;

    fn raw<R: Reply>(&self, request: Head<'_>, peer: &Peer, reply: &mut R) -> Step<Self::Plan> {
        let Some(opened) = self.open(request, reply) else { return Step::Done };
        let (opening, method) = opened;
        if opening.is_get {
            return scratch::with_bytes(|room| {
                if Query::read(request.query().unwrap_or_default()).decode(room).is_ok() {
                    return self.whole(opened, request, peer, room, reply);
                }
                reply.record().reason = Some(Reason::RpcProtocol);
                let status =
                    Status::new(Code::InvalidArgument, "protocol error: the message in the query is malformed");
                Answering::new(reply, opening, Some(method), self.origin(request)).fail(&status);
                Step::Done
            });
        }
        if method.is_unary() && matches!(request.length(), Length::None | Length::Known(0)) {
            return self.whole(opened, request, peer, &[], reply);
        }
        Step::Exchange(Plan { opening, asked: None })
    }

    fn raw_with_body<R: Reply>(&self, request: Head<'_>, body: &[u8], peer: &Peer, reply: &mut R) -> Step<Self::Plan> {
        let Some((opening, method)) = self.open(request, reply) else { return Step::Done };
        if !method.is_unary() {
            return Step::Exchange(Plan { opening, asked: None });
        }
        let step = self.whole((opening, method), request, peer, body, reply);
        if matches!(step, Step::Done) {
            reply.record().bytes_in = body.len() as u64;
        }
        step
    }

    async fn exchange<X: Exchange>(&self, plan: Self::Plan, exchange: &mut X) -> Result<(), Fault> {
        let opening = plan.opening;
        let path = exchange.request().path();
        let Some(method) = self.service.method(std::str::from_utf8(path).unwrap_or_default()) else {
            return Err(Reason::HandlerFailed.into());
        };
        let time_ms = (!method.client_streams()).then_some(REQUEST_TIME_MS);
        exchange.limit_body(BodyLimits { bytes_max: u64::MAX, time_ms });
        let mut deadline = Timer::default();
        if let Some(timeout) = opening.timeout {
            // The core's clock may be a tick behind: a deadline is never kept too early.
            let ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
            deadline.set_after(ms.saturating_add(TICK_MS));
        }
        let mut receiving = Receiving::new(opening, self.settings.receive_bytes_max);
        if let Some((plan, message)) = plan.asked {
            receiving.put_only(message);
            return self.converse(Some(plan), (opening, method), receiving, deadline, exchange).await;
        }
        if method.client_streams() {
            return self.converse(None, (opening, method), receiving, deadline, exchange).await;
        }
        match poll_fn(|cx| {
            if let Poll::Ready(done) = receiving.poll_only(exchange, cx) {
                return Poll::Ready(done);
            }
            deadline.poll_due(cx).map(|()| Err(Bad::Status(deadline_exceeded())))
        })
        .await
        {
            Ok(()) => {}
            Err(Bad::Transport(reason)) => return Err(reason.into()),
            Err(Bad::Status(status)) => {
                let head = CallHead::new(exchange, self.settings.cors.allowed(exchange.request()));
                exchange.record().reason = Some(reason_of(&status));
                // More may be on its way than would be read off: HTTP/1 must not promise to go on behind it.
                exchange.keep_alive(false);
                let mut later = Later::default();
                Answering::new(exchange, opening, Some(method), head.origin()).leaving(&mut later).fail(&status);
                return send_later(later, exchange).await;
            }
        }
        let plan = if method.is_unary() {
            let head = CallHead::new(exchange, self.settings.cors.allowed(exchange.request()));
            let call = head.call(opening, method);
            let mut later = Later::default();
            let mut answering = Answering::new(exchange, opening, Some(method), head.origin()).leaving(&mut later);
            match self.service.whole(&call, receiving.message(), &mut answering) {
                Step::Done => return send_later(later, exchange).await,
                Step::Exchange(plan) => Some(plan),
            }
        } else {
            None
        };
        receiving.again();
        self.converse(plan, (opening, method), receiving, deadline, exchange).await
    }
}

impl<S: Service> Rpc<S> {
    /// Runs the service's future beside the connection.
    async fn converse<X: Exchange>(
        &self,
        plan: Option<S::Plan>,
        (opening, method): (Opening, &Method),
        receiving: Receiving,
        mut deadline: Timer,
        exchange: &mut X,
    ) -> Result<(), Fault> {
        let head = CallHead::new(exchange, self.settings.cors.allowed(exchange.request()));
        let wire = RefCell::new(Wire::new(exchange, opening, method, head.origin()));
        let mut talk = Talk::new(&wire, &head, opening, method, receiving);
        let ended = {
            let mut future = pin!(self.service.converse(plan, &mut talk));
            poll_fn(|cx| {
                let polled = future.as_mut().poll(cx);
                let mut wire = wire.borrow_mut();
                if let Some(reason) = wire.broken() {
                    return Poll::Ready(Err(reason));
                }
                if let Poll::Ready(outcome) = polled {
                    return Poll::Ready(Ok(outcome));
                }
                if let Poll::Ready(Err(reason)) = wire.poll_push(cx) {
                    return Poll::Ready(Err(reason));
                }
                if let Poll::Ready(reason) = wire.poll_gone(cx) {
                    return Poll::Ready(Err(reason));
                }
                deadline.poll_due(cx).map(|()| {
                    wire.note(Reason::RpcDeadline);
                    Ok(Outcome::from(deadline_exceeded()))
                })
            })
            .await
        };
        let mut outcome = ended?;
        let (has_received_all, violation) = talk.into_parts();
        let mut wire = wire.into_inner();
        if !has_received_all {
            wire.exchange.keep_alive(false);
        }
        if let Some(status) = violation {
            wire.note(reason_of(&status));
            outcome.status = status;
        }
        wire.finish(&outcome);
        Ok(poll_fn(|cx| wire.poll_end(cx)).await?)
    }
}

/// Sends what the answer to a unary call left to be sent.
async fn send_later<X: Exchange>(later: Later, exchange: &mut X) -> Result<(), Fault> {
    let mut rest = later.body.as_slice();
    poll_fn(|cx| {
        while !rest.is_empty() {
            let count = ready!(exchange.poll_send(cx, rest))?;
            rest = rest.get(count..).unwrap_or_default();
        }
        Poll::Ready(Ok::<(), Reason>(()))
    })
    .await?;
    if let Some((status, trailers)) = &later.end {
        answering::with_trailers(status, trailers, |fields| exchange.end(Some(fields.fields())));
    }
    Ok(())
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

fn deadline_exceeded() -> Status {
    Status::new(Code::DeadlineExceeded, "the deadline of the call has passed")
}

/// What the record says of a status that serve itself made of a request.
fn reason_of(status: &Status) -> Reason {
    match status.code {
        Code::ResourceExhausted => Reason::RpcMessageBytes,
        Code::DeadlineExceeded => Reason::RpcDeadline,
        _ => Reason::RpcProtocol,
    }
}
