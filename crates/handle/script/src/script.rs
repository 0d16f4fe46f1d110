use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use leat_message::{Ended, Exchange, Fault, Handler, Head, Peer, Piece, Reason, Reply, Step};

use crate::connections::Control;
use crate::flow::Flow;
use crate::group::{Arrival, Group, Seat};

/// One connection's way to JavaScript.
pub struct Script {
    group: Rc<Group>,
    arrival: Arrival,
    control: Rc<dyn Control>,
    seat: RefCell<Option<Rc<Seat>>>,
    /// Exchanges under way.
    open: Cell<u32>,
    /// Whether there has been any.
    begun: Cell<bool>,
}

/// What an exchange is about.
#[derive(Clone, Copy, Debug)]
pub enum Plan {
    /// A request.
    Request,
    /// Bytes that are none: JavaScript is told, and may answer with bytes of its own.
    Refused(Reason),
    /// A request that a host on this thread was given by a call ([`Script::begin`]), under this number.
    Begun(u32),
    /// The same, where the call has given its whole body too: what the connection still has of it is skipped.
    Heard(u32),
}

impl Script {
    pub(crate) fn new(group: Rc<Group>, arrival: Arrival, control: Rc<dyn Control>, seat: Seat) -> Self {
        Self {
            group,
            arrival,
            control,
            seat: RefCell::new(Some(Rc::new(seat))),
            open: Cell::new(0),
            begun: Cell::new(false),
        }
    }

    /// Opens an exchange for a request that the host, being on this thread, is given by a call instead of a record; gives
    /// the exchange's number. It goes on with [`Plan::Begun`] or [`Plan::Heard`], or ends with [`Script::end`]. JavaScript is sent no byte of
    /// the body before it asks. `None` where the lane has ended, or has as many exchanges as it can tell apart.
    pub fn begin(&self, peer: &Peer) -> Option<u32> {
        self.begun.set(true);
        let seat = self.seat(peer)?;
        seat.lane().open_exchange(0)
    }

    /// Ends an exchange whose whole reply the call has given.
    pub fn end(&self, exchange: u32) {
        if let Some(seat) = &*self.seat.borrow() {
            crate::shared::add(&seat.lane().counts().requests, 1);
            seat.lane().close_exchange(exchange);
        }
    }

    /// The connection's number on its lane; `None` where that has ended.
    pub fn connection(&self) -> Option<u32> {
        self.seat.borrow().as_ref().map(|seat| seat.connection)
    }

    /// What JavaScript is told of the connection.
    pub fn arrival(&self) -> &Arrival {
        &self.arrival
    }

    /// Whether an exchange is under way.
    pub fn is_busy(&self) -> bool {
        self.open.get() > 0
    }

    /// Whether any exchange has begun on it.
    pub fn has_begun(&self) -> bool {
        self.begun.get()
    }

    /// The lane that this connection belongs to: another one, where the one it had is gone.
    fn seat(&self, peer: &Peer) -> Option<Rc<Seat>> {
        let mut seat = self.seat.borrow_mut();
        if let Some(seat) = &*seat
            && !seat.lane().is_closed()
        {
            return Some(Rc::clone(seat));
        }
        *seat = None;
        let next = self.group.seat(&self.arrival, peer, &self.control).map(Rc::new);
        seat.clone_from(&next);
        next
    }
}

impl Handler for Script {
    type Plan = Plan;

    fn raw<R: Reply>(&self, _request: Head<'_>, _peer: &Peer, _reply: &mut R) -> Step<Plan> {
        Step::Exchange(Plan::Request)
    }

    async fn exchange<X: Exchange>(&self, plan: Plan, exchange: &mut X) -> Result<(), Fault> {
        let seat = self.seat(exchange.peer()).ok_or(Reason::LaneGone)?;
        let _open = Open::new(&self.open);
        self.begun.set(true);
        if let Plan::Heard(_) = plan {
            poll_fn(|cx| poll_skip(cx, exchange)).await?;
        }
        let mut flow = Flow::new(Rc::clone(seat.lane()), seat.connection, plan, exchange);
        poll_fn(|cx| flow.poll(cx, exchange)).await
    }

    fn refused(&self, reason: Reason, peer: &Peer) -> Option<Plan> {
        self.seat(peer).map(|_| Plan::Refused(reason))
    }

    /// JavaScript says itself how far it reads, and a stream that it gives up ends at once, as node:http2's do.
    fn reads_off(&self) -> bool {
        false
    }

    fn ended(&self, ended: Ended<'_>) {
        if let (Some(reason), Some(seat)) = (ended.record.reason, &*self.seat.borrow()) {
            seat.blame(reason);
        }
    }

    fn broke_off(&self, reason: Reason) {
        if let Some(seat) = &*self.seat.borrow() {
            seat.blame(reason);
        }
    }
}

/// Takes the whole body, which is there.
fn poll_skip<X: Exchange>(cx: &mut Context<'_>, exchange: &mut X) -> Poll<Result<(), Reason>> {
    loop {
        match ready!(exchange.poll_body(cx))? {
            Piece::Data(bytes) => {
                let count = bytes.len();
                exchange.consume(count);
            }
            Piece::End => return Poll::Ready(Ok(())),
        }
    }
}

/// An exchange in the count.
struct Open<'a>(&'a Cell<u32>);

impl<'a> Open<'a> {
    fn new(count: &'a Cell<u32>) -> Self {
        count.set(count.get() + 1);
        Self(count)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get().saturating_sub(1));
    }
}
