use std::rc::Rc;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use leat_dial::{Pools, Resolver};
use leat_embedded::PluginCounters;
use leat_gateway::{Gateway, Lasting, Observer, shape};
use leat_listen::Gate;
use leat_observe::{Core as Counters, Registry};
use leat_serve::{OnError, Site};
use leat_stream::begin_drain;
use tokio::sync::{mpsc, oneshot};
use tokio::task::LocalSet;

use super::doors::Doors;
use super::plan::{Door, Plan};
use super::plugins::CorePlugins;
use crate::event::{Level, event};

/// How often counters that are not kept up to date request by request are published.
const PUBLISH_EVERY: Duration = Duration::from_secs(1);

/// What a core is told.
pub(super) enum Order {
    /// Run this from now on. The answer says what went wrong, if anything; then the old plan goes on.
    Apply(Arc<Plan>, oneshot::Sender<Result<(), String>>),
    /// Say how it is.
    Report(oneshot::Sender<CoreReport>),
    /// The control thread holds no descriptor any more of listeners that the plan does not have: stop accepting there.
    CloseGone,
    /// Answer what is under way and end.
    Drain,
}

/// How a core is.
#[derive(Debug)]
pub(super) struct CoreReport {
    /// Connections that it serves.
    pub(super) connections: usize,
    /// The world of its plug-ins, where there are some.
    pub(super) plugins: Option<leat_embedded::PluginWorld>,
}

/// A way to ask a core how it is.
#[derive(Clone)]
pub(super) struct CoreAsk(mpsc::UnboundedSender<Order>);

impl CoreAsk {
    /// Asks; an error is a core that has ended.
    pub(super) fn ask(&self) -> oneshot::Receiver<CoreReport> {
        let (answer, answered) = oneshot::channel();
        // One that is gone drops the order, and with it the way to answer.
        let _ = self.0.send(Order::Report(answer));
        answered
    }
}

/// What all cores share.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) gate: Arc<Gate>,
    pub(super) registry: Arc<Registry>,
    pub(super) resolver: Resolver,
    pub(super) lasting: Lasting,
    pub(super) plugin_counters: Arc<PluginCounters>,
}

/// A core's thread, seen from the control thread.
pub(super) struct CoreHandle {
    orders: mpsc::UnboundedSender<Order>,
    thread: Option<JoinHandle<()>>,
}

impl CoreHandle {
    /// Starts a core. It serves nothing before its first plan, and says its number to `on_end` when it ends.
    pub(super) fn start(worker: usize, shared: Shared, on_end: mpsc::UnboundedSender<usize>) -> std::io::Result<Self> {
        let (orders, received) = mpsc::unbounded_channel();
        let thread = std::thread::Builder::new().name(format!("leat-{worker}")).spawn(move || {
            let _ending = Ending { worker, on_end };
            if let Err(error) = run(worker, shared, received) {
                event(Level::Error, "core_failed", &format!("core {worker} can't run: {error}"), &[]);
            }
        })?;
        Ok(Self { orders, thread: Some(thread) })
    }

    /// Hands the core a plan and waits for its answer.
    pub(super) async fn apply(&self, plan: Arc<Plan>) -> Result<(), String> {
        let (answer, answered) = oneshot::channel();
        if self.orders.send(Order::Apply(plan, answer)).is_err() {
            return Err("the core has ended".into());
        }
        answered.await.unwrap_or_else(|_| Err("the core has ended".into()))
    }

    /// A way to ask it how it is, for others than the control loop.
    pub(super) fn asker(&self) -> CoreAsk {
        CoreAsk(self.orders.clone())
    }

    /// Tells the core to close the doors that its plan does not have; does not wait.
    pub(super) fn close_gone(&self) {
        let _ = self.orders.send(Order::CloseGone);
    }

    /// Tells the core to drain; does not wait.
    pub(super) fn drain(&self) {
        // A core that is gone has nothing left to drain.
        let _ = self.orders.send(Order::Drain);
    }

    /// Waits for the thread; to be called once it is known to end.
    pub(super) fn join(&mut self) {
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            event(Level::Error, "core_panicked", "a core panicked", &[]);
        }
    }
}

/// Says that a core has ended, also where it panicked.
struct Ending {
    worker: usize,
    on_end: mpsc::UnboundedSender<usize>,
}

impl Drop for Ending {
    fn drop(&mut self) {
        // Nobody listens any more where the process is ending.
        let _ = self.on_end.send(self.worker);
    }
}

fn run(worker: usize, shared: Shared, orders: mpsc::UnboundedReceiver<Order>) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, Core::new(worker, shared).run(orders));
    Ok(())
}

/// What a core owns; all of it outlives reloads.
struct Core {
    worker: usize,
    shared: Shared,
    pools: Rc<Pools>,
    counters: Option<Counters>,
    doors: Doors,
    gateway: Option<Rc<Gateway<CorePlugins>>>,
    plugins: Option<CorePlugins>,
    log: Option<(Arc<leat_observe::access_log::AccessLog>, Rc<leat_observe::access_log::Sink>)>,
}

impl Core {
    fn new(worker: usize, shared: Shared) -> Self {
        let pools = Pools::new(shared.resolver.clone());
        let doors = Doors::new(Arc::clone(&shared.gate));
        Self { worker, shared, pools, counters: None, doors, gateway: None, plugins: None, log: None }
    }

    async fn run(mut self, mut orders: mpsc::UnboundedReceiver<Order>) {
        tokio::task::spawn_local(leat_stream::clock::run());
        let mut publish = tokio::time::interval(PUBLISH_EVERY);
        publish.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                order = orders.recv() => match order {
                    Some(Order::Apply(plan, answer)) => {
                        // Nobody listens to the answer where the control thread is ending.
                        let _ = answer.send(self.apply(&plan));
                    }
                    Some(Order::Report(answer)) => {
                        // Whoever asked may have gone.
                        let _ = answer.send(self.report());
                    }
                    Some(Order::CloseGone) => self.doors.close_gone(),
                    Some(Order::Drain) | None => break,
                },
                _ = publish.tick() => {
                    self.publish();
                }
            }
        }
        let grace_ms = self.gateway.as_ref().map_or(0, |gateway| gateway.config().drain().grace_ms());
        begin_drain();
        self.doors.drained(grace_ms).await;
    }

    fn apply(&mut self, plan: &Arc<Plan>) -> Result<(), String> {
        let shape = shape(&plan.config);
        let counters = match &self.counters {
            Some(counters) => counters.reshape(&shape),
            None => Counters::new(&self.shared.registry, &shape),
        };
        // What the old gateway has not counted yet would be lost: the new one counts from now on.
        self.publish();
        let observer = Observer::new(counters.reshape(&shape), self.sink(plan));
        let plugins = CorePlugins::load(&plan.config, &self.shared.plugin_counters)?;
        let config = Arc::clone(&plan.config);
        let gateway = Gateway::new(config, &self.pools, &self.shared.lasting, observer, plugins.clone());
        let gateway = Rc::new(gateway.map_err(|error| error.to_string())?);
        self.doors.apply(plan, self.worker, |door| site(plan, door, &gateway)).map_err(|error| error.to_string())?;
        gateway.retire(&self.pools);
        // Endpoints that are gone hold no connections any more; those that stay have not changed since.
        self.publish();
        self.counters = Some(counters);
        self.gateway = Some(gateway);
        self.plugins = plugins;
        Ok(())
    }

    fn report(&self) -> CoreReport {
        CoreReport { connections: self.doors.connections(), plugins: self.plugins.as_ref().map(CorePlugins::world) }
    }

    fn publish(&self) {
        if let Some(gateway) = &self.gateway {
            gateway.publish();
        }
        if let Some(plugins) = &self.plugins {
            plugins.tell_unheard();
            CorePlugins::tell_refused(&self.shared.plugin_counters);
        }
    }

    /// This core's way to the access log; the same one for as long as the log is.
    fn sink(&mut self, plan: &Plan) -> Option<Rc<leat_observe::access_log::Sink>> {
        let Some(wanted) = &plan.log else {
            self.log = None;
            return None;
        };
        match &self.log {
            Some((log, sink)) if Arc::ptr_eq(log, wanted) => Some(Rc::clone(sink)),
            _ => {
                let sink = Rc::new(wanted.sink());
                self.log = Some((Arc::clone(wanted), Rc::clone(&sink)));
                Some(sink)
            }
        }
    }
}

fn site(plan: &Plan, door: &Door, gateway: &Rc<Gateway<CorePlugins>>) -> Site<Rc<Gateway<CorePlugins>>> {
    Site {
        handler: Rc::clone(gateway),
        limits: plan.config.limits().clone(),
        profile: door.profile,
        on_error: match plan.config.on_error() {
            leat_gateway::config::OnError::Close => OnError::Close,
            leat_gateway::config::OnError::Continue => OnError::Continue,
            leat_gateway::config::OnError::Crash => OnError::Crash,
        },
        drain_grace_ms: plan.config.drain().grace_ms(),
    }
}
