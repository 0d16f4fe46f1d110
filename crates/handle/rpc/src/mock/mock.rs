use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use leat_config::Problem;
use leat_observe::exposition::Families;

use super::counts::Counts;
use super::journal::{Journal, JournalLimits};
use super::record::Recorder;
use super::state::{self, State};
use super::{Loaded, Record, Settings};

/// The most text of rules that may be added at run time, in bytes.
const ADDED_BYTES_MAX: usize = 64 * 1024 * 1024;

/// All mocks of a process, by the names of their routes. What they remember outlives reloads.
#[derive(Debug, Default)]
pub struct Mocks {
    by_route: Mutex<HashMap<String, Arc<Mock>>>,
}

impl Mocks {
    /// What is to remember for a route: what does so already where its seed and the size of its journal are the same, else
    /// something new, which stands for the route only once it is put to use.
    pub fn fitting(&self, route: &str, settings: &Settings) -> Arc<Mock> {
        let known = self.get(route).filter(|mock| mock.fits(settings));
        known.unwrap_or_else(|| Arc::new(Mock::new(settings)))
    }

    /// From now on this remembers for a route.
    pub fn put_to_use(&self, route: &str, mock: &Arc<Mock>) {
        lock(&self.by_route).insert(route.to_owned(), Arc::clone(mock));
    }

    /// The mock of a route that is there.
    pub fn get(&self, route: &str) -> Option<Arc<Mock>> {
        lock(&self.by_route).get(route).map(Arc::clone)
    }

    /// Writes the numbers of these routes' mocks.
    pub fn families<'n>(&self, routes: impl Iterator<Item = &'n str>, into: &mut impl Families) {
        let mocks: Vec<(&str, Arc<Mock>)> = routes.filter_map(|route| Some((route, self.get(route)?))).collect();
        if !mocks.is_empty() {
            let counted: Vec<(&str, &Counts)> = mocks.iter().map(|(route, mock)| (*route, &mock.counts)).collect();
            Counts::families(&counted, into);
        }
    }
}

/// What a mock remembers. Shared by all cores.
#[derive(Debug)]
pub struct Mock {
    seed: u64,
    pub(super) state: State,
    pub(super) journal: Journal,
    journal_limits: JournalLimits,
    pub(super) counts: Counts,
    running: Mutex<Running>,
    /// Held while rules are added or removed; never taken under the lock of `running`.
    changing: Mutex<()>,
    recorder: Mutex<Option<Arc<Recorder>>>,
}

#[derive(Debug, Default)]
struct Running {
    /// What runs now.
    loaded: Option<Arc<Loaded>>,
    /// Rules that were added at run time, as their texts, by the names that they were added under.
    added: BTreeMap<String, String>,
    /// How often that has changed.
    changes: u64,
}

impl Mock {
    /// A mock that remembers nothing yet.
    pub fn new(settings: &Settings) -> Self {
        let state = state::Settings { sessions_max: state::SESSIONS_MAX_DEFAULT, seed: settings.seed };
        Self {
            seed: settings.seed,
            state: State::new(state),
            journal: Journal::new(settings.journal),
            journal_limits: settings.journal,
            counts: Counts::default(),
            running: Mutex::default(),
            changing: Mutex::default(),
            recorder: Mutex::default(),
        }
    }

    fn fits(&self, settings: &Settings) -> bool {
        self.seed == settings.seed && self.journal_limits == settings.journal
    }

    /// Runs these rules from now on; calls that are under way end with the rules that they began with. To be called by each
    /// core; nothing happens where they run already. Where rules were added or removed since they were read, all are compiled
    /// again.
    ///
    /// # Errors
    /// What is wrong with them beside the rules that were added meanwhile; then the old ones go on.
    pub fn adopt(&self, loaded: &Arc<Loaded>) -> Result<(), Vec<Problem>> {
        if self.take_over(loaded) {
            return Ok(());
        }
        let _changing = lock(&self.changing);
        // Another core may have done it.
        if !self.take_over(loaded) {
            let (changes, files) = self.added();
            let (rules, _) = loaded.compile_with(&files, self)?;
            loaded.swap(rules, changes);
            self.take_over(loaded);
        }
        Ok(())
    }

    /// Runs these rules, unless rules were added or removed since they were compiled; says whether they run.
    fn take_over(&self, loaded: &Arc<Loaded>) -> bool {
        let mut running = lock(&self.running);
        if loaded.changes() != running.changes {
            return false;
        }
        if !running.loaded.as_ref().is_some_and(|now| Arc::ptr_eq(now, loaded)) {
            running.loaded = Some(Arc::clone(loaded));
            self.forget_others(loaded);
        }
        true
    }

    /// Forgets the rules that are no more. Under the lock of what runs, so that none is forgotten that just came.
    fn forget_others(&self, loaded: &Loaded) {
        let names = loaded.names();
        self.state.retain_rules(|name| names.contains(name));
    }

    /// What runs now; `None` before the first [`Mock::adopt`].
    pub fn loaded(&self) -> Option<Arc<Loaded>> {
        lock(&self.running).loaded.clone()
    }

    /// What writes recorded calls down: one for all cores.
    pub(super) fn recorder(&self, record: &Record) -> std::io::Result<Arc<Recorder>> {
        let mut held = lock(&self.recorder);
        let upstream = record.upstream.authority();
        if let Some(recorder) = held.as_ref().filter(|held| held.is_for(&record.folder, upstream)) {
            return Ok(Arc::clone(recorder));
        }
        let recorder = Arc::new(Recorder::start(&record.folder, upstream)?);
        *held = Some(Arc::clone(&recorder));
        Ok(recorder)
    }

    /// The names under which rules were added at run time.
    pub(super) fn added_names(&self) -> Vec<String> {
        lock(&self.running).added.keys().cloned().collect()
    }

    /// The rules that were added at run time, as files, and how often that has changed.
    pub(super) fn added(&self) -> (u64, Vec<(String, String)>) {
        let running = lock(&self.running);
        (running.changes, files(&running.added))
    }

    /// Adds rules at run time, or replaces those that were added under the same name. They answer from now on, if they are good
    /// together with all others; else nothing changes. Compiles all rules.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn put_rules(&self, name: &str, text: &str) -> Result<Vec<Problem>, Vec<Problem>> {
        let change = |added: &mut BTreeMap<String, String>| {
            added.insert(name.to_owned(), text.to_owned());
            true
        };
        self.change(change).map(Option::unwrap_or_default)
    }

    /// Removes rules that were added at run time. `Ok(None)`: there are none under this name.
    ///
    /// # Errors
    /// What is wrong without them.
    pub fn remove_rules(&self, name: &str) -> Result<Option<Vec<Problem>>, Vec<Problem>> {
        self.change(|added| added.remove(name).is_some())
    }

    /// Changes what was added, one change after the other. `Ok(None)`: `change` says that there is nothing to change.
    fn change(
        &self,
        change: impl FnOnce(&mut BTreeMap<String, String>) -> bool,
    ) -> Result<Option<Vec<Problem>>, Vec<Problem>> {
        let _changing = lock(&self.changing);
        let (loaded, mut added) = {
            let running = lock(&self.running);
            (running.loaded.clone(), running.added.clone())
        };
        let Some(mut loaded) = loaded else { return Err(Vec::new()) };
        if !change(&mut added) {
            return Ok(None);
        }
        if added.values().map(String::len).sum::<usize>() > ADDED_BYTES_MAX {
            let message = format!("rules that are added at run time have more than {ADDED_BYTES_MAX} bytes");
            return Err(vec![Problem { file: "run time".into(), place: None, message, help: None }]);
        }
        let files = files(&added);
        loop {
            // Without the lock of what runs: thousands of rules take a while, and cores ask for it.
            let (rules, warnings) = loaded.compile_with(&files, self)?;
            let mut running = lock(&self.running);
            match &running.loaded {
                // A reload came between: the rules belong beside those that run now.
                Some(now) if !Arc::ptr_eq(now, &loaded) => loaded = Arc::clone(now),
                _ => {
                    running.changes += 1;
                    running.added = added;
                    loaded.swap(rules, running.changes);
                    self.forget_others(&loaded);
                    return Ok(Some(warnings));
                }
            }
        }
    }
}

fn files(added: &BTreeMap<String, String>) -> Vec<(String, String)> {
    added.iter().map(|(name, text)| (file_of(name), text.clone())).collect()
}

/// How problems call rules that were added at run time.
fn file_of(name: &str) -> String {
    format!("run time: {name}")
}

/// What a panic leaves behind is whole: every change is one step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
