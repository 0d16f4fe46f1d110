use std::cell::RefCell;
use std::task::{Context, Poll};

use leat_message::{Exchange, Reason};
use leat_rpc_wire::{Code, Opening, Status};
use leat_schema::Method;

use super::head::CallHead;
use super::receiving::{Bad, Receiving};
use super::wire::Wire;
use crate::call::{Call, Conversation, Fault, Message, Prepared};

/// A service's side of a conversation. The exchange is shared with who drives it: while the service waits, that one sends
/// what is encoded and looks whether the client is still there.
pub(super) struct Talk<'t, 'x, X> {
    wire: &'t RefCell<Wire<'x, X>>,
    head: &'t CallHead,
    opening: Opening,
    method: &'t Method,
    receiving: Receiving,
    /// How the client broke the protocol: the outcome, whatever the service makes of it.
    violation: Option<Status>,
}

impl<'t, 'x, X: Exchange> Talk<'t, 'x, X> {
    pub(super) fn new(
        wire: &'t RefCell<Wire<'x, X>>,
        head: &'t CallHead,
        opening: Opening,
        method: &'t Method,
        receiving: Receiving,
    ) -> Self {
        Self { wire, head, opening, method, receiving, violation: None }
    }

    /// Whether the client has sent all that was to be read, and how it broke the protocol, if it did.
    pub(super) fn into_parts(self) -> (bool, Option<Status>) {
        (self.receiving.is_at_end(), self.violation)
    }

    fn lost(&self, reason: Reason) -> Status {
        self.wire.borrow_mut().set_broken(reason);
        Status::new(Code::Canceled, "the client is gone")
    }
}

impl<X: Exchange> Conversation for Talk<'_, '_, X> {
    fn call(&self) -> Call<'_> {
        self.head.call(self.opening, self.method)
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Result<bool, Status>> {
        if let Some(status) = &self.violation {
            return Poll::Ready(Err(status.clone()));
        }
        let received = self.receiving.poll_message(self.wire.borrow_mut().exchange, cx);
        received.map_err(|bad| match bad {
            Bad::Transport(reason) => self.lost(reason),
            Bad::Status(status) => {
                self.violation = Some(status.clone());
                status
            }
        })
    }

    fn message(&self) -> Message<'_> {
        self.receiving.message()
    }

    fn header(&mut self, name: &str, value: &[u8]) {
        self.wire.borrow_mut().header(name, value);
    }

    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Status>> {
        let room = self.wire.borrow_mut().poll_room(cx);
        room.map_err(|reason| self.lost(reason))
    }

    fn send(&mut self, message: Message<'_>) -> Result<(), Status> {
        self.wire.borrow_mut().send(message)
    }

    fn send_prepared(&mut self, message: &Prepared) {
        self.wire.borrow_mut().send_prepared(message);
    }

    fn send_headers(&mut self) {
        self.wire.borrow_mut().send_headers();
    }

    fn fault(&mut self, fault: Fault) {
        self.wire.borrow_mut().fault(fault);
    }
}
