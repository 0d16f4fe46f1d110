/// Members of a list that may come (section 3.3.1.1); one more and the whole is dropped.
pub const TRACESTATE_MEMBERS_MAX: usize = 32;
/// The longest list that is passed on, in bytes. At least 512 should be (section 3.3.1.5).
pub const TRACESTATE_BYTES_MAX: usize = 4_096;

const KEY_BYTES_MAX: usize = 256;
const TENANT_BYTES_MAX: usize = 241;
const SYSTEM_BYTES_MAX: usize = 14;
const VALUE_BYTES_MAX: usize = 256;

/// Whether these field values together are a list that may be passed on as it is. A list that is malformed or too long is
/// dropped as a whole, and the trace goes on without it. Keys that come twice stay: whoever put them there is to sort that out,
/// and we add none (W3C's own tests want them inherited).
pub fn is_tracestate<'a>(values: impl Iterator<Item = &'a [u8]>) -> bool {
    let (mut members, mut bytes) = (0, 0);
    for value in values {
        bytes += value.len();
        for member in value.split(|&byte| byte == b',') {
            let member = trim(member);
            // Empty ones are allowed, and count for nothing.
            if member.is_empty() {
                continue;
            }
            members += 1;
            if !is_member(member) {
                return false;
            }
        }
        if members > TRACESTATE_MEMBERS_MAX || bytes > TRACESTATE_BYTES_MAX {
            return false;
        }
    }
    members > 0
}

fn trim(member: &[u8]) -> &[u8] {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t');
    let start = member.iter().position(|byte| !is_space(byte)).unwrap_or(member.len());
    let end = member.iter().rposition(|byte| !is_space(byte)).map_or(start, |last| last + 1);
    member.get(start..end).unwrap_or_default()
}

fn is_member(member: &[u8]) -> bool {
    let Some(equals) = member.iter().position(|&byte| byte == b'=') else { return false };
    let (key, [_, value @ ..]) = member.split_at(equals) else { return false };
    is_key(key) && is_value(value)
}

/// A name, or a tenant's name at a system's.
fn is_key(key: &[u8]) -> bool {
    let is_name = |name: &[u8], first: fn(u8) -> bool, max: usize| {
        name.len() <= max
            && name.first().is_some_and(|&byte| first(byte))
            && name.iter().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'*' | b'/'))
    };
    let letter = |byte: u8| byte.is_ascii_lowercase();
    match key.iter().position(|&byte| byte == b'@') {
        None => is_name(key, letter, KEY_BYTES_MAX),
        Some(at) => {
            let (tenant, system) = (key.get(..at).unwrap_or_default(), key.get(at + 1..).unwrap_or_default());
            is_name(tenant, |byte| byte.is_ascii_lowercase() || byte.is_ascii_digit(), TENANT_BYTES_MAX)
                && is_name(system, letter, SYSTEM_BYTES_MAX)
        }
    }
}

/// Printable ASCII without `,` and `=`; not empty. Spaces at its end were trimmed.
fn is_value(value: &[u8]) -> bool {
    (1..=VALUE_BYTES_MAX).contains(&value.len())
        && value.iter().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b',' | b'='))
}
