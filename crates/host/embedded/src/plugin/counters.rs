//! What plug-ins count, added up over all cores: each world has cells of its own, and a page reads them together.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use leat_observe::exposition::Families;
use rquickjs::{Ctx, Exception, JsLifetime, Result};

/// Counters of all plug-ins together. A page that is read every few seconds stays small, and names are written, not computed.
pub(super) const COUNTERS_MAX: usize = 100;
/// Values of labels that one counter has, each combination by itself. What comes beyond is counted as `_other`.
pub(super) const SERIES_MAX: usize = 200;
/// Bytes of one label's value; more are cut off.
pub(super) const LABEL_BYTES_MAX: usize = 128;
/// Bytes of the words on what a counter counts; more are cut off.
const HELP_BYTES_MAX: usize = 200;
/// What stands for values of labels that are too many.
const OTHER: &str = "_other";
/// What is kept of what was refused until somebody tells it.
const REFUSED_MAX: usize = 16;

/// The counters of plug-ins, shared by all cores. They outlast worlds and reloads: one value for a process, kept by name.
#[derive(Debug, Default)]
pub struct PluginCounters {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    counters: BTreeMap<String, Counter>,
    /// What was refused and not told yet; each once.
    refused: Vec<String>,
    /// What was refused ever, so that it is told once.
    told: Vec<String>,
}

#[derive(Debug)]
struct Counter {
    help: String,
    labels: Vec<String>,
    /// By the values of the labels.
    series: BTreeMap<Vec<String>, Series>,
    is_full: bool,
}

/// What one combination of values came to.
#[derive(Debug, Default)]
struct Series {
    /// Of worlds that are gone.
    before: u64,
    /// Of those that count.
    cells: Vec<Arc<AtomicU64>>,
}

impl Series {
    fn sum(&self) -> u64 {
        self.cells.iter().fold(self.before, |sum, cell| sum.wrapping_add(cell.load(Ordering::Relaxed)))
    }

    /// A cell for another world. Those of worlds that are gone are added up, so that reloads leave nothing behind.
    fn cell(&mut self) -> Arc<AtomicU64> {
        let before = &mut self.before;
        self.cells.retain(|cell| {
            let is_held = Arc::strong_count(cell) > 1;
            if !is_held {
                *before = before.wrapping_add(cell.load(Ordering::Relaxed));
            }
            is_held
        });
        let cell = Arc::<AtomicU64>::default();
        self.cells.push(Arc::clone(&cell));
        cell
    }
}

impl PluginCounters {
    fn table(&self) -> MutexGuard<'_, Table> {
        // What is counted can't be left half done.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was refused since the last time, in words: each counter once in the life of the process.
    pub fn take_refused(&self) -> Vec<String> {
        std::mem::take(&mut self.table().refused)
    }

    /// Writes them in the form of the page that they stand on.
    pub fn families(&self, into: &mut impl Families) {
        for (name, counter) in &self.table().counters {
            let help = if counter.help.is_empty() { "Counted by a plug-in." } else { &counter.help };
            let name = format!("leat_plugin_{name}_total");
            into.family(&name, "counter", help);
            for (values, series) in &counter.series {
                let labels: Vec<(&str, &str)> =
                    counter.labels.iter().zip(values).map(|(label, value)| (label.as_str(), value.as_str())).collect();
                into.sample(&name, &labels, series.sum());
            }
        }
    }

    /// Makes a counter known.
    fn declare(&self, name: &str, help: &str, labels: &[String]) -> Declared {
        let mut table = self.table();
        if let Some(known) = table.counters.get_mut(name) {
            if known.labels != labels {
                return Declared::OtherLabels(known.labels.join(", "));
            }
            cut(help, HELP_BYTES_MAX).clone_into(&mut known.help);
            return Declared::Known;
        }
        if table.counters.len() >= COUNTERS_MAX {
            table.refuse(name, || format!("the counter `{name}` counts nothing: plug-ins have {COUNTERS_MAX} at most"));
            return Declared::TooMany;
        }
        let mut series = BTreeMap::new();
        if labels.is_empty() {
            // There from the beginning, so that a rate has something to begin from.
            series.insert(Vec::new(), Series::default());
        }
        let (help, labels) = (cut(help, HELP_BYTES_MAX).to_owned(), labels.to_vec());
        table.counters.insert(name.to_owned(), Counter { help, labels, series, is_full: false });
        Declared::Known
    }

    /// A cell for a combination of values; `None` where it has no place, and is counted with all of these.
    fn cell(&self, name: &str, values: &[String]) -> Option<Arc<AtomicU64>> {
        let mut table = self.table();
        let counter = table.counters.get_mut(name)?;
        if let Some(series) = counter.series.get_mut(values) {
            return Some(series.cell());
        }
        if counter.series.len() < SERIES_MAX {
            return Some(counter.series.entry(values.to_vec()).or_default().cell());
        }
        if !std::mem::replace(&mut counter.is_full, true) {
            let message = format!(
                "the counter `{name}` has {SERIES_MAX} combinations of labels: others are counted as `{OTHER}`"
            );
            table.refuse(name, || message);
        }
        None
    }

    /// The cell of what has no place.
    fn other(&self, name: &str) -> Option<Arc<AtomicU64>> {
        let mut table = self.table();
        let counter = table.counters.get_mut(name)?;
        let values = vec![OTHER.to_owned(); counter.labels.len()];
        Some(counter.series.entry(values).or_default().cell())
    }
}

enum Declared {
    Known,
    TooMany,
    OtherLabels(String),
}

impl Table {
    fn refuse(&mut self, name: &str, message: impl FnOnce() -> String) {
        if self.told.len() >= REFUSED_MAX || self.told.iter().any(|told| told == name) {
            return;
        }
        self.told.push(name.to_owned());
        self.refused.push(message());
    }
}

/// The beginning of a text, of so many bytes at most.
fn cut(text: &str, bytes_max: usize) -> &str {
    let end = (0..=bytes_max.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    text.get(..end).unwrap_or_default()
}

/// One world's part of the counters: no lock but for what it has not counted before.
#[derive(Clone, JsLifetime)]
pub(super) struct WorldCounters(Rc<Held>);

struct Held {
    shared: Arc<PluginCounters>,
    counters: RefCell<Vec<Own>>,
}

struct Own {
    name: String,
    cells: HashMap<Vec<String>, Arc<AtomicU64>>,
    other: Option<Arc<AtomicU64>>,
}

impl WorldCounters {
    pub(super) fn new(shared: Arc<PluginCounters>) -> Self {
        Self(Rc::new(Held { shared, counters: RefCell::default() }))
    }
}

/// `counter(name, help, labels)`: its number, or -1. JavaScript has looked at the names.
pub(super) fn counter(ctx: Ctx<'_>, name: String, help: String, labels: Vec<String>) -> Result<i32> {
    let Some(held) = ctx.userdata::<WorldCounters>().map(|world| Rc::clone(&world.0)) else { return Ok(-1) };
    match held.shared.declare(&name, &help, &labels) {
        Declared::TooMany => return Ok(-1),
        Declared::OtherLabels(known) => {
            let message =
                format!("there is a counter `{name}` already, with other labels: {known}; give this one another name");
            return Err(Exception::throw_type(&ctx, &message));
        }
        Declared::Known => {}
    }
    let mut counters = held.counters.borrow_mut();
    let at = counters.iter().position(|own| own.name == name).unwrap_or_else(|| {
        counters.push(Own { name, cells: HashMap::new(), other: None });
        counters.len() - 1
    });
    Ok(i32::try_from(at).unwrap_or(-1))
}

/// `count(number, by, values)`.
pub(super) fn count(ctx: Ctx<'_>, number: i32, by: f64, mut values: Vec<String>) {
    let Some(held) = ctx.userdata::<WorldCounters>().map(|world| Rc::clone(&world.0)) else { return };
    let mut counters = held.counters.borrow_mut();
    let Some(own) = usize::try_from(number).ok().and_then(|at| counters.get_mut(at)) else { return };
    for value in values.iter_mut().filter(|value| value.len() > LABEL_BYTES_MAX) {
        *value = cut(value, LABEL_BYTES_MAX).to_owned();
    }
    // A whole number, which JavaScript has looked at.
    let by = by as u64;
    if let Some(cell) = own.cells.get(&values) {
        cell.fetch_add(by, Ordering::Relaxed);
        return;
    }
    // Once it is full it stays so, and the other values need not be asked for.
    if own.other.is_none() {
        match held.shared.cell(&own.name, &values) {
            Some(cell) => {
                cell.fetch_add(by, Ordering::Relaxed);
                own.cells.insert(values, cell);
                return;
            }
            None => own.other = held.shared.other(&own.name),
        }
    }
    if let Some(other) = &own.other {
        other.fetch_add(by, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use leat_observe::exposition::Text;

    use super::*;

    fn page(counters: &PluginCounters) -> Vec<String> {
        let mut text = String::new();
        counters.families(&mut Text::new(&mut text));
        text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
    }

    #[test]
    fn cells_of_worlds_that_are_gone_still_count() {
        let counters = PluginCounters::default();
        assert!(matches!(counters.declare("seen", "", &[]), Declared::Known));
        assert_eq!(page(&counters), ["leat_plugin_seen_total 0"]);
        for _ in 0..3 {
            let cell = counters.cell("seen", &[]).unwrap();
            cell.fetch_add(2, Ordering::Relaxed);
        }
        assert_eq!(page(&counters), ["leat_plugin_seen_total 6"]);
        let kept = counters.cell("seen", &[]).unwrap();
        kept.fetch_add(1, Ordering::Relaxed);
        assert_eq!(counters.table().counters["seen"].series[&vec![]].cells.len(), 1, "the others are one number");
        assert_eq!(page(&counters), ["leat_plugin_seen_total 7"]);
    }

    #[test]
    fn values_beyond_the_limit_are_counted_together_and_told_once() {
        let counters = PluginCounters::default();
        counters.declare("by", "", &["who".to_owned()]);
        for at in 0..SERIES_MAX {
            assert!(counters.cell("by", &[format!("{at}")]).is_some());
        }
        for at in 0..3 {
            assert!(counters.cell("by", &[format!("more {at}")]).is_none());
        }
        counters.other("by").unwrap().fetch_add(3, Ordering::Relaxed);
        assert!(page(&counters).contains(&"leat_plugin_by_total{who=\"_other\"} 3".to_owned()));
        assert_eq!((counters.take_refused().len(), counters.take_refused().len()), (1, 0));
    }

    #[test]
    fn counters_beyond_the_limit_count_nothing() {
        let counters = PluginCounters::default();
        for at in 0..COUNTERS_MAX {
            assert!(matches!(counters.declare(&format!("c{at}"), "", &[]), Declared::Known));
        }
        assert!(matches!(counters.declare("more", "", &[]), Declared::TooMany));
        assert!(matches!(counters.declare("c0", "", &[]), Declared::Known), "one that there is stays");
        assert!(matches!(counters.declare("c0", "", &["a".to_owned()]), Declared::OtherLabels(_)));
        assert_eq!(counters.take_refused().len(), 1);
    }

    #[test]
    fn what_stands_on_the_page_is_escaped() {
        let counters = PluginCounters::default();
        counters.declare("odd", "one\ntwo \"x\"", &["who".to_owned()]);
        counters.cell("odd", &["a\"\\\nb".to_owned()]).unwrap().fetch_add(1, Ordering::Relaxed);
        let mut text = String::new();
        counters.families(&mut Text::new(&mut text));
        let wanted = "# HELP leat_plugin_odd_total one\\ntwo \"x\"\n# TYPE leat_plugin_odd_total counter\nleat_plugin_odd_total{who=\"a\\\"\\\\\\nb\"} 1\n";
        assert_eq!(text, wanted);
        let mut open = String::new();
        counters.families(&mut Text::open_metrics(&mut open));
        let begun =
            "# HELP leat_plugin_odd one\\ntwo \\\"x\\\"\n# TYPE leat_plugin_odd counter\nleat_plugin_odd_total{";
        assert!(open.starts_with(begun), "{open}");
    }
}
