use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use leat_embedded::{Limits, Options, env_file};

use super::BAD_CONFIG;
use clap::Parser as _;

use crate::arguments::{Arguments, Command, OnError, RunArguments};

/// The app that the executable carries: all arguments are its own, settings come from `LEAT_*` variables.
pub(crate) fn run_carried(app: &Path) -> ExitCode {
    let Command::Run(mut arguments) =
        Arguments::parse_from([OsStr::new("leat"), OsStr::new("run"), app.as_os_str()]).command
    else {
        return ExitCode::FAILURE;
    };
    arguments.arguments = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
    run(&arguments)
}

/// `leat run`.
pub(crate) fn run(arguments: &RunArguments) -> ExitCode {
    let environment = match environment(arguments) {
        Ok(environment) => environment,
        Err(message) => {
            eprintln!("leat run: {message}");
            return ExitCode::from(BAD_CONFIG);
        }
    };
    let options = Options {
        arguments: arguments.arguments.clone(),
        on_error: match arguments.on_error {
            OnError::Exit => leat_embedded::OnError::Exit,
            OnError::Log => leat_embedded::OnError::Log,
        },
        environment,
        port: arguments.port,
        workers: NonZeroUsize::new(usize::from(arguments.workers)).unwrap_or(NonZeroUsize::MIN),
        watch: arguments.watch,
        limits: Limits {
            memory: arguments.memory,
            turn: Some(arguments.request_timeout).filter(|ms| *ms > 0).map(Duration::from_millis),
            collect: arguments.gc_threshold,
            ..Limits::default()
        },
        expose_gc: arguments.expose_gc,
        cache: !arguments.no_cache,
        metrics: arguments.metrics.clone(),
        ..Options::new(arguments.app.clone())
    };
    match leat_embedded::run(&options) {
        Ok(code) => ExitCode::from(u8::try_from(code.rem_euclid(256)).unwrap_or(1)),
        Err(error) => {
            eprintln!("leat run: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What the files say that the process's environment does not.
fn environment(arguments: &RunArguments) -> Result<Vec<(String, String)>, String> {
    let mut all = Vec::new();
    for path in &arguments.env_file {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("--env-file {}: {error}; name a file with NAME=value lines", path.display()))?;
        all.extend(env_file::parse(&text));
    }
    all.retain(|(name, _)| std::env::var_os(name).is_none());
    Ok(all)
}
