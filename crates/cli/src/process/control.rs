use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use leat_dial::{Resolver, ResolverSettings};
use leat_gateway::config::{Config, Workers};
use leat_listen::{Gate, Inherited, ListenerSet, Supervisor};
use leat_observe::Registry;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::{JoinHandle, LocalSet};

use super::admin::{Admin, Readiness};
use super::core::{CoreHandle, Shared};
use super::plan::{self, Plan, Tickets};
use super::upgrade::Invocation;
use super::watch::Watch;
use super::{OnReady, Settings, StartError};
use crate::commands::check;
use crate::event::{Level, event};

/// How often the configuration is looked at where it is watched, and how often a drain is.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How often certificate files are looked at.
const CERTIFICATES_EVERY: Duration = Duration::from_secs(5);
/// How long the access log may take to be written out at the end.
const LOG_WITHIN: Duration = Duration::from_secs(2);

/// Runs the gateway until a signal ends it. Blocks.
///
/// # Errors
/// What keeps it from starting.
pub(crate) fn run(settings: Settings) -> Result<(), StartError> {
    // First of all: it takes variables out of the environment, which only one thread may do.
    let inherited = Inherited::take().map_err(StartError::failed)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(StartError::failed)?;
    LocalSet::new().block_on(&runtime, async move {
        let signals = Signals::new().map_err(StartError::failed)?;
        let control = Control::start(settings, inherited).await?;
        control.run(signals).await
    })
}

/// The signals that are heard. Registered before anything else, so that one during the start is a clean end too.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
    upgrade: Signal,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
            upgrade: signal(SignalKind::user_defined2())?,
        })
    }
}

/// The control thread's state.
struct Control {
    settings: Settings,
    invocation: Invocation,
    supervisor: Supervisor,
    tickets: Tickets,
    shared: Shared,
    cores: Vec<CoreHandle>,
    plan: Arc<Plan>,
    readiness: Rc<Cell<Readiness>>,
    admin: Vec<JoinHandle<()>>,
}

impl Control {
    async fn start(mut settings: Settings, mut inherited: Inherited) -> Result<Self, StartError> {
        let invocation = Invocation::remember().map_err(StartError::failed)?;
        let supervisor = Supervisor::from_env().map_err(StartError::failed)?;
        let config = Arc::new(check::read(&settings.config_path).ok_or(StartError::Config)?);
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
            running: Arc::new(AtomicUsize::new(0)),
        };
        let plan = Arc::new(Plan { config, sockets: Arc::new(sockets), doors, log });
        let mut cores = Vec::with_capacity(workers);
        for worker in 0..workers {
            cores.push(CoreHandle::start(worker, shared.clone()).map_err(StartError::failed)?);
        }
        let readiness = Rc::new(Cell::new(Readiness::Starting));
        tokio::task::spawn_local(leat_stream::clock::run());
        let on_ready = settings.ready.take();
        let mut control =
            Self { settings, invocation, supervisor, tickets, shared, cores, plan, readiness, admin: Vec::new() };
        control.apply(&Arc::clone(&control.plan)).await.map_err(StartError::Failed)?;
        control.start_admin(&Arc::clone(&control.plan));
        control.readiness.set(Readiness::Ready);
        control.announce(on_ready);
        control.tell_supervisor(Supervisor::ready);
        if let Some(ready) = ready {
            // A predecessor that is gone needs no word.
            let _ = ready.send();
        }
        Ok(control)
    }

    /// Hands a plan to every core.
    async fn apply(&self, plan: &Arc<Plan>) -> Result<(), String> {
        for core in &self.cores {
            core.apply(Arc::clone(plan)).await?;
        }
        Ok(())
    }

    fn start_admin(&mut self, plan: &Plan) {
        for accepting in self.admin.drain(..) {
            accepting.abort();
        }
        let Shared { registry, gate, .. } = &self.shared;
        match Admin::start(&plan.config, &plan.sockets, registry, gate, &self.readiness) {
            Ok(accepting) => self.admin = accepting,
            Err(error) => {
                event(Level::Error, "admin_failed", &format!("the admin address can't be served: {error}"), &[]);
            }
        }
    }

    fn announce(&self, on_ready: Option<OnReady>) {
        let admin = self.plan.config.admin().map(plan::address);
        let mut addresses = Vec::new();
        for endpoint in self.plan.sockets.endpoints() {
            let address = match endpoint.local_addr() {
                Some(address) => address.to_string(),
                None => endpoint.address().to_string(),
            };
            if Some(endpoint.address()) == admin.as_ref() {
                event(Level::Info, "admin_listening", "admin listening", &[("address", &address)]);
            } else {
                event(Level::Info, "listening", "listening", &[("address", &address)]);
            }
            addresses.push(address);
        }
        if let Some(ready) = on_ready {
            ready(&addresses);
        }
    }

    async fn run(mut self, mut signals: Signals) -> Result<(), StartError> {
        let mut watch = self.settings.watch.then(|| Watch::new(&self.settings.config_path));
        let mut look = tokio::time::interval(LOOK_EVERY);
        let mut certificates = tokio::time::interval(CERTIFICATES_EVERY);
        loop {
            tokio::select! {
                _ = signals.terminate.recv() => break,
                _ = signals.interrupt.recv() => break,
                _ = signals.hang_up.recv() => {
                    if let Some(log) = &self.plan.log {
                        log.reopen();
                    }
                    self.reload().await;
                }
                _ = signals.upgrade.recv() => {
                    if self.upgrade().await {
                        break;
                    }
                }
                _ = look.tick(), if watch.is_some() => {
                    if watch.as_mut().is_some_and(Watch::has_changed) {
                        self.reload().await;
                    }
                }
                _ = certificates.tick() => self.reload_certificates(),
            }
        }
        self.drain(signals).await;
        Ok(())
    }

    /// Reads the configuration again and takes it over as a whole; if anything is wrong with it, nothing changes.
    async fn reload(&mut self) {
        self.tell_supervisor(Supervisor::reloading);
        match self.try_reload().await {
            Ok(()) => {
                self.shared.registry.process().reloads_done.add(1);
                event(Level::Info, "reloaded", "the configuration was taken over", &[]);
            }
            Err(error) => {
                self.shared.registry.process().reloads_failed.add(1);
                let message = match error {
                    StartError::Config => "the configuration is bad".to_owned(),
                    StartError::Failed(message) => message,
                };
                let message = format!("{message}; the old configuration stays");
                event(Level::Error, "reload_failed", &message, &[]);
            }
        }
        self.tell_supervisor(Supervisor::ready);
    }

    async fn try_reload(&mut self) -> Result<(), StartError> {
        let config = Arc::new(check::read(&self.settings.config_path).ok_or(StartError::Config)?);
        if workers(&self.settings, &config) != self.cores.len() {
            event(Level::Warn, "workers_stay", "another number of workers needs a restart or SIGUSR2", &[]);
        }
        let doors = plan::doors(&config, &self.tickets, &self.plan.doors).map_err(StartError::failed)?;
        let sockets = self.plan.sockets.rebind(&plan::addresses(&config)).map_err(StartError::failed)?;
        let log = if config.access_log() == self.plan.config.access_log() {
            self.plan.log.clone()
        } else {
            plan::open_log(config.access_log(), &self.shared.registry.process().access_log)?
        };
        let admin_changed = config.admin() != self.plan.config.admin();
        let limits = config.limits().clone();
        let plan = Arc::new(Plan { config, sockets: Arc::new(sockets), doors, log });
        if let Err(error) = self.apply(&plan).await {
            // Some cores may run the new plan already: all go back to the one that is known to work.
            self.apply(&Arc::clone(&self.plan)).await.map_err(StartError::Failed)?;
            return Err(StartError::Failed(error));
        }
        self.shared.gate.set_limits(&limits);
        self.plan = plan;
        if admin_changed {
            self.start_admin(&Arc::clone(&self.plan));
        }
        Ok(())
    }

    fn reload_certificates(&self) {
        for settings in self.plan.doors.iter().filter_map(|door| door.options.tls.as_ref()) {
            let reloaded = settings.reload();
            for path in &reloaded.replaced {
                event(
                    Level::Info,
                    "certificate_reloaded",
                    "a certificate was taken over",
                    &[("path", &path.display().to_string())],
                );
            }
            for error in &reloaded.refused {
                event(Level::Error, "certificate_refused", &format!("{error}; the old certificate stays"), &[]);
            }
        }
    }

    /// Starts the binary anew; says whether this process is to end.
    async fn upgrade(&self) -> bool {
        event(Level::Info, "upgrading", "starting the binary anew with the same sockets", &[]);
        match self.invocation.clone().start_successor(Arc::clone(&self.plan.sockets)).await {
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

    /// Lets what is under way end, up to the deadline; a second signal ends it at once.
    async fn drain(self, mut signals: Signals) {
        let Self { supervisor, shared, mut cores, plan, readiness, .. } = self;
        readiness.set(Readiness::Draining);
        // Not being told is the manager's problem, not a reason to stay.
        let _ = supervisor.stopping();
        let drain = plan.config.drain();
        let deadline = Instant::now() + Duration::from_millis(drain.deadline_ms());
        event(Level::Info, "draining", "draining: requests under way are answered, new connections refused", &[]);
        cores.iter().for_each(CoreHandle::drain);
        let log = plan.log.clone();
        // The last descriptors of the listening sockets are the plan's: with them the port closes.
        drop(plan);
        let mut look = tokio::time::interval(Duration::from_millis(10));
        while shared.running.load(Ordering::Relaxed) > 0 && Instant::now() < deadline {
            tokio::select! {
                _ = look.tick() => {}
                _ = signals.terminate.recv() => break,
                _ = signals.interrupt.recv() => break,
            }
        }
        let left = shared.gate.connections();
        if shared.running.load(Ordering::Relaxed) > 0 {
            event(
                Level::Warn,
                "drain_cut",
                "connections are cut off at the drain deadline",
                &[("connections", &left.to_string())],
            );
        } else {
            cores.iter_mut().for_each(CoreHandle::join);
        }
        if let Some(log) = log.and_then(Arc::into_inner) {
            log.finish(LOG_WITHIN);
        }
        event(Level::Info, "ended", "ended", &[]);
    }

    fn tell_supervisor(&self, word: impl FnOnce(&Supervisor) -> std::io::Result<()>) {
        if let Err(error) = word(&self.supervisor) {
            event(Level::Warn, "supervisor_deaf", &format!("the service manager can't be told: {error}"), &[]);
        }
    }
}

fn workers(settings: &Settings, config: &Config) -> usize {
    if let Some(workers) = settings.workers {
        return workers.get();
    }
    match config.workers() {
        Workers::Count(count) => count.get(),
        Workers::Auto => std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get),
    }
}
