//! What `corpus/policy/` says, asked of every policy. `corpus/policy/README.md` tells the form.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod balance;
mod breaker;
mod case;
mod concurrency;
mod limits;
mod retry;

use case::Case;

/// Runs the cases of a file; `run` gives, for each step, what came out, of which the keys of `expect` are compared.
fn all(file: &str, count_min: usize, run: impl Fn(&Case) -> Vec<serde_json::Value>) {
    let cases = case::load(file);
    assert!(cases.len() >= count_min, "{file}: {} cases, of at least {count_min}", cases.len());
    for case in &cases {
        case.compare(&run(case));
    }
}

#[test]
fn limits_decide_as_the_corpus_says() {
    all("limits.json", 17, limits::run);
}

#[test]
fn retries_and_deadlines_are_as_the_corpus_says() {
    all("retry.json", 13, retry::run);
}

#[test]
fn a_breaker_steps_as_the_corpus_says() {
    all("breaker.json", 16, breaker::run);
}

#[test]
fn a_limit_of_requests_under_way_moves_as_the_corpus_says() {
    all("concurrency.json", 5, concurrency::run);
}

#[test]
fn balancers_choose_as_the_corpus_says() {
    all("balance.json", 17, balance::run);
}
