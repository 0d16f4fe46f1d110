use leat_message::{Length, Method, Profile, Reason, ResponseLines, Span, Version};

use crate::connection::Options;
use crate::fields::{self, SectionLimits, Seen};
use crate::framing;
use crate::limits::ResponseLimits;
use crate::progress::{Progress, Stop};
use crate::request_line::version_digits;
use crate::scan::Scan;
use crate::scan::lanes::{self, Job, Lanes};

/// Parses a response head at the front of `bytes`; the answer to a request with `request_method`.
///
/// Incremental in the same way as [`crate::parse_request`]. An interim response (1xx but 101) is a head of its own: its
/// `length` is [`Length::None`], and the caller goes on behind it with a fresh `progress`. Where it is not `keep_alive`, the
/// final response is none that another one may follow either.
///
/// # Errors
/// The first thing that is wrong in the order of the bytes, then of the rules for the whole head.
pub fn parse_response(
    bytes: &[u8],
    progress: &mut Progress,
    limits: &ResponseLimits,
    request_method: Method,
    lines: &mut ResponseLines,
) -> Result<Option<usize>, Reason> {
    let head = bytes.get(..limits.head_bytes_max).unwrap_or(bytes);
    let section = SectionLimits { fields_max: limits.fields_max, field_bytes_max: limits.head_bytes_max };
    let full = bytes.len() >= limits.head_bytes_max;
    if let Some((line, fields)) = progress.field_line()
        && let Err(stop) = fields::check(head, line, fields, section)
    {
        return progress.stopped(stop, 0, fields, full);
    }
    lines.fields.clear();
    match lanes::run(Response { bytes: head, section, request_method, lines }) {
        Ok(len) => Ok(Some(len)),
        Err(stop) => {
            progress.begin(!bytes.is_empty());
            progress.stopped(stop, 0, lines.fields.len(), full)
        }
    }
}

struct Response<'a> {
    bytes: &'a [u8],
    section: SectionLimits,
    request_method: Method,
    lines: &'a mut ResponseLines,
}

impl Job for Response<'_> {
    type Output = Result<usize, Stop>;

    #[inline(always)]
    fn run<L: Lanes>(self) -> Self::Output {
        let Self { bytes, section, request_method, lines } = self;
        let mut scan = Scan::<L>::new(bytes, 0);
        let fields_start = status_line(&mut scan, lines)?;
        let mut seen = Seen::default();
        let end = fields::parse(&mut scan, fields_start, section, &mut lines.fields, &mut seen)?;
        let options = Options::parse(bytes, &seen, &lines.fields)?;
        let may_follow;
        (lines.length, may_follow) = length(bytes, &seen, request_method, lines)?;
        lines.keep_alive = may_follow && options.keeps_alive(lines.version);
        Ok(end)
    }
}

/// Parses the status line (RFC 9112 section 4): version, one space, three digits, one space, reason phrase, CRLF. The
/// second space may be missing where there is no phrase: many servers leave it out, and nothing depends on it.
#[inline(always)]
fn status_line<L: Lanes>(scan: &mut Scan<'_, L>, lines: &mut ResponseLines) -> Result<usize, Stop> {
    let bytes = scan.bytes();
    lines.version = match bytes.get(..9) {
        Some(b"HTTP/1.1 ") => Version::Http11,
        Some(b"HTTP/1.0 ") => Version::Http10,
        _ => return Err(bad_version(bytes)),
    };
    let mut status = 0;
    for at in 9..12 {
        match bytes.get(at) {
            None => return Err(Stop::More(0)),
            Some(digit @ b'0'..=b'9') => status = status * 10 + u16::from(digit - b'0'),
            Some(b'\n') => return Err(Reason::HeadBareLf.into()),
            Some(_) => return Err(Reason::LineStatusInvalid.into()),
        }
    }
    if !(100..=599).contains(&status) {
        return Err(Reason::LineStatusInvalid.into());
    }
    lines.status = status;
    let line_end = match bytes.get(12) {
        None => return Err(Stop::More(0)),
        Some(b' ') => scan.value_end(13),
        Some(b'\r') => 12,
        Some(b'\n') => return Err(Reason::HeadBareLf.into()),
        Some(_) => return Err(Reason::LineStatusInvalid.into()),
    };
    lines.reason = Span::new(line_end.min(13), line_end);
    match bytes.get(line_end..line_end + 2) {
        Some(b"\r\n") => Ok(line_end + 2),
        _ => Err(fields::bad_value(bytes, 0, line_end, usize::MAX)),
    }
}

#[cold]
#[inline(never)]
fn bad_version(bytes: &[u8]) -> Stop {
    let digits = match version_digits(bytes) {
        Ok(Some(digits)) => digits,
        Ok(None) => return Stop::More(0),
        Err(Reason::LineSpacing) => return Reason::LineVersionInvalid.into(),
        Err(reason) => return reason.into(),
    };
    let reason = match bytes.get(8) {
        None => return Stop::More(0),
        Some(b'\n') => Reason::HeadBareLf,
        Some(b' ') if digits != *b"11" && digits != *b"10" => Reason::LineVersionUnsupported,
        Some(_) => Reason::LineStatusInvalid,
    };
    reason.into()
}

/// How the response's body is delimited (RFC 9112 section 6.3), and whether what stands behind it may be another response.
#[inline(always)]
fn length(bytes: &[u8], seen: &Seen, request_method: Method, lines: &ResponseLines) -> Result<(Length, bool), Reason> {
    let status = lines.status;
    // Rule 2: what such a response says about its length is to be ignored.
    if status == 101 || (request_method == Method::Connect && (200..=299).contains(&status)) {
        return Ok((Length::Tunnel, false));
    }
    let announced = framing::announced(bytes, seen, lines.version, Profile::Compatible);
    // Rule 1: such a response ends with its head, whatever it says. `Content-Length: 0` is forbidden here, and common; any other
    // announcement may be followed by bytes that the next response would be taken from.
    if matches!(status, 100..=199 | 204) {
        return Ok((Length::None, matches!(announced, Ok(Length::None | Length::Known(0)))));
    }
    match announced? {
        // A coding is legal here (section 6.1). Who writes its last chunk all the same does so behind the head.
        announced if status == 304 => Ok((Length::None, announced != Length::Stream)),
        _ if request_method == Method::Head => Ok((Length::None, true)),
        Length::None => Ok((Length::Close, false)),
        announced => Ok((announced, true)),
    }
}
