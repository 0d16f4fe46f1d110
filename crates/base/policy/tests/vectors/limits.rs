use leat_policy::limit::{Cell, Claim, Decision, Gcra, Joint, Limit, SlidingWindow, Verdict, admit_all};
use serde_json::{Value, json};

use crate::case::{Case, at, number, text, time, us};

pub(crate) fn run(case: &Case) -> Vec<Value> {
    let limits: Vec<Limit> = case.settings["limits"].as_array().unwrap().iter().map(limit).collect();
    let cells: Vec<Cell> = limits.iter().map(|_| Cell::new()).collect();
    case.steps
        .iter()
        .map(|step| {
            let costs = step["costs"].as_array().unwrap();
            assert_eq!(costs.len(), limits.len(), "{}: a cost for each limit", case.name);
            let mut claims: Vec<_> = limits
                .iter()
                .zip(&cells)
                .zip(costs)
                .map(|((limit, cell), cost)| Claim::new(limit, cell, cost.as_u64().unwrap()))
                .collect();
            match admit_all(&mut claims, at(step)) {
                Joint::Admit { tightest: None } => json!({"admit": true, "index": null}),
                Joint::Admit { tightest: Some((index, verdict)) } => outcome(index, &verdict),
                Joint::Refuse { by, verdict } => outcome(by, &verdict),
            }
        })
        .collect()
}

fn limit(settings: &Value) -> Limit {
    match text(settings, "kind") {
        "gcra" => Limit::Gcra(
            Gcra::new(number(settings, "quota"), time(settings, "per_us"), number(settings, "burst")).unwrap(),
        ),
        "sliding_window" => {
            Limit::SlidingWindow(SlidingWindow::new(number(settings, "limit"), time(settings, "window_us")).unwrap())
        }
        other => panic!("no limit is called {other}"),
    }
}

fn outcome(index: usize, verdict: &Verdict) -> Value {
    let mut found = json!({
        "admit": verdict.is_admitted(),
        "index": index,
        "remaining": verdict.remaining,
        "reset_us": us(verdict.reset),
    });
    if let Decision::Refuse { retry_after } = verdict.decision {
        found["retry_after_us"] = retry_after.map_or(Value::Null, us);
    }
    found
}
