use std::rc::Rc;

use leat_message::Reason;

use super::key::KeySet;
use crate::admit::auth::generations::Generations;
use crate::admit::auth::identity::Identity;

/// Bytes from a token's end that it is found by. They are of its signature, which is as good as random.
const END_BYTES: usize = 32;

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
    /// By the token's end.
    tokens: Generations<[u8; END_BYTES], Held>,
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
        let end = end_of(token);
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
        self.tokens.put(end_of(token), held, token.len());
    }

    /// The keys are others now: every token is held against them when it comes again.
    pub(crate) fn keys_changed(&mut self) {
        self.epoch += 1;
    }
}

/// A token that is shorter than its end stands at the beginning of it.
fn end_of(token: &[u8]) -> [u8; END_BYTES] {
    token.last_chunk().copied().unwrap_or_else(|| {
        let mut end = [0; END_BYTES];
        end.iter_mut().zip(token).for_each(|(to, from)| *to = *from);
        end
    })
}
