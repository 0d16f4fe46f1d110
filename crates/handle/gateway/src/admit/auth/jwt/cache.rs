use std::hash::{Hash, Hasher};
use std::rc::Rc;

use leat_message::Reason;

use super::key::KeySet;
use crate::admit::auth::generations::Generations;
use crate::admit::auth::identity::Identity;
use crate::admit::hashed::Hashed;

/// Bytes from a token's end that it is found by.
const END_BYTES: usize = 32;
/// A factor that spreads a word's bits over all of its product.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// What is known of a token that was verified.
#[derive(Clone, Debug)]
pub(crate) struct Remembered {
    pub(crate) identity: Rc<Identity>,
    /// From when it holds, in seconds since 1970.
    pub(crate) not_before_s: u64,
    /// When it ends to hold.
    pub(crate) expires_s: u64,
    /// The key that it was verified with.
    pub(crate) key: [u8; 32],
}

/// The verified tokens of one core and scheme. Only what was verified is in it, so that nobody can fill it with garbage;
/// a hit compares the whole token. How long that takes says something only to who knows the end of its signature.
pub(crate) struct TokenCache {
    tokens: Generations<End, Held, Hashed>,
    /// Grows with each change of the keys.
    epoch: u64,
}

struct Held {
    token: Box<[u8]>,
    remembered: Remembered,
    /// Of the keys that it was last known to hold with.
    epoch: u64,
}

impl TokenCache {
    /// A cache of at most `tokens_max` tokens and `bytes_max` bytes of them.
    pub(crate) fn new(tokens_max: usize, bytes_max: usize) -> Self {
        let tokens = Generations::new(tokens_max.div_ceil(2), bytes_max / 2);
        Self { tokens, epoch: 0 }
    }

    /// What is known of this token: it was verified with a key that is still in use. Allocates nothing.
    ///
    /// # Errors
    /// `auth.expired` for one that no longer holds.
    pub(crate) fn find(&mut self, token: &[u8], keys: &KeySet, now_s: u64) -> Option<Result<Rc<Identity>, Reason>> {
        let end = End::of(token);
        let held = self.tokens.get(&end).filter(|held| *held.token == *token)?;
        let is_current = held.epoch == self.epoch || keys.has(&held.remembered.key);
        if is_current && now_s >= held.remembered.not_before_s && now_s < held.remembered.expires_s {
            held.epoch = self.epoch;
            return Some(Ok(Rc::clone(&held.remembered.identity)));
        }
        let has_expired = now_s >= held.remembered.expires_s;
        self.tokens.remove(&end);
        has_expired.then_some(Err(Reason::AuthExpired))
    }

    /// Remembers a verified token.
    pub(crate) fn remember(&mut self, token: &[u8], remembered: Remembered) {
        let held = Held { token: token.into(), remembered, epoch: self.epoch };
        self.tokens.put(End::of(token), held, token.len());
    }

    /// The keys are others now: every token is held against them when it comes again.
    pub(crate) fn keys_changed(&mut self) {
        self.epoch += 1;
    }
}

/// The end of a token: of its signature, which is as good as random to whoever has not the key. So nobody can choose what is remembered, and
/// its last characters are as good a hash as any, once the bits that they all have are spread.
#[derive(Clone, Copy, PartialEq, Eq)]
struct End([u8; END_BYTES]);

impl End {
    /// A token that is shorter stands at the beginning of it.
    fn of(token: &[u8]) -> Self {
        Self(token.last_chunk().copied().unwrap_or_else(|| {
            let mut end = [0; END_BYTES];
            end.iter_mut().zip(token).for_each(|(to, from)| *to = *from);
            end
        }))
    }
}

impl Hash for End {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let [.., a, b, c, d, e, f, g, h] = self.0;
        let wide = u128::from(u64::from_le_bytes([a, b, c, d, e, f, g, h])) * u128::from(SPREAD);
        state.write_u64(wide as u64 ^ (wide >> 64) as u64);
    }
}
