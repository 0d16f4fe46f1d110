use std::collections::{HashMap, HashSet};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Notices that the configuration, or a file beside it, was changed: looked at from time to time, which works on every file system.
pub(super) struct Watch {
    /// `None` for a configuration that is in no file.
    config: Option<File>,
    beside: Vec<File>,
}

struct File {
    path: PathBuf,
    seen: Option<Stamp>,
    /// A change that was seen once: it counts when the file has stayed so for a look, so that half a file that an editor
    /// is still writing is not read.
    settling: Option<Stamp>,
}

/// Entries of a folder that are looked at, at most: as many as a mock reads files.
const ENTRIES_MAX: usize = 50_000;

/// Time, length and inode: a file that is renamed into place may have the time and the length of the one before.
///
/// That of a folder is of its entries too (the newest time, all lengths, all inodes): a file in it that nobody looks at, since it
/// came with a mistake in it, is seen when it is mended. Entries of folders in it are not: those folders are looked at themselves.
type Stamp = (SystemTime, u64, u64);

/// A file or folder as it was before it was read: what is changed while it is read is a change.
pub(crate) struct Seen {
    path: PathBuf,
    stamp: Option<Stamp>,
}

impl Seen {
    /// As it is now.
    pub(crate) fn now(path: PathBuf) -> Self {
        let stamp = stamp(&path);
        Self { path, stamp }
    }
}

impl Watch {
    pub(super) fn new(path: Option<&Path>) -> Self {
        Self { config: path.map(File::new), beside: Vec::new() }
    }

    /// Looks at these files too, and at no others that it was told of before. What is known of one stays known.
    pub(super) fn beside(&mut self, mut seen: Vec<Seen>) {
        // Of two looks at the same file the first one counts: the order among equals stays.
        seen.sort_by(|one, other| one.path.cmp(&other.path));
        seen.dedup_by(|later, first| later.path == first.path);
        let mut known: HashMap<PathBuf, File> = self.beside.drain(..).map(|file| (file.path.clone(), file)).collect();
        let renewed = seen.into_iter().map(|Seen { path, stamp }| match known.remove(&path) {
            Some(file) => file,
            None => File::from(Seen { path, stamp }),
        });
        self.beside = renewed.collect();
    }

    /// Looks at these files as well.
    pub(super) fn also(&mut self, seen: Vec<Seen>) {
        let known: HashSet<&Path> = self.beside.iter().map(|file| file.path.as_path()).collect();
        let is_new = |seen: &Seen| !known.contains(seen.path.as_path());
        let new: Vec<File> = seen.into_iter().filter(is_new).map(File::from).collect();
        self.beside.extend(new);
    }

    /// Whether a file has changed since the last change that this told of.
    pub(super) fn has_changed(&mut self) -> bool {
        let mut changed = self.config.as_mut().is_some_and(File::has_changed);
        for file in &mut self.beside {
            changed |= file.has_changed();
        }
        changed
    }
}

impl From<Seen> for File {
    fn from(Seen { path, stamp }: Seen) -> Self {
        Self { path, seen: stamp, settling: None }
    }
}

impl File {
    fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), seen: stamp(path), settling: None }
    }

    fn has_changed(&mut self) -> bool {
        let now = stamp(&self.path);
        if now.is_none() || now == self.seen {
            self.settling = None;
            return false;
        }
        if self.settling == now {
            self.seen = now;
            self.settling = None;
            return true;
        }
        self.settling = now;
        false
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(path).ok()?;
    let mut stamp = of(&metadata)?;
    if metadata.is_dir() {
        let entries = std::fs::read_dir(path).ok()?.filter_map(Result::ok);
        // What is hidden is an editor's own more often than not, and nobody reads it.
        let shown = entries.filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."));
        for entry in shown.take(ENTRIES_MAX) {
            // Links are followed as they are when the file is read.
            let Some((time, length, inode)) = std::fs::metadata(entry.path()).ok().as_ref().and_then(of) else {
                continue;
            };
            stamp = (stamp.0.max(time), stamp.1.wrapping_add(length), stamp.2 ^ inode);
        }
    }
    Some(stamp)
}

fn of(metadata: &Metadata) -> Option<Stamp> {
    Some((metadata.modified().ok()?, metadata.len(), metadata.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_told_once_and_only_when_it_has_settled() {
        let path = std::env::temp_dir().join(format!("leat-watch-{}", std::process::id()));
        std::fs::write(&path, "one").unwrap();
        let beside = path.with_extension("mjs");
        std::fs::write(&beside, "one").unwrap();
        let mut watch = Watch::new(Some(&path));
        watch.beside(vec![Seen::now(beside.clone())]);
        assert!(!watch.has_changed());
        for file in [&path, &beside] {
            std::fs::write(file, "three").unwrap();
            assert!(!watch.has_changed(), "it may still be being written");
            assert!(watch.has_changed());
            assert!(!watch.has_changed());
        }
        std::fs::write(&beside, "and more").unwrap();
        assert!(!watch.has_changed());
        watch.beside(vec![Seen::now(beside.clone())]);
        assert!(watch.has_changed(), "what is looked at anew is not forgotten");
        std::fs::remove_file(&path).unwrap();
        std::fs::remove_file(&beside).unwrap();
        assert!(!watch.has_changed(), "a file that is gone is not a new configuration");
    }

    #[test]
    fn a_folder_changes_with_a_file_in_it_that_is_mended_in_place() {
        let folder = std::env::temp_dir().join(format!("leat-watch-folder-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let mut watch = Watch::new(None);
        watch.beside(vec![Seen::now(folder.clone())]);
        let told = |watch: &mut Watch| (watch.has_changed(), watch.has_changed(), watch.has_changed());
        for text in ["with a mistake", "mended in its place"] {
            std::fs::write(folder.join("new.yaml"), text).unwrap();
            assert_eq!(told(&mut watch), (false, true, false), "{text}");
        }
        std::fs::write(folder.join(".swap"), "one").unwrap();
        told(&mut watch);
        std::fs::write(folder.join(".swap"), "three").unwrap();
        assert_eq!(told(&mut watch), (false, false, false), "what an editor keeps for itself");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_is_looked_at_as_well_keeps_what_is_known_of_the_others() {
        let folder = std::env::temp_dir().join(format!("leat-watch-also-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("new")).unwrap();
        let mut watch = Watch::new(None);
        watch.beside(vec![Seen::now(folder.clone())]);
        std::fs::write(folder.join("one.yaml"), "changed before the look").unwrap();
        watch.also(vec![Seen::now(folder.clone()), Seen::now(folder.join("new"))]);
        assert_eq!((watch.has_changed(), watch.has_changed()), (false, true), "the first look counts");
        std::fs::write(folder.join("new/two.yaml"), "one").unwrap();
        assert_eq!((watch.has_changed(), watch.has_changed(), watch.has_changed()), (false, true, false));
        std::fs::write(folder.join("new/two.yaml"), "three").unwrap();
        assert_eq!((watch.has_changed(), watch.has_changed()), (false, true), "in the folder that came later");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_is_changed_while_it_is_read_is_a_change() {
        let path = std::env::temp_dir().join(format!("leat-watch-read-{}", std::process::id()));
        std::fs::write(&path, "one").unwrap();
        let (before, path_too) = (Seen::now(path.clone()), path.clone());
        std::fs::write(&path, "three").unwrap();
        let mut watch = Watch::new(None);
        watch.beside(vec![before, Seen::now(path_too)]);
        assert_eq!((watch.has_changed(), watch.has_changed()), (false, true));
        std::fs::remove_file(&path).unwrap();
    }
}
