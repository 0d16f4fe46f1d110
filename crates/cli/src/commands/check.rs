use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use leat_embedded::{PluginFile, PluginLimits, Plugins};
use leat_gateway::config::{self, Config, Problem};
use leat_gateway::{Checked, Lasting};
use leat_listen::{CertificateFiles, ClientAuth, TicketKeys, TlsOptions, TlsSettings};
use tokio::task::LocalSet;

use super::BAD_CONFIG;
use crate::arguments::CheckArguments;
use crate::event::{self, Level, is_for_people, say, tell};
use crate::process::ConfigSource;
use crate::process::plugins::CorePlugins;
use crate::process::watch::Seen;

/// Looks every file over; says what is wrong with each.
pub(crate) fn run(arguments: &CheckArguments) -> ExitCode {
    if arguments.plugins {
        return if check_plugins(&arguments.paths) { ExitCode::SUCCESS } else { ExitCode::from(BAD_CONFIG) };
    }
    if !arguments.proto.is_empty() {
        let good = super::check_rules::check(&arguments.paths, &arguments.proto);
        return if good { ExitCode::SUCCESS } else { ExitCode::from(BAD_CONFIG) };
    }
    let mut good = true;
    for path in &arguments.paths {
        if super::check_rules::are_rules(path) {
            let name = path.display();
            say(format_args!(
                "{name}: these are rules of a mock\n  help: say for which schema: leat check --proto PATH {name}"
            ));
            good = false;
            continue;
        }
        good &= if is_app(path) { check_app(path) } else { check(&ConfigSource::File(path.clone())).is_some() };
    }
    if good { ExitCode::SUCCESS } else { ExitCode::from(BAD_CONFIG) }
}

/// Whether a path is a program's: a file that `leat run` takes, or a folder with a package.json.
fn is_app(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    matches!(extension, "js" | "mjs" | "cjs" | "ts" | "mts" | "cts") || path.join("package.json").is_file()
}

/// Looks a program over without running it.
fn check_app(path: &Path) -> bool {
    let (files, findings) = match leat_embedded::check(path) {
        Ok(checked) => checked,
        Err(message) => {
            say(format_args!("{message}"));
            return false;
        }
    };
    for finding in &findings {
        say(format_args!("{finding}"));
    }
    let errors = findings.iter().filter(|finding| finding.is_error()).count();
    if errors > 0 {
        say(format_args!("{}: {} to mend", path.display(), count(errors, "problem")));
        return false;
    }
    tell(format_args!("{}: good; {}", path.display(), count(files, "file")));
    true
}

/// Loads plug-ins as the gateway does, and prints the plan that they make. Their top level runs; their hooks don't.
fn check_plugins(files: &[PathBuf]) -> bool {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            say(format_args!("{error}"));
            return false;
        }
    };
    let loaded = LocalSet::new().block_on(&runtime, async {
        let files: Vec<PluginFile> = files.iter().cloned().map(PluginFile::new).collect();
        let all = (0..files.len()).collect();
        Plugins::load(&files, &[all], PluginLimits::default())
    });
    match loaded {
        Ok(plugins) => {
            for (_, message) in plugins.take_troubles() {
                say(format_args!("warning: {message}"));
            }
            tell(format_args!("{}", plugins.explain()));
            true
        }
        Err(error) => {
            say(format_args!("{error}"));
            false
        }
    }
}

/// Reads a configuration and prints what is wrong or doubtful; `None` if it can't be run.
pub(crate) fn check(source: &ConfigSource) -> Option<Arc<Config>> {
    let (config, _) = read(source, &Lasting::default(), Telling::Check).ok()?;
    tell(format_args!("{}: good; {}", source.name(), summary(&config)));
    Some(config)
}

/// Reads a configuration and nothing that it names but the files of secrets; says what is wrong with it.
pub(crate) fn parse(path: &Path) -> Option<Config> {
    config::load(path)
        .inspect_err(|problems| report(&path.display().to_string(), problems))
        .ok()
        .map(|loaded| loaded.config)
}

/// A configuration, and the files beside it that it was read from, as they were before.
pub(crate) type Read = (Arc<Config>, Vec<Seen>);

/// Most problems of one configuration that are told of as events.
const PROBLEMS_MAX: usize = 100;

/// To whom it is said what is wrong or doubtful.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Telling {
    /// To whoever checks a configuration, which nobody runs.
    Check,
    /// To whoever starts a process.
    Start,
    /// To those who read the log of a process that runs: as its other events.
    Running,
}

impl Telling {
    fn warning(self, warning: &Problem) {
        match self.has_events() {
            true => event::problem(Level::Warn, "config_warning", warning),
            false => say(format_args!("warning: {warning}")),
        }
    }

    fn problems(self, name: &str, problems: &[Problem]) {
        if !self.has_events() {
            return report(name, problems);
        }
        for problem in problems.iter().take(PROBLEMS_MAX) {
            event::problem(Level::Error, "config_problem", problem);
        }
    }

    fn has_events(self) -> bool {
        self == Self::Running && !is_for_people()
    }
}

/// Reads a configuration; says on standard error what is wrong or doubtful.
///
/// # Errors
/// What is wrong, which was said.
pub(crate) fn read(source: &ConfigSource, lasting: &Lasting, telling: Telling) -> Result<Read, Vec<Problem>> {
    let looked = look(source, lasting, telling).map_err(|mut problems| {
        if let ConfigSource::Text { name, .. } = source {
            // Nobody sees this text: its places would lead nowhere.
            problems.iter_mut().filter(|problem| problem.file() == name).for_each(|problem| problem.place = None);
        }
        problems
    });
    looked.inspect_err(|problems| telling.problems(&source.name(), problems))
}

fn look(source: &ConfigSource, lasting: &Lasting, telling: Telling) -> Result<Read, Vec<Problem>> {
    let loaded = match source {
        ConfigSource::File(path) => config::load(path)?,
        ConfigSource::Text { name, text } => config::parse(text, name, Path::new("."))?,
    };
    loaded.warnings.iter().for_each(|warning| telling.warning(warning));
    // Before any of them is read.
    let mut seen = watched(&loaded.config);
    let file = source.name();
    let Checked { mut problems, warnings } = leat_gateway::check(&loaded.config, &file, lasting);
    warnings.iter().for_each(|warning| telling.warning(warning));
    problems.extend(certificates(&loaded.config, &file));
    let config = Arc::new(loaded.config);
    let mut sources = match plugins(&config, &file, telling) {
        Ok(sources) => sources,
        Err(problem) => {
            problems.push(problem);
            Vec::new()
        }
    };
    if problems.is_empty() {
        seen.extend(sources.drain(..).map(Seen::now));
        return Ok((config, seen));
    }
    // By file first: rules of mocks have files of their own.
    problems.sort_by(|one, other| (one.file(), one.place()).cmp(&(other.file(), other.place())));
    Err(problems)
}

/// What is looked at beside the configuration: plug-ins as far as they are known before they are read, schemas and rules.
pub(crate) fn watched(config: &Config) -> Vec<Seen> {
    // What a plug-in's file is linked to is looked at where it is named too.
    let plugins = config.plugins().list().iter().map(|plugin| plugin.file().to_owned());
    plugins.chain(config.mocks().flat_map(|(_, mock)| mock.settings().watched())).map(Seen::now).collect()
}

fn report(name: &str, problems: &[Problem]) {
    for problem in problems {
        say(format_args!("{problem}"));
    }
    say(format_args!("{name}: {} to mend", count(problems.len(), "problem")));
}

/// What is wrong with the certificates that listeners show, each looked at alone.
fn certificates(config: &Config, file: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    let encrypted = config.listeners().iter().filter_map(|listener| listener.tls());
    for (tls, certificate) in encrypted.flat_map(|tls| tls.certificates().iter().map(move |one| (tls, one))) {
        let files = CertificateFiles { chain: certificate.cert().to_owned(), key: certificate.key().to_owned() };
        let authorities = tls.clients().map(|clients| std::fs::read(clients.authorities()).unwrap_or_default());
        let client_auth = authorities.map_or(ClientAuth::Off, |authorities| ClientAuth::Required { authorities });
        let options = TlsOptions { client_auth, ..TlsOptions::new(vec![files]) };
        let loaded = TicketKeys::new().and_then(|tickets| TlsSettings::load(&options, &tickets));
        if let Err(error) = loaded {
            problems.push(Problem::new(file, certificate.place(), error.to_string()));
        }
    }
    problems
}

/// Loads the plug-ins into a world of their own, which is gone afterwards, and says which files they are made of. Their top level runs.
fn plugins(config: &Arc<Config>, file: &str, telling: Telling) -> Result<Vec<PathBuf>, Problem> {
    let Some(first) = config.plugins().list().first() else { return Ok(Vec::new()) };
    let loaded = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => LocalSet::new().block_on(&runtime, async {
            let Some(loaded) = CorePlugins::load(config, &Arc::default())? else { return Ok(Vec::new()) };
            // Where they run, each core tells of its own.
            if telling == Telling::Check {
                loaded.take_troubles().iter().for_each(|trouble| say(format_args!("warning: {trouble}")));
            }
            Ok(loaded.sources())
        }),
        Err(error) => Err(error.to_string()),
    };
    loaded.map_err(|message: String| {
        // An error begins with the file that it is in, where it is one of a plug-in's own.
        let named = |plugin: &&config::Plugin| message.starts_with(&plugin.file().display().to_string());
        let plugin = config.plugins().list().iter().find(named).unwrap_or(first);
        Problem::new(file, plugin.place(), message)
    })
}

fn summary(config: &Config) -> String {
    let mocks: Vec<_> = config.mocks().filter_map(|(_, mock)| mock.loaded()).collect();
    let rules: usize = mocks.iter().map(|loaded| loaded.rules()).sum();
    let mut out = format!(
        "{}, {}, {}",
        count(config.listeners().len(), "listener"),
        count(config.routes().len(), "route"),
        count(config.upstreams().len(), "upstream")
    );
    if !mocks.is_empty() {
        out.push_str(&format!(", {} of mocks", count(rules, "rule")));
    }
    out
}

pub(super) fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}
