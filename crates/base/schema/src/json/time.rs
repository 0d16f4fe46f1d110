//! `google.protobuf.Timestamp` as RFC 3339 in UTC, and `Duration` as seconds with an s.

use std::io::Write;

use super::quick::{Irregular, Quick};

/// The seconds of 0001-01-01T00:00:00Z and of 9999-12-31T23:59:59Z.
const SECONDS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;
/// About 10,000 years.
const DURATION_SECONDS_MAX: u64 = 315_576_000_000;
const NANOS: std::ops::Range<i32> = 0..1_000_000_000;

/// Appends a timestamp in quotes.
pub(super) fn put_timestamp(seconds: i64, nanos: i32, out: &mut Vec<u8>) -> Quick<()> {
    if !SECONDS.contains(&seconds) || !NANOS.contains(&nanos) {
        return Err(Irregular);
    }
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    // A vector takes all that is written.
    let _ = write!(out, "\"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    put_fraction(nanos.unsigned_abs(), out);
    out.extend_from_slice(b"Z\"");
    Ok(())
}

/// Appends a duration in quotes.
pub(super) fn put_duration(seconds: i64, nanos: i32, out: &mut Vec<u8>) -> Quick<()> {
    let signs_differ = (seconds < 0 && nanos > 0) || (seconds > 0 && nanos < 0);
    if seconds.unsigned_abs() > DURATION_SECONDS_MAX || nanos.unsigned_abs() > 999_999_999 || signs_differ {
        return Err(Irregular);
    }
    let sign = if seconds < 0 || nanos < 0 { "-" } else { "" };
    let _ = write!(out, "\"{sign}{}", seconds.unsigned_abs());
    put_fraction(nanos.unsigned_abs(), out);
    out.extend_from_slice(b"s\"");
    Ok(())
}

/// None, three, six or nine digits.
fn put_fraction(nanos: u32, out: &mut Vec<u8>) {
    let _ = match nanos {
        0 => Ok(()),
        _ if nanos.is_multiple_of(1_000_000) => write!(out, ".{:03}", nanos / 1_000_000),
        _ if nanos.is_multiple_of(1000) => write!(out, ".{:06}", nanos / 1000),
        _ => write!(out, ".{nanos:09}"),
    };
}

/// Seconds and nanoseconds of `2026-01-31T12:00:00.5Z`. Other offsets than Z are irregular.
pub(super) fn timestamp(text: &str) -> Quick<(i64, i32)> {
    let bytes = text.strip_suffix('Z').ok_or(Irregular)?.as_bytes();
    let (date, fraction) = bytes.split_at_checked(19).ok_or(Irregular)?;
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if marks.iter().any(|&(at, mark)| date.get(at) != Some(&mark)) {
        return Err(Irregular);
    }
    let part = |from: usize, to: usize| digits(date.get(from..to)?).map(i64::from);
    let part = |from: usize, to: usize| part(from, to).ok_or(Irregular);
    let (year, month, day) = (part(0, 4)?, part(5, 7)?, part(8, 10)?);
    let (hour, minute, second) = (part(11, 13)?, part(14, 16)?, part(17, 19)?);
    if year < 1 || hour > 23 || minute > 59 || second > 59 {
        return Err(Irregular);
    }
    let days = days(year, month, day);
    // A day that is not in the calendar comes back as another.
    if civil(days) != (year, month, day) {
        return Err(Irregular);
    }
    Ok((days * 86_400 + hour * 3600 + minute * 60 + second, nanos(fraction)?))
}

/// Seconds and nanoseconds of `-1.5s`.
pub(super) fn duration(text: &str) -> Quick<(i64, i32)> {
    let text = text.strip_suffix('s').ok_or(Irregular)?;
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |text| (true, text));
    let (whole, fraction) = text.split_at(text.find('.').unwrap_or(text.len()));
    if whole.is_empty() || whole.len() > 12 || !whole.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Irregular);
    }
    let seconds: u64 = whole.parse().map_err(|_| Irregular)?;
    if seconds > DURATION_SECONDS_MAX {
        return Err(Irregular);
    }
    let (seconds, nanos) = (seconds.cast_signed(), nanos(fraction.as_bytes())?);
    Ok(if negative { (-seconds, -nanos) } else { (seconds, nanos) })
}

/// Of nothing, or a dot and one to nine digits.
fn nanos(fraction: &[u8]) -> Quick<i32> {
    match fraction.split_first() {
        None => Ok(0),
        Some((b'.', text)) if (1..=9).contains(&text.len()) => {
            let value = digits(text).ok_or(Irregular)?;
            Ok((value * 10u32.pow(9 - text.len() as u32)).cast_signed())
        }
        _ => Err(Irregular),
    }
}

/// A number of at most nine digits, and nothing but digits.
fn digits(text: &[u8]) -> Option<u32> {
    text.iter().try_fold(0u32, |value, byte| byte.is_ascii_digit().then(|| value * 10 + u32::from(byte - b'0')))
}

/// The days from 1970-01-01 of a date of the Gregorian calendar, counted in eras of 400 years that begin in March.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The other way of [`days`].
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = days.div_euclid(146_097) * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day_of_year - (153 * shifted + 2) / 5 + 1)
}
