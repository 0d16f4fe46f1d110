use std::fmt;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{SHA256, digest};

use super::model::Bind;

/// The admin address, and who may change something there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admin {
    pub(super) bind: Bind,
    pub(super) token: Option<AdminToken>,
    pub(super) hosts: Vec<String>,
}

impl Admin {
    /// Where to listen.
    pub fn bind(&self) -> &Bind {
        &self.bind
    }

    /// What shows that a request may change something; without it nothing can be changed.
    pub fn token(&self) -> Option<&AdminToken> {
        self.token.as_ref()
    }

    /// Host names that requests may ask for, in lower case, beside IP addresses and `localhost`.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }
}

/// The token of the admin address: kept as its SHA-256, and never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct AdminToken([u8; 32]);

impl AdminToken {
    pub(super) fn new(token: &[u8]) -> Self {
        Self(hash(token))
    }

    /// Whether it is this one. Takes the same time for every token of a length.
    pub fn is(&self, token: &[u8]) -> bool {
        verify_slices_are_equal(&self.0, &hash(token)).is_ok()
    }
}

impl fmt::Debug for AdminToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AdminToken")
    }
}

fn hash(token: &[u8]) -> [u8; 32] {
    let mut hash = [0; 32];
    // A SHA-256 has this length.
    hash.iter_mut().zip(digest(&SHA256, token).as_ref()).for_each(|(place, byte)| *place = *byte);
    hash
}
