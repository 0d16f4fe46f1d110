//! Answers metrics on an address of its own.

use std::rc::Rc;
use std::sync::Arc;

use leat_listen::{Gate, Inherited, ListenAddress, ListenerSet, ServeOptions};
use leat_message::{Exchange, Fault, Handler, Head, Length, Limits, Method, Peer, Profile, Reason, Reply, Step};
use leat_observe::exposition::CONTENT_TYPE;
use leat_serve::{OnError, Protocol, Service, Site};
use tokio::task::spawn_local;

use crate::metrics;
use crate::process::Process;

/// Connections to the address at once.
const CONNECTIONS_MAX: usize = 64;

struct Admin(Arc<Process>);

/// Listens. Nobody is answered before [`start`].
///
/// # Errors
/// What the system says, such as that the address is in use.
pub(crate) fn bind(address: &ListenAddress) -> std::io::Result<ListenerSet> {
    ListenerSet::bind(std::slice::from_ref(address), 1, Inherited::none())
        .map_err(|error| std::io::Error::other(format!("metrics: {error}")))
}

/// Answers from now on.
pub(crate) fn start(process: &Arc<Process>) {
    let Some(set) = process.admin.get() else { return };
    let limits = Limits { connections_max: CONNECTIONS_MAX, body_bytes_max: 64 * 1024, ..Limits::default() };
    let service = Service::new(Site {
        handler: Admin(Arc::clone(process)),
        limits: limits.clone(),
        profile: Profile::Strict,
        on_error: OnError::Close,
        drain_grace_ms: 0,
    });
    let gate = Gate::new(&limits);
    let Some(Ok(listener)) = set.endpoints().first().map(|endpoint| endpoint.listener(0)) else { return };
    let serving = leat_listen::serve(listener, gate, ServeOptions::default(), move |accepted| {
        let permit = accepted.permit;
        let serving =
            leat_serve::serve(accepted.socket, Vec::new(), Protocol::Http1, accepted.peer, Rc::clone(&service));
        spawn_local(async move {
            serving.await;
            drop(permit);
        });
    });
    spawn_local(async move {
        // Metrics that can't be served are no reason to stop the program.
        let _ = serving.await;
    });
}

impl Handler for Admin {
    type Plan = ();

    fn raw<R: Reply>(&self, request: Head<'_>, _peer: &Peer, reply: &mut R) -> Step<()> {
        match (request.method(), request.path()) {
            (Method::Get | Method::Head, b"/metrics") => {
                text(reply, 200, CONTENT_TYPE, &metrics::text(&self.0.metrics));
            }
            (Method::Get | Method::Head, _) => text(reply, 404, "text/plain; charset=utf-8", "try /metrics\n"),
            _ => text(reply, 405, "text/plain; charset=utf-8", "only GET and HEAD are answered here\n"),
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
