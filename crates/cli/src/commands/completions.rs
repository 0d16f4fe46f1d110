use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::arguments::Arguments;

/// Prints the completions.
pub(crate) fn run(shell: Shell) -> ExitCode {
    clap_complete::generate(shell, &mut Arguments::command(), "leat", &mut std::io::stdout());
    ExitCode::SUCCESS
}
