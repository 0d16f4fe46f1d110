use leat_message::{Head, Name};

use crate::form::hex;

/// What a field or a query parameter must be like.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Test {
    /// It is there, with any value.
    Present,
    /// It is not there.
    Absent,
    /// It has exactly this value.
    Equals(Vec<u8>),
    /// Its value starts with this.
    Prefix(Vec<u8>),
}

/// A condition besides host, path and method. Where a field or a parameter is repeated, one that passes is enough.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Predicate {
    on: On,
    test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum On {
    /// A field, by its name in lower case.
    Field(Vec<u8>),
    /// A query parameter, by its decoded name.
    Query(Vec<u8>),
}

impl Predicate {
    /// A condition on a field line; values are compared byte by byte and whole (a list is not taken apart).
    pub fn field(name: &str, test: Test) -> Self {
        Self { on: On::Field(name.to_ascii_lowercase().into_bytes()), test }
    }

    /// A condition on a query parameter; names and values are compared after decoding `%XX` and `+`.
    pub fn query(name: &str, test: Test) -> Self {
        Self { on: On::Query(name.as_bytes().to_vec()), test }
    }

    /// Whether a request passes. Cost: one pass over its fields, or over its query.
    pub fn matches(&self, head: &Head<'_>) -> bool {
        match &self.on {
            On::Field(name) => {
                let id = Name::from_bytes(name);
                let same = |(line_id, line_name, _): &(Name, &[u8], &[u8])| {
                    *line_id == id && (id != Name::Other || line_name.eq_ignore_ascii_case(name))
                };
                self.any(head.fields().iter().filter(same).map(|(_, _, value)| value), |value, wanted, open| {
                    if open { value.starts_with(wanted) } else { value == wanted }
                })
            }
            On::Query(name) => {
                let pairs = head.query().unwrap_or_default().split(|&b| b == b'&').filter(|pair| !pair.is_empty());
                let values = pairs.filter_map(|pair| {
                    let at = pair.iter().position(|&b| b == b'=').unwrap_or(pair.len());
                    let (key, value) = pair.split_at_checked(at)?;
                    decodes_to(key, name, false).then(|| value.get(1..).unwrap_or_default())
                });
                self.any(values, decodes_to)
            }
        }
    }

    fn any<'v>(&self, mut values: impl Iterator<Item = &'v [u8]>, same: impl Fn(&[u8], &[u8], bool) -> bool) -> bool {
        match &self.test {
            Test::Present => values.next().is_some(),
            Test::Absent => values.next().is_none(),
            Test::Equals(wanted) => values.any(|value| same(value, wanted, false)),
            Test::Prefix(wanted) => values.any(|value| same(value, wanted, true)),
        }
    }
}

/// Whether a raw query part decodes to `wanted`, or to something that starts with it.
fn decodes_to(raw: &[u8], wanted: &[u8], open: bool) -> bool {
    let mut rest = raw;
    let mut wanted = wanted.iter();
    loop {
        let byte = match rest {
            [] => return wanted.next().is_none(),
            [b'+', after @ ..] => {
                rest = after;
                b' '
            }
            [b'%', high, low, after @ ..] if hex(*high).is_some() && hex(*low).is_some() => {
                rest = after;
                hex(*high).unwrap_or(0) << 4 | hex(*low).unwrap_or(0)
            }
            [byte, after @ ..] => {
                rest = after;
                *byte
            }
        };
        match wanted.next() {
            Some(&next) if next == byte => {}
            Some(_) => return false,
            None => return open,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_parts_are_compared_decoded() {
        for (raw, wanted, open, result) in [
            ("a", "a", false, true),
            ("a+b", "a b", false, true),
            ("a%20b", "a b", false, true),
            ("%e2%82%AC", "€", false, true),
            ("100%", "100%", false, true),
            ("%zz", "%zz", false, true),
            ("ab", "a", false, false),
            ("ab", "a", true, true),
            ("a", "ab", true, false),
            ("", "", false, true),
            ("x", "", true, true),
            ("x", "", false, false),
        ] {
            assert_eq!(decodes_to(raw.as_bytes(), wanted.as_bytes(), open), result, "{raw} {wanted} {open}");
        }
    }
}
