/// Bits of an id that say which place it has; the others count those that had the place before.
const INDEX_BITS: u32 = 20;
const INDEX_MASK: u32 = (1 << INDEX_BITS) - 1;
/// An id stays below 2^31: JavaScript has it as a small integer then, and nothing that converts it makes it negative.
const GENERATION_MASK: u32 = i32::MAX as u32 >> INDEX_BITS;

/// Ids for things that come and go: a number that comes late, for what is gone already, hits nobody else.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    places: Vec<Place>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Place {
    generation: u32,
    taken: bool,
}

impl Ids {
    /// A new id, and the index of its place; `None` where a million are taken.
    pub(crate) fn take(&mut self) -> Option<(u32, usize)> {
        let index = match self.free.pop() {
            Some(index) => index,
            None => {
                let index = u32::try_from(self.places.len()).ok().filter(|index| *index <= INDEX_MASK)?;
                self.places.push(Place { generation: 0, taken: false });
                index
            }
        };
        let place = self.places.get_mut(index as usize)?;
        place.taken = true;
        Some((place.generation << INDEX_BITS | index, index as usize))
    }

    /// The index of an id that is taken.
    #[inline]
    pub(crate) fn index(&self, id: u32) -> Option<usize> {
        let index = (id & INDEX_MASK) as usize;
        let place = self.places.get(index)?;
        (place.taken && place.generation == id >> INDEX_BITS).then_some(index)
    }

    /// Frees an id; gives its index.
    pub(crate) fn free(&mut self, id: u32) -> Option<usize> {
        let index = self.index(id)?;
        let place = self.places.get_mut(index)?;
        place.taken = false;
        place.generation = (place.generation + 1) & GENERATION_MASK;
        self.free.push(index as u32);
        Some(index)
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_was_freed_is_nobodys() {
        let mut ids = Ids::default();
        let (first, index) = ids.take().unwrap();
        assert_eq!(ids.index(first), Some(index));
        assert_eq!(ids.free(first), Some(index));
        assert_eq!(ids.free(first), None);
        let (second, again) = ids.take().unwrap();
        assert_eq!(index, again);
        assert_ne!(first, second);
        assert_eq!(ids.index(first), None);
        assert_eq!(ids.index(second), Some(index));
    }

    #[test]
    fn an_id_is_a_small_integer_however_often_its_place_was_taken() {
        let mut ids = Ids::default();
        for _ in 0..=u32::MAX >> INDEX_BITS {
            let (id, _) = ids.take().unwrap();
            assert!(i32::try_from(id).is_ok());
            assert!(ids.free(id).is_some());
        }
    }
}
