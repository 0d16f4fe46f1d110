use std::collections::HashSet;
use std::rc::Rc;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use leat_dial::{Endpoint, Pools, Resolver};

use super::ask::{Question, ask};
use super::jwt::{KeySet, parse_jwks};
use super::key_source::{KeySource, STALE_MAX, WAIT_MAX};
use super::state::AuthState;
use crate::endpoints::single;

/// The longest answer of an issuer, in bytes.
const BYTES_MAX: usize = 256 * 1_024;
/// After a fetch that failed: the first pause, doubled with each that fails, up to the last.
const PAUSE_FIRST: Duration = Duration::from_secs(1);
const PAUSE_LAST: Duration = Duration::from_secs(60);

/// What became of a fetch, for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fetched {
    /// The keys are others than before.
    Changed {
        /// Where they come from.
        url: String,
        /// How many can be used.
        keys: usize,
    },
    /// There was no answer that could be used.
    Failed {
        /// Where it should have come from.
        url: String,
        /// What went wrong.
        problem: String,
    },
}

/// Keeps the keys of all token issuers fresh, for as long as it is polled: on the control thread. `told` hears of changes, and
/// of the first failure of each row, of each that is another one, and of the end of the row.
pub async fn fetch_keys(state: Arc<AuthState>, resolver: Resolver, told: impl Fn(Fetched) + 'static) {
    let pools = Pools::new(resolver);
    let told = Rc::new(told);
    let mut known = HashSet::new();
    loop {
        let sources = state.sources();
        known.retain(|identity| sources.iter().any(|(held, _)| held == identity));
        for (identity, source) in sources {
            if known.insert(identity) {
                tokio::task::spawn_local(keep_fresh(source, Rc::clone(&pools), Rc::clone(&told)));
            }
        }
        state.new_sources.notified().await;
    }
}

/// Ends when no configuration has the source any more.
async fn keep_fresh(source: Weak<KeySource>, pools: Rc<Pools>, told: Rc<impl Fn(Fetched)>) {
    let mut failures = 0;
    let mut failing = None;
    let mut last_good = Instant::now();
    loop {
        let Some(held) = source.upgrade() else { return };
        held.starts();
        let fetched = tokio::time::timeout(WAIT_MAX, fetch(&held, &pools)).await;
        // Without its query, which may hold a key.
        let url = held.settings().url().split('?').next().unwrap_or_default().to_owned();
        let pause = match fetched.unwrap_or_else(|_| Err("it took longer than 5 s".to_owned())) {
            Ok(keys) => {
                failures = 0;
                let is_well_again = failing.take().is_some();
                last_good = Instant::now();
                let keys_count = keys.len();
                if held.ended(Some(keys)) || is_well_again {
                    told(Fetched::Changed { url, keys: keys_count });
                }
                Duration::from_millis(held.settings().refresh_ms())
            }
            Err(problem) => {
                failures += 1;
                if last_good.elapsed() > STALE_MAX {
                    held.forget();
                }
                held.ended(None);
                if failing.as_ref() != Some(&problem) {
                    failing = Some(problem.clone());
                    told(Fetched::Failed { url, problem });
                }
                (PAUSE_FIRST * 2_u32.pow(u32::min(failures - 1, 6))).min(PAUSE_LAST)
            }
        };
        let wanted = held.wanted();
        drop(held);
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            // Whoever wants it has looked at the pause that must be between two.
            () = wanted.notified() => {}
        }
    }
}

async fn fetch(source: &KeySource, pools: &Rc<Pools>) -> Result<KeySet, String> {
    let settings = source.settings();
    let endpoint: Rc<Endpoint> = Rc::new(single(settings.endpoint(), settings.ca())?);
    let authority = settings.endpoint().authority();
    let question = Question {
        authority: &authority,
        scheme: if settings.endpoint().is_tls() { "https" } else { "http" },
        target: settings.path().as_bytes(),
        fields: &[(b"accept", b"application/jwk-set+json, application/json")],
        bytes_max: BYTES_MAX,
        head_says_all: false,
    };
    let answer = ask(pools, &endpoint, &question, |call, body| (call.response().status(), body.to_vec()));
    match answer.await {
        Ok((200, body)) => parse_jwks(&body, settings.algorithms(), false).map_err(|error| error.to_string()),
        Ok((status, _)) => Err(format!("it was answered with status {status}")),
        Err(reason) => Err(format!("it could not be fetched ({reason})")),
    }
}
