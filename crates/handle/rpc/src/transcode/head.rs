use std::time::Duration;

use leat_message::{Field, Head, Length, Method, Name, RequestLines, Span, Version};
use leat_rpc_wire::{Coding, grpc};

use super::transcoder::{METHOD_FIELD, PROTOCOL_FIELD};

/// The head of a gRPC request that stands for a client's: its fields pass, but for those of the client's protocol.
#[derive(Debug)]
pub(super) struct MadeHead {
    bytes: Vec<u8>,
    lines: RequestLines,
}

impl MadeHead {
    /// `path` is the method's, `accepted` what the client's replies may be compressed by.
    /// `program` is who is told how the client has called, if that is one.
    pub(super) fn new(
        client: Head<'_>,
        path: &str,
        accepted: &[Coding],
        timeout: Option<Duration>,
        program: Option<&str>,
    ) -> Self {
        let mut made = Self { bytes: Vec::with_capacity(client.bytes().len() + 128), lines: RequestLines::default() };
        let method_span = made.put(b"POST");
        let target = made.put(path.as_bytes());
        let authority = made.put(client.authority());
        made.lines = RequestLines {
            method: Method::Post,
            method_span,
            target,
            authority,
            path: target,
            version: if program.is_some() { Version::Http2 } else { client.version() },
            length: Length::Stream,
            keep_alive: true,
            ..RequestLines::default()
        };
        for (id, name, value) in client.fields() {
            if !is_of_protocol(id, name) {
                made.field(id, name, value);
            }
        }
        made.field(Name::ContentType, b"content-type", b"application/grpc");
        made.field(Name::Te, b"te", b"trailers");
        if let Some(timeout) = timeout {
            let mut text = String::new();
            grpc::timeout::write(timeout, &mut text);
            made.field(Name::Other, b"grpc-timeout", text.as_bytes());
        }
        if let Some(protocol) = program {
            made.field(Name::Other, PROTOCOL_FIELD.as_bytes(), protocol.as_bytes());
            made.field(Name::Other, METHOD_FIELD.as_bytes(), client.method_bytes());
        } else if !accepted.is_empty() {
            let names: Vec<&str> = accepted.iter().map(|coding| coding.name()).collect();
            made.field(Name::Other, b"grpc-accept-encoding", names.join(",").as_bytes());
        }
        made
    }

    pub(super) fn head(&self) -> Head<'_> {
        Head::new(&self.bytes, &self.lines)
    }

    fn put(&mut self, text: &[u8]) -> Span {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(text);
        Span::new(start, self.bytes.len())
    }

    fn field(&mut self, id: Name, name: &[u8], value: &[u8]) {
        let (name, value) = (self.put(name), self.put(value));
        self.lines.fields.push(Field { id, name, value });
    }
}

/// Whether a field of the request is the client's connection's, or its protocol's, or speaks of a body that is made anew.
fn is_of_protocol(id: Name, name: &[u8]) -> bool {
    let starts = |start: &[u8]| name.get(..start.len()).is_some_and(|own| own.eq_ignore_ascii_case(start));
    match id {
        Name::Accept
        | Name::AcceptEncoding
        | Name::ContentEncoding
        | Name::ContentLength
        | Name::ContentRange
        | Name::ContentType
        | Name::Expect
        | Name::IfMatch
        | Name::IfModifiedSince
        | Name::IfNoneMatch
        | Name::IfRange
        | Name::IfUnmodifiedSince
        | Name::Range
        | Name::Te => true,
        Name::Other => {
            let digest = [&b"digest"[..], b"content-digest", b"repr-digest", b"content-md5", b"x-grpc-web"];
            starts(b"grpc-")
                || starts(b"leat-rpc-")
                || starts(b"connect-")
                || digest.iter().any(|own| name.eq_ignore_ascii_case(own))
        }
        id => id.is_hop_by_hop(),
    }
}
