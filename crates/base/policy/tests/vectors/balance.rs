use leat_policy::Instant;
use leat_policy::balance::{
    Load, Maglev, OutlierSettings, Outliers, PeakEwma, Preference, Priorities, RoundRobin, SlowStart, Tier, Weighted,
    least_request,
};
use serde_json::{Value, json};

use crate::case::{Case, Draws, at, fraction, number, text, time, us};

pub(crate) fn run(case: &Case) -> Vec<Value> {
    let settings = &case.settings;
    let steps = case.steps.iter();
    match case.policy.as_str() {
        "round_robin" => {
            let (balancer, count) = (RoundRobin::new(), number(settings, "endpoints") as usize);
            steps.map(|step| json!({"pick": balancer.pick(count, usable(step))})).collect()
        }
        "weighted" => {
            let mut balancer = Weighted::new(number(settings, "endpoints") as usize).unwrap();
            steps
                .map(|step| {
                    let weights = list(step, "weights");
                    json!({"pick": balancer.pick(|index| weights[index])})
                })
                .collect()
        }
        "least_request" => steps.map(least).collect(),
        "peak_ewma" => peak(case),
        "maglev" => {
            let preferences: Vec<Preference> =
                settings["endpoints"].as_array().unwrap().iter().map(preference).collect();
            let table = Maglev::of_preferences(number(settings, "size") as u32, &preferences).unwrap();
            steps
                .map(|step| match step.get("key") {
                    Some(_) => json!({"pick": table.pick(number(step, "key"), usable(step))}),
                    None => json!({"table": table.table().collect::<Vec<_>>()}),
                })
                .collect()
        }
        "slow_start" => {
            let slow = SlowStart::new(time(settings, "window_us"), fraction(settings, "least")).unwrap();
            let since = |step| Instant::ZERO.after(time(step, "since_us"));
            steps
                .map(|step| json!({"weight": slow.weight(number(step, "weight") as u32, since(step), at(step))}))
                .collect()
        }
        "outliers" => outliers(case),
        "priorities" => steps.map(|step| priorities(step, number(settings, "overprovision") as u32)).collect(),
        other => panic!("no policy is called {other}"),
    }
}

fn list(step: &Value, key: &str) -> Vec<u32> {
    serde_json::from_value(step[key].clone()).unwrap()
}

fn usable(step: &Value) -> impl Fn(usize) -> bool {
    let usable: Vec<bool> = serde_json::from_value(step["usable"].clone()).unwrap();
    move |index| usable[index]
}

fn preference(value: &Value) -> Preference {
    let part = |key| number(value, key) as u32;
    Preference { offset: part("offset"), skip: part("skip"), weight: part("weight") }
}

fn least(step: &Value) -> Value {
    let (in_flight, weights) = (list(step, "in_flight"), list(step, "weights"));
    let load = |index: u32| Load { in_flight: in_flight[index as usize], weight: weights[index as usize] };
    json!({"pick": least_request(in_flight.len() as u32, load, &mut Draws::of(step))})
}

fn peak(case: &Case) -> Vec<Value> {
    let settings = &case.settings;
    let ewma = PeakEwma::new(time(settings, "half_life_us"), time(settings, "first_us")).unwrap();
    let mut endpoints = vec![ewma.endpoint(Instant::ZERO); number(settings, "endpoints") as usize];
    let event = |step: &Value| match text(step, "event") {
        "record" => {
            ewma.record(&mut endpoints[number(step, "endpoint") as usize], at(step), time(step, "latency_us"));
            json!({})
        }
        "load" => {
            let endpoint = &endpoints[number(step, "endpoint") as usize];
            json!({"load_us": (ewma.load(endpoint, at(step), number(step, "in_flight") as u32) / 1000.0) as u64})
        }
        "pick" => {
            let in_flight = list(step, "in_flight");
            let load = |index: u32| ewma.load(&endpoints[index as usize], at(step), in_flight[index as usize]);
            json!({"pick": PeakEwma::pick(in_flight.len() as u32, load, &mut Draws::of(step))})
        }
        other => panic!("no event is called {other}"),
    };
    case.steps.iter().map(event).collect()
}

fn outliers(case: &Case) -> Vec<Value> {
    let settings = &case.settings;
    let count = number(settings, "endpoints") as usize;
    let rules = OutlierSettings::new(
        number(settings, "consecutive_failures") as u32,
        time(settings, "ejection_us"),
        time(settings, "ejection_max_us"),
        fraction(settings, "part_max"),
    );
    let mut outliers = Outliers::new(rules.unwrap(), count).unwrap();
    let record = |step: &Value| {
        let (endpoint, now) = (number(step, "endpoint") as usize, at(step));
        let time = outliers.record(endpoint, step["failed"].as_bool().unwrap(), now);
        let ejected: Vec<bool> = (0..count).map(|index| outliers.is_ejected(index, now)).collect();
        json!({"ejected_us": time.map_or(Value::Null, us), "ejected": ejected})
    };
    case.steps.iter().map(record).collect()
}

fn priorities(step: &Value, overprovision: u32) -> Value {
    let tiers: Vec<(u32, u32)> = serde_json::from_value(step["tiers"].clone()).unwrap();
    let tiers: Vec<Tier> = tiers.into_iter().map(|(healthy, all)| Tier { healthy, all }).collect();
    let priorities = Priorities::new(&tiers, overprovision).unwrap();
    json!({"shares": priorities.shares(), "pick": priorities.pick(&mut Draws::of(step))})
}
