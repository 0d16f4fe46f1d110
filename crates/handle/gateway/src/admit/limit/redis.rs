use std::rc::Rc;
use std::time::Duration;

use aws_lc_rs::digest::{SHA256, digest};
use leat_message::{Head, Peer, Reason};
use leat_policy::limit::{Decision, Gcra, Limit, Verdict};
use leat_redis::{Call, Client, Failure, Numbers, Script};

use super::counted::Counted;
use super::key::Asked;
use super::told;
use crate::admit::admission;
use crate::admit::admitted::{Admitted, FieldLines};
use crate::admit::client::ClientAddress;
use crate::config::{ROUTE_LIMITS_MAX, Route, StoreError};

/// Decides about several limits in one step of the server's.
pub(super) const SCRIPT: Script = Script { text: include_str!("limits.lua") };
/// How much of a key's SHA-256 tells it apart on the server: 128 bits, in hexadecimal digits.
const KEY_DIGITS: usize = 32;

/// The rate limits of a route that one Redis server counts.
pub(crate) struct RedisCheck {
    route: Box<str>,
    client: ClientAddress,
    redis: Client,
    /// Those that refuse. All are debited, or none is.
    enforced: Box<[Asking]>,
    /// Those that only count whom they would refuse, each for itself.
    shadow: Box<[Asking]>,
    /// The value of `RateLimit-Policy`; empty where clients are not told.
    policy: Box<[u8]>,
}

/// A limit as the script is asked about it.
pub(super) struct Asking {
    pub(super) limit: Rc<Counted>,
    pub(super) cost: u64,
    /// What every key of the limit starts with on the server.
    prefix: String,
    arguments: [String; 5],
}

impl Asking {
    fn new(limit: &Rc<Counted>, cost: u64) -> Self {
        // A tick of the script is an eighth of a microsecond.
        let ticks = |time: Duration| time.as_micros() * 8;
        let (kind, most, span, window) = match &limit.law {
            Limit::Gcra(law) => {
                // Rounded up, as the interval of `Gcra` is: the rate is never above what was asked for.
                ("g", law.burst(), ticks(law.per()).div_ceil(u128::from(law.quota())), String::new())
            }
            Limit::SlidingWindow(law) => ("w", law.limit(), ticks(law.window()), law.window().as_millis().to_string()),
        };
        Self {
            limit: Rc::clone(limit),
            cost,
            prefix: format!("leat:limit:{}:{kind}{window}:", limit.name),
            arguments: [kind.to_owned(), most.to_string(), span.to_string(), cost.to_string(), cost.to_string()],
        }
    }

    /// As the script is asked for units: by what the server lends out, under keys of their own, since a state that was counted
    /// with another burst would mean something else.
    pub(super) fn leased(limit: &Rc<Counted>, cost: u64, law: &Gcra) -> Self {
        let mut asking = Self::new(limit, cost);
        asking.prefix = format!("leat:limit:{}:l:", limit.name);
        let [_, most, ..] = &mut asking.arguments;
        *most = law.burst().to_string();
        asking
    }

    /// The parts of a call about this limit alone.
    pub(super) fn with_parts<T>(
        &self,
        asked: &Asked<'_>,
        need: u64,
        want: u64,
        call: impl FnOnce(&[&[u8]], &[&[u8]]) -> T,
    ) -> T {
        let [kind, most, span, ..] = &self.arguments;
        let (need, want) = (need.to_string(), want.to_string());
        let arguments = [kind, most, span, &need, &want].map(|argument| argument.as_bytes());
        call(&[&self.key(asked)], &arguments)
    }

    /// The name of the request's key on the server. A hash: a value may be long, or a credential. SHA-256, since a client
    /// that could make two keys equal would count against another one.
    fn key(&self, asked: &Asked<'_>) -> Vec<u8> {
        let mut name = Vec::with_capacity(self.prefix.len() + KEY_DIGITS);
        name.extend_from_slice(self.prefix.as_bytes());
        let hash = self.limit.with_key(asked, |key| digest(&SHA256, key));
        let nibbles = hash.as_ref().iter().flat_map(|byte| [byte >> 4, byte & 15]).take(KEY_DIGITS);
        name.extend(nibbles.map(|nibble| nibble + if nibble < 10 { b'0' } else { b'a' - 10 }));
        name
    }
}

impl RedisCheck {
    /// The limits of a route that Redis counts: a check for each server.
    pub(crate) fn of_route(route: &Route, limits: &[Rc<Counted>], client: ClientAddress) -> Vec<Self> {
        let named = route.rate_limits().iter().take(ROUTE_LIMITS_MAX);
        let mut rest: Vec<_> = named.filter_map(|named| Some((limits.get(named.limit())?, named.cost()))).collect();
        rest.retain(|(limit, _)| limit.server.is_some() && limit.leasing.is_none());
        let mut checks = Vec::new();
        while let Some(server) = rest.first().and_then(|(limit, _)| limit.server.clone()) {
            let (of_server, others): (Vec<_>, Vec<_>) =
                rest.into_iter().partition(|(limit, _)| limit.server.as_ref() == Some(&server));
            rest = others;
            let asking = of_server.into_iter().map(|(limit, cost)| Asking::new(limit, cost));
            let (shadow, enforced): (Vec<_>, Vec<_>) = asking.partition(|one| one.limit.is_shadow);
            checks.push(Self {
                route: route.name().into(),
                client,
                redis: Client::shared(&server, SCRIPT),
                policy: told::policies(enforced.iter().map(|one| &*one.limit)),
                enforced: enforced.into(),
                shadow: shadow.into(),
            });
        }
        checks
    }

    /// Whether anything has to be asked.
    pub(crate) fn ask(&self, head: Head<'_>, peer: &Peer) -> admission::Verdict {
        let client = self.client.of(head, peer);
        match self.enforced.iter().chain(&self.shadow).any(|one| one.limit.applies_to(client)) {
            true => admission::Verdict::Wait,
            false => admission::Verdict::Admit,
        }
    }

    /// Asks the server: one round trip, and one more where there are limits in shadow mode.
    pub(crate) async fn wait(&self, head: Head<'_>, peer: &Peer, admitted: &mut Admitted) -> admission::Verdict {
        let asked =
            Asked { head, client: self.client.of(head, peer), route: &self.route, identities: &admitted.identities };
        self.redis.started().await;
        let enforced: Vec<&Asking> = self.applying(&self.enforced, &asked).collect();
        if !enforced.is_empty() {
            let verdict = match self.call(&enforced, &asked).await {
                Ok(numbers) => self.decided(&enforced, &numbers, &mut admitted.reply),
                Err(_) => None,
            };
            match verdict.unwrap_or_else(|| self.without_answer(&enforced, &asked, &mut admitted.reply)) {
                admission::Verdict::Admit => {}
                refused => return refused,
            }
        }
        for one in self.applying(&self.shadow, &asked) {
            match self.call(&[one], &asked).await.ok().and_then(|numbers| verdict_of(&numbers)) {
                Some((_, verdict)) => one.limit.count(verdict.is_admitted()),
                None => one.limit.count_error(),
            }
        }
        admission::Verdict::Admit
    }

    fn applying<'a>(&self, list: &'a [Asking], asked: &Asked<'_>) -> impl Iterator<Item = &'a Asking> {
        let client = asked.client;
        list.iter().filter(move |one| one.limit.applies_to(client))
    }

    async fn call(&self, asking: &[&Asking], asked: &Asked<'_>) -> Result<Numbers, Failure> {
        match self.send(asking, asked)?.await {
            // The server has been told the script again, ahead of this.
            Err(Failure::NoScript) => self.send(asking, asked)?.await,
            answer => answer,
        }
    }

    fn send(&self, asking: &[&Asking], asked: &Asked<'_>) -> Result<Call, Failure> {
        let keys: Vec<Vec<u8>> = asking.iter().map(|one| one.key(asked)).collect();
        let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        let arguments: Vec<&[u8]> =
            asking.iter().flat_map(|one| one.arguments.iter().map(|argument| argument.as_bytes())).collect();
        self.redis.eval(&keys, &arguments)
    }

    /// What the server decided; `None` where that makes no sense.
    fn decided(&self, asking: &[&Asking], numbers: &Numbers, reply: &mut FieldLines) -> Option<admission::Verdict> {
        let (number, verdict) = verdict_of(numbers)?;
        let limit = &asking.get(number)?.limit;
        told::tell(&self.policy, limit, &verdict, reply);
        if verdict.is_admitted() {
            asking.iter().for_each(|one| one.limit.count(true));
            return Some(admission::Verdict::Admit);
        }
        limit.count(false);
        Some(admission::Verdict::Refuse(Reason::LimitRate))
    }

    /// The server has no answer: every limit has its own way to go on.
    fn without_answer(&self, asking: &[&Asking], asked: &Asked<'_>, reply: &mut FieldLines) -> admission::Verdict {
        asking.iter().for_each(|one| one.limit.count_error());
        if asking.iter().any(|one| one.limit.on_error == StoreError::Closed) {
            return admission::Verdict::Refuse(Reason::LimitStore);
        }
        for one in asking.iter().filter(|one| one.limit.on_error == StoreError::Local) {
            let verdict = one.limit.admit(asked, one.cost, one.limit.now());
            if !verdict.is_admitted() {
                told::tell(&self.policy, &one.limit, &verdict, reply);
                return admission::Verdict::Refuse(Reason::LimitRate);
            }
        }
        admission::Verdict::Admit
    }
}

/// The limit that the script speaks of, by its place, and what it says.
pub(super) fn verdict_of(numbers: &Numbers) -> Option<(usize, Verdict)> {
    let &[admitted, number, remaining, reset_us, wait_us, _] = numbers.list() else { return None };
    let decision = match admitted {
        1 => Decision::Admit,
        0 => Decision::Refuse { retry_after: u64::try_from(wait_us).ok().map(Duration::from_micros) },
        _ => return None,
    };
    let reset = Duration::from_micros(u64::try_from(reset_us).ok()?);
    Some((usize::try_from(number).ok()?, Verdict { decision, remaining: u64::try_from(remaining).ok()?, reset }))
}
