use std::cell::Cell;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use leat_gateway::Gateway;
use leat_listen::{Accepted, Gate, Protocol};
use leat_serve::{Service, Site};
use pin_project_lite::pin_project;
use tokio::sync::Notify;
use tokio::task::{JoinHandle, spawn_local};

use super::plan::{Door, Plan};
use crate::event::{Level, event};

/// One core's accept loops and the connections that came through them.
pub(super) struct Doors {
    gate: Arc<Gate>,
    open: Vec<OpenDoor>,
    connections: Rc<Connections>,
}

struct OpenDoor {
    door: Door,
    service: Rc<Service<Rc<Gateway>>>,
    accepting: JoinHandle<()>,
}

/// Connections of this core that are open.
#[derive(Default)]
struct Connections {
    count: Cell<usize>,
    ended: Notify,
}

impl Doors {
    pub(super) fn new(gate: Arc<Gate>) -> Self {
        Self { gate, open: Vec::new(), connections: Rc::default() }
    }

    /// Opens the doors of a plan. Where a door stays as it is only its site is replaced; one that is gone stops accepting,
    /// and its connections go on under their old site.
    ///
    /// # Errors
    /// Out of descriptors; then the doors stay as they were.
    pub(super) fn apply(
        &mut self,
        plan: &Plan,
        worker: usize,
        site: impl Fn(&Door) -> Site<Rc<Gateway>>,
    ) -> io::Result<()> {
        let mut sockets = Vec::with_capacity(plan.doors.len());
        for door in &plan.doors {
            let endpoint = plan.sockets.endpoint(&door.address).ok_or(io::ErrorKind::NotFound)?;
            let stays = self.open.iter().any(|open| open.door.is_same(door) && !open.accepting.is_finished());
            sockets.push(if stays { None } else { Some(endpoint.listener(worker)?) });
        }
        let before = std::mem::take(&mut self.open);
        let mut before: Vec<Option<OpenDoor>> = before.into_iter().map(Some).collect();
        for (door, socket) in plan.doors.iter().zip(sockets) {
            let old = before
                .iter_mut()
                .find(|old| old.as_ref().is_some_and(|old| old.door.address == door.address))
                .and_then(Option::take);
            let service = match &old {
                Some(old) => {
                    old.service.replace(site(door));
                    Rc::clone(&old.service)
                }
                None => Service::new(site(door)),
            };
            let accepting = match (old, socket) {
                (Some(old), None) => old.accepting,
                (old, Some(listener)) => {
                    if let Some(old) = old {
                        old.accepting.abort();
                    }
                    self.accept(listener, door, &service)
                }
                (None, None) => continue,
            };
            self.open.push(OpenDoor { door: door.clone(), service, accepting });
        }
        for gone in before.into_iter().flatten() {
            gone.accepting.abort();
        }
        Ok(())
    }

    fn accept(
        &self,
        listener: leat_listen::Listener,
        door: &Door,
        service: &Rc<Service<Rc<Gateway>>>,
    ) -> JoinHandle<()> {
        let service = Rc::clone(service);
        let connections = Rc::clone(&self.connections);
        let accepting = leat_listen::serve(listener, Arc::clone(&self.gate), door.options.clone(), move |accepted| {
            let Accepted { socket, peer, protocol, permit } = accepted;
            let open = Open::new(&connections, service.current().handler.observer().core());
            let serving = leat_serve::serve(socket, Vec::new(), protocol_of(protocol), peer, Rc::clone(&service));
            spawn_local(Held { future: serving, _held: (permit, open) });
        });
        let address = door.address.to_string();
        spawn_local(async move {
            if let Err(error) = accepting.await {
                event(Level::Error, "accept_failed", &format!("{address}: can't accept: {error}"), &[]);
            }
        })
    }

    /// Waits until accepting has stopped and every connection has ended; to be called once the core drains.
    pub(super) async fn drained(mut self) {
        for open in self.open.drain(..) {
            // An accept loop that was aborted has stopped as well.
            let _ = open.accepting.await;
        }
        while self.connections.count.get() > 0 {
            self.connections.ended.notified().await;
        }
    }
}

pin_project! {
    /// A future with what is to be dropped when it ends. An `async` block would do the same at twice the size, which every
    /// idle connection would pay for.
    struct Held<F, T> {
        #[pin]
        future: F,
        _held: T,
    }
}

impl<F: Future<Output = ()>, T> Future for Held<F, T> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.project().future.poll(cx)
    }
}

/// Counts one open connection.
struct Open {
    connections: Rc<Connections>,
}

impl Open {
    fn new(connections: &Rc<Connections>, counters: &leat_observe::Core) -> Self {
        connections.count.set(connections.count.get() + 1);
        counters.connection_accepted();
        Self { connections: Rc::clone(connections) }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.connections.count.set(self.connections.count.get().saturating_sub(1));
        self.connections.ended.notify_one();
    }
}

fn protocol_of(protocol: Protocol) -> leat_serve::Protocol {
    match protocol {
        Protocol::Http1 => leat_serve::Protocol::Http1,
        Protocol::Http2 => leat_serve::Protocol::Http2,
        Protocol::Sniff => leat_serve::Protocol::Sniff,
    }
}
