//! Hashes of names and fields, and names in lower case.
//!
//! A hash looks at the ends and the middle of a long text, not at all of it: whoever has found something by it compares.
//! It is not keyed either: what collides costs bytes on the wire, never a search (see `sightings`).

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
    let seed = seed.wrapping_add((bytes.len() as u64).wrapping_mul(FACTOR));
    let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) else {
        return mix(seed, tail(bytes) | also);
    };
    let hash = mix(seed, u64::from_le_bytes(*first) | also);
    let hash = mix(hash, u64::from_le_bytes(*last) | also);
    if bytes.len() <= 16 {
        return hash;
    }
    match bytes.split_at((bytes.len() - 8) / 2).1.first_chunk::<8>() {
        Some(middle) => mix(hash, u64::from_le_bytes(*middle) | also),
        None => hash,
    }
}

#[inline]
const fn mix(hash: u64, word: u64) -> u64 {
    let product = (hash ^ word) as u128 * FACTOR as u128;
    (product as u64) ^ (product >> 64) as u64
}

/// Whether `name` is `lower` once its letters are in lower case, as those of `lower` are.
#[inline]
pub(super) fn is_lower_of(mut lower: &[u8], mut name: &[u8]) -> bool {
    if lower.len() != name.len() {
        return false;
    }
    // It mostly is in lower case already.
    if lower == name {
        return true;
    }
    while let (Some((left, lower_rest)), Some((right, rest))) =
        (lower.split_first_chunk::<8>(), name.split_first_chunk::<8>())
    {
        if u64::from_le_bytes(*left) != in_lower_case(u64::from_le_bytes(*right)) {
            return false;
        }
        (lower, name) = (lower_rest, rest);
    }
    tail(lower) == in_lower_case(tail(name))
}

/// Up to seven bytes as one word, in which each of them stands; some stand there twice.
#[inline]
const fn tail(rest: &[u8]) -> u64 {
    if let (Some(low), Some(high)) = (rest.first_chunk::<4>(), rest.last_chunk::<4>()) {
        return u32::from_le_bytes(*low) as u64 | (u32::from_le_bytes(*high) as u64) << 32;
    }
    match rest {
        [a, b, c] => *a as u64 | (*b as u64) << 8 | (*c as u64) << 16,
        [a, b] => *a as u64 | (*b as u64) << 8,
        [a] => *a as u64,
        _ => 0,
    }
}

/// Eight bytes at once: what is in `A` to `Z` gets the bit that makes it lower case.
#[inline]
const fn in_lower_case(word: u64) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    const TOP: u64 = 0x80 * EACH;
    let low = word & !TOP;
    // The top bit of each byte: at least 'A', and beyond 'Z'. Sums of seven bits each do not carry into the next byte.
    let from_a = low + (0x80 - b'A' as u64) * EACH;
    let beyond_z = low + (0x7f - b'Z' as u64) * EACH;
    let upper = (from_a ^ beyond_z) & !word & TOP;
    word | upper >> 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lower_case_is_that_of_ascii_in_every_place_and_length() {
        for byte in 0..=255 {
            for len in 1..20_usize {
                for at in 0..len {
                    let mut name = vec![b'Q'; len];
                    name[at] = byte;
                    let lower = name.to_ascii_lowercase();
                    assert!(is_lower_of(&lower, &name));
                    assert_eq!(of_name(&lower), of_name(&name));
                    let mut other = lower.clone();
                    for bit in 0..8 {
                        other[at] = lower[at] ^ 1 << bit;
                        if other[at].is_ascii_uppercase() {
                            continue;
                        }
                        assert!(!is_lower_of(&other, &name), "{byte} is not {}", other[at]);
                    }
                    assert!(!is_lower_of(&lower[1..], &name));
                }
            }
        }
    }
}
