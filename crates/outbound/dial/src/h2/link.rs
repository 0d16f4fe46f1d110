use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use leat_h2::{Key, Settings};
use leat_stream::memory::Held;
use leat_stream::{Output, Socket};

use crate::EndpointLimits;

/// Output that waits for the socket, in bytes, above which no body bytes are added.
const OUTPUT_BYTES_MAX: usize = 64 * 1024;
/// Output above which nothing is read either: more than bodies make of it, so that a peer which writes before it reads on is
/// always heard. What it says beyond needs answers that it does not read.
pub(super) const UNREAD_BYTES_MAX: usize = 4 * OUTPUT_BYTES_MAX;

/// A connection as its exchanges share it: they frame their requests into its output, and wake its driver where it sleeps.
#[derive(Clone)]
pub(super) struct Link(Rc<RefCell<State>>);

struct State {
    h2: leat_h2::Connection,
    output: Output,
    /// Bytes of a request that may wait beside those in the output.
    send_buffer_bytes: usize,
    /// The memory of what waits and of what is lent.
    held: Held,
    /// Bytes of bodies that exchanges have taken and not given back.
    lent_bytes: usize,
    /// Who waits for a stream, by its place. Both directions of an exchange are one task.
    wakers: Vec<Option<Waker>>,
    /// The driver, while it waits.
    asleep: Option<Waker>,
    /// Whether nobody holds the connection any more.
    is_unwanted: bool,
    /// Whether a request got no answer at all.
    is_doubtful: bool,
}

impl Link {
    /// A connection that has begun: its preface and settings wait to be written.
    pub(super) fn new(limits: &EndpointLimits) -> Self {
        let mut output = Output::default();
        let settings = Settings {
            streams_max: u32::try_from(limits.h2_streams_max).unwrap_or(u32::MAX),
            stream_window_bytes: limits.h2_stream_window_bytes,
            connection_window_bytes: limits.h2_connection_window_bytes,
            head_bytes_max: limits.head_bytes_max,
            output_bytes_max: OUTPUT_BYTES_MAX,
        };
        let interims_max = u32::try_from(limits.interim_max).unwrap_or(u32::MAX);
        let h2 = leat_h2::Connection::client(settings, interims_max, output.buffer());
        Self(Rc::new(RefCell::new(State {
            h2,
            output,
            send_buffer_bytes: limits.h2_send_buffer_bytes,
            held: Held::default(),
            lent_bytes: 0,
            wakers: Vec::new(),
            asleep: None,
            is_unwanted: false,
            is_doubtful: false,
        })))
    }

    /// Looks at the connection's state.
    pub(super) fn look<T>(&self, look: impl FnOnce(&mut leat_h2::Connection) -> T) -> T {
        look(&mut self.0.borrow_mut().h2)
    }

    /// Does something that may append to the output, which wakes the driver.
    pub(super) fn act<T>(&self, act: impl FnOnce(&mut leat_h2::Connection, &mut Vec<u8>) -> T) -> T {
        let (result, waker) = {
            let state = &mut *self.0.borrow_mut();
            let result = act(&mut state.h2, state.output.buffer());
            (result, state.settle())
        };
        // Outside the borrow, as all that wakes.
        if let Some(waker) = waker {
            waker.wake();
        }
        result
    }

    /// Sends bytes of a body, as many as the stream may take now; with `ends`, the end of it behind the last. `None`: the
    /// stream has ended. 0: it is to be waited for.
    pub(super) fn send(&self, key: Key, bytes: &[u8], ends: bool) -> Option<usize> {
        let send_buffer_bytes = self.0.borrow().send_buffer_bytes;
        self.act(|h2, out| {
            if h2.cause(key).is_some() {
                return None;
            }
            let room = h2.room(key).min(send_buffer_bytes.saturating_sub(h2.held_bytes(key)));
            let taken = bytes.get(..room).unwrap_or(bytes);
            if taken.is_empty() {
                return Some(0);
            }
            h2.send(key, taken, out);
            if ends && taken.len() == bytes.len() {
                h2.end(key, None, out);
            }
            Some(taken.len())
        })
    }

    /// Notes that an exchange has taken so many bytes of a body.
    pub(super) fn lend(&self, count: usize) {
        self.0.borrow_mut().lent_bytes += count;
    }

    /// An exchange is done with so many of the bytes that it has taken: the peer may send as many more.
    pub(super) fn consumed(&self, key: Key, count: usize) {
        self.0.borrow_mut().lent_bytes -= count;
        self.act(|h2, out| h2.consumed(key, count, out));
    }

    /// Waits for something to happen on the stream.
    pub(super) fn wait(&self, key: Key, cx: &Context<'_>) {
        let state = &mut *self.0.borrow_mut();
        if state.wakers.len() <= key.index() {
            state.wakers.resize_with(key.index() + 1, || None);
        }
        match state.wakers.get_mut(key.index()) {
            Some(Some(waker)) => waker.clone_from(cx.waker()),
            Some(place) => *place = Some(cx.waker().clone()),
            None => {}
        }
    }

    /// The exchange of a stream has ended, with so many bytes that it has taken and not given back.
    pub(super) fn release(&self, key: Key, lent_bytes: usize) {
        let (waker, waiter) = {
            let Ok(mut state) = self.0.try_borrow_mut() else { return };
            let state = &mut *state;
            let waiter = state.wakers.get_mut(key.index()).and_then(Option::take);
            state.lent_bytes -= lent_bytes;
            state.h2.release(key, state.output.buffer());
            (state.settle(), waiter)
        };
        // A waker's drop could be the end of a task, which must not find the state borrowed.
        drop(waiter);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Nobody holds the connection any more: its driver ends it.
    pub(super) fn abandon(&self) {
        self.tell_driver(|state| state.is_unwanted = true);
    }

    /// A request got no answer at all: its driver asks the peer whether it is still there.
    pub(super) fn doubt(&self) {
        self.tell_driver(|state| state.is_doubtful = true);
    }

    fn tell_driver(&self, tell: impl FnOnce(&mut State)) {
        let waker = {
            let Ok(mut state) = self.0.try_borrow_mut() else { return };
            tell(&mut state);
            state.asleep.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(super) fn is_unwanted(&self) -> bool {
        self.0.borrow().is_unwanted
    }

    /// Whether a doubt came up since this was asked last.
    pub(super) fn take_doubt(&self) -> bool {
        std::mem::take(&mut self.0.borrow_mut().is_doubtful)
    }

    /// Wakes the exchanges to whose streams something happened.
    pub(super) fn wake_told(&self) {
        loop {
            let waker = {
                let state = &mut *self.0.borrow_mut();
                match state.h2.next_told() {
                    Some(key) => state.wakers.get_mut(key.index()).and_then(Option::take),
                    None => return,
                }
            };
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }

    /// The driver is at work: nothing wakes it.
    pub(super) fn awake(&self) {
        self.0.borrow_mut().asleep = None;
    }

    /// The driver waits.
    pub(super) fn sleep(&self, cx: &Context<'_>) {
        self.0.borrow_mut().asleep = Some(cx.waker().clone());
    }

    /// Bytes that wait for the socket.
    pub(super) fn output_bytes(&self) -> usize {
        self.0.borrow().output.len()
    }

    /// Writes what waits, and what held bodies follow it. Ready once nothing can be written. `tops_up`: held bodies also
    /// follow what the socket has no room for.
    pub(super) fn poll_flush(&self, socket: &mut Socket, cx: &mut Context<'_>, tops_up: bool) -> Poll<io::Result<()>> {
        let state = &mut *self.0.borrow_mut();
        loop {
            state.h2.flushing();
            let flushed = state.output.poll_flush(socket, cx);
            match flushed {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(_)) => return flushed,
                Poll::Pending => {
                    state.output.drop_written();
                    if !tops_up {
                        return flushed;
                    }
                }
            }
            if state.h2.has_held() {
                state.h2.pump(state.output.buffer());
                state.count();
            }
            if flushed.is_pending() {
                return flushed;
            }
            if state.output.is_empty() {
                state.output.release();
                return flushed;
            }
        }
    }

    /// Nothing is sent or received any more; every exchange hears of it.
    pub(super) fn lose(&self) {
        {
            let state = &mut *self.0.borrow_mut();
            state.h2.lose();
            state.count();
        }
        self.wake_told();
    }
}

impl State {
    fn count(&mut self) {
        self.held.set(self.h2.waiting_bytes() + self.lent_bytes);
    }

    /// Counts what waits, and says whom to wake after something was done. Gives an empty output's memory back.
    fn settle(&mut self) -> Option<Waker> {
        self.count();
        if self.output.is_empty() {
            self.output.release();
            return None;
        }
        self.asleep.take()
    }
}
