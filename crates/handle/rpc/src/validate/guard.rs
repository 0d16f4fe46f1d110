//! Stands before a service: a request that breaks its rules is answered, not passed on.

use std::sync::Arc;

use leat_rpc_wire::{Code, Detail, Form, Status};
use leat_schema::{DecodeProblem, MessageType, Method, Schema};

use super::{Failure, Mode, Problem, Validators, Violations};
use crate::call::Message;
use crate::cel::Timestamp;

/// The type of protovalidate's detail.
const VIOLATIONS_TYPE: &str = "buf.validate.Violations";
/// The type of Google's.
const BAD_REQUEST_TYPE: &str = "google.rpc.BadRequest";

/// Validates requests, and what a rule answers with. One for a schema; shared by all cores.
#[derive(Debug)]
pub struct Guard {
    mode: Mode,
    validators: Validators,
    /// By the method's id, whether its input can break a rule: what a call without rules asks costs one look.
    inputs: Vec<bool>,
}

impl Guard {
    /// Compiles the rules of `schema`. With [`Mode::Off`] nothing is compiled.
    ///
    /// # Errors
    /// All that is wrong with the rules.
    pub fn new(mode: Mode, schema: &Arc<Schema>) -> Result<Guard, Vec<Problem>> {
        let roots = schema.methods().iter().flat_map(|method| [method.input().index(), method.output().index()]);
        let validators = match mode {
            Mode::Off => Validators::compile_for(schema.pool(), []),
            Mode::Auto | Mode::On => Validators::compile_for(schema.pool(), roots),
        };
        if !validators.problems().is_empty() {
            return Err(validators.problems().to_vec());
        }
        let looks = |method: &Method| mode == Mode::On || validators.declares(method.input().index());
        let inputs = schema.methods().iter().map(looks).collect();
        Ok(Guard { mode, validators, inputs })
    }

    /// The validators.
    pub fn validators(&self) -> &Validators {
        &self.validators
    }

    /// Whether requests of the method are looked at. Where not, [`Guard::request`] says at once that they are right.
    pub fn looks_at(&self, method: &Method) -> bool {
        self.inputs.get(method.id()).copied().unwrap_or(false)
    }

    /// Judges one message of a request. `now` gives the time, if a rule asks for it.
    ///
    /// # Errors
    /// `invalid_argument` with both details for a message that breaks rules, or that is none of its type; `internal` where a
    /// rule itself fails.
    pub fn request(
        &self,
        method: &Method,
        message: Message<'_>,
        now: impl FnOnce() -> Timestamp,
    ) -> Result<(), Box<Status>> {
        if !self.looks_at(method) {
            return Ok(());
        }
        let input = method.input();
        let mut room = Vec::new();
        let bytes = match message.form {
            Form::Binary => message.bytes,
            Form::Json => message.request_binary(method, &mut room).map_err(Box::new)?,
        };
        if self.mode == Mode::Auto && self.validators.proves(input.index(), bytes) {
            return Ok(());
        }
        let decoded = input.decode(bytes).map_err(|error| {
            Box::new(match error {
                DecodeProblem::Malformed(error) => {
                    Status::new(Code::InvalidArgument, format!("the request is no {}: {error}", input.full_name()))
                }
                DecodeProblem::TooLarge => Status::new(Code::ResourceExhausted, format!("the request: {error}")),
            })
        })?;
        match self.validators.validate(&decoded, now()) {
            Ok(violations) if violations.is_empty() => Ok(()),
            Ok(violations) => Err(Box::new(refusal(&violations))),
            Err(failure) => Err(Box::new(failed(&failure))),
        }
    }

    /// What is wrong with a message that a rule file gives for a reply: for `check`, and when rules are loaded. `None` for a
    /// right one, and where nothing is validated.
    pub fn reply(&self, output: &MessageType, bytes: &[u8], now: Timestamp) -> Option<String> {
        match self.broken(output, bytes, now) {
            Ok(violations) if violations.is_empty() => None,
            Ok(violations) => Some(violations.to_string()),
            Err(failure) => Some(failure),
        }
    }

    /// The same, one by one.
    ///
    /// # Errors
    /// Why that can't be told: bytes that are no such message, an expression that fails.
    pub fn broken(&self, output: &MessageType, bytes: &[u8], now: Timestamp) -> Result<Violations, String> {
        if self.validators.proves(output.index(), bytes) {
            return Ok(Violations::default());
        }
        let decoded = output.decode(bytes).map_err(|error| format!("this is no {}: {error}", output.full_name()))?;
        self.validators.validate(&decoded, now).map_err(|failure| failure.to_string())
    }
}

/// The status for a message that breaks rules.
fn refusal(violations: &Violations) -> Status {
    let detail = |name: &str, value: Vec<u8>| Detail { type_name: name.to_owned(), value: value.into() };
    let mut status = Status::new(Code::InvalidArgument, format!("the request breaks its rules: {violations}"));
    status.details.push(detail(VIOLATIONS_TYPE, violations.to_binary()));
    status.details.push(detail(BAD_REQUEST_TYPE, violations.to_bad_request()));
    status
}

fn failed(failure: &Failure) -> Status {
    Status::new(Code::Internal, format!("the request could not be validated: {failure}"))
}
