use leat_message::{Length, Limits, Method, Name, Profile, Reason, RequestLines, Version};

use crate::connection::{Options, Protocols};
use crate::fields::{self, SectionLimits, Seen};
use crate::progress::{Progress, Stop};
use crate::scan::Scan;
use crate::{framing, request_line, target};

/// Empty lines that [`Profile::Compatible`] skips before a request line (RFC 9112 section 2.2: at least one).
pub const LEADING_EMPTY_LINES_MAX: usize = 4;

/// Parses a request head at the front of `bytes`.
///
/// `Ok(Some(len))`: the head occupies `bytes[..len]`, and `lines` holds spans relative to the start of `bytes`.
/// `Ok(None)`: more bytes are needed; what `lines` holds then means nothing. `progress` belongs to this head: a fresh one
/// for each, the same one for each further look at it. Later bytes of `bytes`, of a body or of a next request, may be
/// there already and are not looked at.
///
/// Copies nothing and allocates nothing once `lines` has room for the fields.
///
/// # Errors
/// The first thing that is wrong in the order of the bytes, whatever the pieces they came in; of the rules that need the
/// whole head, the first in the order: Host, framing, method, Connection, Upgrade, Expect. A limit is reported as soon
/// as it is passed.
pub fn parse_request(
    bytes: &[u8],
    progress: &mut Progress,
    profile: Profile,
    limits: &Limits,
    lines: &mut RequestLines,
) -> Result<Option<usize>, Reason> {
    if !progress.worth_parsing(bytes) {
        return Ok(None);
    }
    lines.clear();
    let head = bytes.get(..limits.head_bytes_max).unwrap_or(bytes);
    match parse(head, profile, limits, lines) {
        Ok(len) => Ok(Some(len)),
        Err(Stop::Refuse(reason)) => Err(reason),
        Err(Stop::More(_)) if bytes.len() >= limits.head_bytes_max => Err(Reason::LimitHeadBytes),
        Err(Stop::More(look_at)) => {
            let begun = bytes.iter().any(|&b| b != b'\r' && b != b'\n');
            progress.pause(bytes.len(), look_at.min(limits.head_bytes_max), begun);
            Ok(None)
        }
    }
}

#[inline(always)]
fn parse(bytes: &[u8], profile: Profile, limits: &Limits, lines: &mut RequestLines) -> Result<usize, Stop> {
    let start = match bytes.first() {
        Some(b'\r') => leading_lines(bytes, profile)?,
        _ => 0,
    };
    let mut scan = Scan::new(bytes);
    let fields_start = request_line::parse(&mut scan, start, limits.target_bytes_max, limits.head_bytes_max, lines)?;
    let mut seen = Seen::default();
    let section = SectionLimits { fields_max: limits.fields_max, field_bytes_max: limits.field_bytes_max };
    let end = fields::parse(&mut scan, fields_start, section, &mut lines.fields, &mut seen)?;
    judge(bytes, &seen, profile, lines)?;
    Ok(end)
}

/// Skips empty lines before the request line; returns where it starts.
#[cold]
fn leading_lines(bytes: &[u8], profile: Profile) -> Result<usize, Stop> {
    let mut at = 0;
    loop {
        match (bytes.get(at), bytes.get(at + 1)) {
            (Some(b'\r'), None) => return Err(Stop::More(bytes.len() + 1)),
            (Some(b'\r'), Some(b'\n')) => at += 2,
            (Some(b'\r'), Some(_)) => return Err(Reason::HeadBareCr.into()),
            _ => return Ok(at),
        }
        if profile == Profile::Strict || at > 2 * LEADING_EMPTY_LINES_MAX {
            return Err(Reason::LineMethodInvalid.into());
        }
    }
}

/// Applies the rules that need the whole head.
#[inline(always)]
fn judge(bytes: &[u8], seen: &Seen, profile: Profile, lines: &mut RequestLines) -> Result<(), Reason> {
    target::judge(bytes, seen.host, profile, lines)?;
    lines.length = framing::announced(bytes, seen, lines.version, profile)?;
    let plain = seen.connection.count == 0 && seen.upgrade.count == 0 && seen.expect.count == 0;
    if plain && lines.length == Length::None && lines.method == Method::Get && profile == Profile::Compatible {
        lines.keep_alive = lines.version == Version::Http11;
        return Ok(());
    }
    body_allowed(lines.method, lines.length, profile)?;
    let options = Options::parse(bytes, &lines.fields, profile)?;
    lines.keep_alive = options.keeps_alive(lines.version);
    lines.upgrade = upgrade(bytes, seen, options, profile, lines)?;
    lines.expect_continue = expect_continue(bytes, seen, lines)?;
    if profile == Profile::Strict {
        strict(bytes, lines)?;
    }
    Ok(())
}

/// A body on TRACE or CONNECT is what follows it on the connection to somebody else (RFC 9110 sections 9.3.6 and 9.3.8).
fn body_allowed(method: Method, length: Length, profile: Profile) -> Result<(), Reason> {
    let has_body = !matches!(length, Length::None | Length::Known(0));
    let forbidden = match method {
        Method::Trace | Method::Connect => true,
        Method::Get | Method::Head | Method::Options => profile == Profile::Strict,
        _ => false,
    };
    if has_body && forbidden { Err(Reason::BodyNotAllowed) } else { Ok(()) }
}

/// Whether the request may leave HTTP/1.1 (RFC 9110 section 7.8). A server may ignore Upgrade; it is ignored on HTTP/1.0,
/// without `Connection: upgrade`, for h2c, and beside a body, whose bytes would be taken for the new protocol's.
fn upgrade(
    bytes: &[u8],
    seen: &Seen,
    options: Options,
    profile: Profile,
    lines: &RequestLines,
) -> Result<bool, Reason> {
    if seen.upgrade.count == 0 {
        return if options.upgrade && profile == Profile::Strict { Err(Reason::UpgradeInvalid) } else { Ok(false) };
    }
    let protocols = Protocols::parse(bytes, &lines.fields)?;
    let bodyless = matches!(lines.length, Length::None | Length::Known(0));
    if profile == Profile::Strict && !(options.upgrade && bodyless && lines.version == Version::Http11) {
        return Err(Reason::UpgradeInvalid);
    }
    Ok(options.upgrade && protocols.usable && bodyless && lines.version == Version::Http11)
}

/// Whether the client waits for 100 (RFC 9110 section 10.1.1). HTTP/1.0 cannot, and without a body there is nothing to
/// wait for.
fn expect_continue(bytes: &[u8], seen: &Seen, lines: &RequestLines) -> Result<bool, Reason> {
    match seen.expect.count {
        0 => Ok(false),
        1 if seen.expect.value.of(bytes).eq_ignore_ascii_case(b"100-continue") => {
            let bodyless = matches!(lines.length, Length::None | Length::Known(0));
            Ok(lines.version == Version::Http11 && !bodyless)
        }
        _ => Err(Reason::ExpectUnknown),
    }
}

/// Forms that are legal or harmless on their own, and that no ordinary client sends.
fn strict(bytes: &[u8], lines: &mut RequestLines) -> Result<(), Reason> {
    if lines.method_span.of(bytes).iter().any(u8::is_ascii_lowercase) {
        return Err(Reason::LineMethodInvalid);
    }
    for field in &lines.fields {
        let name = field.name.of(bytes);
        // CGI and its heirs read `_` as `-`.
        if name.contains(&b'_')
            && Name::from_bytes(&name.iter().map(|&b| if b == b'_' { b'-' } else { b }).collect::<Vec<_>>())
                != Name::Other
        {
            return Err(Reason::HeadNameInvalid);
        }
        if !field.value.of(bytes).is_ascii() {
            return Err(Reason::HeadControlByte);
        }
    }
    if lines.version == Version::Http10 {
        // Persistence in HTTP/1.0 is a convention without a rule for proxies (RFC 9112 appendix C.2.2).
        lines.keep_alive = false;
    }
    Ok(())
}
