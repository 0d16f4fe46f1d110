use std::time::{Duration, SystemTime};

/// How long the value of a field `Retry-After` asks to wait, seen at `now` (the time of day): RFC 9110 section 10.2.3.
///
/// Takes seconds in digits (more than 2^64 - 1 count as that many) and the three forms of an HTTP date (section 5.6.7);
/// a date that has passed is a wait of zero. `None` for anything else: such a field counts as absent. White
/// space around it is ignored. No allocation.
#[must_use]
pub fn parse(value: &[u8], now: SystemTime) -> Option<Duration> {
    let value = value.trim_ascii();
    if !value.is_empty() && value.iter().all(u8::is_ascii_digit) {
        let digit = |sum: u64, byte: &u8| sum.saturating_mul(10).saturating_add(u64::from(byte - b'0'));
        return Some(Duration::from_secs(value.iter().fold(0, digit)));
    }
    let date = httpdate::parse_http_date(std::str::from_utf8(value).ok()?).ok()?;
    Some(date.duration_since(now).unwrap_or(Duration::ZERO))
}
