use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why there is nothing to say; the text tells what to write instead.
#[derive(Debug)]
pub enum DoctorError {
    /// The folder is not there, or can't be read.
    Folder {
        /// What was asked for.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The folder holds no app.
    NoManifest {
        /// The folder.
        folder: PathBuf,
    },
    /// A file can't be read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A file is longer than anything of its kind.
    TooLong {
        /// The file.
        path: PathBuf,
        /// What is read at most, in bytes.
        bytes_max: u64,
    },
    /// A file is not what it should be.
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where, from 1.
        line: usize,
        /// Where in the line, from 1.
        column: usize,
        /// What is wrong.
        what: String,
    },
    /// A workspace has more members than are looked at.
    TooManyMembers {
        /// Its root.
        folder: PathBuf,
        /// What is looked at at most.
        members_max: usize,
    },
}

impl DoctorError {
    pub(crate) fn json(path: &Path, error: &serde_json::Error) -> Self {
        let text = error.to_string();
        // Its own words end with the place.
        let what = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what).to_owned();
        Self::Malformed { path: path.to_owned(), line: error.line(), column: error.column(), what }
    }
}

impl fmt::Display for DoctorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder { path, error } => {
                write!(f, "{}: {error}; write the folder of an app: leat doctor path/to/app", path.display())
            }
            Self::NoManifest { folder } => write!(
                f,
                "{}: there is no package.json; write the folder of an app: leat doctor path/to/app",
                folder.display()
            ),
            Self::Unreadable { path, error } => write!(f, "{}: {error}", path.display()),
            Self::TooLong { path, bytes_max } => write!(f, "{}: longer than {bytes_max} bytes", path.display()),
            Self::Malformed { path, line, column, what } => write!(f, "{}:{line}:{column}: {what}", path.display()),
            Self::TooManyMembers { folder, members_max } => write!(
                f,
                "{}: the workspace has more than {members_max} members; write the folder of one of them",
                folder.display()
            ),
        }
    }
}

impl std::error::Error for DoctorError {}
