use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use leat_h2::{Code, Key, Settings};
use leat_message::Limits;
use leat_stream::memory::Held;
use leat_stream::{Output, Socket};

/// Flow-control window of one stream, in bytes: a bulk upload on a loopback or LAN is not held up by it.
const STREAM_WINDOW_BYTES: u32 = 256 * 1024;
/// Flow-control window of a connection, in bytes: what one client can make us hold.
const CONNECTION_WINDOW_BYTES: u32 = 1024 * 1024;
/// Output that waits for the socket, in bytes, above which no body bytes and no replies to further requests are added.
pub(super) const OUTPUT_BYTES_MAX: usize = 64 * 1024;

/// A connection as its exchanges share it: they frame their replies into its output, and wake it where it sleeps.
#[derive(Clone)]
pub(super) struct Link(Rc<RefCell<State>>);

struct State {
    h2: leat_h2::Connection,
    output: Output,
    /// The memory of bodies that wait.
    held: Held,
    /// By the place of a stream.
    wakers: Vec<Wakers>,
    /// The connection's task, while it waits.
    asleep: Option<Waker>,
    /// How an exchange wants the connection to end.
    ending: Option<Ending>,
}

/// Tasks that wait for a stream.
#[derive(Default)]
struct Wakers {
    receive: Option<Waker>,
    send: Option<Waker>,
}

/// What a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Receive,
    Send,
}

/// The end of a connection that an exchange asks for.
#[derive(Clone, Copy)]
pub(super) enum Ending {
    /// With GOAWAY and this error code.
    GoAway(u32),
    /// Without a word.
    Silent,
}

impl Link {
    pub(super) fn new(limits: &Limits) -> Self {
        let mut output = Output::default();
        let settings = Settings {
            streams_max: limits.h2_streams_max,
            stream_window_bytes: STREAM_WINDOW_BYTES,
            connection_window_bytes: CONNECTION_WINDOW_BYTES,
            head_bytes_max: limits.head_bytes_max,
            output_bytes_max: OUTPUT_BYTES_MAX,
        };
        let h2 = leat_h2::Connection::new(settings, output.buffer());
        Self(Rc::new(RefCell::new(State {
            h2,
            output,
            held: Held::default(),
            wakers: Vec::new(),
            asleep: None,
            ending: None,
        })))
    }

    /// Looks at the connection's state.
    pub(super) fn look<T>(&self, look: impl FnOnce(&mut leat_h2::Connection) -> T) -> T {
        look(&mut self.0.borrow_mut().h2)
    }

    /// Does something that may append to the output, which wakes the connection.
    pub(super) fn act<T>(&self, act: impl FnOnce(&mut leat_h2::Connection, &mut Vec<u8>) -> T) -> T {
        let (result, waker) = {
            let state = &mut *self.0.borrow_mut();
            let result = act(&mut state.h2, state.output.buffer());
            state.held.set(state.h2.waiting_bytes());
            (result, state.sleeper())
        };
        // Outside the borrow, as all that wakes.
        if let Some(waker) = waker {
            waker.wake();
        }
        result
    }

    /// Waits for something to happen on the stream.
    pub(super) fn wait(&self, key: Key, direction: Direction, cx: &Context<'_>) {
        let state = &mut *self.0.borrow_mut();
        if state.wakers.len() <= key.index() {
            state.wakers.resize_with(key.index() + 1, Wakers::default);
        }
        let Some(wakers) = state.wakers.get_mut(key.index()) else { return };
        let place = match direction {
            Direction::Receive => &mut wakers.receive,
            Direction::Send => &mut wakers.send,
        };
        match place {
            Some(waker) => waker.clone_from(cx.waker()),
            None => *place = Some(cx.waker().clone()),
        }
    }

    /// The exchange of a stream has ended.
    pub(super) fn release(&self, key: Key) {
        // A waker's drop, somewhere in a borrow, could be the end of a task; what it leaves ends with the connection.
        let waker = {
            let Ok(mut state) = self.0.try_borrow_mut() else { return };
            let state = &mut *state;
            if let Some(wakers) = state.wakers.get_mut(key.index()) {
                *wakers = Wakers::default();
            }
            state.h2.release(key, state.output.buffer());
            state.held.set(state.h2.waiting_bytes());
            state.sleeper()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Resets a stream.
    pub(super) fn reset(&self, key: Key, code: Code) {
        self.act(|h2, out| h2.reset(key, code, out));
    }

    /// Asks for the end of the connection.
    pub(super) fn end(&self, ending: Ending) {
        let waker = {
            let mut state = self.0.borrow_mut();
            state.ending = Some(ending);
            state.asleep.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// The end that was asked for.
    pub(super) fn ending(&self) -> Option<Ending> {
        self.0.borrow().ending
    }

    /// Wakes the exchanges to whose streams something happened.
    pub(super) fn wake_told(&self) {
        loop {
            let wakers = {
                let state = &mut *self.0.borrow_mut();
                match state.h2.next_told() {
                    Some(key) => state.wakers.get_mut(key.index()).map(std::mem::take).unwrap_or_default(),
                    None => return,
                }
            };
            [wakers.receive, wakers.send].into_iter().flatten().for_each(Waker::wake);
        }
    }

    /// The connection's task is at work: nothing wakes it.
    pub(super) fn awake(&self) {
        self.0.borrow_mut().asleep = None;
    }

    /// The connection's task waits.
    pub(super) fn sleep(&self, cx: &Context<'_>) {
        self.0.borrow_mut().asleep = Some(cx.waker().clone());
    }

    /// Bytes that wait for the socket.
    pub(super) fn output_bytes(&self) -> usize {
        self.0.borrow().output.len()
    }

    /// Writes what waits, and what held bodies follow it. Ready once nothing can be written. Says, beside that, whether the
    /// socket took anything. `tops_up`: held bodies also follow what the socket has no room for.
    pub(super) fn poll_flush(
        &self,
        socket: &mut Socket,
        cx: &mut Context<'_>,
        tops_up: bool,
    ) -> (Poll<io::Result<()>>, bool) {
        let state = &mut *self.0.borrow_mut();
        let mut moved = false;
        loop {
            let waiting = state.output.len();
            state.h2.flushing();
            let flushed = state.output.poll_flush(socket, cx);
            moved |= state.output.len() < waiting;
            if flushed.is_pending() {
                // A slow reader need never let the output run empty: what it has read is dropped all the same.
                state.output.drop_written();
                if !tops_up {
                    return (flushed, moved);
                }
            } else if !matches!(flushed, Poll::Ready(Ok(()))) {
                return (flushed, moved);
            }
            if state.h2.has_held() {
                state.h2.pump(state.output.buffer());
                state.held.set(state.h2.waiting_bytes());
            }
            if flushed.is_pending() {
                return (flushed, moved);
            }
            if state.output.is_empty() {
                state.output.release();
                return (flushed, moved);
            }
        }
    }

    /// Nothing is sent or received any more; every exchange hears of it.
    pub(super) fn lose(&self) {
        {
            let state = &mut *self.0.borrow_mut();
            state.h2.lose();
            state.held.set(state.h2.waiting_bytes());
            state.output.release();
        }
        self.wake_told();
    }
}

impl State {
    /// Whom to wake after something was done. Gives an empty output's memory back.
    fn sleeper(&mut self) -> Option<Waker> {
        if self.output.is_empty() {
            self.output.release();
            return None;
        }
        self.asleep.take()
    }
}
