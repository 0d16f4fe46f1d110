//! What a rule says of a message's fields becomes conditions: scalars that singular messages lead to are read by slots, all
//! else by trees over the decoded message.

use leat_config::Place;
use leat_config::table::{Reader, nearest, quoted, shorten, show};
use leat_config::yaml::{Node, Pair, Value};
use leat_schema::{Field, Kind, MessageType, Presence, Schema, Shape, WellKnown};

use super::condition::{Condition, TreeCondition};
use super::operators::{self, Asked, split};
use super::path;
use super::scalar::Domain;
use super::slots::Slots;
use super::source;
use super::tree::{Step, Tree};

/// Names that a message lists.
const NAMES_MAX: usize = 12;

/// Compiles the conditions on one method's message.
pub(super) struct Fields<'a> {
    pub(super) schema: &'a Schema,
    pub(super) slots: &'a mut Slots,
    pub(super) reader: &'a Reader,
}

/// Where in the message the compiler is: only singular messages lead there.
struct Level<'a> {
    message: &'a MessageType,
    node: u16,
    /// The path, with a dot behind it.
    prefix: String,
    steps: Vec<Step>,
}

impl Fields<'_> {
    /// The conditions that these fields of `message` ask for. `None`: problems were reported.
    pub(super) fn conditions(&mut self, message: &MessageType, pairs: &[Pair]) -> Option<Vec<Condition>> {
        let level = Level { message, node: 0, prefix: String::new(), steps: Vec::new() };
        let pairs: Vec<&Pair> = pairs.iter().collect();
        let mut out = Vec::new();
        self.level(&level, &pairs, &mut out).then_some(out)
    }

    fn level(&mut self, level: &Level<'_>, pairs: &[&Pair], out: &mut Vec<Condition>) -> bool {
        let mut right = true;
        for pair in pairs {
            right &= match path::parts(&pair.key) {
                Ok(parts) => self.part(level, &parts, pair.place, &pair.value, out).is_some(),
                Err(error) => {
                    let message = format!("`{}` is no path: {error}", shorten(&pair.key));
                    self.reader.problem_help(
                        pair.place,
                        message,
                        "write names with dots between them, such as `customer.name`",
                    );
                    false
                }
            };
        }
        right
    }

    /// One field below a level, and what is asked of it or of something below it.
    fn part(
        &mut self,
        level: &Level<'_>,
        parts: &[String],
        place: Place,
        node: &Node,
        out: &mut Vec<Condition>,
    ) -> Option<()> {
        let (name, rest) = parts.split_first()?;
        let field = self.field(level.message, name, place)?;
        let path = format!("{}{}", level.prefix, field.name());
        let below = level.message.message_of(field);
        let plain = below.as_ref().filter(|below| below.well_known().is_none() && field.shape() == Shape::One);
        if let Some(below) = plain {
            if !rest.is_empty() {
                let next = self.descend(level, field, below, &path, place)?;
                return self.part(&next, rest, place, node, out);
            }
            return self.message(level, field, below, &path, node, out);
        }
        match domain(field, level.message) {
            Some(domain) if rest.is_empty() && field.shape() == Shape::One => {
                self.scalar(level, field, domain, &path, node, out)
            }
            _ => {
                let tree = self.tree_at(level.message, field, rest, place, node, &path)?;
                self.tree(level, field, &path, tree, node, out);
                Some(())
            }
        }
    }

    fn scalar(
        &mut self,
        level: &Level<'_>,
        field: &Field,
        domain: Domain,
        path: &str,
        node: &Node,
        out: &mut Vec<Condition>,
    ) -> Option<()> {
        let asked =
            Asked { domain, name: path, implicit: is_implicit(field), types: level.message, reader: self.reader };
        let test = asked.test(node)?;
        // With a declared default the slot always has a value; whether it was written is another slot.
        let declared = field.default().is_some();
        if let (true, super::test::Test::Exists(_)) = (declared, &test) {
            let slot = self.slots.presence(level.node, field, path).or_else(|| self.too_many(node.place))?;
            out.push(Condition::Slot { slot, test });
            return Some(());
        }
        if declared && test.asks_for_presence() {
            let message = format!("`exists` beside other operators on `{path}`, which has a declared default");
            self.reader.problem_help(
                node.place,
                message,
                "a declared default is always there: leave `exists` out, or ask for it alone",
            );
            return None;
        }
        let slot = self.slots.scalar(level.node, field, domain, path).or_else(|| self.too_many(node.place))?;
        match test {
            super::test::Test::All(tests) => {
                out.extend(Vec::from(tests).into_iter().map(|test| Condition::Slot { slot, test }));
            }
            test => out.push(Condition::Slot { slot, test }),
        }
        Some(())
    }

    /// A singular message: its fields as conditions of their own, operators as trees.
    fn message(
        &mut self,
        level: &Level<'_>,
        field: &Field,
        below: &MessageType,
        path: &str,
        node: &Node,
        out: &mut Vec<Condition>,
    ) -> Option<()> {
        let present = |fields: &mut Self, wanted: bool, out: &mut Vec<Condition>| {
            let slot = fields.slots.presence(level.node, field, path).or_else(|| fields.too_many(node.place))?;
            out.push(Condition::Slot { slot, test: super::test::Test::Exists(wanted) });
            Some(())
        };
        let Value::Map(pairs) = &node.value else {
            if node.value == Value::Null {
                return present(self, false, out);
            }
            self.no_mapping(path, below, node);
            return None;
        };
        let found = split(pairs, |name| below.field_named(name).is_some() || name.contains(['.', '[']), self.reader);
        let mut right = true;
        for operator in &found.operators {
            right &= if operator.name == "exists" {
                operators::flag(*operator, self.reader).and_then(|wanted| present(self, wanted, out)).is_some()
            } else {
                let tree = self.message_operator(below, *operator, path);
                tree.map(|tree| self.tree(level, field, path, tree, node, out)).is_some()
            };
        }
        if !found.others.is_empty() || pairs.is_empty() {
            let next = self.descend(level, field, below, path, node.place)?;
            right &= self.level(&next, &found.others, out);
            if pairs.is_empty() {
                right &= present(self, true, out).is_some();
            }
        }
        right.then_some(())
    }

    fn descend<'m>(
        &mut self,
        level: &Level<'_>,
        field: &Field,
        below: &'m MessageType,
        path: &str,
        place: Place,
    ) -> Option<Level<'m>> {
        let node = self.slots.descend(level.node, field).or_else(|| self.too_many(place))?;
        let mut steps = level.steps.clone();
        steps.push(Step::new(field));
        Some(Level { message: below, node, prefix: format!("{path}."), steps })
    }

    fn tree(&self, level: &Level<'_>, field: &Field, path: &str, tree: Tree, node: &Node, out: &mut Vec<Condition>) {
        let mut steps = level.steps.clone();
        steps.push(Step::new(field));
        let source = source::line(node);
        let condition = TreeCondition { path: path.into(), steps: steps.into(), tree, source: source.into() };
        out.push(Condition::Tree(Box::new(condition)));
    }

    /// The field of this name; reports what is no field.
    pub(super) fn field<'m>(&self, message: &'m MessageType, name: &str, place: Place) -> Option<&'m Field> {
        if let Some(field) = message.field_named(name) {
            return Some(field);
        }
        let names = || message.fields().iter().map(Field::name);
        let oneof = message.oneofs().iter().find(|oneof| oneof.name() == name && !oneof.is_synthetic());
        let help = match (nearest(name, names()), oneof) {
            (_, Some(oneof)) => {
                let members = oneof.members().filter_map(|at| message.fields().get(at)).map(Field::name);
                format!("it is a oneof: write one of its fields, {}", quoted(members))
            }
            (Some(near), None) => format!("write `{near}`"),
            (None, None) if message.fields().is_empty() => "it has no fields at all".to_owned(),
            (None, None) if message.fields().len() > NAMES_MAX => {
                format!("its fields are {}, …", quoted(names().take(NAMES_MAX)))
            }
            (None, None) => format!("its fields are {}", quoted(names())),
        };
        self.reader.problem_help(place, format!("`{}` has no field `{}`", message.full_name(), shorten(name)), help);
        None
    }

    pub(super) fn no_mapping(&self, path: &str, below: &MessageType, node: &Node) {
        let example = below.fields().first().map_or("exists", Field::name);
        let message = format!("`{path}` is a `{}`, found {}", below.full_name(), show(node));
        self.reader.problem_help(node.place, message, format!("write its fields: `{{ {example}: … }}`"));
    }

    fn too_many(&self, place: Place) -> Option<u16> {
        self.reader.problem_help(
            place,
            "the rules of this method look at more fields than are allowed",
            "look at fewer fields, or at whole messages",
        );
        None
    }
}

/// The domain of a field whose values read as scalars.
pub(super) fn domain(field: &Field, message: &MessageType) -> Option<Domain> {
    match field.kind() {
        Kind::Message(_) => {
            let below = message.message_of(field)?;
            match below.well_known()? {
                WellKnown::Timestamp => Some(Domain::Timestamp),
                WellKnown::Duration => Some(Domain::Duration),
                WellKnown::Wrapper => below.field(1).map(|inner| Domain::Kind(inner.kind())),
                _ => None,
            }
        }
        kind => Some(Domain::Kind(kind)),
    }
}

/// Whether nothing and zero are one for this field; an element of a list is always there.
pub(super) fn is_implicit(field: &Field) -> bool {
    field.shape() == Shape::One && field.presence() == Presence::Implicit && !matches!(field.kind(), Kind::Message(_))
}
