use leat_message::{Head, Length, Name, Reason};

use crate::config::{Decompression, RequestCoding};

/// The coding that has to be decoded here, if any, as `Content-Encoding` says it (RFC 9110 section 8.4). Names have no case, `identity` and empty members say nothing, `x-gzip`
/// is gzip (section 8.4.1.3). `None` as well for a request without a body.
///
/// # Errors
/// `CodingUnknown` for a coding that the route does not list, and for more than one: each layer multiplies what a few bytes
/// can become, and nobody sends them.
pub(crate) fn coding_of(config: &Decompression, head: Head<'_>) -> Result<Option<RequestCoding>, Reason> {
    if matches!(head.length(), Length::None | Length::Known(0) | Length::Tunnel) {
        return Ok(None);
    }
    let members = head.fields().get_all(Name::ContentEncoding).flat_map(|value| value.split(|&byte| byte == b','));
    let is = |member: &[u8], name: &str| member.eq_ignore_ascii_case(name.as_bytes());
    let mut members = members.map(<[u8]>::trim_ascii).filter(|member| !member.is_empty() && !is(member, "identity"));
    let Some(first) = members.next() else { return Ok(None) };
    let member = if is(first, "x-gzip") { b"gzip" } else { first };
    let found = config.codings().iter().find(|coding| is(member, coding.name()));
    match (found, members.next()) {
        (Some(coding), None) => Ok(Some(*coding)),
        _ => Err(Reason::CodingUnknown),
    }
}
