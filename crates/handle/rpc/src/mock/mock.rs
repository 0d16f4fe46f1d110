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
    /// The mock of a route: the same for the same name, unless its seed or the size of its journal is another one.
    pub fn of(&self, route: &str, settings: &Settings) -> Arc<Mock> {
        let mut mocks = lock(&self.by_route);
        if let Some(mock) = mocks.get(route).filter(|mock| mock.fits(settings)) {
            return Arc::clone(mock);
        }
        let mock = Arc::new(Mock::new(settings));
        mocks.insert(route.to_owned(), Arc::clone(&mock));
        mock
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
    recorder: Mutex<Option<Arc<Recorder>>>,
}

#[derive(Debug, Default)]
struct Running {
    /// What runs now.
    loaded: Option<Arc<Loaded>>,
    /// Rules that were added at run time, as their texts, by the names that they were added under.
    added: BTreeMap<String, String>,
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
            recorder: Mutex::default(),
        }
    }

    fn fits(&self, settings: &Settings) -> bool {
        self.seed == settings.seed && self.journal_limits == settings.journal
    }

    /// Runs these rules from now on; calls that are under way end with the rules that they began with. To be called by each
    /// core; nothing happens where they run already.
    pub fn adopt(&self, loaded: &Arc<Loaded>) {
        let mut running = lock(&self.running);
        if running.loaded.as_ref().is_some_and(|now| Arc::ptr_eq(now, loaded)) {
            return;
        }
        running.loaded = Some(Arc::clone(loaded));
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

    /// The rules that were added at run time, as files.
    pub(super) fn added(&self) -> Vec<(String, String)> {
        lock(&self.running).added.iter().map(|(name, text)| (file_of(name), text.clone())).collect()
    }

    /// Adds rules at run time, or replaces those that were added under the same name. They answer from now on, if they are good
    /// together with all others; else nothing changes. Compiles all rules.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn put_rules(&self, name: &str, text: &str) -> Result<Vec<Problem>, Vec<Problem>> {
        self.change(|added| {
            added.insert(name.to_owned(), text.to_owned());
        })
    }

    /// Removes rules that were added at run time. `Ok(None)`: there are none under this name.
    ///
    /// # Errors
    /// What is wrong without them.
    pub fn remove_rules(&self, name: &str) -> Result<Option<Vec<Problem>>, Vec<Problem>> {
        if !lock(&self.running).added.contains_key(name) {
            return Ok(None);
        }
        self.change(|added| drop(added.remove(name))).map(Some)
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<String, String>)) -> Result<Vec<Problem>, Vec<Problem>> {
        let (loaded, mut added) = {
            let running = lock(&self.running);
            (running.loaded.clone(), running.added.clone())
        };
        let Some(loaded) = loaded else { return Err(Vec::new()) };
        change(&mut added);
        if added.values().map(String::len).sum::<usize>() > ADDED_BYTES_MAX {
            let message = format!("rules that are added at run time have more than {ADDED_BYTES_MAX} bytes");
            return Err(vec![Problem { file: "run time".into(), place: None, message, help: None }]);
        }
        let files: Vec<_> = added.iter().map(|(name, text)| (file_of(name), text.clone())).collect();
        // Without the lock: thousands of rules take a while, and the admin address alone changes them.
        let warnings = loaded.add(&files, self)?;
        lock(&self.running).added = added;
        Ok(warnings)
    }
}

/// How problems call rules that were added at run time.
fn file_of(name: &str) -> String {
    format!("run time: {name}")
}

/// What a panic leaves behind is whole: every change is one step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
