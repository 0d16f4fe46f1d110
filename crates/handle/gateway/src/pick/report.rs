use leat_observe::exposition::Text;
use leat_policy::breaker::State;

use super::clock::now;
use super::gate::GateReport;
use super::group::MemberReport;
use super::states::States;
use crate::mirror::write_metrics;

impl States {
    /// How the upstreams are, as JSON, for people and scripts: those whose policies have a state.
    pub fn json(&self) -> String {
        let now = now();
        let upstreams = self.all().into_iter().map(|(name, group)| {
            let endpoints = group.members(now).map(|member| {
                let mut shown = serde_json::json!({ "endpoint": member.url });
                if group.ejects() {
                    shown["aside_ms"] = u64::try_from(member.aside.as_millis()).unwrap_or(u64::MAX).into();
                    shown["ejections"] = member.ejections.into();
                }
                if let Some(is_well) = member.is_well {
                    shown["well"] = is_well.into();
                }
                breaker(&mut shown, member.breaker);
                shown
            });
            let endpoints: Vec<serde_json::Value> = endpoints.collect();
            let mut shown = serde_json::json!({ "upstream": &*name, "endpoints": endpoints });
            breaker(&mut shown, group.whole());
            if let Some((retries, denied)) = group.retries() {
                shown["retries"] = retries.into();
                shown["retries_denied"] = denied.into();
            }
            if let Some([made, won, denied]) = group.hedges() {
                shown["hedges"] = made.into();
                shown["hedges_won"] = won.into();
                shown["hedges_denied"] = denied.into();
            }
            if let Some(gate) = group.gate_report() {
                shown["concurrency"] = serde_json::json!({
                    "limit": gate.limit, "in_flight": gate.in_flight, "waiting": gate.waiting, "refused": gate.refused,
                });
            }
            shown
        });
        let upstreams: Vec<serde_json::Value> = upstreams.collect();
        format!("{:#}\n", serde_json::json!({ "upstreams": upstreams }))
    }

    /// Appends their metrics in the Prometheus text format.
    pub fn metrics(&self, out: &mut String) {
        let now = now();
        let all = self.all();
        let text = &mut Text::new(out);
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
    fn gates(all: &All, text: &mut Text<'_>) {
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

fn breaker(shown: &mut serde_json::Value, breaker: Option<(State, u64)>) {
    if let Some((state, trips)) = breaker {
        shown["breaker"] = match state {
            State::Admit => "admit",
            State::Probe => "probe",
            State::Refuse => "refuse",
        }
        .into();
        shown["trips"] = trips.into();
    }
}
