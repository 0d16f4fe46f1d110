use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use leat_message::{Head, Reason};

use super::api_key::ApiKeys;
use super::credential::{self, Credential};
use super::generations::Generations;
use super::identity::Identity;
use super::scheme::Found;

/// Owners of keys that a core remembers as they are told to upstreams.
const REMEMBERED_MAX: usize = 4_096;

/// Asks for an API key.
pub(super) struct ApiKeyCheck {
    keys: Arc<ApiKeys>,
    header: Box<str>,
    /// The field that tells the upstream whose key it is.
    owner_field: Option<Rc<str>>,
    challenge: Box<[u8]>,
    identities: RefCell<Generations<[u8; 32], Rc<Identity>>>,
}

impl ApiKeyCheck {
    pub(super) fn new(keys: Arc<ApiKeys>, header: &str, owner_field: Option<&str>, realm: &str) -> Self {
        Self {
            keys,
            header: header.into(),
            owner_field: owner_field.map(Rc::from),
            challenge: format!("ApiKey realm=\"{realm}\", header=\"{header}\"").into_bytes().into(),
            identities: RefCell::new(Generations::new(REMEMBERED_MAX / 2, usize::MAX)),
        }
    }

    pub(super) fn ask(&self, head: Head<'_>) -> Found {
        let key = match credential::field(&head, &self.header) {
            Credential::Absent => return Found::Absent,
            Credential::Repeated => return Found::Refused(Reason::AuthMalformed),
            Credential::Shown(key) => key,
        };
        let Some((hash, owner)) = self.keys.owner(key) else { return Found::Refused(Reason::AuthCredentials) };
        let mut identities = self.identities.borrow_mut();
        if let Some(identity) = identities.get(&hash) {
            return Found::Known(Rc::clone(identity));
        }
        let mut identity = Identity::new(owner);
        if let Some(field) = &self.owner_field {
            identity.tell(field, owner.as_bytes());
        }
        let identity = Rc::new(identity);
        identities.put(hash, Rc::clone(&identity), 1);
        Found::Known(identity)
    }

    pub(super) fn challenge(&self) -> &[u8] {
        &self.challenge
    }
}
