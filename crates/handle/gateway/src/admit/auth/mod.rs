//! Authentication: who a request is from, by one or several schemes a route.
//!
//! Schemes are compiled once a core, and routes that name the same one share it with what it remembers. What belongs to the
//! process (fetched keys, the place where passwords are checked) is in [`AuthState`].

mod api_key;
mod api_keys;
mod ask;
mod bearer;
mod certificate;
mod certificate_names;
mod check;
mod claim_name;
mod compile;
mod credential;
mod external;
mod fetch;
mod generations;
mod identity;
mod jwt;
mod key_source;
mod password_check;
mod password_desk;
mod passwords;
mod scheme;
mod state;

pub(crate) use api_key::{ApiKeys, parse_hash};
pub(crate) use certificate::CertificateRules;
pub(crate) use check::AuthCheck;
pub(crate) use claim_name::{ClaimName, ClaimRule};
pub use compile::SchemeError;
pub(crate) use compile::Schemes;
pub use fetch::{Fetched, fetch_keys};
pub(crate) use identity::Identity;
pub(crate) use jwt::{Algorithm, Algorithms, JwtRules, KeySet, VerifyKey, parse_jwks};
pub(crate) use passwords::{COST_GOOD, COST_MAX, COST_MIN, PasswordLine, Passwords};
pub use state::AuthState;
