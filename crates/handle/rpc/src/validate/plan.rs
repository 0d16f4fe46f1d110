//! Compiled rules: what is done for a message of one type, for its fields, for the values in them.

use std::sync::Arc;

use buffa_descriptor::FieldDescriptor;

use super::check::Check;
use super::expression::Expression;
use super::path::PathElement;
use super::quick::Quick;
use super::{Constraints, FieldPath};

/// All rules of a message type.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Whether a message of the type can break a rule at all, its nested messages included.
    pub(super) active: bool,
    /// What is wrong with the rules of this type or of one below it.
    pub(super) problem: Option<String>,
    pub(super) expressions: Vec<Expression>,
    pub(super) exclusive: Vec<Exclusive>,
    pub(super) oneofs: Vec<RequiredOneof>,
    pub(super) fields: Vec<FieldPlan>,
    /// How to read the fields from wire bytes, if that is enough.
    pub(super) quick: Option<Vec<Quick>>,
}

/// Fields of which one at most may be set, by an option of the message.
#[derive(Debug)]
pub(super) struct Exclusive {
    pub(super) fields: Vec<FieldDescriptor>,
    pub(super) required: bool,
}

/// A oneof of which one field must be set.
#[derive(Debug)]
pub(super) struct RequiredOneof {
    pub(super) name: String,
    pub(super) fields: Vec<FieldDescriptor>,
}

/// The rules of a field.
#[derive(Debug)]
pub(super) struct FieldPlan {
    pub(super) descriptor: FieldDescriptor,
    pub(super) element: PathElement,
    /// The path of `required`, where the field is.
    pub(super) required: Option<Arc<FieldPath>>,
    /// Whether an unset field is left alone.
    pub(super) skips_unset: bool,
    pub(super) value: ValuePlan,
    pub(super) constraints: Constraints,
}

/// The rules of a value: of a field as a whole, of an item, of a key or a value of a map.
#[derive(Debug, Default)]
pub(super) struct ValuePlan {
    /// Whether a zero value is left alone; for items, keys and values.
    pub(super) skips_zero: bool,
    /// Native code for `guarded`: where all pass, none of those is evaluated.
    pub(super) checks: Vec<Check>,
    pub(super) guarded: Vec<Expression>,
    pub(super) expressions: Vec<Expression>,
    /// The numbers of an enum, sorted, and the rule's path, where only defined ones are allowed.
    pub(super) defined_only: Option<(Vec<i32>, Arc<FieldPath>)>,
    pub(super) any: Option<AnyPlan>,
    pub(super) inner: Inner,
}

/// The rules of a `google.protobuf.Any`.
#[derive(Debug)]
pub(super) struct AnyPlan {
    pub(super) within: Vec<String>,
    pub(super) within_path: Arc<FieldPath>,
    pub(super) not_within: Vec<String>,
    pub(super) not_within_path: Arc<FieldPath>,
}

/// What is in a value.
#[derive(Debug, Default)]
pub(super) enum Inner {
    /// Nothing with rules.
    #[default]
    Nothing,
    /// A message, by the place of its plan.
    Message(usize),
    Items(Box<ValuePlan>),
    Entries(Box<(ValuePlan, ValuePlan)>),
}

impl ValuePlan {
    /// Whether a value can break a rule, when messages of the plans `active` can.
    pub(super) fn active(&self, active: &[bool]) -> bool {
        !self.guarded.is_empty()
            || !self.checks.is_empty()
            || !self.expressions.is_empty()
            || self.defined_only.is_some()
            || self.any.is_some()
            || match &self.inner {
                Inner::Nothing => false,
                Inner::Message(place) => active.get(*place).copied().unwrap_or(false),
                Inner::Items(items) => items.active(active),
                Inner::Entries(entries) => entries.0.active(active) || entries.1.active(active),
            }
    }

    /// Makes every rule an expression.
    pub(super) fn without_native(&mut self) {
        self.checks.clear();
        self.expressions.append(&mut self.guarded);
        match &mut self.inner {
            Inner::Nothing | Inner::Message(_) => {}
            Inner::Items(items) => items.without_native(),
            Inner::Entries(entries) => {
                entries.0.without_native();
                entries.1.without_native();
            }
        }
    }

    /// The plans of messages within.
    pub(super) fn below(&self, out: &mut Vec<usize>) {
        match &self.inner {
            Inner::Nothing => {}
            Inner::Message(place) => out.push(*place),
            Inner::Items(items) => items.below(out),
            Inner::Entries(entries) => {
                entries.0.below(out);
                entries.1.below(out);
            }
        }
    }

    /// Leaves messages without rules alone.
    pub(super) fn prune(&mut self, active: &[bool]) {
        match &mut self.inner {
            Inner::Nothing => {}
            Inner::Message(place) => {
                if !active.get(*place).copied().unwrap_or(false) {
                    self.inner = Inner::Nothing;
                }
            }
            Inner::Items(items) => {
                items.prune(active);
                if !items.active(active) {
                    self.inner = Inner::Nothing;
                }
            }
            Inner::Entries(entries) => {
                entries.0.prune(active);
                entries.1.prune(active);
                if !entries.0.active(active) && !entries.1.active(active) {
                    self.inner = Inner::Nothing;
                }
            }
        }
    }
}
