use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use leat_dial::{Resolver, ResolverSettings};
use leat_gateway::config::{Config, Workers};
use leat_gateway::{Fetched, Lasting, fetch_keys};
use leat_listen::{Gate, Inherited, ListenerSet, Supervisor};
use leat_observe::Registry;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, LocalSet};

use super::admin::{Admin, Live, ORDERS_MAX, Readiness, ReloadOrder};
use super::core::{CoreHandle, Shared};
use super::drain::{Cause, drain};
use super::exports::Exports;
use super::lost_lines::LostLines;
use super::plan::{self, Plan, Tickets};
use super::redis;
use super::signals::{Signals, Wish};
use super::upgrade::{Invocation, Upgrade};
use super::watch::Watch;
use super::{ConfigSource, Settings, StartError, descriptors};
use crate::commands::check::{self, Telling};
use crate::event::{self, Level, event};
use crate::outlet;

/// How often the configuration is looked at where it is watched.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How often certificate files are looked at.
const CERTIFICATES_EVERY: Duration = Duration::from_secs(2);

/// Runs the gateway until a signal ends it. Blocks.
///
/// # Errors
/// What keeps it from starting.
pub(crate) fn run(settings: Settings) -> Result<(), StartError> {
    // First of all: it takes variables out of the environment, which only one thread may do.
    let inherited = Inherited::take().map_err(StartError::failed)?;
    outlet::serve();
    leat_embedded::print_by(outlet::print);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(StartError::failed)?;
    let ended = LocalSet::new().block_on(&runtime, async move {
        let mut signals = Signals::new().map_err(StartError::failed)?;
        descriptors::raise_limit();
        let control = tokio::select! {
            biased;
            () = signals.end() => return Ok(()),
            started = Control::start(settings, inherited) => started?,
        };
        control.run(signals).await
    });
    // A thread that still waits for a file is not waited for.
    runtime.shutdown_background();
    ended
}

/// The control thread's state.
pub(super) struct Control {
    pub(super) settings: Settings,
    invocation: Invocation,
    pub(super) watch: Option<Watch>,
    pub(super) tickets: Tickets,
    /// What was last said about certificates that could not be taken over.
    pub(super) refused_certificates: Vec<String>,
    pub(super) supervisor: Supervisor,
    pub(super) shared: Shared,
    pub(super) cores: Vec<CoreHandle>,
    /// Told once by each core that ends, in whatever way.
    pub(super) ended: mpsc::UnboundedReceiver<usize>,
    pub(super) plan: Arc<Plan>,
    /// What the admin address knows.
    pub(super) live: Rc<Live>,
    /// Reloads that it asks for.
    pub(super) reloads: mpsc::Receiver<ReloadOrder>,
    /// The accept loops of the admin address.
    pub(super) admin: Vec<JoinHandle<()>>,
    /// The health checks of endpoints.
    pub(super) checks: Vec<JoinHandle<()>>,
    /// What sends spans and metrics, if anything does.
    pub(super) exports: Option<Exports>,
}

impl Control {
    async fn start(mut settings: Settings, mut inherited: Inherited) -> Result<Self, StartError> {
        let invocation = Invocation::remember().map_err(StartError::failed)?;
        let supervisor = Supervisor::from_env().map_err(StartError::failed)?;
        // Before it is read: a change after that is seen.
        let mut watch = settings.watch.then(|| Watch::new(settings.config.path()));
        let lasting = Lasting::default();
        let (config, seen) = read_config(&settings.config, &lasting, Telling::Start).await?;
        if let Some(watch) = &mut watch {
            watch.beside(seen);
        }
        event::set_level(settings.log_level.unwrap_or(Level::of(config.log_level())));
        let workers = workers(&settings, &config);
        let tickets = Tickets::default();
        let registry = Registry::new();
        let ready = inherited.take_ready_signal();
        let doors = plan::doors(&config, &tickets, &[]).map_err(StartError::failed)?;
        let sockets = ListenerSet::bind(&plan::addresses(&config), workers, inherited).map_err(StartError::failed)?;
        for unclaimed in sockets.unclaimed() {
            event(
                Level::Warn,
                "unclaimed_socket",
                "an inherited socket is not in the configuration",
                &[("address", unclaimed)],
            );
        }
        let log = plan::open_log(config.access_log(), &registry.process().access_log)?;
        let shared = Shared {
            gate: Gate::new(config.limits()),
            registry,
            resolver: Resolver::new(ResolverSettings::default()),
            lasting,
            plugin_counters: Arc::default(),
        };
        descriptors::warn_if_few(config.limits().connections_max);
        let plan = Arc::new(Plan { config, sockets: Arc::new(sockets), doors, log });
        let (on_end, ended) = mpsc::unbounded_channel();
        let mut cores = Vec::with_capacity(workers);
        for worker in 0..workers {
            cores.push(CoreHandle::start(worker, shared.clone(), on_end.clone()).map_err(StartError::failed)?);
        }
        let (orders, reloads) = mpsc::channel(ORDERS_MAX);
        let asks = cores.iter().map(CoreHandle::asker).collect();
        let config_path = settings.config.name();
        let live = Rc::new(Live::new(config_path, Arc::clone(&plan.config), asks, orders));
        tokio::task::spawn_local(leat_stream::clock::run());
        tokio::task::spawn_local(fetch_keys(Arc::clone(&shared.lasting.auth), shared.resolver.clone(), say));
        tokio::task::spawn_local(redis::follow(Arc::clone(&shared.lasting.servers)));
        let on_ready = settings.ready.take();
        let mut control = Self {
            settings,
            invocation,
            watch,
            tickets,
            refused_certificates: Vec::new(),
            supervisor,
            shared,
            cores,
            ended,
            plan,
            live,
            reloads,
            admin: Vec::new(),
            checks: Vec::new(),
            exports: None,
        };
        control.apply(&control.plan).await.map_err(StartError::Failed)?;
        control.live.replace(&control.plan.config, control.plan.listening());
        control.start_admin();
        control.start_checks();
        control.start_exports();
        control.live.turn(Readiness::Ready);
        let addresses = control.announce(&[]);
        if let Some(on_ready) = on_ready {
            on_ready(&addresses, &control.plan.config);
        }
        control.tell_supervisor(Supervisor::ready);
        if let Some(ready) = ready {
            // A predecessor that is gone needs no word.
            let _ = ready.send();
        }
        Ok(control)
    }

    /// Hands a plan to every core. Doors that it does not have stay open until [`Control::close_gone`].
    pub(super) async fn apply(&self, plan: &Arc<Plan>) -> Result<(), String> {
        for core in &self.cores {
            core.apply(Arc::clone(plan)).await?;
        }
        Ok(())
    }

    /// Lets the cores close the doors that the last plan they were given does not have.
    pub(super) fn close_gone(&self) {
        self.cores.iter().for_each(CoreHandle::close_gone);
    }

    pub(super) fn start_admin(&mut self) {
        for accepting in self.admin.drain(..) {
            accepting.abort();
        }
        match Admin::start(&self.plan, &self.shared, &self.live) {
            Ok(accepting) => self.admin = accepting,
            Err(error) => {
                event(Level::Error, "admin_failed", &format!("the admin address can't be served: {error}"), &[]);
            }
        }
    }

    /// Says where connections are accepted that were not before.
    pub(super) fn announce(&self, before: &[(String, bool)]) -> Vec<String> {
        let listening = self.plan.listening();
        for new in listening.iter().filter(|new| !before.contains(new)) {
            let (address, is_admin) = new;
            let (name, message) =
                if *is_admin { ("admin_listening", "admin listening") } else { ("listening", "listening") };
            event(Level::Info, name, message, &[("address", address)]);
        }
        for (address, _) in before.iter().filter(|old| !listening.contains(old)) {
            event(Level::Info, "closed", "no longer listening", &[("address", address)]);
        }
        listening.into_iter().map(|(address, _)| address).collect()
    }

    async fn run(mut self, mut signals: Signals) -> Result<(), StartError> {
        let mut look = tokio::time::interval(LOOK_EVERY);
        let mut certificates = tokio::time::interval(CERTIFICATES_EVERY);
        let mut lost_lines = LostLines::default();
        let mut upgrade: Option<Upgrade> = None;
        let cause = loop {
            tokio::select! {
                wish = signals.next() => match wish {
                    Wish::End => break Cause::End,
                    Wish::Reload => {
                        if let Some(log) = &self.plan.log {
                            log.reopen();
                        }
                        tokio::select! {
                            biased;
                            _ = self.reload() => {}
                            () = signals.end() => break Cause::End,
                        }
                    }
                    Wish::Reopen => {
                        if let Some(log) = &self.plan.log {
                            log.reopen();
                        }
                    }
                    Wish::Upgrade if upgrade.is_some() => {
                        event(Level::Warn, "upgrading", "the binary is being started anew already", &[]);
                    }
                    Wish::Upgrade => {
                        event(Level::Info, "upgrading", "starting the binary anew with the same sockets", &[]);
                        upgrade = Some(Upgrade::start(&self.invocation, Arc::clone(&self.plan.sockets)));
                    }
                },
                upgraded = ended(&mut upgrade) => {
                    upgrade = None;
                    if self.is_succeeded(upgraded) {
                        break Cause::Succeeded;
                    }
                }
                _ = look.tick(), if self.watch.is_some() => {
                    if self.watch.as_mut().is_some_and(Watch::has_changed) {
                        tokio::select! {
                            biased;
                            _ = self.reload() => {}
                            () = signals.end() => break Cause::End,
                        }
                    }
                }
                Some(order) = self.reloads.recv() => {
                    // Who asks before the file is read needs no reload of its own.
                    let mut orders = vec![order];
                    orders.extend(std::iter::from_fn(|| self.reloads.try_recv().ok()));
                    let came = tokio::select! {
                        biased;
                        came = self.reload() => came,
                        () = signals.end() => break Cause::End,
                    };
                    // Whoever asked may have gone.
                    orders.into_iter().for_each(|order| drop(order.send(came.clone())));
                }
                _ = certificates.tick() => {
                    self.reload_certificates();
                    lost_lines.look(&self.shared.registry.process().access_log);
                }
                Some(core) = self.ended.recv() => {
                    // It said why. Going on would leave the connections of its sockets unanswered.
                    return Err(StartError::Failed(format!("core {core} ended by itself, and the process with it")));
                }
            }
        };
        if let Some(upgrade) = upgrade {
            // Still starting, and not wanted any more.
            upgrade.give_up().await;
        }
        drain(self, &mut signals, cause).await;
        Ok(())
    }

    /// Whether a successor has taken over.
    fn is_succeeded(&self, upgraded: Result<u32, leat_listen::ListenError>) -> bool {
        match upgraded {
            Ok(process) => {
                event(
                    Level::Info,
                    "upgraded",
                    "the new process accepts connections; draining",
                    &[("process", &process.to_string())],
                );
                self.tell_supervisor(|supervisor| supervisor.succeeded_by(process));
                true
            }
            Err(error) => {
                event(Level::Error, "upgrade_failed", &format!("{error}; this process goes on"), &[]);
                false
            }
        }
    }

    pub(super) fn tell_supervisor(&self, word: impl FnOnce(&Supervisor) -> std::io::Result<()>) {
        if let Err(error) = word(&self.supervisor) {
            event(Level::Warn, "supervisor_deaf", &format!("the service manager can't be told: {error}"), &[]);
        }
    }
}

/// Reads a configuration on a thread of its own: where that takes long (a file on a network, say) signals are heard and
/// the admin address answers meanwhile.
pub(super) async fn read_config(
    source: &ConfigSource,
    lasting: &Lasting,
    telling: Telling,
) -> Result<check::Read, StartError> {
    let (source, lasting) = (source.clone(), lasting.clone());
    let read = tokio::task::spawn_blocking(move || check::read(&source, &lasting, telling)).await;
    read.map_err(StartError::failed)?.map_err(StartError::Config)
}

/// Says what became of the keys of a token issuer.
fn say(fetched: Fetched) {
    match fetched {
        Fetched::Changed { url, keys } => {
            let keys = keys.to_string();
            event(
                Level::Info,
                "keys_fetched",
                "the keys of an issuer were taken over",
                &[("url", &url), ("keys", &keys)],
            );
        }
        Fetched::Failed { url, problem } => {
            let message = format!("the keys of an issuer can't be had: {problem}; trying again");
            event(Level::Error, "keys_failed", &message, &[("url", &url)]);
        }
    }
}

/// The end of the upgrade that is under way, if there is one.
async fn ended(upgrade: &mut Option<Upgrade>) -> Result<u32, leat_listen::ListenError> {
    match upgrade {
        Some(upgrade) => upgrade.ended().await,
        None => std::future::pending().await,
    }
}

pub(super) fn workers(settings: &Settings, config: &Config) -> usize {
    if let Some(workers) = settings.workers {
        return workers.get();
    }
    match config.workers() {
        Workers::Count(count) => count.get(),
        Workers::Auto => std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get),
    }
}
