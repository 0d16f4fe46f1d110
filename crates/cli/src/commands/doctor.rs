use std::io::Write as _;
use std::process::ExitCode;

use crate::arguments::DoctorArguments;

/// Prints what is said of the app.
pub(crate) fn run(arguments: &DoctorArguments) -> ExitCode {
    let outcome = leat_doctor::doctor(&arguments.folder, arguments.json);
    // Whoever reads may have seen enough, as `head` has.
    let _ = std::io::stdout().write_all(outcome.stdout.as_bytes());
    let _ = std::io::stderr().write_all(outcome.stderr.as_bytes());
    ExitCode::from(outcome.code)
}
