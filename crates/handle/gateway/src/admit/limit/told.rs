use leat_policy::limit::{Limit, Verdict};

use super::counted::Counted;
use crate::admit::admitted::FieldLines;
use crate::config::RateLimit;

/// The largest number of a structured field (RFC 9651 section 3.3.1).
const NUMBER_MAX: u64 = 999_999_999_999_999;

/// The value of `RateLimit-Policy` for these limits; empty where clients are told of none.
pub(super) fn policies<'a>(limits: impl Iterator<Item = &'a Counted>) -> Box<[u8]> {
    let told: Vec<&str> = limits.map(|limit| limit.policy.as_str()).filter(|policy| !policy.is_empty()).collect();
    told.join(", ").into_bytes().into()
}

/// Notes what a client is told of the limit that decided: `RateLimit-Policy` and `RateLimit`, and `Retry-After` (RFC 9110
/// section 10.2.3) where it may come again.
pub(super) fn tell(policies: &[u8], limit: &Counted, verdict: &Verdict, reply: &mut FieldLines) {
    if let Some(seconds) = verdict.retry_after_seconds() {
        reply.put(b"retry-after", |out| write_number(seconds, out));
    }
    if !policies.is_empty() {
        reply.put(b"ratelimit-policy", |out| out.extend_from_slice(policies));
    }
    if !limit.policy.is_empty() {
        reply.put(b"ratelimit", |out| write_state(&limit.name, verdict, out));
    }
}

/// The limit of which less remains; the one that was found before where it is the same.
pub(super) fn tighter<'a>(
    found: Option<(&'a Counted, Verdict)>,
    limit: &'a Counted,
    verdict: Verdict,
) -> Option<(&'a Counted, Verdict)> {
    match found {
        Some((_, least)) if least.remaining <= verdict.remaining => found,
        _ => Some((limit, verdict)),
    }
}

/// Appends one member of `RateLimit`: `"name";r=9;t=1`
/// (draft-ietf-httpapi-ratelimit-headers-09 section 4). No allocation where there is room.
fn write_state(name: &str, verdict: &Verdict, out: &mut Vec<u8>) {
    out.push(b'"');
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\";r=");
    write_number(verdict.remaining, out);
    out.extend_from_slice(b";t=");
    write_number(verdict.reset_seconds(), out);
}

/// Appends decimal digits. By hand: this is on the path of every request, and the formatter's machinery is not cheap.
fn write_number(number: u64, out: &mut Vec<u8>) {
    let mut number = number.min(NUMBER_MAX);
    let mut digits = [b'0'; 15];
    let mut first = digits.len();
    for (place, digit) in digits.iter_mut().enumerate().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
        first = place;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(digits.get(first..).unwrap_or_default());
}

/// One member of `RateLimit-Policy`: `"name";q=100;w=60` (section 3 of the same draft). The window is in whole seconds
/// there; one of another length is left out, since it is optional.
pub(super) fn policy(limit: &RateLimit) -> String {
    let (quota, window) = match limit.law() {
        Limit::Gcra(law) => (law.quota(), law.per()),
        Limit::SlidingWindow(law) => (law.limit(), law.window()),
    };
    let mut text = format!("\"{}\";q={quota}", limit.name());
    if window.subsec_nanos() == 0 {
        text.push_str(&format!(";w={}", window.as_secs()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_structured_fields() {
        for number in [0, 9, 10, 1_234_567_890, NUMBER_MAX, NUMBER_MAX + 1, u64::MAX] {
            let mut out = Vec::new();
            write_number(number, &mut out);
            assert_eq!(out, number.min(NUMBER_MAX).to_string().as_bytes());
        }
    }
}
