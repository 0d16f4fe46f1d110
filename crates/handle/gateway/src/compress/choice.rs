use leat_files::{Acceptable, Coding};
use leat_message::{Head, Length, Method, Name};

use crate::admit::FieldLines;
use crate::config::Compression;

/// Fields that speak of the body's very bytes (RFC 9530 and its forerunners).
const DIGESTS: [&[u8]; 4] = [b"digest", b"content-digest", b"repr-digest", b"content-md5"];

/// What becomes of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// It goes as it is, for all clients.
    Never,
    /// It goes as it is, and another client might get another one.
    NotNow,
    /// It has no body, and speaks of one that may have been compressed (304).
    NotModified,
    /// It is compressed.
    With(Coding),
}

/// Decides by the request and the reply's head.
///
/// Compressed is only what has a listed type, no coding, no digest and no `no-transform` (RFC 9111 section 5.2.2.6), is
/// whole (RFC 9110 section 14.2 counts ranges on the coded bytes), and is long enough to gain by it. What is chosen for HEAD is what
/// GET would get. Parts of it, and 304, have the `vary` of the whole (sections 15.3.7 and 15.4.5).
pub(super) fn choose(
    config: &Compression,
    request: Head<'_>,
    status: u16,
    fields: &FieldLines,
    length: Length,
) -> Choice {
    let mut length = length;
    let mut listed = false;
    for (name, value) in fields.iter() {
        let is = |wanted: &[u8]| name.eq_ignore_ascii_case(wanted);
        // HEAD is answered as GET would be (RFC 9110 section 9.3.2); how long a body there would be is only told.
        if request.method() == Method::Head && length == Length::None && is(b"content-length") {
            length = told(value);
        }
        if is(b"content-type") {
            listed = config.lists(media_type(value));
        }
        let coded = is(b"content-encoding") && !value.trim_ascii().eq_ignore_ascii_case(b"identity");
        if coded || DIGESTS.into_iter().any(is) || is(b"cache-control") && forbids(value) {
            return Choice::Never;
        }
    }
    let has_body = match length {
        // Of HEAD, one that nothing tells the length of.
        Length::None => request.method() == Method::Head,
        Length::Tunnel => false,
        Length::Known(count) => count > 0,
        Length::Stream | Length::Close => true,
    };
    if status == 304 {
        // Nobody knows what it would have: mostly it has no type.
        return Choice::NotModified;
    }
    if matches!(status, 101 | 204 | 205) || !has_body || !listed {
        return Choice::Never;
    }
    if status == 206 {
        return Choice::NotNow;
    }
    if matches!(length, Length::Known(count) if count < config.bytes_min()) {
        return Choice::Never;
    }
    let lines = request.fields().get_all(Name::AcceptEncoding);
    match Acceptable::parse(lines, config.codings()).before_identity().next() {
        Some(coding) => Choice::With(coding),
        None => Choice::NotNow,
    }
}

/// Whether the client has what was compressed on the way, by the validator of that: `value`, made weak.
pub(super) fn has_coded(request: Head<'_>, value: &[u8]) -> bool {
    let lines = request.fields().get_all(Name::IfNoneMatch);
    let mut tags = lines.flat_map(|line| line.split(|&byte| byte == b',')).map(<[u8]>::trim_ascii);
    tags.any(|tag| tag.strip_prefix(b"W/") == Some(value))
}

/// The length that a field tells, of a body that is not sent.
fn told(value: &[u8]) -> Length {
    let count = std::str::from_utf8(value).ok().and_then(|value| value.trim().parse().ok());
    count.map_or(Length::None, Length::Known)
}

/// The type without its parameters.
fn media_type(value: &[u8]) -> &[u8] {
    value.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii()
}

fn forbids(cache_control: &[u8]) -> bool {
    cache_control.split(|&byte| byte == b',').any(|part| part.trim_ascii().eq_ignore_ascii_case(b"no-transform"))
}

#[cfg(test)]
mod tests {
    use super::{forbids, media_type};

    #[test]
    fn parameters_do_not_count() {
        for (value, wanted) in [("text/html", "text/html"), ("text/html ; charset=x", "text/html"), (";", ""), ("", "")]
        {
            assert_eq!(media_type(value.as_bytes()), wanted.as_bytes(), "{value}");
        }
    }

    #[test]
    fn only_the_whole_word_forbids() {
        for (value, wanted) in [
            ("no-transform", true),
            ("public, No-Transform ,max-age=1", true),
            ("x-no-transform", false),
            ("public", false),
        ] {
            assert_eq!(forbids(value.as_bytes()), wanted, "{value}");
        }
    }
}
