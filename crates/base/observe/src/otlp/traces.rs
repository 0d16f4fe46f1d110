use leat_message::Trace;

use super::protobuf::Writer;
use super::{Resource, key_value, resource, scope};
use crate::span::{Span, SpanKind};

/// The bits of `Span.flags` above W3C's: whether it is known if the parent is another program's, and if it is.
const IS_REMOTE_KNOWN: u32 = 0x100;
const IS_REMOTE: u32 = 0x200;

/// Appends an `ExportTraceServiceRequest` with these spans.
pub fn traces(from: &Resource, spans: &[Box<Span>], out: &mut Vec<u8>) {
    Writer::new(out).message(1, |writer| {
        writer.message(1, |writer| resource(writer, from));
        writer.message(2, |writer| {
            writer.message(1, |writer| scope(writer, from));
            for span in spans {
                writer.message(2, |writer| write_span(writer, span));
            }
        });
    });
}

/// `Span`: opentelemetry/proto/trace/v1/trace.proto.
fn write_span(writer: &mut Writer<'_>, span: &Span) {
    writer.bytes(1, &trace_id(span.trace.id));
    writer.bytes(2, &span.id.to_be_bytes());
    writer.text(3, &span.state);
    if span.parent != 0 {
        writer.bytes(4, &span.parent.to_be_bytes());
    }
    writer.text(5, &span.name);
    writer.varint(
        6,
        match span.kind {
            SpanKind::Server => 2,
            SpanKind::Client => 3,
        },
    );
    writer.fixed64(7, span.start_ns);
    writer.fixed64(8, span.end_ns);
    for (name, value) in &span.attributes {
        writer.message(9, |writer| key_value(writer, name, value));
    }
    if span.failed {
        // `Status` with STATUS_CODE_ERROR.
        writer.message(15, |writer| writer.varint(3, 2));
    }
    let Trace { sampled, random, .. } = span.trace;
    let remote = if span.is_remote { IS_REMOTE } else { 0 };
    writer.fixed32(16, u32::from(sampled) | u32::from(random) << 1 | IS_REMOTE_KNOWN | remote);
}

/// The sixteen bytes of a trace id.
pub(super) fn trace_id([high, low]: [u64; 2]) -> [u8; 16] {
    (u128::from(high) << 64 | u128::from(low)).to_be_bytes()
}
