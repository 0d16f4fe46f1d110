use std::cell::RefCell;
use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

use slab::Slab;

use crate::question::{Question, put, write_command};
use crate::refusal::Refusal;
use crate::resp::{Malformed, Reply, read_reply};
use crate::{Failure, Numbers};

/// Calls that one connection may owe answers to: so many requests of one core wait at most.
const CALLS_MAX: usize = 65_536;

/// What a connection's task and the calls on it share: bytes to send, and who waits for which answer. Answers come in the
/// order of the commands, so a queue says whose each one is.
#[derive(Default)]
pub(crate) struct Line {
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    phase: Phase,
    /// The script is on its way to a server that had forgotten it.
    is_telling: bool,
    out: Vec<u8>,
    /// Whom the next answers are for, oldest first.
    owed: VecDeque<Owed>,
    waiting: Slab<Waiting>,
    /// The connection's task, and those who wait for the first connection.
    task: Option<Waker>,
    starting: Vec<Waker>,
    /// `EVALSHA` and the script's hash, as the server said it, as a command has them.
    call: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The first connection is being made.
    #[default]
    Starting,
    /// There is a connection.
    Up,
    /// There is none, or it does not answer: calls fail at once.
    Down,
}

/// Whom an answer is for.
#[derive(Clone, Copy, Debug)]
struct Owed {
    whose: Whose,
    since_ms: u64,
}

#[derive(Clone, Copy, Debug)]
enum Whose {
    Call(usize),
    /// The script's hash.
    Hash,
    /// `ASKING`: there is nothing to learn from it.
    Nobody,
}

pub(crate) type Answer = Result<Numbers, Refusal>;

enum Waiting {
    Asked(Option<Waker>),
    Answered(Answer),
    /// Nobody waits any more.
    GivenUp,
}

impl Line {
    pub(crate) fn phase(&self) -> Phase {
        self.state.borrow().phase
    }

    /// Ready once it is known whether there is a connection.
    pub(crate) fn poll_started(&self, cx: &Context<'_>) -> Poll<()> {
        let state = &mut *self.state.borrow_mut();
        if state.phase != Phase::Starting {
            return Poll::Ready(());
        }
        if state.starting.len() < CALLS_MAX && !state.starting.iter().any(|waker| waker.will_wake(cx.waker())) {
            state.starting.push(cx.waker().clone());
        }
        Poll::Pending
    }

    /// Sends a call of the script; says where its answer will be. `asking`: a slot is moving to this server, and it shall
    /// answer for it already.
    pub(crate) fn ask(&self, question: &Question, asking: bool, now_ms: u64) -> Result<usize, Failure> {
        let state = &mut *self.state.borrow_mut();
        if state.phase != Phase::Up {
            return Err(Failure::Down);
        }
        if state.owed.len() >= CALLS_MAX {
            return Err(Failure::Busy);
        }
        if asking {
            write_command(&[b"ASKING"], &mut state.out);
            state.owed.push_back(Owed { whose: Whose::Nobody, since_ms: now_ms });
        }
        question.write(&state.call, &mut state.out);
        let place = state.waiting.insert(Waiting::Asked(None));
        state.owed.push_back(Owed { whose: Whose::Call(place), since_ms: now_ms });
        if let Some(task) = state.task.take() {
            task.wake();
        }
        Ok(place)
    }

    /// The answer of a call, once it is there; the call is over then.
    pub(crate) fn poll_answer(&self, place: usize, cx: &Context<'_>) -> Poll<Answer> {
        let state = &mut *self.state.borrow_mut();
        match state.waiting.get_mut(place) {
            Some(Waiting::Asked(Some(waker))) if waker.will_wake(cx.waker()) => return Poll::Pending,
            Some(Waiting::Asked(waker)) => {
                *waker = Some(cx.waker().clone());
                return Poll::Pending;
            }
            Some(Waiting::Answered(_)) => {}
            Some(Waiting::GivenUp) | None => return Poll::Ready(Err(Refusal::Failure(Failure::Lost))),
        }
        match state.waiting.remove(place) {
            Waiting::Answered(answer) => Poll::Ready(answer),
            Waiting::Asked(_) | Waiting::GivenUp => Poll::Pending,
        }
    }

    /// The call's owner is gone. The place stays until the answer has come, since that can't be called back.
    pub(crate) fn give_up(&self, place: usize) {
        let state = &mut *self.state.borrow_mut();
        match state.waiting.get_mut(place) {
            Some(waiting @ Waiting::Asked(_)) => *waiting = Waiting::GivenUp,
            Some(Waiting::Answered(_)) => drop(state.waiting.remove(place)),
            Some(Waiting::GivenUp) | None => {}
        }
    }

    /// A new connection is ready for calls of the script with this hash.
    pub(crate) fn up(&self, hash: &[u8]) {
        self.state.borrow_mut().call = call(hash);
        self.set_phase(Phase::Up);
    }

    /// The server does not answer in time, or does again.
    pub(crate) fn set_phase(&self, phase: Phase) {
        let wakers = {
            let state = &mut *self.state.borrow_mut();
            state.phase = phase;
            std::mem::take(&mut state.starting)
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    /// The connection is lost, and with it all answers that it owes.
    pub(crate) fn down(&self) {
        let wakers = {
            let state = &mut *self.state.borrow_mut();
            state.out.clear();
            state.is_telling = false;
            let owed = std::mem::take(&mut state.owed).into_iter();
            let places = owed.filter_map(|owed| if let Whose::Call(place) = owed.whose { Some(place) } else { None });
            let lost = || Err(Refusal::Failure(Failure::Lost));
            places.filter_map(|place| state.answer(place, lost())).collect::<Vec<_>>()
        };
        wakers.into_iter().for_each(Waker::wake);
        self.set_phase(Phase::Down);
    }

    /// Gives the bytes to send to `write`, which says how many it took, until it takes none. `None` where there are none.
    pub(crate) fn write(&self, mut write: impl FnMut(&[u8]) -> Poll<std::io::Result<usize>>) -> std::io::Result<()> {
        let state = &mut *self.state.borrow_mut();
        let mut sent = 0;
        while let Some(rest) = state.out.get(sent..).filter(|rest| !rest.is_empty()) {
            match write(rest) {
                Poll::Ready(Ok(0)) => return Err(std::io::ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(count)) => sent += count,
                Poll::Ready(Err(error)) => return Err(error),
                Poll::Pending => break,
            }
        }
        state.out.drain(..sent);
        Ok(())
    }

    /// Hands the complete replies at the start of `bytes` to their owners; says how many bytes they were.
    pub(crate) fn read(&self, bytes: &[u8], script: &str, now_ms: u64) -> Result<usize, Malformed> {
        let mut used = 0;
        while let Some((reply, length)) = read_reply(bytes.get(used..).unwrap_or_default())? {
            used += length;
            let waker = self.state.borrow_mut().replied(reply, script, now_ms)?;
            if let Some(waker) = waker {
                waker.wake();
            }
        }
        Ok(used)
    }

    /// Since when the oldest answer is owed.
    pub(crate) fn owed_since_ms(&self) -> Option<u64> {
        self.state.borrow().owed.front().map(|owed| owed.since_ms)
    }

    /// The connection's task wants to be woken for bytes to send.
    pub(crate) fn register(&self, cx: &Context<'_>) {
        self.state.borrow_mut().task = Some(cx.waker().clone());
    }
}

impl State {
    fn replied(&mut self, reply: Reply, script: &str, now_ms: u64) -> Result<Option<Waker>, Malformed> {
        // A reply that nobody asked for: from here on no reply is surely whose it seems.
        let owed = self.owed.pop_front().ok_or(Malformed)?;
        let place = match owed.whose {
            Whose::Call(place) => place,
            Whose::Hash => {
                self.is_telling = false;
                if let Reply::Text(hash) = reply {
                    self.call = call(&hash);
                }
                return Ok(None);
            }
            Whose::Nobody => return Ok(None),
        };
        let answer = match reply {
            Reply::Numbers(numbers) => Ok(numbers),
            Reply::Error(text) => Err(Refusal::read(&text)),
            Reply::Text(_) | Reply::Nil => Err(Refusal::Failure(Failure::Refused)),
        };
        // Once for all calls that were under way.
        if answer == Err(Refusal::NoScript) && !std::mem::replace(&mut self.is_telling, true) {
            // Ahead of the caller's next try.
            write_command(&[b"SCRIPT", b"LOAD", script.as_bytes()], &mut self.out);
            self.owed.push_back(Owed { whose: Whose::Hash, since_ms: now_ms });
        }
        Ok(self.answer(place, answer))
    }

    fn answer(&mut self, place: usize, answer: Answer) -> Option<Waker> {
        let waiting = self.waiting.get_mut(place)?;
        match std::mem::replace(waiting, Waiting::Answered(answer)) {
            Waiting::Asked(waker) => waker,
            Waiting::GivenUp | Waiting::Answered(_) => {
                self.waiting.remove(place);
                None
            }
        }
    }
}

fn call(hash: &[u8]) -> Vec<u8> {
    let mut call = Vec::new();
    put(b"EVALSHA", &mut call);
    put(hash, &mut call);
    call
}
