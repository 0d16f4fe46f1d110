use std::rc::Rc;
use std::sync::Arc;

use leat_dial::Pools;

use super::api_keys::ApiKeyCheck;
use super::bearer::{BearerCheck, Keys};
use super::certificate::CertificateCheck;
use super::check::AuthCheck;
use super::external::ExternalCheck;
use super::password_check::PasswordCheck;
use super::scheme::Scheme;
use super::state::AuthState;
use crate::admit::ClientAddress;
use crate::config::{AuthKind, AuthScheme, Config, JwtKeys, RouteAuth};
use crate::endpoints::single;

/// The schemes of a configuration, compiled for one core.
pub(crate) struct Schemes(Vec<Rc<Scheme>>);

impl Schemes {
    /// Compiles them.
    ///
    /// # Errors
    /// What is wrong with the TLS settings of an endpoint, and the scheme it is of.
    pub(crate) fn new(config: &Config, state: &Arc<AuthState>, pools: &Rc<Pools>) -> Result<Self, SchemeError> {
        let client = ClientAddress::new(config.forwarded());
        let compiled = config.auth().iter().map(|scheme| compile(scheme, state, pools, client).map(Rc::new));
        compiled.collect::<Result<_, _>>().map(Self)
    }

    /// The check of a route.
    pub(crate) fn check(&self, route: &RouteAuth) -> AuthCheck {
        AuthCheck::new(route, &self.0)
    }
}

/// Why a scheme cannot be run, although it reads well.
#[derive(Debug)]
pub struct SchemeError {
    scheme: String,
    problem: String,
}

impl std::fmt::Display for SchemeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "auth {}: {}", self.scheme, self.problem)
    }
}

impl std::error::Error for SchemeError {}

fn compile(
    scheme: &AuthScheme,
    state: &Arc<AuthState>,
    pools: &Rc<Pools>,
    client: ClientAddress,
) -> Result<Scheme, SchemeError> {
    let failed = |problem| SchemeError { scheme: scheme.name().to_owned(), problem };
    Ok(match scheme.kind() {
        AuthKind::Jwt(jwt) => {
            let keys = match &jwt.keys {
                JwtKeys::Fixed(keys) => Keys::Fixed(Arc::clone(keys)),
                JwtKeys::Url(url) => {
                    // Tried here, so that a bad file of authorities is told at once.
                    single(url.endpoint(), url.ca()).map_err(failed)?;
                    Keys::Fetched(state.source(url))
                }
            };
            Scheme::Bearer(BearerCheck::new(jwt.rules.clone(), keys, jwt.remembered_max, scheme.name()))
        }
        AuthKind::ApiKeys(keys) => {
            let (header, owner) = (&keys.header, keys.owner_field.as_deref());
            Scheme::ApiKeys(ApiKeyCheck::new(Arc::clone(&keys.keys), header, owner, scheme.name()))
        }
        AuthKind::Basic(basic) => {
            let passwords = Arc::clone(&basic.passwords);
            let user = basic.user_field.as_deref();
            Scheme::Passwords(PasswordCheck::new(passwords, Arc::clone(state), user, &basic.realm))
        }
        AuthKind::Certificate(rules) => Scheme::Certificate(CertificateCheck::new(rules.clone())),
        AuthKind::External(rules) => {
            let endpoint = single(&rules.endpoint, rules.ca.as_deref()).map_err(failed)?;
            Scheme::External(ExternalCheck::new(rules.clone(), endpoint, Rc::clone(pools), client, scheme.name()))
        }
    })
}
