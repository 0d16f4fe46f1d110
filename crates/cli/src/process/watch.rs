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

/// Time, length and inode: a file that is renamed into place may have the time and the length of the one before.
type Stamp = (SystemTime, u64, u64);

impl Watch {
    pub(super) fn new(path: Option<&Path>) -> Self {
        Self { config: path.map(File::new), beside: Vec::new() }
    }

    /// Looks at these files too, and at no others that it was told of before. What is known of one stays known.
    pub(super) fn beside(&mut self, paths: Vec<PathBuf>) {
        let mut known = std::mem::take(&mut self.beside);
        self.beside = paths
            .into_iter()
            .map(|path| match known.iter().position(|file| file.path == path) {
                Some(at) => known.swap_remove(at),
                None => File::new(&path),
            })
            .collect();
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
        watch.beside(vec![beside.clone()]);
        assert!(!watch.has_changed());
        for file in [&path, &beside] {
            std::fs::write(file, "three").unwrap();
            assert!(!watch.has_changed(), "it may still be being written");
            assert!(watch.has_changed());
            assert!(!watch.has_changed());
        }
        std::fs::write(&beside, "and more").unwrap();
        assert!(!watch.has_changed());
        watch.beside(vec![beside.clone()]);
        assert!(watch.has_changed(), "what is looked at anew is not forgotten");
        std::fs::remove_file(&path).unwrap();
        std::fs::remove_file(&beside).unwrap();
        assert!(!watch.has_changed(), "a file that is gone is not a new configuration");
    }
}
