use std::sync::{Arc, OnceLock};

use leat_rpc::mock::{self, Loaded, Settings};

use super::problem::{Place, Problem};

/// A mock: rules answer RPC calls in the place of services.
#[derive(Debug)]
pub struct Mock {
    pub(super) settings: Settings,
    pub(super) place: Place,
    /// The schema and the rules, read when they are first asked for: by the thread that reads configurations, so that cores
    /// never wait for a file.
    pub(super) loaded: OnceLock<Arc<Loaded>>,
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
        self.loaded.get().map(Arc::clone)
    }

    /// The schema and the rules, for what remembers for this mock. The first call reads all their files.
    ///
    /// # Errors
    /// All that is wrong with them; `file` is how problems call the configuration.
    pub fn load(&self, file: &str, held: &mock::Mock) -> Result<Arc<Loaded>, Vec<Problem>> {
        if let Some(loaded) = self.loaded.get() {
            return Ok(Arc::clone(loaded));
        }
        let loaded = Arc::new(Loaded::read(&self.settings, held, &|message| Problem::new(file, self.place, message))?);
        Ok(Arc::clone(self.loaded.get_or_init(|| loaded)))
    }
}
