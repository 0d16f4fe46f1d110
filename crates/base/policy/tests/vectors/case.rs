use std::path::Path;
use std::time::Duration;

use leat_policy::{Instant, Random};
use serde_json::Value;

/// A case of a file of `corpus/policy/`.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) policy: String,
    pub(crate) settings: Value,
    pub(crate) steps: Vec<Value>,
}

pub(crate) fn load(file: &str) -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../corpus/policy").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
    let list: Vec<Value> = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
    list.into_iter().map(Case::new).collect()
}

impl Case {
    fn new(mut value: Value) -> Self {
        Self {
            name: text(&value, "name").to_owned(),
            policy: text(&value, "policy").to_owned(),
            settings: value["settings"].take(),
            steps: match value["steps"].take() {
                Value::Array(steps) => steps,
                other => panic!("steps: {other}"),
            },
        }
    }

    /// Every key that a step expects must have come out just so.
    pub(crate) fn compare(&self, found: &[Value]) {
        assert_eq!(self.steps.len(), found.len(), "{}", self.name);
        for (index, (step, found)) in self.steps.iter().zip(found).enumerate() {
            let Some(expected) = step.get("expect") else { continue };
            let expected = expected.as_object().unwrap_or_else(|| panic!("{}: expect is no object", self.name));
            for (key, value) in expected {
                let got = found.get(key).unwrap_or_else(|| panic!("{}: step {index} has no {key}", self.name));
                assert_eq!(got, value, "{}: step {index}: {key} of {step}, found {found}", self.name);
            }
        }
    }
}

pub(crate) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("{key} of {value} is no text"))
}

pub(crate) fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_else(|| panic!("{key} of {value} is no whole number"))
}

/// A key that ends in `_us`.
pub(crate) fn time(value: &Value, key: &str) -> Duration {
    Duration::from_micros(number(value, key))
}

/// When a step happens.
pub(crate) fn at(step: &Value) -> Instant {
    Instant::from_micros(number(step, "at_us"))
}

/// Whole microseconds, as the corpus tells times.
pub(crate) fn us(time: Duration) -> Value {
    u64::try_from(time.as_micros()).unwrap().into()
}

pub(crate) fn fraction(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key} of {value} is no number"))
}

/// The random numbers of a step, in order. Too few or too many is a failure of the case.
pub(crate) struct Draws(std::vec::IntoIter<u64>);

impl Draws {
    pub(crate) fn of(step: &Value) -> Self {
        let list = step.get("draws").map_or(Vec::new(), |draws| serde_json::from_value(draws.clone()).unwrap());
        Self(list.into_iter())
    }
}

impl Random for Draws {
    fn draw(&mut self) -> u32 {
        u32::try_from(self.0.next().expect("a draw more than the case has")).unwrap()
    }
}

impl Drop for Draws {
    fn drop(&mut self) {
        assert!(std::thread::panicking() || self.0.len() == 0, "{} draws were not used", self.0.len());
    }
}
