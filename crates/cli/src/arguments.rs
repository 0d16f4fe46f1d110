use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

/// One HTTP engine for apps, gateways and RPC.
#[derive(Debug, Parser)]
#[command(name = "leat", version, about, disable_help_subcommand = true, arg_required_else_help = true)]
#[command(after_help = "Examples:
  leat demo                          see everything at once, on loopback
  leat gateway leat.yaml             run the gateway
  leat gateway leat.yaml --check     look a configuration over without running it
  leat doctor                        is the middleware of the app in this folder a drop-in?

Exit codes: 0 done, 1 failed, 2 bad usage or configuration.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run an app without Node.js, on the embedded host
    #[command(after_help = "Examples:
  leat run app.js
  leat run server.ts --port 3000")]
    Run(RunArguments),
    /// Run the gateway; SIGHUP or --watch reloads its configuration without losing a request
    #[command(after_help = "Examples:
  leat gateway leat.yaml
  leat gateway leat.yaml --watch     take changes of the file over as they are saved
  leat gateway leat.yaml --check     print every mistake as file:line:column, and what to write instead

Signals: SIGTERM and SIGINT drain and end; SIGHUP reloads the configuration and opens the access log again;
SIGUSR2 starts the binary anew with the same sockets and then drains.")]
    Gateway(GatewayArguments),
    /// Look configurations over: file:line:column, what is wrong, what to write
    #[command(after_help = "Example:\n  leat check leat.yaml other.yaml")]
    Check(CheckArguments),
    /// Say of each middleware of an app on Node.js whether it works on leat/express
    #[command(after_help = "Examples:
  leat doctor                        the app in this folder, and all members if it is a workspace
  leat doctor apps/web --json        one object for programs: `supported`, and `apps` with their `packages`
  npx leat doctor                    the same from the npm package

Verdicts: drop-in, needs leat/register (start it with node --import leat/register app.js), not supported, and not tested.
Exit codes: 0 nothing is in the way, 1 something is not supported, 2 bad usage or no app there.")]
    Doctor(DoctorArguments),
    /// Run a small upstream, the gateway in front of it, and an app on Node.js, with the addresses to try
    #[command(after_help = "Example:\n  leat demo --listen 127.0.0.1:8088")]
    Demo(DemoArguments),
    /// Print completions for a shell
    #[command(after_help = "Example:\n  leat completions bash > /etc/bash_completion.d/leat")]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the version
    Version,
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// The app: .js, .mjs, .cjs or .ts
    #[arg(value_hint = clap::ValueHint::FilePath)]
    pub(crate) app: PathBuf,
    /// What the app finds in process.argv
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct GatewayArguments {
    /// The configuration, YAML
    #[arg(env = "LEAT_CONFIG")]
    pub(crate) config: PathBuf,
    /// Only look the configuration over
    #[arg(long)]
    pub(crate) check: bool,
    /// Take changes of the file over as they are saved
    #[arg(long, env = "LEAT_WATCH")]
    pub(crate) watch: bool,
    /// Cores to use, instead of what the configuration says
    #[arg(long, env = "LEAT_WORKERS", value_name = "N")]
    pub(crate) workers: Option<std::num::NonZeroUsize>,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// The files
    #[arg(required = true)]
    pub(crate) paths: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// The app's folder, which has its package.json
    #[arg(default_value = ".", value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) folder: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    /// Where the gateway listens
    #[arg(long, env = "LEAT_LISTEN", default_value = "127.0.0.1:8080", value_name = "ADDRESS")]
    pub(crate) listen: SocketAddr,
    /// The built npm package for the app on Node.js [default: packages/leat of the sources that the binary was built in]
    #[arg(long, env = "LEAT_PACKAGE", value_name = "FOLDER")]
    pub(crate) package: Option<PathBuf>,
}
