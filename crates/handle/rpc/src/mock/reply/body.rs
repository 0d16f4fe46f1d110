//! The message of a reply.

use std::borrow::Cow;

use buffa_descriptor::SingularKind;
use buffa_descriptor::reflect::{DynamicMessage, Value as Proto};
use leat_config::Place;
use leat_config::table::Reader;
use leat_config::yaml::Node;

use super::convert;
use super::shape::Shape;
use super::target::Target;
use super::template::{Expression, Failure, Names, Scope, Template, Uses};
use super::write::Writer;
use crate::call::{Form, Prepared};

/// Largest message that templates make, in binary form and in bytes.
const MESSAGE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A message to send.
#[derive(Debug)]
pub(super) enum Body {
    /// Made when the rule was loaded, in both forms.
    Fixed(Fixed),
    /// The last request as it came, where both messages have the same type.
    Echo,
    /// A template that makes the whole message.
    Whole(Box<Expression>),
    /// Fields with templates in them, and where they stand.
    Shape(Place, Box<Shape>),
}

/// A message that was made when its rule was loaded.
#[derive(Debug)]
pub(super) struct Fixed {
    pub(super) place: Place,
    pub(super) prepared: Prepared,
}

/// What is known of a message when its rule was loaded.
#[derive(Debug)]
pub struct Known<'b> {
    /// Where it stands.
    pub place: Place,
    /// Its fixed fields, in binary form.
    pub binary: Cow<'b, [u8]>,
    /// The fields that templates make, or that have some in them.
    pub made: Vec<u32>,
}

impl Body {
    /// What is known of it; `None` where a template makes the whole.
    pub(super) fn known(&self) -> Option<Known<'_>> {
        match self {
            Self::Fixed(Fixed { place, prepared }) => {
                Some(Known { place: *place, binary: Cow::Borrowed(&prepared.binary), made: Vec::new() })
            }
            Self::Shape(place, shape) => {
                let binary = shape.fixed.try_encode_to_vec().ok()?;
                let made = shape.made.iter().map(|(number, _)| *number).collect();
                Some(Known { place: *place, binary: binary.into(), made })
            }
            Self::Echo | Self::Whole(_) => None,
        }
    }

    /// Reads it. `None`: problems were reported.
    pub(super) fn compile(node: &Node, target: &Target, names: &Names, reader: &Reader) -> Option<Self> {
        let writer = Writer { reader, pool: target.pool(), names };
        let (template, failed) = writer.template(node);
        match template {
            _ if failed => return None,
            Some(Template::Whole(expression)) => {
                let echo = target.input == target.output && matches!(expression.source(), "request" | "last");
                // The first of many requests is not the last one.
                let echo = echo && (expression.source() == "last" || !target.client_streams);
                return Some(if echo { Self::Echo } else { Self::Whole(expression) });
            }
            Some(_) => {
                let help = "write one template alone, such as `\"{{ request }}\"`, or the message's fields";
                reader.problem_help(node.place, "a message cannot be text", help);
                return None;
            }
            None => {}
        }
        let shape = writer.message(target.output.index(), node)?;
        if shape.when.is_some() || shape.each.is_some() {
            let help = "they stand in messages inside of it; beside `message` of a stream there is `each`, and `if` in a script";
            reader.problem_help(node.place, "`$if` or `$each` in the message of a reply itself", help);
            return None;
        }
        if !shape.is_fixed() {
            return Some(Self::Shape(node.place, Box::new(shape)));
        }
        match prepared(&shape.fixed, target) {
            Ok(prepared) => Some(Self::Fixed(Fixed { place: node.place, prepared })),
            Err(Failure(message)) => {
                reader.problem_help(node.place, message, "write a message of that type");
                None
            }
        }
    }

    pub(super) fn uses(&self) -> Uses {
        match self {
            Self::Fixed(_) | Self::Echo => Uses::NONE,
            Self::Whole(expression) => expression.uses(),
            Self::Shape(_, shape) => shape.uses(),
        }
    }

    /// Makes the message of a call; `None` for those that need no making.
    pub(super) fn make<'f>(&'f self, target: &Target, scope: &'f Scope<'f>) -> Result<Option<DynamicMessage>, Failure> {
        match self {
            Self::Fixed(_) | Self::Echo => Ok(None),
            Self::Shape(_, shape) => shape.make(scope).map(Some),
            Self::Whole(expression) => {
                let kind = SingularKind::Message(target.output.index());
                match convert::singular(target.pool(), kind, &expression.value(scope)?, scope.budget())
                    .map_err(Failure)?
                {
                    Some(Proto::Message(message)) => Ok(Some(message)),
                    _ => Ok(Some(target.output.empty())),
                }
            }
        }
    }
}

/// A message in one form.
pub(super) fn encoded(message: &DynamicMessage, target: &Target, form: Form) -> Result<Vec<u8>, Failure> {
    let length = message.encoded_len();
    if length > MESSAGE_BYTES_MAX {
        return Err(Failure(format!("the reply has {length} bytes, more than {MESSAGE_BYTES_MAX}")));
    }
    let binary = message.try_encode_to_vec().map_err(|error| Failure(error.to_string()))?;
    match form {
        Form::Binary => Ok(binary),
        Form::Json => json(&binary, target),
    }
}

fn json(binary: &[u8], target: &Target) -> Result<Vec<u8>, Failure> {
    let mut json = Vec::new();
    target.output.to_json(binary, &mut json).map_err(|error| Failure(error.to_string()))?;
    Ok(json)
}

fn prepared(message: &DynamicMessage, target: &Target) -> Result<Prepared, Failure> {
    let binary = encoded(message, target, Form::Binary)?;
    Ok(Prepared { json: json(&binary, target)?.into(), binary: binary.into() })
}
