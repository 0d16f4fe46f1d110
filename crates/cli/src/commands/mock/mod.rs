//! `leat mock`: a gateway whose only route is a mock, configured by flags.

mod config;
mod drift;
mod introduction;

use std::process::ExitCode;

use super::{BAD_CONFIG, check};
use crate::arguments::MockArguments;
use crate::event::{Level, event, say, tell};
use crate::process::{self, ConfigSource, Settings, StartError};

/// How problems call what the flags say.
const NAME: &str = "leat mock";

/// Runs the mock, or only looks it over, or compares its rules with a backend.
pub(crate) fn run(arguments: &MockArguments) -> ExitCode {
    if arguments.proto.is_empty() && arguments.reflect.is_none() {
        say(format_args!(
            "a mock needs a schema: add `--proto PATH` (.proto files or descriptors), or `--reflect SERVER`"
        ));
        return ExitCode::from(BAD_CONFIG);
    }
    let text = config::text(arguments, config::has_token_variable());
    let source = ConfigSource::Text { name: NAME.to_owned(), text };
    if let Some(server) = &arguments.drift {
        return drift::run(&source, server, arguments);
    }
    if arguments.check {
        return match check::check(&source) {
            Some(_) => ExitCode::SUCCESS,
            None => ExitCode::from(BAD_CONFIG),
        };
    }
    let shown = introduction::Shown::of(arguments);
    let settings = Settings {
        config: source,
        watch: arguments.watch,
        workers: arguments.workers,
        log_level: arguments.log_level,
        ready: Some(Box::new(move |addresses, config| {
            tell(format_args!("{}", introduction::text(&shown, addresses, config).trim_end()))
        })),
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
