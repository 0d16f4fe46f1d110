use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::event::Level;

/// What `leat mock` takes.
#[derive(Debug, Args)]
pub(crate) struct MockArguments {
    /// The schema: a folder or file of .proto, a set of descriptors, or an image of buf; may be given several times
    #[arg(long, alias = "descriptor-set", env = "LEAT_PROTO", value_name = "PATH", value_delimiter = ',', num_args = 1..,
        value_hint = clap::ValueHint::AnyPath)]
    pub(crate) proto: Vec<PathBuf>,
    /// A folder that imports are looked up in; may be given several times
    #[arg(long, short = 'I', env = "LEAT_INCLUDE", value_name = "FOLDER", value_delimiter = ',', value_hint = clap::ValueHint::DirPath)]
    pub(crate) include: Vec<PathBuf>,
    /// A server whose reflection tells the schema: HOST:PORT, or https://HOST
    #[arg(long, env = "LEAT_REFLECT", value_name = "SERVER")]
    pub(crate) reflect: Option<String>,
    /// Rules: a folder, or a file of YAML or JSON; may be given several times
    #[arg(long, env = "LEAT_RULES", value_name = "PATH", value_delimiter = ',', num_args = 1.., value_hint = clap::ValueHint::AnyPath)]
    pub(crate) rules: Vec<PathBuf>,
    /// Where calls are answered: PORT (on 127.0.0.1), IP:PORT or unix:PATH
    #[arg(long, env = "LEAT_LISTEN", value_name = "ADDR", default_value = "127.0.0.1:9090")]
    pub(crate) listen: String,
    /// Hold requests against the constraints (buf.validate) of the schema
    #[arg(long, env = "LEAT_VALIDATE", value_name = "WHEN", default_value = "auto")]
    pub(crate) validate: ValidateArgument,
    /// Answer calls that no rule answers with made-up messages
    #[arg(long, env = "LEAT_FAKE")]
    pub(crate) fake: bool,
    /// What made-up values, weights and delays are drawn from: the same seed, the same answers
    #[arg(long, env = "LEAT_SEED", value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Metadata whose value tells sessions apart
    #[arg(long, env = "LEAT_SESSION_KEY", value_name = "NAME")]
    pub(crate) session_key: Option<String>,
    /// Answer the admin API (calls, verification, rules, metrics) there: PORT (on 127.0.0.1), IP:PORT or unix:PATH
    #[arg(long, env = "LEAT_ADMIN", value_name = "ADDR")]
    pub(crate) admin: Option<String>,
    /// The file of the token that requests to the admin API must show to change something [default: LEAT_ADMIN_TOKEN, if it is set]
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, requires = "admin")]
    pub(crate) admin_token_file: Option<PathBuf>,
    /// The certificate chain, PEM; then calls come over TLS
    #[arg(long, env = "LEAT_TLS_CERT", value_name = "FILE", value_hint = clap::ValueHint::FilePath, requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Its private key, PEM
    #[arg(long, env = "LEAT_TLS_KEY", value_name = "FILE", value_hint = clap::ValueHint::FilePath, requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// The authorities of client certificates, PEM; then clients must show one
    #[arg(long, env = "LEAT_CLIENT_CA", value_name = "FILE", value_hint = clap::ValueHint::FilePath, requires = "tls_cert")]
    pub(crate) client_ca: Option<PathBuf>,
    /// Take changes of rules and schema over as they are saved
    #[arg(long, env = "LEAT_WATCH")]
    pub(crate) watch: bool,
    /// Cores to use [default: 1]
    #[arg(long, env = "LEAT_WORKERS", value_name = "N")]
    pub(crate) workers: Option<NonZeroUsize>,
    /// Record: calls that no rule answers go on to this server, and become rules in this folder
    #[arg(long, num_args = 2, value_names = ["SERVER", "FOLDER"], conflicts_with_all = ["fake", "drift"])]
    pub(crate) record: Option<Vec<String>>,
    /// Run the rules that have a request against this server, and report what changed; exit code 1 if anything did
    #[arg(long, value_name = "SERVER", conflicts_with = "check")]
    pub(crate) drift: Option<String>,
    /// Print what --drift reports as JSON
    #[arg(long, requires = "drift")]
    pub(crate) json: bool,
    /// Metadata for the calls of --drift, such as credentials; may be given several times
    #[arg(long, short = 'H', value_name = "NAME: VALUE", requires = "drift")]
    pub(crate) metadata: Vec<String>,
    /// Metadata whose values are neither kept nor recorded, beside what sounds secret; may be given several times
    #[arg(long, env = "LEAT_REDACT", value_name = "NAME", value_delimiter = ',')]
    pub(crate) redact: Vec<String>,
    /// Authorities to trust for --reflect, --record and --drift, PEM
    #[arg(long, env = "LEAT_CA", value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) ca: Option<PathBuf>,
    /// Write a line for every call: to stdout, stderr or a file
    #[arg(long, env = "LEAT_ACCESS_LOG", value_name = "WHERE")]
    pub(crate) access_log: Option<String>,
    /// Only look schema and rules over
    #[arg(long)]
    pub(crate) check: bool,
    /// Events to tell of on standard error
    #[arg(long, env = "LEAT_LOG_LEVEL", value_name = "LEVEL")]
    pub(crate) log_level: Option<Level>,
}

/// When requests are held against constraints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ValidateArgument {
    /// Where the schema has some
    Auto,
    /// Every request, also one whose type has none: it must be one of its type
    On,
    /// Never
    Off,
}

impl ValidateArgument {
    /// The word of a configuration.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::On => "on",
            Self::Off => "off",
        }
    }
}
