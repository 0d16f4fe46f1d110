use std::rc::Rc;

use leat_message::{Exchange, Head, Peer, Phase, Reason, Reply};

use super::access::AccessCheck;
use super::admitted::Admitted;
use super::auth::{AuthCheck, Schemes};
use super::client::ClientAddress;
use super::coding::CodingCheck;
use super::cors;
use super::faults::FaultsCheck;
use super::head_limits::HeadCheck;
use super::limit::{Asker, Counted, LeasedCheck, LimitCheck, RedisCheck, limit_policies};
use super::maintenance::MaintenanceCheck;
use super::own_fields::OwnFields;
use crate::config::{Action, Config, Cors, Route, RouteLimit};
use crate::observe::mark;

/// What a check says of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It may go on.
    Admit,
    /// It may not. Fields for the refusal are in [`Admitted::reply`].
    Refuse(Reason),
    /// It may not, and the status is not the reason's own.
    RefuseAs(Reason, u16),
    /// The check can only tell in the exchange step, by [`Check::wait`].
    Wait,
}

impl Verdict {
    /// Why not, and with which status.
    pub(crate) fn refusal(self) -> Option<(Reason, u16)> {
        match self {
            Self::Refuse(reason) => Some((reason, reason.status())),
            Self::RefuseAs(reason, status) => Some((reason, status)),
            Self::Admit | Self::Wait => None,
        }
    }
}

/// A check of a route. Each has two steps, as the handler itself: `ask` at once, `wait` where it said [`Verdict::Wait`].
enum Check {
    /// Refuses nothing: it tells browsers which pages may see the reply, also that of the checks behind it.
    Cors(Cors),
    Head(HeadCheck),
    Access(AccessCheck),
    Maintenance(MaintenanceCheck),
    Limit(LimitCheck),
    Leased(LeasedCheck),
    Redis(RedisCheck),
    Faults(FaultsCheck),
    Auth(AuthCheck),
    Coding(CodingCheck),
}

impl Check {
    fn ask(&self, head: Head<'_>, peer: &Peer, admitted: &mut Admitted) -> Verdict {
        match self {
            Self::Cors(cors) => {
                cors::note(cors, head, &mut admitted.reply);
                Verdict::Admit
            }
            Self::Head(check) => check.ask(head),
            Self::Access(check) => check.ask(head, peer),
            Self::Maintenance(check) => check.ask(head, peer, &mut admitted.reply),
            Self::Faults(check) => check.ask(head),
            Self::Limit(check) => check.ask(head, peer, admitted),
            Self::Leased(check) => check.ask(head, peer, admitted),
            Self::Redis(check) => check.ask(head, peer),
            Self::Auth(check) => check.ask(head, peer, admitted),
            Self::Coding(check) => check.ask(head, &mut admitted.reply),
        }
    }

    /// What its time counts as.
    fn phase(&self) -> Phase {
        match self {
            Self::Limit(_) | Self::Leased(_) | Self::Redis(_) => Phase::Limit,
            Self::Cors(_)
            | Self::Access(_)
            | Self::Maintenance(_)
            | Self::Faults(_)
            | Self::Auth(_)
            | Self::Head(_)
            | Self::Coding(_) => Phase::Auth,
        }
    }

    /// Never says [`Verdict::Wait`].
    async fn wait<X: Exchange>(&self, x: &mut X, admitted: &mut Admitted) -> Verdict {
        match self {
            Self::Auth(check) => check.wait(x, admitted).await,
            Self::Faults(check) => check.wait(x).await,
            Self::Leased(check) => check.wait(x.request(), x.peer(), admitted).await,
            Self::Redis(check) => check.wait(x.request(), x.peer(), admitted).await,
            Self::Cors(_)
            | Self::Head(_)
            | Self::Access(_)
            | Self::Maintenance(_)
            | Self::Limit(_)
            | Self::Coding(_) => self.ask(x.request(), x.peer(), admitted),
        }
    }
}

/// The checks of a route, compiled for one core; those that cost least come first.
pub(crate) struct Admission {
    checks: Box<[Check]>,
}

impl Admission {
    /// The checks that the configuration of a route asks for; `None` where everybody is let in.
    /// `limits` are the rate limits of the configuration.
    pub(crate) fn new(route: &Route, config: &Config, limits: &[Rc<Counted>], schemes: &Schemes) -> Option<Self> {
        let mut checks = Vec::new();
        if let Some(cors) = route.cors() {
            checks.push(Check::Cors(cors.clone()));
        }
        checks.extend(HeadCheck::new(route.head()).map(Check::Head));
        let client = ClientAddress::new(config.forwarded());
        if let Some(access) = route.access() {
            checks.push(Check::Access(AccessCheck::new(access.clone(), client)));
        }
        if let Some(maintenance) = route.maintenance() {
            checks.push(Check::Maintenance(MaintenanceCheck::new(maintenance.clone(), client)));
        }
        let auth = route.auth().map(|auth| Check::Auth(schemes.check(auth)));
        let asker = Asker::new(route, client, OwnFields::of(route, config.auth()));
        let named = |named: &RouteLimit| config.rate_limits().get(named.limit());
        let counts_users = route.rate_limits().iter().filter_map(named).any(|limit| asker.has_to_know(limit));
        // Behind the limits, which bound how often somebody may guess; but who counts users has to know them.
        let (before, behind) = if counts_users { (auth, None) } else { (None, auth) };
        checks.extend(before);
        // Those of this process first: what they refuse costs nobody a round trip.
        let told = limit_policies(route, limits);
        checks.extend(LimitCheck::new(route, limits, &asker, &told).map(Check::Limit));
        checks.extend(LeasedCheck::new(route, limits, &asker, &told).map(Check::Leased));
        checks.extend(RedisCheck::of_route(route, limits, &asker, &told).into_iter().map(Check::Redis));
        checks.extend(behind);
        // Behind `auth`: a stranger need not know what is taken here.
        let decoding = route.decompression().filter(|_| matches!(route.action(), Action::Proxy(..)));
        checks.extend(decoding.map(|config| Check::Coding(CodingCheck::new(config))));
        // Behind the limits: who calls too often is told so, not failed on purpose.
        if !route.faults().is_empty() {
            checks.push(Check::Faults(FaultsCheck::new(route.faults())));
        }
        (!checks.is_empty()).then(|| Self { checks: checks.into() })
    }

    /// Runs the checks until one does not admit. No allocation of its own.
    pub(crate) fn ask<R: Reply>(&self, head: Head<'_>, peer: &Peer, admitted: &mut Admitted, reply: &mut R) -> Verdict {
        while let Some(check) = self.checks.get(admitted.passed) {
            let verdict = check.ask(head, peer, admitted);
            if verdict == Verdict::Admit {
                admitted.passed += 1;
            }
            // One look at the clock for all checks of a phase that follow each other.
            let next = (verdict == Verdict::Admit).then(|| self.checks.get(admitted.passed)).flatten();
            if next.is_none_or(|next| next.phase() != check.phase()) {
                mark(reply, check.phase());
            }
            if verdict != Verdict::Admit {
                return verdict;
            }
        }
        Verdict::Admit
    }

    /// Goes on with the check that has to wait, and with those behind it.
    pub(crate) async fn wait<X: Exchange>(&self, x: &mut X, admitted: &mut Admitted) -> Verdict {
        while let Some(check) = self.checks.get(admitted.passed) {
            let verdict = check.wait(x, admitted).await;
            mark(x, check.phase());
            match verdict {
                Verdict::Admit => admitted.passed += 1,
                said => return said,
            }
        }
        Verdict::Admit
    }
}
