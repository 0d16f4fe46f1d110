//! A reply that is an error: code, message and details for programs.

use bytes::Bytes;
use leat_config::Place;
use leat_config::table::{Key, Kind, Open, Section, Text, nearest};
use leat_config::yaml::Value as Yaml;
use leat_rpc_wire::{Code, Detail, Status};

use buffa_descriptor::SingularKind;
use buffa_descriptor::reflect::{DynamicMessage, Value as Proto};

use super::convert::singular;
use super::shape::Shape;
use super::target::Target;
use super::template::{At, Budget, Failure, Names, Scope, Template, Uses, text};
use super::write::Writer;
use crate::cel::Value;

/// Details that one error may have.
const DETAILS_MAX: usize = 1000;

pub(super) static ERROR: Section = Section::new(
    "error",
    "an error",
    "How the call fails.",
    &[
        Key::required(
            "code",
            Kind::Text { what: "a code such as `not_found` or `NOT_FOUND`, or a template", example: "not_found" },
            "The code, by its name in either case, by gRPC's number, or from a template.",
        )
        .aka(&["status"]),
        Key::optional(
            "message",
            Kind::Text { what: "a text or a template", example: "there is no such order" },
            "A text for people. Templates may stand in it.",
        )
        .aka(&["text", "msg"]),
        Key::optional(
            "details",
            Kind::Json,
            "Details for programs: a list of messages, each with its type in `@type` and its fields beside it. The types \
             of google.rpc (`ErrorInfo`, `BadRequest` …) are always there. A template that makes a message, or a list of \
             messages, may stand for any of them.",
        ),
    ],
)
.shorthand("code");

/// How a call fails.
#[derive(Debug)]
pub(super) enum Error {
    /// Made when the rule was loaded.
    Fixed(Status),
    Made(Box<Made>),
}

#[derive(Debug)]
pub(super) struct Made {
    code: CodeOf,
    message: Option<Template>,
    details: Vec<DetailOf>,
}

#[derive(Debug)]
enum CodeOf {
    Fixed(Code),
    Template(Template),
}

#[derive(Debug)]
enum DetailOf {
    Fixed(Detail),
    Shape(Box<Shape>),
    /// A message or a list of messages.
    Template(Template),
}

impl Error {
    /// Reads it. `None`: problems were reported.
    pub(super) fn compile(open: &Open<'_>, target: &Target, names: &Names) -> Option<Self> {
        let at = |text: &Text<'_>| At::new(open.reader, text.place, text.value, false);
        let code = open.text("code").and_then(|text| {
            if names.is_template(text.value) {
                return Template::compile(text.value, names, &at(&text)).map(CodeOf::Template);
            }
            code(open, text).map(CodeOf::Fixed)
        });
        let message = open.text("message");
        let message = match &message {
            None => Some(None),
            Some(text) => Template::compile(text.value, names, &at(text)).map(Some),
        };
        let details = details(open, target, names);
        let (code, message, details) = (code?, message?, details?);
        let fixed_message = match &message {
            None => Some(""),
            Some(Template::Text(text)) => Some(&**text),
            Some(_) => None,
        };
        let all_fixed = details.iter().all(|detail| matches!(detail, DetailOf::Fixed(_)));
        if let (CodeOf::Fixed(code), Some(text), true) = (&code, fixed_message, all_fixed) {
            let mut status = Status::new(*code, text);
            status.details.extend(details.into_iter().filter_map(|detail| match detail {
                DetailOf::Fixed(detail) => Some(detail),
                _ => None,
            }));
            return Some(Self::Fixed(status));
        }
        Some(Self::Made(Box::new(Made { code, message, details })))
    }

    pub(super) fn uses(&self) -> Uses {
        let Self::Made(made) = self else { return Uses::NONE };
        let code = if let CodeOf::Template(template) = &made.code { template.uses() } else { Uses::NONE };
        let message = made.message.as_ref().map_or(Uses::NONE, Template::uses);
        made.details.iter().fold(code.and(message), |uses, detail| match detail {
            DetailOf::Fixed(_) => uses,
            DetailOf::Shape(shape) => uses.and(shape.uses()),
            DetailOf::Template(template) => uses.and(template.uses()),
        })
    }

    /// The status of one call.
    pub(super) fn make<'f>(&'f self, target: &Target, scope: &'f Scope<'f>) -> Result<Status, Failure> {
        let made = match self {
            Self::Fixed(status) => return Ok(status.clone()),
            Self::Made(made) => made,
        };
        let code = match &made.code {
            CodeOf::Fixed(code) => *code,
            CodeOf::Template(template) => code_of(&template.value(scope)?, scope.budget())?,
        };
        let message = made.message.as_ref().map(|template| template.text(scope)).transpose()?;
        let mut status = Status::new(code, message.unwrap_or_default());
        for detail in &made.details {
            match detail {
                DetailOf::Fixed(detail) => status.details.push(detail.clone()),
                DetailOf::Shape(shape) => {
                    for message in shape.many(scope)? {
                        status.details.push(packed(&message)?);
                    }
                }
                DetailOf::Template(template) => match template.value(scope)? {
                    Value::Null => {}
                    Value::List(list) => {
                        for each in list.iter() {
                            status.details.push(detail_of(target, &each, scope.budget())?);
                        }
                    }
                    value => status.details.push(detail_of(target, &value, scope.budget())?),
                },
            }
            if status.details.len() > DETAILS_MAX {
                return Err(Failure(format!("templates made more than {DETAILS_MAX} details")));
            }
        }
        Ok(status)
    }
}

fn code(open: &Open<'_>, text: Text<'_>) -> Option<Code> {
    let found = Code::from_name(text.value).or_else(|| Code::from_number(text.value.parse().ok()?));
    let problem = |place: Place, message: String, help: String| {
        open.reader.problem_help(place, message, help);
        None
    };
    match found {
        Some(Code::Ok) => {
            let help = "leave `error` out; trailers go with success too".to_owned();
            problem(text.place, "`ok` is no error".to_owned(), help)
        }
        Some(code) => Some(code),
        None => {
            let names = Code::ALL.iter().skip(1).map(|code| code.snake());
            let help = match nearest(text.value, names.clone()) {
                Some(near) => format!("write `{near}`"),
                None => format!("the codes are {}", leat_config::table::quoted(names)),
            };
            problem(text.place, format!("there is no code `{}`", leat_config::table::shorten(text.value)), help)
        }
    }
}

/// A code by its number or name.
fn code_of(value: &Value<'_>, budget: &Budget) -> Result<Code, Failure> {
    let code = match value {
        Value::Int(number) => u32::try_from(*number).ok().and_then(Code::from_number),
        Value::Uint(number) => u32::try_from(*number).ok().and_then(Code::from_number),
        value => {
            let name = text(value, budget).map_err(Failure)?;
            Code::from_name(&name).or_else(|| Code::from_number(name.parse().ok()?))
        }
    };
    // A reply that says that it is an error does not succeed.
    code.filter(|code| *code != Code::Ok)
        .ok_or_else(|| Failure("the template of `code` makes no code of an error".to_owned()))
}

fn details(open: &Open<'_>, target: &Target, names: &Names) -> Option<Vec<DetailOf>> {
    let Some(node) = open.json("details") else { return Some(Vec::new()) };
    let nodes = match &node.value {
        Yaml::List(items) => &items[..],
        Yaml::Null => &[],
        _ => std::slice::from_ref(node),
    };
    let writer = Writer { reader: open.reader, pool: target.pool(), names };
    let mut all = Vec::with_capacity(nodes.len());
    let mut complete = true;
    for node in nodes {
        let (template, failed) = writer.template(node);
        let detail = match template {
            _ if failed => None,
            Some(template) => Some(DetailOf::Template(template)),
            None => writer.typed(node).and_then(|shape| {
                if !shape.is_fixed() {
                    return Some(DetailOf::Shape(Box::new(shape)));
                }
                packed(&shape.fixed).ok().map(DetailOf::Fixed)
            }),
        };
        match detail {
            Some(detail) => all.push(detail),
            None => complete = false,
        }
    }
    complete.then_some(all)
}

/// A message as a detail. One that is an `Any` already is what it holds.
fn packed(message: &DynamicMessage) -> Result<Detail, Failure> {
    let full_name = message.pool().message(message.message_index()).full_name();
    if full_name == "google.protobuf.Any" {
        let url = match message.field_by_number(1) {
            Some(Proto::String(url)) => url.as_str(),
            _ => "",
        };
        let value = match message.field_by_number(2) {
            Some(Proto::Bytes(bytes)) => Bytes::copy_from_slice(bytes),
            _ => Bytes::new(),
        };
        return Ok(Detail { type_name: url.rsplit('/').next().unwrap_or(url).to_owned(), value });
    }
    let value = message.try_encode_to_vec().map_err(|error| Failure(error.to_string()))?;
    Ok(Detail { type_name: full_name.to_owned(), value: value.into() })
}

fn detail_of(target: &Target, value: &Value<'_>, budget: &Budget) -> Result<Detail, Failure> {
    if let Value::Message(message) = value {
        budget.message(message.get()).map_err(Failure)?;
        return packed(message.get());
    }
    let any = target.pool().message_index("google.protobuf.Any");
    let any = any.ok_or_else(|| Failure("the schema has no google.protobuf.Any".to_owned()))?;
    match singular(target.pool(), SingularKind::Message(any), value, budget).map_err(Failure)? {
        Some(Proto::Message(message)) => packed(&message),
        _ => Err(Failure("a detail of an error is a message".to_owned())),
    }
}
