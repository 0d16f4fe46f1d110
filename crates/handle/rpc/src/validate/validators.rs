//! The validators of a schema: one plan for each message type, compiled together.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use buffa_descriptor::reflect::DynamicMessage;
use buffa_descriptor::{DescriptorPool, MessageIndex};

use super::compile::Compiler;
use super::evaluate::Run;
use super::expression::Fault;
use super::plan::Plan;
use super::{Constraints, Violations, quick};
use crate::cel::Timestamp;

/// Validators of message types. Shared by threads; nothing in it changes but expressions that are compiled on first use.
#[derive(Debug)]
pub struct Validators {
    plans: Vec<Plan>,
    places: HashMap<MessageIndex, usize>,
    problems: Vec<Problem>,
}

/// What is wrong with the rules that a schema declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The message type whose rules are wrong.
    pub message: String,
    /// The full name of the field, where it is about one.
    pub field: Option<String>,
    /// What is wrong.
    pub text: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.message, self.text)
    }
}

/// Why a message could not be judged. Neither is the sender's fault alone: the first is a mistake of the schema, the second
/// an expression that fails on this message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The rules are wrong.
    Rules(String),
    /// A rule's expression failed.
    Evaluation(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Rules(text) | Failure::Evaluation(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Failure {}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Failure {
        match fault {
            Fault::Compile(text) => Failure::Rules(text),
            Fault::Evaluate(text) => Failure::Evaluation(text),
        }
    }
}

impl Validators {
    /// Compiles the rules of every message type of the schema.
    pub fn compile(pool: &Arc<DescriptorPool>) -> Validators {
        let all = pool.messages().iter().filter_map(|message| pool.message_index(message.full_name()));
        Validators::compile_for(pool, all)
    }

    /// Compiles the rules of some types, and of those that they contain.
    pub fn compile_for(pool: &Arc<DescriptorPool>, roots: impl IntoIterator<Item = MessageIndex>) -> Validators {
        let (plans, places, problems) = Compiler::run(pool, roots);
        Validators { plans, places, problems }
    }

    /// What is wrong with the rules. A type with a problem, or with one in a type below it, validates nothing: it fails.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Whether a message of the type can break a rule: its own, or one of a message within it.
    pub fn declares(&self, message: MessageIndex) -> bool {
        self.plan(message).is_some_and(|plan| plan.active)
    }

    /// The simple rules of a field, for who makes values that keep them.
    pub fn constraints(&self, message: MessageIndex, field: u32) -> Option<&Constraints> {
        let plan = self.plan(message)?;
        plan.fields.iter().find(|each| each.descriptor.number() == field).map(|each| &each.constraints)
    }

    /// Judges a message. `now` is the time that rules of timestamps compare with.
    ///
    /// Costs nothing where the type declares nothing; allocates for violations only.
    ///
    /// # Errors
    /// Rules that are wrong, and expressions that fail on this message.
    pub fn validate(&self, message: &DynamicMessage, now: Timestamp) -> Result<Violations, Failure> {
        let Some(plan) = self.plan(message.message_index()).filter(|plan| plan.active) else {
            return Ok(Violations::default());
        };
        if let Some(problem) = &plan.problem {
            return Err(Failure::Rules(problem.clone()));
        }
        Ok(Run::new(&self.plans, now).message(plan, message)?)
    }

    /// Whether the bytes prove that the message keeps its rules: without decoding it, a few instructions a field. `false`
    /// says nothing: it must be decoded and judged then.
    pub fn proves(&self, message: MessageIndex, bytes: &[u8]) -> bool {
        self.plan(message).is_none_or(|plan| !plan.active || quick::proves(&self.plans, plan, bytes))
    }

    /// Leaves every judgement to the expressions of `validate.proto`: for the suite that compares both ways.
    pub fn without_native(&mut self) {
        for plan in &mut self.plans {
            plan.fields.iter_mut().for_each(|field| field.value.without_native());
            plan.quick = None;
        }
    }

    fn plan(&self, message: MessageIndex) -> Option<&Plan> {
        self.plans.get(*self.places.get(&message)?)
    }
}
