use std::cell::RefCell;

use leat_rpc_wire::{Code, Metadata, Status};

use super::body::{Body, encoded};
use super::facts::Facts;
use super::fault::Planned;
use super::program::{Instruction, ROUNDS_MAX};
use super::received::Received;
use super::single::Reply;
use super::template::{Failure, Frame, Moment, Scope, Uses, WallTime};
use crate::call::{Fault, Form, Message, Outcome, Prepared};
use crate::cel::Value;
use crate::mock::state::Draws;

/// Instructions without anything to do for the caller, after which a script is taken to run in circles.
const IDLE_MAX: u32 = 100_000;

/// What comes next in a reply.
#[derive(Debug)]
pub enum Action<'s> {
    /// Headers to add to the reply's head. Once at most, and before anything is sent.
    Headers(&'s Metadata),
    /// Send the headers now.
    SendHeaders,
    /// Send a message.
    Send(Sent<'s>),
    /// Wait so many milliseconds.
    Wait(u64),
    /// Take a request from the client, and tell of it by [`Steps::received`] or [`Steps::half_closed`].
    Receive,
    /// Break what follows below RPC.
    Fault(Fault),
    /// The call is over.
    Finish(Outcome),
}

/// A message to send.
#[derive(Clone, Copy, Debug)]
pub enum Sent<'s> {
    /// Made when the rule was loaded.
    Prepared(&'s Prepared),
    /// The last request, as it came.
    Echo,
    /// Made for this call.
    Made(Message<'s>),
}

/// A reply that is being given: a state machine that knows neither sockets nor clocks. Ask [`Steps::next`], do what it
/// says, ask again.
///
/// Nothing is allocated for replies without templates, loops and requests that are kept.
#[derive(Debug)]
pub struct Steps<'r> {
    reply: &'r Reply,
    form: Form,
    at: usize,
    loops: Vec<Round>,
    draws: RefCell<Draws>,
    received: Received,
    /// Why the first request cannot be looked at.
    refused: Option<Status>,
    /// A request was received that no instruction has taken yet.
    waiting: bool,
    /// The client has sent all.
    half_closed: bool,
    stage: Stage,
    sent: u64,
    /// Which faults have struck: as many as there are before this place.
    fault_at: usize,
    /// How the call ends, once the headers are given.
    ending: Option<Status>,
    room: Room,
}

/// What the last action lends.
#[derive(Debug, Default)]
struct Room {
    headers: Metadata,
    message: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Begun,
    /// Headers were given.
    Headed,
    /// And sent.
    Flushed,
    Over,
}

/// A loop that is under way.
#[derive(Clone, Debug)]
enum Round {
    /// The list is computed anew for each element, by the same random numbers, since its values borrow from the requests.
    Each {
        start: usize,
        at: usize,
        length: usize,
        draws: Draws,
    },
    Repeat {
        start: usize,
        left: u64,
    },
    Shuffle {
        start: usize,
        order: Vec<usize>,
        at: usize,
    },
}

/// What an instruction came to.
enum Turn {
    /// On to the next instruction.
    On,
    Wait(u64),
    Receive,
    SendHeaders,
    /// The message of the instruction at this place.
    Send(usize),
    Finish(Status),
}

impl<'r> Steps<'r> {
    /// Begins a reply. `request` is the first request in binary form where the reply reads requests
    /// ([`Reply::reads_requests`]); `requests` says how many have been taken from the client: one, or none where it sent
    /// none. Of a method whose client does not stream there is one, and the client is half closed.
    pub fn new(reply: &'r Reply, form: Form, draws: Draws, requests: usize, request: Option<&[u8]>) -> Self {
        let mut received = Received::new(&reply.target.input, reply.keeps_requests());
        let streams = reply.target.client_streams;
        let refused = if requests > 0 { received.push(request).err() } else { None };
        Self {
            reply,
            form,
            at: 0,
            loops: Vec::new(),
            draws: RefCell::new(draws),
            received,
            refused,
            waiting: streams && requests > 0,
            half_closed: !streams || requests == 0,
            stage: Stage::Begun,
            sent: 0,
            fault_at: 0,
            ending: None,
            room: Room::default(),
        }
    }

    /// Tells of the request that [`Action::Receive`] asked for; in binary form where [`Reply::reads_requests`].
    pub fn received(&mut self, request: Option<&[u8]>) -> Result<(), Status> {
        self.waiting = true;
        self.received.push(request)
    }

    /// Tells that the client has sent all.
    pub fn half_closed(&mut self) {
        self.half_closed = true;
    }

    /// What to do next. After [`Action::Finish`] it is that again.
    pub fn next(&mut self, facts: &Facts<'_>, now: WallTime) -> Action<'_> {
        if let Some(status) = self.refused.take() {
            self.stage = Stage::Over;
            return Action::Finish(status.into());
        }
        if let Some(fault) = self.strike(facts) {
            return Action::Fault(fault);
        }
        if self.stage == Stage::Over {
            return Action::Finish(Outcome::OK);
        }
        let mut idle = 0;
        loop {
            idle += 1;
            if idle > IDLE_MAX {
                return self.fail(Failure("the script runs in circles without doing anything".to_owned()));
            }
            let turn = match self.ending.take() {
                Some(status) => Ok(Turn::Finish(status)),
                None => self.turn(facts, now),
            };
            let turn = match turn {
                Ok(turn) => turn,
                Err(failure) => return self.fail(failure),
            };
            match turn {
                Turn::On => self.at += 1,
                Turn::Receive => return Action::Receive,
                Turn::Wait(0) => self.at += 1,
                Turn::Wait(ms) => {
                    self.at += 1;
                    return Action::Wait(ms);
                }
                // Headers go first, and the instruction comes again.
                Turn::SendHeaders | Turn::Send(_) if self.stage == Stage::Begun => {
                    self.stage = Stage::Headed;
                    match self.headers(facts, now) {
                        Err(failure) => return self.fail(failure),
                        Ok(false) => {}
                        Ok(true) => return Action::Headers(self.given()),
                    }
                }
                Turn::SendHeaders if self.stage == Stage::Flushed => self.at += 1,
                Turn::SendHeaders => {
                    self.at += 1;
                    self.stage = Stage::Flushed;
                    return Action::SendHeaders;
                }
                Turn::Send(place) => {
                    self.at += 1;
                    if let Err(failure) = self.make(place, facts, now) {
                        return self.fail(failure);
                    }
                    self.sent += 1;
                    self.stage = Stage::Flushed;
                    self.received.answer();
                    return Action::Send(self.sending(place));
                }
                Turn::Finish(status) if self.stage == Stage::Begun => {
                    self.stage = Stage::Headed;
                    self.ending = Some(status);
                    match self.headers(facts, now) {
                        Err(failure) => return self.fail(failure),
                        Ok(false) => {}
                        Ok(true) => return Action::Headers(self.given()),
                    }
                }
                Turn::Finish(status) => {
                    self.stage = Stage::Over;
                    return match self.trailers(facts, now) {
                        Ok(trailers) => Action::Finish(Outcome { status, trailers }),
                        Err(failure) => self.fail(failure),
                    };
                }
            }
        }
    }

    /// The next fault that strikes now, if one does.
    fn strike(&mut self, facts: &Facts<'_>) -> Option<Fault> {
        while let Some(planned) = self.reply.faults.get(self.fault_at) {
            if !planned.strikes(facts.call) {
                self.fault_at += 1;
                continue;
            }
            if self.sent < planned.after || self.stage == Stage::Over {
                return None;
            }
            // The first that strikes is the only one.
            self.fault_at = self.reply.faults.len();
            if Planned::ends(planned) {
                self.stage = Stage::Over;
            }
            return Some(planned.fault);
        }
        None
    }

    fn turn(&mut self, facts: &Facts<'_>, now: WallTime) -> Result<Turn, Failure> {
        let reply = self.reply;
        let Some(instruction) = reply.program.get(self.at) else {
            return match &reply.error {
                None => Ok(Turn::Finish(Status::OK)),
                Some(error) => {
                    let uses = error.uses();
                    self.scoped(uses, facts, now, |scope| error.make(&reply.target, scope)).map(Turn::Finish)
                }
            };
        };
        Ok(match instruction {
            Instruction::Wait(delay) => match delay.drawn_ms(self.draws.get_mut()) {
                Some(ms) => Turn::Wait(ms),
                None => Turn::Wait(self.scoped(delay.uses(), facts, now, |scope| delay.made_ms(scope))?),
            },
            Instruction::Headers => Turn::SendHeaders,
            Instruction::Send(_) => Turn::Send(self.at),
            Instruction::Collect => match (std::mem::take(&mut self.waiting), self.half_closed) {
                (_, true) => Turn::On,
                (_, false) => Turn::Receive,
            },
            Instruction::Expect { that, optional } => match (self.waiting, self.half_closed) {
                (true, _) => {
                    self.waiting = false;
                    let Some(that) = that else { return Ok(Turn::On) };
                    let truth = self
                        .scoped(that.uses(), facts, now, |scope| Ok(matches!(that.value(scope)?, Value::Bool(true))))?;
                    if truth { Turn::On } else { Turn::Finish(unexpected(self.received.count(), that.source())) }
                }
                (false, false) => Turn::Receive,
                (false, true) if *optional => Turn::On,
                (false, true) if self.leave() => Turn::On,
                (false, true) => {
                    let message = format!("the script expects another request after {}", self.received.count());
                    Turn::Finish(Status::new(Code::FailedPrecondition, message))
                }
            },
            Instruction::Each { list, end } => {
                let draws = self.draws.get_mut().clone();
                let length = self.scoped(list.uses(), facts, now, |scope| match list.value(scope)? {
                    Value::List(list) => Ok(list.len()),
                    Value::Null => Ok(0),
                    other => Err(Failure(format!("`each` takes a list, found {}", other.type_name()))),
                })?;
                if length == 0 {
                    self.at = end - 1;
                } else {
                    self.loops.push(Round::Each { start: self.at, at: 0, length, draws });
                }
                Turn::On
            }
            Instruction::If { that, end } => {
                let truth =
                    self.scoped(that.uses(), facts, now, |scope| Ok(matches!(that.value(scope)?, Value::Bool(true))))?;
                if !truth {
                    self.at = end - 1;
                }
                Turn::On
            }
            Instruction::Repeat { rounds, end } => {
                match rounds.checked_sub(1) {
                    None => self.at = end - 1,
                    Some(left) => self.loops.push(Round::Repeat { start: self.at, left }),
                }
                Turn::On
            }
            Instruction::Shuffle { starts, end } => {
                let mut order = starts.clone();
                self.draws.get_mut().shuffle(&mut order);
                match order.first().copied() {
                    None => self.at = end - 1,
                    Some(first) => {
                        self.loops.push(Round::Shuffle { start: self.at, order, at: 0 });
                        self.at = first - 1;
                    }
                }
                Turn::On
            }
            Instruction::Again => {
                self.again();
                Turn::On
            }
            Instruction::Fail(error) => {
                let uses = error.uses();
                Turn::Finish(self.scoped(uses, facts, now, |scope| error.make(&reply.target, scope))?)
            }
            Instruction::Close => Turn::Finish(Status::OK),
        })
    }

    /// Ends the innermost loop that has no end of its own, since no further request will come. Whether there was one.
    fn leave(&mut self) -> bool {
        let program = &self.reply.program;
        let end = |round: &Round| match round {
            Round::Repeat { start, .. } => match program.get(*start) {
                Some(Instruction::Repeat { rounds: ROUNDS_MAX, end }) => Some(*end),
                _ => None,
            },
            _ => None,
        };
        let found = self.loops.iter().enumerate().rev().find_map(|(index, round)| Some((index, end(round)?)));
        let Some((index, end)) = found else { return false };
        self.loops.truncate(index);
        self.at = end - 1;
        true
    }

    /// Sets the place before the loop's next round, or leaves it where the loop is over.
    fn again(&mut self) {
        let program = &self.reply.program;
        let end = |start: usize| match program.get(start) {
            Some(Instruction::Shuffle { end, .. }) => *end,
            _ => start,
        };
        match self.loops.last_mut() {
            Some(Round::Each { start, at, length, .. }) if *at + 1 < *length => {
                *at += 1;
                self.at = *start;
            }
            Some(Round::Repeat { start, left }) if *left > 0 => {
                *left -= 1;
                self.at = *start;
            }
            Some(Round::Shuffle { start, order, at }) => {
                *at += 1;
                let next = order.get(*at).copied();
                let over = end(*start);
                if next.is_none() {
                    self.loops.pop();
                }
                self.at = next.unwrap_or(over) - 1;
            }
            Some(_) | None => {
                self.loops.pop();
            }
        }
    }

    /// Runs `work` with the variables in `uses`; inside of loops `item` has its value.
    fn scoped<R>(
        &self,
        uses: Uses,
        facts: &Facts<'_>,
        now: WallTime,
        work: impl for<'f> FnOnce(&'f Scope<'f>) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        let moment = Moment { now, sent: self.sent };
        let frame = Frame::new(facts, &self.received, moment, &self.draws);
        if !uses.any(Uses::ITEM) {
            let scope = frame.scope(uses, Value::Null)?;
            return work(&scope);
        }
        descend(self.reply, &self.loops, &frame, Value::Null, uses, work)
    }

    /// Makes the headers. Whether there are any.
    fn headers(&mut self, facts: &Facts<'_>, now: WallTime) -> Result<bool, Failure> {
        let headers = &self.reply.headers;
        if let Some(fixed) = headers.fixed() {
            return Ok(!fixed.is_empty());
        }
        self.room.headers = self.scoped(headers.uses(), facts, now, |scope| headers.make(scope))?;
        Ok(!self.room.headers.is_empty())
    }

    fn given(&self) -> &Metadata {
        self.reply.headers.fixed().unwrap_or(&self.room.headers)
    }

    fn trailers(&self, facts: &Facts<'_>, now: WallTime) -> Result<Metadata, Failure> {
        let trailers = &self.reply.trailers;
        match trailers.fixed() {
            Some(fixed) => Ok(fixed.clone()),
            None => self.scoped(trailers.uses(), facts, now, |scope| trailers.make(scope)),
        }
    }

    fn make(&mut self, place: usize, facts: &Facts<'_>, now: WallTime) -> Result<(), Failure> {
        let Some(Instruction::Send(body)) = self.reply.program.get(place) else { return Ok(()) };
        if matches!(body, Body::Fixed(_) | Body::Echo) {
            return Ok(());
        }
        let (target, form) = (&self.reply.target, self.form);
        let made = self.scoped(body.uses(), facts, now, |scope| match body.make(target, scope)? {
            Some(message) => encoded(&message, target, form),
            None => Ok(Vec::new()),
        })?;
        self.room.message = made;
        Ok(())
    }

    fn sending(&self, place: usize) -> Sent<'_> {
        match self.reply.program.get(place) {
            Some(Instruction::Send(Body::Fixed(fixed))) => Sent::Prepared(&fixed.prepared),
            Some(Instruction::Send(Body::Echo)) => Sent::Echo,
            _ => Sent::Made(Message { form: self.form, bytes: &self.room.message }),
        }
    }

    fn fail(&mut self, failure: Failure) -> Action<'_> {
        self.stage = Stage::Over;
        Action::Finish(self.received.status(failure).into())
    }
}

/// Goes into the loops from the outermost to the innermost, so that each list may name the `item` of those around it.
fn descend<'f, R>(
    reply: &Reply,
    loops: &[Round],
    frame: &'f Frame<'f>,
    item: Value<'f>,
    uses: Uses,
    work: impl for<'s> FnOnce(&'s Scope<'s>) -> Result<R, Failure>,
) -> Result<R, Failure> {
    let Some((round, inner)) = loops.split_first() else {
        let scope = frame.scope(uses, item)?;
        return work(&scope);
    };
    let Round::Each { start, at, draws, .. } = round else { return descend(reply, inner, frame, item, uses, work) };
    let Some(Instruction::Each { list, .. }) = reply.program.get(*start) else {
        return descend(reply, inner, frame, item, uses, work);
    };
    let scope = frame.scope(list.uses(), item)?;
    let now = scope.draws().replace(draws.clone());
    let value = list.value(&scope);
    scope.draws().replace(now);
    let element = match value? {
        Value::List(list) => list.get(*at).unwrap_or(Value::Null),
        _ => Value::Null,
    };
    descend(reply, inner, frame, element, uses, work)
}

fn unexpected(count: u64, source: &str) -> Status {
    Status::new(
        Code::FailedPrecondition,
        format!("request {count} is not what the script expects: `{source}` is not true"),
    )
}

impl Failure {
    /// What the client is told.
    pub(super) fn status(self) -> Status {
        Status::new(Code::Internal, format!("the mock cannot make its reply: {}", self.0))
    }
}
