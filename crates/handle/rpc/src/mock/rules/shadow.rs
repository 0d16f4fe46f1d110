//! Rules that can never answer: shadowed by a rule that is asked first and matches whatever they match, or at odds with
//! themselves.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use leat_config::Problem;
use leat_schema::Method;

use super::condition::Condition;
use super::rule::Rule;
use super::scalar::Literal;
use super::set::MethodRules;
use super::test::Test;

/// Rules with more conditions than this are compared with those of one less, of one, and of none, only.
const SUBSETS_OF_MAX: usize = 8;
/// Comparisons of rules by what their conditions mean, for a method.
const COMPARED_MAX: usize = 4_000_000;
/// Rules that are told of, for a method.
const TOLD_MAX: usize = 100;

/// The rules of a method that can never answer.
pub(super) fn find<R>(rules: &MethodRules<R>, method: &Method) -> Vec<Problem> {
    let mut found = Vec::new();
    // By the hashes of all their conditions; the first by rank. A rule that steps aside at some time shadows nothing.
    let mut steady: HashMap<u64, &Rule<R>> = HashMap::new();
    let mut loose: Vec<&Rule<R>> = Vec::new();
    let mut compared = 0;
    for rule in &rules.rules {
        if found.len() == TOLD_MAX {
            break;
        }
        if let Some(text) = at_odds(rule) {
            found.push(problem(rule, method, format!("can never match: {text}"), "change one of the two".to_owned()));
            continue;
        }
        let hashes: Vec<u64> = rule.conditions.iter().map(identity).collect();
        let by_identity = subsets(&hashes).into_iter().filter_map(|set| steady.get(&set).copied()).next();
        let shadow = by_identity.or_else(|| {
            compared += loose.len();
            let fits = |other: &&&Rule<R>| other.conditions.iter().all(|wide| implied(wide, &rule.conditions));
            loose.iter().filter(|_| compared <= COMPARED_MAX).find(fits).copied()
        });
        if let Some(other) = shadow {
            let (place, name) = (other.info.place(), other.name());
            let text = format!(
                "never answers: `{name}` ({}:{place}) is asked first and matches all that it matches",
                other.info.file()
            );
            found.push(problem(
                rule,
                method,
                text,
                "give it a higher `priority`, or another condition; or remove it".to_owned(),
            ));
            continue;
        }
        if rule.head().times.is_none() && rule.head().scenario.is_none() {
            steady.entry(sum(&hashes)).or_insert(rule);
            if rule.conditions.iter().any(|condition| literal(condition).is_none()) {
                loose.push(rule);
            }
        }
    }
    found
}

fn problem<R>(rule: &Rule<R>, method: &Method, text: String, help: String) -> Problem {
    Problem {
        file: rule.info.file().into(),
        place: Some(rule.info.place()),
        message: format!("the rule `{}` {text} (for {})", rule.name(), method.full_name()),
        help: Some(help),
    }
}

/// Two conditions on one value that cannot hold together.
fn at_odds<R>(rule: &Rule<R>) -> Option<String> {
    for (at, one) in rule.conditions.iter().enumerate() {
        let Some((slot, wanted)) = literal(one) else { continue };
        for (other_at, other) in rule.conditions.iter().enumerate() {
            let Condition::Slot { slot: found, test } = other else { continue };
            if *found == slot && other_at != at && !test.holds(Some(wanted.scalar())) {
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

/// Whether a rule's conditions say that `wide` holds: it is one of them, or the value that they want passes it.
fn implied(wide: &Condition, conditions: &[Condition]) -> bool {
    let hash = identity(wide);
    conditions.iter().any(|narrow| match (wide, literal(narrow)) {
        (Condition::Slot { slot, test }, Some((narrow, wanted))) if *slot == narrow => {
            test.holds(Some(wanted.scalar()))
        }
        _ => identity(narrow) == hash,
    })
}

fn literal(condition: &Condition) -> Option<(u16, &Literal)> {
    match condition {
        Condition::Slot { slot, test } => test.literal().map(|literal| (*slot, literal)),
        _ => None,
    }
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
