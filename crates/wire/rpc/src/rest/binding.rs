use std::fmt;

use leat_schema::{Field, Kind, MessageType, Method, Schema, Shape};

use super::parameter::{Parameter, ParameterError};
use super::router::{Routed, Router};
use super::rule::{HTTP_EXTENSION, Rule, RuleError};
use super::template::Variable;

/// The message whose bytes are a body as it is (google/api/httpbody.proto).
const HTTP_BODY: &str = "google.api.HttpBody";

/// A binding whose fields were found in the schema: it makes messages of requests and replies of messages.
#[derive(Debug)]
pub struct Binding {
    pub(super) method: Method,
    pub(super) rule: Rule,
    pub(super) variables: Vec<(Variable, Parameter)>,
    pub(super) body: Part,
    pub(super) reply: Part,
}

/// What of a message a body is.
#[derive(Debug)]
pub(super) enum Part {
    /// Nothing: a request without a body.
    None,
    /// The message itself.
    Whole,
    /// One of its fields.
    Field(PartField),
}

/// A field that is a body.
#[derive(Debug)]
pub(super) struct PartField {
    pub(super) number: u32,
    pub(super) json_name: String,
    /// The message that it is, unless it is a list, a map or no message.
    pub(super) message: Option<MessageType>,
    pub(super) is_group: bool,
    /// What stands for it where it is not there, in JSON.
    pub(super) absent: String,
}

/// All bindings of a schema, and how a request finds its own.
#[derive(Debug, Default)]
pub struct Bindings {
    router: Router,
    bindings: Vec<Binding>,
}

/// What a request is bound to.
#[derive(Debug)]
pub enum Bound<'a> {
    /// This.
    Found(&'a Binding),
    /// The path is, to other methods: these.
    Method(Vec<String>),
    /// Nothing.
    Nothing,
}

/// Why a method's `google.api.http` can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindingProblem {
    /// The full name of the method.
    pub method: String,
    what: Problem,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Problem {
    Rule(RuleError),
    Parameter(String, ParameterError),
    Repeated(String),
    Body(&'static str, String),
    Conflict(String, String),
}

impl fmt::Display for BindingProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "google.api.http of {}: ", self.method)?;
        match &self.what {
            Problem::Rule(error) => write!(f, "{error}"),
            Problem::Parameter(field, error) => write!(f, "the variable `{field}` of the path: {error}"),
            Problem::Repeated(field) => write!(f, "the variable `{field}` of the path is a repeated field"),
            Problem::Body(key, field) => write!(f, "`{key}` names `{field}`, and there is no such field"),
            Problem::Conflict(path, other) => write!(f, "`{path}` is bound to {other} already"),
        }
    }
}

impl std::error::Error for BindingProblem {}

impl BindingProblem {
    /// What to write instead.
    pub fn help(&self) -> &'static str {
        match self.what {
            Problem::Rule(_) => "write one pattern with a path, such as `get: \"/v1/{name=shelves/*}/books:search\"`",
            Problem::Parameter(..) => "write the name of a field of the request's message, below messages with dots",
            Problem::Repeated(_) => "name a field that has one value",
            Problem::Body(..) => "write `\"*\"` for the whole message, or the name of one of its fields",
            Problem::Conflict(..) => "give one of the two another path",
        }
    }
}

impl Bindings {
    /// Reads the bindings of all methods.
    ///
    /// # Errors
    /// All that can't be used: malformed rules, unknown fields, two methods for the same requests.
    pub fn compile(schema: &Schema) -> Result<Self, Vec<BindingProblem>> {
        let mut found = Self::default();
        let mut problems = Vec::new();
        for method in schema.methods() {
            let Some(option) = method.option(HTTP_EXTENSION) else { continue };
            let rules = Rule::read(&option).map_err(Problem::Rule);
            let added = rules.and_then(|rules| rules.into_iter().try_for_each(|rule| found.add(rule, method)));
            if let Err(what) = added {
                problems.push(BindingProblem { method: method.full_name().to_owned(), what });
            }
        }
        if problems.is_empty() { Ok(found) } else { Err(problems) }
    }

    /// Whether no method has any.
    pub fn is_empty(&self) -> bool {
        self.bindings.is_empty()
    }

    /// All of them, in the order of the schema.
    pub fn iter(&self) -> impl Iterator<Item = &Binding> {
        self.bindings.iter()
    }

    /// The binding of a request; `path` is as it arrived.
    pub fn find(&self, method: &[u8], path: &[u8]) -> Bound<'_> {
        match self.router.find(method, path) {
            Routed::Found(number) => self.bindings.get(number).map_or(Bound::Nothing, Bound::Found),
            Routed::Method(methods) => Bound::Method(methods),
            Routed::Nothing => Bound::Nothing,
        }
    }

    fn add(&mut self, rule: Rule, method: &Method) -> Result<(), Problem> {
        let binding = Binding::new(rule, method)?;
        if let Err(other) = self.router.add(&binding.rule.method, &binding.rule.template, self.bindings.len()) {
            let other = self.bindings.get(other).map(|other| other.method.full_name().to_owned()).unwrap_or_default();
            return Err(Problem::Conflict(format!("{} {}", binding.rule.method, binding.rule.template), other));
        }
        self.bindings.push(binding);
        Ok(())
    }
}

impl Binding {
    fn new(rule: Rule, method: &Method) -> Result<Self, Problem> {
        let mut variables = Vec::new();
        for variable in &rule.template.variables {
            let parameter = Parameter::find(method.input(), &variable.field)
                .map_err(|error| Problem::Parameter(variable.field.clone(), error))?;
            if parameter.is_repeated() {
                return Err(Problem::Repeated(variable.field.clone()));
            }
            variables.push((variable.clone(), parameter));
        }
        let body = match rule.body.as_str() {
            "" => Part::None,
            "*" => Part::Whole,
            field => Part::field(method.input(), field).ok_or_else(|| Problem::Body("body", field.to_owned()))?,
        };
        let reply = match rule.response_body.as_str() {
            "" => Part::Whole,
            field => {
                Part::field(method.output(), field).ok_or_else(|| Problem::Body("response_body", field.to_owned()))?
            }
        };
        Ok(Self { method: method.clone(), rule, variables, body, reply })
    }

    /// The method that it stands for.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// The rule that it was made of.
    pub fn rule(&self) -> &Rule {
        &self.rule
    }

    /// Whether the request's body is bytes as they are (`google.api.HttpBody`), not JSON.
    pub fn takes_bytes(&self) -> bool {
        self.body.http_body(self.method.input()).is_some()
    }

    /// Whether the reply's body is bytes as they are.
    pub fn gives_bytes(&self) -> bool {
        self.reply.http_body(self.method.output()).is_some()
    }

    /// Whether requests have a body.
    pub fn has_body(&self) -> bool {
        !matches!(self.body, Part::None)
    }
}

impl Part {
    fn field(message: &MessageType, name: &str) -> Option<Self> {
        let field = message.field_named(name)?;
        Some(Self::Field(PartField {
            number: field.number(),
            json_name: field.json_name().to_owned(),
            message: message.message_of(field).filter(|_| field.shape() == Shape::One),
            is_group: field.is_delimited(),
            absent: absent(message, field),
        }))
    }

    /// Whether it is bytes as they are: in the message itself, or in the field of this number.
    pub(super) fn http_body(&self, message: &MessageType) -> Option<Option<&PartField>> {
        match self {
            Self::Whole => (message.full_name() == HTTP_BODY).then_some(None),
            Self::Field(field) => {
                let is_bytes = field.message.as_ref().is_some_and(|message| message.full_name() == HTTP_BODY);
                is_bytes.then_some(Some(field))
            }
            Self::None => None,
        }
    }
}

/// The JSON of a field that is not there.
fn absent(message: &MessageType, field: &Field) -> String {
    match field.shape() {
        Shape::List => return "[]".to_owned(),
        Shape::Map { .. } => return "{}".to_owned(),
        Shape::One => {}
    }
    if let Some(found) = message.enum_of(field) {
        return serde_json::Value::from(found.name_of(found.first())).to_string();
    }
    match field.kind() {
        Kind::Message(_) => match message.message_of(field).and_then(|message| message.well_known()) {
            Some(_) => "null",
            None => "{}",
        },
        Kind::Int64 | Kind::Uint64 | Kind::Sint64 | Kind::Fixed64 | Kind::Sfixed64 => "\"0\"",
        Kind::Bool => "false",
        Kind::String | Kind::Bytes => "\"\"",
        _ => "0",
    }
    .to_owned()
}
