use leat_message::{Method, Profile, Reason, RequestLines, Span, Version};

use crate::progress::Stop;
use crate::scan::Scan;
use crate::scan::lanes::Lanes;

const VERSION_LINE: &[u8] = b"HTTP/1.1\r\n";
/// Longest method in [`Profile::Strict`], in bytes; the longest registered one has 17.
const STRICT_METHOD_BYTES_MAX: usize = 32;

/// Parses the request line at `start` (RFC 9112 section 3): method, one space, target, one space, version, CRLF.
/// Returns the offset behind it. The target's form is judged later, when Host is known.
#[inline(always)]
pub(crate) fn parse<L: Lanes>(
    scan: &mut Scan<'_, L>,
    start: usize,
    profile: Profile,
    target_bytes_max: usize,
    lines: &mut RequestLines,
) -> Result<usize, Stop> {
    let bytes = scan.bytes();
    let method_end = scan.token_end(start);
    if method_end - start > STRICT_METHOD_BYTES_MAX && profile == Profile::Strict {
        return Err(Reason::LineMethodInvalid.into());
    }
    if bytes.get(method_end) != Some(&b' ') || method_end == start {
        return Err(bad_method(bytes, start, method_end));
    }
    lines.method_span = Span::new(start, method_end);
    lines.method = match bytes.get(start..start + 4) {
        Some(b"GET ") => Method::Get,
        _ => Method::from_bytes(bytes.get(start..method_end).unwrap_or_default()),
    };

    let target_start = method_end + 1;
    let mut question = None;
    let mut target_end = scan.target_end(target_start);
    while bytes.get(target_end) == Some(&b'?') {
        question = question.or(Some(target_end));
        target_end = scan.target_end(target_end + 1);
    }
    if target_end - target_start > target_bytes_max {
        return Err(Reason::LimitTargetBytes.into());
    }
    if bytes.get(target_end) != Some(&b' ') || target_end == target_start {
        return Err(bad_target(bytes, start, target_start, target_end));
    }
    lines.target = Span::new(target_start, target_end);
    lines.path = Span::new(target_start, question.unwrap_or(target_end));
    lines.query = question.map(|at| Span::new(at + 1, target_end));

    let version_start = target_end + 1;
    let line_end = version_start + VERSION_LINE.len();
    match bytes.get(version_start..line_end) {
        Some(line) if line == VERSION_LINE => lines.version = Version::Http11,
        _ => lines.version = other_version(bytes, start, version_start, lines)?,
    }
    Ok(line_end)
}

#[cold]
#[inline(never)]
fn bad_method(bytes: &[u8], start: usize, method_end: usize) -> Stop {
    let Some(&byte) = bytes.get(method_end) else {
        return Stop::More(start);
    };
    let reason = match byte {
        // TLS record header: handshake (22), legacy version 3.x (RFC 8446 section 5.1).
        0x16 if method_end == start => match bytes.get(start + 1) {
            None => return Stop::More(start),
            Some(3) => Reason::LineTlsBytes,
            Some(_) => Reason::LineMethodInvalid,
        },
        b'\n' => Reason::HeadBareLf,
        b'\r' => match bytes.get(method_end + 1) {
            None => return Stop::More(start),
            Some(b'\n') => Reason::LineSpacing,
            Some(_) => Reason::HeadBareCr,
        },
        b' ' | b'\t' => Reason::LineSpacing,
        _ => Reason::LineMethodInvalid,
    };
    reason.into()
}

#[cold]
#[inline(never)]
fn bad_target(bytes: &[u8], start: usize, target_start: usize, target_end: usize) -> Stop {
    let Some(&byte) = bytes.get(target_end) else {
        return Stop::More(start);
    };
    let reason = match byte {
        b' ' | b'\t' => Reason::LineSpacing,
        b'#' if target_end == target_start => Reason::LineTargetInvalid,
        b'#' => Reason::LineTargetFragment,
        b'\n' => Reason::HeadBareLf,
        b'\r' => match bytes.get(target_end + 1) {
            None => return Stop::More(start),
            Some(b'\n') => Reason::LineSpacing,
            Some(_) => Reason::HeadBareCr,
        },
        _ => Reason::LineTargetInvalid,
    };
    reason.into()
}

/// Reads a version that is not simply HTTP/1.1 and CRLF, or says what is wrong.
#[cold]
#[inline(never)]
fn other_version(bytes: &[u8], start: usize, version_start: usize, lines: &RequestLines) -> Result<Version, Stop> {
    let rest = bytes.get(version_start..).unwrap_or_default();
    let Some([major, minor]) = version_digits(rest)? else {
        return Err(Stop::More(start));
    };
    match (rest.get(8), rest.get(9)) {
        (None, _) | (Some(b'\r'), None) => return Err(Stop::More(start)),
        (Some(b'\r'), Some(b'\n')) => {}
        (Some(b'\r'), Some(_)) => return Err(Reason::HeadBareCr.into()),
        (Some(b'\n'), _) => return Err(Reason::HeadBareLf.into()),
        (Some(b' ' | b'\t'), _) => return Err(Reason::LineSpacing.into()),
        (Some(_), _) => return Err(Reason::LineVersionInvalid.into()),
    }
    match (major, minor) {
        (b'1', b'1') => Ok(Version::Http11),
        (b'1', b'0') => Ok(Version::Http10),
        (b'2', b'0') if lines.method_span.of(bytes) == b"PRI" && lines.target.of(bytes) == b"*" => {
            Err(Reason::LineHttp2Preface.into())
        }
        _ => Err(Reason::LineVersionUnsupported.into()),
    }
}

/// Reads `HTTP/d.d` at the front of `rest` (RFC 9112 section 2.3; case-sensitive); `None` if it is sound but not whole.
pub(crate) fn version_digits(rest: &[u8]) -> Result<Option<[u8; 2]>, Reason> {
    let mut digits = [0; 2];
    for (i, &expected) in b"HTTP/0.0".iter().enumerate() {
        let Some(&byte) = rest.get(i) else {
            return Ok(None);
        };
        match (expected, byte) {
            (b'0', b'0'..=b'9') => digits = [digits[1], byte],
            (_, b'\n') => return Err(Reason::HeadBareLf),
            (_, b' ' | b'\t') => return Err(Reason::LineSpacing),
            _ if expected == byte => {}
            _ => return Err(Reason::LineVersionInvalid),
        }
    }
    Ok(Some(digits))
}
