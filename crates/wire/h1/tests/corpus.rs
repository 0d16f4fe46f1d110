//! Every case of `corpus/h1/`, as it stands and cut at every byte boundary.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "corpus/case.rs"]
mod case;
#[path = "corpus/cuts.rs"]
mod cuts;
#[path = "corpus/request.rs"]
mod request;
#[path = "corpus/response.rs"]
mod response;

use case::{Case, mismatch};
use leat_h1::Profile;
use serde_json::Value;

fn check(cases: &[Case], run: impl Fn(&Case, &[&[u8]], Profile) -> Vec<Value>) {
    let mut wrong = Vec::new();
    for case in cases {
        for (profile, expected) in [(Profile::Compatible, &case.compatible), (Profile::Strict, &case.strict)] {
            cuts::each(&case.pieces, |cut, pieces| {
                let outcome = run(case, pieces, profile);
                if let Some(difference) = mismatch(expected, &outcome) {
                    wrong.push(format!("{} ({profile:?}, {cut}): {difference}", case.name));
                    return false;
                }
                true
            });
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn requests_have_the_outcome_of_the_corpus() {
    let cases = case::load("request");
    assert!(!cases.is_empty());
    check(&cases, request::run);
}

#[test]
fn responses_have_the_outcome_of_the_corpus() {
    check(&case::load("response"), response::run);
}
