use std::collections::HashMap;
use std::time::Duration;

use leat_policy::breaker::{Answer, Breaker, Ended, Permit, Raw, Settings, State, WindowSize};
use serde_json::{Value, json};

use crate::case::{Case, at, number, text, time, us};

pub(crate) fn run(case: &Case) -> Vec<Value> {
    let mut breaker = Breaker::new(settings(&case.settings));
    let mut permits = HashMap::new();
    case.steps.iter().map(|step| event(step, &mut breaker, &mut permits)).collect()
}

fn settings(value: &Value) -> Settings {
    let window = &value["window"];
    let raw = Raw {
        window: match window.get("calls") {
            Some(_) => WindowSize::Calls(number(window, "calls") as u32),
            None => WindowSize::Time(time(window, "time_us")),
        },
        calls_min: number(value, "calls_min") as u32,
        failure_rate: value.get("failure_rate").and_then(Value::as_f64),
        slow_rate: value.get("slow_rate").and_then(Value::as_f64),
        slow_call: value.get("slow_call_us").map_or(Duration::ZERO, |_| time(value, "slow_call_us")),
        consecutive_failures: value.get("consecutive_failures").and_then(Value::as_u64).map(|most| most as u32),
        probes: number(value, "probes") as u32,
        open: time(value, "open_us"),
        open_max: time(value, "open_max_us"),
    };
    Settings::new(&raw).unwrap()
}

fn event(step: &Value, breaker: &mut Breaker, permits: &mut HashMap<String, Permit>) -> Value {
    let now = at(step);
    let mut found = json!({});
    match text(step, "event") {
        "ask" => {
            let (answer, permit) = match breaker.ask(now) {
                Answer::Admit(permit) => ("admit", Some(permit)),
                Answer::Probe(permit) => ("probe", Some(permit)),
                Answer::Refuse { retry_after } => {
                    found["retry_after_us"] = retry_after.map_or(Value::Null, us);
                    ("refuse", None)
                }
            };
            found["answer"] = answer.into();
            if let (Some(permit), Some(call)) = (permit, step.get("call").and_then(Value::as_str)) {
                permits.insert(call.to_owned(), permit);
            }
        }
        "record" => {
            let ended = Ended { failed: step["failed"].as_bool().unwrap(), took: time(step, "took_us") };
            let before = breaker.state();
            let change = breaker.record(permits[text(step, "call")], now, ended);
            let (from, to) = change.map_or((before, before), |change| (change.from, change.to));
            assert_eq!((from, to), (before, breaker.state()), "what is told of the step");
        }
        "release" => breaker.release(permits[text(step, "call")]),
        other => panic!("no event is called {other}"),
    }
    found["state"] = match breaker.state() {
        State::Admit => "admit",
        State::Refuse => "refuse",
        State::Probe => "probe",
    }
    .into();
    found
}
