use std::rc::Rc;
use std::time::Duration;

use leat_dial::{Call, Endpoint, Pools};
use leat_message::{Exchange, Reason};

use super::ask::{Question, ask};
use super::identity::Identity;
use super::scheme::Found;
use crate::admit::ClientAddress;
use crate::config::{ExternalRules, OnFailure};

/// How much of an answer's body is read, in bytes, so that its connection can be used again: only the head says something.
const BYTES_MAX: usize = 64 * 1_024;

/// Asks another service, with the head of the request and without its body.
pub(super) struct ExternalCheck {
    rules: ExternalRules,
    endpoint: Rc<Endpoint>,
    authority: Box<str>,
    pools: Rc<Pools>,
    client: ClientAddress,
    response_fields: Vec<Rc<str>>,
    /// For a 401 of the service's that brings none, since every 401 has one (RFC 9110 section 15.5.2).
    challenge: Box<[u8]>,
}

/// What the service said.
struct Answer {
    status: u16,
    /// All of its challenges, as one list.
    challenge: Vec<u8>,
    fields: Vec<(Rc<str>, Vec<u8>)>,
}

impl ExternalCheck {
    pub(super) fn new(
        rules: ExternalRules,
        endpoint: Endpoint,
        pools: Rc<Pools>,
        client: ClientAddress,
        realm: &str,
    ) -> Self {
        let response_fields = rules.response_fields.iter().map(|name| Rc::from(&**name)).collect();
        let authority = rules.endpoint.authority().into();
        let challenge = format!("External realm=\"{realm}\"").into_bytes().into();
        Self { rules, endpoint: Rc::new(endpoint), authority, pools, client, response_fields, challenge }
    }

    /// 2xx lets the request in, 401 and 403 and every other 4xx do not. Everything else, and no answer in time, is a failure
    /// of the service, and `on_failure` says what follows.
    pub(super) async fn wait<X: Exchange>(&self, x: &mut X) -> Found {
        let answer = {
            let head = x.request();
            let client = self.client.of(head, x.peer());
            let client = client.map_or_else(|| "unknown".to_owned(), |address| address.to_string());
            let mut fields: Vec<(&[u8], &[u8])> = vec![
                (b"x-forwarded-method", head.method_bytes()),
                (b"x-forwarded-uri", head.target()),
                (b"x-forwarded-host", head.authority()),
                (b"x-forwarded-for", client.as_bytes()),
            ];
            for (_, name, value) in head.fields() {
                if self.rules.request_fields.iter().any(|wanted| wanted.as_bytes().eq_ignore_ascii_case(name)) {
                    fields.push((name, value));
                }
            }
            let question = Question {
                authority: &self.authority,
                scheme: if self.rules.endpoint.is_tls() { "https" } else { "http" },
                target: self.rules.path.as_bytes(),
                fields: &fields,
                bytes_max: BYTES_MAX,
                head_says_all: true,
            };
            let time = Duration::from_millis(self.rules.time_ms);
            tokio::time::timeout(time, ask(&self.pools, &self.endpoint, &question, |call, _| self.read(call))).await
        };
        match answer {
            Ok(Ok(answer)) if (200..300).contains(&answer.status) => {
                let mut identity = Identity::new("");
                answer.fields.iter().for_each(|(name, value)| identity.tell(name, value));
                Found::Known(Rc::new(identity))
            }
            Ok(Ok(Answer { status: 401, challenge, .. })) => {
                Found::Challenged(if challenge.is_empty() { self.challenge.clone() } else { challenge.into() })
            }
            Ok(Ok(Answer { status: 400..500, .. })) => Found::Refused(Reason::AuthDenied),
            _ => match self.rules.on_failure {
                OnFailure::Refuse => Found::Refused(Reason::AuthServiceFailed),
                OnFailure::Admit => Found::Known(Rc::new(Identity::new(""))),
            },
        }
    }

    fn read(&self, call: &Call) -> Answer {
        let response = call.response();
        let wanted = self.response_fields.iter();
        let fields = wanted.filter_map(|name| {
            let value = response.fields().get_named(name.as_bytes())?;
            Some((Rc::clone(name), value.to_vec()))
        });
        let is_challenge = |name: &[u8]| name.eq_ignore_ascii_case(b"www-authenticate");
        let challenges = response.fields().iter().filter(|(_, name, _)| is_challenge(name)).map(|(.., value)| value);
        let challenge = challenges.collect::<Vec<_>>().join(&b", "[..]);
        Answer { status: response.status(), challenge, fields: fields.collect() }
    }
}
