use super::scan::{Single, wire_type};
use super::{Malformed, Parts, Value};
use crate::types::Types;
use crate::wire::{Reader, WireType};

/// A list that was read: its elements are found while it is iterated. No allocation.
#[derive(Clone, Debug)]
pub struct List<'a> {
    types: &'a Types,
    single: &'a Single,
    parts: Parts<'a>,
}

impl<'a> List<'a> {
    pub(super) fn new(types: &'a Types, single: &'a Single, parts: Parts<'a>) -> Self {
        Self { types, single, parts }
    }

    /// The elements in their order. Nothing comes behind an error.
    pub fn iter(&self) -> impl Iterator<Item = Result<Value<'a>, Malformed>> + '_ {
        let (mut at, mut failed) = (0, false);
        let mut reader = Reader::new(&[]);
        let mut packed = Reader::new(&[]);
        std::iter::from_fn(move || {
            while !failed {
                if packed.is_empty() && reader.is_empty() {
                    reader = Reader::new(self.parts.part(at)?);
                    at += 1;
                    continue;
                }
                match self.next(&mut reader, &mut packed) {
                    Ok(Some(value)) => return Some(Ok(value)),
                    Ok(None) => {}
                    Err(error) => {
                        failed = true;
                        return Some(Err(error));
                    }
                }
            }
            None
        })
    }

    /// How many elements there are. The time is that of reading all of them.
    pub fn len(&self) -> Result<usize, Malformed> {
        self.iter().try_fold(0, |count, value| value.map(|_| count + 1))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> Result<bool, Malformed> {
        Ok(self.iter().next().transpose()?.is_none())
    }

    /// The next element, or `None` if what stood here is none.
    fn next(&self, reader: &mut Reader<'a>, packed: &mut Reader<'a>) -> Result<Option<Value<'a>>, Malformed> {
        if !packed.is_empty() {
            return self.single.scalar(self.types, packed);
        }
        let tag = reader.tag().ok_or(Malformed)?;
        if tag.number != self.single.number {
            return reader.skip(tag).map(|()| None).ok_or(Malformed);
        }
        if tag.wire == WireType::Length && self.single.kind.is_packable() && wire_type(self.single.kind) != tag.wire {
            *packed = Reader::new(reader.length_delimited().ok_or(Malformed)?);
            return Ok(None);
        }
        self.single.value(self.types, tag, reader)
    }
}
