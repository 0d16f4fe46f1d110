use std::rc::Rc;

use leat_message::decimal;
use leat_policy::limit::{Limit, Verdict};

use super::counted::Counted;
use crate::admit::admitted::LimitNotes;
use crate::config::{ROUTE_LIMITS_MAX, RateLimit, Route};

/// Names of fields.
const POLICY: &[u8] = b"ratelimit-policy";
const STATE: &[u8] = b"ratelimit";
/// The largest number of a structured field (RFC 9651 section 3.3.1).
const NUMBER_MAX: u64 = 999_999_999_999_999;

/// `RateLimit-Policy` with its value for the limits of a route, whoever counts them; empty where clients are told of none.
pub(crate) fn policies(route: &Route, limits: &[Rc<Counted>]) -> Rc<[u8]> {
    let named = route.rate_limits().iter().take(ROUTE_LIMITS_MAX).filter_map(|named| limits.get(named.limit()));
    let told: Vec<&str> = named.map(|limit| limit.policy.as_str()).filter(|policy| !policy.is_empty()).collect();
    if told.is_empty() { Rc::default() } else { [POLICY, told.join(", ").as_bytes()].concat().into() }
}

/// Notes what a client is told of the limit that decided: `RateLimit-Policy` and `RateLimit`, and `Retry-After` (RFC 9110
/// section 10.2.3) where it may come again. `policies` and the beginning of a limit's state were made ahead. Where a check before
/// told of another limit, the one stays that refuses or of which less remains.
#[inline]
pub(super) fn tell(policies: &[u8], limit: &Counted, verdict: &Verdict, notes: &mut LimitNotes<'_>) {
    // One that has no fields says nothing that another one would give way to.
    let remaining = if limit.policy.is_empty() { u64::MAX } else { verdict.remaining };
    if verdict.is_admitted() && !notes.is_news(remaining) {
        return;
    }
    let reply = notes.anew(remaining);
    if let Some(seconds) = verdict.retry_after_seconds() {
        reply.put(b"retry-after", |out| decimal(seconds.min(NUMBER_MAX), out));
    }
    if !policies.is_empty() {
        reply.put_begun(policies, POLICY.len(), |_| ());
    }
    if !limit.policy.is_empty() {
        reply.put_begun(&limit.state, STATE.len(), |out| write_state(verdict, out));
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

/// What a member of `RateLimit` begins with, and the field's name before it.
pub(super) fn state(name: &str) -> Box<[u8]> {
    [STATE, b"\"", name.as_bytes(), b"\";r="].concat().into()
}

/// Appends the rest of a member of `RateLimit`: `"name";r=9;t=1`
/// (draft-ietf-httpapi-ratelimit-headers-09 section 4). No allocation where there is room.
fn write_state(verdict: &Verdict, out: &mut Vec<u8>) {
    decimal(verdict.remaining.min(NUMBER_MAX), out);
    out.extend_from_slice(b";t=");
    decimal(verdict.reset_seconds().min(NUMBER_MAX), out);
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
    use leat_policy::limit::Decision;

    use super::*;

    #[test]
    fn numbers_are_those_of_structured_fields() {
        for (remaining, seconds, written) in [
            (0, 0, "0;t=0"),
            (9, 1_234_567_890, "9;t=1234567890"),
            (NUMBER_MAX, NUMBER_MAX + 1, "999999999999999;t=999999999999999"),
            (u64::MAX, u64::MAX, "999999999999999;t=999999999999999"),
        ] {
            let reset = std::time::Duration::from_secs(seconds);
            let mut out = Vec::new();
            write_state(&Verdict { decision: Decision::Admit, remaining, reset }, &mut out);
            assert_eq!(String::from_utf8_lossy(&out), written);
        }
    }
}
