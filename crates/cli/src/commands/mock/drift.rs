use std::process::ExitCode;

use leat_dial::{Pools, Resolver, ResolverSettings};
use leat_gateway::Lasting;
use leat_rpc::client::{Backend, Client};
use leat_rpc::mock::record::Drift;
use leat_rpc_wire::Metadata;
use tokio::task::LocalSet;

use crate::arguments::MockArguments;
use crate::commands::BAD_CONFIG;
use crate::commands::check::{self, Telling};
use crate::event::{say, tell};
use crate::process::ConfigSource;

/// Sends the requests of rules to a server, and tells what it answers otherwise than they do.
pub(super) fn run(source: &ConfigSource, server: &str, arguments: &MockArguments) -> ExitCode {
    let backend = match Backend::parse(server, arguments.ca.as_deref()) {
        Ok(backend) => backend,
        Err(message) => {
            say(format_args!("--drift {server}: {message}"));
            return ExitCode::from(BAD_CONFIG);
        }
    };
    let Some(more) = metadata(&arguments.metadata) else { return ExitCode::from(BAD_CONFIG) };
    let Ok((config, _)) = check::read(source, &Lasting::default(), Telling::Check) else {
        return ExitCode::from(BAD_CONFIG);
    };
    let Some(loaded) = config.mocks().find_map(|(_, mock)| mock.loaded()) else { return ExitCode::from(BAD_CONFIG) };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            say(format_args!("{error}"));
            return ExitCode::FAILURE;
        }
    };
    let drift = LocalSet::new().block_on(&runtime, async {
        tokio::task::spawn_local(leat_stream::clock::run());
        let client = Client::new(&backend, Pools::new(Resolver::new(ResolverSettings::default())));
        Drift::of(&loaded, &client, &more).await
    });
    if arguments.json {
        tell(format_args!("{:#}", drift.to_json()));
    } else {
        tell(format_args!("{}", table(&drift, server).trim_end()));
    }
    if drift.compared.is_empty() {
        say(format_args!("no rule has a request to send: record some with --record, or add `sample` to rules"));
        return ExitCode::FAILURE;
    }
    if drift.changed() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Metadata as `NAME: VALUE`; says what is wrong with it.
fn metadata(given: &[String]) -> Option<Metadata> {
    let mut metadata = Metadata::new();
    for text in given {
        let Some((name, value)) = text.split_once(':').filter(|(name, _)| !name.trim().is_empty()) else {
            say(format_args!("--metadata {text}: write NAME: VALUE"));
            return None;
        };
        metadata.push(name.trim(), value.trim().as_bytes());
    }
    Some(metadata)
}

fn table(drift: &Drift, server: &str) -> String {
    let width = drift.compared.iter().map(|compared| compared.rule.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for compared in &drift.compared {
        let word = if compared.differences.is_empty() { "same" } else { "changed" };
        out.push_str(&format!("{:width$}  {word:7}  {}  {}\n", compared.rule, compared.method, compared.place));
        for difference in &compared.differences {
            out.push_str(&format!("  {difference}\n"));
        }
    }
    let (all, changed) = (drift.compared.len(), drift.changed());
    out.push_str(&format!("{changed} of {all} rules differ from {server}; {} have no request\n", drift.skipped));
    out
}
