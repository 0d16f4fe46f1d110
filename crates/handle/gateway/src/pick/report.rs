use std::time::Duration;

use leat_observe::exposition::Families;
use leat_policy::breaker::{Look, State};
use serde_json::{Map, Value, json};

use super::clock::now;
use super::gate::GateReport;
use super::group::MemberReport;
use super::states::States;
use crate::mirror::write_metrics;

/// How the endpoints of an upstream are, as JSON; only what its policies have a state for.
pub(crate) struct UpstreamReport {
    /// Of the upstream as a whole.
    pub(crate) whole: Map<String, Value>,
    /// Of its endpoints, in the order of the configuration.
    pub(crate) members: Vec<Map<String, Value>>,
}

impl States {
    /// How an upstream is; `None` where nothing can happen to its endpoints.
    pub(crate) fn report(&self, upstream: &str) -> Option<UpstreamReport> {
        let (group, now) = (self.of(upstream)?, now());
        let members = group.members(now).map(|member| {
            let mut shown = Map::new();
            shown.insert("draining".to_owned(), member.is_draining.into());
            if group.ejects() {
                shown.insert("aside_ms".to_owned(), ms(member.aside).into());
                shown.insert("ejections".to_owned(), member.ejections.into());
            }
            if let Some(is_well) = member.is_well {
                shown.insert("well".to_owned(), is_well.into());
            }
            breaker(&mut shown, member.breaker, member.look);
            shown
        });
        let mut whole = Map::new();
        breaker(&mut whole, group.whole(), group.whole_look(now));
        if let Some((retries, denied)) = group.retries() {
            whole.insert("retries".to_owned(), retries.into());
            whole.insert("retries_denied".to_owned(), denied.into());
        }
        if let Some([made, won, denied]) = group.hedges() {
            whole.insert("hedges".to_owned(), made.into());
            whole.insert("hedges_won".to_owned(), won.into());
            whole.insert("hedges_denied".to_owned(), denied.into());
        }
        if let Some(gate) = group.gate_report() {
            let shown = json!({
                "limit": gate.limit, "in_flight": gate.in_flight, "waiting": gate.waiting, "refused": gate.refused,
            });
            whole.insert("concurrency".to_owned(), shown);
        }
        Some(UpstreamReport { members: members.collect(), whole })
    }

    /// Writes their metrics.
    pub fn metrics(&self, text: &mut impl Families) {
        let now = now();
        let all = self.all();
        text.family(
            "leat_upstream_ejections_total",
            "counter",
            "Times that an endpoint was put aside for its failures.",
        );
        self.each(&all, now, |upstream, member, ejects| {
            if ejects {
                text.sample("leat_upstream_ejections_total", &labels(upstream, member.url), member.ejections);
            }
        });
        text.family("leat_upstream_aside", "gauge", "1 while an endpoint is aside for its failures.");
        self.each(&all, now, |upstream, member, ejects| {
            if ejects {
                let aside = u64::from(!member.aside.is_zero());
                text.sample("leat_upstream_aside", &labels(upstream, member.url), aside);
            }
        });
        text.family("leat_upstream_well", "gauge", "1 while an endpoint's health checks say that it is well.");
        self.each(&all, now, |upstream, member, _| {
            if let Some(is_well) = member.is_well {
                text.sample("leat_upstream_well", &labels(upstream, member.url), u64::from(is_well));
            }
        });
        text.family("leat_upstream_draining", "gauge", "1 while an operator keeps new requests from an endpoint.");
        for (upstream, group) in all.iter().filter(|(_, group)| group.drains()) {
            for member in group.members(now) {
                text.sample("leat_upstream_draining", &labels(upstream, member.url), u64::from(member.is_draining));
            }
        }
        text.family("leat_upstream_breaker_open", "gauge", "0 admits, 1 lets probes through, 2 refuses.");
        self.breakers(&all, |upstream, endpoint, (state, _)| {
            let number = match state {
                State::Admit => 0,
                State::Probe => 1,
                State::Refuse => 2,
            };
            text.sample("leat_upstream_breaker_open", &labels(upstream, endpoint), number);
        });
        text.family("leat_upstream_breaker_trips_total", "counter", "Times that a breaker began to refuse.");
        self.breakers(&all, |upstream, endpoint, (_, trips)| {
            text.sample("leat_upstream_breaker_trips_total", &labels(upstream, endpoint), trips);
        });
        text.family("leat_upstream_retries_total", "counter", "Retries by policy: made, or denied by the budget.");
        for (upstream, group) in &all {
            let Some((made, denied)) = group.retries() else { continue };
            for (outcome, count) in [("made", made), ("denied", denied)] {
                text.sample("leat_upstream_retries_total", &[("upstream", upstream), ("outcome", outcome)], count);
            }
        }
        let help = "Second tries beside slow ones: made, first to answer (won), or without budget or room (denied).";
        text.family("leat_upstream_hedges_total", "counter", help);
        for (upstream, group) in &all {
            let Some(counts) = group.hedges() else { continue };
            for (outcome, count) in ["made", "won", "denied"].into_iter().zip(counts) {
                text.sample("leat_upstream_hedges_total", &[("upstream", upstream), ("outcome", outcome)], count);
            }
        }
        Self::gates(&all, text);
        write_metrics(&self.mirrors(), text);
    }

    /// How many requests may be under way, and are.
    fn gates(all: &All, text: &mut impl Families) {
        let mut gauge = |name: &str, kind: &str, help: &str, value: fn(GateReport) -> u64| {
            text.family(name, kind, help);
            for (upstream, group) in all {
                if let Some(gate) = group.gate_report() {
                    text.sample(name, &[("upstream", upstream)], value(gate));
                }
            }
        };
        let limit = "Requests that an upstream with `concurrency` may be given at once.";
        gauge("leat_upstream_concurrency_limit", "gauge", limit, |gate| gate.limit.into());
        let in_flight = "Requests that it is working on, until their response's head.";
        gauge("leat_upstream_concurrency_in_flight", "gauge", in_flight, |gate| gate.in_flight.into());
        let waiting = "Requests that wait for their turn.";
        gauge("leat_upstream_concurrency_waiting", "gauge", waiting, |gate| gate.waiting as u64);
        let refused = "Requests that were turned away.";
        gauge("leat_upstream_concurrency_refused_total", "counter", refused, |gate| gate.refused);
    }

    fn each(&self, all: &All, now: leat_policy::Instant, mut write: impl FnMut(&str, &MemberReport<'_>, bool)) {
        for (upstream, group) in all {
            group.members(now).for_each(|member| write(upstream, &member, group.ejects()));
        }
    }

    /// Every breaker; that of an upstream as a whole has no endpoint.
    fn breakers(&self, all: &All, mut write: impl FnMut(&str, &str, (State, u64))) {
        for (upstream, group) in all {
            if let Some(whole) = group.whole() {
                write(upstream, "", whole);
            }
            for member in group.members(now()) {
                if let Some(breaker) = member.breaker {
                    write(upstream, member.url, breaker);
                }
            }
        }
    }
}

type All = Vec<(std::sync::Arc<str>, std::sync::Arc<super::Group>)>;

fn labels<'a>(upstream: &'a str, endpoint: &'a str) -> [(&'static str, &'a str); 2] {
    [("upstream", upstream), ("endpoint", endpoint)]
}

fn breaker(shown: &mut Map<String, Value>, breaker: Option<(State, u64)>, look: Option<Look>) {
    let (Some((state, trips)), Some(look)) = (breaker, look) else { return };
    let state = match state {
        State::Admit => "admit",
        State::Probe => "probe",
        State::Refuse => "refuse",
    };
    shown.insert("breaker".to_owned(), state.into());
    shown.insert("trips".to_owned(), trips.into());
    let window = json!({
        "calls": look.calls,
        "failures": look.failures,
        "slow": look.slow,
        "consecutive_failures": look.consecutive_failures,
        "retry_after_ms": ms(look.retry_after),
    });
    shown.insert("breaker_window".to_owned(), window);
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
