//! `connect-timeout-ms`: at most ten digits.

use std::time::Duration;

/// Reads a value; `None` where it is malformed.
pub fn read(value: &[u8]) -> Option<Duration> {
    if value.is_empty() || value.len() > 10 || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(Duration::from_millis(value.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_up_to_ten_digits() {
        for (value, ms) in [
            ("0", Some(0)),
            ("0050", Some(50)),
            ("9999999999", Some(9_999_999_999)),
            ("12345678901", None),
            ("", None),
            ("1s", None),
            ("-1", None),
            ("1.0", None),
        ] {
            assert_eq!(read(value.as_bytes()), ms.map(Duration::from_millis), "{value}");
        }
    }
}
