//! `stat`: a row of numbers, from which JavaScript makes `Stats`.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::time::{SystemTime, UNIX_EPOCH};

use super::arguments::{Arguments, at, of};
use super::{Done, Out, carried, descriptor};

/// dev, mode, nlink, uid, gid, rdev, blksize, ino, size, blocks, then seconds and nanoseconds of the times of access,
/// modification, change and birth.
pub(super) const COUNT: usize = 18;

pub(super) fn of_path(arguments: &mut Arguments) -> Done {
    let path = arguments.path();
    if let Some(found) = carried::find(&path) {
        return at(&path, "stat", found.facts()).map(Out::Facts);
    }
    at(&path, "stat", std::fs::metadata(&path)).map(|found| Out::Facts(facts(&found)))
}

pub(super) fn of_link(arguments: &mut Arguments) -> Done {
    let path = arguments.path();
    if let Some(found) = carried::find(&path) {
        return at(&path, "lstat", found.facts()).map(Out::Facts);
    }
    at(&path, "lstat", std::fs::symlink_metadata(&path)).map(|found| Out::Facts(facts(&found)))
}

pub(super) fn of_descriptor(arguments: &mut Arguments) -> Done {
    let found = descriptor::with(arguments.int(), |file| file.metadata());
    of("fstat", found).map(|found| Out::Facts(facts(&found)))
}

/// Of a file or folder that the executable carries: all but mode and size is the executable's.
pub(super) fn of_carried(executable: &Metadata, mode: u32, size: u64) -> [f64; COUNT] {
    let mut facts = facts(executable);
    for (at, value) in [(1, f64::from(mode)), (2, 1.0), (8, size as f64), (9, size.div_ceil(512) as f64)] {
        if let Some(fact) = facts.get_mut(at) {
            *fact = value;
        }
    }
    facts
}

fn facts(found: &Metadata) -> [f64; COUNT] {
    let born = found.created().ok().and_then(|time: SystemTime| time.duration_since(UNIX_EPOCH).ok());
    // File systems that keep no birth: Node has the change there.
    let (born, born_ns) = born.map_or((found.ctime(), found.ctime_nsec()), |time| {
        (i64::try_from(time.as_secs()).unwrap_or(i64::MAX), i64::from(time.subsec_nanos()))
    });
    [
        found.dev() as f64,
        f64::from(found.mode()),
        found.nlink() as f64,
        f64::from(found.uid()),
        f64::from(found.gid()),
        found.rdev() as f64,
        found.blksize() as f64,
        found.ino() as f64,
        found.size() as f64,
        found.blocks() as f64,
        found.atime() as f64,
        found.atime_nsec() as f64,
        found.mtime() as f64,
        found.mtime_nsec() as f64,
        found.ctime() as f64,
        found.ctime_nsec() as f64,
        born as f64,
        born_ns as f64,
    ]
}
