//! Walks a message by its plan, and collects what is wrong.

use std::sync::Arc;

use buffa::editions::FieldPresence;
use buffa_descriptor::reflect::{DynamicMessage, MapKey, Value as Proto};
use buffa_descriptor::{FieldDescriptor, FieldKind, ScalarType, SingularKind};

use super::FieldPath;
use super::check::Datum;
use super::expression::{Expression, Fault, Verdict};
use super::path::{PathElement, Subscript};
use super::plan::{AnyPlan, FieldPlan, Inner, Plan, ValuePlan};
use super::violation::{VIOLATIONS_MAX, Violation, Violations};
use crate::cel::{Timestamp, Value};

/// One validation.
pub(super) struct Run<'p> {
    plans: &'p [Plan],
    now: Timestamp,
    found: Vec<Violation>,
}

/// The way from the root to a value; a path is made of it only for a violation.
#[derive(Clone, Copy)]
struct Trail<'t> {
    above: Option<&'t Trail<'t>>,
    element: &'t PathElement,
    subscript: Option<&'t Subscript>,
    for_key: bool,
}

impl Trail<'_> {
    fn path(&self) -> FieldPath {
        let mut path = self.above.map(Trail::path).unwrap_or_default();
        let mut element = self.element.clone();
        element.subscript = self.subscript.cloned();
        path.0.push(element);
        path
    }
}

impl<'p> Run<'p> {
    pub(super) fn new(plans: &'p [Plan], now: Timestamp) -> Run<'p> {
        Run { plans, now, found: Vec::new() }
    }

    /// Judges the root.
    pub(super) fn message(mut self, plan: &'p Plan, message: &DynamicMessage) -> Result<Violations, Fault> {
        self.walk(plan, message, None)?;
        Ok(Violations(self.found))
    }

    fn full(&self) -> bool {
        self.found.len() >= VIOLATIONS_MAX
    }

    fn add(&mut self, trail: Option<&Trail<'_>>, rule: Option<&Arc<FieldPath>>, id: &str, message: impl Into<String>) {
        if self.full() {
            return;
        }
        self.found.push(Violation {
            field: trail.map(Trail::path),
            rule: rule.map(Arc::clone),
            rule_id: id.to_owned(),
            message: message.into(),
            for_key: trail.is_some_and(|trail| trail.for_key),
        });
    }

    fn walk(&mut self, plan: &'p Plan, message: &DynamicMessage, above: Option<&Trail<'_>>) -> Result<(), Fault> {
        if !plan.expressions.is_empty() {
            let this = Value::message(message);
            for expression in &plan.expressions {
                self.judge(expression, &this, above)?;
            }
        }
        for each in &plan.exclusive {
            let set = each.fields.iter().filter(|field| is_set(message, field)).count();
            let names = || each.fields.iter().map(FieldDescriptor::name).collect::<Vec<_>>().join(", ");
            if set > 1 {
                self.add(above, None, "message.oneof", format!("only one of {} can be set", names()));
            } else if set == 0 && each.required {
                self.add(above, None, "message.oneof", format!("one of {} must be set", names()));
            }
        }
        for each in &plan.oneofs {
            if !each.fields.iter().any(|field| is_set(message, field)) {
                let element = PathElement::oneof(&each.name);
                let trail = Trail { above, element: &element, subscript: None, for_key: false };
                self.add(Some(&trail), None, "required", "exactly one field is required in oneof");
            }
        }
        for field in &plan.fields {
            if self.full() {
                break;
            }
            self.field(field, message, above)?;
        }
        Ok(())
    }

    fn field(&mut self, plan: &'p FieldPlan, message: &DynamicMessage, above: Option<&Trail<'_>>) -> Result<(), Fault> {
        let trail = Trail { above, element: &plan.element, subscript: None, for_key: false };
        let set = is_set(message, &plan.descriptor);
        if let (Some(rule), false) = (&plan.required, set) {
            self.add(Some(&trail), Some(rule), "required", "value is required");
            return Ok(());
        }
        if plan.skips_unset && !set {
            return Ok(());
        }
        match message.field_by_number(plan.descriptor.number()) {
            Some(value) => self.value(&plan.value, value, &trail),
            None => match zero(&plan.descriptor) {
                Some(zero) => self.value(&plan.value, &zero, &trail),
                None => Ok(()),
            },
        }
    }

    fn value(&mut self, plan: &'p ValuePlan, value: &Proto, trail: &Trail<'_>) -> Result<(), Fault> {
        if plan.skips_zero && is_zero(value) {
            return Ok(());
        }
        let datum = Datum::of(value);
        let proven = plan.checks.iter().all(|check| check.passes(datum));
        if !proven || !plan.expressions.is_empty() {
            let this = Value::of(value);
            for expression in &plan.expressions {
                self.judge(expression, &this, Some(trail))?;
            }
            if !proven {
                for expression in &plan.guarded {
                    self.judge(expression, &this, Some(trail))?;
                }
            }
        }
        if let Some((numbers, rule)) = &plan.defined_only
            && let Proto::EnumNumber(number) = value
            && numbers.binary_search(number).is_err()
        {
            self.add(Some(trail), Some(rule), "enum.defined_only", "value must be one of the defined enum values");
        }
        if let (Some(any), Proto::Message(message)) = (&plan.any, value) {
            self.any(any, message, trail);
        }
        self.inner(&plan.inner, value, trail)
    }

    fn inner(&mut self, inner: &'p Inner, value: &Proto, trail: &Trail<'_>) -> Result<(), Fault> {
        match (inner, value) {
            (Inner::Message(place), Proto::Message(message)) => match self.plans.get(*place) {
                Some(plan) => self.walk(plan, message, Some(trail)),
                None => Ok(()),
            },
            (Inner::Items(plan), Proto::List(items)) => {
                for (index, item) in items.iter().enumerate() {
                    if self.full() {
                        break;
                    }
                    let subscript = Subscript::Index(index as u64);
                    self.value(plan, item, &Trail { subscript: Some(&subscript), ..*trail })?;
                }
                Ok(())
            }
            (Inner::Entries(plans), Proto::Map(map)) => {
                for (key, value) in map {
                    if self.full() {
                        break;
                    }
                    let subscript = Subscript::key(key);
                    let at = Trail { subscript: Some(&subscript), ..*trail };
                    self.value(&plans.0, &key_value(key), &Trail { for_key: true, ..at })?;
                    self.value(&plans.1, value, &at)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn any(&mut self, plan: &AnyPlan, message: &DynamicMessage, trail: &Trail<'_>) {
        let url = match message.field_by_number(1) {
            Some(Proto::String(url)) => url.as_str(),
            _ => "",
        };
        if !plan.within.is_empty() && !plan.within.iter().any(|each| each == url) {
            self.add(Some(trail), Some(&plan.within_path), "any.in", "type URL must be in the allow list");
        }
        if plan.not_within.iter().any(|each| each == url) {
            self.add(Some(trail), Some(&plan.not_within_path), "any.not_in", "type URL must not be in the block list");
        }
    }

    fn judge(&mut self, expression: &Expression, this: &Value<'_>, trail: Option<&Trail<'_>>) -> Result<(), Fault> {
        if let Verdict::Breaks(text) = expression.judge(this, self.now)? {
            self.add(trail, expression.path.as_ref(), &expression.id, text);
        }
        Ok(())
    }
}

/// Whether a field is set, by the rules of its presence.
fn is_set(message: &DynamicMessage, field: &FieldDescriptor) -> bool {
    match message.field_by_number(field.number()) {
        None => false,
        Some(Proto::List(items)) => !items.is_empty(),
        Some(Proto::Map(map)) => !map.is_empty(),
        Some(value) => field.presence() != FieldPresence::Implicit || !is_zero(value),
    }
}

fn key_value(key: &MapKey) -> Proto {
    match key {
        MapKey::Bool(flag) => Proto::Bool(*flag),
        MapKey::I32(number) => Proto::I32(*number),
        MapKey::I64(number) => Proto::I64(*number),
        MapKey::U32(number) => Proto::U32(*number),
        MapKey::U64(number) => Proto::U64(*number),
        MapKey::String(text) => Proto::String(text.clone()),
    }
}

/// The value of a field that is not set and has no presence; none for messages, which always have it.
fn zero(field: &FieldDescriptor) -> Option<Proto> {
    match field.kind() {
        FieldKind::List(_) => Some(Proto::List(Vec::new())),
        FieldKind::Map { .. } => Some(Proto::Map(buffa_descriptor::reflect::MapValue::new())),
        FieldKind::Singular(SingularKind::Message(_)) => None,
        FieldKind::Singular(SingularKind::Enum(_)) => Some(Proto::EnumNumber(0)),
        FieldKind::Singular(SingularKind::Scalar(scalar)) => Some(match scalar {
            ScalarType::Bool => Proto::Bool(false),
            ScalarType::String => Proto::String(String::new()),
            ScalarType::Bytes => Proto::Bytes(Vec::new()),
            ScalarType::Double => Proto::F64(0.0),
            ScalarType::Float => Proto::F32(0.0),
            ScalarType::Uint32 | ScalarType::Fixed32 => Proto::U32(0),
            ScalarType::Uint64 | ScalarType::Fixed64 => Proto::U64(0),
            ScalarType::Int64 | ScalarType::Sint64 | ScalarType::Sfixed64 => Proto::I64(0),
            ScalarType::Int32 | ScalarType::Sint32 | ScalarType::Sfixed32 => Proto::I32(0),
        }),
    }
}

fn is_zero(value: &Proto) -> bool {
    match value {
        Proto::Bool(flag) => !flag,
        Proto::I32(number) | Proto::EnumNumber(number) => *number == 0,
        Proto::I64(number) => *number == 0,
        Proto::U32(number) => *number == 0,
        Proto::U64(number) => *number == 0,
        // The bits, since -0.0 is no zero value.
        Proto::F32(number) => number.to_bits() == 0,
        Proto::F64(number) => number.to_bits() == 0,
        Proto::String(text) => text.is_empty(),
        Proto::Bytes(bytes) => bytes.is_empty(),
        Proto::List(items) => items.is_empty(),
        Proto::Map(map) => map.is_empty(),
        Proto::Message(_) => false,
    }
}
