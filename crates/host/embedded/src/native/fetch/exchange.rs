use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::{Rc, Weak};
use std::task::Waker;

use rquickjs::{Ctx, Function, Persistent, Result};
use tokio::task::AbortHandle;

use crate::host::{Hold, Host};

/// Bytes of a request's body that may wait before its writer is told to pause.
const WAITING_BYTES_HIGH: usize = 256 * 1024;
/// When it is told to go on.
const WAITING_BYTES_LOW: usize = 64 * 1024;

/// One request and its response, as both sides see it: JavaScript gives bytes and asks for bytes, the task that drives the
/// connection takes and gives them.
pub(super) struct Exchange {
    host: Weak<Host>,
    on: RefCell<Option<Persistent<Function<'static>>>>,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    out: VecDeque<Vec<u8>>,
    waiting_bytes: usize,
    /// The request's body is complete.
    is_ended: bool,
    /// The writer waits until there is room.
    is_full: bool,
    /// JavaScript waits for the next piece of the response.
    wants: bool,
    waker: Option<Waker>,
    hold: Option<Hold>,
    task: Option<AbortHandle>,
}

impl Exchange {
    pub(super) fn new(host: &Rc<Host>, on: Persistent<Function<'static>>) -> Rc<Self> {
        let state = State { hold: Some(host.hold()), ..State::default() };
        Rc::new(Self { host: Rc::downgrade(host), on: RefCell::new(Some(on)), state: RefCell::new(state) })
    }

    pub(super) fn runs_as(&self, task: AbortHandle) {
        self.state.borrow_mut().task = Some(task);
    }

    /// Takes bytes of the request's body; whether there is room for more.
    pub(super) fn write(&self, bytes: Vec<u8>) -> bool {
        let mut state = self.state.borrow_mut();
        if !bytes.is_empty() {
            state.waiting_bytes += bytes.len();
            state.out.push_back(bytes);
        }
        state.is_full = state.waiting_bytes >= WAITING_BYTES_HIGH;
        state.wake();
        !state.is_full
    }

    /// The request's body is complete.
    pub(super) fn end(&self) {
        let mut state = self.state.borrow_mut();
        state.is_ended = true;
        state.wake();
    }

    /// The next piece of the response is waited for.
    pub(super) fn read(&self) {
        let mut state = self.state.borrow_mut();
        state.wants = true;
        if state.hold.is_none() {
            state.hold = self.host.upgrade().map(|host| host.hold());
        }
        state.wake();
    }

    /// Gives everything up: the connection closes unless the exchange was complete, and JavaScript hears no more of it.
    pub(super) fn abort(&self) {
        self.on.borrow_mut().take();
        let mut state = self.state.borrow_mut();
        state.hold = None;
        if let Some(task) = state.task.take() {
            task.abort();
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.on.borrow().is_none()
    }

    /// Tells JavaScript; false where nobody listens any more.
    pub(super) fn tell(&self, tell: impl for<'js> FnOnce(&Ctx<'js>, Function<'js>) -> Result<bool>) -> bool {
        let Some(world) = self.host.upgrade().and_then(|host| host.world()) else { return false };
        let Some(on) = self.on.borrow().clone() else { return false };
        world.enter(|ctx| tell(ctx, on.restore(ctx)?))
    }

    pub(super) fn finish(&self) {
        self.on.borrow_mut().take();
        self.state.borrow_mut().hold = None;
    }

    pub(super) fn wait(&self, waker: &Waker) {
        let mut state = self.state.borrow_mut();
        if !state.waker.as_ref().is_some_and(|known| known.will_wake(waker)) {
            state.waker = Some(waker.clone());
        }
    }

    pub(super) fn next_piece(&self) -> Option<Vec<u8>> {
        self.state.borrow_mut().out.pop_front()
    }

    pub(super) fn is_ended(&self) -> bool {
        self.state.borrow().is_ended
    }

    /// So many bytes were given to the connection; whether the writer that waits may go on.
    pub(super) fn sent(&self, count: usize) -> bool {
        let mut state = self.state.borrow_mut();
        state.waiting_bytes = state.waiting_bytes.saturating_sub(count);
        let resumes = state.is_full && state.waiting_bytes <= WAITING_BYTES_LOW;
        state.is_full &= !resumes;
        resumes
    }

    /// A tunnel begins: bytes go on in both directions.
    pub(super) fn reopen(&self) {
        self.state.borrow_mut().is_ended = false;
    }

    pub(super) fn wants(&self) -> bool {
        self.state.borrow().wants
    }

    /// A piece is given: whether the next one is waited for is said again.
    pub(super) fn take_want(&self) -> bool {
        std::mem::take(&mut self.state.borrow_mut().wants)
    }

    /// Nothing is under way any more until JavaScript asks for what is there.
    pub(super) fn rest(&self) {
        self.state.borrow_mut().hold = None;
    }
}

impl State {
    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}
