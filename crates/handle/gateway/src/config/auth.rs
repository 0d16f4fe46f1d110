use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::problem::Place;
use super::upstream::Endpoint;
use crate::admit::auth::{Algorithms, ApiKeys, CertificateRules, ClaimRule, JwtRules, KeySet, Passwords};
use crate::endpoints::single;

/// A way to find out who a request is from; routes name it. Nothing in it shows a secret, also not to `Debug`.
#[derive(Clone, Debug)]
pub struct AuthScheme {
    pub(super) name: String,
    pub(super) kind: AuthKind,
    /// Fields that tell the upstream of the client.
    pub(super) told_fields: Vec<String>,
    /// The field of the credential, where that is to go no further.
    pub(super) hidden_field: Option<String>,
    pub(super) place: Place,
}

impl AuthScheme {
    /// The name that routes use.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Fields that tell the upstream of the client, which clients may not send past this scheme.
    pub fn told_fields(&self) -> &[String] {
        &self.told_fields
    }

    /// The field of the credential, where that goes no further.
    pub fn hidden_field(&self) -> Option<&str> {
        self.hidden_field.as_deref()
    }

    /// Where the file speaks of it.
    pub fn place(&self) -> Place {
        self.place
    }

    /// What keeps it from being run, although it reads well.
    pub(crate) fn endpoint_problem(&self) -> Result<(), String> {
        match &self.kind {
            AuthKind::Jwt(JwtAuth { keys: JwtKeys::Url(url), .. }) => single(url.endpoint(), url.ca()).map(|_| ()),
            AuthKind::External(rules) => single(&rules.endpoint, rules.ca.as_deref()).map(|_| ()),
            _ => Ok(()),
        }
    }

    pub(crate) fn kind(&self) -> &AuthKind {
        &self.kind
    }
}

/// What is looked at.
#[derive(Clone, Debug)]
pub(crate) enum AuthKind {
    Jwt(JwtAuth),
    ApiKeys(ApiKeyAuth),
    Basic(BasicAuth),
    Certificate(CertificateRules),
    External(ExternalRules),
}

/// Tokens.
#[derive(Clone, Debug)]
pub(crate) struct JwtAuth {
    pub(crate) rules: JwtRules,
    pub(crate) keys: JwtKeys,
    /// Verified tokens that a core remembers.
    pub(crate) remembered_max: usize,
}

/// Where the keys of tokens come from.
#[derive(Clone, Debug)]
pub(crate) enum JwtKeys {
    Fixed(Arc<KeySet>),
    Url(JwksUrl),
}

/// A set of keys that is fetched, and fetched again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JwksUrl {
    pub(super) url: String,
    pub(super) endpoint: Endpoint,
    pub(super) path: String,
    pub(super) ca: Option<PathBuf>,
    pub(super) refresh_ms: u64,
    pub(super) pause_ms: u64,
    pub(super) algorithms: Algorithms,
}

impl JwksUrl {
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The path with its query.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Authorities that are trusted instead of the public ones.
    pub(crate) fn ca(&self) -> Option<&Path> {
        self.ca.as_deref()
    }

    /// The time between fetches that go well.
    pub(crate) fn refresh_ms(&self) -> u64 {
        self.refresh_ms
    }

    /// The shortest time between two fetches that requests ask for, so that tokens with made-up key ids do not turn us
    /// against the issuer.
    pub(crate) fn pause_ms(&self) -> u64 {
        self.pause_ms
    }

    /// What the keys are for.
    pub(crate) fn algorithms(&self) -> Algorithms {
        self.algorithms
    }

    /// What tells this source from another one.
    pub(crate) fn identity(&self) -> String {
        format!("{} {:?} {} {} {:?}", self.url, self.ca, self.refresh_ms, self.pause_ms, self.algorithms)
    }
}

/// Keys of programs.
#[derive(Clone, Debug)]
pub(crate) struct ApiKeyAuth {
    pub(crate) keys: Arc<ApiKeys>,
    pub(crate) header: String,
    pub(crate) owner_field: Option<String>,
}

/// Users and passwords.
#[derive(Clone, Debug)]
pub(crate) struct BasicAuth {
    pub(crate) passwords: Arc<Passwords>,
    pub(crate) realm: String,
    pub(crate) user_field: Option<String>,
}

/// Another service's word.
#[derive(Clone, Debug)]
pub(crate) struct ExternalRules {
    pub(crate) endpoint: Endpoint,
    pub(crate) path: String,
    pub(crate) ca: Option<PathBuf>,
    pub(crate) time_ms: u64,
    pub(crate) on_failure: OnFailure,
    /// Fields of the request that it sees.
    pub(crate) request_fields: Vec<String>,
    /// Fields of its answer that the upstream sees, in lower case.
    pub(crate) response_fields: Vec<String>,
}

/// What follows where the service cannot be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnFailure {
    Refuse,
    Admit,
}

/// Which schemes a route asks.
#[derive(Clone, Debug)]
pub struct RouteAuth {
    /// Indices into the configuration's schemes; at least one.
    pub(crate) schemes: Vec<usize>,
    /// Whether all must know the client, or any.
    pub(crate) all: bool,
    /// What the client must have, and the values that will do.
    pub(crate) claims: Vec<ClaimRule>,
}
