use std::path::Path;
use std::process::ExitCode;

use leat_gateway::Gateway;
use leat_gateway::config::{self, Config};

use super::BAD_CONFIG;
use crate::arguments::CheckArguments;
use crate::event::say;

/// Looks every file over; says what is wrong with each.
pub(crate) fn run(arguments: &CheckArguments) -> ExitCode {
    let mut good = true;
    for path in &arguments.paths {
        good &= check(path).is_some();
    }
    if good { ExitCode::SUCCESS } else { ExitCode::from(BAD_CONFIG) }
}

/// Reads a configuration and prints what is wrong or doubtful; `None` if it can't be run.
pub(crate) fn check(path: &Path) -> Option<Config> {
    let config = read(path)?;
    println!("{}: good; {}", path.display(), summary(&config));
    Some(config)
}

/// Reads a configuration; says on standard error what is wrong or doubtful.
pub(crate) fn read(path: &Path) -> Option<Config> {
    let loaded = match config::load(path) {
        Ok(loaded) => loaded,
        Err(problems) => {
            for problem in &problems {
                say(format_args!("{problem}"));
            }
            say(format_args!("{}: {} to mend", path.display(), count(problems.len(), "problem")));
            return None;
        }
    };
    for warning in &loaded.warnings {
        say(format_args!("warning: {warning}"));
    }
    match Gateway::check(&loaded.config) {
        Ok(()) => Some(loaded.config),
        Err(error) => {
            say(format_args!("{}: {error}", path.display()));
            None
        }
    }
}

fn summary(config: &Config) -> String {
    format!(
        "{}, {}, {}",
        count(config.listeners().len(), "listener"),
        count(config.routes().len(), "route"),
        count(config.upstreams().len(), "upstream")
    )
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}
