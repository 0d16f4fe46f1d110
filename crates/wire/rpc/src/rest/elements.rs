use std::fmt;

/// Nesting in one JSON value, as far as brackets are counted; the reader of the value has a bound of its own.
const DEPTH_MAX: u32 = 256;

/// Splits the body of a client's stream into its JSON values: an array of them, or one after the other with or without
/// lines between them. Values are cut out by their brackets and quotes only; whether they are JSON is seen by who reads them.
///
/// Bytes come in any pieces; one value is held at a time, up to a limit.
#[derive(Debug)]
pub struct Elements {
    bytes_max: usize,
    value: Vec<u8>,
    state: State,
    /// Whether the values stand in an array.
    in_array: bool,
    /// Whether nothing has come yet.
    is_first: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before a value.
    Between,
    /// At the start of an array, which may be empty.
    Opened,
    /// Behind a value of an array: `,` or `]` comes.
    Behind,
    /// In a string that is a value of its own, or in a value with brackets.
    Nested { depth: u32, in_string: bool, escaped: bool },
    /// In a number or a word.
    Bare,
    /// The array has ended.
    Ended,
}

/// Why a body is no stream of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementError {
    /// A value is longer than allowed.
    TooLong,
    /// Brackets, commas or quotes are out of order.
    Malformed,
}

impl fmt::Display for ElementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLong => "a message of the body is longer than allowed",
            Self::Malformed => "the body is neither an array of JSON values nor JSON values one after the other",
        })
    }
}

impl std::error::Error for ElementError {}

impl Elements {
    /// `bytes_max` bounds one value.
    pub fn new(bytes_max: usize) -> Self {
        Self { bytes_max, value: Vec::new(), state: State::Between, in_array: false, is_first: true }
    }

    /// Takes bytes up to the end of the next value; says how many, and whether [`Elements::value`] is whole now.
    ///
    /// # Errors
    /// What can't be a stream of values.
    pub fn take(&mut self, bytes: &[u8]) -> Result<(usize, bool), ElementError> {
        if matches!(self.state, State::Between | State::Opened) {
            self.value.clear();
        }
        for (at, &byte) in bytes.iter().enumerate() {
            match self.step(byte)? {
                Moved::On => {}
                Moved::Whole => return Ok((at + 1, true)),
                // The byte belongs to what follows.
                Moved::WholeBefore => return Ok((at, true)),
            }
        }
        Ok((bytes.len(), false))
    }

    /// The value that was found last.
    pub fn value(&self) -> &[u8] {
        &self.value
    }

    /// The body has ended; says whether [`Elements::value`] is a last value that nothing had ended yet.
    ///
    /// # Errors
    /// It ended within a value or an array.
    pub fn end(&mut self) -> Result<bool, ElementError> {
        match self.state {
            State::Bare if !self.in_array => {
                self.state = State::Ended;
                Ok(true)
            }
            State::Ended => Ok(false),
            State::Between if !self.in_array => Ok(false),
            _ => Err(ElementError::Malformed),
        }
    }

    fn keep(&mut self, byte: u8) -> Result<(), ElementError> {
        if self.value.len() >= self.bytes_max {
            return Err(ElementError::TooLong);
        }
        self.value.push(byte);
        Ok(())
    }

    fn step(&mut self, byte: u8) -> Result<Moved, ElementError> {
        let is_space = matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        match self.state {
            State::Between | State::Opened if is_space => {}
            State::Between if byte == b'[' && self.is_first => {
                (self.in_array, self.is_first) = (true, false);
                self.state = State::Opened;
            }
            State::Opened if byte == b']' => self.state = State::Ended,
            State::Between | State::Opened => {
                self.is_first = false;
                self.value.clear();
                self.keep(byte)?;
                self.state = match byte {
                    b'{' | b'[' => State::Nested { depth: 1, in_string: false, escaped: false },
                    b'"' => State::Nested { depth: 0, in_string: true, escaped: false },
                    b',' | b':' | b'}' | b']' => return Err(ElementError::Malformed),
                    _ => State::Bare,
                };
            }
            State::Nested { depth, in_string, escaped } => {
                self.keep(byte)?;
                return self.nested(byte, depth, in_string, escaped);
            }
            State::Bare if is_space || matches!(byte, b',' | b']' | b'{' | b'[' | b'"') => {
                self.state = self.behind();
                return Ok(Moved::WholeBefore);
            }
            State::Bare => self.keep(byte)?,
            State::Behind | State::Ended if is_space => {}
            State::Behind if byte == b',' => self.state = State::Between,
            State::Behind if byte == b']' => self.state = State::Ended,
            State::Behind | State::Ended => return Err(ElementError::Malformed),
        }
        Ok(Moved::On)
    }

    fn nested(&mut self, byte: u8, depth: u32, in_string: bool, escaped: bool) -> Result<Moved, ElementError> {
        let (depth, in_string, escaped) = match byte {
            _ if escaped => (depth, in_string, false),
            b'\\' if in_string => (depth, true, true),
            b'"' => (depth, !in_string, false),
            b'{' | b'[' if !in_string && depth < DEPTH_MAX => (depth + 1, false, false),
            b'{' | b'[' if !in_string => return Err(ElementError::Malformed),
            b'}' | b']' if !in_string => (depth.saturating_sub(1), false, false),
            _ => (depth, in_string, false),
        };
        if depth == 0 && !in_string {
            self.state = self.behind();
            return Ok(Moved::Whole);
        }
        self.state = State::Nested { depth, in_string, escaped };
        Ok(Moved::On)
    }

    fn behind(&self) -> State {
        if self.in_array { State::Behind } else { State::Between }
    }
}

enum Moved {
    On,
    Whole,
    WholeBefore,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(body: &str, piece: usize, bytes_max: usize) -> Result<Vec<String>, ElementError> {
        let mut elements = Elements::new(bytes_max);
        let mut found = Vec::new();
        for piece in body.as_bytes().chunks(piece) {
            let mut rest = piece;
            while !rest.is_empty() {
                let (taken, is_whole) = elements.take(rest)?;
                rest = &rest[taken..];
                if is_whole {
                    found.push(String::from_utf8_lossy(elements.value()).into_owned());
                }
            }
        }
        if elements.end()? {
            found.push(String::from_utf8_lossy(elements.value()).into_owned());
        }
        Ok(found)
    }

    #[test]
    fn values_are_found_in_arrays_and_one_after_the_other_in_any_pieces() {
        for (body, expected) in [
            ("", &[][..]),
            ("[]", &[]),
            (" [ ] \n", &[]),
            (r#"[{"a":"]}\"["},{}]"#, &[r#"{"a":"]}\"["}"#, "{}"]),
            ("{\"a\":1}\n{\"b\":[2]}\r\n", &["{\"a\":1}", "{\"b\":[2]}"]),
            ("{}{}", &["{}", "{}"]),
            ("[1, \"x\" , true,[[2]] ]", &["1", "\"x\"", "true", "[[2]]"]),
            ("1 2\n3", &["1", "2", "3"]),
            ("\"a\\\\\"\"b\"", &["\"a\\\\\"", "\"b\""]),
        ] {
            for piece in [1, 2, 3, 100] {
                assert_eq!(
                    split(body, piece, 64).as_deref(),
                    Ok(expected.map_to_owned().as_slice()),
                    "{body} by {piece}"
                );
            }
        }
    }

    #[test]
    fn what_is_no_stream_of_values_is_refused() {
        for (body, expected) in [
            ("[", ElementError::Malformed),
            ("{", ElementError::Malformed),
            ("\"a", ElementError::Malformed),
            ("[1", ElementError::Malformed),
            ("[1 2]", ElementError::Malformed),
            ("[]{}", ElementError::Malformed),
            (",", ElementError::Malformed),
            ("]", ElementError::Malformed),
            ("[1,", ElementError::Malformed),
            ("[1,]", ElementError::Malformed),
            (&"[".repeat(300), ElementError::Malformed),
            ("{\"long\":\"0123456789\"}", ElementError::TooLong),
            ("01234567890123456", ElementError::TooLong),
        ] {
            let bytes_max = if expected == ElementError::TooLong { 16 } else { 1_000 };
            assert_eq!(split(body, 7, bytes_max), Err(expected), "{body}");
        }
    }

    trait MapToOwned {
        fn map_to_owned(&self) -> Vec<String>;
    }

    impl MapToOwned for [&str] {
        fn map_to_owned(&self) -> Vec<String> {
            self.iter().map(|text| (*text).to_owned()).collect()
        }
    }
}
