use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;

use leat_message::Reason;

use super::key::KeySet;
use crate::admit::auth::generations::Generations;
use crate::admit::auth::identity::Identity;

/// Bytes from a token's end that are hashed. They are its signature, which is as good as random.
const HASHED_BYTES: usize = 32;

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
    /// By a keyed hash of the token's end.
    tokens: Generations<u64, Held>,
    hasher: RandomState,
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
        Self { tokens, hasher: RandomState::new(), epoch: 0 }
    }

    /// What is known of this token: it was verified with a key that is still in use. Allocates nothing.
    ///
    /// # Errors
    /// `auth.expired` for one that no longer holds.
    pub(crate) fn find(&mut self, token: &[u8], keys: &KeySet, now_s: u64) -> Option<Result<Rc<Identity>, Reason>> {
        let hash = self.hash(token);
        let held = self.tokens.get(&hash).filter(|held| *held.token == *token)?;
        let is_current = held.epoch == self.epoch || keys.has(&held.remembered.key);
        if is_current && now_s >= held.remembered.not_before_s && now_s < held.remembered.expires_s {
            held.epoch = self.epoch;
            return Some(Ok(Rc::clone(&held.remembered.identity)));
        }
        let has_expired = now_s >= held.remembered.expires_s;
        self.tokens.remove(&hash);
        has_expired.then_some(Err(Reason::AuthExpired))
    }

    /// Remembers a verified token.
    pub(crate) fn remember(&mut self, token: &[u8], remembered: Remembered) {
        let held = Held { token: token.into(), remembered, epoch: self.epoch };
        self.tokens.put(self.hash(token), held, token.len());
    }

    /// The keys are others now: every token is held against them when it comes again.
    pub(crate) fn keys_changed(&mut self) {
        self.epoch += 1;
    }

    fn hash(&self, token: &[u8]) -> u64 {
        let end = token.last_chunk::<HASHED_BYTES>().map_or(token, |end| end.as_slice());
        self.hasher.hash_one(end)
    }
}
