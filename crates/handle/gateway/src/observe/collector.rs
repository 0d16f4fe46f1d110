use std::io::Write;
use std::rc::Rc;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use leat_dial::{Endpoint, Pools, Resolver};

use super::post::{Message, post};
use super::random;
use crate::config::Otlp;
use crate::endpoints::single;

/// Tries for one message: what is not taken then is dropped, so that newer ones have a chance.
const TRIES_MAX: u32 = 4;
/// The pause before the second try, doubled with each; half of it is random.
const PAUSE_FIRST_MS: u64 = 250;
/// The longest pause that a collector may ask for (`Retry-After`).
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// The collector of a configuration.
pub(super) struct Collector {
    config: Otlp,
    endpoint: Rc<Endpoint>,
    authority: String,
    pools: Rc<Pools>,
}

/// Which kind of message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    Traces,
    Metrics,
}

impl Collector {
    pub(super) fn new(config: &Otlp, resolver: Resolver) -> Result<Self, String> {
        let endpoint = Rc::new(single(config.endpoint(), config.ca())?);
        let authority = config.endpoint().authority();
        Ok(Self { config: config.clone(), endpoint, authority, pools: Pools::new(resolver) })
    }

    /// Sends a message, again where the collector could take it later (OTLP/HTTP: 429, 502, 503 and 504, and no answer at all).
    ///
    /// # Errors
    /// Why it was not taken, without anything secret.
    pub(super) async fn send(&self, signal: Signal, message: &[u8]) -> Result<(), String> {
        let packed = if self.config.gzip() { pack(message) } else { None };
        let mut fields: Vec<(&str, &[u8])> = self.config.headers().collect();
        if packed.is_some() {
            fields.push(("content-encoding", b"gzip"));
        }
        let path = match signal {
            Signal::Traces => "/v1/traces",
            Signal::Metrics => "/v1/metrics",
        };
        let message = Message {
            authority: &self.authority,
            scheme: if self.config.endpoint().is_tls() { "https" } else { "http" },
            target: &format!("{}{path}", self.config.path()),
            fields: &fields,
            body: packed.as_deref().unwrap_or(message),
        };
        let time = Duration::from_millis(self.config.time_ms());
        let mut number = 0;
        loop {
            number += 1;
            let answer = tokio::time::timeout(time, post(&self.pools, &self.endpoint, &message)).await;
            let (problem, asked) = match answer {
                Ok(Ok(answer)) if (200..300).contains(&answer.status) => return Ok(()),
                Ok(Ok(answer)) => {
                    let problem = format!("it answered with status {}", answer.status);
                    if !matches!(answer.status, 429 | 502..=504) {
                        return Err(problem);
                    }
                    (problem, answer.retry_after)
                }
                Ok(Err(reason)) => (format!("it could not be reached ({reason})"), None),
                Err(_) => (format!("it took longer than {} ms", self.config.time_ms()), None),
            };
            if number == TRIES_MAX {
                return Err(problem);
            }
            tokio::time::sleep(asked.unwrap_or_else(|| pause(number, random())).min(PAUSE_MAX)).await;
        }
    }
}

fn pause(number: u32, random: u64) -> Duration {
    let most_ms = PAUSE_FIRST_MS << number.saturating_sub(1).min(8);
    Duration::from_millis(most_ms / 2 + random % (most_ms / 2).max(1))
}

/// `None` where it can't be done, which is never: then the message goes as it is.
fn pack(message: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(message.len() / 4), Compression::fast());
    encoder.write_all(message).ok()?;
    encoder.finish().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_half_of_each_is_random() {
        for (number, random, ms) in
            [(1, 0, 125), (1, 124, 249), (1, 125, 125), (2, 0, 250), (3, 499, 999), (99, 0, 32_000)]
        {
            assert_eq!(pause(number, random), Duration::from_millis(ms), "{number} {random}");
        }
    }
}
