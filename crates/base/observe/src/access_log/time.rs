use super::pen::Pen;

/// Writes times, with what only changes with the second kept from the last one.
#[derive(Debug)]
pub(super) struct Clock {
    second: u64,
    /// `2026-01-02T03:04:05.`
    text: [u8; 20],
}

impl Default for Clock {
    fn default() -> Self {
        Self { second: 0, text: to_the_second(0) }
    }
}

impl Clock {
    /// Appends milliseconds since 1970 as RFC 3339 in UTC with milliseconds, such as `2026-01-02T03:04:05.678Z`.
    #[inline]
    pub(super) fn write(&mut self, time_ms: u64, out: &mut Pen<'_>) {
        let (second, ms) = (time_ms / 1_000, time_ms % 1_000);
        if second != self.second {
            (self.second, self.text) = (second, to_the_second(second));
        }
        out.fixed(&self.text);
        let [hundreds, tens, ones] = [ms / 100, ms / 10, ms].map(digit);
        out.fixed(&[hundreds, tens, ones, b'Z']);
    }
}

/// Days to date: Howard Hinnant, "chrono-compatible date algorithms".
#[cold]
fn to_the_second(second: u64) -> [u8; 20] {
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

    let ([y3, y2], [y1, y0]) = (two(year / 100), two(year));
    let ([m1, m0], [d1, d0]) = (two(month), two(day));
    let ([h1, h0], [i1, i0], [s1, s0]) = (two(of_day / 3_600), two(of_day / 60 % 60), two(of_day % 60));
    [y3, y2, y1, y0, b'-', m1, m0, b'-', d1, d0, b'T', h1, h0, b':', i1, i0, b':', s1, s0, b'.']
}

/// The last two digits.
fn two(number: u64) -> [u8; 2] {
    [number / 10, number].map(digit)
}

/// The last digit.
#[inline]
fn digit(number: u64) -> u8 {
    b'0' + (number % 10) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rfc_3339_with_milliseconds() {
        let mut clock = Clock::default();
        for (ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (784_111_777_042, "1994-11-06T08:49:37.042Z"),
            (784_111_777_999, "1994-11-06T08:49:37.999Z"),
            (784_111_778_000, "1994-11-06T08:49:38.000Z"),
            (951_782_400_999, "2000-02-29T00:00:00.999Z"),
            (4_102_444_799_001, "2099-12-31T23:59:59.001Z"),
            (0, "1970-01-01T00:00:00.000Z"),
        ] {
            let mut out = [0; 24];
            clock.write(ms, &mut Pen::new(&mut out));
            assert_eq!(String::from_utf8_lossy(&out), text);
        }
    }
}
