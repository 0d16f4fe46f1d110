use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::{Poll, Waker};

use leat_message::Fault;

use crate::pool::{Pool, Slot};
use crate::within::within;
use crate::{h1, h2};

/// Requests that wait for a connection, first come, first served.
#[derive(Default)]
pub(crate) struct Queue {
    waiting: RefCell<VecDeque<Rc<Waiter>>>,
}

/// A request that waits.
pub(crate) struct Waiter {
    state: Cell<State>,
    waker: Cell<Option<Waker>>,
}

#[derive(Default)]
enum State {
    /// In the queue.
    Waiting,
    /// Out of the queue; it has not looked yet.
    Offered(Offer),
    /// It went on with what was offered.
    #[default]
    Gone,
}

/// What a waiting request may go on with.
pub(crate) enum Offer {
    /// A connection that another request has just left.
    H1(Box<h1::Connection>),
    /// A stream on a connection.
    H2(h2::Seat),
    /// It may connect.
    Connect(Slot),
    /// The connection that it waited for could not be made.
    Failed(Fault),
}

/// A place in the queue. Dropped, it is given up, and what was offered meanwhile goes to the next.
pub(crate) struct Place {
    pool: Rc<Pool>,
    waiter: Rc<Waiter>,
}

impl Queue {
    pub(crate) fn len(&self) -> usize {
        self.waiting.borrow().len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.borrow().is_empty()
    }

    /// Takes a place at the end. The caller keeps the queue's limit.
    pub(crate) fn enter(&self, pool: &Rc<Pool>) -> Place {
        let waiter = Rc::new(Waiter { state: Cell::new(State::Waiting), waker: Cell::new(None) });
        self.waiting.borrow_mut().push_back(Rc::clone(&waiter));
        Place { pool: Rc::clone(pool), waiter }
    }

    /// The one whose turn it is; something must be offered to them.
    pub(crate) fn next(&self) -> Option<Rc<Waiter>> {
        self.waiting.borrow_mut().pop_front()
    }

    fn leave(&self, waiter: &Rc<Waiter>) {
        self.waiting.borrow_mut().retain(|other| !Rc::ptr_eq(other, waiter));
    }
}

impl Waiter {
    pub(crate) fn offer(&self, offer: Offer) {
        self.state.set(State::Offered(offer));
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

impl Place {
    /// Waits for an offer, at most `time_ms`.
    pub(crate) async fn wait(self, time_ms: u64) -> Option<Offer> {
        let offered = std::future::poll_fn(|cx| match self.waiter.state.take() {
            State::Offered(offer) => Poll::Ready(offer),
            state => {
                self.waiter.state.set(state);
                self.waiter.waker.set(Some(cx.waker().clone()));
                Poll::Pending
            }
        });
        within(time_ms, offered).await
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        match self.waiter.state.take() {
            State::Waiting => self.pool.queue().leave(&self.waiter),
            State::Offered(Offer::H1(connection)) => self.pool.place(connection),
            // A seat or a slot passes itself on.
            State::Offered(Offer::H2(_) | Offer::Connect(_) | Offer::Failed(_)) | State::Gone => {}
        }
    }
}
