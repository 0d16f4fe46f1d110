use super::binding::{Binding, Part, PartField};
use super::wire;
use crate::{Code, Status};

/// A reply whose body is bytes as they are (`google.api.HttpBody`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BytesReply<'a> {
    /// What they are; empty if the message does not say.
    pub content_type: &'a [u8],
    /// The bytes.
    pub data: &'a [u8],
}

impl Binding {
    /// Appends the body of a reply in JSON: the response's message, which is in binary form, or the field of it that
    /// `response_body` names.
    ///
    /// # Errors
    /// `internal` where the bytes are no message of the type.
    pub fn reply(&self, message: &[u8], out: &mut Vec<u8>) -> Result<(), Status> {
        match &self.reply {
            Part::Field(field) => self.reply_field(field, message, out),
            Part::Whole | Part::None => self.method.output().to_json(message, out).map_err(|error| wrong(&error)),
        }
    }

    /// The body of a reply that is bytes as they are.
    ///
    /// # Errors
    /// `internal` where the message is malformed.
    pub fn reply_bytes<'a>(&self, message: &'a [u8]) -> Result<BytesReply<'a>, Status> {
        let mut reply = BytesReply::default();
        let body = match self.reply.http_body(self.method.output()) {
            Some(Some(field)) => {
                let mut last = &[][..];
                for found in wire::texts(message) {
                    let (number, value) = found.ok_or_else(|| wrong(&"it is malformed"))?;
                    if number == field.number {
                        last = value;
                    }
                }
                last
            }
            _ => message,
        };
        for found in wire::texts(body) {
            match found.ok_or_else(|| wrong(&"it is malformed"))? {
                (1, value) => reply.content_type = value,
                (2, value) => reply.data = value,
                _ => {}
            }
        }
        Ok(reply)
    }

    fn reply_field(&self, field: &PartField, message: &[u8], out: &mut Vec<u8>) -> Result<(), Status> {
        let mut one = Vec::new();
        wire::only(message, field.number, &mut one).ok_or_else(|| wrong(&"it is malformed"))?;
        let mut json = Vec::new();
        self.method.output().to_json(&one, &mut json).map_err(|error| wrong(&error))?;
        let name = serde_json::Value::from(field.json_name.as_str()).to_string();
        let value = json
            .strip_prefix(b"{")
            .and_then(|rest| rest.strip_prefix(name.as_bytes()))
            .and_then(|rest| rest.strip_prefix(b":"))
            .and_then(|rest| rest.strip_suffix(b"}"));
        out.extend_from_slice(value.unwrap_or(field.absent.as_bytes()));
        Ok(())
    }
}

fn wrong(error: &dyn std::fmt::Display) -> Status {
    Status::new(Code::Internal, format!("the response's message: {error}"))
}
