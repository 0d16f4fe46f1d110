mod mock;

use std::net::SocketAddr;
use std::num::NonZeroU16;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use leat_embedded::Size;
use leat_listen::ListenAddress;

use crate::event::Level;
pub(crate) use mock::MockArguments;

/// One HTTP engine for apps, gateways and RPC.
#[derive(Debug, Parser)]
#[command(name = "leat", version, about, disable_help_subcommand = true, arg_required_else_help = true)]
#[command(after_help = "Examples:
  leat demo                          see everything at once, on loopback
  leat run app.js                    run an app without Node.js
  leat gateway leat.yaml             run the gateway
  leat gateway leat.yaml --check     look a configuration over without running it
  leat mock --proto protos --rules rules   answer gRPC, gRPC-Web and Connect by rules
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
  leat run server.ts --port 3000     options stand before the app or behind it; what stands behind -- is the app's
  leat run app.js --workers 2        two threads, each with the whole app, on the same port
  leat run app.js --watch            start again when a file changes, without refusing a connection
  leat run app.js --env-file .env --memory 64MB --request-timeout 2000
  leat run app.js --metrics 9090     http://127.0.0.1:9090/metrics

Signals: SIGTERM and SIGINT end the app, unless it listens for them itself: if it serves, what is under way is answered
first, for 10 s at most, and the exit code is 0; a second signal ends it at once.
Exit codes: the app's own, 1 failed, 2 bad usage.")]
    Run(RunArguments),
    /// Run the gateway; SIGHUP or --watch reloads its configuration without losing a request
    #[command(after_help = "Examples:
  leat gateway leat.yaml
  leat gateway leat.yaml --watch     take changes of the file over as they are saved
  leat gateway leat.yaml --check     print every mistake as file:line:column, and what to write instead

Signals: SIGTERM and SIGINT drain and end; SIGHUP reloads the configuration and opens the access log again;
SIGUSR1 opens the access log again and nothing else; SIGUSR2 starts the binary anew with the same sockets and then drains.")]
    Gateway(GatewayArguments),
    /// Answer RPC calls (gRPC, gRPC-Web, Connect) by rules, in the place of services
    #[command(after_help = "Examples:
  leat mock --proto protos --rules rules
  leat mock --proto protos --fake            no rules yet: made-up messages that are valid
  leat mock --proto image.binpb --rules rules --admin 9900 --watch
  leat mock --reflect 127.0.0.1:9000 --record 127.0.0.1:9000 recorded    calls go on, and become rules
  leat mock --proto protos --rules recorded --drift 127.0.0.1:9000       what has changed there since?
  leat mock --proto protos --rules rules --check

Rules are YAML or JSON; docs/reference/mock-rules.md has all of them, docs/guide/mock.md the first five minutes.
Signals: SIGTERM and SIGINT drain and end; SIGHUP reads schema and rules again.
Exit codes: 0, 1 failed, or --drift found differences, 2 bad usage, schema or rules.")]
    Mock(Box<MockArguments>),
    /// Make one self-contained executable of an app
    #[command(after_help = "\
Examples:
  leat build app.js -o app           ./app runs it; its arguments are the app's own
  leat build . -o app --include plugins/a.js --include public

It takes the settings of `leat run` from their LEAT_* variables.
Exit codes: 0, 2 the app has mistakes, or a file can't be read or written.")]
    Build(BuildArguments),
    /// Look configurations and apps over: file:line:column, what is wrong, what to write
    #[command(
        after_help = "Example:\n  leat check leat.yaml other.yaml\n  leat check app.js          what it imports is looked over too; nothing is run\n  leat check --plugins auth.js log.ts   loaded as one plan, which is printed; their top level runs\n  leat check --proto protos rules    rules of a mock, compiled against their schema"
    )]
    Check(CheckArguments),
    /// Say what would act on a request to the gateway, in its order, and where the file says so; nothing runs or is counted
    #[command(after_help = "Examples:
  leat explain leat.yaml GET http://shop.example/orders/7
  leat explain leat.yaml POST /orders -H 'host: shop.example' -H 'x-canary: 1' --from 203.0.113.7

Limits are named and not asked, credentials are not looked at, and plug-ins don't run.
Exit codes: 0 explained, also where the request would be refused, 2 bad usage or configuration.")]
    Explain(ExplainArguments),
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
    /// process.env.PORT; also where the first server listens that asks for no port, or for port 0
    #[arg(long, env = "LEAT_PORT", value_name = "N")]
    pub(crate) port: Option<NonZeroU16>,
    /// Threads, each with the whole app in a world of its own (process.env.LEAT_WORKER is its number)
    #[arg(long, env = "LEAT_WORKERS", value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u16).range(1..=i64::from(leat_embedded::WORKERS_MAX)))]
    pub(crate) workers: u16,
    /// Start the app again when a file of its folder changes (not in node_modules)
    #[arg(long, env = "LEAT_WATCH")]
    pub(crate) watch: bool,
    /// Variables for process.env, NAME=value a line, as Node.js reads them; may be given several times: later files win,
    /// and what the process has already stays
    #[arg(long, env = "LEAT_ENV_FILE", value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) env_file: Vec<PathBuf>,
    /// Memory of a world; one that holds more is made anew, and its requests under way get 503
    #[arg(long, env = "LEAT_MEMORY", value_name = "SIZE", default_value_t = Size::new(leat_embedded::MEMORY_BYTES), value_parser = memory)]
    pub(crate) memory: Size,
    /// Milliseconds that JavaScript may run at once while the app serves; 0 is for ever. What runs longer is stopped, and
    /// costs its request
    #[arg(long, env = "LEAT_REQUEST_TIMEOUT", value_name = "MS", default_value_t = leat_embedded::TURN_MS)]
    pub(crate) request_timeout: u64,
    /// Give the app globalThis.gc
    #[arg(long, env = "LEAT_EXPOSE_GC")]
    pub(crate) expose_gc: bool,
    /// Growth of the heap after which garbage is collected between two turns, or half of the heap if that is more
    #[arg(long, env = "LEAT_GC_THRESHOLD", value_name = "SIZE", default_value_t = Size::new(leat_embedded::COLLECT_BYTES))]
    pub(crate) gc_threshold: Size,
    /// What an error does that the app does not catch: end it with 1, or be logged only
    #[arg(long, env = "LEAT_ON_ERROR", value_name = "WHAT", default_value = "exit")]
    pub(crate) on_error: OnError,
    /// Compile every module anew, and keep nothing on disk
    #[arg(long, env = "LEAT_NO_CACHE")]
    pub(crate) no_cache: bool,
    /// Answer metrics for Prometheus there: PORT (on 127.0.0.1), IP:PORT or unix:PATH
    #[arg(long, env = "LEAT_METRICS", value_name = "ADDR")]
    pub(crate) metrics: Option<ListenAddress>,
    /// What the app finds in process.argv
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<String>,
}

/// What an uncaught error does.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum OnError {
    /// It ends the app with 1, as in Node.js
    Exit,
    /// It is logged
    Log,
}

fn memory(text: &str) -> Result<Size, String> {
    let size: Size = text.parse().map_err(|error: leat_embedded::SizeError| error.to_string())?;
    let least = Size::new(leat_embedded::MEMORY_BYTES_MIN);
    if size < least { Err(format!("write at least {least}: a world needs that much to begin")) } else { Ok(size) }
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
    /// Events to tell of on standard error, instead of what the configuration says
    #[arg(long, env = "LEAT_LOG_LEVEL", value_name = "LEVEL")]
    pub(crate) log_level: Option<Level>,
}

#[derive(Debug, Args)]
pub(crate) struct BuildArguments {
    /// The app: .js, .mjs, .cjs or .ts, or a folder with a package.json
    #[arg(value_hint = clap::ValueHint::AnyPath)]
    pub(crate) app: PathBuf,
    /// The executable
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) output: PathBuf,
    /// Carry this too: a module that the app asks for by a name that it calculates, a file that it reads, or all files of a
    /// folder; may be given several times
    #[arg(long, value_name = "PATH", value_hint = clap::ValueHint::AnyPath)]
    pub(crate) include: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// The files are plug-ins: load them as one plan, in this order, and print it
    #[arg(long)]
    pub(crate) plugins: bool,
    /// The files are rules of mocks: compile them against this schema (.proto, a folder, descriptors); may be given several times
    #[arg(long, value_name = "PATH", value_hint = clap::ValueHint::AnyPath, conflicts_with = "plugins")]
    pub(crate) proto: Vec<PathBuf>,
    /// The files
    #[arg(required = true)]
    pub(crate) paths: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// The configuration, YAML
    pub(crate) config: PathBuf,
    /// The method
    pub(crate) method: String,
    /// A URL with http or https, or a path
    pub(crate) url: String,
    /// A header of the request; may be given several times
    #[arg(short = 'H', long, value_name = "NAME: VALUE")]
    pub(crate) header: Vec<String>,
    /// The address that the connection comes from
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    pub(crate) from: std::net::IpAddr,
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
