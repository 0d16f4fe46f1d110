//! The files of rules: found, read, and looked at for changes.

use std::io::Read;
use std::path::{Path, PathBuf};

use leat_config::Problem;

/// Files below the paths that are given, at most.
const FILES_MAX: usize = 50_000;
/// Folders inside of folders that are entered.
const FOLDER_DEPTH_MAX: usize = 32;
/// The longest file of rules, in bytes: half a million rules stay below.
const FILE_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// How files of rules end.
const RULES: [&str; 3] = ["yaml", "yml", "json"];

/// What was found below paths, in a stable order.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The files.
    pub(super) files: Vec<PathBuf>,
    /// The folders that were entered.
    pub(super) folders: Vec<PathBuf>,
    /// What can't be read.
    pub(super) problems: Vec<Problem>,
}

/// Reads all files of rules below `paths`: their names, as problems call them, and their texts.
///
/// # Errors
/// What can't be read.
pub(super) fn read_rules(paths: &[PathBuf]) -> Result<Vec<(String, String)>, Vec<Problem>> {
    let mut found = find(paths, &RULES);
    let mut read = Vec::with_capacity(found.files.len());
    for path in &found.files {
        match text(path) {
            Ok(text) => read.push((named(path), text)),
            Err(message) => found.problems.push(about(path, message, None)),
        }
    }
    if found.problems.is_empty() { Ok(read) } else { Err(found.problems) }
}

/// The files and folders below paths whose change is a change of the mock: a folder changes when a file comes or goes.
pub(super) fn watched(rules: &[PathBuf], proto: &[PathBuf]) -> Vec<PathBuf> {
    let (rules, proto) = (find(rules, &RULES), find(proto, &["proto"]));
    let all = [rules.files, rules.folders, proto.files, proto.folders];
    let mut all: Vec<PathBuf> = all.into_iter().flatten().collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Everything below `paths` that ends in one of `extensions`; a file that is given itself may end as it likes.
fn find(paths: &[PathBuf], extensions: &[&str]) -> Found {
    let mut found = Found::default();
    for path in paths {
        if path.is_dir() {
            found.enter(path, extensions, FOLDER_DEPTH_MAX);
        } else {
            found.files.push(path.clone());
        }
    }
    found
}

impl Found {
    fn enter(&mut self, folder: &Path, extensions: &[&str], depth: usize) {
        self.folders.push(folder.to_owned());
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => return self.problems.push(about(folder, format!("can't be read: {error}"), None)),
        };
        let mut paths: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
        // File systems have orders of their own, and the order of files decides between rules that are equal otherwise.
        paths.sort_unstable();
        for path in paths {
            let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
            if is_hidden || self.files.len() >= FILES_MAX {
                continue;
            }
            if path.is_dir() {
                if depth > 0 {
                    self.enter(&path, extensions, depth - 1);
                }
            } else if path.extension().and_then(|end| end.to_str()).is_some_and(|end| extensions.contains(&end)) {
                self.files.push(path);
            }
        }
    }
}

/// How problems call a file: below the current directory, if it is there.
fn named(path: &Path) -> String {
    let current = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(&current).unwrap_or(path).display().to_string()
}

fn text(path: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path);
    let read = file.and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes));
    read.map_err(|error| format!("can't be read: {error}"))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(format!("is longer than {FILE_BYTES_MAX} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| "is not UTF-8".to_owned())
}

fn about(path: &Path, message: String, help: Option<String>) -> Problem {
    Problem { file: named(path).into(), place: None, message, help }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("leat-rules-{name}-{}", std::process::id()));
            let _ = std::fs::remove_dir_all(&path);
            std::fs::create_dir_all(path.join("deep/.git")).unwrap();
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn rules_are_found_in_the_order_of_their_names() {
        let folder = Folder::new("order");
        for file in ["b.yaml", "a.json", "deep/c.yml", "deep/.git/d.yaml", "e.txt", ".f.yaml"] {
            std::fs::write(folder.0.join(file), file).unwrap();
        }
        let read = read_rules(std::slice::from_ref(&folder.0)).unwrap();
        let texts: Vec<&str> = read.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["a.json", "b.yaml", "deep/c.yml"]);
        let named = read_rules(&[folder.0.join("e.txt")]).unwrap();
        assert_eq!(named.len(), 1, "a file that is named itself is read whatever its name");
        let watched = watched(std::slice::from_ref(&folder.0), &[]);
        assert!(watched.contains(&folder.0) && watched.contains(&folder.0.join("deep")), "{watched:?}");
    }

    #[test]
    fn what_cannot_be_read_is_told_by_its_file() {
        let folder = Folder::new("unread");
        std::fs::write(folder.0.join("a.yaml"), [0xff, 0xfe]).unwrap();
        let problems = read_rules(&[folder.0.clone(), folder.0.join("none.yaml")]).unwrap_err();
        let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert!(told.iter().any(|line| line.ends_with("a.yaml: is not UTF-8")), "{told:?}");
        assert!(told.iter().any(|line| line.contains("none.yaml: can't be read")), "{told:?}");
    }
}
