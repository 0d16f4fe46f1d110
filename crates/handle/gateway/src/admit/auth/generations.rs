use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash};

/// A bounded map that forgets what was not used for long: when the young half is full it becomes the old one, and the old
/// one is dropped. An entry that is found in the old half moves to the young one. Holds at most twice `half_max` entries and
/// twice `half_bytes_max` bytes; every operation is a look-up or two, and a hit in the young half allocates nothing. `S` hashes the keys: one
/// that nobody outside can compute, unless nobody outside can choose them.
pub(crate) struct Generations<K, V, S = RandomState> {
    young: HashMap<K, (V, usize), S>,
    old: HashMap<K, (V, usize), S>,
    /// Of all that was put into the young half, also what is gone from it again: too much is harmless.
    young_bytes: usize,
    half_max: usize,
    half_bytes_max: usize,
}

impl<K: Hash + Eq, V, S: BuildHasher + Default> Generations<K, V, S> {
    pub(crate) fn new(half_max: usize, half_bytes_max: usize) -> Self {
        Self { young: HashMap::default(), old: HashMap::default(), young_bytes: 0, half_max, half_bytes_max }
    }

    pub(crate) fn get(&mut self, key: &K) -> Option<&mut V> {
        if !self.old.is_empty()
            && let Some((held, (value, bytes))) = self.old.remove_entry(key)
        {
            self.put(held, value, bytes);
        }
        self.young.get_mut(key).map(|(value, _)| value)
    }

    /// Puts a value that takes this many bytes. One that is larger than a half is not kept.
    pub(crate) fn put(&mut self, key: K, value: V, bytes: usize) {
        if bytes > self.half_bytes_max || self.half_max == 0 {
            return;
        }
        if self.young.len() >= self.half_max || self.young_bytes + bytes > self.half_bytes_max {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        self.old.remove(&key);
        self.young.insert(key, (value, bytes));
        self.young_bytes += bytes;
    }

    pub(crate) fn remove(&mut self, key: &K) {
        self.young.remove(key);
        self.old.remove(key);
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.young.len() + self.old.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u8) -> [u8; 32] {
        [number; 32]
    }

    #[test]
    fn it_holds_no_more_than_two_halves_and_keeps_what_is_used() {
        let mut cache: Generations<_, _> = Generations::new(4, 1_000);
        for number in 0..100 {
            cache.put(key(number), number, 1);
            assert!(cache.len() <= 8);
            assert_eq!(cache.get(&key(0)).copied(), Some(0), "used at every turn, after {number}");
        }
        assert_eq!(cache.get(&key(50)), None);
        cache.remove(&key(0));
        assert_eq!(cache.get(&key(0)), None);
    }

    #[test]
    fn bytes_are_bounded_as_well() {
        let mut cache: Generations<_, _> = Generations::new(100, 64);
        (0..10).for_each(|number| cache.put(key(number), number, 32));
        assert_eq!(cache.len(), 4);
        let mut none: Generations<_, _> = Generations::new(100, 31);
        none.put(key(1), 1, 32);
        assert_eq!(none.len(), 0);
        let mut off: Generations<_, _> = Generations::new(0, 64);
        off.put(key(1), 1, 1);
        assert_eq!(off.len(), 0);
    }
}
