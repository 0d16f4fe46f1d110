//! A message as it is written in a rule: what is fixed is made when the rule is loaded, what has templates for each call.

use std::sync::Arc;

use buffa_descriptor::reflect::{DynamicMessage, MapKey, MapValue, ReflectMessageMut as _, Value as Proto};
use buffa_descriptor::{DescriptorPool, FieldKind, MessageIndex, SingularKind};
use serde_json::{Map as Object, Value as Json};

use super::convert::{self, named_field};
use super::template::{Expression, Failure, Scope, Template, Uses, json};
use crate::cel::Value;

/// A message with what is fixed in it, and what is to be made.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) fixed: DynamicMessage,
    /// Numbers of fields, and what they become.
    pub(super) made: Vec<(u32, Element)>,
    /// Whether there is such a message at all.
    pub(super) when: Option<Expression>,
    /// In a list: a message for each element of this.
    pub(super) each: Option<Expression>,
}

/// What becomes the value of a field, or an element of it.
#[derive(Debug)]
pub(super) enum Element {
    /// Made already.
    Fixed(Proto),
    /// A template, whose value takes the field's type.
    Template(Template),
    /// A message with templates in it.
    Message(Box<Shape>),
    /// The same inside of a `google.protobuf.Any`.
    Packed(Box<Shape>),
    /// A message of a type with a JSON form of its own, such as `google.protobuf.Struct`.
    Json(Tree, MessageIndex),
    /// A repeated field. A template in it that makes a list puts its elements in.
    List(Vec<Element>),
    /// A map field.
    Map(Vec<(MapKey, Element)>),
}

/// JSON with templates in it.
#[derive(Debug)]
pub(super) enum Tree {
    Fixed(Json),
    Template(Template),
    List(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

impl Shape {
    /// A message without anything in it yet.
    pub(super) fn empty(fixed: DynamicMessage) -> Self {
        Self { fixed, made: Vec::new(), when: None, each: None }
    }

    /// Whether it is the same for all calls.
    pub(super) fn is_fixed(&self) -> bool {
        self.made.is_empty() && self.when.is_none() && self.each.is_none()
    }

    /// The variables that its templates name.
    pub(super) fn uses(&self) -> Uses {
        let uses = self.made.iter().fold(Uses::NONE, |uses, (_, element)| uses.and(element.uses()));
        self.when.iter().chain(&self.each).fold(uses, |uses, expression| uses.and(expression.uses()))
    }

    /// Makes it: none where its condition is false, several where it is for each element of a list.
    pub(super) fn many<'f>(&'f self, scope: &'f Scope<'f>) -> Result<Vec<DynamicMessage>, Failure> {
        let Some(list) = &self.each else { return Ok(self.one(scope)?.into_iter().collect()) };
        let mut made = Vec::new();
        match list.value(scope)? {
            Value::Null => {}
            Value::List(list) => {
                for item in list.iter() {
                    made.extend(self.one(&scope.with_item(item))?);
                }
            }
            other => return Err(Failure(format!("`$each` takes a list, found {}", other.type_name()))),
        }
        Ok(made)
    }

    fn one<'f>(&'f self, scope: &'f Scope<'f>) -> Result<Option<DynamicMessage>, Failure> {
        match &self.when {
            Some(when) if !matches!(when.value(scope)?, Value::Bool(true)) => Ok(None),
            _ => self.make(scope).map(Some),
        }
    }

    /// Makes the message.
    pub(super) fn make<'f>(&'f self, scope: &'f Scope<'f>) -> Result<DynamicMessage, Failure> {
        let budget = scope.budget();
        budget.message(&self.fixed).and_then(|()| budget.fields()).map_err(Failure)?;
        let mut message = self.fixed.clone();
        let pool = Arc::clone(self.fixed.pool());
        let descriptor = pool.message(self.fixed.message_index());
        for (number, element) in &self.made {
            let index = self.fixed.message_index();
            let declared = descriptor.field(*number);
            let Some(field) = declared.or_else(|| pool.extension_for(index, *number).map(|found| found.field())) else {
                continue;
            };
            let value = element.make(&pool, field.kind(), scope).map_err(|Failure(text)| {
                Failure(format!("`{}` of {}: {text}", field.name(), descriptor.full_name()))
            })?;
            if let Some(value) = value {
                message.try_set(field, value).map_err(|error| Failure(error.to_string()))?;
            }
        }
        Ok(message)
    }
}

impl Element {
    pub(super) fn uses(&self) -> Uses {
        let all = |uses: Uses, element: &Element| uses.and(element.uses());
        match self {
            Self::Fixed(_) => Uses::NONE,
            Self::Template(template) => template.uses(),
            Self::Message(shape) | Self::Packed(shape) => shape.uses(),
            Self::Json(tree, _) => tree.uses(),
            Self::List(elements) => elements.iter().fold(Uses::NONE, all),
            Self::Map(entries) => entries.iter().fold(Uses::NONE, |uses, (_, element)| all(uses, element)),
        }
    }

    /// The value for a field of this kind; `None` leaves it unset.
    pub(super) fn make<'f>(
        &'f self,
        pool: &Arc<DescriptorPool>,
        kind: FieldKind,
        scope: &'f Scope<'f>,
    ) -> Result<Option<Proto>, Failure> {
        match (self, kind) {
            (Self::Template(template), kind) => {
                convert::field(pool, kind, &template.value(scope)?, scope.budget()).map_err(Failure)
            }
            (Self::List(elements), FieldKind::List(kind)) => {
                let mut items = Vec::with_capacity(elements.len());
                for element in elements {
                    element.append(pool, kind, scope, &mut items)?;
                }
                Ok(Some(Proto::List(items)))
            }
            (Self::Map(entries), FieldKind::Map { value: kind, .. }) => {
                let mut made = Vec::with_capacity(entries.len());
                for (key, element) in entries {
                    if let Some(value) = element.one(pool, kind, scope)? {
                        made.push((key.clone(), value));
                    }
                }
                Ok(Some(Proto::Map(MapValue::from_entries(made))))
            }
            (element, FieldKind::Singular(kind)) => element.one(pool, kind, scope),
            (Self::Fixed(value), _) => copied(value, scope).map(Some),
            _ => Err(Failure("the value has another shape than the field".to_owned())),
        }
    }

    fn append<'f>(
        &'f self,
        pool: &Arc<DescriptorPool>,
        kind: SingularKind,
        scope: &'f Scope<'f>,
        items: &mut Vec<Proto>,
    ) -> Result<(), Failure> {
        if let Self::Template(template) = self
            && let Value::List(list) = template.value(scope)?
        {
            for each in list.iter() {
                items.extend(convert::singular(pool, kind, &each, scope.budget()).map_err(Failure)?);
            }
            return Ok(());
        }
        match self {
            Self::Message(shape) => items.extend(shape.many(scope)?.into_iter().map(Proto::Message)),
            Self::Packed(shape) => {
                for message in shape.many(scope)? {
                    items.push(packed(&message)?);
                }
            }
            element => items.extend(element.one(pool, kind, scope)?),
        }
        Ok(())
    }

    fn one<'f>(
        &'f self,
        pool: &Arc<DescriptorPool>,
        kind: SingularKind,
        scope: &'f Scope<'f>,
    ) -> Result<Option<Proto>, Failure> {
        Ok(match self {
            Self::Fixed(value) => Some(copied(value, scope)?),
            Self::Template(template) => {
                convert::singular(pool, kind, &template.value(scope)?, scope.budget()).map_err(Failure)?
            }
            Self::Message(shape) => shape.one(scope)?.map(Proto::Message),
            Self::Packed(shape) => match shape.one(scope)? {
                Some(message) => Some(packed(&message)?),
                None => None,
            },
            Self::Json(tree, index) => {
                let json = tree.make(scope)?.to_string();
                let message = DynamicMessage::from_json(Arc::clone(pool), *index, &json);
                Some(Proto::Message(message.map_err(|error| Failure(error.to_string()))?))
            }
            Self::List(_) | Self::Map(_) => None,
        })
    }
}

fn copied(value: &Proto, scope: &Scope<'_>) -> Result<Proto, Failure> {
    scope.budget().value(value).map_err(Failure)?;
    Ok(value.clone())
}

fn packed(message: &DynamicMessage) -> Result<Proto, Failure> {
    message.pack_any().map(Proto::Message).map_err(|error| Failure(error.to_string()))
}

impl Tree {
    pub(super) fn uses(&self) -> Uses {
        match self {
            Self::Fixed(_) => Uses::NONE,
            Self::Template(template) => template.uses(),
            Self::List(items) => items.iter().fold(Uses::NONE, |uses, item| uses.and(item.uses())),
            Self::Object(entries) => entries.iter().fold(Uses::NONE, |uses, (_, item)| uses.and(item.uses())),
        }
    }

    fn make<'f>(&'f self, scope: &'f Scope<'f>) -> Result<Json, Failure> {
        scope.budget().element().map_err(Failure)?;
        Ok(match self {
            Self::Fixed(json) => {
                scope.budget().json(json).map_err(Failure)?;
                json.clone()
            }
            Self::Template(template) => json(&template.value(scope)?, scope.budget()).map_err(Failure)?,
            Self::List(items) => Json::Array(items.iter().map(|item| item.make(scope)).collect::<Result<_, _>>()?),
            Self::Object(entries) => {
                let mut object = Object::new();
                for (key, item) in entries {
                    scope.budget().spend(key.len()).map_err(Failure)?;
                    object.insert(key.clone(), item.make(scope)?);
                }
                Json::Object(object)
            }
        })
    }
}

/// The field of a message by its name, and its kind.
pub(super) fn field_kind(
    pool: &DescriptorPool,
    message: MessageIndex,
    name: &str,
) -> Option<(u32, FieldKind, Option<u16>)> {
    named_field(pool, message, name).map(|field| (field.number(), field.kind(), field.oneof_index()))
}
