use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};

use crate::stream::{Handle, Key, Stream};

/// Empty places that a connection at rest keeps.
const PLACES_KEPT: usize = 16;
/// Memory that the buffers of empty places keep together, in bytes.
const KEPT_BYTES_MAX: usize = 64 * 1024;

/// The streams of a connection: places that are used again, and the way from a live stream's id to its place.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    places: Vec<Stream>,
    empty: Vec<u32>,
    /// Memory that the buffers of empty places keep.
    kept_bytes: usize,
    /// Streams that are not closed.
    live: HashMap<u32, u32, Scatter>,
}

/// Spreads ids, which a client chooses in rising order and of which few live at once: no attack is worth a keyed hash.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scatter(u64);

impl BuildHasher for Scatter {
    type Hasher = Self;

    fn build_hasher(&self) -> Self {
        Self(0)
    }
}

impl Hasher for Scatter {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(u32::from(byte)));
    }

    #[inline]
    fn write_u32(&mut self, id: u32) {
        self.0 = (self.0 ^ u64::from(id)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Streams {
    /// How many streams are open, or closed by one side only.
    pub(crate) fn live(&self) -> usize {
        self.live.len()
    }

    /// The live stream with this id.
    #[inline]
    pub(crate) fn find(&self, id: u32) -> Option<Key> {
        self.live.get(&id).map(|&index| Key { index, id })
    }

    #[inline]
    pub(crate) fn get(&self, key: Key) -> Option<&Stream> {
        self.places.get(key.index as usize).filter(|stream| stream.id == key.id)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, key: Key) -> Option<&mut Stream> {
        self.places.get_mut(key.index as usize).filter(|stream| stream.id == key.id)
    }

    /// Makes a place for a new stream.
    pub(crate) fn insert(&mut self, id: u32) -> Key {
        let index = self.empty.pop().unwrap_or_else(|| {
            self.places.push(Stream::default());
            (self.places.len() - 1) as u32
        });
        if let Some(stream) = self.places.get_mut(index as usize) {
            stream.id = id;
            self.kept_bytes -= std::mem::take(&mut stream.kept_bytes);
        }
        self.live.insert(id, index);
        Key { index, id }
    }

    /// The stream lives no more; its place stays until nobody looks at it.
    pub(crate) fn unlist(&mut self, id: u32) {
        self.live.remove(&id);
    }

    /// Empties the place of a stream that is closed and that nobody looks at.
    pub(crate) fn sweep(&mut self, key: Key) {
        let Some(stream) = self.get_mut(key) else { return };
        if stream.closed.is_none() || stream.handle != Handle::Released {
            return;
        }
        stream.clear();
        let bytes = stream.buffers_bytes();
        let room = KEPT_BYTES_MAX.saturating_sub(self.kept_bytes);
        if let Some(stream) = self.places.get_mut(key.index as usize) {
            match bytes <= room {
                true => stream.kept_bytes = bytes,
                false => *stream = Stream::default(),
            }
            self.kept_bytes += stream.kept_bytes;
        }
        self.empty.push(key.index);
        if self.empty.len() == self.places.len() && self.places.len() > PLACES_KEPT {
            let gone = self.places.drain(PLACES_KEPT..).map(|stream| stream.kept_bytes).sum::<usize>();
            self.kept_bytes -= gone;
            self.places.shrink_to_fit();
            self.empty.clear();
            self.empty.extend(0..PLACES_KEPT as u32);
        }
    }

    /// The keys of all live streams.
    pub(crate) fn keys(&self) -> Vec<Key> {
        self.live.iter().map(|(&id, &index)| Key { index, id }).collect()
    }

    /// Every live stream.
    pub(crate) fn each_live(&mut self) -> impl Iterator<Item = (Key, &mut Stream)> {
        self.places.iter_mut().enumerate().filter(|(_, stream)| stream.id != 0 && stream.closed.is_none()).map(
            |(index, stream)| {
                let key = Key { index: index as u32, id: stream.id };
                (key, stream)
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::closed::Cause;

    #[test]
    fn places_are_used_again_and_old_keys_find_nothing() {
        let mut streams = Streams::default();
        let first = streams.insert(1);
        let second = streams.insert(3);
        assert_eq!((streams.find(1), streams.find(3), streams.live()), (Some(first), Some(second), 2));
        streams.unlist(1);
        assert_eq!((streams.find(1), streams.live()), (None, 1));
        streams.sweep(first);
        assert!(streams.get(first).is_some(), "somebody still looks at it");
        let stream = streams.get_mut(first).unwrap();
        (stream.closed, stream.handle) = (Some(Cause::Ended), Handle::Released);
        streams.sweep(first);
        assert!(streams.get(first).is_none());
        let third = streams.insert(5);
        assert_eq!(third.index, first.index);
        assert!(streams.get(first).is_none() && streams.get(third).is_some());
    }

    #[test]
    fn a_connection_at_rest_keeps_few_places() {
        let mut streams = Streams::default();
        let keys: Vec<Key> = (0..100).map(|number| streams.insert(2 * number + 1)).collect();
        for key in keys {
            let stream = streams.get_mut(key).unwrap();
            (stream.closed, stream.handle) = (Some(Cause::Ended), Handle::Released);
            streams.unlist(key.id);
            streams.sweep(key);
        }
        assert_eq!((streams.places.len(), streams.empty.len(), streams.live()), (PLACES_KEPT, PLACES_KEPT, 0));
    }
}
