use serde_json::{Map, Value, json};

use super::{Report, page};
use crate::config::{Action, Route};

/// Keys of a route that are told apart from its policies.
const ACTIONS: [&str; 6] = ["proxy", "transcode", "respond", "redirect", "files", "mock"];
/// Status classes as the counters have them.
const CLASSES: [&str; 6] = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"];

impl Report<'_> {
    /// The routes from number `from` on, in the order of the file: what they match, do and count.
    pub fn routes(&self, from: usize) -> Value {
        let routes = self.config.routes();
        page("routes", routes.len(), from, |number| Some(self.route(number, routes.get(number)?)))
    }

    fn route(&self, number: usize, route: &Route) -> Value {
        let written = self.config.source().and_then(|source| source.json(&format!("routes[{number}]")));
        let (mut matches, mut action, mut policies) = (Value::Null, Value::Null, Map::new());
        if let Some(Value::Object(keys)) = written {
            for (key, value) in keys {
                match key.as_str() {
                    "name" => {}
                    "match" => matches = value,
                    key if ACTIONS.contains(&key) => action = json!({ key: value }),
                    _ => {
                        policies.insert(key, value);
                    }
                }
            }
        }
        let upstream = match route.action() {
            Action::Proxy(proxy, _) => self.config.upstreams().get(proxy.upstream()).map(|upstream| upstream.name()),
            _ => None,
        };
        let file = self.config.source().map(|source| source.file());
        json!({
            "route": route.name(),
            "file": file,
            "line": route.place().line,
            "column": route.place().column,
            "match": matches,
            "action": action,
            "upstream": upstream,
            "policies": policies,
            "counts": self.route_counts(route),
        })
    }

    fn route_counts(&self, route: &Route) -> Value {
        let Some(counts) = self.counts.routes.get(route.name()) else { return Value::Null };
        let classes: Map<String, Value> =
            CLASSES.iter().zip(counts.classes).map(|(class, count)| ((*class).to_owned(), count.into())).collect();
        let requests: u64 = counts.classes.iter().sum();
        json!({ "requests": requests, "classes": classes, "bytes_in": counts.bytes_in, "bytes_out": counts.bytes_out })
    }
}
