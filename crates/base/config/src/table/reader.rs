use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::problem::{Place, Problem};

/// Problems that are listed before reading stops caring.
const PROBLEMS_MAX: usize = 200;

/// What reading one file has brought to light so far.
#[derive(Debug)]
pub struct Reader {
    file: Arc<str>,
    base: PathBuf,
    problems: RefCell<Vec<Problem>>,
    warnings: RefCell<Vec<Problem>>,
    unlisted: Cell<usize>,
}

impl Reader {
    /// `file` is how messages call it; relative paths in it start at `base`.
    pub fn new(file: &str, base: &Path) -> Self {
        Self {
            file: file.into(),
            base: base.to_owned(),
            problems: RefCell::default(),
            warnings: RefCell::default(),
            unlisted: Cell::new(0),
        }
    }

    /// A path in the file, complete.
    pub fn path(&self, text: &str) -> PathBuf {
        self.base.join(text)
    }

    /// Something wrong, and what to write instead.
    pub fn problem_help(&self, place: Place, message: impl Into<String>, help: impl Into<String>) {
        self.push(Some(place), message.into(), Some(help.into()));
    }

    /// A problem of the file as a whole.
    pub fn problem_of_file(&self, message: impl Into<String>, help: Option<String>) {
        self.push(None, message.into(), help);
    }

    /// Something doubtful, and what to do about it.
    pub fn warn(&self, place: Place, message: impl Into<String>, help: impl Into<String>) {
        let mut warnings = self.warnings.borrow_mut();
        if warnings.len() < PROBLEMS_MAX {
            let (message, help) = (message.into(), Some(help.into()));
            warnings.push(Problem { file: Arc::clone(&self.file), place: Some(place), message, help });
        }
    }

    /// Whether anything wrong was found so far.
    pub fn has_problems(&self) -> bool {
        !self.problems.borrow().is_empty()
    }

    /// Problems and warnings, in the order of the file.
    pub fn finish(self) -> (Vec<Problem>, Vec<Problem>) {
        let mut problems = self.problems.into_inner();
        problems.sort_by_key(Problem::place);
        if self.unlisted.get() > 0 {
            problems.push(Problem {
                file: Arc::clone(&self.file),
                place: None,
                message: format!("{} more problems are not listed", self.unlisted.get()),
                help: None,
            });
        }
        let mut warnings = self.warnings.into_inner();
        warnings.sort_by_key(Problem::place);
        (problems, warnings)
    }

    fn push(&self, place: Option<Place>, message: String, help: Option<String>) {
        let mut problems = self.problems.borrow_mut();
        if problems.len() < PROBLEMS_MAX {
            problems.push(Problem { file: Arc::clone(&self.file), place, message, help });
        } else {
            self.unlisted.set(self.unlisted.get() + 1);
        }
    }
}
