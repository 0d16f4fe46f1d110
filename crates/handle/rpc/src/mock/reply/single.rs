use leat_rpc_wire::{Metadata, Status};

use super::body::{Body, Known};
use super::error::Error;
use super::fault::Planned;
use super::fields::Fields;
use super::program::Instruction;
use super::target::Target;
use super::template::Uses;
use crate::call::Prepared;

/// One reply, ready to be given: fixed parts are encoded, templates compiled.
#[derive(Debug)]
pub struct Reply {
    pub(super) target: Target,
    pub(super) headers: Fields,
    pub(super) trailers: Fields,
    pub(super) program: Vec<Instruction>,
    pub(super) error: Option<Error>,
    pub(super) faults: Vec<Planned>,
    uses: Uses,
}

/// A reply to a unary call that needs neither time nor templates.
#[derive(Clone, Copy, Debug)]
pub struct AtOnce<'r> {
    /// Headers.
    pub headers: &'r Metadata,
    /// Trailers.
    pub trailers: &'r Metadata,
    /// What is answered.
    pub answer: Answered<'r>,
}

/// What is answered at once.
#[derive(Clone, Copy, Debug)]
pub enum Answered<'r> {
    /// A message that was made when the rule was loaded.
    Prepared(&'r Prepared),
    /// The request as it came.
    Echo,
    /// An error.
    Fail(&'r Status),
}

impl Reply {
    pub(super) fn new(
        target: Target,
        headers: Fields,
        trailers: Fields,
        program: Vec<Instruction>,
        error: Option<Error>,
        faults: Vec<Planned>,
    ) -> Self {
        let mut uses = headers.uses().and(trailers.uses()).and(error.as_ref().map_or(Uses::NONE, Error::uses));
        uses = program.iter().fold(uses, |uses, instruction| uses.and(instruction.uses()));
        Self { target, headers, trailers, program, error, faults, uses }
    }

    /// Whether it depends on the call's number, or on random numbers, which follow from it.
    pub fn counts(&self) -> bool {
        self.uses.any(Uses::CALL.and(Uses::DRAWS)) || self.faults.iter().any(Planned::counts)
    }

    /// Whether it looks at requests, which it then wants in binary form.
    pub fn reads_requests(&self) -> bool {
        self.uses.any(Uses::REQUEST.and(Uses::LAST).and(Uses::REQUESTS).and(Uses::UNANSWERED))
    }

    /// Whether a template names the state of the rule's scenario.
    pub fn reads_state(&self) -> bool {
        self.uses.any(Uses::STATE)
    }

    /// Whether it needs all requests at once.
    pub(super) fn keeps_requests(&self) -> bool {
        self.uses.any(Uses::REQUESTS.and(Uses::UNANSWERED))
    }

    /// The whole reply to a unary call, where nothing of it depends on the call or takes time: no allocation.
    pub fn at_once(&self) -> Option<AtOnce<'_>> {
        if !self.faults.is_empty() || self.target.client_streams || self.target.server_streams {
            return None;
        }
        let answer = match (&*self.program, &self.error) {
            ([Instruction::Send(Body::Fixed(fixed))], None) => Answered::Prepared(&fixed.prepared),
            ([Instruction::Send(Body::Echo)], None) => Answered::Echo,
            ([], Some(Error::Fixed(status))) => Answered::Fail(status),
            _ => return None,
        };
        Some(AtOnce { headers: self.headers.fixed()?, trailers: self.trailers.fixed()?, answer })
    }

    /// What is known of its messages before there is a call.
    pub fn known_messages(&self) -> impl Iterator<Item = Known<'_>> {
        self.program.iter().filter_map(|instruction| match instruction {
            Instruction::Send(body) => body.known(),
            _ => None,
        })
    }
}
