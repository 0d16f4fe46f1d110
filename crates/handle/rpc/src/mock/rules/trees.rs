//! What a rule asks of values with parts, as trees over the decoded message.

use std::sync::Arc;

use leat_config::Place;
use leat_config::table::{nearest, shorten, show};
use leat_config::yaml::{Node, Pair, Value};
use leat_schema::buffa_descriptor::reflect::{DynamicMessage, MapKey};
use leat_schema::{Field, Kind, MessageType, Shape, WellKnown};

use super::fields::{Fields, domain, is_implicit};
use super::operators::{self, Asked, Operator, split};
use super::scalar::{Domain, Literal};
use super::tree::{Elements, Step, Tree};
use super::{literal, path, source};

impl Fields<'_> {
    /// The tree for what is asked of a field, or of something below it that a path leads to.
    pub(super) fn tree_at(
        &mut self,
        message: &MessageType,
        field: &Field,
        rest: &[String],
        place: Place,
        node: &Node,
        path: &str,
    ) -> Option<Tree> {
        let Some((name, rest)) = rest.split_first() else { return self.field_tree(message, field, node, path) };
        match field.shape() {
            Shape::List => {
                let Ok(at) = name.parse::<usize>() else {
                    let message = format!("`{path}` is a list, and `{}` is no number of an element", shorten(name));
                    self.reader.problem_help(
                        place,
                        message,
                        format!(
                            "write `{path}.0.{name}` for the first element, or `any: {{ {name}: … }}` for some element"
                        ),
                    );
                    return None;
                };
                let tree = self.element_at(message, field, rest, place, node, &format!("{path}.{at}"))?;
                Some(Tree::List(Elements::At(at, Box::new(tree))))
            }
            Shape::Map { key } => {
                let key = self.map_key(name, key, path, place)?;
                let tree = self.element_at(message, field, rest, place, node, &format!("{path}.{name}"))?;
                Some(Tree::Entries([(key, tree)].into()))
            }
            Shape::One => self.below(message, field, name, rest, place, node, path),
        }
    }

    fn element_at(
        &mut self,
        message: &MessageType,
        field: &Field,
        rest: &[String],
        place: Place,
        node: &Node,
        path: &str,
    ) -> Option<Tree> {
        match rest.split_first() {
            None => self.element(message, field, node, path),
            Some((name, rest)) => self.below(message, field, name, rest, place, node, path),
        }
    }

    /// A field of the message that `field` holds.
    #[allow(clippy::too_many_arguments)] // A path, a place, and what is asked there.
    fn below(
        &mut self,
        message: &MessageType,
        field: &Field,
        name: &str,
        rest: &[String],
        place: Place,
        node: &Node,
        path: &str,
    ) -> Option<Tree> {
        let below = message.message_of(field).filter(|below| below.well_known().is_none());
        let Some(below) = below else {
            self.reader.problem_help(
                place,
                format!("`{path}` has no field `{}`: it is {}", shorten(name), self.what(message, field)),
                format!("write `{path}` and what its value is"),
            );
            return None;
        };
        let inner = self.field(&below, name, place)?;
        let tree = self.tree_at(&below, inner, rest, place, node, &format!("{path}.{}", inner.name()))?;
        Some(Tree::Fields([(Step::new(inner), tree)].into()))
    }

    /// What is asked of a field as a whole.
    fn field_tree(&mut self, message: &MessageType, field: &Field, node: &Node, path: &str) -> Option<Tree> {
        match (field.shape(), &node.value) {
            (Shape::One, _) => self.element(message, field, node, path),
            (_, Value::Null) => Some(Tree::Exists(false)),
            (Shape::List, Value::List(items)) => {
                self.elements(message, field, items, path).map(|trees| Tree::List(Elements::InOrder(trees)))
            }
            (Shape::List, Value::Map(pairs)) => {
                let found = split(pairs, |_| false, self.reader);
                let fields = message.message_of(field);
                for pair in &found.others {
                    if fields.as_ref().is_some_and(|below| below.field_named(&pair.key).is_some()) {
                        self.reader.problem_help(
                            pair.place,
                            format!("`{path}` is a list, and `{}` a field of its elements", pair.key),
                            format!("write `{path}: {{ any: {{ {}: … }} }}` for some element, or `all`", pair.key),
                        );
                    } else {
                        operators::unknown(pair, self.reader);
                    }
                }
                if !found.others.is_empty() {
                    return None;
                }
                self.all(found.operators.iter(), |fields, operator| {
                    fields.list_operator(message, field, *operator, path)
                })
            }
            (Shape::Map { key }, Value::Map(pairs)) => {
                let found = split(pairs, |_| true, self.reader);
                let mut trees = Vec::new();
                if !found.others.is_empty() || found.operators.is_empty() {
                    trees.push(Tree::Entries(self.entries(message, field, key, &found.others, path)?));
                }
                for pair in &found.others {
                    if operators::is_operator(&pair.key) {
                        self.reader.warn(
                            pair.place,
                            format!("`{}` is a key of the map `{path}` here", pair.key),
                            format!("write `${}` for the operator", pair.key),
                        );
                    }
                }
                for operator in &found.operators {
                    trees.push(self.map_operator(message, field, key, *operator, path)?);
                }
                Some(one_or_all(trees))
            }
            (Shape::List, _) => {
                self.reader.problem_help(
                    node.place,
                    format!("`{path}` is a list, found {}", show(node)),
                    "write a list, or `contains: …` for one of its elements",
                );
                None
            }
            (Shape::Map { .. }, _) => {
                self.reader.problem_help(
                    node.place,
                    format!("`{path}` is a map, found {}", show(node)),
                    "write a mapping from keys to values",
                );
                None
            }
        }
    }

    fn list_operator(
        &mut self,
        message: &MessageType,
        field: &Field,
        operator: Operator<'_>,
        path: &str,
    ) -> Option<Tree> {
        let argument = operator.argument;
        let items = |fields: &mut Self| match &argument.value {
            Value::List(items) => fields.elements(message, field, items, path),
            _ => fields.element(message, field, argument, path).map(|tree| [tree].into()),
        };
        let one = |fields: &mut Self| fields.element(message, field, argument, path).map(Box::new);
        Some(match operator.name {
            "equals" => return self.field_tree(message, field, argument, path),
            "not" => Tree::Not(Box::new(self.field_tree(message, field, argument, path)?)),
            "exists" => Tree::Exists(operators::flag(operator, self.reader)?),
            "contains" => Tree::List(Elements::Contain(items(self)?)),
            "any" => Tree::List(Elements::Any(one(self)?)),
            "all" => Tree::List(Elements::All(one(self)?)),
            "none" => Tree::List(Elements::None(one(self)?)),
            "size" => Tree::Size(operators::size(argument, path, message, self.reader)?),
            "unordered" => {
                operators::list(operator, self.reader)?;
                Tree::List(Elements::Unordered(items(self)?))
            }
            "in" => {
                let choices = operators::list(operator, self.reader)?;
                let trees = self.each(choices, |fields, node| fields.field_tree(message, field, node, path))?;
                Tree::Any(trees)
            }
            _ => return self.unfit(operator, path, "a list"),
        })
    }

    fn map_operator(
        &mut self,
        message: &MessageType,
        field: &Field,
        key: Kind,
        operator: Operator<'_>,
        path: &str,
    ) -> Option<Tree> {
        let argument = operator.argument;
        let one = |fields: &mut Self| fields.element(message, field, argument, path).map(Box::new);
        Some(match operator.name {
            "equals" => {
                let Value::Map(pairs) = &argument.value else {
                    return self.unfit(operator, path, "a map, and takes one");
                };
                let pairs: Vec<&Pair> = pairs.iter().collect();
                Tree::ExactEntries(self.entries(message, field, key, &pairs, path)?)
            }
            "not" => Tree::Not(Box::new(self.field_tree(message, field, argument, path)?)),
            "exists" => Tree::Exists(operators::flag(operator, self.reader)?),
            "any" => Tree::List(Elements::Any(one(self)?)),
            "all" => Tree::List(Elements::All(one(self)?)),
            "none" => Tree::List(Elements::None(one(self)?)),
            "size" => Tree::Size(operators::size(argument, path, message, self.reader)?),
            _ => return self.unfit(operator, path, "a map"),
        })
    }

    /// What is asked of one value: of a singular field, of an element, of a value in a map.
    fn element(&mut self, message: &MessageType, field: &Field, node: &Node, path: &str) -> Option<Tree> {
        let implicit = is_implicit(field);
        if let Some(domain) = domain(field, message) {
            let asked = Asked { domain, name: path, implicit, types: message, reader: self.reader };
            let test = asked.test(node)?;
            let well_known = message.message_of(field).and_then(|below| below.well_known());
            return Some(match well_known {
                Some(WellKnown::Wrapper) => Tree::Wrapped(test),
                Some(_) => Tree::Moment(test),
                None => Tree::Scalar(test),
            });
        }
        let below = message.message_of(field)?;
        match (below.well_known(), &node.value) {
            (_, Value::Null) => Some(Tree::Exists(false)),
            (None, Value::Map(pairs)) => self.message_tree(&below, pairs, path),
            (None, _) => {
                self.no_mapping(path, &below, node);
                None
            }
            (Some(WellKnown::Any), Value::Map(pairs)) => self.any(&below, pairs, node, path),
            // What JSON writes in a form of its own is compared as a whole.
            (Some(_), Value::Map(pairs)) if pairs.iter().any(|pair| pair.key.starts_with('$')) => {
                let found = split(pairs, |_| false, self.reader);
                found.others.iter().for_each(|pair| operators::unknown(pair, self.reader));
                self.all(found.operators.iter(), |fields, operator| fields.message_operator(&below, *operator, path))
            }
            (Some(_), _) => self.exactly(&below, node, path),
        }
    }

    /// Fields and operators of a message.
    fn message_tree(&mut self, below: &MessageType, pairs: &[Pair], path: &str) -> Option<Tree> {
        let found = split(pairs, |name| below.field_named(name).is_some() || name.contains(['.', '[']), self.reader);
        let mut trees = Vec::new();
        if !found.others.is_empty() || found.operators.is_empty() {
            trees.push(self.fields(below, &found.others, path)?);
        }
        for operator in &found.operators {
            trees.push(self.message_operator(below, *operator, path)?);
        }
        Some(one_or_all(trees))
    }

    fn fields(&mut self, below: &MessageType, pairs: &[&Pair], path: &str) -> Option<Tree> {
        let fields = self.each(pairs, |fields, pair| {
            let parts = match path::parts(&pair.key) {
                Ok(parts) => parts,
                Err(error) => {
                    fields.reader.problem_help(
                        pair.place,
                        format!("`{}` is no path: {error}", shorten(&pair.key)),
                        "write names with dots between them",
                    );
                    return None;
                }
            };
            let (name, rest) = parts.split_first()?;
            let field = fields.field(below, name, pair.place)?;
            let tree =
                fields.tree_at(below, field, rest, pair.place, &pair.value, &format!("{path}.{}", field.name()))?;
            Some((Step::new(field), tree))
        })?;
        Some(Tree::Fields(fields))
    }

    pub(super) fn message_operator(&mut self, below: &MessageType, operator: Operator<'_>, path: &str) -> Option<Tree> {
        let argument = operator.argument;
        let tree = |fields: &mut Self, node: &Node| match (&node.value, below.well_known()) {
            (Value::Null, _) => Some(Tree::Exists(false)),
            (Value::Map(pairs), Some(WellKnown::Any)) => fields.any(below, pairs, node, path),
            (Value::Map(pairs), None) => fields.message_tree(below, pairs, path),
            (_, Some(_)) => fields.exactly(below, node, path),
            _ => {
                fields.no_mapping(path, below, node);
                None
            }
        };
        Some(match operator.name {
            "equals" if below.well_known() == Some(WellKnown::Any) => return tree(self, argument),
            "equals" => return self.exactly(below, argument, path),
            "not" => Tree::Not(Box::new(tree(self, argument)?)),
            "exists" => Tree::Exists(operators::flag(operator, self.reader)?),
            "any" | "in" => Tree::Any(self.each(operators::list(operator, self.reader)?, tree)?),
            "all" => Tree::All(self.each(operators::list(operator, self.reader)?, tree)?),
            "none" => Tree::Not(Box::new(Tree::Any(self.each(operators::list(operator, self.reader)?, tree)?))),
            _ => return self.unfit(operator, path, "a message"),
        })
    }

    /// A message in an `Any`: `@type`, and fields of that type.
    fn any(&mut self, any: &MessageType, pairs: &[Pair], node: &Node, path: &str) -> Option<Tree> {
        let Some(kind) = pairs.iter().find(|pair| pair.key == "@type") else {
            let found = split(pairs, |_| false, self.reader);
            if let ([], operators @ [_, ..]) = (&*found.others, &*found.operators) {
                return self.all(operators.iter(), |fields, operator| fields.message_operator(any, *operator, path));
            }
            self.reader.problem_help(
                node.place,
                format!("`{path}` is an Any, and nothing says of which type"),
                "add `\"@type\": package.Message`",
            );
            return None;
        };
        let text = leat_config::table::text_of(&kind.value).map_or("", |text| text.value);
        let type_name = text.rsplit('/').next().unwrap_or_default();
        let Some(inner) = self.schema.message(type_name) else {
            let names: Vec<MessageType> = self.schema.messages().collect();
            let help = match nearest(type_name, names.iter().map(MessageType::full_name)) {
                Some(name) => format!("write `{name}`"),
                None => "write the full name of a message, with its package".to_owned(),
            };
            self.reader.problem_help(
                kind.value.place,
                format!("the schema has no message `{}`", shorten(type_name)),
                help,
            );
            return None;
        };
        let others: Vec<Pair> = pairs.iter().filter(|pair| pair.key != "@type").cloned().collect();
        let tree = match inner.well_known() {
            None => self.message_tree(&inner, &others, path)?,
            // Its JSON form stands under `value` (google/protobuf/any.proto).
            Some(_) => match others.iter().find(|pair| pair.key == "value") {
                Some(pair) => self.exactly(&inner, &pair.value, path)?,
                None => Tree::Fields(Box::default()),
            },
        };
        Some(Tree::Packed { type_name: type_name.into(), inner: Box::new(tree) })
    }

    /// A whole message in its JSON form.
    fn exactly(&mut self, types: &MessageType, node: &Node, path: &str) -> Option<Tree> {
        let json = source::json(node, types.well_known() == Some(WellKnown::FieldMask)).to_string();
        match DynamicMessage::from_json(Arc::clone(types.pool()), types.index(), &json) {
            Ok(message) => Some(Tree::Exactly(types.clone(), Box::new(message))),
            Err(error) => {
                let text = error.to_string();
                let text = text.split(" at line ").next().unwrap_or_default();
                self.reader.problem_help(
                    node.place,
                    format!("`{path}` is no `{}`: {text}", types.full_name()),
                    "write it as in JSON",
                );
                None
            }
        }
    }

    fn elements(&mut self, message: &MessageType, field: &Field, items: &[Node], path: &str) -> Option<Box<[Tree]>> {
        self.each(items, |fields, node| fields.element(message, field, node, path))
    }

    fn entries(
        &mut self,
        message: &MessageType,
        field: &Field,
        key: Kind,
        pairs: &[&Pair],
        path: &str,
    ) -> Option<Box<[(MapKey, Tree)]>> {
        self.each(pairs, |fields, pair| {
            let found = fields.map_key(&pair.key, key, path, pair.place)?;
            let tree = fields.element(message, field, &pair.value, &format!("{path}.{}", pair.key))?;
            Some((found, tree))
        })
    }

    fn map_key(&self, text: &str, kind: Kind, path: &str, place: Place) -> Option<MapKey> {
        let node = Node { place, value: Value::Plain(text.to_owned()) };
        let types = self.slots.message()?;
        Some(match literal::read(&node, Domain::Kind(kind), &format!("a key of {path}"), types, self.reader)? {
            Literal::Bool(flag) => MapKey::Bool(flag),
            Literal::Text(text) => MapKey::String(String::from_utf8_lossy(&text).into_owned()),
            Literal::Int(number) => match kind {
                Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => MapKey::I32(number as i32),
                _ => MapKey::I64(number),
            },
            Literal::Uint(number) => match kind {
                Kind::Uint32 | Kind::Fixed32 => MapKey::U32(number as u32),
                _ => MapKey::U64(number),
            },
            _ => return None,
        })
    }

    /// Compiles each, so that every mistake is found, and answers only if all were right.
    fn each<T, R>(&mut self, items: &[T], mut compile: impl FnMut(&mut Self, &T) -> Option<R>) -> Option<Box<[R]>> {
        items.iter().map(|item| compile(self, item)).collect::<Vec<_>>().into_iter().collect()
    }

    fn all<T>(
        &mut self,
        items: impl Iterator<Item = T>,
        mut compile: impl FnMut(&mut Self, T) -> Option<Tree>,
    ) -> Option<Tree> {
        let trees = items.map(|item| compile(self, item)).collect::<Vec<_>>();
        trees.into_iter().collect::<Option<Vec<Tree>>>().map(one_or_all)
    }

    fn unfit(&self, operator: Operator<'_>, path: &str, what: &str) -> Option<Tree> {
        self.reader.problem_help(
            operator.place,
            format!("`{}` does not fit `{path}`, which is {what}", operator.name),
            "see the operators in docs/reference/mock-rules.md",
        );
        None
    }

    fn what(&self, message: &MessageType, field: &Field) -> String {
        match domain(field, message) {
            Some(domain) => literal::what(domain, message),
            None => message.message_of(field).map_or_else(String::new, |below| format!("a `{}`", below.full_name())),
        }
    }
}

fn one_or_all(mut trees: Vec<Tree>) -> Tree {
    match (trees.len(), trees.pop()) {
        (1, Some(tree)) => tree,
        (_, last) => {
            trees.extend(last);
            Tree::All(trees.into())
        }
    }
}
