use leat_message::{Head, Peer, Reason};
use leat_route::{Found, Params};

use crate::admit::{Asker, ClientAddress, OwnFields};
use crate::config::{Action, Config, FaultEnd, Place, ProxyHost, RateLimit, Route, SplitWhen, Upstream};

/// What would act on a request, in its order.
#[derive(Debug, Default)]
pub struct Explanation {
    /// What acts, and where the file says so.
    pub steps: Vec<Step>,
    /// Why the request would be refused, as far as that depends on nothing but the request and the configuration.
    pub refused: Option<Reason>,
}

/// Something that acts.
#[derive(Debug)]
pub struct Step {
    /// Where the file speaks of it; `None` for what no file has to say.
    pub place: Option<Place>,
    /// What it is.
    pub what: &'static str,
    /// What it does, for people.
    pub how: String,
}

impl Explanation {
    /// Follows a request through a configuration. Nothing is connected to, counted, drawn or changed: credentials are not
    /// looked at, and limits not asked.
    pub fn of(config: &Config, head: Head<'_>, peer: &Peer) -> Self {
        let mut told = Self::default();
        let mut params = Params::default();
        let route = match config.table().find(&head, &mut params) {
            Found::Route(number) => config.routes().get(number as usize),
            Found::MethodNotAllowed => return told.refuse(Reason::RouteMethod),
            Found::NotFound => return told.refuse(Reason::RouteNotFound),
            Found::Refused(reason) => return told.refuse(reason),
        };
        let Some(route) = route else { return told.refuse(Reason::RouteNotFound) };
        told.step(Some(route.place()), "route", format!("`{}`", route.name()));
        if told.admission(config, route, head, peer) {
            if route.decompression().is_some() {
                told.step(None, "decompress", "the body, where it has a coding".to_owned());
            }
            told.plugins(config, route);
            told.action(config, route, head, &params);
            if let Action::Files(..) | Action::Proxy(..) | Action::Mock(_) = route.action()
                && route.compression().is_some()
            {
                told.step(None, "compression", "the reply, where the client takes it and it is worth it".to_owned());
            }
            if let Some(most) = route.buffer_bytes_max() {
                told.step(None, "buffer", format!("the reply is read whole, up to {most} bytes of it"));
            }
        }
        told
    }

    fn refuse(mut self, reason: Reason) -> Self {
        self.refused = Some(reason);
        self
    }

    fn step(&mut self, place: Option<Place>, what: &'static str, how: String) {
        self.steps.push(Step { place, what, how });
    }

    /// The checks in the order of `admit::Admission`; whether the request comes past those that can be told.
    fn admission(&mut self, config: &Config, route: &Route, head: Head<'_>, peer: &Peer) -> bool {
        let client = ClientAddress::new(config.forwarded()).of(head, peer);
        let shown = client.map_or("a client without an address".to_owned(), |ip| ip.to_string());
        if route.cors().is_some() {
            let origin = head.fields().get_named(b"origin").is_some();
            let how = if origin { "the reply tells the page whether it may see it" } else { "no Origin: says nothing" };
            self.step(None, "cors", how.to_owned());
        }
        if let Some(access) = route.access() {
            let is_in = client.map_or(access.admits_strangers(), |client| access.admits(client));
            self.step(None, "access", format!("{shown} {}", if is_in { "may" } else { "may not" }));
            if !is_in {
                self.refused = Some(Reason::AccessAddress);
                return false;
            }
        }
        if let Some(maintenance) = route.maintenance() {
            let is_in = client.is_some_and(|client| maintenance.excepts(client));
            self.step(None, "maintenance", if is_in { format!("{shown} is excepted") } else { "closed".to_owned() });
            if !is_in {
                self.refused = Some(Reason::RouteMaintenance);
                return false;
            }
        }
        let limits: Vec<(&RateLimit, u64)> = route
            .rate_limits()
            .iter()
            .filter_map(|named| Some((config.rate_limits().get(named.limit())?, named.cost())))
            .collect();
        let own = OwnFields::of(route, config.auth());
        let asker = Asker::new(route, ClientAddress::new(config.forwarded()), own);
        let auth_first = limits.iter().any(|(limit, _)| asker.has_to_know(limit));
        if auth_first {
            self.auth(config, route);
        }
        // Those of this process first, then those with leases, then those that ask Redis.
        let rank = |limit: &RateLimit| (limit.redis().is_some(), limit.redis().is_some() && limit.leasing().is_none());
        let mut ordered = limits;
        ordered.sort_by_key(|(limit, _)| rank(limit));
        for (limit, cost) in ordered {
            let exempt = client.is_some_and(|client| limit.allow().iter().any(|network| network.contains(client)));
            let how = if exempt {
                format!("`{}`: {shown} is not counted", limit.name())
            } else {
                let shadow = if limit.is_shadow() { "; in shadow mode, it refuses nobody" } else { "" };
                let store = if limit.redis().is_some() { " in Redis" } else { "" };
                format!("`{}`: costs {cost}, counted{store} by {}{shadow}", limit.name(), limit.key_parts().join(", "))
            };
            self.step(Some(limit.place()), "rate limit", how);
        }
        if !auth_first {
            self.auth(config, route);
        }
        for fault in route.faults() {
            let is_for = fault.field().is_none_or(|field| head.fields().get_named(field.as_bytes()).is_some());
            let end = match fault.end() {
                FaultEnd::GoesOn => "then it goes on".to_owned(),
                FaultEnd::Status(status) => format!("then {status}"),
                FaultEnd::Reset => "then a reset".to_owned(),
            };
            if is_for {
                let percent = f64::from(fault.share()) / 10_000.0;
                self.step(None, "fault", format!("{percent} % of such requests wait {} ms, {end}", fault.delay_ms()));
            }
        }
        true
    }

    fn auth(&mut self, config: &Config, route: &Route) {
        let Some(auth) = route.auth() else { return };
        let schemes = auth.schemes.iter().filter_map(|scheme| config.auth().get(*scheme));
        let names: Vec<String> = schemes.clone().map(|scheme| format!("`{}`", scheme.name())).collect();
        let how = if auth.all { "all of" } else { "any of" };
        let claims = if auth.claims.is_empty() { "" } else { ", with claims" };
        let place = schemes.map(|scheme| scheme.place()).next();
        self.step(place, "auth", format!("{how} {} must know the client{claims}", names.join(", ")));
    }

    fn plugins(&mut self, config: &Config, route: &Route) {
        let set = route.plugins().and_then(|set| config.plugins().sets().get(set));
        for plugin in set.into_iter().flatten().filter_map(|at| config.plugins().list().get(*at)) {
            self.step(Some(plugin.place()), "plug-in", format!("`{}` may change or answer it", plugin.name()));
        }
    }

    fn action(&mut self, config: &Config, route: &Route, head: Head<'_>, params: &Params) {
        let mut text = Vec::new();
        match route.action() {
            Action::Respond(fixed) => {
                self.step(None, "respond", format!("{} with {} bytes", fixed.status(), fixed.body().len()));
            }
            Action::Redirect(redirect) => {
                redirect.to().write(&head, params, &mut text);
                self.step(None, "redirect", format!("{} to {}", redirect.status(), text.escape_ascii()));
            }
            Action::Files(files, rewrite) => {
                rewrite.write_path_below(&head, params, &mut text);
                self.step(None, "files", format!("{} below {}", text.escape_ascii(), files.root().display()));
            }
            Action::Mock(mock) => {
                let rules = mock.settings().rules.iter().map(|path| path.display().to_string());
                self.step(None, "mock", format!("rules in {}", rules.collect::<Vec<_>>().join(", ")));
            }
            Action::Proxy(proxy, rewrite) => {
                match proxy.transcoder().map(|transcoder| transcoder.explain(head)) {
                    None => match rewrite.prepare(&head) {
                        Ok(Some(target)) => text = target,
                        Ok(None) => rewrite.write_target(&head, params, &mut text),
                        Err(reason) => {
                            self.refused = Some(reason);
                            return;
                        }
                    },
                    Some(Ok((protocol, path))) => {
                        text.extend_from_slice(path.as_bytes());
                        self.step(None, "transcode", format!("{protocol} becomes a call of {path}"));
                    }
                    Some(Err(reason)) => {
                        self.step(None, "transcode", "calls no method of the schema".to_owned());
                        self.refused = Some(reason);
                        return;
                    }
                }
                let host = match proxy.host() {
                    ProxyHost::Keep => String::from_utf8_lossy(head.authority()).into_owned(),
                    ProxyHost::Endpoint => "the endpoint's own".to_owned(),
                    ProxyHost::Literal(host) => host.clone(),
                };
                self.step(None, "proxy", format!("asks for {}, host {host}", text.escape_ascii()));
                let named = |at: usize| config.upstreams().get(at);
                for split in proxy.splits() {
                    let Some(upstream) = named(split.upstream()) else { continue };
                    match taken(split.when(), head) {
                        Taken::No => {}
                        Taken::Chance(percent) => {
                            let how = format!("{percent} % of the requests go to `{}`", upstream.name());
                            self.step(Some(upstream.place()), "split", how);
                        }
                        Taken::Yes => {
                            self.step(Some(upstream.place()), "split", "takes this request".to_owned());
                            return self.upstream(upstream);
                        }
                    }
                }
                if let Some(upstream) = named(proxy.upstream()) {
                    self.upstream(upstream);
                }
            }
        }
    }

    fn upstream(&mut self, upstream: &Upstream) {
        let urls: Vec<&str> = upstream.endpoints().iter().map(|endpoint| endpoint.url()).collect();
        let policies = upstream.policies();
        let named = [
            (policies.outliers().is_some(), "outliers"),
            (policies.breaker().is_some(), "breaker"),
            (policies.retries().is_some(), "retry"),
            (policies.health().is_some(), "health"),
        ];
        let named: Vec<&str> = named.into_iter().filter(|(is_there, _)| *is_there).map(|(_, name)| name).collect();
        let with = if named.is_empty() { String::new() } else { format!("; {}", named.join(", ")) };
        let how = format!("`{}`: one of {}{with}", upstream.name(), urls.join(", "));
        self.step(Some(upstream.place()), "upstream", how);
    }
}

/// Whether a split takes a request.
enum Taken {
    No,
    Yes,
    Chance(u32),
}

fn taken(when: &SplitWhen, head: Head<'_>) -> Taken {
    let is = |found: Option<&[u8]>, wanted: &Option<String>| match (found, wanted) {
        (None, _) => Taken::No,
        (Some(_), None) => Taken::Yes,
        (Some(found), Some(wanted)) if found == wanted.as_bytes() => Taken::Yes,
        (Some(_), Some(_)) => Taken::No,
    };
    match when {
        SplitWhen::Percent(percent) => Taken::Chance(*percent),
        SplitWhen::Header { name, value } => is(head.fields().get_named(name.as_bytes()), value),
        SplitWhen::Cookie { name, value } => is(crate::pick::cookie(head.fields(), name), value),
    }
}
