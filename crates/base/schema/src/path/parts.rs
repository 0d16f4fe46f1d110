/// The bytes of a message whose field may stand several times, in parts that a parser would merge. Nearly always one.
#[derive(Clone, Debug, Default)]
pub struct Parts<'a> {
    first: Option<&'a [u8]>,
    more: Vec<&'a [u8]>,
}

impl<'a> Parts<'a> {
    /// A message that is not there.
    pub fn none() -> Self {
        Self::default()
    }

    /// A whole message.
    pub fn one(bytes: &'a [u8]) -> Self {
        Self { first: Some(bytes), more: Vec::new() }
    }

    /// The parts in their order. One behind the other they are the merged message.
    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> + '_ {
        self.first.into_iter().chain(self.more.iter().copied())
    }

    /// The part number `at`.
    pub(super) fn part(&self, at: usize) -> Option<&'a [u8]> {
        match at.checked_sub(1) {
            None => self.first,
            Some(at) => self.more.get(at).copied(),
        }
    }

    /// The message as one slice. `None` if it is in several parts: join [`Parts::iter`].
    pub fn whole(&self) -> Option<&'a [u8]> {
        if self.more.is_empty() { Some(self.first.unwrap_or_default()) } else { None }
    }

    /// The message as bytes of its own, joined.
    pub fn to_vec(&self) -> Vec<u8> {
        self.iter().flatten().copied().collect()
    }

    pub(super) fn push(&mut self, bytes: &'a [u8]) {
        match self.first {
            None => self.first = Some(bytes),
            Some(_) => self.more.push(bytes),
        }
    }
}
