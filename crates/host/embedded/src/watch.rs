use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// How often files are looked at. Looking works on every file system; 1,000 files take about a millisecond.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Files that are looked at; what is beyond is not noticed.
const FILES_MAX: usize = 5_000;
/// Folders inside folders.
const DEPTH_MAX: usize = 16;
/// What a program can be made of.
const KINDS: [&str; 9] = ["js", "mjs", "cjs", "ts", "mts", "cts", "json", "env", "html"];

/// The files of the modules that the program has loaded, of all workers: some may be outside of its folder.
#[derive(Debug, Default)]
pub(crate) struct LoadedFiles(Mutex<BTreeSet<PathBuf>>);

impl LoadedFiles {
    pub(crate) fn note(&self, path: &str) {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if files.len() < FILES_MAX {
            files.insert(PathBuf::from(path));
        }
    }

    /// Those outside of `folder`, without those of packages.
    fn outside(&self, folder: &Path) -> Vec<PathBuf> {
        self.own().into_iter().filter(|path| !path.starts_with(folder)).collect()
    }

    /// All but those of packages.
    pub(crate) fn own(&self) -> Vec<PathBuf> {
        let files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let packaged = |path: &Path| path.components().any(|part| part.as_os_str() == "node_modules");
        files.iter().filter(|path| !packaged(path)).cloned().collect()
    }
}

type Stamp = (SystemTime, u64, u64);
type Seen = BTreeMap<PathBuf, Stamp>;

/// Notices that a file of a program has changed: of the folder that it is in and of those below, without `node_modules` and
/// what begins with a dot, and of the modules that it has loaded from elsewhere.
pub(crate) struct Watch {
    folder: PathBuf,
    loaded: Arc<LoadedFiles>,
    /// Those of elsewhere that are looked at already.
    outside: BTreeSet<PathBuf>,
    seen: Seen,
    /// A change counts when everything has stayed so for a look, so that half a file is not run.
    settling: Option<Seen>,
}

impl Watch {
    pub(crate) fn new(app: &Path, loaded: Arc<LoadedFiles>) -> Self {
        let app = std::path::absolute(app).unwrap_or_else(|_| app.to_owned());
        let folder = app.parent().unwrap_or(Path::new("/")).to_owned();
        let seen = look(&folder);
        Self { folder, loaded, outside: BTreeSet::new(), seen, settling: None }
    }

    /// A file that has changed since the last change that this told of.
    pub(crate) fn changed(&mut self) -> Option<PathBuf> {
        let mut now = look(&self.folder);
        self.look_outside(&mut now);
        if now == self.seen {
            self.settling = None;
            return None;
        }
        if self.settling.as_ref() != Some(&now) {
            self.settling = Some(now);
            return None;
        }
        let new = now.iter().find(|(path, stamp)| self.seen.get(*path) != Some(stamp)).map(|(path, _)| path.clone());
        let gone = || self.seen.keys().find(|path| !now.contains_key(*path)).cloned();
        let found = new.or_else(gone);
        self.seen = now;
        self.settling = None;
        found
    }
}

impl Watch {
    /// A file that was loaded since the last look is no change.
    fn look_outside(&mut self, now: &mut Seen) {
        for path in self.loaded.outside(&self.folder) {
            let Some(stamp) = stamp(&path) else { continue };
            now.insert(path.clone(), stamp);
            if self.outside.insert(path.clone()) {
                self.seen.insert(path, stamp);
            }
        }
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len(), metadata.ino()))
}

fn look(folder: &Path) -> Seen {
    let mut seen = Seen::new();
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
            if kind.is_dir() {
                if depth < DEPTH_MAX && name != "node_modules" && !name.starts_with('.') {
                    folders.push((path, depth + 1));
                }
                continue;
            }
            let extension = name.rsplit('.').next().unwrap_or_default();
            if !KINDS.contains(&extension) {
                continue;
            }
            if seen.len() >= FILES_MAX {
                return seen;
            }
            if let Some(stamp) = stamp(&path) {
                seen.insert(path, stamp);
            }
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_told_once_when_it_has_settled_and_others_not() {
        let folder = std::env::temp_dir().join(format!("leat-watch-run-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("node_modules/express")).unwrap();
        std::fs::write(folder.join("app.js"), "1").unwrap();
        let loaded = Arc::new(LoadedFiles::default());
        let mut watch = Watch::new(&folder.join("app.js"), Arc::clone(&loaded));
        assert_eq!(watch.changed(), None);
        std::fs::write(folder.join("node_modules/express/index.js"), "1").unwrap();
        std::fs::write(folder.join("notes.txt"), "1").unwrap();
        assert_eq!((watch.changed(), watch.changed()), (None, None), "no file of the program");
        std::fs::write(folder.join("app.js"), "two").unwrap();
        assert_eq!(watch.changed(), None, "it may still be being written");
        assert_eq!(watch.changed(), Some(folder.join("app.js")));
        assert_eq!(watch.changed(), None);
        std::fs::write(folder.join("more.ts"), "1").unwrap();
        assert_eq!((watch.changed(), watch.changed()), (None, Some(folder.join("more.ts"))));
        let beside = folder.with_extension("beside.js");
        std::fs::write(&beside, "1").unwrap();
        loaded.note(beside.to_str().unwrap());
        loaded.note("/elsewhere/node_modules/a/index.js");
        assert_eq!((watch.changed(), watch.changed()), (None, None), "it was loaded, and is what it was");
        std::fs::write(&beside, "two").unwrap();
        assert_eq!((watch.changed(), watch.changed()), (None, Some(beside.clone())));
        std::fs::remove_file(&beside).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
