/// A content coding that a file may be stored in beside the plain one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// Brotli (RFC 7932), `.br`.
    Br,
    /// Zstandard (RFC 8878), `.zst`.
    Zstd,
    /// gzip (RFC 1952), `.gz`.
    Gzip,
}

impl Coding {
    const ALL: [Self; 3] = [Self::Br, Self::Zstd, Self::Gzip];

    /// Its name in Content-Encoding.
    pub fn name(self) -> &'static str {
        match self {
            Self::Br => "br",
            Self::Zstd => "zstd",
            Self::Gzip => "gzip",
        }
    }

    /// What the sibling's file name ends in.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Br => ".br",
            Self::Zstd => ".zst",
            Self::Gzip => ".gz",
        }
    }

    /// `x-gzip` is the same as `gzip` (RFC 9110 section 8.4.1.3).
    fn from_name(name: &[u8]) -> Option<Self> {
        if name.eq_ignore_ascii_case(b"x-gzip") {
            return Some(Self::Gzip);
        }
        Self::ALL.into_iter().find(|coding| name.eq_ignore_ascii_case(coding.name().as_bytes()))
    }
}

/// The codings to try before the plain file, best first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acceptable {
    ordered: [Option<Coding>; 3],
}

/// A weight in thousandths (RFC 9110 section 12.4.2).
type Weight = u16;
const WEIGHT_MAX: Weight = 1_000;

impl Acceptable {
    /// Reads the Accept-Encoding lines (RFC 9110 section 12.5.3). `offered` is in the server's order, which decides
    /// between equal weights. A malformed member counts as absent. A client that refuses even the plain file gets it
    /// all the same, as from every other server.
    pub fn parse<'a>(lines: impl Iterator<Item = &'a [u8]>, offered: &[Coding]) -> Self {
        let mut named: [Option<Weight>; 3] = [None; 3];
        let (mut any, mut identity) = (None, None);
        let members = lines.flat_map(|line| line.split(|&byte| byte == b','));
        for (name, weight) in members.filter_map(member) {
            if name == b"*" {
                any = Some(weight);
            } else if name.eq_ignore_ascii_case(b"identity") {
                identity = Some(weight);
            } else if let Some(coding) = Coding::from_name(name)
                && let Some(slot) = named.get_mut(coding as usize)
            {
                *slot = Some(weight);
            }
        }
        let weight_of = |coding: Coding| named.get(coding as usize).copied().flatten().or(any).unwrap_or(0);
        let mut wanted = [None; 3];
        let candidates = offered.iter().map(|&coding| (weight_of(coding), coding));
        // Unless it was named, identity comes last: a client that sends codings wants one of them.
        let candidates = candidates.filter(|&(weight, _)| weight > 0 && weight >= identity.unwrap_or(0));
        for (slot, candidate) in wanted.iter_mut().zip(candidates) {
            *slot = Some(candidate);
        }
        wanted.sort_by_key(|candidate| std::cmp::Reverse(candidate.map_or(0, |(weight, _)| weight)));
        Self { ordered: wanted.map(|candidate| candidate.map(|(_, coding)| coding)) }
    }

    /// The codings that the client likes better than none, best first.
    pub fn before_identity(self) -> impl Iterator<Item = Coding> {
        self.ordered.into_iter().flatten()
    }
}

/// Splits `name;q=0.5`; a parameter other than `q` has no meaning here.
fn member(text: &[u8]) -> Option<(&[u8], Weight)> {
    let mut parts = text.split(|&byte| byte == b';').map(<[u8]>::trim_ascii);
    let name = parts.next().filter(|name| !name.is_empty())?;
    let mut weight = WEIGHT_MAX;
    for part in parts {
        if let Some((b'q' | b'Q', value)) = part.split_first() {
            weight = parse_weight(value.strip_prefix(b"=")?)?;
        }
    }
    Some((name, weight))
}

/// `0`, `1`, or either with up to three decimals, at most 1.
fn parse_weight(text: &[u8]) -> Option<Weight> {
    let (&whole, rest) = text.split_first()?;
    let decimals = match rest.split_first() {
        None => rest,
        Some((b'.', decimals)) if decimals.len() <= 3 => decimals,
        Some(_) => return None,
    };
    let mut weight = match whole {
        b'0' => 0,
        b'1' => WEIGHT_MAX,
        _ => return None,
    };
    let mut unit = WEIGHT_MAX / 10;
    for &digit in decimals {
        weight += unit * Weight::try_from(char::from(digit).to_digit(10)?).ok()?;
        unit /= 10;
    }
    (weight <= WEIGHT_MAX).then_some(weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_coding_that_both_sides_know_comes_first() {
        use Coding::{Br, Gzip, Zstd};
        let cases: [(&[&str], &[Coding]); 30] = [
            (&[], &[]),
            (&[""], &[]),
            (&["gzip"], &[Gzip]),
            (&["x-gzip"], &[Gzip]),
            (&["GZIP"], &[Gzip]),
            (&["gzip, deflate, br, zstd"], &[Br, Zstd, Gzip]),
            (&["gzip", "br"], &[Br, Gzip]),
            (&["gzip;q=1.0, br;q=0.5"], &[Gzip, Br]),
            (&["br;q=0.8, gzip;q=0.9, zstd;q=1"], &[Zstd, Gzip, Br]),
            (&["br;q=0"], &[]),
            (&["br;q=0.000, gzip"], &[Gzip]),
            (&["br;q=0.001"], &[Br]),
            (&["*"], &[Br, Zstd, Gzip]),
            (&["*;q=0.1, zstd"], &[Zstd, Br, Gzip]),
            (&["br;q=0, *"], &[Zstd, Gzip]),
            (&["*;q=0"], &[]),
            (&["gzip, *;q=0"], &[Gzip]),
            (&["identity"], &[]),
            (&["identity, gzip"], &[Gzip]),
            (&["identity;q=1, gzip;q=0.5"], &[]),
            (&["identity;q=0.5, gzip;q=1, br;q=0.1"], &[Gzip]),
            (&["identity;q=0"], &[]),
            (&["gzip ; q=0.5 , br ; Q=0.7"], &[Br, Gzip]),
            (&["gzip;q=1.001"], &[]),
            (&["gzip;q=0.1234"], &[]),
            (&["gzip;q=x"], &[]),
            (&["gzip;q"], &[]),
            (&["gzip;q=-1"], &[]),
            (&["deflate, compress, foo;bar=1"], &[]),
            (&[",, gzip ,,"], &[Gzip]),
        ];
        for (lines, expected) in cases {
            let acceptable = Acceptable::parse(lines.iter().map(|line| line.as_bytes()), &[Br, Zstd, Gzip]);
            assert_eq!(acceptable.before_identity().collect::<Vec<_>>(), expected, "{lines:?}");
        }
    }

    #[test]
    fn only_offered_codings_are_tried_and_in_the_servers_order() {
        use Coding::{Br, Gzip, Zstd};
        for (offered, expected) in [(&[Gzip, Br][..], &[Gzip, Br][..]), (&[Zstd], &[Zstd]), (&[], &[])] {
            let acceptable = Acceptable::parse([&b"br, gzip, zstd"[..]].into_iter(), offered);
            assert_eq!(acceptable.before_identity().collect::<Vec<_>>(), expected);
        }
    }
}
