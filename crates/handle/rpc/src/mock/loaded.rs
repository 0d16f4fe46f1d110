use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;
use leat_config::Problem;
use leat_rpc_wire::Status;
use leat_rpc_wire::rest::BindingProblem;
use leat_schema::{Method, Schema, Sources};

use super::answering::{Answering, Compiler};
use super::noted::timestamp;
use super::rules::Set;
use super::secret::is_secret;
use super::{Mock, Settings, files};
use crate::Message;
use crate::transcode::{self, Transcoder};
use crate::validate::Guard;

/// Rules with what they answer.
pub(super) type Rules = Set<Arc<Answering>>;

/// A schema and rules that were read, compiled, and found good. What is added to the rules at run time is swapped in here, and
/// the schema stays.
#[derive(Debug)]
pub struct Loaded {
    settings: Settings,
    schema: Arc<Schema>,
    /// The files of rules, by name: what is added at run time is compiled together with them.
    files: Vec<(String, String)>,
    warnings: Vec<Problem>,
    guard: Guard,
    /// Where the schema has bindings to HTTP (`google.api.http`).
    rest: Option<Arc<Transcoder>>,
    live: ArcSwap<Rules>,
    /// How often what is added at run time had changed when they were compiled.
    changes: AtomicU64,
    /// Whether the metadata that tells sessions apart is a secret.
    hides_sessions: bool,
}

impl Loaded {
    /// Reads the schema and all rules, those that were added to `mock` at run time too.
    ///
    /// # Errors
    /// All that is wrong; what has no place in a file of its own is told by `about`.
    pub fn read(settings: &Settings, mock: &Mock, about: &dyn Fn(String) -> Problem) -> Result<Self, Vec<Problem>> {
        let mut sources = Sources::new();
        for folder in &settings.include {
            sources.include(folder);
        }
        for path in &settings.proto {
            sources.path(path);
        }
        if let Some(server) = &settings.reflect {
            let told = super::reflect::fetch(server).map_err(|message| vec![about(message)])?;
            sources.descriptor_set(server.authority(), told);
        }
        let schema = sources.build()?;
        let files = files::read_rules(&settings.rules)?;
        let (changes, added) = mock.added();
        let all = files.iter().cloned().chain(added).collect::<Vec<_>>();
        let wrong = |name: &str, message: String, help: &str| match schema.declared_at(name) {
            Some((file, place)) => Problem { file, place: Some(place), message, help: Some(help.to_owned()) },
            None => about(message),
        };
        let guard = Guard::new(settings.validate, &schema).map_err(|found| {
            let help = "correct the option, or validate nothing (`--validate off`)";
            let wrong = found.iter().map(|problem| {
                let name = problem.field.as_ref().unwrap_or(&problem.message);
                wrong(name, format!("a constraint of the schema is wrong: {problem}"), help)
            });
            wrong.collect::<Vec<_>>()
        })?;
        let rest = rest(&schema).map_err(|found| {
            let wrong = found.iter().map(|problem| {
                let message = format!("a binding of the schema to HTTP is wrong: {problem}");
                wrong(&problem.method, message, problem.help())
            });
            wrong.collect::<Vec<_>>()
        })?;
        let (set, warnings) = compile(&all, &schema, &guard, (mock, settings))?;
        let live = ArcSwap::from_pointee(set);
        let hides_sessions = settings.session_key.as_ref().is_some_and(|name| is_secret(name, &settings.redact));
        let changes = AtomicU64::new(changes);
        Ok(Self { settings: settings.clone(), schema, files, warnings, guard, rest, live, changes, hides_sessions })
    }

    /// The same files with these rules beside them. Nothing changes before [`Loaded::swap`].
    pub(super) fn compile_with(
        &self,
        added: &[(String, String)],
        mock: &Mock,
    ) -> Result<(Rules, Vec<Problem>), Vec<Problem>> {
        let all: Vec<_> = self.files.iter().chain(added).cloned().collect();
        compile(&all, &self.schema, &self.guard, (mock, &self.settings))
    }

    /// Runs these rules, which were compiled after so many changes of what was added.
    pub(super) fn swap(&self, rules: Rules, changes: u64) {
        self.live.store(Arc::new(rules));
        self.changes.store(changes, Ordering::Release);
    }

    /// How often what is added had changed when the rules were compiled.
    pub(super) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// How it answers.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether keys of sessions are secrets, so that a hash stands for each.
    pub(super) fn hides_sessions(&self) -> bool {
        self.hides_sessions
    }

    /// The schema.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// The bindings of the schema to HTTP, if it has some.
    pub fn rest(&self) -> Option<&Arc<Transcoder>> {
        self.rest.as_ref()
    }

    /// What is doubtful about the rules.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// How many rules there are.
    pub fn rules(&self) -> usize {
        self.live.load().rules().len()
    }

    /// Whether a method has rules.
    pub fn has_rules(&self, method: &Method) -> bool {
        !self.live.load().rules_of(method).is_empty()
    }

    /// Holds a message of a request against the constraints of its type.
    ///
    /// # Errors
    /// `invalid_argument` with what it breaks.
    pub(super) fn validate(&self, method: &Method, message: Message<'_>) -> Result<(), Box<Status>> {
        self.guard.request(method, message, timestamp)
    }

    /// A made-up answer, which the `number`th call gets.
    ///
    /// # Errors
    /// Why there is none, in words.
    pub(super) fn fake(&self, method: &Method, number: u64) -> Result<Vec<u8>, String> {
        let valid = |bytes: &[u8]| self.guard.reply(method.output(), bytes, timestamp()).map_or(Ok(()), Err);
        super::fake::message(method.output(), Some(self.guard.validators()), (self.settings.seed, number), valid)
    }

    /// The names of all rules.
    pub(super) fn names(&self) -> HashSet<String> {
        self.live.load().rules().map(|rule| rule.name().to_string()).collect()
    }

    pub(super) fn live(&self) -> arc_swap::Guard<Arc<Rules>> {
        self.live.load()
    }
}

/// The bindings of a schema to HTTP; `None` where it has none, so that no call is held against them.
fn rest(schema: &Arc<Schema>) -> Result<Option<Arc<Transcoder>>, Vec<BindingProblem>> {
    if schema.methods().iter().all(|method| method.option(leat_schema::bundled::HTTP).is_none()) {
        return Ok(None);
    }
    Transcoder::new(Arc::clone(schema), transcode::Settings::default()).map(|rest| Some(Arc::new(rest)))
}

fn compile(
    files: &[(String, String)],
    schema: &Arc<Schema>,
    guard: &Guard,
    (mock, settings): (&Mock, &Settings),
) -> Result<(Rules, Vec<Problem>), Vec<Problem>> {
    let named: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let read = Set::load(&named, schema, &mut Compiler { state: &mock.state, guard });
    match read.set {
        Some(set) => Ok((set.redacted(&settings.redact), read.warnings)),
        None => Err(read.problems),
    }
}
