use leat_message::Reason;
use leat_observe::EndpointName;
use serde_json::{Map, Value, json};

use super::{Report, page};
use crate::config::{Endpoint, Upstream};
use crate::pick::UpstreamReport;

impl Report<'_> {
    /// The upstreams from number `from` on: those of the file in its order, then those that routes name by URL.
    pub fn upstreams(&self, from: usize) -> Value {
        let upstreams = self.config.upstreams();
        page("upstreams", upstreams.len(), from, |number| Some(self.upstream(upstreams.get(number)?)))
    }

    /// The upstream with this name.
    pub fn upstream_named(&self, name: &str) -> Option<Value> {
        let number = self.config.upstream_named(name.as_bytes())?;
        Some(self.upstream(self.config.upstreams().get(number)?))
    }

    fn upstream(&self, upstream: &Upstream) -> Value {
        let states = self.lasting.states.report(upstream.name());
        let endpoints = upstream.endpoints().iter().enumerate();
        let endpoints: Vec<Value> =
            endpoints.map(|(at, endpoint)| self.endpoint(upstream, endpoint, at, states.as_ref())).collect();
        let mut shown = json!({
            "upstream": upstream.name(),
            "line": upstream.place().line,
            "column": upstream.place().column,
            "endpoints": endpoints,
        });
        if let (Some(UpstreamReport { whole, .. }), Value::Object(shown)) = (states, &mut shown) {
            shown.extend(whole);
        }
        shown
    }

    fn endpoint(&self, upstream: &Upstream, endpoint: &Endpoint, at: usize, states: Option<&UpstreamReport>) -> Value {
        let mut shown = Map::new();
        shown.insert("endpoint".to_owned(), endpoint.url().into());
        shown.insert("weight".to_owned(), endpoint.weight().into());
        shown.insert("priority".to_owned(), endpoint.priority().into());
        shown.insert("draining".to_owned(), false.into());
        let name = EndpointName { upstream: upstream.name().into(), address: endpoint.url().into() };
        if let Some(counts) = self.counts.endpoints.get(&name) {
            let failed = Reason::ALL.iter().zip(&counts.errors).filter(|(_, count)| **count > 0);
            let errors: Map<String, Value> =
                failed.map(|(reason, count)| (reason.code().to_owned(), (*count).into())).collect();
            shown.insert("requests".to_owned(), counts.requests.into());
            shown.insert("requests_under_way".to_owned(), counts.under_way.into());
            shown.insert("connections_open".to_owned(), counts.connections_open.into());
            shown.insert("connections_idle".to_owned(), counts.connections_idle.into());
            shown.insert("errors".to_owned(), errors.into());
        }
        if let Some(member) = states.and_then(|states| states.members.get(at)) {
            shown.extend(member.clone());
        }
        Value::Object(shown)
    }
}
