/// Metadata that Leat sends or that was taken over from a head: names in lower case, values as the application sees them.
/// The value of a name that ends in `-bin` is any bytes, which each protocol writes as Base64; other values are printable
/// ASCII. Kept in the order of arrival; names may repeat.
///
/// One buffer for all names and values: two allocations however many there are, none after [`Metadata::clear`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    bytes: Vec<u8>,
    /// Ends of each name and each value in `bytes`.
    ends: Vec<(u32, u32)>,
}

impl Metadata {
    /// Nothing. No allocation.
    pub const fn new() -> Self {
        Self { bytes: Vec::new(), ends: Vec::new() }
    }

    /// Appends one. The name is put into lower case.
    pub fn push(&mut self, name: &str, value: &[u8]) {
        self.bytes.extend(name.bytes().map(|byte| byte.to_ascii_lowercase()));
        let name_end = self.bytes.len() as u32;
        self.bytes.extend_from_slice(value);
        self.ends.push((name_end, self.bytes.len() as u32));
    }

    /// The first value of this name, which is given in lower case.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.values(name).next()
    }

    /// All values of this name, which is given in lower case.
    pub fn values<'m, 'n>(&'m self, name: &'n str) -> impl Iterator<Item = &'m [u8]> + use<'m, 'n> {
        self.parts().filter(move |(found, _)| *found == name.as_bytes()).map(|(_, value)| value)
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.parts().map(|(name, value)| (std::str::from_utf8(name).unwrap_or_default(), value))
    }

    #[inline]
    fn parts(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut start = 0;
        self.ends.iter().map(move |&(name_end, end)| {
            let part = |from: u32, to: u32| self.bytes.get(from as usize..to as usize).unwrap_or_default();
            (part(std::mem::replace(&mut start, end), name_end), part(name_end, end))
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Takes all of them out and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Whether values of this name are bytes, and travel as Base64 (gRPC over HTTP/2, "Binary-Header").
    pub fn is_binary(name: &str) -> bool {
        name.len() > 4 && name.as_bytes()[name.len() - 4..].eq_ignore_ascii_case(b"-bin")
    }
}

#[cfg(test)]
mod tests {
    use super::Metadata;

    #[test]
    fn what_is_pushed_comes_back_in_order() {
        let mut metadata = Metadata::new();
        metadata.push("X-A", b"1");
        metadata.push("x-bin", &[0, 255]);
        metadata.push("x-a", b"");
        let all: Vec<_> = metadata.iter().collect();
        assert_eq!(all, [("x-a", &b"1"[..]), ("x-bin", &[0, 255][..]), ("x-a", &b""[..])]);
        assert_eq!(metadata.get("x-a"), Some(&b"1"[..]));
        assert_eq!(metadata.get("x-b"), None);
        assert_eq!(metadata.values("x-a").collect::<Vec<_>>(), [&b"1"[..], b""]);
        metadata.clear();
        assert!(metadata.is_empty());
    }

    #[test]
    fn binary_names_end_in_bin_and_have_something_before_it() {
        for (name, binary) in [("x-bin", true), ("X-BIN", true), ("-bin", false), ("bin", false), ("x-bin-y", false)] {
            assert_eq!(Metadata::is_binary(name), binary, "{name}");
        }
    }
}
