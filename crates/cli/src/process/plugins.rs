//! The gateway's plug-ins, run by the embedded host: the two know nothing of each other, and meet here.

use std::cell::{Cell, Ref};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use leat_embedded::{Decision as Decided, Failure, PluginCounters, PluginFile, PluginLimits, Size};
use leat_gateway::config::{Config, OnPluginError};
use leat_gateway::{Decision, Patch, PluginHost, PluginRun};
use leat_message::{Fields, Head, Reason};
use leat_stream::clock::now_ms;

use crate::event::{Level, event};

/// What plug-ins throw is said so often a second on each core; a client that knows how to make one throw must not fill the disk.
const TOLD_EACH_MS: u64 = 1_000;

/// The plug-ins of one core. One world, whatever the routes.
#[derive(Clone)]
pub(crate) struct CorePlugins(Rc<Loaded>);

struct Loaded {
    plugins: Rc<leat_embedded::Plugins>,
    config: Arc<Config>,
    /// When something was last said, and how much was not said since.
    told_ms: Cell<u64>,
    untold: Cell<u64>,
}

impl CorePlugins {
    /// Loads the plug-ins of a configuration; `None` where it has none. To be called on the core, in its `LocalSet`.
    ///
    /// # Errors
    /// What can't be loaded, with file and place.
    pub(crate) fn load(config: &Arc<Config>, counters: &Arc<PluginCounters>) -> Result<Option<Self>, String> {
        let plugins = config.plugins();
        if plugins.list().is_empty() {
            return Ok(None);
        }
        let files: Vec<PluginFile> = plugins
            .list()
            .iter()
            .map(|plugin| PluginFile {
                name: plugin.name().to_owned(),
                path: plugin.file().to_owned(),
                options: plugin.options().map(str::to_owned),
                bypass: plugin.on_error() == OnPluginError::Bypass,
            })
            .collect();
        let limits = PluginLimits {
            memory: Size::new(usize::try_from(plugins.limits().memory_bytes()).unwrap_or(usize::MAX)),
            turn: Duration::from_millis(plugins.limits().turn_time_ms()),
            wait: Duration::from_millis(plugins.limits().wait_time_ms()),
        };
        let counters = Arc::clone(counters);
        let loaded = leat_embedded::Plugins::load_counting(&files, plugins.sets(), limits, counters);
        let plugins = loaded.map_err(|error| error.to_string())?;
        let (told_ms, untold) = (Cell::new(0), Cell::new(0));
        Ok(Some(Self(Rc::new(Loaded { plugins, config: Arc::clone(config), told_ms, untold }))))
    }

    /// How their world is.
    pub(crate) fn world(&self) -> leat_embedded::PluginWorld {
        self.0.plugins.state()
    }

    /// What went wrong while they were loaded, and stopped nothing.
    pub(crate) fn take_troubles(&self) -> Vec<String> {
        self.0.plugins.take_troubles().into_iter().map(|(_, message)| message).collect()
    }

    /// The files that they were made of.
    pub(crate) fn sources(&self) -> Vec<PathBuf> {
        self.0.plugins.sources()
    }

    /// Says what plug-ins threw that requests went on without, and what went wrong where none waited for it.
    pub(crate) fn tell_unheard(&self) {
        for (failed, message) in self.0.plugins.take_troubles() {
            self.0.tell(Level::Error, "plugin_failed", &message, &[("reason", reason(failed).code())]);
        }
        for (name, message) in self.0.plugins.take_bypassed() {
            self.0.tell(Level::Warn, "plugin_bypassed", &message, &[("plugin", &name)]);
        }
    }

    /// Says once what plug-ins can't count.
    pub(crate) fn tell_refused(counters: &PluginCounters) {
        for message in counters.take_refused() {
            event(Level::Warn, "plugin_counter_refused", &message, &[]);
        }
    }
}

impl Loaded {
    /// Whether requests go on where no plug-in of the set can be blamed alone.
    fn bypasses(&self, set: usize) -> bool {
        let plugins = self.config.plugins();
        let mut numbers = plugins.sets().get(set).into_iter().flatten();
        numbers.all(|at| plugins.list().get(*at).is_some_and(|plugin| plugin.on_error() == OnPluginError::Bypass))
    }

    fn names(&self, set: usize) -> String {
        let plugins = self.config.plugins();
        let names = plugins.sets().get(set).into_iter().flatten().filter_map(|at| plugins.list().get(*at));
        names.map(|plugin| plugin.name()).collect::<Vec<_>>().join(", ")
    }

    fn tell(&self, level: Level, name: &str, message: &str, fields: &[(&str, &str)]) {
        let now = now_ms();
        let told = self.told_ms.get();
        if told != 0 && now.saturating_sub(told) < TOLD_EACH_MS {
            self.untold.set(self.untold.get() + 1);
            return;
        }
        self.told_ms.set(now.max(1));
        let untold = self.untold.take().to_string();
        let mut fields = fields.to_vec();
        if untold != "0" {
            fields.push(("untold", &untold));
        }
        event(level, name, message, &fields);
    }
}

impl PluginHost for CorePlugins {
    type Run = CoreRun;

    fn begin(&self, set: usize, head: Head<'_>) -> CoreRun {
        let run = self.0.plugins.request(set, head);
        let mut run = CoreRun { run, loaded: Rc::clone(&self.0), set, decision: Decision::Unchanged };
        run.look();
        run
    }
}

/// One request's way through them.
pub(crate) struct CoreRun {
    run: leat_embedded::Run,
    loaded: Rc<Loaded>,
    set: usize,
    decision: Decision,
}

impl CoreRun {
    /// Takes over what the run has come to; says what went wrong.
    fn look(&mut self) -> Decision {
        self.decision = match self.run.decision() {
            Decided::Unchanged => Decision::Unchanged,
            Decided::Changed => self.changed(),
            Decided::Respond => Decision::Respond,
            Decided::Pending => Decision::Pending,
            Decided::WantsBody => Decision::WantsBody,
            Decided::Failed => self.failed(reason(self.run.failed_by()), self.run.failure()),
        };
        self.decision
    }

    /// Only with an upstream that there is.
    fn changed(&self) -> Decision {
        let unknown = self.run.patch().and_then(|patch| {
            let name = patch.upstream()?;
            let is_known = self.loaded.config.upstream_named(name).is_some();
            (!is_known).then(|| format!("there is no upstream `{}`", String::from_utf8_lossy(name).escape_debug()))
        });
        match unknown {
            None => Decision::Changed,
            Some(message) => self.failed(Reason::PluginFailed, &message),
        }
    }

    fn failed(&self, reason: Reason, message: &str) -> Decision {
        let bypasses = self.loaded.bypasses(self.set);
        let (level, name) = if bypasses { (Level::Warn, "plugin_bypassed") } else { (Level::Error, "plugin_failed") };
        let fields = [("reason", reason.code()), ("plugins", &self.loaded.names(self.set))];
        self.loaded.tell(level, name, message, &fields);
        if bypasses { Decision::Unchanged } else { Decision::Failed(reason) }
    }
}

fn reason(failed: Failure) -> Reason {
    match failed {
        Failure::Threw => Reason::PluginFailed,
        Failure::TurnTime => Reason::PluginTurnTime,
        Failure::WaitTime => Reason::PluginWaitTime,
        Failure::Lost => Reason::PluginLost,
        Failure::Busy => Reason::PluginBusy,
    }
}

impl PluginRun for CoreRun {
    fn decision(&self) -> Decision {
        self.decision
    }

    fn poll_decided(&mut self, cx: &mut Context<'_>) -> Poll<Decision> {
        if self.decision != Decision::Pending {
            return Poll::Ready(self.decision);
        }
        match self.run.poll_decided(cx) {
            Poll::Ready(_) => Poll::Ready(self.look()),
            Poll::Pending => Poll::Pending,
        }
    }

    fn wants_response(&self) -> bool {
        self.run.wants_response()
    }

    fn response(&mut self, status: u16, fields: Fields<'_>) -> Decision {
        self.run.response(status, fields);
        self.look()
    }

    fn no_response(&mut self, reason: Reason) -> Decision {
        self.run.no_response(reason.code());
        self.look()
    }

    fn body(&mut self, bytes: Option<Vec<u8>>) -> Decision {
        self.run.body(bytes);
        self.look()
    }

    fn leave(&mut self, reason: Reason) {
        self.run.leave(reason.code());
    }

    fn patch(&self) -> Option<impl Patch + '_> {
        let decided = matches!(self.decision, Decision::Changed | Decision::Respond);
        if decided { self.run.patch().map(CorePatch) } else { None }
    }
}

struct CorePatch<'a>(Ref<'a, leat_embedded::Patch>);

impl Patch for CorePatch<'_> {
    fn method(&self) -> Option<&[u8]> {
        self.0.method()
    }

    fn target(&self) -> Option<&[u8]> {
        self.0.target()
    }

    fn upstream(&self) -> Option<&[u8]> {
        self.0.upstream()
    }

    fn status(&self) -> Option<u16> {
        self.0.status()
    }

    fn body(&self) -> Option<&[u8]> {
        self.0.body()
    }

    fn is_text(&self) -> bool {
        self.0.is_text()
    }

    fn edits(&self) -> impl Iterator<Item = (&[u8], Option<&[u8]>)> {
        self.0.edits()
    }
}
