use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

static FOLDERS: AtomicUsize = AtomicUsize::new(0);
const SOURCE: &str = "module.exports = 1";
const PATH: &str = "/app/a.js";

/// A folder of its own, with one entry.
struct Fixture(PathBuf);

impl Fixture {
    fn new() -> Self {
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("leat-cache-{}-{number}", std::process::id()));
        let fixture = Self(path);
        fixture.open().expect("a cache").write(PATH, SOURCE, b"bytecode");
        assert_eq!(fixture.read().as_deref(), Some(&b"bytecode"[..]));
        fixture
    }

    fn open(&self) -> Option<Cache> {
        Cache::open_in(&self.0)
    }

    fn read(&self) -> Option<Vec<u8>> {
        self.open()?.read(PATH, SOURCE)
    }

    fn entry(&self) -> PathBuf {
        self.0.join(name_of(PATH))
    }

    fn change(&self, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = std::fs::read(self.entry()).expect("an entry");
        change(&mut bytes);
        std::fs::write(self.entry(), bytes).expect("written");
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = std::fs::set_permissions(&self.0, std::fs::Permissions::from_mode(0o700));
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
}

#[test]
fn another_source_or_path_is_not_found() {
    let fixture = Fixture::new();
    let cache = fixture.open().expect("a cache");
    assert_eq!(cache.read(PATH, "module.exports = 2"), None);
    assert_eq!(cache.read("/app/b.js", SOURCE), None);
    // Nor is one that was put in another's place.
    std::fs::copy(fixture.entry(), fixture.0.join(name_of("/app/b.js"))).expect("copied");
    assert_eq!(cache.read("/app/b.js", SOURCE), None);
}

#[test]
fn a_truncated_entry_is_ignored_at_any_length() {
    let fixture = Fixture::new();
    let whole = std::fs::read(fixture.entry()).expect("an entry");
    for length in 0..whole.len() {
        std::fs::write(fixture.entry(), &whole[..length]).expect("written");
        assert_eq!(fixture.read(), None, "{length}");
    }
}

#[test]
fn a_changed_byte_anywhere_is_noticed() {
    let fixture = Fixture::new();
    let whole = std::fs::read(fixture.entry()).expect("an entry");
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        std::fs::write(fixture.entry(), &changed).expect("written");
        assert_eq!(fixture.read(), None, "{at}");
    }
    fixture.change(|bytes| *bytes = [whole.clone(), vec![0]].concat());
    assert_eq!(fixture.read(), None, "longer");
}

#[test]
fn another_builds_entry_is_ignored() {
    let fixture = Fixture::new();
    fixture.change(|bytes| bytes[MAGIC.len()..MAGIC.len() + 8].copy_from_slice(&(BUILD ^ 1).to_le_bytes()));
    assert_eq!(fixture.read(), None);
}

#[test]
fn an_entry_under_another_key_is_ignored() {
    let fixture = Fixture::new();
    std::fs::remove_file(fixture.0.join(KEY_FILE)).expect("removed");
    assert_eq!(fixture.read(), None);
}

#[test]
fn a_key_that_others_can_read_is_not_used() {
    let fixture = Fixture::new();
    for bits in [0o640, 0o604, 0o622] {
        mode(&fixture.0.join(KEY_FILE), bits);
        assert!(fixture.open().is_none(), "{bits:o}");
    }
}

#[test]
fn a_short_key_is_not_used() {
    let fixture = Fixture::new();
    std::fs::write(fixture.0.join(KEY_FILE), b"short").expect("written");
    assert!(fixture.open().is_none());
}

#[test]
fn a_folder_that_others_can_write_is_not_used() {
    let fixture = Fixture::new();
    for bits in [0o770, 0o707, 0o777] {
        mode(&fixture.0, bits);
        assert!(fixture.open().is_none(), "{bits:o}");
    }
    mode(&fixture.0, 0o755);
    assert!(fixture.open().is_some());
}

#[test]
fn an_entry_that_others_can_write_is_ignored() {
    let fixture = Fixture::new();
    for bits in [0o620, 0o602] {
        mode(&fixture.entry(), bits);
        assert_eq!(fixture.read(), None, "{bits:o}");
    }
}

#[test]
fn links_are_not_followed() {
    let fixture = Fixture::new();
    let elsewhere = fixture.0.join("elsewhere");
    std::fs::rename(fixture.entry(), &elsewhere).expect("renamed");
    symlink(&elsewhere, fixture.entry()).expect("linked");
    assert_eq!(fixture.read(), None, "an entry");
    let other = fixture.0.with_extension("link");
    symlink(&fixture.0, &other).expect("linked");
    assert!(Cache::open_in(&other).is_none(), "the folder");
    std::fs::remove_file(other).expect("removed");
}

#[test]
fn what_is_no_file_is_ignored() {
    let fixture = Fixture::new();
    std::fs::remove_file(fixture.entry()).expect("removed");
    std::fs::create_dir(fixture.entry()).expect("made");
    assert_eq!(fixture.read(), None);
}

#[test]
fn another_owners_files_are_ignored() {
    let fixture = Fixture::new();
    // Only root can give a file away.
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let nobody = Some(rustix::fs::Uid::from_raw(65534));
    rustix::fs::chown(fixture.entry(), nobody, None).expect("given away");
    assert_eq!(fixture.read(), None, "an entry");
    rustix::fs::chown(&fixture.0, nobody, None).expect("given away");
    assert!(fixture.open().is_none(), "the folder");
}

#[test]
fn nothing_is_left_of_a_write_but_the_entry() {
    let fixture = Fixture::new();
    let mut names: Vec<_> =
        std::fs::read_dir(&fixture.0).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    assert_eq!(names.len(), 2, "{names:?}");
}
