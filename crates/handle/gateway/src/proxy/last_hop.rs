//! `Max-Forwards` (RFC 9110 section 7.6.2): how many more servers a TRACE or an OPTIONS may pass, and who is the last.

use leat_message::{Exchange, Head, Length, Method, Name};

/// How often the request may still be forwarded, where it says so. `None` for all methods but TRACE and OPTIONS, and where it
/// does not say so in one number.
#[inline]
pub(crate) fn forwards_left(head: Head<'_>) -> Option<u64> {
    if matches!(head.method(), Method::Options | Method::Trace) { read(head) } else { None }
}

/// Whether a field says how often.
pub(super) fn counts_forwards(id: Name, name: &[u8]) -> bool {
    id == Name::Other && name.eq_ignore_ascii_case(b"max-forwards")
}

#[cold]
fn read(head: Head<'_>) -> Option<u64> {
    let mut values = head.fields().iter().filter(|(id, name, _)| counts_forwards(*id, name));
    let (_, _, value) = values.next()?;
    if values.next().is_some() || value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    // A number that is too large for us is counted down from the largest one.
    Some(value.iter().fold(0, |number: u64, digit| number.saturating_mul(10).saturating_add(u64::from(digit - b'0'))))
}

/// Answers as the last server that the request may reach: TRACE with the request as it came, without what is secret (section
/// 9.3.8), OPTIONS with the methods that are taken here.
pub(crate) fn answer_as_last<X: Exchange>(x: &mut X, allow: &[u8]) {
    if x.request().method() == Method::Trace {
        let body = reflected(x.request());
        x.status(200);
        x.field(b"content-type", b"message/http");
        x.length(Length::Known(body.len() as u64));
        x.body(&body);
        return;
    }
    x.status(204);
    if !allow.is_empty() {
        x.field(b"allow", allow);
    }
    x.length(Length::None);
    x.body(&[]);
}

fn reflected(head: Head<'_>) -> Vec<u8> {
    let mut body = [head.method_bytes(), b" ", head.target(), b" HTTP/1.1\r\n"].concat();
    for (id, name, value) in head.fields() {
        if !matches!(id, Name::Authorization | Name::ProxyAuthorization | Name::Cookie) {
            body.extend([name, b": ", value, b"\r\n"].concat());
        }
    }
    body.extend_from_slice(b"\r\n");
    body
}
