use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use leat_rpc_wire::{Metadata, Status};
use serde_json::{Map, Value, json};

use super::{Entry, Frame, Way};

/// Reads messages, and makes JSON of them.
pub trait Messages {
    /// A client's message, read once for all filters that ask about it.
    type Read;
    /// What a filter asks of a client's messages.
    type Asked;

    /// A client's message; `None` where the method is not known (any more), or the message is none of its type.
    fn read(&self, method: &str, is_json: bool, bytes: &[u8]) -> Option<Self::Read>;

    /// What is wanted of the messages of a method's client; `None` where none of them can be so.
    fn asked(&self, method: &str, wanted: &Value) -> Option<Self::Asked>;

    /// Whether a message is as it is asked for.
    fn is_so(&self, message: &Self::Read, asked: &Self::Asked) -> bool;

    /// A message of a method in its JSON form; `None` where the method or the message is not known (any more).
    fn message(&self, method: &str, way: Way, is_json: bool, bytes: &[u8]) -> Option<Value>;

    /// A detail of an error in its JSON form, without its `@type`; `None` where the type is not known.
    fn detail(&self, type_name: &str, bytes: &[u8]) -> Option<Value>;
}

/// A call as JSON; with its messages if they are asked for.
pub fn show(entry: &Entry, messages: &impl Messages, with_frames: bool) -> Value {
    let begun = &entry.begun;
    let mut shown = json!({
        "number": entry.number,
        "at_us": begun.at_us,
        "method": &*begun.method,
        "session": &*begun.session,
        "protocol": begun.protocol,
        "peer": &*begun.peer,
        "metadata": metadata(&begun.metadata),
        "timeout_ms": begun.timeout_ms,
        "rule": begun.rule.as_ref().ok().map(|rule| &**rule),
        "unmatched": begun.rule.as_ref().err().map(|unmatched| &*unmatched.why),
        "faked": begun.rule.as_ref().err().is_some_and(|unmatched| unmatched.faked),
        "received": entry.messages(Way::In).count(),
        "sent": entry.messages(Way::Out).count(),
        "took_us": entry.ended.as_ref().map(|(_, took_us)| *took_us),
        "status": entry.ended.as_ref().map(|(status, _)| show_status(status, messages)),
        "trailers": metadata(&entry.trailers),
    });
    if with_frames {
        shown["frames"] = entry.frames.iter().map(|frame| show_frame(entry, frame, messages)).collect();
    }
    shown
}

fn show_frame(entry: &Entry, frame: &Frame, messages: &impl Messages) -> Value {
    let way = if frame.way == Way::In { "in" } else { "out" };
    let mut shown = json!({ "way": way, "at_us": frame.at_us, "bytes": frame.length });
    if let Some(bytes) = &frame.bytes {
        match messages.message(&entry.begun.method, frame.way, frame.is_json, bytes) {
            Some(message) => shown["message"] = message,
            None => shown["base64"] = STANDARD.encode(bytes).into(),
        }
    }
    shown
}

/// How a call ended, as JSON.
pub fn show_status(status: &Status, messages: &impl Messages) -> Value {
    let details = status.details.iter().map(|detail| {
        let mut shown = Map::new();
        shown.insert("@type".to_owned(), format!("type.googleapis.com/{}", detail.type_name).into());
        match messages.detail(&detail.type_name, &detail.value) {
            Some(Value::Object(fields)) => shown.extend(fields),
            Some(value) => drop(shown.insert("value".to_owned(), value)),
            None => drop(shown.insert("base64".to_owned(), STANDARD.encode(&detail.value).into())),
        }
        Value::Object(shown)
    });
    json!({ "code": status.code.name(), "message": status.message, "details": details.collect::<Vec<_>>() })
}

/// Metadata as a mapping from names to lists of values; those of binary names in Base64.
fn metadata(metadata: &Metadata) -> Value {
    let mut shown = Map::new();
    for (name, value) in metadata.iter() {
        let text = match std::str::from_utf8(value) {
            Ok(text) if !Metadata::is_binary(name) || text == crate::mock::secret::MASK => text.to_owned(),
            _ => STANDARD.encode(value),
        };
        if let Value::Array(values) = shown.entry(name).or_insert_with(|| Value::Array(Vec::new())) {
            values.push(text.into());
        }
    }
    Value::Object(shown)
}
