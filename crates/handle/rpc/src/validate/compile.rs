//! From the options of a schema to plans.

use std::collections::HashMap;
use std::sync::Arc;

use buffa_descriptor::reflect::{DynamicMessage, ReflectMessage, Value as Proto};
use buffa_descriptor::{DescriptorPool, FieldDescriptor, FieldKind, MessageIndex, ScalarType, SingularKind};

use super::checks::checks;
use super::declared::{FIELD, MESSAGE, ONEOF, PREDEFINED, flag, get, messages, option, text, texts};
use super::expression::{Expression, Written};
use super::path::{PathElement, Subscript};
use super::plan::{AnyPlan, Exclusive, FieldPlan, Inner, Plan, RequiredOneof, ValuePlan};
use super::quick::quick;
use super::standard;
use super::{Constraints, FieldPath, Problem};
use crate::cel::Type;

/// Numbers of `buf.validate.Ignore`.
const IF_ZERO_VALUE: i32 = 1;
const ALWAYS: i32 = 3;

/// The state of one compilation.
pub(super) struct Compiler<'p> {
    pool: &'p Arc<DescriptorPool>,
    places: HashMap<MessageIndex, usize>,
    /// Types that have a place and are not compiled yet.
    waiting: Vec<MessageIndex>,
}

/// What is wrong with the rules of a message type: of which field, if of one, and in words.
struct Wrong(Vec<(Option<String>, String)>);

impl From<String> for Wrong {
    fn from(text: String) -> Self {
        Self(vec![(None, text)])
    }
}

/// A value's place in a schema: its kind, and the path of the rules around it.
#[derive(Clone, Copy)]
struct Site<'a> {
    kind: Kind,
    path: &'a [PathElement],
    name: &'a str,
}

/// A field as a whole, or one value.
#[derive(Clone, Copy)]
enum Kind {
    Whole(FieldKind),
    One(SingularKind),
}

impl<'p> Compiler<'p> {
    /// Compiles `roots` and everything that they contain.
    pub(super) fn run(
        pool: &'p Arc<DescriptorPool>,
        roots: impl IntoIterator<Item = MessageIndex>,
    ) -> (Vec<Plan>, HashMap<MessageIndex, usize>, Vec<Problem>) {
        let mut compiler = Compiler { pool, places: HashMap::new(), waiting: Vec::new() };
        // Without the extension nothing can be declared.
        if pool.extension_by_name(FIELD).is_none() {
            return (Vec::new(), HashMap::new(), Vec::new());
        }
        for root in roots {
            compiler.place(root);
        }
        let mut plans = Vec::new();
        let mut problems = Vec::new();
        while let Some(index) = compiler.waiting.get(plans.len()).copied() {
            let plan = compiler.message(index).unwrap_or_else(|Wrong(found)| {
                let message = pool.message(index).full_name();
                let problem = found.first().map(|(_, text)| text.clone());
                let found = found.into_iter().map(|(field, text)| Problem { message: message.to_owned(), field, text });
                problems.extend(found);
                Plan { problem, active: true, ..Plan::default() }
            });
            plans.push(plan);
        }
        settle(&mut plans);
        (plans, compiler.places, problems)
    }

    /// The place of a type's plan, which is compiled in its turn.
    fn place(&mut self, index: MessageIndex) -> usize {
        let next = self.waiting.len();
        let waiting = &mut self.waiting;
        *self.places.entry(index).or_insert_with(|| {
            waiting.push(index);
            next
        })
    }

    fn message(&mut self, index: MessageIndex) -> Result<Plan, Wrong> {
        let descriptor = self.pool.message(index);
        let mut plan = Plan::default();
        let rules = option(self.pool, descriptor.options(), MESSAGE);
        let mut exclusive_names: Vec<&str> = Vec::new();
        if let Some(rules) = &rules {
            known(rules, descriptor.full_name())?;
            for (written, _) in written(rules) {
                let of = Type::Message(index);
                plan.expressions.push(ready(Expression::own(self.pool, of, written, None))?);
            }
            for rule in messages(rules, "oneof") {
                let names: Vec<&str> = texts(rule, "fields").collect();
                plan.exclusive.push(self.exclusive(index, &names, flag(rule, "required"))?);
                exclusive_names.extend(names);
            }
        }
        for oneof in descriptor.oneofs() {
            let required = option(self.pool, oneof.options(), ONEOF).is_some_and(|rules| flag(&rules, "required"));
            if required {
                let fields = oneof
                    .field_indices()
                    .iter()
                    .filter_map(|at| descriptor.fields().get(usize::from(*at)).cloned())
                    .collect();
                plan.oneofs.push(RequiredOneof { name: oneof.name().to_owned(), fields });
            }
        }
        let mut wrong = Vec::new();
        for field in descriptor.fields() {
            let exclusive = exclusive_names.contains(&field.name());
            match self.field(descriptor.full_name(), field, exclusive) {
                Ok(planned) => plan.fields.extend(planned),
                Err(text) => wrong.push((Some(format!("{}.{}", descriptor.full_name(), field.name())), text)),
            }
        }
        if wrong.is_empty() { Ok(plan) } else { Err(Wrong(wrong)) }
    }

    fn exclusive(&self, index: MessageIndex, names: &[&str], required: bool) -> Result<Exclusive, String> {
        let descriptor = self.pool.message(index);
        if names.is_empty() {
            return Err("a oneof rule names no field".to_owned());
        }
        let mut fields: Vec<FieldDescriptor> = Vec::with_capacity(names.len());
        for name in names {
            let field = descriptor
                .field_by_name(name)
                .ok_or_else(|| format!("a oneof rule names the field '{name}', which there is not"))?;
            if fields.iter().any(|before| before.number() == field.number()) {
                return Err(format!("a oneof rule names the field '{name}' twice"));
            }
            fields.push(field.clone());
        }
        Ok(Exclusive { fields, required })
    }

    fn field(&mut self, message: &str, field: &FieldDescriptor, exclusive: bool) -> Result<Option<FieldPlan>, String> {
        use buffa::editions::FieldPresence;
        let rules = option(self.pool, field.options(), FIELD);
        let name = format!("{message}.{}", field.name());
        if let Some(rules) = &rules {
            known(rules, &name)?;
        }
        let ignore = rules.as_ref().map_or(0, ignored);
        if ignore == ALWAYS {
            return Ok(None);
        }
        let singular = matches!(field.kind(), FieldKind::Singular(_));
        let presence = singular && field.presence() != FieldPresence::Implicit;
        let site = Site { kind: Kind::Whole(field.kind()), path: &[], name: &name };
        let value = self.value(site, rules.as_ref())?;
        let required = match &rules {
            Some(rules) if flag(rules, "required") => Some(Arc::new(FieldPath(vec![rule_element(rules, "required")?]))),
            _ => None,
        };
        Ok(Some(FieldPlan {
            descriptor: field.clone(),
            element: PathElement::field(field),
            required,
            skips_unset: presence || ignore == IF_ZERO_VALUE || exclusive,
            value,
            constraints: rules.as_ref().map(Constraints::of).unwrap_or_default(),
        }))
    }

    /// The plan of a value at `site` with `rules`, which may be none: messages within have rules of their own.
    fn value(&mut self, site: Site<'_>, rules: Option<&DynamicMessage>) -> Result<ValuePlan, String> {
        let mut plan = ValuePlan::default();
        if let Some(rules) = rules {
            for (written, element) in written(rules) {
                let path = joined(site.path, &[element]);
                plan.expressions.push(ready(Expression::own(self.pool, self.type_of(site.kind), written, Some(path)))?);
            }
        }
        let typed = rules.and_then(rules_set);
        if let Some((name, _)) = &typed {
            let expected = expected(self.pool, site.kind);
            if expected != Some(name.as_str()) {
                let wanted = expected.map_or_else(|| "none".to_owned(), |wanted| format!("'{wanted}'"));
                return Err(format!("{} has rules of '{name}', where its type takes {wanted}", site.name));
            }
        }
        if let (Some(rules), Some((name, set))) = (rules, &typed) {
            let element = rule_element(rules, name)?;
            self.standard(site, &element, name, set, &mut plan)?;
        }
        plan.inner = self.inner(site, rules, typed.as_ref().map(|(_, set)| set))?;
        Ok(plan)
    }

    fn inner(
        &mut self,
        site: Site<'_>,
        rules: Option<&DynamicMessage>,
        set: Option<&DynamicMessage>,
    ) -> Result<Inner, String> {
        let prefix = |name: &str, part: &str| -> Result<Vec<PathElement>, String> {
            match (rules, set) {
                (Some(rules), Some(set)) => {
                    Ok([site.path, &[rule_element(rules, name)?, rule_element(set, part)?]].concat())
                }
                _ => Ok(Vec::new()),
            }
        };
        let nested = |part: &str| {
            set.and_then(|set| get(set, part))
                .and_then(|value| if let Proto::Message(rules) = value { Some(rules) } else { None })
        };
        match site.kind {
            Kind::One(SingularKind::Message(index))
            | Kind::Whole(FieldKind::Singular(SingularKind::Message(index))) => Ok(Inner::Message(self.place(index))),
            Kind::One(_) | Kind::Whole(FieldKind::Singular(_)) => Ok(Inner::Nothing),
            Kind::Whole(FieldKind::List(kind)) => {
                Ok(match self.element(site, kind, nested("items"), &prefix("repeated", "items")?)? {
                    Some(items) => Inner::Items(Box::new(items)),
                    None => Inner::Nothing,
                })
            }
            Kind::Whole(FieldKind::Map { key, value }) => {
                let keys = self.element(site, SingularKind::Scalar(key), nested("keys"), &prefix("map", "keys")?)?;
                let values = self.element(site, value, nested("values"), &prefix("map", "values")?)?;
                Ok(Inner::Entries(Box::new((keys.unwrap_or_default(), values.unwrap_or_default()))))
            }
        }
    }

    /// The plan of items, keys or values; none where they are ignored.
    fn element(
        &mut self,
        site: Site<'_>,
        kind: SingularKind,
        rules: Option<&DynamicMessage>,
        path: &[PathElement],
    ) -> Result<Option<ValuePlan>, String> {
        let ignore = rules.map_or(0, ignored);
        if ignore == ALWAYS {
            return Ok(None);
        }
        let mut plan = self.value(Site { kind: Kind::One(kind), path, name: site.name }, rules)?;
        plan.skips_zero = ignore == IF_ZERO_VALUE;
        Ok(Some(plan))
    }

    /// The rules of one type of rules, such as `int32`, whose element in paths is `element`.
    fn standard(
        &self,
        site: Site<'_>,
        element: &PathElement,
        name: &str,
        set: &DynamicMessage,
        plan: &mut ValuePlan,
    ) -> Result<(), String> {
        known(set, site.name)?;
        if name == "repeated"
            && flag(set, "unique")
            && matches!(site.kind, Kind::Whole(FieldKind::List(SingularKind::Message(_))))
        {
            return Err(format!("{}: items that are messages cannot be unique", site.name));
        }
        let path = |rule: &str| -> Result<Arc<FieldPath>, String> {
            Ok(joined(site.path, &[element.clone(), rule_element(set, rule)?]))
        };
        if let (true, Some(numbers)) = (flag(set, "defined_only"), self.numbers(site.kind)) {
            plan.defined_only = Some((numbers, path("defined_only")?));
        }
        if name == "any" {
            plan.any = Some(AnyPlan {
                within: texts(set, "in").map(str::to_owned).collect(),
                within_path: path("in")?,
                not_within: texts(set, "not_in").map(str::to_owned).collect(),
                not_within_path: path("not_in")?,
            });
            return Ok(());
        }
        let native = checks(name, set).map_err(|text| format!("{}: {text}", site.name))?;
        plan.checks = native.list;
        let shared = Arc::new(set.clone());
        let mut rules = Vec::new();
        set.for_each_set(&mut |field, _| rules.push(field.clone()));
        for rule in rules {
            let extension = self.pool.extension_for(set.message_index(), rule.number());
            let Some(value) = set.field_by_number(rule.number()) else { continue };
            let mut expressions =
                if extension.is_none() { standard::written(name, rule.name(), value, set) } else { Vec::new() };
            if expressions.is_empty() {
                // An extension, or a rule that is newer than the table: the schema says what it is.
                let predefined = option(self.pool, rule.options(), PREDEFINED);
                expressions.extend(predefined.iter().flat_map(|rules| messages(rules, "cel")).map(rule_of));
            }
            let own = extension.map_or_else(|| PathElement::field(&rule), PathElement::extension);
            let path = joined(site.path, &[element.clone(), own]);
            let covered = extension.is_none() && native.covered.contains(&rule.number());
            for written in expressions.into_iter().filter(|written| written.source != "true") {
                let of = self.type_of(site.kind);
                let typed = (Type::field(self.pool, &rule), value.clone());
                let expression = Expression::predefined(of, written, Arc::clone(&path), &shared, typed);
                if covered {
                    plan.guarded.push(expression);
                } else {
                    plan.expressions.push(ready(expression)?);
                }
            }
        }
        Ok(())
    }

    fn type_of(&self, kind: Kind) -> Type {
        match kind {
            Kind::Whole(FieldKind::Singular(kind)) | Kind::One(kind) => Type::singular(self.pool, kind),
            Kind::Whole(FieldKind::List(kind)) => Type::list(Type::singular(self.pool, kind)),
            Kind::Whole(FieldKind::Map { key, value }) => {
                Type::map(Type::scalar(key), Type::singular(self.pool, value))
            }
        }
    }

    fn numbers(&self, kind: Kind) -> Option<Vec<i32>> {
        let (Kind::Whole(FieldKind::Singular(SingularKind::Enum(index))) | Kind::One(SingularKind::Enum(index))) = kind
        else {
            return None;
        };
        let mut numbers: Vec<i32> =
            self.pool.enumeration(index).values().iter().map(buffa_descriptor::EnumValueDescriptor::number).collect();
        numbers.sort_unstable();
        Some(numbers)
    }
}

/// An expression that must be right when the schema is loaded.
fn ready(expression: Expression) -> Result<Expression, String> {
    expression.check()?;
    Ok(expression)
}

/// Refuses rules that this schema's `validate.proto` does not have: to leave them out would be to let everything pass.
fn known(rules: &DynamicMessage, name: &str) -> Result<(), String> {
    if rules.unknown_fields().is_empty() {
        return Ok(());
    }
    Err(format!("{name} has rules that the schema does not define; add the file that extends buf.validate's rules"))
}

/// `cel_expression` and `cel`, with their elements in paths.
fn written(rules: &DynamicMessage) -> Vec<(Written, PathElement)> {
    let at =
        |name: &str, index: usize| rule_element(rules, name).map(|element| element.at(Subscript::Index(index as u64)));
    let plain = texts(rules, "cel_expression").enumerate().filter_map(|(index, source)| {
        let written = Written { id: source.to_owned(), source: source.to_owned(), ..Written::default() };
        Some((written, at("cel_expression", index).ok()?))
    });
    let full =
        messages(rules, "cel").enumerate().filter_map(|(index, rule)| Some((rule_of(rule), at("cel", index).ok()?)));
    plain.chain(full).collect()
}

/// A `buf.validate.Rule`.
fn rule_of(rule: &DynamicMessage) -> Written {
    Written { id: text(rule, "id"), message: text(rule, "message"), source: text(rule, "expression"), known: None }
}

fn ignored(rules: &DynamicMessage) -> i32 {
    match get(rules, "ignore") {
        Some(Proto::EnumNumber(number)) => *number,
        _ => 0,
    }
}

/// The rules for a type of value that are set, with their name in `buf.validate.FieldRules`.
fn rules_set(rules: &DynamicMessage) -> Option<(String, DynamicMessage)> {
    let descriptor = rules.pool().message(rules.message_index());
    descriptor.fields().iter().find_map(|field| match rules.field_by_number(field.number()) {
        Some(Proto::Message(set)) => Some((field.name().to_owned(), set.clone())),
        _ => None,
    })
}

fn rule_element(rules: &DynamicMessage, name: &str) -> Result<PathElement, String> {
    let descriptor = rules.pool().message(rules.message_index());
    let field =
        descriptor.field_by_name(name).ok_or_else(|| format!("{} has no field '{name}'", descriptor.full_name()))?;
    Ok(PathElement::field(field))
}

fn joined(path: &[PathElement], rest: &[PathElement]) -> Arc<FieldPath> {
    Arc::new(FieldPath([path, rest].concat()))
}

/// The rules that a value takes, by their name in `buf.validate.FieldRules`.
fn expected(pool: &DescriptorPool, kind: Kind) -> Option<&'static str> {
    let kind = match kind {
        Kind::Whole(FieldKind::List(_)) => return Some("repeated"),
        Kind::Whole(FieldKind::Map { .. }) => return Some("map"),
        Kind::Whole(FieldKind::Singular(kind)) | Kind::One(kind) => kind,
    };
    match kind {
        SingularKind::Enum(_) => Some("enum"),
        SingularKind::Scalar(scalar) => Some(match scalar {
            ScalarType::Double => "double",
            ScalarType::Float => "float",
            ScalarType::Int64 => "int64",
            ScalarType::Uint64 => "uint64",
            ScalarType::Int32 => "int32",
            ScalarType::Fixed64 => "fixed64",
            ScalarType::Fixed32 => "fixed32",
            ScalarType::Bool => "bool",
            ScalarType::String => "string",
            ScalarType::Bytes => "bytes",
            ScalarType::Uint32 => "uint32",
            ScalarType::Sfixed32 => "sfixed32",
            ScalarType::Sfixed64 => "sfixed64",
            ScalarType::Sint32 => "sint32",
            ScalarType::Sint64 => "sint64",
        }),
        SingularKind::Message(index) => {
            Some(match pool.message(index).full_name().strip_prefix("google.protobuf.")? {
                "Any" => "any",
                "Duration" => "duration",
                "Timestamp" => "timestamp",
                "FieldMask" => "field_mask",
                "BoolValue" => "bool",
                "BytesValue" => "bytes",
                "DoubleValue" => "double",
                "FloatValue" => "float",
                "Int32Value" => "int32",
                "Int64Value" => "int64",
                "StringValue" => "string",
                "UInt32Value" => "uint32",
                "UInt64Value" => "uint64",
                _ => return None,
            })
        }
    }
}

/// Spreads what is below to what is above: whether there are rules, and what is wrong with them; then drops what has none.
fn settle(plans: &mut [Plan]) {
    let mut active = vec![false; plans.len()];
    loop {
        let mut changed = false;
        for place in 0..plans.len() {
            let Some(plan) = plans.get(place) else { continue };
            let own = plan.problem.is_some()
                || !plan.expressions.is_empty()
                || !plan.exclusive.is_empty()
                || !plan.oneofs.is_empty();
            let now = own || plan.fields.iter().any(|field| field.required.is_some() || field.value.active(&active));
            let mut below = Vec::new();
            plan.fields.iter().for_each(|field| field.value.below(&mut below));
            let problem = match &plan.problem {
                Some(_) => None,
                None => below.iter().find_map(|below| plans.get(*below).and_then(|plan| plan.problem.clone())),
            };
            if let Some(flag) = active.get_mut(place)
                && *flag != now
            {
                *flag = now;
                changed = true;
            }
            if let (Some(problem), Some(plan)) = (problem, plans.get_mut(place)) {
                plan.problem = Some(problem);
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    for (plan, active_now) in plans.iter_mut().zip(active.clone()) {
        plan.active = active_now;
        plan.fields.iter_mut().for_each(|field| field.value.prune(&active));
        plan.fields.retain(|field| field.required.is_some() || field.value.active(&active));
        plan.quick = quick(plan);
    }
}
