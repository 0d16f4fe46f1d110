//! Timestamps and durations: exact nanoseconds, the calendar, and their texts.

use buffa_descriptor::reflect::{DynamicMessage, Value as Proto};

const SECOND: i128 = 1_000_000_000;
const DAY_SECONDS: i64 = 86_400;
/// 0001-01-01T00:00:00Z, the first instant of `google.protobuf.Timestamp`.
const FIRST_SECOND: i64 = -62_135_596_800;
/// 9999-12-31T23:59:59Z, its last second.
const LAST_SECOND: i64 = 253_402_300_799;

/// An instant, in nanoseconds since 1970 in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(pub i128);

/// A span of time in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duration(pub i128);

/// The parts of an instant in some zone. Months and days count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Civil {
    pub(super) year: i64,
    pub(super) month: i64,
    pub(super) day: i64,
    pub(super) hour: i64,
    pub(super) minute: i64,
    pub(super) second: i64,
    pub(super) nanos: i64,
    /// Days since the first of January, from 0.
    pub(super) day_of_year: i64,
    /// From 0, Sunday.
    pub(super) weekday: i64,
}

/// Seconds and nanoseconds, the fields of both messages.
fn parts(message: &DynamicMessage) -> i128 {
    let seconds = match message.field_by_number(1) {
        Some(Proto::I64(seconds)) => *seconds,
        _ => 0,
    };
    let nanos = match message.field_by_number(2) {
        Some(Proto::I32(nanos)) => *nanos,
        _ => 0,
    };
    i128::from(seconds) * SECOND + i128::from(nanos)
}

impl Timestamp {
    /// Of a `google.protobuf.Timestamp`.
    pub fn of(message: &DynamicMessage) -> Timestamp {
        Timestamp(parts(message))
    }

    /// Of seconds and nanoseconds since 1970.
    pub fn at(seconds: i64, nanos: u32) -> Timestamp {
        Timestamp(i128::from(seconds) * SECOND + i128::from(nanos))
    }

    /// Whether the instant is one that the message can carry: years 1 to 9999.
    pub(super) fn in_range(self) -> bool {
        (i128::from(FIRST_SECOND) * SECOND..(i128::from(LAST_SECOND) + 1) * SECOND).contains(&self.0)
    }

    /// Whole seconds since 1970, towards the past.
    pub(super) fn seconds(self) -> i64 {
        i64::try_from(self.0.div_euclid(SECOND)).unwrap_or_default()
    }

    /// Parses RFC 3339, section 5.6.
    pub(super) fn parse(text: &str) -> Option<Timestamp> {
        let bytes = text.as_bytes();
        let digits = |from: usize, to: usize| -> Option<i64> {
            let part = bytes.get(from..to)?;
            part.iter().all(u8::is_ascii_digit).then_some(())?;
            text.get(from..to)?.parse().ok()
        };
        let is = |at: usize, expected: &[u8]| bytes.get(at).is_some_and(|byte| expected.contains(byte));
        if !(is(4, b"-") && is(7, b"-") && is(10, b"Tt") && is(13, b":") && is(16, b":")) {
            return None;
        }
        let (year, month, day) = (digits(0, 4)?, digits(5, 7)?, digits(8, 10)?);
        let (hour, minute, second) = (digits(11, 13)?, digits(14, 16)?, digits(17, 19)?);
        let mut at = 19;
        let mut nanos = 0;
        if is(at, b".") {
            let from = at + 1;
            at = from + bytes.get(from..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let fraction = text.get(from..at.min(from + 9))?;
            if fraction.is_empty() {
                return None;
            }
            nanos = format!("{fraction:0<9}").parse::<i64>().ok()?;
        }
        let offset = zone_offset(text.get(at..)?)?;
        let valid = (1..=12).contains(&month)
            && (1..=days_in(year, month)).contains(&day)
            && hour < 24
            && minute < 60
            && second < 60;
        if !valid {
            return None;
        }
        let seconds = days_from_civil(year, month, day) * DAY_SECONDS + hour * 3600 + minute * 60 + second - offset;
        Some(Timestamp(i128::from(seconds) * SECOND + i128::from(nanos))).filter(|at| at.in_range())
    }

    /// RFC 3339 in UTC, with as many digits of a second as there are.
    pub fn text(self) -> String {
        let civil = self.civil(0);
        let Civil { year, month, day, hour, minute, second, .. } = civil;
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{}Z", fraction(civil.nanos))
    }

    /// The calendar's view, `offset` seconds east of UTC.
    pub(super) fn civil(self, offset: i64) -> Civil {
        // A message may carry any number.
        let seconds = self.seconds().clamp(FIRST_SECOND, LAST_SECOND) + offset;
        let days = seconds.div_euclid(DAY_SECONDS);
        let of_day = seconds.rem_euclid(DAY_SECONDS);
        let (year, month, day) = civil_from_days(days);
        Civil {
            year,
            month,
            day,
            hour: of_day / 3600,
            minute: of_day / 60 % 60,
            second: of_day % 60,
            nanos: i64::try_from(self.0.rem_euclid(SECOND)).unwrap_or_default(),
            day_of_year: days - days_from_civil(year, 1, 1),
            // The first of January 1970 was a Thursday.
            weekday: (days + 4).rem_euclid(7),
        }
    }
}

impl Duration {
    /// Of a `google.protobuf.Duration`.
    pub fn of(message: &DynamicMessage) -> Duration {
        Duration(parts(message))
    }

    /// Whether CEL has it: a signed 64-bit number of nanoseconds, about 292 years.
    pub(super) fn in_range(self) -> bool {
        i64::try_from(self.0).is_ok()
    }

    /// Parses `1h30m`, `-1.5s`, `100ms`, as CEL's `duration` does.
    pub(super) fn parse(text: &str) -> Option<Duration> {
        let (negative, mut rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        if rest == "0" {
            return Some(Duration(0));
        }
        let mut total: i128 = 0;
        while !rest.is_empty() || total == 0 && rest.len() == text.len() {
            let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
            let (number, tail) = rest.split_at(digits);
            let unit_end = tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len());
            let (unit, tail) = tail.split_at(unit_end);
            let scale: i128 = match unit {
                "h" => 3600 * SECOND,
                "m" => 60 * SECOND,
                "s" => SECOND,
                "ms" => 1_000_000,
                "us" | "µs" | "μs" => 1_000,
                "ns" => 1,
                _ => return None,
            };
            let (whole, part) = number.split_once('.').unwrap_or((number, ""));
            if whole.is_empty() && part.is_empty() || number.len() > 40 {
                return None;
            }
            let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
            total = total.checked_add(whole.checked_mul(scale)?)?;
            let mut step = scale;
            for digit in part.bytes() {
                step /= 10;
                total += step * i128::from(digit.checked_sub(b'0').filter(|digit| *digit < 10)?);
            }
            rest = tail;
        }
        Some(Duration(if negative { -total } else { total })).filter(|each| each.in_range())
    }

    /// Seconds with as many digits as there are: `90s`, `0.5s`.
    pub fn text(self) -> String {
        let sign = if self.0 < 0 { "-" } else { "" };
        let nanos = self.0.unsigned_abs();
        let second = SECOND.unsigned_abs();
        format!("{sign}{}{}s", nanos / second, fraction(i64::try_from(nanos % second).unwrap_or_default()))
    }
}

/// The fraction of a second, without its trailing zeros.
fn fraction(nanos: i64) -> String {
    match nanos {
        0 => String::new(),
        nanos => format!(".{nanos:09}").trim_end_matches('0').to_owned(),
    }
}

/// Seconds east of UTC for `Z`, `UTC`, `+02:00`, `-08:00`. Names of zones need tables that Leat does not carry.
pub(super) fn zone_offset(zone: &str) -> Option<i64> {
    if matches!(zone, "Z" | "z" | "UTC") {
        return Some(0);
    }
    let (sign, rest) = match zone.as_bytes().first()? {
        b'+' => (1, zone.get(1..)?),
        b'-' => (-1, zone.get(1..)?),
        b'0'..=b'9' => (1, zone),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':')?;
    let two = |text: &str| {
        (text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse::<i64>().ok())?
    };
    let (hours, minutes) = (two(hours)?, two(minutes)?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days since 1970 of a date of the proleptic Gregorian calendar; years begin in March, so that a leap day is the last.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}
