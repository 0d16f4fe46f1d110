use leat_message::Fields;
use leat_observe::trace_context::hex;

use crate::observe::random;

/// The longest id that is taken over from a trusted proxy, in bytes: what the access log has room for.
const ACCEPTED_BYTES_MAX: usize = 64;

/// A fresh request id: 32 hexadecimal digits. Unique, not secret: it names a request in logs and is no credential.
pub(super) fn request_id() -> [u8; 32] {
    let mut id = [0; 32];
    let (first, second) = id.split_at_mut(16);
    first.copy_from_slice(&hex(random()));
    second.copy_from_slice(&hex(random()));
    id
}

/// The id that a request brings in this field, where there is one that can be taken over: one field of 1 to 64 visible
/// characters. Anything else could not be found again in a log, or would mean two requests at once.
pub(crate) fn accepted_id<'a>(fields: Fields<'a>, field: &[u8]) -> Option<&'a [u8]> {
    let value = fields.get_named(field)?;
    let is_plain = value.iter().all(|byte| matches!(byte, b'!'..=b'~'));
    if value.is_empty() || value.len() > ACCEPTED_BYTES_MAX || !is_plain {
        return None;
    }
    let same = fields.iter().filter(|(_, name, _)| name.eq_ignore_ascii_case(field));
    (same.count() == 1).then_some(value)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use leat_message::{Field, Fields, Name, Span};

    use super::{accepted_id, request_id};

    #[test]
    fn ids_do_not_repeat() {
        let ids: HashSet<_> = (0..10_000).map(|_| request_id()).collect();
        assert_eq!(ids.len(), 10_000);
        assert!(ids.iter().flatten().all(u8::is_ascii_hexdigit));
    }

    #[test]
    fn an_id_is_taken_over_where_it_is_one_plain_word() {
        let long = "x".repeat(64);
        let longer = "x".repeat(65);
        for (values, taken) in [
            (vec!["abc-1"], Some("abc-1")),
            (vec![&*long], Some(&*long)),
            (vec![&*longer], None),
            (vec![""], None),
            (vec!["two words"], None),
            (vec!["tab\tbed"], None),
            (vec!["caf\u{e9}"], None),
            (vec!["a", "a"], None),
            (vec![], None),
        ] {
            let (mut bytes, mut list) = (b"X-Request-Id".to_vec(), Vec::new());
            let name = Span::new(0, bytes.len());
            for value in &values {
                let start = bytes.len();
                bytes.extend_from_slice(value.as_bytes());
                list.push(Field { id: Name::XRequestId, name, value: Span::new(start, bytes.len()) });
            }
            let found = accepted_id(Fields::new(&bytes, &list), b"x-request-id");
            assert_eq!(found, taken.map(str::as_bytes), "{values:?}");
        }
    }
}
