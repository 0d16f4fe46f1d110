//! Compiled modules on disk. QuickJS does not validate bytecode, so nothing is read that this user's Leat, of this very build,
//! did not write: owner and mode of folder and files are looked at, links are not followed, and a checksum under a key of this
//! user's covers everything. What is doubtful counts as not there, and what can't be written is not written.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use aws_lc_rs::{digest, hmac};
use rustix::fs::{Mode, OFlags, Stat, fstat, openat, renameat, unlinkat};

use crate::builtins::BUILD;

/// Sources that are shorter are compiled nearly as fast as they are read and checked (of 4.5 KB: 0.7 ms against 0.25).
pub(crate) const SOURCE_BYTES_MIN: usize = 2 * 1024;
/// No module's bytecode is larger.
const ENTRY_BYTES_MAX: u64 = 128 * 1024 * 1024;
const MAGIC: &[u8; 8] = b"leat-bc1";
const KEY_BYTES: usize = 32;
const MAC_BYTES: usize = 32;
/// Magic, build, and the checksum of what follows.
const HEAD_BYTES: usize = MAGIC.len() + 8 + MAC_BYTES;
const KEY_FILE: &str = "key";
const GROUP_OR_OTHERS_WRITE: u32 = 0o022;
const GROUP_OR_OTHERS: u32 = 0o077;

/// The folder of compiled modules.
pub(crate) struct Cache {
    folder: OwnedFd,
    key: hmac::Key,
}

impl Cache {
    /// Opens this user's, in `$XDG_CACHE_HOME/leat` or `~/.cache/leat`; `None` if there is none that can be trusted.
    pub(crate) fn open() -> Option<Self> {
        let named = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let caches = named("XDG_CACHE_HOME").or_else(|| named("HOME").map(|home| home.join(".cache")))?;
        Self::open_in(&caches.join("leat"))
    }

    /// Opens the one at `path`, which is made if need be.
    pub(crate) fn open_in(path: &Path) -> Option<Self> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
        let folder = match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(folder) => folder,
            Err(rustix::io::Errno::NOENT) => {
                use std::os::unix::fs::DirBuilderExt as _;
                std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path).ok()?;
                rustix::fs::open(path, flags, Mode::empty()).ok()?
            }
            Err(_) => return None,
        };
        if !is_ours(&fstat(&folder).ok()?, GROUP_OR_OTHERS_WRITE) {
            return None;
        }
        let key = read_key(&folder).or_else(|| make_key(&folder))?;
        Some(Self { folder, key: hmac::Key::new(hmac::HMAC_SHA256, &key) })
    }

    /// The bytecode of the module at `path`, if it was compiled from this very `source` by this very build.
    pub(crate) fn read(&self, path: &str, source: &str) -> Option<Vec<u8>> {
        let file = open_file(&self.folder, &name_of(path), GROUP_OR_OTHERS_WRITE)?;
        let mut bytes = Vec::new();
        file.take(ENTRY_BYTES_MAX).read_to_end(&mut bytes).ok()?;
        let (magic, rest) = bytes.split_at_checked(MAGIC.len())?;
        let (build, rest) = rest.split_at_checked(8)?;
        let (mac, bytecode) = rest.split_at_checked(MAC_BYTES)?;
        if magic != MAGIC || build != BUILD.to_le_bytes() || bytecode.is_empty() {
            return None;
        }
        let known = self.checksum(path, source, bytecode);
        aws_lc_rs::constant_time::verify_slices_are_equal(known.as_ref(), mac).ok()?;
        bytes.drain(..HEAD_BYTES);
        Some(bytes)
    }

    /// Keeps the bytecode of a module. Whoever reads meanwhile sees the old entry or the new one.
    pub(crate) fn write(&self, path: &str, source: &str, bytecode: &[u8]) {
        let name = name_of(path);
        let Some(suffix) = random_name() else { return };
        let own = format!("{name}.{suffix}");
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(file) = openat(&self.folder, own.as_str(), flags, Mode::RUSR | Mode::WUSR) else { return };
        let mut whole = Vec::with_capacity(HEAD_BYTES + bytecode.len());
        whole.extend_from_slice(MAGIC);
        whole.extend_from_slice(&BUILD.to_le_bytes());
        whole.extend_from_slice(self.checksum(path, source, bytecode).as_ref());
        whole.extend_from_slice(bytecode);
        let written = File::from(file).write_all(&whole).is_ok();
        if !written || renameat(&self.folder, own.as_str(), &self.folder, name.as_str()).is_err() {
            let _ = unlinkat(&self.folder, own.as_str(), rustix::fs::AtFlags::empty());
        }
    }

    fn checksum(&self, path: &str, source: &str, bytecode: &[u8]) -> hmac::Tag {
        let mut context = hmac::Context::with_key(&self.key);
        context.update(MAGIC);
        context.update(&BUILD.to_le_bytes());
        for part in [path.as_bytes(), source.as_bytes(), bytecode] {
            context.update(&(part.len() as u64).to_le_bytes());
            context.update(part);
        }
        context.sign()
    }
}

/// An entry's file: one for each module, whatever its source is just now.
fn name_of(path: &str) -> String {
    let mut context = digest::Context::new(&digest::SHA256);
    context.update(path.as_bytes());
    let hash = context.finish();
    hash.as_ref().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn random_name() -> Option<String> {
    let mut bytes = [0; 8];
    aws_lc_rs::rand::fill(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Whether a file is this user's, and none of the bits in `closed` is set.
fn is_ours(stat: &Stat, closed: u32) -> bool {
    stat.st_uid == rustix::process::geteuid().as_raw() && stat.st_mode & closed == 0
}

/// A regular file of this user's.
fn open_file(folder: &OwnedFd, name: &str, closed: u32) -> Option<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(folder.as_fd(), name, flags, Mode::empty()).ok()?;
    let stat = fstat(&file).ok()?;
    let regular = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file();
    (regular && is_ours(&stat, closed)).then(|| File::from(file))
}

fn read_key(folder: &OwnedFd) -> Option<[u8; KEY_BYTES]> {
    let mut key = [0; KEY_BYTES];
    open_file(folder, KEY_FILE, GROUP_OR_OTHERS)?.read_exact(&mut key).ok()?;
    Some(key)
}

/// Makes a key; if another process made one just now, or there is one that can't be trusted, there is none.
fn make_key(folder: &OwnedFd) -> Option<[u8; KEY_BYTES]> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(folder, KEY_FILE, flags, Mode::RUSR | Mode::WUSR).ok()?;
    let mut key = [0; KEY_BYTES];
    aws_lc_rs::rand::fill(&mut key).ok()?;
    File::from(file).write_all(&key).ok()?;
    Some(key)
}

#[cfg(test)]
#[path = "cache_tests.rs"]
mod tests;
