use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use leat_observe::exposition::Families;
use leat_observe::{Histogram, HistogramCounts};
use leat_rpc_wire::Code;
use leat_schema::Schema;

use crate::call::Protocol;

/// Rules whose counts are written out; the others are summed up. A scraper keeps each series for weeks.
const RULES_MAX: usize = 1_000;
/// Codes and protocols that there are.
const CODES: usize = Code::ALL.len();
const PROTOCOLS: usize = Protocol::ALL.len();
/// The label of the rules that are not written out.
const OTHERS: &str = "(others)";

/// How often methods were called and rules answered. Outlives reloads: what is the same is known by its name.
#[derive(Debug, Default)]
pub(super) struct Counts {
    table: Mutex<Table>,
    unmatched: AtomicU64,
}

#[derive(Debug, Default)]
struct Table {
    blocks: Vec<Arc<Block>>,
    /// Of blocks whose core has another one now.
    past: BTreeMap<String, MethodTotal>,
    rules: BTreeMap<Arc<str>, Arc<AtomicU64>>,
}

/// The counts of one core: written by it alone.
#[derive(Debug)]
pub(super) struct Block {
    schema: Arc<Schema>,
    methods: Box<[Method]>,
}

#[derive(Debug, Default)]
struct Method {
    /// By protocol and code.
    codes: [[AtomicU64; CODES]; PROTOCOLS],
    times: Histogram,
}

#[derive(Clone, Debug, Default)]
struct MethodTotal {
    codes: [[u64; CODES]; PROTOCOLS],
    times: HistogramCounts,
}

impl Counts {
    /// A block for the calling core, which counts methods of `schema`.
    pub(super) fn block(&self, schema: &Arc<Schema>) -> Arc<Block> {
        let methods = schema.methods().iter().map(|_| Method::default()).collect();
        let block = Arc::new(Block { schema: Arc::clone(schema), methods });
        let mut table = self.table();
        let blocks = std::mem::take(&mut table.blocks);
        for old in blocks {
            // Nobody else holds it any more: it can't grow.
            match Arc::try_unwrap(old) {
                Ok(gone) => gone.add_to(&mut table.past),
                Err(held) => table.blocks.push(held),
            }
        }
        table.blocks.push(Arc::clone(&block));
        block
    }

    /// The counter of a rule: the same for the same name.
    pub(super) fn rule(&self, name: &str) -> Arc<AtomicU64> {
        let mut table = self.table();
        if let Some(counter) = table.rules.get(name) {
            return Arc::clone(counter);
        }
        Arc::clone(table.rules.entry(name.into()).or_default())
    }

    /// How often a rule answered.
    pub(super) fn of_rule(&self, name: &str) -> u64 {
        self.table().rules.get(name).map_or(0, |counter| counter.load(Ordering::Relaxed))
    }

    /// No rule answered.
    pub(super) fn unmatched(&self) {
        self.unmatched.fetch_add(1, Ordering::Relaxed);
    }

    /// Calls that no rule answered.
    pub(super) fn of_unmatched(&self) -> u64 {
        self.unmatched.load(Ordering::Relaxed)
    }

    /// All calls.
    pub(super) fn calls(&self) -> u64 {
        self.totals().values().flat_map(|total| total.codes).flatten().sum()
    }

    /// Writes the numbers of several mocks, each with the name of its route as a label.
    pub(super) fn families(mocks: &[(&str, &Self)], into: &mut impl Families) {
        let totals: Vec<_> = mocks.iter().map(|(mock, counts)| (*mock, counts.totals())).collect();
        into.family("leat_mock_calls_total", "counter", "Calls of mocks, by method, protocol and code.");
        for (mock, totals) in &totals {
            for (method, total) in totals {
                for (protocol, codes) in Protocol::ALL.iter().zip(&total.codes) {
                    for (code, &count) in Code::ALL.iter().zip(codes).filter(|&(_, &count)| count > 0) {
                        let labels =
                            [("mock", *mock), ("method", method), ("protocol", protocol.name()), ("code", code.name())];
                        into.sample("leat_mock_calls_total", &labels, count);
                    }
                }
            }
        }
        into.family("leat_mock_call_seconds", "histogram", "Time from the head of a call to its end, by method.");
        for (mock, totals) in &totals {
            for (method, total) in totals {
                into.histogram("leat_mock_call_seconds", &[("mock", mock), ("method", method)], &total.times);
            }
        }
        into.family("leat_mock_rule_calls_total", "counter", "Calls that a rule answered.");
        for (mock, counts) in mocks {
            let (rules, others) = counts.rules();
            for (rule, count) in &rules {
                into.sample("leat_mock_rule_calls_total", &[("mock", mock), ("rule", rule)], *count);
            }
            if others > 0 {
                into.sample("leat_mock_rule_calls_total", &[("mock", mock), ("rule", OTHERS)], others);
            }
        }
        into.family("leat_mock_unmatched_calls_total", "counter", "Calls that no rule answered.");
        for (mock, counts) in mocks {
            into.sample("leat_mock_unmatched_calls_total", &[("mock", mock)], counts.of_unmatched());
        }
    }

    fn totals(&self) -> BTreeMap<String, MethodTotal> {
        let table = self.table();
        let mut totals = table.past.clone();
        table.blocks.iter().for_each(|block| block.add_to(&mut totals));
        totals
    }

    fn rules(&self) -> (Vec<(Arc<str>, u64)>, u64) {
        let table = self.table();
        let mut counted = table.rules.iter().map(|(name, counter)| (Arc::clone(name), counter.load(Ordering::Relaxed)));
        let shown: Vec<_> = counted.by_ref().take(RULES_MAX).collect();
        (shown, counted.map(|(_, count)| count).sum())
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Block {
    /// A call ended. Two stores and a look-up; no lock.
    pub(super) fn ended(&self, method: usize, protocol: Protocol, code: Code, us: u64) {
        let Some(method) = self.methods.get(method) else { return };
        let codes = method.codes.get(protocol as usize);
        if let Some(count) = codes.and_then(|codes| codes.get(usize::from(code.number()))) {
            // One writer: an addition needs no more than this.
            count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
        method.times.record(us);
    }

    fn add_to(&self, totals: &mut BTreeMap<String, MethodTotal>) {
        for (method, counted) in self.schema.methods().iter().zip(&self.methods) {
            let counts = || counted.codes.iter().flatten().map(|count| count.load(Ordering::Relaxed));
            if counts().all(|count| count == 0) {
                continue;
            }
            let total = totals.entry(method.full_name().to_owned()).or_default();
            total.codes.iter_mut().flatten().zip(counts()).for_each(|(total, count)| *total += count);
            counted.times.add_to(&mut total.times);
        }
    }
}
