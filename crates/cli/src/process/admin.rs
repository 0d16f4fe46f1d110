use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use leat_gateway::Lasting;
use leat_listen::{Gate, ServeOptions};
use leat_message::{Exchange, Fault, Handler, Head, Length, Limits, Method, Peer, Profile, Reason, Reply, Step};
use leat_observe::{Registry, exposition};
use leat_serve::{OnError, Protocol, Service, Site};
use tokio::task::spawn_local;

use super::core::Shared;
use super::plan::Plan;

/// Whether the process may be sent traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readiness {
    Starting,
    Ready,
    Draining,
}

/// The admin address: metrics and health, answered on the control thread by the engine itself.
pub(super) struct Admin {
    registry: Arc<Registry>,
    gate: Arc<Gate>,
    lasting: Lasting,
    readiness: Rc<Cell<Readiness>>,
}

impl Admin {
    /// Accepts on every socket of the admin address.
    pub(super) fn start(
        plan: &Plan,
        shared: &Shared,
        readiness: &Rc<Cell<Readiness>>,
    ) -> std::io::Result<Vec<tokio::task::JoinHandle<()>>> {
        let Some(endpoint) = plan.admin() else { return Ok(Vec::new()) };
        let limits = Limits { connections_max: 64, body_bytes_max: 64 * 1024, ..Limits::default() };
        let Shared { registry, gate, lasting, .. } = shared;
        let admin = Self {
            registry: Arc::clone(registry),
            gate: Arc::clone(gate),
            lasting: lasting.clone(),
            readiness: Rc::clone(readiness),
        };
        let service = Service::new(Site {
            handler: admin,
            limits: limits.clone(),
            profile: Profile::Strict,
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

    fn metrics(&self) -> String {
        let held = u64::try_from(leat_stream::memory::in_use()).unwrap_or(u64::MAX);
        self.registry.process().buffer_bytes.set(held);
        let mut snapshot = self.registry.snapshot();
        // Counted where all cores meet, not by each of them.
        let gate = &self.gate;
        snapshot.accept_pauses += gate.accept_pauses();
        snapshot.handshakes_open += gate.handshakes() as u64;
        snapshot.handshakes_done += gate.handshakes_done();
        snapshot.handshakes_failed += gate.refused(Reason::TlsHandshake) + gate.refused(Reason::TimeHandshake);
        for (count, reason) in snapshot.refusals.iter_mut().zip(Reason::ALL) {
            *count += gate.refused(*reason);
        }
        let mut text = String::new();
        exposition::write(&snapshot, &mut text);
        self.lasting.states.metrics(&mut text);
        text
    }
}

impl Handler for Admin {
    type Plan = ();

    fn raw<R: Reply>(&self, request: Head<'_>, _peer: &Peer, reply: &mut R) -> Step<()> {
        if !matches!(request.method(), Method::Get | Method::Head) {
            text(reply, 405, "text/plain; charset=utf-8", "only GET and HEAD are answered here\n");
            return Step::Done;
        }
        match (request.path(), self.readiness.get()) {
            (b"/metrics", _) => text(reply, 200, exposition::CONTENT_TYPE, &self.metrics()),
            (b"/upstreams", _) => text(reply, 200, "application/json", &self.lasting.states.json()),
            (b"/healthz", _) => text(reply, 200, "text/plain; charset=utf-8", "ok\n"),
            (b"/readyz", Readiness::Ready) => text(reply, 200, "text/plain; charset=utf-8", "ready\n"),
            (b"/readyz", Readiness::Starting) => text(reply, 503, "text/plain; charset=utf-8", "starting\n"),
            (b"/readyz", Readiness::Draining) => text(reply, 503, "text/plain; charset=utf-8", "draining\n"),
            _ => text(reply, 404, "text/plain; charset=utf-8", "try /metrics, /upstreams, /healthz or /readyz\n"),
        }
        Step::Done
    }

    async fn exchange<X: Exchange>(&self, (): (), _exchange: &mut X) -> Result<(), Fault> {
        Err(Reason::HandlerFailed.into())
    }
}

fn text<R: Reply>(reply: &mut R, status: u16, content_type: &str, body: &str) {
    reply.status(status);
    reply.field(b"content-type", content_type.as_bytes());
    reply.field(b"cache-control", b"no-store");
    reply.length(Length::Known(body.len() as u64));
    reply.body(body.as_bytes());
}
