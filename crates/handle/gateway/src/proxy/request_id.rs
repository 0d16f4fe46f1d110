use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};

thread_local! {
    /// SplitMix64 state, seeded from the operating system's randomness (through the standard hasher's keys).
    static STATE: Cell<u64> = Cell::new(RandomState::new().hash_one(0u64));
}

/// A fresh request id: 32 hexadecimal digits. Unique, not secret: it names a request in logs and is no credential.
pub(super) fn request_id() -> [u8; 32] {
    let bits = (u128::from(next()) << 64) | u128::from(next());
    let mut id = [0; 32];
    for (index, digit) in id.iter_mut().enumerate() {
        let nibble = (bits >> (124 - 4 * index)) as u8 & 0xf;
        *digit = if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 };
    }
    id
}

/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
fn next() -> u64 {
    STATE.with(|state| {
        let seed = state.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        state.set(seed);
        let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::request_id;

    #[test]
    fn ids_do_not_repeat() {
        let ids: HashSet<_> = (0..10_000).map(|_| request_id()).collect();
        assert_eq!(ids.len(), 10_000);
        assert!(ids.iter().flatten().all(u8::is_ascii_hexdigit));
    }
}
