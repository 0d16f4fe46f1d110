//! Timestamps and durations as JSON writes them (RFC 3339, and seconds with an `s`), to compare and to show.

use std::fmt::Write;

const NANOS: u32 = 1_000_000_000;
/// From 0001-01-01T00:00:00Z to 9999-12-31T23:59:59Z, as google/protobuf/timestamp.proto says.
const SECONDS_MIN: i64 = -62_135_596_800;
const SECONDS_MAX: i64 = 253_402_300_799;
/// Ten thousand years, as google/protobuf/duration.proto says.
const DURATION_SECONDS_MAX: i64 = 315_576_000_000;

/// Seconds since 1970 and nanoseconds of `2026-11-22T10:00:00.5Z` or `…+01:00`.
pub(crate) fn timestamp(text: &str) -> Option<(i64, i32)> {
    let (date, rest) = text.split_at_checked(10)?;
    let rest = rest.strip_prefix(['T', 't'])?;
    let (time, rest) = rest.split_at_checked(8)?;
    let (nanos, zone) = fraction(rest)?;
    let offset = match zone {
        "Z" | "z" => 0,
        _ => {
            let sign = match zone.get(..1)? {
                "+" => 1,
                "-" => -1,
                _ => return None,
            };
            let (hours, minutes) = zone.get(1..)?.split_once(':')?;
            sign * (digits(hours, 2, 23)? * 3600 + digits(minutes, 2, 59)? * 60)
        }
    };
    let mut parts = date.split('-');
    let (year, month, day) =
        (digits(parts.next()?, 4, 9999)?, digits(parts.next()?, 2, 12)?, digits(parts.next()?, 2, 31)?);
    let mut clock = time.split(':');
    let (hour, minute, second) =
        (digits(clock.next()?, 2, 23)?, digits(clock.next()?, 2, 59)?, digits(clock.next()?, 2, 59)?);
    if parts.next().is_some()
        || clock.next().is_some()
        || year == 0
        || month == 0
        || day == 0
        || day > month_days(year, month)
    {
        return None;
    }
    let seconds = days_from_civil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset;
    (SECONDS_MIN..=SECONDS_MAX).contains(&seconds).then_some((seconds, nanos))
}

/// Seconds and nanoseconds, of one sign, of `1.5s`.
pub(crate) fn duration(text: &str) -> Option<(i64, i32)> {
    let number = text.strip_suffix('s')?;
    let (sign, number) = match number.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, number),
    };
    let end = number.find('.').unwrap_or(number.len());
    let (whole, rest) = number.split_at_checked(end)?;
    let (nanos, rest) = fraction(rest)?;
    let decimal = !whole.is_empty() && whole.bytes().all(|byte| byte.is_ascii_digit());
    let seconds: i64 = whole.parse().ok()?;
    (decimal && rest.is_empty() && seconds <= DURATION_SECONDS_MAX).then_some((sign * seconds, sign as i32 * nanos))
}

/// As [`timestamp`] reads it, in UTC.
pub(crate) fn show_timestamp(seconds: i64, nanos: i32) -> String {
    if !(SECONDS_MIN..=SECONDS_MAX).contains(&seconds) {
        return format!("{seconds} seconds and {nanos} nanoseconds since 1970");
    }
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil_from_days(days);
    let mut text =
        format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
    show_fraction(nanos, &mut text);
    text.push('Z');
    text
}

/// As [`duration`] reads it.
pub(crate) fn show_duration(seconds: i64, nanos: i32) -> String {
    let mut text = if seconds < 0 || nanos < 0 { "-".to_owned() } else { String::new() };
    let _ = write!(text, "{}", seconds.unsigned_abs());
    show_fraction(nanos, &mut text);
    text.push('s');
    text
}

fn show_fraction(nanos: i32, text: &mut String) {
    if nanos != 0 {
        let digits = format!("{:09}", nanos.unsigned_abs());
        let _ = write!(text, ".{}", digits.trim_end_matches('0'));
    }
}

/// The nanoseconds of `.25` at the start, and what follows.
fn fraction(text: &str) -> Option<(i32, &str)> {
    let Some(rest) = text.strip_prefix('.') else { return Some((0, text)) };
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, rest) = rest.split_at_checked(end)?;
    let scale =
        NANOS.checked_div(10u32.checked_pow(u32::try_from(digits.len()).ok().filter(|len| (1..=9).contains(len))?)?)?;
    Some(((digits.parse::<u32>().ok()? * scale) as i32, rest))
}

fn digits(text: &str, count: usize, max: i64) -> Option<i64> {
    let right = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|value| right && *value <= max)
}

fn month_days(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01 in the Gregorian calendar: years begin in March, so that the leap day is the last one.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_read_and_shown() {
        for (text, wanted) in [
            ("1970-01-01T00:00:00Z", Some((0, 0))),
            ("2026-11-22T10:00:00Z", Some((1_795_341_600, 0))),
            ("2000-02-29T23:59:59.5Z", Some((951_868_799, 500_000_000))),
            ("1969-12-31T23:59:59.999999999Z", Some((-1, 999_999_999))),
            ("0001-01-01T00:00:00Z", Some((SECONDS_MIN, 0))),
            ("9999-12-31T23:59:59Z", Some((SECONDS_MAX, 0))),
            ("2026-02-29T00:00:00Z", None),
            ("2026-13-01T00:00:00Z", None),
            ("2026-01-01 00:00:00Z", None),
            ("2026-01-01T00:00:00", None),
            ("2026-01-01T00:00:00.Z", None),
            ("2026-01-01T24:00:00Z", None),
            ("yesterday", None),
        ] {
            assert_eq!(timestamp(text), wanted, "{text}");
            if let Some((seconds, nanos)) = wanted {
                assert_eq!(show_timestamp(seconds, nanos), text);
            }
        }
        assert_eq!(timestamp("1970-01-01T01:00:00+01:00"), Some((0, 0)));
    }

    #[test]
    fn durations_are_read_and_shown() {
        for (text, wanted) in [
            ("0s", Some((0, 0))),
            ("1.5s", Some((1, 500_000_000))),
            ("-1.5s", Some((-1, -500_000_000))),
            ("-0.000000001s", Some((0, -1))),
            ("3600s", Some((3600, 0))),
            ("1m", None),
            ("s", None),
            ("1.s", None),
            ("1.0000000001s", None),
            ("+1s", None),
        ] {
            assert_eq!(duration(text), wanted, "{text}");
            if let Some((seconds, nanos)) = wanted {
                assert_eq!(show_duration(seconds, nanos), text);
            }
        }
    }
}
