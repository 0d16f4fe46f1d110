//! Files by their descriptors, and whole files.
#![allow(unsafe_code, reason = "a program names its descriptors by number")]

use std::fs::{File, FileTimes, Permissions};
use std::io::{Error, Read, Write};
use std::mem::ManuallyDrop;
use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::arguments::{Arguments, Place, at, of};
use super::{Done, Out, carried, text};
use crate::host::Failure;

/// Bytes of a file that one call reads whole.
const FILE_BYTES_MAX: u64 = (1 << 31) - 1;

/// Does `work` with the file that the program calls `fd`, which stays open.
pub(super) fn with<T>(fd: i32, work: impl FnOnce(&File) -> std::io::Result<T>) -> std::io::Result<T> {
    if fd < 0 {
        return Err(Errno::BADF.into());
    }
    // SAFETY: the number is the program's own word, as in Node: of a descriptor that is none, the system says EBADF. It is never
    // closed here.
    let file = ManuallyDrop::new(unsafe { File::from_raw_fd(fd) });
    work(&file)
}

pub(super) fn open(arguments: &mut Arguments) -> Done {
    let path = arguments.path();
    let flags = OFlags::from_bits_retain(arguments.int() as u32) | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(arguments.id());
    at(&path, "open", opened(&path, flags, mode)).map(|fd| Out::Number(f64::from(fd.into_raw_fd())))
}

fn opened(path: &Path, flags: OFlags, mode: Mode) -> std::io::Result<OwnedFd> {
    match carried::find(path) {
        Some(found) => found.open(flags),
        None => rustix::fs::open(path, flags, mode).map_err(Error::from),
    }
}

pub(super) fn close(arguments: &mut Arguments) -> Done {
    let fd = arguments.int();
    of("close", with(fd, |file| file.metadata()))?;
    // SAFETY: it is open, and the program gives it up. Standard streams included, as in Node.
    drop(unsafe { File::from_raw_fd(fd) });
    Ok(Out::Nothing)
}

pub(super) fn read(arguments: &mut Arguments) -> Done {
    let (fd, length, position) = (arguments.int(), arguments.number().unwrap_or(0.0), arguments.number());
    let mut bytes = vec![0; (length as usize).min(FILE_BYTES_MAX as usize)];
    let read = read_some(fd, &mut bytes, position.unwrap_or(-1.0))?;
    bytes.truncate(read);
    Ok(Out::Bytes(bytes))
}

/// One read at `position`, or where the file stands if that is below 0.
pub(super) fn read_some(fd: i32, bytes: &mut [u8], position: f64) -> Result<usize, Failure> {
    of(
        "read",
        again(|| {
            with(fd, |mut file| if position < 0.0 { file.read(bytes) } else { file.read_at(bytes, position as u64) })
        }),
    )
}

pub(super) fn write(arguments: &mut Arguments) -> Done {
    let (fd, bytes, position) = (arguments.int(), arguments.bytes(), arguments.number());
    Ok(Out::Number(write_some(fd, &bytes, position.unwrap_or(-1.0))? as f64))
}

/// One write at `position`, or where the file stands if that is below 0.
pub(super) fn write_some(fd: i32, bytes: &[u8], position: f64) -> Result<usize, Failure> {
    of(
        "write",
        again(|| {
            with(fd, |mut file| if position < 0.0 { file.write(bytes) } else { file.write_at(bytes, position as u64) })
        }),
    )
}

/// Once more for as long as signals interrupt it.
fn again<T>(mut work: impl FnMut() -> std::io::Result<T>) -> std::io::Result<T> {
    loop {
        match work() {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

pub(super) fn read_file(arguments: &mut Arguments) -> Done {
    whole(arguments).map(Out::Bytes)
}

pub(super) fn read_text(arguments: &mut Arguments) -> Done {
    whole(arguments).map(|bytes| Out::Text(text(bytes)))
}

fn whole(arguments: &mut Arguments) -> Result<Vec<u8>, Failure> {
    match arguments.file() {
        Place::Descriptor(fd) => of("read", with(fd, rest)).and_then(|bytes| bytes.map_err(too_large)),
        Place::Path(path) => {
            if let Some(found) = carried::find(&path) {
                return of("read", found.bytes()).map(<[u8]>::to_vec);
            }
            let flags = OFlags::from_bits_retain(arguments.int() as u32) | OFlags::CLOEXEC;
            let opened = rustix::fs::open(&path, flags, Mode::from_raw_mode(0o666)).map_err(Error::from);
            let file = File::from(at(&path, "open", opened)?);
            of("read", rest(&file)).and_then(|bytes| bytes.map_err(too_large))
        }
    }
}

/// The rest of a file, or its size if that is too much.
fn rest(mut file: &File) -> std::io::Result<Result<Vec<u8>, u64>> {
    let size = file.metadata()?.len();
    if size > FILE_BYTES_MAX {
        return Ok(Err(size));
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size as usize)?;
    let read = file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)? as u64;
    file.flush()?;
    Ok(if read > FILE_BYTES_MAX { Err(read) } else { Ok(bytes) })
}

fn too_large(size: u64) -> Failure {
    Failure {
        message: format!("File size ({size}) is greater than 2 GiB"),
        code: "ERR_FS_FILE_TOO_LARGE",
        ..Failure::default()
    }
}

pub(super) fn write_file(arguments: &mut Arguments) -> Done {
    let (place, bytes) = (arguments.file(), arguments.bytes());
    match place {
        Place::Descriptor(fd) => of("write", with(fd, |mut file| file.write_all(&bytes)))?,
        Place::Path(path) => {
            let flags = OFlags::from_bits_retain(arguments.int() as u32) | OFlags::CLOEXEC;
            let mode = Mode::from_raw_mode(arguments.id());
            let mut file = File::from(at(&path, "open", opened(&path, flags, mode))?);
            of("write", file.write_all(&bytes))?;
            if arguments.flag() {
                of("fsync", file.sync_all())?;
            }
        }
    }
    Ok(Out::Nothing)
}

pub(super) fn sync(arguments: &mut Arguments) -> Done {
    of("fsync", with(arguments.int(), File::sync_all)).map(|()| Out::Nothing)
}

pub(super) fn datasync(arguments: &mut Arguments) -> Done {
    of("fdatasync", with(arguments.int(), File::sync_data)).map(|()| Out::Nothing)
}

pub(super) fn truncate(arguments: &mut Arguments) -> Done {
    let (fd, length) = (arguments.int(), arguments.number().unwrap_or(0.0).max(0.0));
    of("ftruncate", with(fd, |file| file.set_len(length as u64))).map(|()| Out::Nothing)
}

pub(super) fn chmod(arguments: &mut Arguments) -> Done {
    let (fd, mode) = (arguments.int(), arguments.id());
    of("fchmod", with(fd, |file| file.set_permissions(Permissions::from_mode(mode)))).map(|()| Out::Nothing)
}

pub(super) fn chown(arguments: &mut Arguments) -> Done {
    let (fd, user, group) = (arguments.int(), arguments.id(), arguments.id());
    let done = with(fd, |file| std::os::unix::fs::fchown(file, given(user), given(group)));
    of("fchown", done).map(|()| Out::Nothing)
}

/// -1 leaves it as it is.
pub(super) fn given(id: u32) -> Option<u32> {
    (id != u32::MAX).then_some(id)
}

pub(super) fn times(arguments: &mut Arguments) -> Done {
    let fd = arguments.int();
    let times = FileTimes::new().set_accessed(moment(arguments.number())).set_modified(moment(arguments.number()));
    of("futime", with(fd, |file| file.set_times(times))).map(|()| Out::Nothing)
}

/// A time from seconds since 1970.
pub(super) fn moment(seconds: Option<f64>) -> SystemTime {
    let seconds = seconds.unwrap_or(0.0);
    let span = Duration::try_from_secs_f64(seconds.abs()).unwrap_or_default();
    let moved = if seconds < 0.0 { UNIX_EPOCH.checked_sub(span) } else { UNIX_EPOCH.checked_add(span) };
    moved.unwrap_or(UNIX_EPOCH)
}
