use leat_policy::concurrency::{Gradient, Raw, Settings};
use serde_json::{Value, json};

use crate::case::{Case, at, number, time, us};

pub(crate) fn run(case: &Case) -> Vec<Value> {
    assert_eq!(case.policy, "gradient", "no policy is called so");
    let settings = &case.settings;
    let part = |key| number(settings, key) as u32;
    let raw = Raw {
        min: part("min"),
        max: part("max"),
        window: time(settings, "window_us"),
        samples_min: part("samples_min"),
        tolerance_percent: part("tolerance_percent"),
        smoothing_percent: part("smoothing_percent"),
    };
    let mut gradient = Gradient::new(Settings::new(&raw).unwrap());
    let record = |step: &Value| {
        gradient.record(at(step), time(step, "took_us"), number(step, "in_flight") as u32);
        json!({"limit": gradient.limit(), "ease_us": gradient.ease().map_or(Value::Null, us)})
    };
    case.steps.iter().map(record).collect()
}
