//! Spans and numbers as messages of OTLP 1.x in protobuf, for whoever sends them.
//!
//! The bytes are written at once: with the messages as values of types that are then encoded, every attribute would be an
//! allocation more. Tests read them with `opentelemetry-proto`.

mod metrics;
mod protobuf;
mod traces;

pub use metrics::Metrics;
pub use traces::traces;

use protobuf::Writer;

use crate::span::Value;

/// What sends: the attributes of the process.
#[derive(Clone, Debug)]
pub struct Resource {
    /// `service.name`.
    pub service: String,
    /// `service.version`.
    pub version: &'static str,
    /// `service.instance.id`: another one for each start.
    pub instance: String,
}

/// The name of the instrumentation.
const SCOPE: &str = "leat";

/// `Resource`: opentelemetry/proto/resource/v1/resource.proto.
fn resource(writer: &mut Writer<'_>, resource: &Resource) {
    let own = [
        ("service.name", resource.service.as_str()),
        ("service.version", resource.version),
        ("service.instance.id", &resource.instance),
    ];
    for (name, value) in own {
        writer.message(1, |writer| attribute(writer, name, value));
    }
}

/// `InstrumentationScope`: opentelemetry/proto/common/v1/common.proto.
fn scope(writer: &mut Writer<'_>, resource: &Resource) {
    writer.text(1, SCOPE);
    writer.text(2, resource.version);
}

/// `KeyValue` with a text.
fn attribute(writer: &mut Writer<'_>, name: &str, value: &str) {
    writer.text(1, name);
    writer.message(2, |writer| writer.text_or_empty(1, value));
}

/// `KeyValue`.
fn key_value(writer: &mut Writer<'_>, name: &str, value: &Value) {
    match value {
        Value::Text(text) => attribute(writer, name, text),
        Value::Number(number) => {
            writer.text(1, name);
            writer.message(2, |writer| writer.varint_or_zero(3, *number as u64));
        }
    }
}
