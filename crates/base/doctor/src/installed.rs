use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::lock::Lock;
use crate::project::read_manifest;

/// Folders above an app that are looked into.
const FOLDERS_MAX: usize = 32;

/// The packages that an app finds, from its own folder upwards.
#[derive(Debug)]
pub(crate) struct Installed {
    folder: PathBuf,
    lock: Option<Lock>,
}

impl Installed {
    pub(crate) fn new(folder: &Path) -> Self {
        let lock = folder.ancestors().take(FOLDERS_MAX).find_map(|above| Lock::read(above, folder));
        Self { folder: folder.to_owned(), lock }
    }

    /// What is installed or, if nothing is, what is locked.
    pub(crate) fn version(&self, package: &str, range: &str) -> Option<String> {
        let manifest = self.manifest(package);
        let version = manifest.as_ref().and_then(|manifest| manifest.get("version")).and_then(Value::as_str);
        version.map(ToOwned::to_owned).or_else(|| self.lock.as_ref()?.version(package, range))
    }

    /// The manifest of an installed package. One that can't be read is nobody's to mend here: it counts as not installed.
    pub(crate) fn manifest(&self, package: &str) -> Option<Value> {
        let inside = Path::new("node_modules").join(package).join("package.json");
        self.folder.ancestors().take(FOLDERS_MAX).find_map(|above| read_manifest(&above.join(&inside)).ok().flatten())
    }
}
