//! Points in time as text. Proleptic Gregorian calendar, UTC.

use std::fmt::Write as _;

const SECONDS_A_DAY: i64 = 86_400;
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];

/// A point in time, as protobuf's `Timestamp` has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WallTime {
    /// Whole seconds since 1970-01-01T00:00:00Z; before it below zero.
    pub seconds: i64,
    /// Nanoseconds after that, below 10⁹.
    pub nanos: u32,
}

/// Year, month from 1, and day from 1, of a number of days since 1970-01-01.
///
/// Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
fn civil(days: i64) -> (i64, u32, u32) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month as u32, day as u32)
}

/// Writes a point in time by a format of `strftime`'s letters. `None` for a letter that is none of [`LETTERS`].
pub(super) fn format(time: WallTime, format: &str) -> Option<String> {
    let days = time.seconds.div_euclid(SECONDS_A_DAY);
    let (year, month, day) = civil(days);
    let second_of_day = time.seconds.rem_euclid(SECONDS_A_DAY);
    let (hour, minute, second) = (second_of_day / 3600, second_of_day / 60 % 60, second_of_day % 60);
    let mut out = String::with_capacity(format.len() + 16);
    let mut letters = format.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            out.push(letter);
            continue;
        }
        let month_name = MONTHS.get(month as usize - 1).copied().unwrap_or_default();
        let day_name = DAYS.get(days.rem_euclid(7) as usize).copied().unwrap_or_default();
        let written = match letters.next()? {
            'Y' => write!(out, "{year:04}"),
            'm' => write!(out, "{month:02}"),
            'd' => write!(out, "{day:02}"),
            'H' => write!(out, "{hour:02}"),
            'M' => write!(out, "{minute:02}"),
            'S' => write!(out, "{second:02}"),
            'L' => write!(out, "{:03}", time.nanos / 1_000_000),
            'N' => write!(out, "{:09}", time.nanos),
            'F' => write!(out, "{year:04}-{month:02}-{day:02}"),
            'T' => write!(out, "{hour:02}:{minute:02}:{second:02}"),
            's' => write!(out, "{}", time.seconds),
            'B' => out.write_str(month_name),
            'b' => out.write_str(month_name.get(..3).unwrap_or_default()),
            'A' => out.write_str(day_name),
            'a' => out.write_str(day_name.get(..3).unwrap_or_default()),
            '%' => out.write_str("%"),
            _ => return None,
        };
        written.ok()?;
    }
    Some(out)
}

/// The letters that [`format`] knows, for messages.
pub(super) const LETTERS: &str = "`%Y %m %d %H %M %S %L %N %F %T %s %B %b %A %a %%`";

/// RFC 3339, with as many digits of the second (0, 3, 6 or 9) as it needs, as protobuf's JSON form has it.
pub(super) fn rfc3339(time: WallTime) -> String {
    let mut out = format(time, "%FT%T").unwrap_or_default();
    let written = match time.nanos {
        0 => Ok(()),
        nanos if nanos % 1_000_000 == 0 => write!(out, ".{:03}", nanos / 1_000_000),
        nanos if nanos % 1_000 == 0 => write!(out, ".{:06}", nanos / 1_000),
        nanos => write!(out, ".{nanos:09}"),
    };
    debug_assert!(written.is_ok());
    out.push('Z');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_by_their_format() {
        for (seconds, nanos, pattern, wanted) in [
            (0, 0, "%F %T", "1970-01-01 00:00:00"),
            (-1, 5_000_000, "%FT%T.%L", "1969-12-31T23:59:59.005"),
            (951_782_400, 0, "%a %d %b %Y", "Tue 29 Feb 2000"),
            (1_795_357_800, 7, "%A, %B %d, %N", "Sunday, November 22, 000000007"),
            (4_107_542_400, 0, "%F 100%%", "2100-03-01 100%"),
            (253_402_300_799, 0, "%F%s", "9999-12-31253402300799"),
        ] {
            assert_eq!(format(WallTime { seconds, nanos }, pattern).as_deref(), Some(wanted), "{pattern}");
        }
        assert_eq!(format(WallTime::default(), "%Q"), None);
        assert_eq!(format(WallTime::default(), "%"), None);
    }

    #[test]
    fn rfc_3339_has_the_digits_that_it_needs() {
        for (nanos, wanted) in [(0, "Z"), (250_000_000, ".250Z"), (1_000, ".000001Z"), (1, ".000000001Z")] {
            assert_eq!(rfc3339(WallTime { seconds: 0, nanos }), format!("1970-01-01T00:00:00{wanted}"));
        }
    }
}
