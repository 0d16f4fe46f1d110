use std::process::ExitCode;

use crate::arguments::DemoArguments;

pub(crate) fn run(_arguments: &DemoArguments) -> ExitCode {
    ExitCode::SUCCESS
}
