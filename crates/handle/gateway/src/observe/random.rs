use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};

thread_local! {
    /// SplitMix64 state, seeded from the operating system's randomness (through the standard hasher's keys).
    static STATE: Cell<u64> = Cell::new(RandomState::new().hash_one(0u64));
}

/// Random bits for ids: unique, not secret. They name things in logs and are no credentials.
///
/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
pub(crate) fn random() -> u64 {
    STATE.with(|state| {
        let seed = state.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        state.set(seed);
        let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    })
}
