use leat_message::{Field, Name, Reason, Span};

use crate::class::is_blank;
use crate::name_id;
use crate::progress::Stop;
use crate::scan::Scan;

/// Limits for a section of field lines.
#[derive(Clone, Copy)]
pub(crate) struct SectionLimits {
    pub(crate) fields_max: usize,
    pub(crate) field_bytes_max: usize,
}

/// The fields that decide how a message is framed, routed and kept, gathered while the section is parsed.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) host: Repeat,
    pub(crate) length: Repeat,
    pub(crate) coding: Repeat,
    pub(crate) connection: Repeat,
    pub(crate) upgrade: Repeat,
    pub(crate) expect: Repeat,
}

/// How often a field came, and the value it had last.
#[derive(Clone, Copy, Default)]
pub(crate) struct Repeat {
    pub(crate) count: u32,
    pub(crate) value: Span,
}

impl Repeat {
    #[inline(always)]
    fn add(&mut self, value: Span) {
        self.count += 1;
        self.value = value;
    }
}

impl Seen {
    #[inline(always)]
    fn note(&mut self, id: Name, value: Span) {
        match id {
            Name::Host => self.host.add(value),
            Name::ContentLength => self.length.add(value),
            Name::TransferEncoding => self.coding.add(value),
            Name::Connection => self.connection.add(value),
            Name::Upgrade => self.upgrade.add(value),
            Name::Expect => self.expect.add(value),
            _ => {}
        }
    }
}

/// Parses field lines from `start` to the empty line (RFC 9112 section 5); returns the offset behind it.
///
/// Whatever is wrong is reported in the order of the bytes, so that the answer does not depend on how they arrive.
#[inline(always)]
pub(crate) fn parse(
    scan: &mut Scan<'_>,
    start: usize,
    limits: SectionLimits,
    fields: &mut Vec<Field>,
    seen: &mut Seen,
) -> Result<usize, Stop> {
    let bytes = scan.bytes();
    let mut at = start;
    loop {
        let look_at = at + limits.field_bytes_max + 1;
        match bytes.get(at) {
            None => return Err(Stop::More(look_at)),
            Some(b'\r') => match bytes.get(at + 1) {
                None => return Err(Stop::More(look_at)),
                Some(b'\n') => return Ok(at + 2),
                Some(_) => return Err(Reason::HeadBareCr.into()),
            },
            Some(_) => {}
        }
        if fields.len() >= limits.fields_max {
            return Err(Reason::LimitFields.into());
        }
        let name_end = scan.name_end(at);
        if name_end - at > limits.field_bytes_max {
            return Err(Reason::LimitFieldBytes.into());
        }
        if bytes.get(name_end) != Some(&b':') || name_end == at {
            return Err(bad_name(bytes, at, name_end, start, limits));
        }
        let mut value_start = name_end + 1;
        while bytes.get(value_start).is_some_and(|&b| is_blank(b)) {
            value_start += 1;
        }
        let line_end = scan.value_end(value_start);
        if line_end - at > limits.field_bytes_max {
            return Err(Reason::LimitFieldBytes.into());
        }
        if bytes.get(line_end..line_end + 2) != Some(b"\r\n") {
            return Err(bad_value(bytes, line_end, look_at));
        }
        let mut value_end = line_end;
        while value_end > value_start && bytes.get(value_end - 1).is_some_and(|&b| is_blank(b)) {
            value_end -= 1;
        }
        let id = name_id::lookup(bytes, at, name_end);
        let value = Span::new(value_start, value_end);
        fields.push(Field { id, name: Span::new(at, name_end), value });
        seen.note(id, value);
        at = line_end + 2;
    }
}

/// Says what is wrong with a line whose name does not end in a colon.
#[cold]
#[inline(never)]
fn bad_name(bytes: &[u8], at: usize, name_end: usize, start: usize, limits: SectionLimits) -> Stop {
    let look_at = at + limits.field_bytes_max + 1;
    let Some(&byte) = bytes.get(name_end) else {
        return Stop::More(look_at);
    };
    let reason = match byte {
        b'\n' => Reason::HeadBareLf,
        b':' => Reason::HeadNameEmpty,
        b'\r' => match bytes.get(name_end + 1) {
            None => return Stop::More(look_at),
            Some(b'\n') => Reason::HeadColonMissing,
            Some(_) => Reason::HeadBareCr,
        },
        b' ' | b'\t' if name_end == at && at == start => Reason::HeadLeadingSpace,
        b' ' | b'\t' if name_end == at => Reason::HeadObsFold,
        b' ' | b'\t' => {
            let mut next = name_end;
            while bytes.get(next).is_some_and(|&b| is_blank(b)) {
                next += 1;
            }
            if next - at > limits.field_bytes_max {
                return Reason::LimitFieldBytes.into();
            }
            match bytes.get(next) {
                None => return Stop::More(look_at),
                Some(b':') => Reason::HeadSpaceBeforeColon,
                Some(_) => Reason::HeadNameInvalid,
            }
        }
        0..=0x1f | 0x7f => Reason::HeadControlByte,
        _ => Reason::HeadNameInvalid,
    };
    reason.into()
}

/// Says what is wrong with a value that does not end in CRLF.
#[cold]
#[inline(never)]
pub(crate) fn bad_value(bytes: &[u8], line_end: usize, look_at: usize) -> Stop {
    match (bytes.get(line_end), bytes.get(line_end + 1)) {
        (None, _) | (Some(b'\r'), None) => Stop::More(look_at),
        (Some(b'\r'), Some(_)) => Reason::HeadBareCr.into(),
        (Some(b'\n'), _) => Reason::HeadBareLf.into(),
        (Some(_), _) => Reason::HeadControlByte.into(),
    }
}
