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
/// What goes into a pipe in one piece, whoever else writes there (`PIPE_BUF` of Linux, pipe(7)): events of the process do so.
const WHOLE_BYTES_MAX: usize = 4096;

/// Where lines are written to.
#[derive(Debug)]
pub(super) struct Output {
    target: Target,
    file: File,
    /// Others write there too, and it is no file, to which everything is appended as a whole.
    is_shared: bool,
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
        let is_shared = !matches!(target, Target::File(_)) && !file.metadata().is_ok_and(|found| found.is_file());
        Ok(Self { target, file, is_shared, is_torn: false })
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
        if !self.is_shared {
            return self.write_all(lines);
        }
        pieces(lines).try_for_each(|piece| self.write_all(piece))
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

/// Whole lines, as many at a time as no other writer comes between; a longer line stands alone.
fn pieces(lines: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut left = lines;
    std::iter::from_fn(move || {
        let is_end = |byte: &u8| *byte == b'\n';
        let within = left.get(..WHOLE_BYTES_MAX).unwrap_or(left);
        let end = within.iter().rposition(is_end).or_else(|| left.iter().position(is_end));
        let (piece, rest) = left.split_at_checked(end.map_or(left.len(), |end| end + 1))?;
        left = rest;
        (!piece.is_empty()).then_some(piece)
    })
}

/// A named pipe is opened for reading as well: else this waits until somebody reads there, and with it the start of the process, or
/// a reload.
fn open_file(path: &Path) -> io::Result<File> {
    let is_pipe = std::fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo());
    OpenOptions::new().read(is_pipe).append(true).create(true).mode(FILE_MODE).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_written_in_pieces_that_nobody_comes_between() {
        let line = |length: usize| [vec![b'x'; length - 1], vec![b'\n']].concat();
        for (lengths, wanted) in [
            (vec![], vec![]),
            (vec![1], vec![1]),
            (vec![4096, 1], vec![4096, 1]),
            (vec![2000, 2000, 96, 1], vec![4096, 1]),
            (vec![2000, 2000, 97], vec![4000, 97]),
            (vec![100, 5000, 100, 100], vec![100, 5000, 200]),
        ] {
            let lines: Vec<u8> = lengths.iter().flat_map(|length| line(*length)).collect();
            let found: Vec<usize> = pieces(&lines).map(<[u8]>::len).collect();
            assert_eq!(found, wanted, "{lengths:?}");
        }
    }
}
