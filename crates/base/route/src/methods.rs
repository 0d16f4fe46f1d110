use std::fmt;

use leat_message::{Head, Method};

/// Methods of one table that are not well known, at most.
pub(crate) const OTHERS_MAX: usize = 48;

/// Well-known methods, in the order of an `Allow` list; their place is their bit.
const KNOWN: [(Method, &str); 9] = [
    (Method::Get, "GET"),
    (Method::Head, "HEAD"),
    (Method::Post, "POST"),
    (Method::Put, "PUT"),
    (Method::Patch, "PATCH"),
    (Method::Delete, "DELETE"),
    (Method::Options, "OPTIONS"),
    (Method::Connect, "CONNECT"),
    (Method::Trace, "TRACE"),
];

/// The place of CONNECT among [`KNOWN`].
const CONNECT_BIT: usize = 7;

/// What is wrong with a method in a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodError {
    /// Nothing there.
    Empty,
    /// A character that is not allowed in a token (RFC 9110 section 5.6.2).
    Character(char),
    /// A well-known method in lower case; methods are case-sensitive.
    Case,
}

impl fmt::Display for MethodError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the method is empty"),
            Self::Character(c) => write!(f, "`{}` is not allowed in a method", c.escape_default()),
            Self::Case => f.write_str("methods are case-sensitive and this one is written in capitals"),
        }
    }
}

impl std::error::Error for MethodError {}

/// Which methods a route is for. `GET` brings `HEAD` along (RFC 9110 section 9.3.2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Methods {
    /// Sorted, without repetition; empty for every method but CONNECT.
    names: Vec<String>,
}

impl Methods {
    /// Every method but CONNECT.
    pub fn any() -> Self {
        Self::default()
    }

    /// Adds a method.
    ///
    /// # Errors
    /// If it is not a token, or a well-known method that is not in capitals.
    pub fn add(&mut self, name: &str) -> Result<(), MethodError> {
        if name.is_empty() {
            return Err(MethodError::Empty);
        }
        if let Some(wrong) = name.chars().find(|c| !is_token(*c)) {
            return Err(MethodError::Character(wrong));
        }
        if KNOWN.iter().any(|(_, known)| *known != name && known.eq_ignore_ascii_case(name)) {
            return Err(MethodError::Case);
        }
        if let Err(at) = self.names.binary_search_by(|held| held.as_str().cmp(name)) {
            self.names.insert(at, name.to_owned());
        }
        Ok(())
    }

    /// Whether every method is meant.
    pub fn is_any(&self) -> bool {
        self.names.is_empty()
    }

    /// The names, sorted; empty for every method but CONNECT.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether `method` is one of these.
    pub fn contains(&self, method: &[u8]) -> bool {
        let has = |wanted: &[u8]| self.names.iter().any(|name| name.as_bytes() == wanted);
        (self.names.is_empty() && method != b"CONNECT") || has(method) || (method == b"HEAD" && has(b"GET"))
    }
}

fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

/// A set of methods as bits; what they stand for is in the table's [`Names`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bits(u64);

impl Bits {
    /// Without CONNECT: what goes through a tunnel passes by every route, so one must be asked for by name.
    pub(crate) const ALL: Self = Self(!(1 << CONNECT_BIT));

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn covers(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// The methods that one table knows, by bit: the well-known ones, then those of its routes; the top bit is every other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    others: Vec<String>,
}

impl Names {
    /// The bits of a set; `None` if the table already knows [`OTHERS_MAX`] methods of its own.
    pub(crate) fn bits(&mut self, methods: &Methods) -> Option<Bits> {
        if methods.is_any() {
            return Some(Bits::ALL);
        }
        let mut bits = 0;
        for name in methods.names() {
            let known = KNOWN.iter().position(|(_, known)| known == name);
            let other = || self.others.iter().position(|held| held == name).map(|at| at + KNOWN.len());
            let bit = match known.or_else(other) {
                Some(bit) => bit,
                None if self.others.len() == OTHERS_MAX => return None,
                None => {
                    self.others.push(name.clone());
                    KNOWN.len() + self.others.len() - 1
                }
            };
            bits |= 1 << bit;
            if name == "GET" {
                bits |= 1 << 1;
            }
        }
        Some(Bits(bits))
    }

    /// The bit of a method by its name.
    pub(crate) fn named(&self, name: &[u8]) -> Bits {
        let known = KNOWN.iter().position(|(_, known)| known.as_bytes() == name);
        Bits(1 << known.unwrap_or_else(|| self.other(name)))
    }

    fn other(&self, name: &[u8]) -> usize {
        self.others.iter().position(|held| held.as_bytes() == name).map_or(63, |at| at + KNOWN.len())
    }

    /// The bit of a request's method.
    #[inline]
    pub(crate) fn of(&self, head: &Head<'_>) -> Bits {
        let bit = match head.method() {
            Method::Get => 0,
            Method::Head => 1,
            Method::Post => 2,
            Method::Put => 3,
            Method::Patch => 4,
            Method::Delete => 5,
            Method::Options => 6,
            Method::Connect => CONNECT_BIT,
            Method::Trace => 8,
            Method::Other => self.other(head.method_bytes()),
        };
        Bits(1 << bit)
    }

    /// Writes the list of an `Allow` field.
    pub(crate) fn write_allow(&self, bits: Bits, out: &mut Vec<u8>) {
        let names = KNOWN.iter().map(|(_, name)| *name).chain(self.others.iter().map(String::as_str));
        for (at, name) in names.enumerate() {
            if bits.0 >> at & 1 == 1 {
                if !out.is_empty() {
                    out.extend_from_slice(b", ");
                }
                out.extend_from_slice(name.as_bytes());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_tokens_in_their_own_case() {
        let mut methods = Methods::any();
        for (name, wanted) in [
            ("GET", Ok(())),
            ("PURGE", Ok(())),
            ("m-search", Ok(())),
            ("get", Err(MethodError::Case)),
            ("", Err(MethodError::Empty)),
            ("A B", Err(MethodError::Character(' '))),
        ] {
            assert_eq!(methods.add(name), wanted, "{name}");
        }
        for (name, wanted) in [("GET", true), ("HEAD", true), ("PURGE", true), ("POST", false), ("purge", false)] {
            assert_eq!(methods.contains(name.as_bytes()), wanted, "{name}");
        }
    }

    #[test]
    fn connect_is_in_no_set_that_does_not_name_it() {
        assert_eq!(KNOWN[CONNECT_BIT].0, Method::Connect);
        let mut names = Names::default();
        let mut named = Methods::any();
        assert_eq!(named.add("CONNECT"), Ok(()));
        for (methods, wanted) in [(Methods::any(), false), (named, true)] {
            assert_eq!(methods.contains(b"CONNECT"), wanted);
            let bits = names.bits(&methods).unwrap_or_default();
            assert_eq!(bits.intersects(Bits(1 << CONNECT_BIT)), wanted);
        }
    }
}
