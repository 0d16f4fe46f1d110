use std::fmt;
use std::str::FromStr;

/// A number of bytes as people write it: `64MB`, `64mb`, `512KiB`, `1GB` or bare bytes. Units are those of the gateway's
/// configuration, in any case: `kB` is 1,000 bytes, `KiB` is 1,024.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(usize);

/// Units and their bytes.
const UNITS: [(&str, usize); 8] = [
    ("", 1),
    ("b", 1),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
];

impl Size {
    /// That many bytes.
    pub const fn new(bytes: usize) -> Self {
        Self(bytes)
    }

    /// The number of bytes.
    pub const fn bytes(self) -> usize {
        self.0
    }
}

/// A text that is no size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeError;

impl fmt::Display for SizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("write a whole number with a unit, such as 64MB, 512KiB or 1GB")
    }
}

impl std::error::Error for SizeError {}

impl FromStr for Size {
    type Err = SizeError;

    fn from_str(text: &str) -> Result<Self, SizeError> {
        let text = text.trim();
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let unit = unit.trim_start().to_ascii_lowercase();
        let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit).ok_or(SizeError)?;
        let number: usize = number.parse().map_err(|_| SizeError)?;
        number.checked_mul(*factor).map(Self).ok_or(SizeError)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = [(1_000_000_000, "GB"), (1 << 20, "MiB"), (1_000_000, "MB"), (1 << 10, "KiB"), (1_000, "kB")];
        match named.iter().find(|(unit, _)| self.0 >= *unit && self.0.is_multiple_of(*unit)) {
            Some((unit, name)) => write!(f, "{}{name}", self.0 / unit),
            None => write!(f, "{}B", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_in_any_case_and_written_back() {
        let table = [
            ("64mb", 64_000_000, "64MB"),
            ("64 MB", 64_000_000, "64MB"),
            ("16MiB", 16 << 20, "16MiB"),
            ("512kib", 512 << 10, "512KiB"),
            ("3000", 3_000, "3kB"),
            ("1GB", 1_000_000_000, "1GB"),
            ("7b", 7, "7B"),
        ];
        for (text, bytes, written) in table {
            let size: Size = text.parse().unwrap();
            assert_eq!((size.bytes(), size.to_string().as_str()), (bytes, written), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in ["", "mb", "-1mb", "1.5gb", "64 meg", "1e3", "99999999999999999999", "18446744073709551615gb"] {
            assert_eq!(text.parse::<Size>(), Err(SizeError), "{text}");
        }
    }
}
