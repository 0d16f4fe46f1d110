use leat_message::{LeftToHandler, Length, Limits, Method, Profile, Reason, RequestLines, Version};

use crate::connection::{Options, Protocols};
use crate::fields::{self, Kind, SectionLimits, Seen};
use crate::progress::{Progress, Stop};
use crate::scan::Scan;
use crate::scan::lanes::{self, Job, Lanes};
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
/// The first thing that is wrong in the order of the bytes, whatever the pieces they came in and as soon as it is there;
/// of the rules that need the whole head, the first in the order: Host, framing, method, Connection, Upgrade, Expect. A
/// limit is reported as soon as it is passed.
pub fn parse_request(
    bytes: &[u8],
    progress: &mut Progress,
    profile: Profile,
    limits: &Limits,
    lines: &mut RequestLines,
) -> Result<Option<usize>, Reason> {
    let start = match bytes.first() {
        Some(b'\r') => match leading_lines(bytes, profile)? {
            Some(start) => start,
            None => return Ok(None),
        },
        _ => 0,
    };
    let head_end_max = limits.head_bytes_max.saturating_add(start);
    let head = bytes.get(..head_end_max).unwrap_or(bytes);
    let full = bytes.len() >= head_end_max;
    let section = SectionLimits { fields_max: limits.fields_max, field_bytes_max: limits.field_bytes_max };
    if let Some((line, fields)) = progress.field_line()
        && let Err(stop) = fields::check(head, line, fields, section)
    {
        return progress.stopped(stop, start, fields, full);
    }
    // Everything else is written anew by a complete parse.
    lines.fields.clear();
    let target_bytes_max = limits.target_bytes_max;
    let left = limits.left_to_handler;
    match lanes::run(Request { bytes: head, start, profile, section, target_bytes_max, left, lines }) {
        Ok(len) => Ok(Some(len)),
        Err(stop) => {
            progress.begin(bytes.len() > start);
            progress.stopped(stop, start, lines.fields.len(), full)
        }
    }
}

struct Request<'a> {
    bytes: &'a [u8],
    /// Where the request line starts.
    start: usize,
    profile: Profile,
    section: SectionLimits,
    target_bytes_max: usize,
    left: LeftToHandler,
    lines: &'a mut RequestLines,
}

impl Job for Request<'_> {
    type Output = Result<usize, Stop>;

    #[inline(always)]
    fn run<L: Lanes>(self) -> Self::Output {
        let Self { bytes, start, profile, section, target_bytes_max, left, lines } = self;
        let mut scan = Scan::<L>::new(bytes, start);
        let fields_start = request_line::parse(&mut scan, start, profile, target_bytes_max, lines)?;
        let mut seen = Seen::default();
        let end = fields::parse(&mut scan, fields_start, section, &mut lines.fields, &mut seen)?;
        judge::<L>(bytes, &seen, profile, left, lines)?;
        Ok(end)
    }
}

/// Skips empty lines before the request line; returns where it starts, if that is known.
#[cold]
fn leading_lines(bytes: &[u8], profile: Profile) -> Result<Option<usize>, Reason> {
    let mut at = 0;
    loop {
        match (bytes.get(at), bytes.get(at + 1)) {
            (Some(b'\r'), None) => return Ok(None),
            (Some(b'\r'), Some(b'\n')) => at += 2,
            (Some(b'\r'), Some(_)) => return Err(Reason::HeadBareCr),
            _ => return Ok(Some(at)),
        }
        if profile == Profile::Strict || at > 2 * LEADING_EMPTY_LINES_MAX {
            return Err(Reason::LineMethodInvalid);
        }
    }
}

/// Applies the rules that need the whole head.
#[inline(always)]
fn judge<L: Lanes>(
    bytes: &[u8],
    seen: &Seen,
    profile: Profile,
    left: LeftToHandler,
    lines: &mut RequestLines,
) -> Result<(), Reason> {
    if profile == Profile::Strict {
        ascii_values(bytes, lines)?;
    }
    target::judge::<L>(bytes, seen, profile, left.host, lines)?;
    lines.length = framing::announced(bytes, seen, lines.version, profile)?;
    if lines.length != Length::None {
        body_allowed(lines.method, lines.length, profile)?;
    }
    let options = Options::parse(bytes, seen, &lines.fields)?;
    lines.keep_alive = options.keeps_alive(lines.version);
    lines.upgrade = match seen.count(Kind::Upgrade) {
        0 => false,
        _ if left.upgrade => options.upgrade,
        _ => upgrade(bytes, options, lines)?,
    };
    lines.expect_continue = match seen.count(Kind::Expect) {
        0 => false,
        _ => match expect_continue(bytes, seen, lines) {
            Err(_) if left.expect => false,
            expected => expected?,
        },
    };
    Ok(())
}

/// A body on TRACE or CONNECT is what follows it on the connection to somebody else (RFC 9110 sections 9.3.6 and 9.3.8).
/// With GET, HEAD, OPTIONS and DELETE a body has no meaning (section 9.3.1), and others may not look for one.
fn body_allowed(method: Method, length: Length, profile: Profile) -> Result<(), Reason> {
    let strict = profile == Profile::Strict;
    let allowed = match (method, length) {
        (_, Length::None) => true,
        (Method::Trace | Method::Connect, Length::Known(0)) => !strict,
        (Method::Trace | Method::Connect, _) => false,
        (Method::Get | Method::Head | Method::Options | Method::Delete, length) => {
            !strict || length == Length::Known(0)
        }
        _ => true,
    };
    if allowed { Ok(()) } else { Err(Reason::BodyNotAllowed) }
}

/// Whether the request may leave HTTP/1.1 (RFC 9110 section 7.8). A server may ignore Upgrade; it is ignored on HTTP/1.0,
/// without `Connection: upgrade`, for h2c, and beside a body, whose bytes would be taken for the new protocol's.
#[inline(never)]
fn upgrade(bytes: &[u8], options: Options, lines: &RequestLines) -> Result<bool, Reason> {
    let protocols = Protocols::parse(bytes, &lines.fields)?;
    let bodyless = matches!(lines.length, Length::None | Length::Known(0));
    Ok(options.upgrade && protocols.usable && bodyless && lines.version == Version::Http11)
}

/// Whether the client waits for 100 (RFC 9110 section 10.1.1). HTTP/1.0 cannot, and without a body there is nothing to
/// wait for.
#[inline(never)]
fn expect_continue(bytes: &[u8], seen: &Seen, lines: &RequestLines) -> Result<bool, Reason> {
    if seen.count(Kind::Expect) > 1 || !seen.value(Kind::Expect).of(bytes).eq_ignore_ascii_case(b"100-continue") {
        return Err(Reason::ExpectUnknown);
    }
    let bodyless = matches!(lines.length, Length::None | Length::Known(0));
    Ok(lines.version == Version::Http11 && !bodyless)
}

/// Bytes whose meaning depends on the reader's character set.
fn ascii_values(bytes: &[u8], lines: &RequestLines) -> Result<(), Reason> {
    let ascii = lines.fields.iter().all(|field| field.value.of(bytes).is_ascii());
    if ascii { Ok(()) } else { Err(Reason::HeadObsText) }
}
