use std::process::ExitCode;

use super::{BAD_CONFIG, check};
use crate::arguments::GatewayArguments;
use crate::event::{Level, event};
use crate::process::{self, ConfigSource, Settings, StartError};

/// Runs the gateway, or only looks its configuration over.
pub(crate) fn run(arguments: &GatewayArguments) -> ExitCode {
    if arguments.check {
        return match check::check(&ConfigSource::File(arguments.config.clone())) {
            Some(_) => ExitCode::SUCCESS,
            None => ExitCode::from(BAD_CONFIG),
        };
    }
    let settings = Settings {
        config: ConfigSource::File(arguments.config.clone()),
        watch: arguments.watch,
        workers: arguments.workers,
        log_level: arguments.log_level,
        ready: None,
    };
    match process::run(settings) {
        Ok(()) => ExitCode::SUCCESS,
        Err(StartError::Config(_)) => ExitCode::from(BAD_CONFIG),
        Err(StartError::Failed(message)) => {
            event(Level::Error, "failed", &message, &[]);
            ExitCode::FAILURE
        }
    }
}
