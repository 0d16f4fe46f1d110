/// Appends milliseconds since 1970 as RFC 3339 in UTC with milliseconds, such as `2026-01-02T03:04:05.678Z` (days to
/// date: Howard Hinnant, "chrono-compatible date algorithms").
pub(super) fn write(time_ms: u64, out: &mut Vec<u8>) {
    let (second, ms) = (time_ms / 1_000, time_ms % 1_000);
    let (days, of_day) = (second / 86_400, second % 86_400);
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let of_era = shifted % 146_097;
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);

    digits(year, 1_000, out);
    for (before, number) in
        [(b'-', month), (b'-', day), (b'T', of_day / 3_600), (b':', of_day / 60 % 60), (b':', of_day % 60)]
    {
        out.push(before);
        digits(number, 10, out);
    }
    out.push(b'.');
    digits(ms, 100, out);
    out.push(b'Z');
}

/// Appends as many digits as `unit` has.
fn digits(number: u64, mut unit: u64, out: &mut Vec<u8>) {
    while unit > 0 {
        out.push(b'0' + (number / unit % 10) as u8);
        unit /= 10;
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn times_are_rfc_3339_with_milliseconds() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (784_111_777_042, "1994-11-06T08:49:37.042Z"),
            (951_782_400_999, "2000-02-29T00:00:00.999Z"),
            (4_102_444_799_001, "2099-12-31T23:59:59.001Z"),
        ] {
            let mut out = Vec::new();
            super::write(ms, &mut out);
            assert_eq!(String::from_utf8_lossy(&out), text);
        }
    }
}
