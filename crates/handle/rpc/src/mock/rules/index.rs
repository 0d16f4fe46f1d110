use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::condition::Condition;
use super::scalar::{Scalar, combine};
use super::{Fields, rule::Rule};

/// Finds the rules that may match a call by the values that they want exactly. Rules that want values of the same fields
/// share a table from these values to rules; the few without a table are candidates always.
///
/// Every rule that matches is among the candidates. What a look-up costs depends on the number of tables, not of rules.
#[derive(Debug, Default)]
pub(super) struct Index {
    tables: Vec<Table>,
    /// Ranks of the rules that are in no table.
    rest: Vec<u32>,
}

/// Most tables: what a look-up costs at most.
const TABLES_MAX: usize = 16;

#[derive(Debug)]
struct Table {
    fields: Signature,
    /// From the hash of the values to a part of `ranks`.
    buckets: HashMap<u64, (u32, u32), BuildHasherDefault<Hashed>>,
    ranks: Vec<u32>,
}

/// Fields whose values rules want exactly.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Signature {
    slots: Vec<u16>,
    /// One name at most: a name may have several values in a call, and each is looked up.
    metadata: Option<Box<str>>,
}

impl Index {
    /// An index over rules in the order of their ranks.
    pub(super) fn new<R>(rules: &[Rule<R>]) -> Self {
        let signatures: Vec<Signature> = rules.iter().map(|rule| Signature::of(&rule.conditions)).collect();
        let chosen = choose(&signatures);
        let mut members: Vec<Vec<(u64, u32)>> = vec![Vec::new(); chosen.len()];
        let mut rest = Vec::new();
        for ((rule, signature), rank) in rules.iter().zip(&signatures).zip(0..) {
            let best = chosen.iter().enumerate().filter(|(_, table)| signature.covers(table));
            match best.max_by_key(|(_, table)| table.len()) {
                Some((at, table)) => {
                    if let (Some(hash), Some(members)) = (table.wanted(&rule.conditions), members.get_mut(at)) {
                        members.push((hash, rank));
                    }
                }
                None => rest.push(rank),
            }
        }
        let tables = chosen.into_iter().zip(members).map(|(fields, members)| Table::new(fields, members)).collect();
        Self { tables, rest }
    }

    /// The ranks of all rules that may match.
    pub(super) fn candidates<'i>(&'i self, values: &[Option<Scalar<'_>>], metadata: &dyn Fields) -> Candidates<'i> {
        let mut found = Candidates { heads: [&[]; HEADS], len: 0, more: Vec::new() };
        found.push(&self.rest);
        for table in &self.tables {
            let Some(hash) = table.fields.seen(values) else { continue };
            match &table.fields.metadata {
                None => found.push(table.bucket(hash)),
                Some(name) => {
                    metadata.any(name, &mut |value| {
                        found.push(table.bucket(combine(hash, Scalar::Text(value).hash())));
                        false
                    });
                }
            }
        }
        found
    }
}

/// The signatures that get a table: those that most rules have, then single fields for the rules that are left.
fn choose(signatures: &[Signature]) -> Vec<Signature> {
    let mut chosen = Vec::new();
    let whole = signatures.iter().filter(|signature| signature.len() > 0);
    frequent(whole.cloned(), TABLES_MAX / 2, &mut chosen);
    let left = signatures.iter().filter(|signature| !chosen.iter().any(|table| signature.covers(table)));
    let single = left.flat_map(Signature::single).collect::<Vec<_>>();
    frequent(single.into_iter(), TABLES_MAX - chosen.len(), &mut chosen);
    chosen
}

/// Adds the most frequent ones.
fn frequent(signatures: impl Iterator<Item = Signature>, most: usize, chosen: &mut Vec<Signature>) {
    let mut counts: HashMap<Signature, u32> = HashMap::new();
    signatures.for_each(|signature| *counts.entry(signature).or_default() += 1);
    let mut counts: Vec<(Signature, u32)> = counts.into_iter().collect();
    counts.sort_by(|(one, one_count), (two, two_count)| two_count.cmp(one_count).then_with(|| one.cmp(two)));
    chosen.extend(counts.into_iter().take(most).map(|(signature, _)| signature));
}

impl Signature {
    /// All fields that these conditions want exactly.
    fn of(conditions: &[Condition]) -> Self {
        let mut signature = Self::default();
        let mut names = Vec::new();
        for condition in conditions {
            match condition {
                Condition::Slot { slot, test } if test.literal().is_some() => signature.slots.push(*slot),
                Condition::Metadata { name, test } if test.literal().is_some() => names.push(name),
                _ => {}
            }
        }
        signature.metadata = names.into_iter().min().cloned();
        signature.slots.sort_unstable();
        signature.slots.dedup();
        signature
    }

    fn len(&self) -> usize {
        self.slots.len() + usize::from(self.metadata.is_some())
    }

    /// Whether a rule with this signature may stand in the table of `other`.
    fn covers(&self, other: &Self) -> bool {
        other.slots.iter().all(|slot| self.slots.contains(slot))
            && (other.metadata.is_none() || other.metadata == self.metadata)
    }

    fn single(&self) -> Vec<Self> {
        let slots = self.slots.iter().map(|slot| Self { slots: vec![*slot], metadata: None });
        let metadata = self.metadata.iter().map(|name| Self { slots: Vec::new(), metadata: Some(name.clone()) });
        slots.chain(metadata).collect()
    }

    /// The hash of the values that a rule wants; the first where it wants two for one field, since it then never matches.
    fn wanted(&self, conditions: &[Condition]) -> Option<u64> {
        let mut hash = 0;
        for slot in &self.slots {
            let wanted = conditions.iter().find_map(|condition| match condition {
                Condition::Slot { slot: found, test } if found == slot => test.literal(),
                _ => None,
            })?;
            hash = combine(hash, wanted.scalar().hash());
        }
        if let Some(name) = &self.metadata {
            let wanted = conditions.iter().find_map(|condition| match condition {
                Condition::Metadata { name: found, test } if found == name => test.literal(),
                _ => None,
            })?;
            hash = combine(hash, wanted.scalar().hash());
        }
        Some(hash)
    }

    /// The hash of the values of slots that a call has; `None` if one is not there.
    #[inline]
    fn seen(&self, values: &[Option<Scalar<'_>>]) -> Option<u64> {
        let mut hash = 0;
        for slot in &self.slots {
            hash = combine(hash, (*values.get(usize::from(*slot))?)?.hash());
        }
        Some(hash)
    }
}

impl Table {
    fn new(fields: Signature, mut members: Vec<(u64, u32)>) -> Self {
        members.sort_unstable();
        let mut buckets: HashMap<u64, (u32, u32), BuildHasherDefault<Hashed>> = HashMap::default();
        buckets.reserve(members.len());
        for (at, (hash, _)) in members.iter().enumerate() {
            let bucket = buckets.entry(*hash).or_insert((at as u32, at as u32));
            bucket.1 = at as u32 + 1;
        }
        Self { fields, buckets, ranks: members.into_iter().map(|(_, rank)| rank).collect() }
    }

    #[inline]
    fn bucket(&self, hash: u64) -> &[u32] {
        let Some(&(start, end)) = self.buckets.get(&hash) else { return &[] };
        self.ranks.get(start as usize..end as usize).unwrap_or_default()
    }
}

/// Lists of ranks that are merged as they are asked for. No allocation, unless a call has several values for a name of
/// metadata that tables are looked up by.
#[derive(Debug)]
pub(super) struct Candidates<'i> {
    heads: [&'i [u32]; HEADS],
    len: usize,
    more: Vec<&'i [u32]>,
}

const HEADS: usize = TABLES_MAX + 1;

impl<'i> Candidates<'i> {
    #[inline]
    fn push(&mut self, list: &'i [u32]) {
        if list.is_empty() {
            return;
        }
        match self.heads.get_mut(self.len) {
            Some(place) => {
                *place = list;
                self.len += 1;
            }
            None => self.more.push(list),
        }
    }
}

impl Iterator for Candidates<'_> {
    type Item = u32;

    /// The lowest rank of all lists.
    #[inline]
    fn next(&mut self) -> Option<u32> {
        let heads = self.heads.iter_mut().take(self.len).chain(&mut self.more);
        let list = heads.filter(|list| !list.is_empty()).min_by_key(|list| list.first().copied())?;
        let (first, rest) = list.split_first()?;
        *list = rest;
        Some(*first)
    }
}

/// Takes what is a hash already.
#[derive(Clone, Copy, Debug, Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0 << 8 | u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}
