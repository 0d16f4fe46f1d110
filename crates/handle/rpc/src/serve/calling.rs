use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::pin;
use std::task::{Poll, ready};

use leat_message::{BodyLimits, Exchange, Fault, Reason, Step};
use leat_rpc_wire::{Code, Opening, Status};
use leat_schema::Method;
use leat_stream::Timer;
use leat_stream::clock::TICK_MS;

use super::answering::{self, Answering, Later};
use super::head::CallHead;
use super::receiving::{self, Bad, Receiving};
use super::talk::Talk;
use super::wire::Wire;
use super::{CallPlan, REQUEST_TIME_MS, Rpc, reason_of};
use crate::call::{Answer as _, Outcome, Protocol, Service};

impl<S: Service> Rpc<S> {
    /// The exchange step of a call.
    pub(super) async fn exchange_call<X: Exchange>(
        &self,
        plan: CallPlan<S::Plan>,
        exchange: &mut X,
    ) -> Result<(), Fault> {
        let CallPlan { opening, protocol, .. } = plan;
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
            // It is all here. Unread, it would hide that the client goes.
            poll_fn(|cx| receiving::poll_skip(exchange, cx)).await?;
            return self.converse(Some(plan), (opening, method, protocol), receiving, deadline, exchange).await;
        }
        if method.client_streams() {
            return self.converse(None, (opening, method, protocol), receiving, deadline, exchange).await;
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
                let head = CallHead::new(exchange, self.origin(exchange.request()), protocol);
                exchange.record().reason = Some(reason_of(&status));
                // More may be on its way than would be read off: HTTP/1 must not promise to go on behind it.
                exchange.keep_alive(false);
                let mut later = Later::default();
                Answering::new(exchange, opening, Some(method), head.origin()).leaving(&mut later).fail(&status);
                return send_later(later, exchange).await;
            }
        }
        let plan = if method.is_unary() {
            let head = CallHead::new(exchange, self.origin(exchange.request()), protocol);
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
        self.converse(plan, (opening, method, protocol), receiving, deadline, exchange).await
    }
    /// Runs the service's future beside the connection.
    async fn converse<X: Exchange>(
        &self,
        plan: Option<S::Plan>,
        (opening, method, protocol): (Opening, &Method, Protocol),
        receiving: Receiving,
        mut deadline: Timer,
        exchange: &mut X,
    ) -> Result<(), Fault> {
        let head = CallHead::new(exchange, self.origin(exchange.request()), protocol);
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

fn deadline_exceeded() -> Status {
    Status::new(Code::DeadlineExceeded, "the deadline of the call has passed")
}
