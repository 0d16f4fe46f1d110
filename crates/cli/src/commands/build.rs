use std::process::ExitCode;

use super::BAD_CONFIG;
use crate::arguments::BuildArguments;
use crate::event::tell;

/// `leat build`.
pub(crate) fn run(arguments: &BuildArguments) -> ExitCode {
    match leat_embedded::build(&arguments.app, &arguments.output, &arguments.include) {
        Ok(built) => {
            for warning in &built.warnings {
                eprintln!("{warning}");
            }
            let size = leat_embedded::Size::new(built.bytes);
            tell(format_args!("{}: {} files of the app, {size} in all", arguments.output.display(), built.files));
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(BAD_CONFIG)
        }
    }
}
