use leat_schema::MessageType;
use serde::de::IgnoredAny;

use super::binding::{Binding, Part, PartField};
use super::escape::{self, Keep};
use super::parameter::{Parameter, ParameterError, put_message};
use super::router::variable_text;
use super::wire::put_bytes;
use crate::{Code, Status};

/// Parameters in one query.
const PARAMETERS_MAX: usize = 1_000;

/// What becomes of names in a query or a body that are no field's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unknown {
    /// The request is refused: a misspelt name is noticed.
    #[default]
    Refuse,
    /// They are left out.
    Ignore,
}

impl Binding {
    /// Appends what the path and the query say, as parts of the request's message in binary form.
    ///
    /// # Errors
    /// `invalid_argument`, and which parameter it is.
    pub fn parameters(
        &self,
        path: &[u8],
        query: Option<&[u8]>,
        unknown: Unknown,
        out: &mut Vec<u8>,
    ) -> Result<(), Status> {
        let mut plain = Vec::new();
        let pairs = query.unwrap_or_default().split(|&byte| byte == b'&').filter(|pair| !pair.is_empty());
        for (number, pair) in pairs.enumerate() {
            if number >= PARAMETERS_MAX {
                return Err(Status::new(
                    Code::InvalidArgument,
                    format!("the query has more than {PARAMETERS_MAX} parameters"),
                ));
            }
            let mut halves = pair.splitn(2, |&byte| byte == b'=');
            let name = decoded(halves.next().unwrap_or_default(), &mut plain);
            let value = decoded(halves.next().unwrap_or_default(), &mut plain);
            let (Ok(name), Ok(value)) = (name, value) else {
                return Err(Status::new(Code::InvalidArgument, "the query is not UTF-8"));
            };
            match self.put_query(&name, &value, out) {
                Err(ParameterError::Unknown | ParameterError::InBody) if unknown == Unknown::Ignore => {}
                Err(error) => {
                    let text = format!("the parameter `{}` of the query: {error}", name.escape_debug());
                    return Err(Status::new(Code::InvalidArgument, text));
                }
                Ok(()) => {}
            }
        }
        // The path has the last word (google/api/http.proto: its fields can't be given by other means).
        for (variable, parameter) in &self.variables {
            let text = variable_text(path, &self.rule.template, variable);
            let put = match std::str::from_utf8(&text) {
                Ok(text) => parameter.put(text, out),
                Err(_) => Err(ParameterError::Value("UTF-8")),
            };
            put.map_err(|error| {
                Status::new(Code::InvalidArgument, format!("the variable `{}` of the path: {error}", variable.field))
            })?;
        }
        Ok(())
    }

    fn put_query(&self, name: &str, value: &str, out: &mut Vec<u8>) -> Result<(), ParameterError> {
        match &self.body {
            // All that the path does not give is the body's.
            Part::Whole => return Err(ParameterError::InBody),
            Part::Field(field) => {
                let first = name.split(['.', '[']).next().unwrap_or_default();
                let owned = self.method.input().field_named(first).is_some_and(|found| found.number() == field.number);
                if owned {
                    return Err(ParameterError::Kind("what the body gives"));
                }
            }
            Part::None => {}
        }
        Parameter::find(self.method.input(), name)?.put(value, out)
    }

    /// Appends the message of a request: its body, which is JSON, with what [`Binding::parameters`] made behind it.
    ///
    /// # Errors
    /// `invalid_argument` where the body is not what the field takes.
    pub fn request(&self, body: &[u8], unknown: Unknown, parameters: &[u8], out: &mut Vec<u8>) -> Result<(), Status> {
        let is_empty = body.trim_ascii().is_empty();
        match &self.body {
            Part::Whole if !is_empty => put(self.method.input(), body, unknown, out)?,
            Part::Field(field) if !is_empty => self.field(field, body, unknown, out)?,
            Part::None if !is_empty => {
                return Err(Status::new(Code::InvalidArgument, "this method takes no body"));
            }
            _ => {}
        }
        out.extend_from_slice(parameters);
        Ok(())
    }

    /// The same where the body is bytes as they are.
    pub fn request_bytes(&self, content_type: &[u8], body: &[u8], parameters: &[u8], out: &mut Vec<u8>) {
        let mut message = Vec::with_capacity(body.len() + content_type.len() + 16);
        if !content_type.is_empty() {
            put_bytes(1, content_type, &mut message);
        }
        put_bytes(2, body, &mut message);
        match self.body.http_body(self.method.input()) {
            Some(Some(field)) => put_message(field.number, field.is_group, &message, out),
            _ => out.extend_from_slice(&message),
        }
        out.extend_from_slice(parameters);
    }

    fn field(&self, field: &PartField, body: &[u8], unknown: Unknown, out: &mut Vec<u8>) -> Result<(), Status> {
        if let Some(message) = &field.message {
            let mut content = Vec::new();
            put(message, body, unknown, &mut content)?;
            put_message(field.number, field.is_group, &content, out);
            return Ok(());
        }
        // One JSON value and nothing behind it: else the text around it would become other fields.
        serde_json::from_slice::<IgnoredAny>(body).map_err(|error| wrong(&error))?;
        let name = serde_json::Value::from(field.json_name.as_str()).to_string();
        let json = [b"{", name.as_bytes(), b":", body, b"}"].concat();
        put(self.method.input(), &json, unknown, out)
    }
}

fn put(message: &MessageType, json: &[u8], unknown: Unknown, out: &mut Vec<u8>) -> Result<(), Status> {
    let put = match unknown {
        Unknown::Refuse => message.to_binary_strict(json, out),
        Unknown::Ignore => message.to_binary(json, out),
    };
    put.map_err(|error| wrong(&error))
}

fn wrong(error: &dyn std::fmt::Display) -> Status {
    Status::new(Code::InvalidArgument, format!("the body: {error}"))
}

fn decoded(text: &[u8], plain: &mut Vec<u8>) -> Result<String, std::string::FromUtf8Error> {
    plain.clear();
    escape::decode(text, Keep::NothingPlus, plain);
    String::from_utf8(plain.clone())
}
