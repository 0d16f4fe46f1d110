//! A reply as a list of instructions, which [`Steps`](super::Steps) follows. Every way to write a reply becomes one.

use super::body::Body;
use super::delay::Bounded;
use super::error::Error;
use super::template::{Expression, Uses};

/// Times that a loop may go round where no end is given; the client's patience ends before.
pub(super) const ROUNDS_MAX: u64 = u64::MAX;

/// One thing to do. Places of instructions are their indices.
#[derive(Debug)]
pub(super) enum Instruction {
    /// Waits.
    Wait(Bounded),
    /// Sends the headers at once.
    Headers,
    /// Sends a message.
    Send(Body),
    /// Takes a request.
    Expect {
        /// What must be true of it; `None` for anything.
        that: Option<Expression>,
        /// Whether the client may have sent all.
        optional: bool,
    },
    /// Takes requests until the client has sent all.
    Collect,
    /// Does what follows up to [`Instruction::Again`] for each element of a list; `end` is behind that.
    Each { list: Expression, end: usize },
    /// Does what follows up to `end` if this is true.
    If { that: Expression, end: usize },
    /// Does it so many times.
    Repeat { rounds: u64, end: usize },
    /// Does what starts at these places, each of which ends with [`Instruction::Again`], in an order by the seed.
    Shuffle { starts: Vec<usize>, end: usize },
    /// The end of what a loop does.
    Again,
    /// Ends the call with an error.
    Fail(Error),
    /// Ends the call with success.
    Close,
}

/// A program as it grows.
#[derive(Debug, Default)]
pub(super) struct Builder {
    instructions: Vec<Instruction>,
}

impl Builder {
    pub(super) fn push(&mut self, instruction: Instruction) {
        self.instructions.push(instruction);
    }

    /// A delay, unless it is none.
    pub(super) fn wait(&mut self, delay: Option<Bounded>) {
        if let Some(delay) = delay.filter(|delay| !delay.is_nothing()) {
            self.push(Instruction::Wait(delay));
        }
    }

    /// Where the next instruction will be.
    pub(super) fn next(&self) -> usize {
        self.instructions.len()
    }

    /// Ends the loop whose first instruction is at `start`.
    pub(super) fn end(&mut self, start: usize) {
        self.push(Instruction::Again);
        let behind = self.next();
        match self.instructions.get_mut(start) {
            Some(
                Instruction::Each { end, .. } | Instruction::Repeat { end, .. } | Instruction::Shuffle { end, .. },
            ) => {
                *end = behind;
            }
            _ => debug_assert!(false, "no loop starts at {start}"),
        }
    }

    /// Ends what a condition at `start` is for.
    pub(super) fn end_if(&mut self, start: usize) {
        let behind = self.next();
        if let Some(Instruction::If { end, .. }) = self.instructions.get_mut(start) {
            *end = behind;
        }
    }

    /// Ends a shuffle: its bodies end with `Again` already.
    pub(super) fn end_shuffle(&mut self, start: usize, found: Vec<usize>) {
        let behind = self.next();
        if let Some(Instruction::Shuffle { starts, end }) = self.instructions.get_mut(start) {
            (*starts, *end) = (found, behind);
        }
    }

    pub(super) fn finish(self) -> Vec<Instruction> {
        self.instructions
    }
}

impl Instruction {
    pub(super) fn uses(&self) -> Uses {
        match self {
            Self::Wait(delay) => delay.uses(),
            Self::Send(body) => body.uses(),
            Self::Expect { that, .. } => that.as_ref().map_or(Uses::NONE, Expression::uses),
            Self::Each { list, .. } => list.uses(),
            Self::If { that, .. } => that.uses(),
            Self::Shuffle { .. } => Uses::DRAWS,
            Self::Fail(error) => error.uses(),
            Self::Headers | Self::Collect | Self::Repeat { .. } | Self::Again | Self::Close => Uses::NONE,
        }
    }
}
