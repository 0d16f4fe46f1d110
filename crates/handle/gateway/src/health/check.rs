use std::rc::Rc;
use std::sync::Arc;

use leat_dial::{Endpoint, Resolver};
use leat_policy::{Random, SplitMix64};
use leat_stream::clock;

use super::probe::probe;
use crate::config::{Config, HealthCheck};
use crate::endpoints::{EndpointsError, seats};
use crate::pick::{Group, States, named, now};

/// The checks of one endpoint.
pub struct Check {
    upstream: Arc<str>,
    url: Arc<str>,
    group: Arc<Group>,
    /// Its number among the upstream's endpoints.
    at: usize,
    settings: HealthCheck,
    endpoint: Rc<Endpoint>,
    authority: Box<str>,
    scheme: &'static str,
    resolver: Resolver,
}

/// The checks that a configuration asks for, one for each endpoint of an upstream that has a `health` section. They are to
/// be made after the cores have taken the configuration over, on the thread that runs them.
///
/// # Errors
/// An endpoint whose TLS settings can't be used.
pub fn checks(config: &Config, states: &States, resolver: &Resolver) -> Result<Vec<Check>, EndpointsError> {
    let mut checks = Vec::new();
    for upstream in config.upstreams() {
        let Some(settings) = upstream.policies().health() else { continue };
        let seats = seats(upstream, 0)?;
        let names = named(upstream, &seats);
        let Some(group) = states.group(upstream.name(), upstream.policies(), &names, config.drains()) else { continue };
        checks.extend(seats.into_iter().zip(names).enumerate().map(|(at, (seat, (_, url)))| Check {
            upstream: upstream.name().into(),
            url,
            group: Arc::clone(&group),
            at,
            settings: settings.clone(),
            endpoint: seat.endpoint,
            authority: settings.host().map_or(seat.authority, Into::into),
            scheme: seat.scheme,
            resolver: resolver.clone(),
        }));
    }
    Ok(checks)
}

impl Check {
    /// Asks again and again; never ends. `told` hears of every change: the upstream, the endpoint, and why it is not well,
    /// or `None` where it is.
    pub async fn run(self, told: impl Fn(&str, &str, Option<&str>)) {
        let mut random = SplitMix64::new(crate::pick::seed());
        // The first ones are spread over an interval, and early: whoever starts wants to know.
        clock::sleep(random.part(self.settings.interval_ms().min(1_000))).await;
        let mut streak = Streak::default();
        loop {
            let found = probe(&self.resolver, &self.endpoint, &self.authority, self.scheme, &self.settings).await;
            let was_well = !self.group.is_unwell(self.at);
            let is_well = streak.add(found.is_ok(), was_well, &self.settings);
            if is_well != was_well {
                self.group.set_unwell(self.at, !is_well, now());
                told(&self.upstream, &self.url, found.err());
            }
            clock::sleep(wait_ms(&self.settings, &mut random)).await;
        }
    }
}

/// Results that say the opposite of what is believed, in a row.
#[derive(Debug, Default)]
struct Streak(u32);

impl Streak {
    /// Takes a result; says what is to be believed from now on.
    fn add(&mut self, good: bool, was_well: bool, settings: &HealthCheck) -> bool {
        if good == was_well {
            self.0 = 0;
            return was_well;
        }
        self.0 += 1;
        let wanted = if was_well { settings.failures() } else { settings.successes() };
        if self.0 < wanted {
            return was_well;
        }
        self.0 = 0;
        good
    }
}

/// The interval, less or more by up to its jitter.
fn wait_ms(settings: &HealthCheck, random: &mut impl Random) -> u64 {
    let interval_ms = settings.interval_ms();
    let jitter_ms = interval_ms * u64::from(settings.jitter_percent()) / 100;
    interval_ms - jitter_ms + random.part(2 * jitter_ms + 1)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config;

    fn settings(keys: &str) -> HealthCheck {
        let text = format!(
            "routes: [{{ proxy: a }}]\nupstreams: {{ a: {{ endpoints: \"http://a\", health: {{ {keys} }} }} }}\n"
        );
        let loaded = config::parse(&text, "leat.yaml", Path::new(".")).unwrap();
        loaded.config.upstreams()[0].policies().health().unwrap().clone()
    }

    #[test]
    fn it_takes_several_results_in_a_row_to_change_what_is_believed() {
        let settings = settings("failures: 3, successes: 2");
        for (results, believed) in
            [("--+---+", "wwwwwuu"), ("---++", "wwuuw"), ("---+-++-", "wwuuuuww"), ("++++", "wwww")]
        {
            let (mut streak, mut well) = (Streak::default(), true);
            let found: String = results
                .chars()
                .map(|result| {
                    well = streak.add(result == '+', well, &settings);
                    if well { 'w' } else { 'u' }
                })
                .collect();
            assert_eq!(found, believed, "{results}");
        }
    }

    #[test]
    fn intervals_differ_by_their_jitter_and_no_more() {
        let settings = settings("interval: 1s, jitter_percent: 20");
        let mut random = SplitMix64::new(7);
        let waits: Vec<u64> = (0..1_000).map(|_| wait_ms(&settings, &mut random)).collect();
        let (least, most) = (waits.iter().min().unwrap(), waits.iter().max().unwrap());
        assert!((800..=810).contains(least) && (1_190..=1_200).contains(most), "{least} to {most}");
    }
}
