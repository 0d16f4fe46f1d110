use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use leat_message::{Exchange, Head, Reason};

use super::credential::{self, Credential};
use super::jwt::{JwtRules, KeySet, TokenCache};
use super::key_source::{KeySource, Patience};
use super::scheme::Found;

/// Bytes of tokens that a core remembers for a scheme.
const REMEMBERED_BYTES_MAX: usize = 8 << 20;

/// Where a scheme's keys come from.
pub(super) enum Keys {
    /// The configuration.
    Fixed(Arc<KeySet>),
    /// A URL.
    Fetched(Arc<KeySource>),
}

/// Asks for a JSON Web Token (Bearer, RFC 6750 section 2.1).
pub(super) struct BearerCheck {
    rules: JwtRules,
    keys: Keys,
    cache: RefCell<TokenCache>,
    /// Of the fetched keys that the cache last saw.
    seen: Cell<u64>,
    asks: Box<[u8]>,
    refuses: Box<[u8]>,
    forbids: Box<[u8]>,
}

impl BearerCheck {
    pub(super) fn new(rules: JwtRules, keys: Keys, remembered_max: usize, realm: &str) -> Self {
        Self {
            rules,
            keys,
            cache: RefCell::new(TokenCache::new(remembered_max, REMEMBERED_BYTES_MAX)),
            seen: Cell::new(0),
            asks: format!("Bearer realm=\"{realm}\"").into_bytes().into(),
            refuses: format!("Bearer realm=\"{realm}\", error=\"invalid_token\"").into_bytes().into(),
            forbids: format!("Bearer realm=\"{realm}\", error=\"insufficient_scope\"").into_bytes().into(),
        }
    }

    /// RFC 6750 section 3: no error code for a request that shows no token.
    pub(super) fn challenge(&self, refused: bool) -> &[u8] {
        if refused { &self.refuses } else { &self.asks }
    }

    /// What goes with a refusal of a token that is good and says too little (RFC 6750 section 3.1).
    pub(super) fn forbids(&self) -> &[u8] {
        &self.forbids
    }

    pub(super) fn ask(&self, head: Head<'_>) -> Found {
        let token = match credential::authorization(&head, "Bearer") {
            Credential::Absent => return Found::Absent,
            Credential::Repeated => return Found::Refused(Reason::AuthMalformed),
            Credential::Shown(token) => token,
        };
        match &self.keys {
            Keys::Fixed(keys) => self.judge(token, keys).unwrap_or_else(Found::Refused),
            Keys::Fetched(source) => match self.judge_fetched(token, source) {
                Err(Reason::AuthKeyUnknown | Reason::AuthKeysUnavailable) => Found::Wait,
                judged => judged.unwrap_or_else(Found::Refused),
            },
        }
    }

    /// Waits for newer keys, if they may be asked for.
    pub(super) async fn wait<X: Exchange>(&self, x: &mut X) -> Found {
        let Keys::Fetched(source) = &self.keys else { return Found::Refused(Reason::HandlerFailed) };
        let patience = source.wait().await;
        let request = x.request();
        let Credential::Shown(token) = credential::authorization(&request, "Bearer") else {
            return Found::Refused(Reason::AuthMalformed);
        };
        match (self.judge_fetched(token, source), patience) {
            (Ok(found), _) => found,
            (Err(reason), Patience::Asked | Patience::TooSoon) => Found::Refused(reason),
        }
    }

    /// By the keys of this moment. There are none before the first fetch, and none when the last good one is too long ago.
    fn judge_fetched(&self, token: &[u8], source: &KeySource) -> Result<Found, Reason> {
        let current = source.current();
        if current.keys.is_empty() {
            return Err(Reason::AuthKeysUnavailable);
        }
        if self.seen.replace(current.epoch) != current.epoch {
            self.cache.borrow_mut().keys_changed();
        }
        self.judge(token, &current.keys)
    }

    fn judge(&self, token: &[u8], keys: &KeySet) -> Result<Found, Reason> {
        let now_s = now_s();
        let mut cache = self.cache.borrow_mut();
        if let Some(known) = cache.find(token, keys, now_s) {
            return known.map(Found::Known);
        }
        let verified = self.rules.verify(token, keys, now_s)?;
        let identity = std::rc::Rc::clone(&verified.identity);
        cache.remember(token, verified);
        Ok(Found::Known(identity))
    }
}

/// The system's own clock: a core's coarse one would let a token in for a tick more than it says.
fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
