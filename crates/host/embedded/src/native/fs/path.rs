//! Single files, folders and links by their paths.

use std::fs::{File, OpenOptions, Permissions};
use std::io::Error;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, Timespec, Timestamps};
use rustix::io::Errno;

use super::arguments::{Arguments, at, between};
use super::descriptor::{given, moment};
use super::{Done, Out, carried};

/// `fs.constants.COPYFILE_EXCL`.
const COPY_NEW: i32 = 1;

pub(super) fn access(arguments: &mut Arguments) -> Done {
    let path = arguments.path();
    let mode = Access::from_bits_truncate(arguments.id());
    if carried::find(&path).is_some() {
        let writes = mode.contains(Access::WRITE_OK);
        return at(&path, "access", if writes { Err(Errno::ROFS.into()) } else { Ok(()) }).map(|()| Out::Nothing);
    }
    at(&path, "access", rustix::fs::access(&path, mode).map_err(Error::from)).map(|()| Out::Nothing)
}

pub(super) fn exists(arguments: &mut Arguments) -> Done {
    let path = arguments.path();
    Ok(Out::Flag(carried::find(&path).is_some() || rustix::fs::access(&path, Access::EXISTS).is_ok()))
}

pub(super) fn chmod(arguments: &mut Arguments) -> Done {
    let path = arguments.path();
    let mode = Permissions::from_mode(arguments.id());
    at(&path, "chmod", std::fs::set_permissions(&path, mode)).map(|()| Out::Nothing)
}

pub(super) fn chown(arguments: &mut Arguments) -> Done {
    let path = arguments.path();
    let (user, group) = (given(arguments.id()), given(arguments.id()));
    at(&path, "chown", std::os::unix::fs::chown(&path, user, group)).map(|()| Out::Nothing)
}

pub(super) fn link_chown(arguments: &mut Arguments) -> Done {
    let path = arguments.path();
    let (user, group) = (given(arguments.id()), given(arguments.id()));
    at(&path, "lchown", std::os::unix::fs::lchown(&path, user, group)).map(|()| Out::Nothing)
}

pub(super) fn times(arguments: &mut Arguments) -> Done {
    set_times(arguments, "utime", AtFlags::empty())
}

pub(super) fn link_times(arguments: &mut Arguments) -> Done {
    set_times(arguments, "lutime", AtFlags::SYMLINK_NOFOLLOW)
}

fn set_times(arguments: &mut Arguments, syscall: &'static str, flags: AtFlags) -> Done {
    let path = arguments.path();
    let times =
        Timestamps { last_access: timespec(arguments.number()), last_modification: timespec(arguments.number()) };
    at(&path, syscall, rustix::fs::utimensat(CWD, &path, &times, flags).map_err(Error::from)).map(|()| Out::Nothing)
}

fn timespec(seconds: Option<f64>) -> Timespec {
    let moment = moment(seconds);
    match moment.duration_since(std::time::UNIX_EPOCH) {
        Ok(since) => Timespec {
            tv_sec: i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(since.subsec_nanos()),
        },
        Err(_) => Timespec { tv_sec: seconds.unwrap_or(0.0).floor() as i64, tv_nsec: 0 },
    }
}

/// Copies a file with its mode; the system does it without the bytes passing through here where it can.
pub(super) fn copy(arguments: &mut Arguments) -> Done {
    let (from, to, mode) = (arguments.path(), arguments.path(), arguments.int());
    between(&from, &to, "copyfile", copy_file(&from, &to, mode)).map(|()| Out::Nothing)
}

fn copy_file(from: &Path, to: &Path, mode: i32) -> std::io::Result<()> {
    let mut source = File::open(from)?;
    let found = source.metadata()?;
    if found.is_dir() {
        // What libuv says of a folder.
        return Err(Errno::NOTSUP.into());
    }
    if std::fs::metadata(to).is_ok_and(|other| same(&found, &other)) {
        return if mode & COPY_NEW == 0 { Ok(()) } else { Err(Errno::EXIST.into()) };
    }
    let mut options = OpenOptions::new();
    options.write(true);
    if mode & COPY_NEW == 0 {
        options.create(true).truncate(true)
    } else {
        options.create_new(true)
    };
    let mut target = options.open(to)?;
    target.set_permissions(found.permissions())?;
    std::io::copy(&mut source, &mut target).map(|_| ())
}

fn same(one: &std::fs::Metadata, other: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    one.dev() == other.dev() && one.ino() == other.ino()
}

pub(super) fn rename(arguments: &mut Arguments) -> Done {
    let (from, to) = (arguments.path(), arguments.path());
    between(&from, &to, "rename", std::fs::rename(&from, &to)).map(|()| Out::Nothing)
}

pub(super) fn link(arguments: &mut Arguments) -> Done {
    let (from, to) = (arguments.path(), arguments.path());
    between(&from, &to, "link", std::fs::hard_link(&from, &to)).map(|()| Out::Nothing)
}

pub(super) fn symlink(arguments: &mut Arguments) -> Done {
    let (target, path) = (arguments.path(), arguments.path());
    between(&target, &path, "symlink", std::os::unix::fs::symlink(&target, &path)).map(|()| Out::Nothing)
}

pub(super) fn unlink(arguments: &mut Arguments) -> Done {
    let path = arguments.path();
    at(&path, "unlink", std::fs::remove_file(&path)).map(|()| Out::Nothing)
}

pub(super) fn read_link(arguments: &mut Arguments) -> Done {
    let path = arguments.path();
    let found = at(&path, "readlink", std::fs::read_link(&path))?;
    Ok(Out::Name(found.into_os_string().into_vec(), arguments.flag()))
}

/// `(path, as bytes, native)`: where the system's own call is not asked for, the error is of the first part that is missing.
pub(super) fn real(arguments: &mut Arguments) -> Done {
    let path = arguments.path();
    let (as_bytes, native) = (arguments.flag(), arguments.flag());
    if let Some(found) = carried::find(&path) {
        return Ok(Out::Name(found.path().as_bytes().to_vec(), as_bytes));
    }
    match std::fs::canonicalize(&path) {
        Ok(found) => Ok(Out::Name(found.into_os_string().into_vec(), as_bytes)),
        Err(error) if native => at(&path, "realpath", Err(error)),
        Err(error) => {
            let at_fault = missing(&path);
            at(&at_fault, "lstat", Err(error))
        }
    }
}

/// The first part of `path` that can't be looked at.
fn missing(path: &Path) -> PathBuf {
    let mut at = if path.is_absolute() { PathBuf::new() } else { std::env::current_dir().unwrap_or_default() };
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => _ = at.pop(),
            part => at.push(part),
        }
        if std::fs::symlink_metadata(&at).is_err() {
            break;
        }
    }
    at
}
