use std::task::{Context, Poll, ready};

use leat_message::{Exchange, Length, Reason};
use leat_rpc_wire::envelope::{self, COMPRESSED};
use leat_rpc_wire::{Code, MediaType, Metadata, Opening, Status};
use leat_schema::Method;

use super::answering::{Answering, Later, append_end, with_trailers};
use super::breaking::Breaking;
use super::cors::Origin;
use super::{encode, head};
use crate::call::{Answer as _, Fault, Message, Outcome, Prepared};
use crate::outgoing::Outgoing;

/// Bytes of a reply that may wait for the connection before a service is held up.
const ROOM_BYTES: usize = 32 * 1024;

/// The reply of a conversation, and the exchange that both directions share.
pub(super) struct Wire<'x, X> {
    pub(super) exchange: &'x mut X,
    opening: Opening,
    method: &'x Method,
    origin: Origin<'x>,
    headers: Metadata,
    head_sent: bool,
    /// Encoded bytes.
    out: Outgoing,
    /// The message of a call whose head says how the call ended: Connect's unary calls.
    held: Option<Vec<u8>>,
    messages: u64,
    broken: Option<Reason>,
    /// gRPC's trailers, to be sent behind what is left of the body.
    trailers: Option<(Status, Metadata)>,
    ended: bool,
    breaking: Breaking,
}

impl<'x, X: Exchange> Wire<'x, X> {
    pub(super) fn new(exchange: &'x mut X, opening: Opening, method: &'x Method, origin: Origin<'x>) -> Self {
        Self {
            exchange,
            opening,
            method,
            origin,
            headers: Metadata::new(),
            head_sent: false,
            out: Outgoing::default(),
            held: None,
            messages: 0,
            broken: None,
            trailers: None,
            ended: false,
            breaking: Breaking::default(),
        }
    }

    /// The connection's failure that a service was told as a status.
    pub(super) fn broken(&self) -> Option<Reason> {
        self.broken
    }

    pub(super) fn set_broken(&mut self, reason: Reason) {
        self.broken = Some(reason);
    }

    /// Says in the record why a call was ended.
    pub(super) fn note(&mut self, reason: Reason) {
        self.exchange.record().reason = Some(reason);
    }

    pub(super) fn header(&mut self, name: &str, value: &[u8]) {
        if !self.head_sent {
            self.headers.push(name, value);
        }
    }

    fn is_unary_connect(&self) -> bool {
        matches!(self.opening.media, MediaType::Connect(_))
    }

    pub(super) fn send_headers(&mut self) {
        if !self.head_sent && !self.is_unary_connect() {
            self.head_sent = true;
            let coding = self.breaking.declared(self.opening.answered);
            head::write(self.opening, coding, &self.headers, self.origin, self.exchange);
            self.exchange.length(Length::Stream);
        }
    }

    pub(super) fn send(&mut self, message: Message<'_>) -> Result<(), Status> {
        let bytes = encode::in_form(message, self.opening.form(), self.method)?;
        self.push(&bytes);
        Ok(())
    }

    pub(super) fn send_prepared(&mut self, message: &Prepared) {
        self.push(message.message(self.opening.form()).bytes);
    }

    fn push(&mut self, message: &[u8]) {
        self.messages += 1;
        if self.is_unary_connect() {
            self.held = Some(message.to_vec());
            return;
        }
        self.send_headers();
        match self.breaking.garbles {
            false => encode::append(self.opening, message, self.out.tail()),
            true => encode::as_text(self.opening, self.out.tail(), |out| envelope::write(COMPRESSED, message, out)),
        }
    }

    pub(super) fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<Reason> {
        self.exchange.poll_gone(cx)
    }

    /// Ready when a service may go on sending.
    pub(super) fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Reason>> {
        let pushed = self.poll_push(cx);
        if self.out.waiting_bytes() < ROOM_BYTES { Poll::Ready(Ok(())) } else { pushed }
    }

    /// Gives what is encoded to the connection, and has it written.
    pub(super) fn poll_push(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Reason>> {
        if !self.head_sent || self.ended {
            return Poll::Ready(Ok(()));
        }
        ready!(self.poll_drain(cx))?;
        self.exchange.poll_flush(cx)
    }

    /// Gives what is encoded to the exchange.
    fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Reason>> {
        while self.out.waiting_bytes() > 0 {
            let rest = self.out.waiting();
            let Poll::Ready(count) = self.breaking.poll_allowed(cx, rest.len()) else {
                ready!(self.exchange.poll_flush(cx))?;
                return Poll::Pending;
            };
            if count == 0 {
                return self.breaking.poll_break(self.exchange, self.head_sent, cx).map(Err);
            }
            let piece = rest.get(..count).unwrap_or(rest);
            let count = ready!(self.exchange.poll_send(cx, piece))?;
            self.out.sent(count);
            if self.breaking.sent(count) {
                // What is not flushed now leaves while the next piece is waited for.
                let _ = self.exchange.poll_flush(cx)?;
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Breaks what follows.
    pub(super) fn fault(&mut self, fault: Fault) {
        self.breaking.add(fault);
    }

    /// The call has ended: appends what says so.
    pub(super) fn finish(&mut self, outcome: &Outcome) {
        if self.breaking.breaks_off() {
            return;
        }
        let mut status = outcome.status.clone();
        if status.is_ok() && !self.method.server_streams() && self.messages != 1 {
            status =
                Status::new(Code::Internal, format!("the service sent {} messages where one is due", self.messages));
        }
        if !self.head_sent && (self.is_unary_connect() || !status.is_ok()) {
            let (headers, held) = (std::mem::take(&mut self.headers), self.held.take());
            let mut later = Later::all(self.breaking.garbles);
            let answering = Answering::new(self.exchange, self.opening, Some(self.method), self.origin);
            let mut answering = answering.with(headers, outcome.trailers.clone()).leaving(&mut later);
            match held {
                Some(message) if status.is_ok() => answering.write(&message),
                _ => answering.fail(&status),
            }
            self.head_sent = true;
            self.out = later.body.into();
            self.trailers = later.end;
        } else {
            self.send_headers();
            if matches!(self.opening.media, MediaType::Grpc(_)) {
                self.trailers = Some((status, outcome.trailers.clone()));
            } else if !self.breaking.no_trailers {
                append_end(self.opening, Some(self.method), &status, &outcome.trailers, self.out.tail());
            }
        }
        if self.breaking.no_trailers {
            self.trailers = None;
        }
    }

    /// Sends the rest and ends the reply.
    pub(super) fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Reason>> {
        if self.ended {
            return Poll::Ready(Ok(()));
        }
        ready!(self.poll_drain(cx))?;
        if self.breaking.breaks_off() {
            return self.breaking.poll_break(self.exchange, self.head_sent, cx).map(Err);
        }
        self.ended = true;
        match self.trailers.take() {
            None => self.exchange.end(None),
            Some((status, trailers)) => {
                with_trailers(&status, &trailers, |fields| self.exchange.end(Some(fields.fields())));
            }
        }
        Poll::Ready(Ok(()))
    }
}
