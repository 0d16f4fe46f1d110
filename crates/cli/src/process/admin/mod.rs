//! The admin address: metrics, health, and the API that shows what the process is and changes some of it. Answered on the
//! control thread by the engine itself.

mod answer;
mod call;
mod cores;
mod guard;
mod live;
mod mock;
mod mock_call;
mod settings;
mod write;

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use leat_embedded::PluginCounters;
use leat_gateway::{Lasting, Report};
use leat_listen::{Gate, ServeOptions};
use leat_message::{Address, Exchange, Fault, Handler, Head, Limits, Peer, Profile, Reason, Reply, Step};
use leat_observe::exposition::{self, Text};
use leat_observe::{Registry, Snapshot};
use leat_serve::{OnError, Protocol, Service, Site};
use leat_stream::clock::now_ms;
use serde_json::{Value, json};
use tokio::task::spawn_local;

use super::core::Shared;
use super::numbers::numbers;
use super::plan::Plan;
use crate::event::{self, Level, event};
use answer::Answer;
use call::{CALLS, Call, Read};
pub(super) use live::{Live, ORDERS_MAX, ReloadOrder};

/// Refused writes are told of so often, and counted in between: whoever tries tokens must not fill the disk.
const TOLD_EACH_MS: u64 = 1_000;
/// The longest body, in bytes: a file of rules. Most calls take far less.
const BODY_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Connections, and those of one client: who holds many open, by mistake or not, keeps no probe and no operator out.
const CONNECTIONS_MAX: usize = 512;
const CONNECTIONS_PER_CLIENT_MAX: usize = 256;
/// Who asks here asks at once, and comes again.
const HEAD_TIME_MS: u64 = 5_000;
const IDLE_TIME_MS: u64 = 30_000;
const TEXT: &str = "text/plain; charset=utf-8";

/// Whether the process may be sent traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readiness {
    Starting,
    Ready,
    Draining,
}

impl Readiness {
    fn name(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Draining => "draining",
        }
    }
}

/// What answers on the admin address.
pub(super) struct Admin {
    registry: Arc<Registry>,
    gate: Arc<Gate>,
    lasting: Lasting,
    plugin_counters: Arc<PluginCounters>,
    live: Rc<Live>,
    told_ms: Cell<u64>,
    untold: Cell<u64>,
}

impl Admin {
    /// Accepts on every socket of the admin address.
    pub(super) fn start(
        plan: &Plan,
        shared: &Shared,
        live: &Rc<Live>,
    ) -> std::io::Result<Vec<tokio::task::JoinHandle<()>>> {
        let Some(endpoint) = plan.admin() else { return Ok(Vec::new()) };
        let limits = Limits {
            connections_max: CONNECTIONS_MAX,
            connections_per_client_max: CONNECTIONS_PER_CLIENT_MAX,
            head_time_ms: HEAD_TIME_MS,
            idle_time_ms: IDLE_TIME_MS,
            body_bytes_max: BODY_BYTES_MAX,
            ..Limits::default()
        };
        let Shared { registry, gate, lasting, plugin_counters, .. } = shared;
        let admin = Self {
            registry: Arc::clone(registry),
            gate: Arc::clone(gate),
            lasting: lasting.clone(),
            plugin_counters: Arc::clone(plugin_counters),
            live: Rc::clone(live),
            told_ms: Cell::new(0),
            untold: Cell::new(0),
        };
        let service = Service::new(Site {
            handler: admin,
            limits: limits.clone(),
            // By hand and from browsers, `?path=routes[0]` comes as it is written here. What frames messages is as strict in both.
            profile: Profile::Compatible,
            on_error: OnError::Close,
            drain_grace_ms: 0,
        });
        // A door of its own, so that a flood of clients does not shut the operator out.
        let gate = Gate::new(&limits);
        let mut accepting = Vec::new();
        for worker in 0..plan.sockets.workers() {
            let service = Rc::clone(&service);
            let listener = endpoint.listener(worker)?;
            let serving = leat_listen::serve(listener, Arc::clone(&gate), ServeOptions::default(), move |accepted| {
                let permit = accepted.permit;
                let serving =
                    leat_serve::serve(accepted.socket, Vec::new(), Protocol::Http1, accepted.peer, Rc::clone(&service));
                spawn_local(async move {
                    serving.await;
                    drop(permit);
                });
            });
            accepting.push(spawn_local(async move {
                // Metrics that can't be served are no reason to stop serving clients.
                let _ = serving.await;
            }));
        }
        Ok(accepting)
    }

    fn snapshot(&self) -> Snapshot {
        numbers(&self.registry, &self.gate)
    }

    fn metrics(&self, is_open_metrics: bool) -> String {
        let mut text = String::new();
        let mut form = if is_open_metrics { Text::open_metrics(&mut text) } else { Text::new(&mut text) };
        exposition::families(&self.snapshot(), &mut form);
        self.lasting.states.metrics(&mut form);
        self.plugin_counters.families(&mut form);
        let config = self.live.config();
        self.lasting.mocks.families(config.mocks().map(|(route, _)| route.name()), &mut form);
        form.end();
        text
    }

    fn report<T>(&self, look: impl FnOnce(&Report<'_>) -> T) -> T {
        let (config, counts) = (self.live.config(), self.snapshot());
        look(&Report { config: &config, lasting: &self.lasting, counts: &counts })
    }

    /// Answers what takes no waiting; the others come back.
    fn read(&self, read: Read) -> Result<Answer, Read> {
        let found = |value: Option<Value>| match value {
            Some(value) => Answer::json(&value),
            None => Answer::refuse(Reason::AdminUnknown),
        };
        Ok(match read {
            Read::Index => Answer::json(&index()),
            Read::Healthy => Answer::text(200, TEXT, "ok\n"),
            Read::Ready => {
                let readiness = self.live.readiness.get();
                let status = if readiness == Readiness::Ready { 200 } else { 503 };
                Answer::text(status, TEXT, format!("{}\n", readiness.name()))
            }
            Read::Metrics { is_open: true } => Answer::text(200, exposition::OPEN_METRICS_TYPE, self.metrics(true)),
            Read::Metrics { is_open: false } => Answer::text(200, exposition::CONTENT_TYPE, self.metrics(false)),
            Read::Routes { from } => self.report(|report| Answer::json(&report.routes(from))),
            Read::Upstreams { from } => self.report(|report| Answer::json(&report.upstreams(from))),
            Read::Upstream { name } => self.report(|report| found(report.upstream_named(&name))),
            Read::Limits { from } => self.report(|report| Answer::json(&report.limits(from))),
            Read::Limit { name, key } => self.report(|report| match report.limit_named(&name, &key) {
                None => Answer::refuse(Reason::AdminUnknown),
                Some(Ok(limit)) => Answer::json(&limit),
                Some(Err(problem)) => Answer::refuse_with(Reason::AdminRequest, json!({ "detail": problem })),
            }),
            Read::Config { path, yaml } => settings::config(self.live.config().source(), &path, yaml),
            waits @ (Read::Info | Read::Plugins) => return Err(waits),
        })
    }

    async fn info(&self) -> Value {
        let cores = cores::cores(&self.live).await;
        let (snapshot, config) = (self.snapshot(), self.live.config());
        let listening: Vec<Value> = self
            .live
            .listening
            .borrow()
            .iter()
            .map(|(address, is_admin)| json!({ "address": address, "admin": is_admin }))
            .collect();
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "process": std::process::id(),
            "uptime_s": self.live.started.elapsed().as_secs(),
            "readiness": self.live.readiness.get().name(),
            "config": self.live.config_path,
            "log_level": event::level().name(),
            "writes": config.drains(),
            "listening": listening,
            "reloads": { "ok": snapshot.reloads_done, "failed": snapshot.reloads_failed },
            "connections": { "open": snapshot.connections_open, "accepted": snapshot.connections_accepted },
            "buffer_bytes": snapshot.buffer_bytes,
            "cores": cores,
        })
    }

    /// Says that a write was refused.
    fn tell_refused(&self, reason: Reason, peer: &Peer) {
        let (now, told) = (now_ms(), self.told_ms.get());
        if told != 0 && now.saturating_sub(told) < TOLD_EACH_MS {
            self.untold.set(self.untold.get() + 1);
            return;
        }
        self.told_ms.set(now.max(1));
        let untold = self.untold.take().to_string();
        let facts = [("reason", reason.code()), ("by", &by(peer)), ("untold", &untold)];
        event(Level::Warn, "admin_refused", "the admin API refused to change something", &facts);
    }
}

/// Who asks, for the log.
fn by(peer: &Peer) -> String {
    match &peer.remote {
        Address::Ip(address) => address.to_string(),
        Address::Unix => "unix".to_owned(),
    }
}

fn index() -> Value {
    let calls = CALLS.iter();
    let calls: Vec<Value> =
        calls.map(|(method, path, about)| json!({ "method": method, "path": path, "about": about })).collect();
    json!({ "calls": calls })
}

impl Handler for Admin {
    type Plan = Call;

    fn raw<R: Reply>(&self, request: Head<'_>, peer: &Peer, reply: &mut R) -> Step<Call> {
        let call = match Call::of(request) {
            Ok(call) => call,
            Err(Reason::AdminMethod) => {
                Answer::refuse_method(call::allowed(request)).write(reply);
                return Step::Done;
            }
            Err(reason) => {
                Answer::refuse(reason).write(reply);
                return Step::Done;
            }
        };
        if let Err(reason) = guard::check(&call, self.live.config().admin(), request, peer) {
            if call.writes() {
                self.tell_refused(reason, peer);
            }
            Answer::refuse(reason).write(reply);
            return Step::Done;
        }
        match call {
            Call::Write(_) => Step::Exchange(call),
            Call::Mock(ref asked) if call.reads() => {
                self.read_mock(asked).write(reply);
                Step::Done
            }
            Call::Mock(_) => Step::Exchange(call),
            Call::Read(read) => match self.read(read) {
                Ok(answer) => {
                    answer.write(reply);
                    Step::Done
                }
                Err(waits) => Step::Exchange(Call::Read(waits)),
            },
        }
    }

    async fn exchange<X: Exchange>(&self, call: Call, exchange: &mut X) -> Result<(), Fault> {
        let answer = match call {
            Call::Write(write) => self.change(write, exchange).await?,
            Call::Mock(asked) => self.ask_mock(&asked, exchange).await?,
            Call::Read(Read::Info) => Answer::json(&self.info().await),
            Call::Read(Read::Plugins) => Answer::json(&cores::plugins(&self.live).await),
            Call::Read(_) => return Err(Reason::HandlerFailed.into()),
        };
        answer.write(exchange);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
