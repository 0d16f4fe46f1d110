/// What stands behind the last whole word of `bytes`, filled up with zeros. No loop: two loads that may overlap.
#[inline]
pub(super) fn last_word(bytes: &[u8]) -> u64 {
    let count = bytes.len() % 8;
    if count == 0 {
        return 0;
    }
    if let Some(word) = bytes.last_chunk::<8>() {
        return u64::from_le_bytes(*word) >> (64 - 8 * count);
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        return u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << (8 * (count - 4));
    }
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_rest_of_every_length() {
        let bytes: Vec<u8> = (1..=40).collect();
        for length in 0..=bytes.len() {
            let all = &bytes[..length];
            let mut expected = [0; 8];
            let rest = all.chunks_exact(8).remainder();
            expected[..rest.len()].copy_from_slice(rest);
            assert_eq!(super::last_word(all), u64::from_le_bytes(expected), "{length}");
        }
    }
}
