use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use aws_lc_rs::hmac;
use aws_lc_rs::rand;
use tokio::sync::Notify;

use super::key_source::KeySource;
use super::password_desk::PasswordDesk;
use crate::config::JwksUrl;

/// What of authentication belongs to the process and outlives a configuration: fetched keys, by where they come from, and
/// the place where passwords are checked.
#[derive(Default)]
pub struct AuthState {
    sources: Mutex<HashMap<String, Weak<KeySource>>>,
    pub(super) new_sources: Notify,
    desk: PasswordDesk,
    mark_key: OnceLock<hmac::Key>,
}

impl AuthState {
    pub(super) fn desk(&self) -> &PasswordDesk {
        &self.desk
    }

    /// The key that remembered passwords are marked with, made when it is first needed: seeding the cryptography takes time
    /// that the start of a gateway without passwords is not to pay.
    pub(super) fn mark_key(&self) -> &hmac::Key {
        self.mark_key.get_or_init(|| {
            let mut bytes = [0; 32];
            // Without random bytes the key is the same in every process: the marks never leave it.
            let _ = rand::fill(&mut bytes);
            hmac::Key::new(hmac::HMAC_SHA256, &bytes)
        })
    }

    /// The source of these keys; the same one for as long as any configuration in use has it.
    pub(super) fn source(&self, settings: &JwksUrl) -> Arc<KeySource> {
        let mut sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        sources.retain(|_, source| source.strong_count() > 0);
        if let Some(source) = sources.get(&settings.identity()).and_then(Weak::upgrade) {
            return source;
        }
        let source = Arc::new(KeySource::new(settings.clone()));
        sources.insert(settings.identity(), Arc::downgrade(&source));
        self.new_sources.notify_one();
        source
    }

    /// The sources that are in use.
    pub(super) fn sources(&self) -> Vec<(String, Weak<KeySource>)> {
        let sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        sources.iter().map(|(identity, source)| (identity.clone(), Weak::clone(source))).collect()
    }
}

impl fmt::Debug for AuthState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthState").finish_non_exhaustive()
    }
}
