use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use super::Target;

/// Access records tell who asked for what: not for every account of the machine.
const FILE_MODE: u32 = 0o640;
/// Tries to write to a target that is full for the moment (a terminal or pipe that somebody made non-blocking).
const FULL_TRIES: u32 = 200;
/// Time between them.
const FULL_WAIT: Duration = Duration::from_millis(5);

/// Where lines are written to.
#[derive(Debug)]
pub(super) struct Output {
    target: Target,
    file: File,
    /// A write failed in the middle of a line.
    is_torn: bool,
}

impl Output {
    pub(super) fn open(target: Target) -> io::Result<Self> {
        // Duplicates of the standard descriptors: the process-wide locks of `std` are not held by a stuck writer.
        let file = match &target {
            Target::Stderr => io::stderr().as_fd().try_clone_to_owned()?.into(),
            Target::Stdout => io::stdout().as_fd().try_clone_to_owned()?.into(),
            Target::File(path) => open_file(path)?,
        };
        Ok(Self { target, file, is_torn: false })
    }

    pub(super) fn reopen(&mut self) -> io::Result<()> {
        if let Target::File(path) = &self.target {
            self.file = open_file(path)?;
            self.is_torn = false;
        }
        Ok(())
    }

    /// Writes whole lines. After an error the rest of them is lost, and the next write begins on a line of its own.
    pub(super) fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        if self.is_torn {
            self.write_all(b"\n")?;
        }
        self.is_torn = false;
        self.write_all(lines)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let (mut left, mut tries) = (bytes, 0);
        while !left.is_empty() {
            match self.file.write(left) {
                Ok(0) => return self.fail(bytes, left, io::ErrorKind::WriteZero.into()),
                Ok(count) => (left, tries) = (left.get(count..).unwrap_or_default(), 0),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && tries < FULL_TRIES => {
                    tries += 1;
                    std::thread::sleep(FULL_WAIT);
                }
                Err(error) => return self.fail(bytes, left, error),
            }
        }
        Ok(())
    }

    fn fail(&mut self, bytes: &[u8], left: &[u8], error: io::Error) -> io::Result<()> {
        let written = bytes.get(..bytes.len() - left.len()).unwrap_or_default();
        self.is_torn = written.last().is_some_and(|&byte| byte != b'\n');
        Err(error)
    }
}

/// A named pipe is opened for reading as well: else this waits until somebody reads there, and with it the start of the process, or
/// a reload.
fn open_file(path: &Path) -> io::Result<File> {
    let is_pipe = std::fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo());
    OpenOptions::new().read(is_pipe).append(true).create(true).mode(FILE_MODE).open(path)
}
