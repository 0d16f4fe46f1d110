use std::cmp::Ordering;
use std::fmt::Write;

use leat_schema::{Kind, MessageType};
use regex::bytes::{Regex, RegexBuilder};

use super::glob::Glob;
use super::scalar::{Domain, Literal, Scalar};

/// Longest regular expression, in bytes.
const REGEX_BYTES_MAX: usize = 4096;
/// Memory that one may take when it is compiled.
const REGEX_SIZE_MAX: usize = 2 << 20;

/// What a rule asks of a scalar. A value that is not there passes no test but those for its absence.
#[derive(Clone, Debug)]
pub(crate) enum Test {
    Equals(Literal),
    In(Box<[Literal]>),
    Compare(Relation, Literal),
    Regex(Box<Regex>),
    Glob(Box<Glob>),
    /// A part of a text or of bytes.
    Contains(Box<[u8]>),
    /// How many characters or bytes.
    Size(Box<Test>),
    /// Whether it is there.
    Exists(bool),
    /// The same for a field that cannot tell zero from nothing.
    NotZero(bool),
    Not(Box<Test>),
    All(Box<[Test]>),
    Any(Box<[Test]>),
}

/// How a value and the rule's stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    Gt,
    Gte,
    Lt,
    Lte,
}

impl Relation {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Gt => "gt",
            Self::Gte => "gte",
            Self::Lt => "lt",
            Self::Lte => "lte",
        }
    }

    fn admits(self, order: Ordering) -> bool {
        match self {
            Self::Gt => order == Ordering::Greater,
            Self::Gte => order != Ordering::Less,
            Self::Lt => order == Ordering::Less,
            Self::Lte => order != Ordering::Greater,
        }
    }
}

impl Test {
    /// Whether a value passes; `None` is one that is not there.
    #[inline]
    pub(crate) fn holds(&self, seen: Option<Scalar<'_>>) -> bool {
        match (self, seen) {
            (Self::Equals(wanted), Some(value)) => value.equals(wanted.scalar()),
            (Self::Exists(wanted), seen) => seen.is_some() == *wanted,
            _ => self.holds_slowly(seen),
        }
    }

    fn holds_slowly(&self, seen: Option<Scalar<'_>>) -> bool {
        match (self, seen) {
            (Self::Not(test), _) => !test.holds(seen),
            (Self::All(tests), _) => tests.iter().all(|test| test.holds(seen)),
            (Self::Any(tests), _) => tests.iter().any(|test| test.holds(seen)),
            (Self::NotZero(wanted), seen) => seen.is_some_and(|value| !value.is_zero()) == *wanted,
            (Self::In(choices), Some(value)) => choices.iter().any(|choice| value.equals(choice.scalar())),
            (Self::Compare(relation, wanted), Some(value)) => {
                value.order(wanted.scalar()).is_some_and(|order| relation.admits(order))
            }
            (Self::Regex(regex), Some(Scalar::Text(text))) => regex.is_match(text),
            (Self::Glob(glob), Some(Scalar::Text(text))) => glob.matches(text),
            (Self::Contains(part), Some(Scalar::Text(bytes) | Scalar::Bytes(bytes))) => {
                part.is_empty() || bytes.windows(part.len()).any(|window| window == &**part)
            }
            (Self::Size(test), Some(value)) => value.size().is_some_and(|size| test.holds(Some(Scalar::Uint(size)))),
            _ => false,
        }
    }

    /// Whether no value passes both of two bounds.
    pub(crate) fn excludes(&self, other: &Self) -> bool {
        use Relation::{Gt, Gte, Lt, Lte};
        let (Self::Compare(low, above), Self::Compare(high, under)) = (self, other) else { return false };
        if !matches!((low, high), (Gt | Gte, Lt | Lte)) {
            return false;
        }
        match above.scalar().order(under.scalar()) {
            Some(Ordering::Greater) => true,
            Some(Ordering::Equal) => *low == Gt || *high == Lt,
            _ => false,
        }
    }

    /// Whether `exists` stands somewhere in it.
    pub(crate) fn asks_for_presence(&self) -> bool {
        match self {
            Self::Exists(_) => true,
            Self::Not(test) => test.asks_for_presence(),
            Self::All(tests) | Self::Any(tests) => tests.iter().any(Self::asks_for_presence),
            _ => false,
        }
    }

    /// The value that alone passes, if there is one.
    pub(crate) fn literal(&self) -> Option<&Literal> {
        match self {
            Self::Equals(literal) => Some(literal),
            _ => None,
        }
    }

    /// The values that alone pass, if they are listed.
    pub(crate) fn choices(&self) -> Option<&[Literal]> {
        match self {
            Self::Equals(literal) => Some(std::slice::from_ref(literal)),
            Self::In(choices) => Some(choices),
            _ => None,
        }
    }

    /// Whether what passes a bound passes this one on the same side.
    pub(crate) fn bounds(&self, other: &Self) -> bool {
        use Relation::{Gt, Gte, Lt, Lte};
        let (Self::Compare(wide, end), Self::Compare(narrow, other_end)) = (self, other) else { return false };
        let order = other_end.scalar().order(end.scalar());
        match (wide, narrow) {
            (Gt | Gte, Gt | Gte) => {
                order == Some(Ordering::Greater) || order == Some(Ordering::Equal) && (*wide == Gte || *narrow == Gt)
            }
            (Lt | Lte, Lt | Lte) => {
                order == Some(Ordering::Less) || order == Some(Ordering::Equal) && (*wide == Lte || *narrow == Lt)
            }
            _ => false,
        }
    }

    /// How many conditions this is: those that all must hold add up, of alternatives the least counts.
    pub(crate) fn weight(&self) -> u32 {
        match self {
            Self::All(tests) => tests.iter().map(Self::weight).sum(),
            Self::Any(tests) => tests.iter().map(Self::weight).min().unwrap_or(0),
            _ => 1,
        }
    }

    /// As a rule would write it, for messages.
    pub(crate) fn show(&self, domain: Domain, types: &MessageType) -> String {
        let literal = |literal: &Literal| literal.scalar().show(domain, types);
        let list = |tests: &[Test]| tests.iter().map(|test| test.show(domain, types)).collect::<Vec<_>>();
        match self {
            Self::Equals(wanted) => format!("equals {}", literal(wanted)),
            Self::In(choices) => {
                const SHOWN_MAX: usize = 8;
                let mut text = choices.iter().take(SHOWN_MAX).map(literal).collect::<Vec<_>>().join(", ");
                if choices.len() > SHOWN_MAX {
                    let _ = write!(text, ", … ({} values)", choices.len());
                }
                format!("in [{text}]")
            }
            Self::Compare(relation, wanted) => format!("{} {}", relation.name(), literal(wanted)),
            Self::Regex(regex) => format!("regex \"{}\"", regex.as_str()),
            Self::Glob(glob) => format!("glob \"{}\"", glob.source()),
            Self::Contains(part) => match domain {
                Domain::Kind(Kind::Bytes) => {
                    format!("contains {}", Scalar::Bytes(part).show(domain, types))
                }
                _ => format!("contains {}", Scalar::Text(part).show(domain, types)),
            },
            Self::Size(test) => format!("size {}", test.show(Domain::Kind(Kind::Uint64), types)),
            Self::Exists(wanted) | Self::NotZero(wanted) => format!("exists {wanted}"),
            Self::Not(test) => format!("not ({})", test.show(domain, types)),
            Self::All(tests) => list(tests).join(" and "),
            Self::Any(tests) => format!("any of ({})", list(tests).join(", ")),
        }
    }
}

/// Compiles a regular expression over bytes: it may match anywhere, and `^` and `$` tie it to the ends. Classes such as `\d`
/// are Unicode's.
///
/// # Errors
/// What is wrong with it, for people.
pub(crate) fn regex(source: &str) -> Result<Regex, String> {
    if source.len() > REGEX_BYTES_MAX {
        return Err(format!("it is longer than {REGEX_BYTES_MAX} bytes"));
    }
    let built = RegexBuilder::new(source).size_limit(REGEX_SIZE_MAX).dfa_size_limit(REGEX_SIZE_MAX).build();
    built.map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => "it takes more than 2 MiB when it is compiled".to_owned(),
        // The last line says what; those before it show where, in lines of their own.
        error => {
            let text = error.to_string();
            let last = text.lines().last().unwrap_or_default();
            last.strip_prefix("error: ").unwrap_or(last).to_owned()
        }
    })
}
