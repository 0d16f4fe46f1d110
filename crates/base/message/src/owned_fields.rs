use crate::{Field, Fields, Name, Span};

/// Field lines in memory of their own: a head's or trailers' that are kept, or made up. Its memory is used again after
/// [`OwnedFields::clear`]; an empty one takes nothing from the heap.
#[derive(Clone, Debug, Default)]
pub struct OwnedFields {
    bytes: Vec<u8>,
    list: Vec<Field>,
}

impl OwnedFields {
    /// Forgets all fields; keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.list.clear();
    }

    /// Appends a field line, copied.
    pub fn push(&mut self, id: Name, name: &[u8], value: &[u8]) {
        let (name, value) = (self.put(name), self.put(value));
        self.list.push(Field { id, name, value });
    }

    /// The fields, in the order in which they came.
    pub fn fields(&self) -> Fields<'_> {
        Fields::new(&self.bytes, &self.list)
    }

    fn put(&mut self, text: &[u8]) -> Span {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(text);
        Span::new(start, self.bytes.len())
    }
}

impl<'a> Extend<(Name, &'a [u8], &'a [u8])> for OwnedFields {
    fn extend<I: IntoIterator<Item = (Name, &'a [u8], &'a [u8])>>(&mut self, fields: I) {
        fields.into_iter().for_each(|(id, name, value)| self.push(id, name, value));
    }
}

impl<'a> FromIterator<(Name, &'a [u8], &'a [u8])> for OwnedFields {
    fn from_iter<I: IntoIterator<Item = (Name, &'a [u8], &'a [u8])>>(fields: I) -> Self {
        let mut owned = Self::default();
        owned.extend(fields);
        owned
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_back_as_they_were_pushed() {
        let mut owned = OwnedFields::default();
        for _ in 0..2 {
            assert!(owned.fields().is_empty());
            owned.push(Name::Host, b"Host", b"a");
            owned.push(Name::Other, b"x-empty", b"");
            let copy: OwnedFields = owned.fields().into_iter().collect();
            owned.clear();
            let all: Vec<_> = copy.fields().into_iter().collect();
            assert_eq!(all, [(Name::Host, &b"Host"[..], &b"a"[..]), (Name::Other, b"x-empty", b"")]);
        }
    }
}
