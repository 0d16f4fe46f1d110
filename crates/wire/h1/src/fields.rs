use leat_message::{Field, Name, Reason, Span};

use crate::class::is_blank;
use crate::name_id;
use crate::progress::Stop;
use crate::scan::Scan;
use crate::scan::lanes::{self, Job, Lanes};

/// Limits for a section of field lines.
#[derive(Clone, Copy)]
pub(crate) struct SectionLimits {
    pub(crate) fields_max: usize,
    pub(crate) field_bytes_max: usize,
}

/// A field that decides how a message is framed, routed or kept.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// Any other field.
    Plain,
    Host,
    Length,
    Coding,
    Connection,
    Upgrade,
    Expect,
}

const KINDS: usize = 8;

/// The fields of each [`Kind`], gathered while the section is parsed: without a branch, for whether the next field is one
/// of these cannot be predicted.
#[derive(Default)]
pub(crate) struct Seen {
    counts: [u8; KINDS],
    values: [Span; KINDS],
}

impl Seen {
    /// How many there were; 255 also means more.
    #[inline(always)]
    pub(crate) fn count(&self, kind: Kind) -> u8 {
        self.counts[kind as usize]
    }

    /// The value of the last one.
    #[inline(always)]
    pub(crate) fn value(&self, kind: Kind) -> Span {
        self.values[kind as usize]
    }

    #[inline(always)]
    fn note(&mut self, field: Field) {
        let kind = KIND_OF[field.id as usize % KIND_OF.len()] as usize % KINDS;
        self.counts[kind] = self.counts[kind].saturating_add(1);
        self.values[kind] = field.value;
    }
}

/// The kind of each known name, by its id.
static KIND_OF: [Kind; 64] = {
    let mut kinds = [Kind::Plain; 64];
    assert!(Name::ALL.len() < kinds.len());
    kinds[Name::Host as usize] = Kind::Host;
    kinds[Name::ContentLength as usize] = Kind::Length;
    kinds[Name::TransferEncoding as usize] = Kind::Coding;
    kinds[Name::Connection as usize] = Kind::Connection;
    kinds[Name::Upgrade as usize] = Kind::Upgrade;
    kinds[Name::Expect as usize] = Kind::Expect;
    kinds
};

/// Parses field lines from `start` to the empty line (RFC 9112 section 5); returns the offset behind it.
///
/// Whatever is wrong is reported in the order of the bytes, so that the answer does not depend on how they arrive.
#[inline(always)]
pub(crate) fn parse<L: Lanes>(
    scan: &mut Scan<'_, L>,
    start: usize,
    limits: SectionLimits,
    fields: &mut Vec<Field>,
    seen: &mut Seen,
) -> Result<usize, Stop> {
    let bytes = scan.bytes();
    let mut at = start;
    while bytes.get(at..at + 2) != Some(b"\r\n") {
        let (field, next) = line(scan, at, fields.len(), limits)?;
        fields.push(field);
        seen.note(field);
        at = next;
    }
    Ok(at + 2)
}

/// Looks at one line alone, the one at `at` behind `count` others: whether it is complete and sound.
pub(crate) fn check(bytes: &[u8], at: usize, count: usize, limits: SectionLimits) -> Result<(), Stop> {
    struct Check<'a>(&'a [u8], usize, usize, SectionLimits);

    impl Job for Check<'_> {
        type Output = Result<(), Stop>;

        #[inline(always)]
        fn run<L: Lanes>(self) -> Self::Output {
            let end = self.0.get(self.1..).unwrap_or_default().starts_with(b"\r\n");
            if end { Ok(()) } else { line(&mut Scan::<L>::new(self.0, self.1), self.1, self.2, self.3).map(|_| ()) }
        }
    }

    lanes::run(Check(bytes, at, count, limits))
}

/// Parses the lines that are there, from `start` on, behind those in `fields`; says where the unfinished one starts.
pub(crate) fn parse_some(
    bytes: &[u8],
    start: usize,
    limits: SectionLimits,
    fields: &mut Vec<Field>,
) -> Result<usize, Stop> {
    struct Lines<'a>(&'a [u8], usize, SectionLimits, &'a mut Vec<Field>);

    impl Job for Lines<'_> {
        type Output = Result<usize, Stop>;

        #[inline(always)]
        fn run<L: Lanes>(self) -> Self::Output {
            parse(&mut Scan::<L>::new(self.0, self.1), self.1, self.2, self.3, &mut Seen::default())
        }
    }

    lanes::run(Lines(bytes, start, limits, fields))
}

/// Parses the line at `at`, behind `count` others; returns the field and the offset behind the line.
#[inline(always)]
fn line<L: Lanes>(
    scan: &mut Scan<'_, L>,
    at: usize,
    count: usize,
    limits: SectionLimits,
) -> Result<(Field, usize), Stop> {
    let bytes = scan.bytes();
    let name_end = scan.token_end(at);
    if name_end == at || bytes.get(name_end) != Some(&b':') || count >= limits.fields_max {
        return Err(bad_name(bytes, at, name_end, count, limits));
    }
    // Blanks are part of what a value may hold, so that its end can be searched for before its start is known.
    let line_end = scan.value_end(name_end + 1);
    if line_end - at > limits.field_bytes_max || bytes.get(line_end..line_end + 2) != Some(b"\r\n") {
        return Err(bad_value(bytes, at, line_end, limits.field_bytes_max));
    }
    // One space is usual.
    let mut value_start = name_end + 1 + usize::from(bytes.get(name_end + 1) == Some(&b' '));
    while value_start < line_end && bytes.get(value_start).is_some_and(|&b| is_blank(b)) {
        value_start += 1;
    }
    let mut value_end = line_end;
    while value_end > value_start && bytes.get(value_end - 1).is_some_and(|&b| is_blank(b)) {
        value_end -= 1;
    }
    let id = name_id::lookup(bytes, at, name_end);
    Ok((Field { id, name: Span::new(at, name_end), value: Span::new(value_start, value_end) }, line_end + 2))
}

/// Says what is wrong with a name.
#[cold]
#[inline(never)]
fn bad_name(bytes: &[u8], at: usize, name_end: usize, count: usize, limits: SectionLimits) -> Stop {
    let first = bytes.get(at..).unwrap_or_default();
    let reason = match (first, bytes.get(name_end)) {
        ([] | [b'\r'], _) => return Stop::More(at),
        ([b'\r', ..], _) => Reason::HeadBareCr,
        _ if count >= limits.fields_max => Reason::LimitFields,
        _ if name_end - at > limits.field_bytes_max => Reason::LimitFieldBytes,
        (_, None) => return Stop::More(at),
        (_, Some(&byte)) => return bad_name_byte(bytes, at, name_end, byte, count, limits),
    };
    reason.into()
}

/// Says what is wrong with the byte behind a name.
fn bad_name_byte(bytes: &[u8], at: usize, name_end: usize, byte: u8, count: usize, limits: SectionLimits) -> Stop {
    let reason = match byte {
        b'\n' => Reason::HeadBareLf,
        b':' => Reason::HeadNameEmpty,
        b'\r' => match bytes.get(name_end + 1) {
            None => return Stop::More(at),
            Some(b'\n') => Reason::HeadColonMissing,
            Some(_) => Reason::HeadBareCr,
        },
        b' ' | b'\t' if name_end == at && count == 0 => Reason::HeadLeadingSpace,
        b' ' | b'\t' if name_end == at => Reason::HeadObsFold,
        b' ' | b'\t' => {
            let mut next = name_end;
            while bytes.get(next).is_some_and(|&b| is_blank(b)) {
                next += 1;
            }
            match bytes.get(next) {
                _ if next - at > limits.field_bytes_max => Reason::LimitFieldBytes,
                None => return Stop::More(at),
                Some(b':') => Reason::HeadSpaceBeforeColon,
                Some(_) => Reason::HeadNameInvalid,
            }
        }
        0..=0x1f | 0x7f => Reason::HeadControlByte,
        _ => Reason::HeadNameInvalid,
    };
    reason.into()
}

/// Says what is wrong with a value, in the line at `at`, that does not end in CRLF.
#[cold]
#[inline(never)]
pub(crate) fn bad_value(bytes: &[u8], at: usize, value_end: usize, line_bytes_max: usize) -> Stop {
    let reason = match (bytes.get(value_end), bytes.get(value_end + 1)) {
        _ if value_end - at > line_bytes_max => Reason::LimitFieldBytes,
        (None, _) | (Some(b'\r'), None) => return Stop::More(at),
        (Some(b'\r'), Some(_)) => Reason::HeadBareCr,
        (Some(b'\n'), _) => Reason::HeadBareLf,
        (Some(_), _) => Reason::HeadControlByte,
    };
    reason.into()
}
