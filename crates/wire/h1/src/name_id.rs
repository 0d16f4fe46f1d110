use leat_message::Name;

/// Finds the id of a field name that starts at `start` and ends before `end`.
#[inline]
pub(crate) fn lookup(bytes: &[u8], start: usize, end: usize) -> Name {
    Name::from_bytes(bytes.get(start..end).unwrap_or_default())
}
