//! Files that a self-contained executable carries, as `node:fs` sees them: below a folder that no disk has, for reading only.
//! Their times are the executable's.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::io::{Error, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::OnceLock;

use rustix::fs::{MemfdFlags, Mode, OFlags, SealFlags};
use rustix::io::Errno;

use super::facts::{self, COUNT};
use crate::modules::{Bundle, Kind, carried_bundle, join};

/// The mode of a file: to be read by all.
const FILE: u32 = 0o100_444;
const FOLDER: u32 = 0o040_555;

/// Something that is carried.
pub(super) struct Found {
    bundle: &'static Bundle,
    path: String,
    is_folder: bool,
}

/// What `path` is, if it is carried.
pub(super) fn find(path: &Path) -> Option<Found> {
    let bundle = carried_bundle()?;
    let path = join("", path.to_str()?);
    let is_folder = match bundle.kind(&path) {
        _ if !Bundle::covers(&path) => return None,
        Kind::Nothing => return None,
        Kind::File => false,
        Kind::Folder => true,
    };
    Some(Found { bundle, path, is_folder })
}

impl Found {
    /// The path without what is left out of it.
    pub(super) fn path(&self) -> &OsStr {
        OsStr::from_bytes(self.path.as_bytes())
    }

    /// # Errors
    /// EISDIR.
    pub(super) fn bytes(&self) -> std::io::Result<&'static [u8]> {
        self.bundle.source(&self.path).ok_or_else(|| Errno::ISDIR.into())
    }

    /// A descriptor to read the file by: a copy of it in memory that can't be changed.
    ///
    /// # Errors
    /// EISDIR, EROFS for who wants to write, and what the system says.
    pub(super) fn open(&self, flags: OFlags) -> std::io::Result<OwnedFd> {
        let writes = flags.intersects(OFlags::WRONLY | OFlags::RDWR | OFlags::TRUNC | OFlags::APPEND);
        if writes {
            return Err(Errno::ROFS.into());
        }
        let bytes = self.bytes()?;
        let file = rustix::fs::memfd_create("leat-file", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        let mut file = std::fs::File::from(file);
        file.write_all(bytes)?;
        rustix::fs::fchmod(&file, Mode::from_raw_mode(FILE & 0o777))?;
        if let Some(modified) = executable().and_then(|data| data.modified().ok()) {
            file.set_modified(modified)?;
        }
        rustix::fs::fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
        rustix::fs::seek(&file, rustix::fs::SeekFrom::Start(0))?;
        Ok(file.into())
    }

    /// As of `stat`.
    pub(super) fn facts(&self) -> std::io::Result<[f64; COUNT]> {
        let data = executable().ok_or_else(|| Error::from(Errno::NOENT))?;
        let mode = if self.is_folder { FOLDER } else { FILE };
        let size = self.bundle.source(&self.path).map_or(0, <[u8]>::len);
        Ok(facts::of_carried(data, mode, size as u64))
    }

    /// Names and whether they are folders.
    ///
    /// # Errors
    /// ENOTDIR.
    pub(super) fn list(&self) -> std::io::Result<impl Iterator<Item = (&'static str, bool)>> {
        if self.is_folder { Ok(self.bundle.list(&self.path)) } else { Err(Errno::NOTDIR.into()) }
    }
}

/// What is known of the running executable.
fn executable() -> Option<&'static Metadata> {
    static DATA: OnceLock<Option<Metadata>> = OnceLock::new();
    DATA.get_or_init(|| std::env::current_exe().and_then(std::fs::metadata).ok()).as_ref()
}
