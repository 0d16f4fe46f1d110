//! Whom to trust over TLS: certificate authorities, and what was wrong with a certificate that was not taken.

mod authorities;
mod distrust;
mod verifier;

pub use authorities::{Authorities, AuthoritiesError};
pub use distrust::{Distrust, is_authority_itself};
