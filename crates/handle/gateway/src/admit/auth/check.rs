use std::rc::Rc;

use leat_message::{Exchange, Head, Peer, Reason};

use super::claim_name::{ClaimName, ClaimRule, has_value};
use super::identity::Identity;
use super::scheme::{Found, Scheme};
use crate::admit::own_fields::is_same;
use crate::admit::{Admitted, Verdict};
use crate::config::RouteAuth;

/// The schemes of a route.
pub(crate) struct AuthCheck {
    schemes: Box<[Rc<Scheme>]>,
    /// Whether every scheme must know the client, or any.
    all: bool,
    /// Claims that the client must have, each with one of these values.
    claims: Box<[ClaimRule]>,
}

/// What the schemes have said so far.
#[derive(Default)]
struct Tally {
    refused: Option<Reason>,
    absent: Option<Reason>,
    /// Of a scheme that lets others decide.
    challenge: Option<Box<[u8]>>,
}

impl AuthCheck {
    pub(super) fn new(config: &RouteAuth, schemes: &[Rc<Scheme>]) -> Self {
        let named = config.schemes.iter().filter_map(|&index| schemes.get(index).map(Rc::clone));
        Self { schemes: named.collect(), all: config.all, claims: config.claims.clone().into() }
    }

    /// No allocation for a client that its scheme remembers.
    pub(crate) fn ask(&self, head: Head<'_>, peer: &Peer, admitted: &mut Admitted) -> Verdict {
        admitted.identities.clear();
        let mut tally = Tally::default();
        for scheme in &self.schemes {
            let found = scheme.ask(head, peer);
            if matches!(found, Found::Wait) {
                return Verdict::Wait;
            }
            if tally.count(scheme, found, admitted) == self.all {
                continue;
            }
            break;
        }
        self.conclude(&tally, admitted)
    }

    /// As [`AuthCheck::ask`], from the start: what another scheme remembers may be known by now.
    pub(crate) async fn wait<X: Exchange>(&self, x: &mut X, admitted: &mut Admitted) -> Verdict {
        admitted.identities.clear();
        let mut tally = Tally::default();
        for scheme in &self.schemes {
            let mut found = scheme.ask(x.request(), x.peer());
            if matches!(found, Found::Wait) {
                found = scheme.wait(x).await;
            }
            if tally.count(scheme, found, admitted) == self.all {
                continue;
            }
            break;
        }
        self.conclude(&tally, admitted)
    }

    fn conclude(&self, tally: &Tally, admitted: &mut Admitted) -> Verdict {
        let is_known = match self.all {
            true => admitted.identities.len() == self.schemes.len(),
            false => !admitted.identities.is_empty(),
        };
        if !is_known {
            let reason = tally.refused.or(tally.absent).unwrap_or(Reason::AuthMissing);
            if reason.status() == 401 {
                let own = self.schemes.iter().filter_map(|scheme| scheme.challenge(tally.refused.is_some()));
                for challenge in own.chain(tally.challenge.as_deref()) {
                    admitted.reply.put(b"www-authenticate", |value| value.extend_from_slice(challenge));
                }
            }
            return Verdict::Refuse(reason);
        }
        let identities = &admitted.identities;
        let has = |identity: &Rc<Identity>, name: &ClaimName, wanted: &[Box<str>]| {
            identity.claim(name).is_some_and(|value| wanted.iter().any(|one| has_value(name, value, one)))
        };
        if !self.claims.iter().all(|(name, wanted)| identities.iter().any(|identity| has(identity, name, wanted))) {
            for challenge in self.schemes.iter().filter_map(|scheme| scheme.forbids()) {
                admitted.reply.put(b"www-authenticate", |value| value.extend_from_slice(challenge));
            }
            return Verdict::Refuse(Reason::AuthClaims);
        }
        let are_several = admitted.identities.len() > 1;
        for (name, value) in admitted.identities.iter().flat_map(|identity| identity.fields()) {
            // One value a name, or two schemes would tell of two clients: that of the first scheme, as keys and places take it.
            if !are_several || !admitted.upstream.iter().any(|(told, _)| is_same(told, name)) {
                admitted.upstream.put(name, |out| out.extend_from_slice(value));
            }
        }
        Verdict::Admit
    }
}

impl Tally {
    /// Notes what a scheme found; whether it knows the client.
    fn count(&mut self, scheme: &Scheme, found: Found, admitted: &mut Admitted) -> bool {
        match found {
            Found::Known(identity) => {
                admitted.identities.push(identity);
                return true;
            }
            Found::Refused(reason) => self.refused = self.refused.or(Some(reason)),
            Found::Challenged(challenge) => {
                self.refused = self.refused.or(Some(Reason::AuthCredentials));
                self.challenge = Some(challenge);
            }
            // A challenge that can be met comes before one that cannot.
            Found::Absent if self.absent.is_none_or(|reason| reason.status() != 401) => {
                self.absent = Some(scheme.absent());
            }
            Found::Absent | Found::Wait => {}
        }
        false
    }
}
