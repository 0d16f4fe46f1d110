//! JSON Web Tokens (RFC 7519) in the compact form of JWS (RFC 7515): read strictly, verified with keys that know their own
//! algorithms, judged by a scheme's rules, and remembered.

mod algorithm;
mod cache;
mod jwks;
mod key;
mod rules;
mod token;

pub(crate) use algorithm::{Algorithm, Algorithms};
pub(crate) use cache::TokenCache;
pub(crate) use jwks::parse_jwks;
pub(crate) use key::{KeySet, VerifyKey};
pub(crate) use rules::JwtRules;

#[cfg(test)]
mod tests;
