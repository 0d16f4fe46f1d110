use crate::random::mix;

/// The hash of a key (a header, a cookie, an address) or of an endpoint's name, for [`super::Ring`] and [`super::Maglev`].
///
/// FNV-1a of 64 bits (draft-eastlake-fnv) and then the finaliser of SplitMix64, since the high bits of FNV hardly depend on
/// the last bytes. The same on every machine and in every version: who is sent where depends on it. No defence against
/// keys that are made to collide; whoever makes those could as well repeat one key. About a nanosecond a byte.
#[must_use]
pub fn hash(key: &[u8]) -> u64 {
    mix(fnv1a(key))
}

pub(super) fn fnv1a(key: &[u8]) -> u64 {
    key.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}
