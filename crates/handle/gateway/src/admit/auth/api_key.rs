use std::collections::HashMap;
use std::fmt;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{SHA256, digest};

/// Bytes of a key that are looked at; a longer one is none of ours.
const KEY_BYTES_MAX: usize = 512;

/// The API keys of a scheme, by the SHA-256 of each: what is stored opens nothing. One round of a fast hash is right for
/// them and would be wrong for passwords: a key is random and long, so there is nothing to guess.
#[derive(Default)]
pub(crate) struct ApiKeys {
    by_hash: HashMap<[u8; 32], Box<str>>,
}

impl ApiKeys {
    /// Adds a key under its owner's name; `false` where the same key stands there already.
    pub(crate) fn add(&mut self, hash: [u8; 32], owner: &str) -> bool {
        self.by_hash.insert(hash, owner.into()).is_none()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_hash.is_empty()
    }

    /// Whose key this is. One SHA-256. The time of the look-up says something of the hash at most, which nobody can choose
    /// without the key.
    pub(crate) fn owner(&self, key: &[u8]) -> Option<([u8; 32], &str)> {
        if key.is_empty() || key.len() > KEY_BYTES_MAX {
            return None;
        }
        let hash = sha256(key);
        let (held, owner) = self.by_hash.get_key_value(&hash)?;
        verify_slices_are_equal(held, &hash).is_ok().then_some((*held, owner))
    }
}

pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    digest(&SHA256, bytes).as_ref().try_into().unwrap_or_default()
}

/// A hash as 64 hexadecimal digits.
pub(crate) fn parse_hash(text: &str) -> Option<[u8; 32]> {
    let mut hash = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (byte, digits) in hash.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        let digit = |at: usize| digits.get(at).and_then(|&digit| (digit as char).to_digit(16));
        *byte = (digit(0)? << 4 | digit(1)?) as u8;
    }
    Some(hash)
}

impl fmt::Debug for ApiKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiKeys").field("count", &self.by_hash.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_known_by_its_hash_alone() {
        let mut keys = ApiKeys::default();
        // printf %s open-sesame | sha256sum
        let hash = parse_hash("d7ecdf25eaf3deba0f2628771dbdd22d4138ab6cf38f91ed02a2ca0dec7c8ab7");
        assert_eq!(hash, Some(sha256(b"open-sesame")));
        assert!(keys.add(sha256(b"open-sesame"), "ann"));
        assert!(!keys.add(sha256(b"open-sesame"), "bob"));
        for (key, owner) in [
            (&b"open-sesame"[..], Some("bob")),
            (b"open-sesam", None),
            (b"", None),
            (&[b'a'; KEY_BYTES_MAX + 1], None),
            (&sha256(b"open-sesame"), None),
        ] {
            assert_eq!(keys.owner(key).map(|(_, owner)| owner), owner);
        }
        assert!(!format!("{keys:?}").contains("bob"));
    }

    #[test]
    fn hashes_are_64_digits() {
        assert_eq!(parse_hash(&"0f".repeat(32)), Some([15; 32]));
        assert_eq!(parse_hash(&"0F".repeat(32)), Some([15; 32]));
        for wrong in ["", "0f", &"0g".repeat(32), &"0f".repeat(33), &"é".repeat(32)] {
            assert_eq!(parse_hash(wrong), None);
        }
    }
}
