use std::sync::{Arc, OnceLock};

use leat_rpc::mock::{self, Loaded, Settings};

use super::problem::{Place, Problem};

/// What remembers for a mock, and what it was read for it.
pub(crate) type Held = (Arc<mock::Mock>, Arc<Loaded>);

/// A mock: rules answer RPC calls in the place of services.
#[derive(Debug)]
pub struct Mock {
    pub(super) settings: Settings,
    pub(super) place: Place,
    /// The schema and the rules, read when they are first asked for: by the thread that reads configurations, so that cores
    /// never wait for a file.
    pub(super) loaded: OnceLock<Held>,
}

impl Mock {
    /// What the file says.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Where it says so.
    pub fn place(&self) -> Place {
        self.place
    }

    /// The schema and the rules, if they were read.
    pub fn loaded(&self) -> Option<Arc<Loaded>> {
        self.loaded.get().map(|(_, loaded)| Arc::clone(loaded))
    }

    /// What remembers for this mock, which `held` gives, and the schema and the rules. The first call reads all their files, and
    /// what it was given stays with what it read.
    ///
    /// # Errors
    /// All that is wrong with them; `file` is how problems call the configuration.
    pub(crate) fn load(&self, file: &str, held: impl FnOnce() -> Arc<mock::Mock>) -> Result<Held, Vec<Problem>> {
        if let Some(loaded) = self.loaded.get() {
            return Ok(loaded.clone());
        }
        let held = held();
        let loaded = Loaded::read(&self.settings, &held, &|message| Problem::new(file, self.place, message))?;
        Ok(self.loaded.get_or_init(|| (held, Arc::new(loaded))).clone())
    }
}
