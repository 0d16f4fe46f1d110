use leat_message::{Method, Profile, Reason, RequestLines, Span, Version};

use crate::authority::{self, Authority};
use crate::class::URI;
use crate::fields::{Kind, Seen};
use crate::scan::lanes::Lanes;

/// Judges the form of the target (RFC 9112 section 3.2) together with Host, and fills in authority, path and query.
#[inline(always)]
pub(crate) fn judge<L: Lanes>(
    bytes: &[u8],
    seen: &Seen,
    profile: Profile,
    host_left: bool,
    lines: &mut RequestLines,
) -> Result<(), Reason> {
    let host = seen.value(Kind::Host);
    let is_path = bytes.get(lines.target.start as usize) == Some(&b'/') && lines.method != Method::Connect;
    if is_path && profile == Profile::Compatible && seen.count(Kind::Host) == 1 && authority::is_plain::<L>(bytes, host)
    {
        lines.authority = host;
        return Ok(());
    }
    judge_closely(bytes, seen, is_path, profile, host_left, lines)
}

#[inline(never)]
fn judge_closely(
    bytes: &[u8],
    seen: &Seen,
    is_path: bool,
    profile: Profile,
    host_left: bool,
    lines: &mut RequestLines,
) -> Result<(), Reason> {
    lines.authority = Span::default();
    let absolute = if is_path { None } else { other_form(bytes, profile, lines)? };
    if profile == Profile::Strict {
        strict_bytes(lines.target.of(bytes))?;
    }
    let host = seen.value(Kind::Host);
    match seen.count(Kind::Host) {
        0 if host_left || lines.version == Version::Http10 => {}
        0 => return Err(Reason::HostMissing),
        // Legal for a target URI without authority (RFC 9110 section 7.2); http has none.
        1 if host.is_empty() && absolute.is_none() && profile == Profile::Compatible => {}
        1 => {
            let field = Authority::parse(host.of(bytes), profile)?;
            match absolute {
                None => lines.authority = host,
                // Clients of proxies may name the server that they ask, as Node's own does. The target is what counts (RFC
                // 9112 section 3.2.2), and a handler that has the head as it came can tell.
                Some(_) if host_left => {}
                Some((authority, default_port)) => conflict(authority, field, default_port)?,
            }
        }
        _ => return Err(Reason::HostRepeated),
    }
    Ok(())
}

/// RFC 9112 section 3.2.2 lets a proxy ignore Host beside an absolute target; whoever reads the other one of the two
/// then sees another request, so they have to agree.
fn conflict(target: Authority<'_>, field: Authority<'_>, default_port: Option<u16>) -> Result<(), Reason> {
    // CONNECT has no default port; clients that leave it out of Host mean the one in the target.
    let default_port = default_port.or(target.port);
    if target.is_same(field, default_port) { Ok(()) } else { Err(Reason::HostConflict) }
}

/// Reads a target that is not a path: `*`, an authority, or an absolute URI. Returns the authority that it holds and the
/// default port of its scheme.
#[cold]
#[inline(never)]
fn other_form<'a>(
    bytes: &'a [u8],
    profile: Profile,
    lines: &mut RequestLines,
) -> Result<Option<(Authority<'a>, Option<u16>)>, Reason> {
    let target = lines.target.of(bytes);
    let start = lines.target.start as usize;
    let end = lines.target.end as usize;
    if lines.method == Method::Connect {
        if target.iter().any(|&b| matches!(b, b'/' | b'?' | b'*')) {
            return Err(Reason::LineTargetForm);
        }
        let authority = Authority::parse(target, profile)?;
        if authority.port.is_none() {
            return Err(Reason::LineTargetForm);
        }
        lines.authority = lines.target;
        lines.path = Span::new(end, end);
        return Ok(Some((authority, None)));
    }
    if target == b"*" {
        return if lines.method == Method::Options { Ok(None) } else { Err(Reason::LineTargetForm) };
    }
    let (scheme_len, default_port) = match target {
        t if has_prefix(t, b"http://") => (7, 80),
        t if has_prefix(t, b"https://") => (8, 443),
        _ => return Err(Reason::LineTargetInvalid),
    };
    let rest = target.get(scheme_len..).unwrap_or_default();
    let authority_len = rest.iter().position(|&b| matches!(b, b'/' | b'?')).unwrap_or(rest.len());
    let authority_end = start + scheme_len + authority_len;
    lines.authority = Span::new(start + scheme_len, authority_end);
    let authority = Authority::parse(lines.authority.of(bytes), profile)?;
    if bytes.get(authority_end) == Some(&b'/') && authority_end < end {
        lines.path.start = authority_end as u32;
    } else {
        // An empty path is `/` (RFC 9110 section 4.2.3): the scheme's own slash lends its byte.
        lines.path = Span::new(start + scheme_len - 1, start + scheme_len);
    }
    Ok(Some((authority, Some(default_port))))
}

fn has_prefix(target: &[u8], prefix: &[u8]) -> bool {
    target.get(..prefix.len()).is_some_and(|front| front.eq_ignore_ascii_case(prefix))
}

/// Strict: nothing but RFC 3986, and `%` always with two hexadecimal digits.
fn strict_bytes(target: &[u8]) -> Result<(), Reason> {
    let mut at = 0;
    while let Some(&byte) = target.get(at) {
        at += match byte {
            b'%' if target.get(at + 1..at + 3).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit)) => 3,
            // Only the brackets of an IPv6 literal, which the authority's parser has judged.
            b'[' | b']' if target.first() != Some(&b'/') && !target.get(at..).unwrap_or_default().contains(&b'?') => 1,
            _ if URI.has(byte) => 1,
            _ => return Err(Reason::LineTargetInvalid),
        };
    }
    Ok(())
}
