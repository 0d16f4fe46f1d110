/// Ranges in one request that are answered one by one; a request for more gets the whole file (RFC 9110 section 14.2
/// leaves that to the server, section 17.15 advises it).
pub const RANGES_MAX: usize = 16;

/// A part of a file: `first` to `last`, both included. `first <= last`, and `last` is inside the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) first: u64,
    pub(crate) last: u64,
}

impl Part {
    pub(crate) fn length(self) -> u64 {
        self.last - self.first + 1
    }

    fn overlaps(self, other: Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

/// What a Range field asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    /// The whole file: the field is of another unit or malformed, or asks for more than is reasonable.
    Whole,
    /// These parts, in the client's order; at least one. They do not overlap, so they are never longer than the file.
    Parts(Vec<Part>),
    /// 416: no part of the file is inside any range.
    Unsatisfiable,
}

/// Reads a Range field (RFC 9110 section 14.1.1) for a file of `length` bytes.
pub(crate) fn select(value: &[u8], length: u64) -> Selection {
    let Some(set) = value.split_at_checked(6).filter(|(unit, _)| unit.eq_ignore_ascii_case(b"bytes=")) else {
        return Selection::Whole;
    };
    let mut parts: Vec<Part> = Vec::new();
    let mut is_any = false;
    for (count, spec) in set.1.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).enumerate() {
        if count >= RANGES_MAX {
            return Selection::Whole;
        }
        // Empty members of a list have no meaning (section 5.6.1.2).
        if spec.is_empty() {
            continue;
        }
        let Some(range) = Spec::parse(spec) else { return Selection::Whole };
        is_any = true;
        match range.within(length) {
            Within::Part(part) if parts.iter().any(|other| other.overlaps(part)) => return Selection::Whole,
            Within::Part(part) => parts.push(part),
            Within::All => return Selection::Whole,
            Within::Nothing => {}
        }
    }
    match (is_any, parts.is_empty()) {
        (false, _) => Selection::Whole,
        (true, true) => Selection::Unsatisfiable,
        (true, false) => Selection::Parts(parts),
    }
}

/// One member of the set. Numbers too large for 64 bits are taken as the largest, which no file reaches.
#[derive(Clone, Copy)]
enum Spec {
    From(u64, Option<u64>),
    Suffix(u64),
}

enum Within {
    Part(Part),
    /// The end of an empty file, which no Content-Range can say.
    All,
    Nothing,
}

impl Spec {
    fn parse(spec: &[u8]) -> Option<Self> {
        let dash = spec.iter().position(|&byte| byte == b'-')?;
        let (first, last) = (spec.get(..dash)?, spec.get(dash + 1..)?);
        match (first.is_empty(), last.is_empty()) {
            (true, true) => None,
            (true, false) => Some(Self::Suffix(number(last)?)),
            (false, true) => Some(Self::From(number(first)?, None)),
            (false, false) => {
                let (first, last) = (number(first)?, number(last)?);
                (first <= last).then_some(Self::From(first, Some(last)))
            }
        }
    }

    fn within(self, length: u64) -> Within {
        match self {
            Self::From(first, last) if first < length => {
                Within::Part(Part { first, last: last.unwrap_or(u64::MAX).min(length - 1) })
            }
            Self::Suffix(0) | Self::From(..) => Within::Nothing,
            Self::Suffix(_) if length == 0 => Within::All,
            Self::Suffix(count) => Within::Part(Part { first: length.saturating_sub(count), last: length - 1 }),
        }
    }
}

fn number(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0u64, |number, &digit| {
        let digit = char::from(digit).to_digit(10)?;
        Some(number.saturating_mul(10).saturating_add(u64::from(digit)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_select_what_rfc_9110_says() {
        let parts =
            |list: &[(u64, u64)]| Selection::Parts(list.iter().map(|&(first, last)| Part { first, last }).collect());
        let whole = || Selection::Whole;
        let many = |count: u64| {
            let specs: Vec<String> = (0..count).map(|i| format!("{}-{}", i * 2, i * 2)).collect();
            format!("bytes={}", specs.join(","))
        };
        let sixteen: Vec<(u64, u64)> = (0..16).map(|i| (i * 2, i * 2)).collect();
        let cases: [(&str, u64, Selection); 47] = [
            ("bytes=0-0", 100, parts(&[(0, 0)])),
            ("bytes=0-9", 100, parts(&[(0, 9)])),
            ("bytes=10-", 100, parts(&[(10, 99)])),
            ("bytes=0-", 100, parts(&[(0, 99)])),
            ("bytes=99-", 100, parts(&[(99, 99)])),
            ("bytes=99-99", 100, parts(&[(99, 99)])),
            ("bytes=0-99", 100, parts(&[(0, 99)])),
            ("bytes=0-100", 100, parts(&[(0, 99)])),
            ("bytes=50-1000", 100, parts(&[(50, 99)])),
            ("bytes=5-99999999999999999999999", 100, parts(&[(5, 99)])),
            ("bytes=-1", 100, parts(&[(99, 99)])),
            ("bytes=-10", 100, parts(&[(90, 99)])),
            ("bytes=-100", 100, parts(&[(0, 99)])),
            ("bytes=-1000", 100, parts(&[(0, 99)])),
            ("bytes=-99999999999999999999999", 100, parts(&[(0, 99)])),
            ("BYTES=0-1", 100, parts(&[(0, 1)])),
            ("bytes= 0-1 ", 100, parts(&[(0, 1)])),
            ("bytes=0-1, 5-6", 100, parts(&[(0, 1), (5, 6)])),
            ("bytes=5-6,0-1", 100, parts(&[(5, 6), (0, 1)])),
            ("bytes=0-1,2-3", 100, parts(&[(0, 1), (2, 3)])),
            ("bytes=0-1,-2", 100, parts(&[(0, 1), (98, 99)])),
            ("bytes=0-1,200-300", 100, parts(&[(0, 1)])),
            ("bytes=,0-1,,", 100, parts(&[(0, 1)])),
            (&many(16), 100, parts(&sixteen)),
            ("bytes=100-", 100, Selection::Unsatisfiable),
            ("bytes=100-200", 100, Selection::Unsatisfiable),
            ("bytes=99999999999999999999999-", 100, Selection::Unsatisfiable),
            ("bytes=-0", 100, Selection::Unsatisfiable),
            ("bytes=-0,100-", 100, Selection::Unsatisfiable),
            ("bytes=0-", 0, Selection::Unsatisfiable),
            ("bytes=-0", 0, Selection::Unsatisfiable),
            ("bytes=-5", 0, whole()),
            (&many(17), 100, whole()),
            ("bytes=0-5,5-9", 100, whole()),
            ("bytes=0-,0-", 100, whole()),
            ("bytes=50-60,-60", 100, whole()),
            ("bytes=5-4", 100, whole()),
            ("bytes=0-1,5-4", 100, whole()),
            ("bytes=", 100, whole()),
            ("bytes=,", 100, whole()),
            ("bytes=-", 100, whole()),
            ("bytes=a-b", 100, whole()),
            ("bytes=0x1-2", 100, whole()),
            ("bytes=1 - 2", 100, whole()),
            ("bytes=--1", 100, whole()),
            ("items=0-1", 100, whole()),
            ("bytes 0-1", 100, whole()),
        ];
        for (value, length, expected) in cases {
            assert_eq!(select(value.as_bytes(), length), expected, "{value} of {length}");
        }
        assert_eq!(select(b"", 100), whole());
        assert_eq!(select(b"bytes=+1-2", 100), whole());
    }
}
