//! Rules that can never answer: shadowed by a rule that is asked first and matches whatever they match, or at odds with
//! themselves.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use leat_config::Problem;
use leat_schema::Method;

use super::condition::Condition;
use super::rule::Rule;
use super::set::MethodRules;
use super::test::Test;
use crate::mock::state::INITIAL_STATE;

/// Rules with more conditions than this are compared with those of one less, of one, and of none, only.
const SUBSETS_OF_MAX: usize = 8;
/// Comparisons of rules by what their conditions mean, for a method.
const COMPARED_MAX: usize = 1_000_000;
/// Rules that are told of, for a method.
const TOLD_MAX: usize = 100;

/// A rule, and what is compared of it.
struct Known<'r, R> {
    rule: &'r Rule<R>,
    /// What tells its conditions apart, in their order.
    identities: Vec<u64>,
}

/// The rules that can never answer, in the order of the files: those that are told of for each method that they are for, and
/// those whose scenario is never in the state that they want.
pub(super) fn find<'r, R: 'r>(methods: impl Iterator<Item = (&'r MethodRules<R>, &'r Method)>) -> Vec<Problem> {
    let (mut told, mut compiled) = (BTreeMap::<usize, (usize, Problem)>::new(), HashMap::<usize, usize>::new());
    let (mut heads, mut reached) = (BTreeMap::new(), HashSet::new());
    for (rules, method) in methods {
        for (rule, problem) in of_method(rules, method) {
            told.entry(rule).or_insert((0, problem)).0 += 1;
        }
        for rule in &rules.rules {
            *compiled.entry(rule.number()).or_default() += 1;
            if let Some(scenario) = &rule.head().scenario {
                reached.extend(scenario.to.as_ref().map(|to| (&*scenario.name, &**to)));
                heads.insert(rule.number(), (rule, scenario));
            }
        }
    }
    let mut unreached = 0;
    for (number, (rule, scenario)) in heads {
        if unreached == TOLD_MAX {
            break;
        }
        if let Some(state) = &scenario.required
            && **state != *INITIAL_STATE
            && !reached.contains(&(&*scenario.name, &**state))
        {
            let text =
                format!("never answers: no rule brings the scenario `{}` into the state `{state}`", scenario.name);
            let help = "write this state as `to` of another rule, or set it by the admin API";
            unreached += 1;
            told.insert(number, (usize::MAX, problem(rule, None, &text, help)));
        }
    }
    // A rule for many methods that answers one of them is what its author wanted.
    let whole = |number: &usize, times: usize| compiled.get(number).is_none_or(|all| times >= *all);
    told.into_iter().filter(|(number, (times, _))| whole(number, *times)).map(|(_, (_, problem))| problem).collect()
}

/// The rules of a method that can never answer it, by their numbers.
fn of_method<R>(rules: &MethodRules<R>, method: &Method) -> Vec<(usize, Problem)> {
    let mut found = Vec::new();
    // By all their conditions; the first by rank. A rule that steps aside at some time shadows nothing.
    let mut steady: HashMap<u64, &Rule<R>> = HashMap::new();
    // Those with conditions on fields that many values pass: what others want exactly may pass them too.
    let mut loose: Vec<Known<'_, R>> = Vec::new();
    let mut compared = 0;
    for rule in &rules.rules {
        if found.len() == TOLD_MAX {
            break;
        }
        if let Some(text) = at_odds(rule) {
            let text = format!("can never match: {text}");
            found.push((rule.number(), problem(rule, Some(method), &text, "change one of the two")));
            continue;
        }
        let known = Known { rule, identities: rule.conditions.iter().map(identity).collect() };
        let by_identity = subsets(&known.identities).into_iter().find_map(|set| steady.get(&set).copied());
        let shadow = by_identity.or_else(|| {
            compared += loose.len();
            let others = loose.iter().filter(|_| compared <= COMPARED_MAX);
            others.into_iter().find(|other| other.covers(&known)).map(|other| other.rule)
        });
        if let Some(other) = shadow {
            let (name, file, place) = (other.name(), other.info.file(), other.info.place());
            let text =
                format!("never answers: `{name}` ({file}:{place}) is asked first and matches all that it matches");
            let help = "give it a higher `priority`, or another condition; or remove it";
            found.push((rule.number(), problem(rule, Some(method), &text, help)));
            continue;
        }
        if rule.head().times.is_none() && rule.head().scenario.is_none() {
            steady.entry(sum(&known.identities)).or_insert(rule);
            let is_wide =
                |condition: &Condition| matches!(condition, Condition::Slot { test, .. } if test.literal().is_none());
            if rule.conditions.iter().any(is_wide) {
                loose.push(known);
            }
        }
    }
    found
}

impl<R> Known<'_, R> {
    /// Whether what passes the other's conditions passes these: each is one of the other's, or the values that the other
    /// wants pass it, or the other's bound is a narrower one.
    fn covers(&self, other: &Self) -> bool {
        self.rule.conditions.iter().zip(&self.identities).all(|(wide, identity)| {
            other.identities.contains(identity)
                || matches!(wide, Condition::Slot { slot, test } if other.tests(*slot).any(|narrow| within(narrow, test)))
        })
    }

    /// What it asks of a field.
    fn tests(&self, wanted: u16) -> impl Iterator<Item = &Test> {
        self.rule.conditions.iter().filter_map(move |condition| match condition {
            Condition::Slot { slot, test } if *slot == wanted => Some(test),
            _ => None,
        })
    }
}

/// Whether what passes one test surely passes the other.
fn within(narrow: &Test, wide: &Test) -> bool {
    match narrow.choices() {
        Some(choices) => choices.iter().all(|choice| wide.holds(Some(choice.scalar()))),
        None => wide.bounds(narrow),
    }
}

fn problem<R>(rule: &Rule<R>, method: Option<&Method>, text: &str, help: &str) -> Problem {
    let of = method.map_or(String::new(), |method| format!(" (for {})", method.full_name()));
    Problem {
        file: rule.info.file().into(),
        place: Some(rule.info.place()),
        message: format!("the rule `{}` {text}{of}", rule.name()),
        help: Some(help.to_owned()),
    }
}

/// Two conditions on one value that cannot hold together.
fn at_odds<R>(rule: &Rule<R>) -> Option<String> {
    for (at, one) in rule.conditions.iter().enumerate() {
        let Condition::Slot { slot, test: one } = one else { continue };
        let Some(choices) = one.choices() else { continue };
        for (other_at, other) in rule.conditions.iter().enumerate() {
            let Condition::Slot { slot: found, test } = other else { continue };
            if found == slot && other_at != at && !choices.iter().any(|choice| test.holds(Some(choice.scalar()))) {
                return Some("two of its conditions on one field exclude each other".to_owned());
            }
        }
    }
    let mut bounds: HashMap<u16, Vec<&Test>> = HashMap::new();
    for condition in &rule.conditions {
        if let Condition::Slot { slot, test: test @ Test::Compare(..) } = condition {
            bounds.entry(*slot).or_default().push(test);
        }
    }
    let excluded = bounds.values().any(|tests| tests.iter().any(|one| tests.iter().any(|two| one.excludes(two))));
    excluded.then(|| "two of its bounds on one field leave no value between them".to_owned())
}

/// The same for conditions that say the same in the same words.
fn identity(condition: &Condition) -> u64 {
    let mut hasher = DefaultHasher::new();
    match condition {
        Condition::Slot { slot, test } => (0, slot, format!("{test:?}")).hash(&mut hasher),
        Condition::Metadata { name, test } => (1, name, format!("{test:?}")).hash(&mut hasher),
        Condition::Tree(condition) => (2, &condition.path, &condition.source).hash(&mut hasher),
        Condition::Cel(expression) => (3, expression.source()).hash(&mut hasher),
        Condition::Any(groups) => (4, nested(groups)).hash(&mut hasher),
        Condition::None(groups) => (5, nested(groups)).hash(&mut hasher),
    }
    hasher.finish()
}

fn nested(groups: &[Box<[Condition]>]) -> Vec<u64> {
    groups.iter().map(|group| sum(&group.iter().map(identity).collect::<Vec<_>>())).collect()
}

/// A set's hash, whatever the order.
fn sum(hashes: &[u64]) -> u64 {
    hashes.iter().fold(0, |sum, hash| sum.wrapping_add(*hash))
}

/// The hashes of the sets that these conditions contain.
fn subsets(hashes: &[u64]) -> Vec<u64> {
    if hashes.len() <= SUBSETS_OF_MAX {
        return (0..1u32 << hashes.len())
            .map(|set| {
                sum(&hashes
                    .iter()
                    .enumerate()
                    .filter(|(at, _)| set >> at & 1 == 1)
                    .map(|(_, hash)| *hash)
                    .collect::<Vec<_>>())
            })
            .collect();
    }
    let all = sum(hashes);
    let less = hashes.iter().map(|hash| all.wrapping_sub(*hash));
    less.chain(hashes.iter().copied()).chain([0, all]).collect()
}
