//! Places in files, and what is wrong there.

use std::fmt;
use std::sync::Arc;

/// Where in a file something stands. Both count from 1; columns count characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Something wrong, or doubtful, in a configuration. Displays as `file:line:column: what is wrong`, and a second line
/// that says what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file, as messages call it.
    pub file: Arc<str>,
    /// Where in the file; `None` if it is about the file as a whole.
    pub place: Option<Place>,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
}

impl Problem {
    /// A problem that shows only when what the configuration names is put to use.
    pub fn new(file: &str, place: Place, message: String) -> Self {
        Self { file: file.into(), place: Some(place), message, help: None }
    }

    /// The file.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Where in the file; `None` if it is about the file as a whole.
    pub fn place(&self) -> Option<Place> {
        self.place
    }

    /// What is wrong.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to write instead.
    pub fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(place) = self.place {
            write!(f, ":{place}")?;
        }
        write!(f, ": {}", self.message)?;
        match &self.help {
            Some(help) => write!(f, "\n  help: {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Problem {}
