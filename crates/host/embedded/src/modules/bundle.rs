//! The files that a self-contained executable carries.

use std::collections::{BTreeSet, HashMap};

use super::files::{Kind, parent};

/// Where carried files are: a folder that no disk has.
pub(crate) const ROOT: &str = "/$leat";

/// Files by their paths below [`ROOT`].
#[derive(Default)]
pub(crate) struct Bundle {
    files: HashMap<String, Vec<u8>>,
    folders: BTreeSet<String>,
}

impl Bundle {
    /// Whether a path can only be a carried file's.
    pub(crate) fn covers(path: &str) -> bool {
        path.starts_with(ROOT)
    }

    pub(crate) fn put(&mut self, path: String, source: Vec<u8>) {
        let mut folder = parent(&path).to_owned();
        while !folder.is_empty() && self.folders.insert(folder.clone()) {
            folder = parent(&folder).to_owned();
        }
        self.files.insert(path, source);
    }

    pub(crate) fn kind(&self, path: &str) -> Kind {
        if self.files.contains_key(path) {
            Kind::File
        } else if self.folders.contains(path) {
            Kind::Folder
        } else {
            Kind::Nothing
        }
    }

    pub(crate) fn source(&self, path: &str) -> Option<Vec<u8>> {
        self.files.get(path).cloned()
    }
}
