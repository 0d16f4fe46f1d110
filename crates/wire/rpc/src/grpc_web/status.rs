//! The end of a call: an envelope of trailers, as HTTP/1 lines with names in lower case.

use crate::envelope::{self, TRAILERS};
use crate::{Metadata, Status, field, grpc};

/// Appends the envelope of the trailers to a body.
pub fn write(status: &Status, trailers: &Metadata, out: &mut Vec<u8>) {
    envelope::write_with(TRAILERS, out, |out| {
        let mut line = |name: &[u8], value: &[u8]| {
            out.extend_from_slice(name);
            out.extend_from_slice(b": ");
            out.extend_from_slice(value);
            out.extend_from_slice(b"\r\n");
        };
        grpc::status::write(status, &mut line);
        field::write(trailers, "", &mut line);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

    #[test]
    fn trailers_are_lines_in_an_envelope() {
        let mut trailers = Metadata::new();
        trailers.push("X-A", b"1");
        let mut out = b"before".to_vec();
        write(&Status::new(Code::NotFound, "no\n"), &trailers, &mut out);
        let text = b"grpc-status: 5\r\ngrpc-message: no%0A\r\nx-a: 1\r\n";
        assert_eq!(&out[..11], [b"before\x80\0\0\0", &[text.len() as u8][..]].concat());
        assert_eq!(&out[11..], text);
    }
}
