//! Hashes of names and fields.
//!
//! Not keyed: what collides costs bytes on the wire, never a search (see `sightings`).

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
/// Makes letters of both cases the same; what else it makes the same is told apart by comparing.
const LOWER: u64 = 0x2020_2020_2020_2020;

/// The hash of a name, the same for any case of its letters.
#[inline]
pub(super) const fn of_name(name: &[u8]) -> u64 {
    of(FACTOR, name, LOWER)
}

/// The hash of a field whose name's hash is `name`.
#[inline]
pub(super) const fn of_field(name: u64, value: &[u8]) -> u64 {
    of(name, value, 0)
}

#[inline]
const fn of(seed: u64, bytes: &[u8], also: u64) -> u64 {
    let mut hash = seed ^ bytes.len() as u64;
    let mut rest = bytes;
    while let Some((word, after)) = rest.split_first_chunk::<8>() {
        hash = mix(hash, u64::from_le_bytes(*word) | also);
        rest = after;
    }
    // The last bytes: some twice rather than one by one.
    let last = if let (Some(low), Some(high)) = (rest.first_chunk::<4>(), rest.last_chunk::<4>()) {
        u32::from_le_bytes(*low) as u64 | (u32::from_le_bytes(*high) as u64) << 32
    } else if let [first, .., last] = rest {
        *first as u64 | (rest[rest.len() / 2] as u64) << 8 | (*last as u64) << 16
    } else if let [only] = rest {
        *only as u64
    } else {
        return hash;
    };
    mix(hash, last | also)
}

#[inline]
const fn mix(hash: u64, word: u64) -> u64 {
    let product = (hash ^ word) as u128 * FACTOR as u128;
    (product as u64) ^ (product >> 64) as u64
}
