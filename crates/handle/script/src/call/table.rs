use std::task::Waker;

use crate::exchanges::Mail;

/// Bits of a call's number that say which place it has; the host counts in the others who had the place before.
const INDEX_BITS: u32 = 20;
const INDEX_MASK: u32 = (1 << INDEX_BITS) - 1;

/// The calls of a lane that are under way. Their numbers are the host's: it has the place again as soon as it has said, or was
/// told, that the call is over, and uses it with another generation.
#[derive(Default)]
pub(crate) struct Calls {
    places: Vec<Place>,
}

#[derive(Default)]
struct Place {
    id: Option<u32>,
    mail: Mail,
}

impl Calls {
    /// Opens a call under the host's number; says whether its place is free, which is so unless the host is wrong.
    pub(crate) fn open(&mut self, id: u32, credit: usize) -> bool {
        let index = (id & INDEX_MASK) as usize;
        if index >= self.places.len() {
            self.places.resize_with(index + 1, Place::default);
        }
        match self.places.get_mut(index) {
            Some(place) if place.id.is_none() => {
                place.id = Some(id);
                place.mail.credit = credit;
                true
            }
            _ => false,
        }
    }

    /// What was sent for a call; `None` once it is over.
    #[inline]
    pub(crate) fn mail(&mut self, id: u32) -> Option<&mut Mail> {
        self.place(id).map(|place| &mut place.mail)
    }

    /// Ends a call; gives who waits for its mail. What is still sent for it goes nowhere.
    pub(crate) fn close(&mut self, id: u32) -> Option<Waker> {
        let place = self.place(id)?;
        place.id = None;
        place.mail.items.clear();
        place.mail.waker.take()
    }

    /// Wakes every call that waits.
    pub(crate) fn wake_all(&mut self) {
        self.places.iter_mut().filter_map(|place| place.mail.waker.take()).for_each(Waker::wake);
    }

    fn place(&mut self, id: u32) -> Option<&mut Place> {
        self.places.get_mut((id & INDEX_MASK) as usize).filter(|place| place.id == Some(id))
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_over_is_nobodys_and_its_place_is_free() {
        let mut calls = Calls::default();
        let (first, second) = (7, 1 << INDEX_BITS | 7);
        assert!(calls.mail(first).is_none());
        assert!(calls.open(first, 1));
        assert!(!calls.open(second, 2), "the place is taken");
        assert!(calls.mail(second).is_none());
        assert_eq!(calls.mail(first).map(|mail| mail.credit), Some(1));
        calls.close(second);
        assert!(calls.mail(first).is_some());
        calls.close(first);
        assert!(calls.mail(first).is_none());
        assert!(calls.open(second, 2));
        assert_eq!(calls.mail(second).map(|mail| mail.credit), Some(2));
        assert!(calls.mail(first).is_none());
    }
}
