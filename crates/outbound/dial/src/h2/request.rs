use leat_h2::FieldList;
use leat_h2::field::{is_token, is_value};
use leat_message::{Fields, Method, Name, Reason};

use super::target;

/// Puts a request's head together.
///
/// # Errors
/// `LineTargetInvalid` for what HTTP/2 cannot carry.
pub(super) fn begin(
    list: &mut FieldList,
    method: &[u8],
    authority: &[u8],
    scheme: &str,
    target: &[u8],
) -> Result<(), Reason> {
    let is_connect = Method::from_bytes(method) == Method::Connect;
    // RFC 9113 section 8.5: CONNECT has neither scheme nor path.
    let path = if is_connect { Some(&[][..]) } else { target::path(target) };
    let (Some(path), true, true) = (path, is_token(method), target::is_authority(authority)) else {
        return Err(Reason::LineTargetInvalid);
    };
    list.push(b":method", method);
    if !is_connect {
        list.push(b":scheme", scheme.as_bytes());
        // Queries carry what nobody else is to guess, and are mostly others each time.
        list.push_secret(b":path", path);
    }
    list.push(b":authority", authority);
    Ok(())
}

/// Adds a field, whose name becomes lower case. What concerns one connection only, and what the framing says itself, is left
/// out (RFC 9113 section 8.2.2). Says whether the field is legal. What is different in each request is sent as never indexed
/// (RFC 7541 section 6.2.3): no table on the way is better for it.
pub(super) fn add(list: &mut FieldList, name: &[u8], value: &[u8]) -> bool {
    let kind = kind(name);
    if kind == Kind::Left || kind == Kind::Te && !value.eq_ignore_ascii_case(b"trailers") {
        return true;
    }
    if !is_token(name) || !is_value(value) {
        return false;
    }
    match kind {
        Kind::Fleeting => list.push_secret(name, value),
        _ => list.push(name, value),
    }
    true
}

/// What is done with a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// It is sent.
    Sent,
    /// It has another value in nearly every request.
    Fleeting,
    /// It is left out.
    Left,
    /// It depends on its value.
    Te,
}

/// Looks names up only where their length is one of those that matter.
#[inline]
fn kind(name: &[u8]) -> Kind {
    if !matches!(name.len(), 2 | 4 | 7 | 9..=12 | 14..=17) {
        return Kind::Sent;
    }
    match Name::from_bytes(name) {
        Name::Te => Kind::Te,
        Name::Host | Name::ContentLength => Kind::Left,
        Name::Forwarded | Name::Traceparent | Name::XForwardedFor | Name::XRequestId => Kind::Fleeting,
        id if id.is_hop_by_hop() => Kind::Left,
        _ => Kind::Sent,
    }
}

/// A list of trailers. One that cannot be sent is left out: RFC 9110 section 6.5.1 lets trailers be dropped.
pub(super) fn trailers(list: &mut FieldList, fields: Fields<'_>) {
    for (_, name, value) in fields {
        add(list, name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(list: &FieldList) -> String {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        list.iter().map(|(name, value)| format!("{}={}", text(name), text(value))).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn heads_begin_with_pseudo_header_fields() {
        let cases: [(&str, &str, &str, Result<&str, Reason>); 7] = [
            ("GET", "a:1", "/b?c", Ok(":method=GET|:scheme=http|:path=/b?c|:authority=a:1")),
            ("OPTIONS", "a", "*", Ok(":method=OPTIONS|:scheme=http|:path=*|:authority=a")),
            ("CONNECT", "a:443", "ignored", Ok(":method=CONNECT|:authority=a:443")),
            ("G T", "a", "/", Err(Reason::LineTargetInvalid)),
            ("", "a", "/", Err(Reason::LineTargetInvalid)),
            ("GET", "", "/", Err(Reason::LineTargetInvalid)),
            ("GET", "a", "b", Err(Reason::LineTargetInvalid)),
        ];
        for (method, authority, target, expected) in cases {
            let mut list = FieldList::default();
            let begun = begin(&mut list, method.as_bytes(), authority.as_bytes(), "http", target.as_bytes());
            assert_eq!(begun.map(|()| text(&list)), expected.map(str::to_owned), "{method} {authority} {target}");
        }
    }

    #[test]
    fn no_name_that_matters_is_taken_for_another() {
        for &id in Name::ALL {
            let text = id.as_str().as_bytes();
            let expected = match id {
                Name::Te => Kind::Te,
                Name::Host | Name::ContentLength => Kind::Left,
                Name::Forwarded | Name::Traceparent | Name::XForwardedFor | Name::XRequestId => Kind::Fleeting,
                id if id.is_hop_by_hop() => Kind::Left,
                _ => Kind::Sent,
            };
            assert_eq!((kind(text), kind(&text.to_ascii_uppercase())), (expected, expected), "{}", id.as_str());
        }
    }

    #[test]
    fn fields_of_a_connection_stay_behind_and_wrong_ones_are_told() {
        let mut list = FieldList::default();
        for (name, value) in [
            ("Host", "a"),
            ("Content-Length", "1"),
            ("Connection", "x"),
            ("keep-alive", "x"),
            ("Proxy-Connection", "x"),
            ("transfer-encoding", "chunked"),
            ("upgrade", "x"),
            ("http2-settings", "x"),
            ("te", "gzip"),
            ("TE", "Trailers"),
            ("X-Mine", "a\tb \u{e9}"),
            ("cookie", "a=1; b=2"),
            ("traceparent", ""),
        ] {
            assert!(add(&mut list, name.as_bytes(), value.as_bytes()), "{name}");
        }
        assert_eq!(text(&list), "TE=Trailers|X-Mine=a\tb \u{e9}|cookie=a=1; b=2|traceparent=");
        for (name, value) in [("a b", "c"), ("", "c"), (":path", "/"), ("a", "b\r\nc: d"), ("a", "\0"), ("a", "\x7f")] {
            assert!(!add(&mut list, name.as_bytes(), value.as_bytes()), "{name}: {value:?}");
        }
    }
}
