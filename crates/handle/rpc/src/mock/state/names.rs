use std::collections::HashMap;

use super::draws::hash;

/// A rule, known by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RuleId {
    number: u32,
    /// Of the name: what is random in a rule does not depend on how many rules were loaded before it.
    hash: u64,
}

/// A scenario, known by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScenarioId(u32);

impl RuleId {
    pub(super) fn number(self) -> u32 {
        self.number
    }

    pub(super) fn hash(self) -> u64 {
        self.hash
    }
}

impl ScenarioId {
    pub(super) fn number(self) -> u32 {
        self.0
    }
}

/// Numbers for names. A number is never given twice, so that an id of a rule that went away never means another one.
#[derive(Debug, Default)]
pub(super) struct Names {
    rules: HashMap<Box<str>, u32>,
    scenarios: HashMap<Box<str>, u32>,
    rules_made: u32,
}

impl Names {
    pub(super) fn rule(&mut self, name: &str) -> RuleId {
        let hash = hash(name.as_bytes());
        if let Some(&number) = self.rules.get(name) {
            return RuleId { number, hash };
        }
        let number = self.rules_made;
        self.rules_made += 1;
        self.rules.insert(name.into(), number);
        RuleId { number, hash }
    }

    pub(super) fn scenario(&mut self, name: &str) -> ScenarioId {
        if let Some(&number) = self.scenarios.get(name) {
            return ScenarioId(number);
        }
        let number = self.scenarios.len() as u32;
        self.scenarios.insert(name.into(), number);
        ScenarioId(number)
    }

    /// Takes rules out, and gives their numbers back.
    pub(super) fn remove_rules(&mut self, keep: impl Fn(&str) -> bool) -> Vec<u32> {
        let mut gone = Vec::new();
        self.rules.retain(|name, &mut number| {
            let kept = keep(name);
            if !kept {
                gone.push(number);
            }
            kept
        });
        gone
    }

    /// The names of these numbers, with what belongs to them, by name.
    pub(super) fn named_rules<T: Copy>(&self, numbers: &HashMap<u32, T>) -> Vec<(String, T)> {
        named(&self.rules, |number| numbers.get(&number).copied())
    }

    /// The same for scenarios.
    pub(super) fn named_scenarios<T: Clone>(&self, numbers: &HashMap<u32, T>) -> Vec<(String, T)> {
        named(&self.scenarios, |number| numbers.get(&number).cloned())
    }
}

fn named<T>(names: &HashMap<Box<str>, u32>, value: impl Fn(u32) -> Option<T>) -> Vec<(String, T)> {
    let mut all: Vec<_> = names.iter().filter_map(|(name, &number)| Some((name.to_string(), value(number)?))).collect();
    all.sort_by(|(one, _), (two, _)| one.cmp(two));
    all
}
