use leat_h1::{Progress, ResponseLimits, parse_response};
use leat_message::{Fields, Length, Method, ResponseLines};

/// Gives every field of a head that a program formatted as HTTP/1 text, but for those of a connection; says how its body is
/// delimited. A malformed one has no field, and so is no reply of gRPC.
pub(super) fn each_field(head: &[u8], mut take: impl FnMut(&[u8], &[u8])) -> Length {
    // The text is our own process's, however long it is.
    let limits = ResponseLimits { head_bytes_max: usize::MAX, fields_max: usize::MAX };
    let mut lines = ResponseLines::default();
    let parsed = parse_response(head, &mut Progress::default(), &limits, Method::Post, &mut lines);
    if !matches!(parsed, Ok(Some(len)) if len == head.len()) {
        return Length::Stream;
    }
    for (id, name, value) in Fields::new(head, &lines.fields) {
        if !id.is_hop_by_hop() {
            take(name, value);
        }
    }
    lines.length
}

#[cfg(test)]
mod tests {
    use leat_message::Length;

    use super::each_field;

    #[test]
    fn fields_come_in_order_and_those_of_the_connection_stay_behind() {
        let text =
            b"HTTP/1.1 200 OK\r\ncontent-type: application/grpc\r\nConnection: close\r\nX-A: 1\r\nx-a: 2\r\n\r\n";
        let mut found = Vec::new();
        let length = each_field(text, |name, value| found.push((name.to_vec(), value.to_vec())));
        let expected = [("content-type", "application/grpc"), ("X-A", "1"), ("x-a", "2")];
        assert_eq!(found, expected.map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec())));
        assert_eq!(length, Length::Close);
    }

    #[test]
    fn a_head_that_is_none_has_no_field() {
        for text in [&b"HTTP/1.1 200 OK\r\nx-a: 1\r\n"[..], b"nothing", b"HTTP/1.1 200 OK\r\nx-a: 1\r\n\r\nmore"] {
            assert_eq!(each_field(text, |name, _| panic!("{name:?}")), Length::Stream);
        }
    }
}
