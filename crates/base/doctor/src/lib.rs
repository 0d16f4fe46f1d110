//! Looks at an app's dependencies and says of each known middleware whether it works on `leat/express`: what `leat doctor`
//! and `npx leat doctor` print. The verdicts come from one table, which the middleware suite keeps true.

mod error;
mod glob;
mod installed;
mod lock;
mod project;
mod report;
mod table;
mod verdict;

use std::path::Path;

pub use error::DoctorError;
pub use report::Report;
pub use table::Table;
pub use verdict::{Advice, Verdict};

use project::Project;

/// What a command prints and ends with.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    /// 0: nothing stands in the way; 1: something is not supported; 2: there is nothing to look at.
    pub code: u8,
    /// For standard output.
    pub stdout: String,
    /// For standard error.
    pub stderr: String,
}

/// The whole command, for the app in `folder`.
#[must_use]
pub fn doctor(folder: &Path, json: bool) -> Outcome {
    let report = Table::shipped().and_then(|table| examine(folder, &table));
    match report {
        Ok(report) => {
            let stdout = if json { report.json() } else { report.text() };
            Outcome { code: u8::from(report.is_blocked()), stdout, stderr: String::new() }
        }
        Err(error) => Outcome { code: 2, stdout: String::new(), stderr: format!("leat doctor: {error}\n") },
    }
}

/// Looks at the app in `folder` and, where it is the root of a workspace, at every member.
///
/// # Errors
/// If the folder or a manifest can't be read.
pub fn examine(folder: &Path, table: &Table) -> Result<Report, DoctorError> {
    let projects = Project::all_in(folder)?;
    Ok(Report::new(&projects, table))
}

#[cfg(test)]
mod tests;
