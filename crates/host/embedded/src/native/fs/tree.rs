//! Folders and what is below them.

use std::fs::{DirBuilder, FileType};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt};
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::arguments::{Arguments, at};
use super::{Done, Out, carried};
use crate::host::Failure;

/// Tries of `mkdtemp` for a name that is not taken, as in the C library.
const TEMPORARY_TRIES_MAX: usize = 238_328;
/// Entries that one call lists, in all folders together: the memory is the program's.
const ENTRIES_MAX: usize = 10_000_000;
/// Letters of a temporary folder's name.
const LETTERS: &[u8; 62] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// `(path, mode, recursive)`; the first folder that was made, if `recursive`.
pub(super) fn make(arguments: &mut Arguments) -> Done {
    let (path, mode, recursive) = (arguments.path(), arguments.id(), arguments.flag());
    let mut builder = DirBuilder::new();
    builder.mode(mode);
    if !recursive {
        return at(&path, "mkdir", builder.create(&path)).map(|()| Out::Nothing);
    }
    let absolute = std::path::absolute(&path).unwrap_or_else(|_| path.clone());
    // From the deepest up, to the first that is there.
    let mut wanted: Vec<&Path> = Vec::new();
    for folder in absolute.ancestors() {
        match std::fs::metadata(folder) {
            Ok(found) if found.is_dir() => break,
            Ok(_) => {
                let errno = if wanted.is_empty() { Errno::EXIST } else { Errno::NOTDIR };
                return at(&path, "mkdir", Err(errno.into()));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => wanted.push(folder),
            Err(error) => return at(&path, "mkdir", Err(error)),
        }
    }
    let first = wanted.last().map(|folder| folder.as_os_str().as_bytes().to_vec());
    for folder in wanted.into_iter().rev() {
        match builder.create(folder) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return at(folder, "mkdir", Err(error)),
            _ => {}
        }
    }
    Ok(first.map_or(Out::Nothing, |first| Out::Name(first, false)))
}

/// `(prefix, as bytes)`
pub(super) fn make_temporary(arguments: &mut Arguments) -> Done {
    let (prefix, as_bytes) = (arguments.bytes(), arguments.flag());
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    let random = std::hash::RandomState::new();
    for attempt in 0..TEMPORARY_TRIES_MAX {
        let mut number = std::hash::BuildHasher::hash_one(&random, attempt);
        let mut path = prefix.clone();
        for _ in 0..6 {
            path.push(LETTERS.get((number % 62) as usize).copied().unwrap_or(b'x'));
            number /= 62;
        }
        let path = PathBuf::from(std::ffi::OsString::from_vec(path));
        match builder.create(&path) {
            Ok(()) => return Ok(Out::Name(path.into_os_string().into_vec(), as_bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return failed_temporary(prefix, error),
        }
    }
    failed_temporary(prefix, Errno::EXIST.into())
}

fn failed_temporary(mut prefix: Vec<u8>, error: std::io::Error) -> Done {
    prefix.extend_from_slice(b"XXXXXX");
    at(Path::new(std::ffi::OsStr::from_bytes(&prefix)), "mkdtemp", Err(error))
}

pub(super) fn remove_folder(arguments: &mut Arguments) -> Done {
    let path = arguments.path();
    at(&path, "rmdir", std::fs::remove_dir(&path)).map(|()| Out::Nothing)
}

/// `(path, recursive, force)`
pub(super) fn remove(arguments: &mut Arguments) -> Done {
    let (path, recursive, force) = (arguments.path(), arguments.flag(), arguments.flag());
    let found = match std::fs::symlink_metadata(&path) {
        Err(error) if force && error.kind() == std::io::ErrorKind::NotFound => return Ok(Out::Nothing),
        found => at(&path, "lstat", found)?,
    };
    if !found.is_dir() {
        return at(&path, "unlink", std::fs::remove_file(&path)).map(|()| Out::Nothing);
    }
    if !recursive {
        return Err(Failure {
            message: format!("Path is a directory: rm returned EISDIR (is a directory) {}", path.to_string_lossy()),
            code: "ERR_FS_EISDIR",
            name: Some("SystemError"),
            errno: Some(Errno::ISDIR.raw_os_error()),
            syscall: Some("rm"),
            path: Some(path.to_string_lossy().into_owned()),
            ..Failure::default()
        });
    }
    match std::fs::remove_dir_all(&path) {
        Err(error) if force && error.kind() == std::io::ErrorKind::NotFound => Ok(Out::Nothing),
        done => at(&path, "rm", done).map(|()| Out::Nothing),
    }
}

/// `(path, recursive, as bytes, syscall is opendir)`: names, below the folder if `recursive`, and their kinds.
pub(super) fn list(arguments: &mut Arguments) -> Done {
    let (path, recursive, as_bytes) = (arguments.path(), arguments.flag(), arguments.flag());
    let syscall = if arguments.flag() { "opendir" } else { "scandir" };
    let mut entries = Vec::new();
    at(&path, syscall, list_folder(&path, b"", &mut entries))?;
    if !as_bytes {
        entries.sort_by(|(one, _), (other, _)| one.cmp(other));
    }
    // Breadth first, as Node goes.
    let mut next = 0;
    while recursive && next < entries.len() && entries.len() < ENTRIES_MAX {
        if let Some((name, kind)) = entries.get(next)
            && *kind == DIRECTORY
        {
            let mut below = name.clone();
            let folder = path.join(std::ffi::OsStr::from_bytes(name));
            below.push(b'/');
            let mut found = Vec::new();
            at(&folder, syscall, list_folder(&folder, &below, &mut found))?;
            found.sort_by(|(one, _), (other, _)| one.cmp(other));
            entries.extend(found);
        }
        next += 1;
    }
    Ok(Out::Entries(entries, as_bytes))
}

fn list_folder(folder: &Path, prefix: &[u8], to: &mut Vec<(Vec<u8>, u8)>) -> std::io::Result<()> {
    if let Some(found) = carried::find(folder) {
        for (name, is_folder) in found.list()?.take(ENTRIES_MAX) {
            let mut whole = prefix.to_vec();
            whole.extend_from_slice(name.as_bytes());
            to.push((whole, if is_folder { DIRECTORY } else { FILE }));
        }
        return Ok(());
    }
    for entry in std::fs::read_dir(folder)?.take(ENTRIES_MAX) {
        let entry = entry?;
        let mut name = prefix.to_vec();
        name.extend_from_slice(entry.file_name().as_bytes());
        to.push((name, entry.file_type().map_or(0, kind)));
    }
    Ok(())
}

const FILE: u8 = 1;
const DIRECTORY: u8 = 2;

/// `fs.constants.UV_DIRENT_…`
fn kind(found: FileType) -> u8 {
    match found {
        found if found.is_file() => FILE,
        found if found.is_dir() => DIRECTORY,
        found if found.is_symlink() => 3,
        found if found.is_fifo() => 4,
        found if found.is_socket() => 5,
        found if found.is_char_device() => 6,
        found if found.is_block_device() => 7,
        _ => 0,
    }
}
