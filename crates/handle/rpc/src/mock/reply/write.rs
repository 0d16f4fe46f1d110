//! Reads messages out of rule files: checks them against their types, with a place for every mistake.

use std::sync::Arc;

use buffa_descriptor::reflect::{DynamicMessage, MapValue, ReflectMessageMut as _, Value as Proto};
use buffa_descriptor::{DescriptorPool, FieldKind, MessageIndex, ScalarType, SingularKind};
use leat_config::Place;
use leat_config::table::{Reader, nearest, quoted, show};
use leat_config::yaml::{Node, Pair, Value as Yaml};
use serde_json::{Map as Object, Number, Value as Json};

use super::convert::{map_key, singular};
use super::shape::{Element, Shape, Tree, field_kind};
use super::template::{At, Budget, Expression, Names, Template};
use crate::cel::Value;

/// Fields that a message of help lists.
const LISTED_MAX: usize = 12;

/// What reading needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writer<'r> {
    pub(super) reader: &'r Reader,
    pub(super) pool: &'r Arc<DescriptorPool>,
    pub(super) names: &'r Names,
}

/// The text of a scalar; `None` for lists, mappings and nothing.
fn scalar(node: &Node) -> Option<(&str, bool)> {
    match &node.value {
        Yaml::Plain(text) => Some((text, false)),
        Yaml::Quoted(text) => Some((text, true)),
        _ => None,
    }
}

impl Writer<'_> {
    /// The template in a node. `None`: it has none, or a problem was reported (the second is then `true`).
    pub(super) fn template(&self, node: &Node) -> (Option<Template>, bool) {
        match scalar(node) {
            Some((text, quoted)) if self.names.is_template(text) => {
                let at = At::new(self.reader, node.place, text, quoted);
                let template = Template::compile(text, self.names, &at);
                let failed = template.is_none();
                (template, failed)
            }
            _ => (None, false),
        }
    }

    /// A message of this type. `None`: problems were reported.
    pub(super) fn message(&self, index: MessageIndex, node: &Node) -> Option<Shape> {
        let full_name = self.pool.message(index).full_name();
        let pairs = match &node.value {
            Yaml::Map(pairs) => &pairs[..],
            Yaml::Null => &[],
            _ => {
                let message = format!("{full_name} is a message, found {}", show(node));
                self.reader.problem_help(node.place, message, "write its fields as a mapping");
                return None;
            }
        };
        let mut shape = Shape::empty(DynamicMessage::new(Arc::clone(self.pool), index));
        shape.each = self.special("$each", pairs)?;
        let names = match &shape.each {
            Some(list) => self.names.inside(&list.result()),
            None => self.names.clone(),
        };
        let inner = Writer { names: &names, ..*self };
        shape.when = inner.special("$if", pairs)?;
        let mut complete = true;
        let mut oneofs: Vec<(u16, &str)> = Vec::new();
        for pair in pairs.iter().filter(|pair| !matches!(&*pair.key, "$each" | "$if")) {
            complete &= inner.field(index, pair, &mut shape, &mut oneofs).is_some();
        }
        complete.then_some(shape)
    }

    /// The expression at `$each` or `$if`, which stand among a message's fields. `None`: a problem was reported.
    fn special(&self, key: &str, pairs: &[Pair]) -> Option<Option<Expression>> {
        let Some(pair) = pairs.iter().find(|pair| pair.key == key) else { return Some(None) };
        let Some((text, quoted)) = scalar(&pair.value) else {
            let message = format!("`{key}` takes an expression, found {}", show(&pair.value));
            self.reader.problem_help(pair.value.place, message, "write an expression of CEL, such as `request.items`");
            return None;
        };
        let at = At::new(self.reader, pair.value.place, text, quoted);
        let expression = Template::expression(text, self.names, &at)?;
        if key == "$if" && !expression.yields_bool() {
            let help = "write a condition, such as `index == 0`";
            self.reader.problem_help(pair.value.place, "`$if` takes what is true or false", help);
            return None;
        }
        Some(Some(expression))
    }

    /// A message that there is exactly once.
    fn single(&self, element: Element, place: Place) -> Option<Element> {
        if let Element::Message(shape) | Element::Packed(shape) = &element
            && shape.each.is_some()
        {
            self.reader.problem_help(place, "`$each` outside of a list", "it makes elements of a repeated field");
            return None;
        }
        Some(element)
    }

    fn field<'n>(
        &self,
        index: MessageIndex,
        pair: &'n Pair,
        shape: &mut Shape,
        oneofs: &mut Vec<(u16, &'n str)>,
    ) -> Option<()> {
        let Some((number, kind, oneof)) = field_kind(self.pool, index, &pair.key) else {
            self.unknown_field(index, &pair.key, pair.place);
            return None;
        };
        if pair.value.value == Yaml::Null && !self.is_value(kind) {
            return Some(());
        }
        if let Some(oneof) = oneof {
            if let Some((_, other)) = oneofs.iter().find(|(known, _)| *known == oneof) {
                let message = format!("`{}` beside `{other}`, which is of the same oneof", pair.key);
                self.reader.problem_help(pair.place, message, "keep one of them");
                return None;
            }
            oneofs.push((oneof, &pair.key));
        }
        match self.element(&pair.key, kind, &pair.value)? {
            Element::Fixed(value) => {
                let field = super::convert::named_field(self.pool, index, &pair.key)?;
                if let Err(error) = shape.fixed.try_set(field, value) {
                    self.reader.problem_help(pair.place, error.to_string(), "write a value of the field's type");
                    return None;
                }
            }
            element => shape.made.push((number, element)),
        }
        Some(())
    }

    /// Whether a field is a `google.protobuf.Value`, for which null is a value.
    fn is_value(&self, kind: FieldKind) -> bool {
        matches!(kind, FieldKind::Singular(SingularKind::Message(index))
            if self.pool.message(index).full_name() == "google.protobuf.Value")
    }

    pub(super) fn unknown_field(&self, index: MessageIndex, name: &str, place: Place) {
        let descriptor = self.pool.message(index);
        let names = || descriptor.fields().iter().map(|field| field.name());
        let help = match nearest(name, names()) {
            Some(near) => format!("write `{near}`"),
            None if descriptor.fields().is_empty() => "it has no fields".to_owned(),
            None if descriptor.fields().len() > LISTED_MAX => {
                format!("its fields are {} and others", quoted(names().take(LISTED_MAX)))
            }
            None => format!("its fields are {}", quoted(names())),
        };
        let message = format!("`{}` is no field of {}", leat_config::table::shorten(name), descriptor.full_name());
        self.reader.problem_help(place, message, help);
    }

    fn element(&self, name: &str, kind: FieldKind, node: &Node) -> Option<Element> {
        let (template, failed) = self.template(node);
        if failed {
            return None;
        }
        match (kind, template, &node.value) {
            (_, Some(template), _) => Some(Element::Template(template)),
            (FieldKind::Singular(kind), None, _) => self.single(self.one(name, kind, node)?, node.place),
            (FieldKind::List(kind), None, Yaml::List(items)) => {
                let elements: Vec<Option<Element>> = items.iter().map(|item| self.one(name, kind, item)).collect();
                let elements: Vec<Element> = elements.into_iter().collect::<Option<_>>()?;
                Some(fixed_list(elements))
            }
            (FieldKind::List(_), None, _) => {
                let help = format!("write `{name}: [ … ]`, or put `- ` before each element");
                self.reader.problem_help(node.place, format!("`{name}` is repeated, found {}", show(node)), help);
                None
            }
            (FieldKind::Map { key, value }, None, Yaml::Map(pairs)) => self.map(name, key, value, pairs),
            (FieldKind::Map { .. }, None, _) => {
                let help = format!("write `{name}: {{ key: value }}`");
                self.reader.problem_help(node.place, format!("`{name}` is a map, found {}", show(node)), help);
                None
            }
        }
    }

    fn map(&self, name: &str, key: ScalarType, value: SingularKind, pairs: &[Pair]) -> Option<Element> {
        let mut entries = Vec::with_capacity(pairs.len());
        let mut complete = true;
        for pair in pairs {
            let Some(key) = map_key(key, &pair.key) else {
                let message = format!("`{}` is no key of `{name}`", leat_config::table::shorten(&pair.key));
                self.reader.problem_help(pair.place, message, "write a key of the map's type");
                complete = false;
                continue;
            };
            let element = self.one(name, value, &pair.value).and_then(|made| self.single(made, pair.value.place));
            match element {
                Some(element) => entries.push((key, element)),
                None => complete = false,
            }
        }
        if !complete {
            return None;
        }
        let fixed = entries.iter().all(|(_, element)| matches!(element, Element::Fixed(_)));
        if !fixed {
            return Some(Element::Map(entries));
        }
        let fixed = entries.into_iter().filter_map(|(key, element)| match element {
            Element::Fixed(value) => Some((key, value)),
            _ => None,
        });
        Some(Element::Fixed(Proto::Map(MapValue::from_entries(fixed.collect()))))
    }

    /// One value.
    fn one(&self, name: &str, kind: SingularKind, node: &Node) -> Option<Element> {
        let (template, failed) = self.template(node);
        if failed {
            return None;
        }
        if let Some(template) = template {
            return Some(Element::Template(template));
        }
        match kind {
            SingularKind::Message(index) => self.nested(index, node),
            SingularKind::Scalar(_) | SingularKind::Enum(_) => {
                let Some((text, quoted)) = scalar(node) else {
                    let message = format!("`{name}` takes {}, found {}", self.what(kind), show(node));
                    self.reader.problem_help(node.place, message, "write a single value");
                    return None;
                };
                self.scalar(name, kind, text, quoted, node.place).map(Element::Fixed)
            }
        }
    }

    fn scalar(&self, name: &str, kind: SingularKind, text: &str, quoted: bool, place: Place) -> Option<Proto> {
        let number = text.parse::<i64>().ok().map(Value::Int);
        let value = match kind {
            SingularKind::Enum(_) => number.unwrap_or_else(|| Value::text(text)),
            _ => Value::text(text),
        };
        let unknown = match (kind, &value) {
            // The name of an enum's value that is none, and numbers that a closed enum does not have.
            (SingularKind::Enum(index), Value::Int(number)) => {
                let enumeration = self.pool.enumeration(index);
                i32::try_from(*number).is_err() || enumeration.value(*number as i32).is_none()
            }
            (SingularKind::Scalar(ScalarType::Bool), _) => quoted || !matches!(text, "true" | "false"),
            _ => false,
        };
        let made = if unknown { None } else { singular(self.pool, kind, &value, &Budget::new()).ok().flatten() };
        if made.is_none() {
            let message = format!("`{name}` takes {}, found `{}`", self.what(kind), leat_config::table::shorten(text));
            self.reader.problem_help(place, message, self.help(kind, text));
        }
        made
    }

    fn what(&self, kind: SingularKind) -> String {
        match kind {
            SingularKind::Enum(index) => format!("a value of {}", self.pool.enumeration(index).full_name()),
            SingularKind::Message(index) => self.pool.message(index).full_name().to_owned(),
            SingularKind::Scalar(scalar) => match scalar {
                ScalarType::Bool => "`true` or `false`".to_owned(),
                ScalarType::String => "text".to_owned(),
                ScalarType::Bytes => "bytes as Base64".to_owned(),
                ScalarType::Double | ScalarType::Float => "a number".to_owned(),
                ScalarType::Int32 | ScalarType::Sint32 | ScalarType::Sfixed32 => {
                    format!("a whole number from {} to {}", i32::MIN, i32::MAX)
                }
                ScalarType::Uint32 | ScalarType::Fixed32 => format!("a whole number from 0 to {}", u32::MAX),
                ScalarType::Uint64 | ScalarType::Fixed64 => format!("a whole number from 0 to {}", u64::MAX),
                ScalarType::Int64 | ScalarType::Sint64 | ScalarType::Sfixed64 => {
                    format!("a whole number from {} to {}", i64::MIN, i64::MAX)
                }
            },
        }
    }

    fn help(&self, kind: SingularKind, text: &str) -> String {
        match kind {
            SingularKind::Enum(index) => {
                let values = self.pool.enumeration(index).values();
                let names = || values.iter().map(|value| value.name());
                match nearest(text, names()) {
                    Some(near) => format!("write `{near}`"),
                    None if values.len() > LISTED_MAX => {
                        format!("it has {} and others", quoted(names().take(LISTED_MAX)))
                    }
                    None => format!("it has {}", quoted(names())),
                }
            }
            SingularKind::Scalar(ScalarType::Bytes) => "bytes are written in Base64, such as `aGVsbG8=`".to_owned(),
            _ => "write such a value, or a template such as `\"{{ request.id }}\"`".to_owned(),
        }
    }

    /// A message inside of a message. Types with a JSON form of their own are read in that form.
    fn nested(&self, index: MessageIndex, node: &Node) -> Option<Element> {
        let full_name = self.pool.message(index).full_name();
        match full_name.strip_prefix("google.protobuf.") {
            Some("Any") => return self.any(node),
            Some("Empty") | None => {}
            Some(known) if is_wrapper(known) => return self.wrapper(index, node),
            Some(known) if is_known(known) => {
                let tree = self.tree(node)?;
                let Tree::Fixed(json) = tree else { return Some(Element::Json(tree, index)) };
                return match DynamicMessage::from_json(Arc::clone(self.pool), index, &json.to_string()) {
                    Ok(message) => Some(Element::Fixed(Proto::Message(message))),
                    Err(error) => {
                        let message = format!("this is no {full_name}: {error}");
                        self.reader.problem_help(node.place, message, format!("write for example {}", example(known)));
                        None
                    }
                };
            }
            Some(_) => {}
        }
        let shape = self.message(index, node)?;
        Some(if shape.is_fixed() {
            Element::Fixed(Proto::Message(shape.fixed))
        } else {
            Element::Message(Box::new(shape))
        })
    }

    /// A wrapper, which is written as the value in it.
    fn wrapper(&self, index: MessageIndex, node: &Node) -> Option<Element> {
        let field = self.pool.message(index).field(1)?;
        let FieldKind::Singular(kind) = field.kind() else { return None };
        let Element::Fixed(value) = self.one("value", kind, node)? else { return None };
        let mut message = DynamicMessage::new(Arc::clone(self.pool), index);
        message.try_set(field, value).ok()?;
        Some(Element::Fixed(Proto::Message(message)))
    }

    /// A message of any type, which `@type` names.
    fn any(&self, node: &Node) -> Option<Element> {
        let shape = self.typed(node)?;
        if !shape.is_fixed() {
            return Some(Element::Packed(Box::new(shape)));
        }
        match shape.fixed.pack_any() {
            Ok(any) => Some(Element::Fixed(Proto::Message(any))),
            Err(error) => {
                self.reader.problem_help(node.place, error.to_string(), "import google/protobuf/any.proto");
                None
            }
        }
    }

    /// A mapping with `@type` beside the fields of that type. `None`: problems were reported.
    pub(super) fn typed(&self, node: &Node) -> Option<Shape> {
        let Yaml::Map(pairs) = &node.value else {
            let message = format!("a message of any type is needed, found {}", show(node));
            self.reader.problem_help(
                node.place,
                message,
                "write `\"@type\": package.Message` and its fields beside it",
            );
            return None;
        };
        let Some((at, written)) = pairs
            .iter()
            .find(|pair| pair.key == "@type")
            .and_then(|pair| Some((pair.value.place, scalar(&pair.value)?.0)))
        else {
            let help = "add `\"@type\": package.Message`, the full name of its type";
            self.reader.problem_help(node.place, "`@type` is missing", help);
            return None;
        };
        let name = written.rsplit('/').next().unwrap_or(written);
        let Some(index) = self.pool.message_index(name) else {
            let names = self.pool.messages().iter().map(|message| message.full_name());
            let help = match nearest(name, names) {
                Some(near) => format!("write `{near}`"),
                None => "give the .proto file of the type too".to_owned(),
            };
            self.reader.problem_help(at, format!("there is no message `{name}`"), help);
            return None;
        };
        let known = self.pool.message(index).full_name().strip_prefix("google.protobuf.");
        if known.is_some_and(|known| is_known(known) || known == "Any") {
            return self.typed_known(index, pairs, node.place);
        }
        let fields = pairs.iter().filter(|pair| pair.key != "@type").cloned().collect();
        self.message(index, &Node { place: node.place, value: Yaml::Map(fields) })
    }

    /// A well-known type in an `Any` stands in `value`, as in protobuf's JSON form.
    fn typed_known(&self, index: MessageIndex, pairs: &[Pair], place: Place) -> Option<Shape> {
        let Some(value) = pairs.iter().find(|pair| pair.key == "value") else {
            self.reader.problem_help(place, "`value` is missing", "a well-known type stands in `value`");
            return None;
        };
        match self.nested(index, &value.value)? {
            Element::Fixed(Proto::Message(fixed)) => Some(Shape::empty(fixed)),
            Element::Message(shape) => Some(*shape),
            _ => {
                let help = "give the whole detail as a template, or use a message of your own";
                self.reader.problem_help(value.place, "a template in a well-known type in an `Any`", help);
                None
            }
        }
    }

    /// JSON with templates in it; plain scalars are what JSON and YAML take them for.
    fn tree(&self, node: &Node) -> Option<Tree> {
        let (template, failed) = self.template(node);
        if failed {
            return None;
        }
        if let Some(template) = template {
            return Some(Tree::Template(template));
        }
        Some(match &node.value {
            Yaml::Null => Tree::Fixed(Json::Null),
            Yaml::Quoted(text) => Tree::Fixed(Json::String(text.clone())),
            Yaml::Plain(text) => Tree::Fixed(plain(text)),
            Yaml::List(items) => {
                let items: Vec<Tree> = items.iter().map(|item| self.tree(item)).collect::<Option<_>>()?;
                if items.iter().all(|item| matches!(item, Tree::Fixed(_))) {
                    return Some(Tree::Fixed(Json::Array(items.into_iter().filter_map(Tree::fixed).collect())));
                }
                Tree::List(items)
            }
            Yaml::Map(pairs) => {
                let entry = |pair: &Pair| Some((pair.key.clone(), self.tree(&pair.value)?));
                let entries: Vec<(String, Tree)> = pairs.iter().map(entry).collect::<Option<_>>()?;
                if entries.iter().all(|(_, item)| matches!(item, Tree::Fixed(_))) {
                    let fixed = entries.into_iter().filter_map(|(key, item)| Some((key, item.fixed()?)));
                    return Some(Tree::Fixed(Json::Object(fixed.collect::<Object<_, _>>())));
                }
                Tree::Object(entries)
            }
        })
    }
}

impl Tree {
    fn fixed(self) -> Option<Json> {
        match self {
            Self::Fixed(json) => Some(json),
            _ => None,
        }
    }
}

/// A list whose elements are all fixed is fixed.
fn fixed_list(elements: Vec<Element>) -> Element {
    if !elements.iter().all(|element| matches!(element, Element::Fixed(_))) {
        return Element::List(elements);
    }
    let fixed = elements.into_iter().filter_map(|element| match element {
        Element::Fixed(value) => Some(value),
        _ => None,
    });
    Element::Fixed(Proto::List(fixed.collect()))
}

/// Types whose JSON form is not that of their fields.
fn is_known(name: &str) -> bool {
    matches!(name, "Timestamp" | "Duration" | "Struct" | "Value" | "ListValue" | "FieldMask") || is_wrapper(name)
}

/// Messages of one scalar, of wrappers.proto.
fn is_wrapper(name: &str) -> bool {
    const SCALARS: &[&str] = &["Bool", "Int32", "Int64", "UInt32", "UInt64", "Float", "Double", "String", "Bytes"];
    name.strip_suffix("Value").is_some_and(|scalar| SCALARS.contains(&scalar))
}

fn example(known: &str) -> &'static str {
    match known {
        "Timestamp" => "`\"2026-01-31T09:30:00Z\"`",
        "Duration" => "`\"1.5s\"`",
        "FieldMask" => "`\"name,address.city\"`",
        "Struct" => "`{ key: value }`",
        "ListValue" => "`[ 1, two ]`",
        _ => "a value of that type",
    }
}

/// A plain scalar by YAML's core schema: true, false, numbers, text.
fn plain(text: &str) -> Json {
    match text {
        "true" => Json::Bool(true),
        "false" => Json::Bool(false),
        _ if text.starts_with(|first: char| first.is_ascii_digit() || first == '-') => match text.parse::<i64>() {
            Ok(number) => Json::Number(number.into()),
            Err(_) => {
                text.parse().ok().and_then(Number::from_f64).map_or_else(|| Json::String(text.to_owned()), Json::Number)
            }
        },
        _ => Json::String(text.to_owned()),
    }
}
