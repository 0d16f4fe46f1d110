//! The `leat` binary: commands and wiring.

mod arguments;
mod commands;
mod event;
mod outlet;
mod process;
#[cfg(test)]
mod reference;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};
use event::tell;

fn main() -> ExitCode {
    match leat_embedded::open_carried() {
        Ok(None) => {}
        Ok(Some(app)) => return commands::run::run_carried(app),
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::FAILURE;
        }
    }
    let ended = run(Arguments::parse().command);
    outlet::finish();
    ended
}

fn run(command: Command) -> ExitCode {
    match command {
        Command::Build(arguments) => commands::build::run(&arguments),
        Command::Run(arguments) => commands::run::run(&arguments),
        Command::Gateway(arguments) => commands::gateway::run(&arguments),
        Command::Mock(arguments) => commands::mock::run(&arguments),
        Command::Check(arguments) => commands::check::run(&arguments),
        Command::Explain(arguments) => commands::explain::run(&arguments),
        Command::Doctor(arguments) => commands::doctor::run(&arguments),
        Command::Demo(arguments) => commands::demo::run(&arguments),
        Command::Completions { shell } => commands::completions::run(shell),
        Command::Version => {
            tell(format_args!("leat {}", env!("CARGO_PKG_VERSION")));
            ExitCode::SUCCESS
        }
    }
}
