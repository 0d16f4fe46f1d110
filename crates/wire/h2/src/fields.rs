/// Names and values in one buffer, in order. Reused, it takes no memory.
#[derive(Clone, Debug, Default)]
pub struct FieldList {
    /// For each field the lengths of its name and value, four bytes each, and then both. The highest bit of the name's length
    /// says that it is a secret.
    bytes: Vec<u8>,
}

/// Marks the length of a secret's name.
const SECRET: u32 = 1 << 31;

impl FieldList {
    /// Appends a field; one of 2 GiB is cut off, which no limit lets through.
    #[inline]
    pub fn push(&mut self, name: &[u8], value: &[u8]) {
        self.put(0, name, value);
    }

    /// Appends a field that nobody on the way may keep in a table of HPACK.
    #[inline]
    pub fn push_secret(&mut self, name: &[u8], value: &[u8]) {
        self.put(SECRET, name, value);
    }

    #[inline]
    fn put(&mut self, mark: u32, name: &[u8], value: &[u8]) {
        self.bytes.reserve(8 + name.len() + value.len());
        let lens = u64::from(name.len() as u32 & !SECRET | mark) | u64::from(value.len() as u32) << 32;
        self.bytes.extend_from_slice(&lens.to_le_bytes());
        self.bytes.extend_from_slice(name);
        self.bytes.extend_from_slice(value);
    }

    /// Whether there is no field.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Takes all fields out; keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// The memory that it keeps, in bytes.
    pub fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Every name and value, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.iter_marked().map(|(name, value, _)| (name, value))
    }

    /// Every name and value, in order, and whether it is a secret.
    pub(crate) fn iter_marked(&self) -> impl Iterator<Item = (&[u8], &[u8], bool)> {
        let mut rest = &self.bytes[..];
        std::iter::from_fn(move || {
            let (lens, after) = rest.split_first_chunk::<8>()?;
            let lens = u64::from_le_bytes(*lens);
            let name_len = lens as u32;
            let (name, after) = after.split_at_checked((name_len & !SECRET) as usize)?;
            let (value, after) = after.split_at_checked((lens >> 32) as usize)?;
            rest = after;
            Some((name, value, name_len & SECRET != 0))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_out_as_they_went_in() {
        let mut list = FieldList::default();
        assert!(list.is_empty() && list.iter().next().is_none());
        let fields = [(&b"a"[..], &b"b"[..]), (b"", b"x"), (b"name", b"")];
        fields.iter().for_each(|(name, value)| list.push(name, value));
        assert!(list.iter().eq(fields));
        list.push_secret(b"secret", b"s");
        let marks: Vec<bool> = list.iter_marked().map(|(.., is_secret)| is_secret).collect();
        assert_eq!((marks, list.iter().last()), (vec![false, false, false, true], Some((&b"secret"[..], &b"s"[..]))));
        list.clear();
        assert!(list.is_empty() && list.capacity() > 0);
    }
}
