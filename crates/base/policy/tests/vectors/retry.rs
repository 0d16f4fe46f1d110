use std::time::{Duration, UNIX_EPOCH};

use leat_policy::retry::{
    Backoff, Body, Budget, BudgetCell, Conditions, Idempotency, Jitter, Outcome, Retry, Try, parse_retry_after,
};
use leat_policy::{Deadline, Instant};
use serde_json::{Value, json};

use crate::case::{Case, Draws, at, fraction, number, text, time, us};

pub(crate) fn run(case: &Case) -> Vec<Value> {
    match case.policy.as_str() {
        "backoff" => {
            let backoff = backoff(&case.settings);
            let wait = |step| backoff.wait(number(step, "retry") as u32, &mut Draws::of(step));
            case.steps.iter().map(|step| json!({"wait_us": us(wait(step))})).collect()
        }
        "retry_after" => case.steps.iter().map(retry_after).collect(),
        "budget" => {
            let (budget, cell) = budget(&case.settings);
            case.steps.iter().map(|step| withdraw(step, &budget, &cell)).collect()
        }
        "retry" => {
            let retry = retry(&case.settings);
            let budget = case.settings.get("budget").map(budget);
            let budget = budget.as_ref().map(|(budget, cell)| (budget, cell));
            case.steps.iter().map(|step| attempt(step, &retry, budget)).collect()
        }
        "deadline" => case.steps.iter().map(|step| left(step, deadline(&case.settings))).collect(),
        other => panic!("no policy is called {other}"),
    }
}

fn optional(value: &Value, key: &str) -> Option<Duration> {
    value.get(key).and_then(Value::as_u64).map(Duration::from_micros)
}

fn backoff(settings: &Value) -> Backoff {
    let jitter = match text(settings, "jitter") {
        "full" => Jitter::Full,
        "equal" => Jitter::Equal,
        other => panic!("no jitter is called {other}"),
    };
    Backoff::new(time(settings, "base_us"), time(settings, "max_us"), jitter).unwrap()
}

fn retry_after(step: &Value) -> Value {
    let wait = parse_retry_after(text(step, "value").as_bytes(), UNIX_EPOCH + time(step, "at_us"));
    json!({"wait_us": wait.map_or(Value::Null, us)})
}

fn budget(settings: &Value) -> (Budget, BudgetCell) {
    let (per_second, burst) = (number(settings, "per_second") as u32, number(settings, "burst") as u32);
    let budget = Budget::new(fraction(settings, "ratio"), per_second, burst).unwrap();
    let cell = budget.cell();
    (budget, cell)
}

fn withdraw(step: &Value, budget: &Budget, cell: &BudgetCell) -> Value {
    let granted = match text(step, "event") {
        "deposit" => {
            budget.deposit(cell, at(step));
            Value::Null
        }
        "withdraw" => budget.withdraw(cell, at(step)).into(),
        other => panic!("no event is called {other}"),
    };
    json!({"granted": granted, "available": budget.available(cell, at(step))})
}

fn retry(settings: &Value) -> Retry {
    let statuses = |key: &str| -> Vec<u16> { serde_json::from_value(settings[key].clone()).unwrap() };
    let flag = |key: &str| settings[key].as_bool().unwrap();
    let conditions = Conditions::default()
        .with_statuses(&statuses("statuses"), &statuses("statuses_any_method"))
        .unwrap()
        .with_failures(flag("not_sent"), flag("broken"), flag("timed_out"));
    let retries_max = number(settings, "retries_max") as u32;
    Retry::new(retries_max, backoff(settings), time(settings, "retry_after_max_us"), conditions).unwrap()
}

fn attempt(step: &Value, retry: &Retry, budget: Option<(&Budget, &BudgetCell)>) -> Value {
    let ended = Try {
        number: number(step, "number") as u32,
        outcome: match text(step, "outcome") {
            "not_sent" => Outcome::NotSent,
            "not_processed" => Outcome::NotProcessed,
            "broken" => Outcome::Broken,
            "timed_out" => Outcome::TimedOut,
            "status" => Outcome::Status(number(step, "status") as u16),
            "passed_on" => Outcome::PassedOn,
            "cancelled" => Outcome::Cancelled,
            other => panic!("no outcome is called {other}"),
        },
        retry_after: optional(step, "retry_after_us"),
        idempotency: Idempotency::of_method(text(step, "method").as_bytes()),
        body: if step.get("body_consumed") == Some(&Value::Bool(true)) { Body::Consumed } else { Body::Whole },
    };
    match retry.after(&ended, at(step), deadline(step), budget, &mut Draws::of(step)) {
        Ok(again) => json!({"wait_us": us(again.wait)}),
        Err(stop) => json!({"stop": stop.name()}),
    }
}

fn deadline(value: &Value) -> Deadline {
    optional(value, "deadline_us").map_or(Deadline::NONE, |time| Deadline::after(Instant::ZERO, time))
}

fn left(step: &Value, deadline: Deadline) -> Value {
    let now = at(step);
    json!({
        "passed": deadline.has_passed(now),
        "left_us": deadline.left(now).map_or(Value::Null, us),
        "try_us": deadline.of_try(now, optional(step, "per_try_us")).time().map_or(Value::Null, |end| us(end.since(Instant::ZERO))),
    })
}
