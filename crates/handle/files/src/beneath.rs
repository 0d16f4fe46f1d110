//! Opens files below a directory and nowhere else: symbolic links are followed as long as they stay inside.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2, readlinkat};
use rustix::io::Errno;

/// Links followed in one path; the kernel's own limit.
const LINKS_MAX: usize = 40;
/// Tries to resolve a path while somebody renames directories on it (`EAGAIN`, openat2(2)).
const RACES_MAX: usize = 8;

/// Never waits for the other end of a FIFO and never takes a terminal over.
const FILE: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);
const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::CLOEXEC).union(OFlags::DIRECTORY);

/// Set once the kernel, or a sandbox around us, has refused to know openat2.
static IS_OPENAT2_MISSING: AtomicBool = AtomicBool::new(false);

/// Whether a call may wait for a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// On a core's thread: what is not in the caches fails with `AGAIN`.
    Never,
    /// On a blocking thread.
    Allowed,
}

/// The directory to look up paths in, as the kernel wants its name: a long one would be copied for each request else.
#[derive(Debug)]
pub(crate) struct Root(CString);

impl Root {
    /// # Errors
    /// `INVAL` for a path with a NUL.
    pub(crate) fn new(path: &Path) -> Result<Self, Errno> {
        CString::new(path.as_os_str().as_bytes()).map(Self).map_err(|_| Errno::INVAL)
    }

    /// Opens it. Links on the way to it are the operator's business.
    pub(crate) fn open(&self, wait: Wait) -> Result<OwnedFd, Errno> {
        let path = self.0.as_c_str();
        if IS_OPENAT2_MISSING.load(Ordering::Relaxed) {
            return match wait {
                Wait::Never => Err(Errno::AGAIN),
                Wait::Allowed => openat(CWD, path, DIRECTORY, Mode::empty()),
            };
        }
        let opened = openat2(CWD, path, DIRECTORY, Mode::empty(), cached(wait));
        or_without_openat2(opened, wait, || openat(CWD, path, DIRECTORY, Mode::empty()))
    }
}

/// Opens `path` (relative, no NUL) for reading. It may turn out to be of any type: the caller looks.
///
/// # Errors
/// `XDEV` where the path leads out of the root; `LOOP` for too many or magic links; the others of open(2).
pub(crate) fn open(root: &OwnedFd, path: &[u8], wait: Wait) -> Result<OwnedFd, Errno> {
    let path = CString::new(path).map_err(|_| Errno::INVAL)?;
    let path = if path.is_empty() { c"." } else { &path };
    if IS_OPENAT2_MISSING.load(Ordering::Relaxed) {
        return match wait {
            Wait::Never => Err(Errno::AGAIN),
            Wait::Allowed => walk(root, path),
        };
    }
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | cached(wait);
    let mut opened = openat2(root, path, FILE, Mode::empty(), resolve);
    for _ in 1..RACES_MAX {
        if wait == Wait::Never || opened.as_ref().err() != Some(&Errno::AGAIN) {
            break;
        }
        opened = openat2(root, path, FILE, Mode::empty(), resolve);
    }
    or_without_openat2(opened, wait, || walk(root, path))
}

fn cached(wait: Wait) -> ResolveFlags {
    match wait {
        Wait::Never => ResolveFlags::CACHED,
        Wait::Allowed => ResolveFlags::empty(),
    }
}

/// Takes the way without openat2 where it is missing: `NOSYS` from a kernel before 5.6, `PERM` from a seccomp filter.
/// A kernel before 5.12 does not know `RESOLVE_CACHED` and says `INVAL`; then a blocking thread is asked.
fn or_without_openat2(
    opened: Result<OwnedFd, Errno>,
    wait: Wait,
    other: impl FnOnce() -> Result<OwnedFd, Errno>,
) -> Result<OwnedFd, Errno> {
    match (opened, wait) {
        (Err(Errno::NOSYS | Errno::PERM | Errno::INVAL), Wait::Never) => Err(Errno::AGAIN),
        (Err(Errno::NOSYS), Wait::Allowed) => {
            IS_OPENAT2_MISSING.store(true, Ordering::Relaxed);
            other()
        }
        (Err(Errno::PERM), Wait::Allowed) => other(),
        (opened, _) => opened,
    }
}

/// What the kernel does for `RESOLVE_BENEATH`, name by name: no step follows a link by itself, links are read and their
/// targets walked, and `..` goes back to the directory we came from, never above the root.
fn walk(root: &OwnedFd, path: &CStr) -> Result<OwnedFd, Errno> {
    let mut names: Vec<Vec<u8>> = Vec::new();
    push_names(path.to_bytes(), &mut names);
    let mut directories: Vec<OwnedFd> = Vec::new();
    let mut links = 0;
    while let Some(name) = names.pop() {
        let here = directories.last().unwrap_or(root);
        let is_last = names.is_empty();
        if name == b".." {
            directories.pop().ok_or(Errno::XDEV)?;
            continue;
        }
        // A path that ends in a slash names a directory.
        let flags = if is_last { FILE } else { DIRECTORY };
        match openat(here.as_fd(), &*name, flags | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(opened) if is_last => return Ok(opened),
            Ok(opened) => directories.push(opened),
            Err(error @ (Errno::LOOP | Errno::NOTDIR)) => {
                // Not a link after all: the first error stands.
                let target = readlinkat(here.as_fd(), &*name, Vec::new()).map_err(|_| error)?;
                links += 1;
                if links > LINKS_MAX {
                    return Err(Errno::LOOP);
                }
                if target.to_bytes().starts_with(b"/") {
                    return Err(Errno::XDEV);
                }
                push_names(target.to_bytes(), &mut names);
            }
            Err(error) => return Err(error),
        }
    }
    let here = directories.last().unwrap_or(root);
    openat(here.as_fd(), c".", FILE | OFlags::DIRECTORY, Mode::empty())
}

/// Puts the names of `path` on top of `names`, the first one topmost. A trailing slash stays as a `.`, which only a
/// directory has.
fn push_names(path: &[u8], names: &mut Vec<Vec<u8>>) {
    if path.ends_with(b"/") {
        names.push(b".".to_vec());
    }
    let parts = path.split(|&byte| byte == b'/').filter(|name| !name.is_empty() && *name != b".");
    names.extend(parts.rev().map(<[u8]>::to_vec));
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn walking_by_hand_and_openat2_agree() {
        let place = std::env::temp_dir().join(format!("leat-beneath-{}", std::process::id()));
        let _ = fs::remove_dir_all(&place);
        let root = place.join("site");
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(place.join("secret"), "s").unwrap();
        fs::write(root.join("a/b/file"), "f").unwrap();
        for (link, target) in [
            ("to-file", "a/b/file"),
            ("a/up", "../to-file"),
            ("a/b/up-up", "../../a/up"),
            ("to-directory", "a/b"),
            ("to-directory-slash", "a/b/"),
            ("to-file-slash", "a/b/file/"),
            ("dot", "./a/./b/../b/file"),
            ("out", "../secret"),
            ("out-and-in", "../site/a/b/file"),
            ("deep-out", "a/b/../../../secret"),
            ("absolute", "/etc/passwd"),
            ("loop", "loop"),
            ("dangling", "nothing"),
            ("self", "."),
            ("root-itself", "a/.."),
        ] {
            symlink(target, root.join(link)).unwrap();
        }
        let root = Root::new(&root).and_then(|root| root.open(Wait::Allowed)).unwrap();
        for (path, expected) in [
            ("a/b/file", Ok(())),
            ("to-file", Ok(())),
            ("a/up", Ok(())),
            ("a/b/up-up", Ok(())),
            ("to-directory", Ok(())),
            ("to-directory/file", Ok(())),
            ("to-directory-slash/file", Ok(())),
            ("dot", Ok(())),
            ("a", Ok(())),
            ("self/self/a/b/file", Ok(())),
            ("root-itself", Ok(())),
            ("root-itself/to-file", Ok(())),
            ("to-file-slash", Err(Errno::NOTDIR)),
            ("out", Err(Errno::XDEV)),
            ("out-and-in", Err(Errno::XDEV)),
            ("deep-out", Err(Errno::XDEV)),
            ("absolute", Err(Errno::XDEV)),
            ("loop", Err(Errno::LOOP)),
            ("dangling", Err(Errno::NOENT)),
            ("nothing", Err(Errno::NOENT)),
            ("a/b/file/x", Err(Errno::NOTDIR)),
            ("to-file/x", Err(Errno::NOTDIR)),
        ] {
            let walked = walk(&root, &CString::new(path).unwrap()).map(drop);
            assert_eq!(walked, expected, "{path}, by hand");
            if !IS_OPENAT2_MISSING.load(Ordering::Relaxed) {
                assert_eq!(open(&root, path.as_bytes(), Wait::Allowed).map(drop), expected, "{path}, by openat2");
            }
        }
        fs::remove_dir_all(place).unwrap();
    }
}
