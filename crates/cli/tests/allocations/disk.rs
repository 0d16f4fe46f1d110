use std::fs::File;
use std::io::IoSliceMut;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::{ReadWriteFlags, preadv2};

/// What a core's thread may do itself where the files of this test lie. The table is that of a disk where it may do all; elsewhere
/// a blocking thread does it, which costs known allocations more, or saves those that are made there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Disk {
    /// `openat2` with `RESOLVE_CACHED`: not below kernels before 5.12, and not in sandboxes that forbid it.
    opens: bool,
    /// `preadv2` with `RWF_NOWAIT`: not on tmpfs, say.
    reads: bool,
}

/// What finding a file on a blocking thread costs beside finding it here.
const FOUND_ELSEWHERE: i64 = -3;
/// What reading a block there costs.
const READ_ELSEWHERE: i64 = 1;

impl Disk {
    /// Where this file is, which was just written, and so is in the caches.
    pub(crate) fn of(file: &Path) -> Self {
        let opened = openat2(CWD, file, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::CACHED);
        let read = File::open(file).unwrap();
        let found = preadv2(&read, &mut [IoSliceMut::new(&mut [0])], 0, ReadWriteFlags::NOWAIT);
        Self { opens: opened.is_ok(), reads: found.is_ok() }
    }

    /// What a row would count on the table's disk.
    pub(crate) fn on_the_tables(self, name: &str, count: u64) -> u64 {
        let (finds, reads) = (name.contains(" file"), name.ends_with(" file"));
        let mut extra = 0;
        if finds && !self.opens {
            extra += FOUND_ELSEWHERE;
        }
        if reads && !self.reads {
            extra += READ_ELSEWHERE;
        }
        count.saturating_add_signed(-extra)
    }
}
