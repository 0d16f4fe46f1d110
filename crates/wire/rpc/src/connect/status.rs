//! The end of a call: the body of an error, or the last envelope of a stream, in JSON.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use crate::envelope::{self, END_STREAM};
use crate::{Detail, Metadata, Status, binary_value, field};

/// A detail in JSON form for people (`debug`), by somebody who knows its type; appended to the text. `false`, and nothing was
/// appended, where it is not known.
pub type Debug<'a> = &'a dyn Fn(&Detail, &mut Vec<u8>) -> bool;

/// Appends an error as JSON: `code`, `message`, `details`.
pub fn write_error(status: &Status, debug: Debug<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"code\":\"");
    out.extend_from_slice(status.code.snake().as_bytes());
    out.push(b'"');
    if !status.message.is_empty() {
        out.extend_from_slice(b",\"message\":");
        string(&status.message, out);
    }
    for (index, detail) in status.details.iter().enumerate() {
        out.extend_from_slice(if index == 0 { b",\"details\":[{\"type\":" } else { b",{\"type\":" });
        string(&detail.type_name, out);
        out.extend_from_slice(b",\"value\":\"");
        out.extend_from_slice(STANDARD_NO_PAD.encode(&detail.value).as_bytes());
        out.push(b'"');
        let before = out.len();
        out.extend_from_slice(b",\"debug\":");
        if !debug(detail, out) {
            out.truncate(before);
        }
        out.push(b'}');
    }
    if !status.details.is_empty() {
        out.push(b']');
    }
    out.push(b'}');
}

/// Appends the last envelope of a stream: the error, if it is one, and the trailers as `metadata`.
pub fn write_end(status: &Status, trailers: &Metadata, debug: Debug<'_>, out: &mut Vec<u8>) {
    envelope::write_with(END_STREAM, out, |out| {
        out.push(b'{');
        if !status.is_ok() {
            out.extend_from_slice(b"\"error\":");
            write_error(status, debug, out);
        }
        write_metadata(trailers, !status.is_ok(), out);
        out.push(b'}');
    });
}

/// `"metadata":{"name":["value",…],…}`; all values of a name stand together.
fn write_metadata(trailers: &Metadata, comma: bool, out: &mut Vec<u8>) {
    let sendable =
        |name: &str, value: &[u8]| field::may_send(name) && (Metadata::is_binary(name) || field::is_text(value));
    let fields = || trailers.iter().filter(|(name, value)| sendable(name, value));
    let mut first = true;
    for (index, (name, _)) in fields().enumerate() {
        if fields().take(index).any(|(before, _)| before == name) {
            continue;
        }
        if first {
            out.extend_from_slice(if comma { b",\"metadata\":{" } else { b"\"metadata\":{" });
        } else {
            out.push(b',');
        }
        first = false;
        string(name, out);
        for (position, (_, value)) in fields().filter(|(other, _)| *other == name).enumerate() {
            out.extend_from_slice(if position == 0 { b":[" } else { b"," });
            let mut text = String::new();
            match Metadata::is_binary(name) {
                true => binary_value::encode(value, &mut text),
                false => text.push_str(std::str::from_utf8(value).unwrap_or_default()),
            }
            string(&text, out);
        }
        out.push(b']');
    }
    if !first {
        out.push(b'}');
    }
}

fn string(text: &str, out: &mut Vec<u8>) {
    // Writing to a Vec can't fail.
    let _ = serde_json::to_writer(out, text);
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::Code;

    fn status() -> Status {
        let detail =
            |name: &str, value: &'static [u8]| Detail { type_name: name.into(), value: Bytes::from_static(value) };
        Status {
            code: Code::NotFound,
            message: "no \"x\"\n".into(),
            details: vec![detail("a.B", b"ab"), detail("a.Known", b"")],
        }
    }

    fn debug(detail: &Detail, out: &mut Vec<u8>) -> bool {
        out.extend_from_slice(b"{\"x\":1}");
        detail.type_name == "a.Known"
    }

    const ERROR: &str = r#"{"code":"not_found","message":"no \"x\"\n","details":[{"type":"a.B","value":"YWI"},{"type":"a.Known","value":"","debug":{"x":1}}]}"#;

    #[test]
    fn errors_have_code_message_and_details() {
        let mut out = Vec::new();
        write_error(&status(), &debug, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), ERROR);
        let mut out = Vec::new();
        write_error(&Status::new(Code::Canceled, ""), &debug, &mut out);
        assert_eq!(out, br#"{"code":"canceled"}"#);
    }

    #[test]
    fn the_end_of_a_stream_has_the_error_and_the_trailers() {
        let mut trailers = Metadata::new();
        for (name, value) in [("x-a", &b"1"[..]), ("x-bin", &[255]), ("X-A", b"2"), ("grpc-status", b"3")] {
            trailers.push(name, value);
        }
        let metadata = r#""metadata":{"x-a":["1","2"],"x-bin":["/w"]}"#;
        for (status, trailers, expected) in [
            (Status::OK, &Metadata::new(), "{}".to_owned()),
            (Status::OK, &trailers, format!("{{{metadata}}}")),
            (status(), &trailers, format!("{{\"error\":{ERROR},{metadata}}}")),
            (status(), &Metadata::new(), format!("{{\"error\":{ERROR}}}")),
        ] {
            let mut out = Vec::new();
            write_end(&status, trailers, &debug, &mut out);
            let (flags, body) = envelope::only(&out).unwrap();
            assert_eq!((flags, std::str::from_utf8(body).unwrap()), (END_STREAM, &*expected));
        }
    }
}
