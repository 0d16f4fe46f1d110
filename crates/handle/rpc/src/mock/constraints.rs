use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use leat_config::Problem;
use leat_rpc_wire::{Code, Detail, Status};
use leat_schema::{MessageType, Method, Schema};

use crate::cel::Timestamp;
use crate::validate::{Failure, Mode, Validators, Violations};

/// What the schema asks of messages (`buf.validate`), compiled once for each type.
#[derive(Debug)]
pub(super) struct Constraints {
    mode: Mode,
    validators: Option<Validators>,
}

impl Constraints {
    /// Compiles those of all requests and replies. Problems: what is wrong with the constraints themselves.
    pub(super) fn new(mode: Mode, schema: &Arc<Schema>) -> (Self, Vec<String>) {
        if mode == Mode::Off {
            return (Self { mode, validators: None }, Vec::new());
        }
        let roots = schema.methods().iter().flat_map(|method| [method.input().index(), method.output().index()]);
        let validators = Validators::compile_for(schema.pool(), roots);
        let problems = validators.problems().iter().map(ToString::to_string).collect();
        (Self { mode, validators: Some(validators) }, problems)
    }

    /// The validators; `None` where nothing is validated.
    pub(super) fn validators(&self) -> Option<&Validators> {
        self.validators.as_ref()
    }

    /// Holds a request against the constraints of its type. Costs a look-up where it has none.
    ///
    /// # Errors
    /// `invalid_argument` with what it breaks, as protovalidate's detail and as Google's.
    pub(super) fn check(&self, method: &Method, message: &[u8]) -> Result<(), Status> {
        match self.violations(method.input(), message) {
            Ok(violations) if violations.is_empty() => Ok(()),
            Ok(violations) => Err(invalid(&violations)),
            Err(status) => Err(status),
        }
    }

    /// What a rule's own reply breaks.
    pub(super) fn check_reply(&self, method: &Method, message: &[u8]) -> Result<(), String> {
        match self.violations(method.output(), message) {
            Ok(violations) if violations.is_empty() => Ok(()),
            Ok(violations) => Err(violations.to_string()),
            Err(status) => Err(status.message),
        }
    }

    fn violations(&self, kind: &MessageType, message: &[u8]) -> Result<Violations, Status> {
        let Some(validators) = &self.validators else { return Ok(Violations::default()) };
        if self.mode == Mode::Auto && !validators.declares(kind.index()) {
            return Ok(Violations::default());
        }
        let decoded = kind.decode(message).map_err(|error| {
            Status::new(Code::InvalidArgument, format!("the message is no {}: {error}", kind.full_name()))
        })?;
        validators.validate(&decoded, now()).map_err(|failure| match failure {
            Failure::Rules(text) => Status::new(Code::Internal, format!("the schema's constraints are wrong: {text}")),
            Failure::Evaluation(text) => Status::new(Code::Internal, format!("a constraint can't be judged: {text}")),
        })
    }
}

fn invalid(violations: &Violations) -> Status {
    let detail = |type_name: &str, value: Vec<u8>| Detail { type_name: type_name.to_owned(), value: value.into() };
    Status {
        code: Code::InvalidArgument,
        message: violations.to_string(),
        details: vec![
            detail("buf.validate.Violations", violations.to_binary()),
            detail("google.rpc.BadRequest", violations.to_bad_request()),
        ],
    }
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i128::try_from(since.as_nanos()).unwrap_or(i128::MAX))
}

/// Problems of constraints, which have no place: their files were compiled.
pub(super) fn as_problems(found: Vec<String>, about: &dyn Fn(String) -> Problem) -> Vec<Problem> {
    found.into_iter().map(|text| about(format!("a constraint of the schema can't be compiled: {text}"))).collect()
}
