//! `grpc-timeout`: at most eight digits and a unit.

use std::fmt::Write as _;
use std::time::Duration;

/// Reads a value; `None` where it is malformed.
pub fn read(value: &[u8]) -> Option<Duration> {
    let (unit, digits) = value.split_last()?;
    if digits.is_empty() || digits.len() > 8 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = digits.iter().fold(0u64, |number, digit| number * 10 + u64::from(digit - b'0'));
    Some(match unit {
        b'H' => Duration::from_secs(number * 3600),
        b'M' => Duration::from_secs(number * 60),
        b'S' => Duration::from_secs(number),
        b'm' => Duration::from_millis(number),
        b'u' => Duration::from_micros(number),
        b'n' => Duration::from_nanos(number),
        _ => return None,
    })
}

/// Appends a time in the finest unit that its digits have room for, rounded down.
pub fn write(time: Duration, out: &mut String) {
    const DIGITS_END: u128 = 100_000_000;
    let nanos = time.as_nanos();
    let units: [(u128, char); 6] = [
        (1, 'n'),
        (1_000, 'u'),
        (1_000_000, 'm'),
        (1_000_000_000, 'S'),
        (60_000_000_000, 'M'),
        (3_600_000_000_000, 'H'),
    ];
    let found = units.iter().map(|&(size, unit)| (nanos / size, unit)).find(|&(number, _)| number < DIGITS_END);
    let (number, unit) = found.unwrap_or((DIGITS_END - 1, 'H'));
    // Writing to a String can't fail.
    let _ = write!(out, "{number}{unit}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_digits_and_a_unit() {
        for (value, expected) in [
            ("1H", Some(Duration::from_secs(3600))),
            ("2M", Some(Duration::from_secs(120))),
            ("3S", Some(Duration::from_secs(3))),
            ("99999999m", Some(Duration::from_millis(99_999_999))),
            ("5u", Some(Duration::from_micros(5))),
            ("0n", Some(Duration::ZERO)),
            ("99999999H", Some(Duration::from_secs(99_999_999 * 3600))),
            ("100000000m", None),
            ("S", None),
            ("1", None),
            ("1s", None),
            ("-1S", None),
            ("1.5S", None),
            (" 1S", None),
            ("", None),
        ] {
            assert_eq!(read(value.as_bytes()), expected, "{value}");
        }
    }

    #[test]
    fn what_is_written_is_read_as_nearly_the_same() {
        for (time, text) in [
            (Duration::ZERO, "0n"),
            (Duration::from_millis(50), "50000000n"),
            (Duration::from_millis(200), "200000u"),
            (Duration::from_secs(30), "30000000u"),
            (Duration::from_secs(86_400), "86400000m"),
            (Duration::MAX, "99999999H"),
        ] {
            let mut out = String::new();
            write(time, &mut out);
            assert_eq!(out, text);
            assert!(read(out.as_bytes()).is_some());
        }
    }
}
