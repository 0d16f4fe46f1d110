use std::cell::Cell;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use leat_gateway::Gateway;
use leat_listen::{Accepted, Gate, Protocol, Stop};
use leat_serve::{Service, Site};
use leat_stream::clock;
use pin_project_lite::pin_project;
use tokio::sync::{Notify, oneshot};
use tokio::task::spawn_local;

use super::plan::{Door, Plan};
use super::plugins::CorePlugins;
use crate::event::{Level, event};

/// One core's accept loops and the connections that came through them.
pub(super) struct Doors {
    gate: Arc<Gate>,
    open: Vec<OpenDoor>,
    /// Doors that the plan does not have any more; they are open until [`Doors::close_gone`].
    gone: Vec<OpenDoor>,
    /// Accept loops that have not ended, and handshakes that were begun by them.
    accepting: Rc<Count>,
    connections: Rc<Count>,
}

struct OpenDoor {
    door: Door,
    service: Rc<Service<Rc<Gateway<CorePlugins>>>>,
    accepting: Accepting,
}

/// An accept loop that runs. Dropping it ends the loop, once it has taken what waits in its queue.
struct Accepting {
    stop: oneshot::Sender<Stop>,
    task: tokio::task::JoinHandle<()>,
}

impl Accepting {
    /// Ends the loop at once: another one takes who waits in the queue. Else a client that connects behind the word of a reload
    /// could still come in as the old configuration has it.
    fn hand_over(self) {
        // The loop may have failed.
        let _ = self.stop.send(Stop::HandedOver);
    }
}

impl Doors {
    pub(super) fn new(gate: Arc<Gate>) -> Self {
        Self { gate, open: Vec::new(), gone: Vec::new(), accepting: Rc::default(), connections: Rc::default() }
    }

    /// Connections that are served.
    pub(super) fn connections(&self) -> usize {
        self.connections.count.get()
    }

    /// Opens the doors of a plan. Where a door stays as it is only its site is replaced; one that is gone stays open for
    /// as long as the plan may have to be taken back.
    ///
    /// # Errors
    /// Out of descriptors; then the doors stay as they were.
    pub(super) fn apply(
        &mut self,
        plan: &Plan,
        worker: usize,
        site: impl Fn(&Door) -> Site<Rc<Gateway<CorePlugins>>>,
    ) -> io::Result<()> {
        let open = self.open.iter().chain(&self.gone);
        let mut unmatched: Vec<Option<&OpenDoor>> = open.map(Some).collect();
        let mut changes = Vec::with_capacity(plan.doors.len());
        for (number, door) in plan.doors.iter().enumerate() {
            // In order, since port 0 may stand more than once.
            let before = unmatched.iter().position(|old| old.is_some_and(|old| old.door.address == door.address));
            let old = before.and_then(|at| unmatched.get_mut(at)).and_then(Option::take);
            let listener = match old {
                Some(old) if old.door.is_same(door) && !old.accepting.task.is_finished() => None,
                _ => Some(plan.listener(number, worker)?),
            };
            changes.push((before, listener));
        }
        let before = std::mem::take(&mut self.open).into_iter().chain(std::mem::take(&mut self.gone));
        let mut before: Vec<Option<OpenDoor>> = before.map(Some).collect();
        for (door, (old, listener)) in plan.doors.iter().zip(changes) {
            let old = old.and_then(|at| before.get_mut(at)).and_then(Option::take);
            let service = match &old {
                Some(old) => {
                    old.service.replace(site(door));
                    Rc::clone(&old.service)
                }
                None => Service::new(site(door)),
            };
            let accepting = match (old, listener) {
                (Some(old), None) => old.accepting,
                (old, Some(listener)) => {
                    if let Some(old) = old {
                        old.accepting.hand_over();
                    }
                    self.accept(listener, door, &service)
                }
                (None, None) => continue,
            };
            self.open.push(OpenDoor { door: door.clone(), service, accepting });
        }
        self.gone = before.into_iter().flatten().collect();
        Ok(())
    }

    /// Stops accepting at the doors that are gone; their connections end after what is under way.
    pub(super) fn close_gone(&mut self) {
        for gone in self.gone.drain(..) {
            gone.service.retire();
        }
    }

    fn accept(
        &self,
        listener: leat_listen::Listener,
        door: &Door,
        service: &Rc<Service<Rc<Gateway<CorePlugins>>>>,
    ) -> Accepting {
        let service = Rc::clone(service);
        let connections = Rc::clone(&self.connections);
        // The closure lives for as long as a handshake that will call it.
        let open = Counted::new(&self.accepting);
        let (stop, stopped) = oneshot::channel();
        // An error is the sender's drop, which is the word.
        let stopped = async { stopped.await.unwrap_or(Stop::Ended) };
        let options = door.options.clone();
        let accepting = leat_listen::serve_until(listener, Arc::clone(&self.gate), options, stopped, move |accepted| {
            let _ = &open;
            let Accepted { socket, peer, protocol, permit } = accepted;
            let open = OpenConnection::new(&connections, &service);
            let serving = leat_serve::serve(socket, Vec::new(), protocol_of(protocol), peer, Rc::clone(&service));
            spawn_local(Held { future: serving, _held: (permit, open) });
        });
        let address = door.address.to_string();
        let task = spawn_local(async move {
            if let Err(error) = accepting.await {
                event(Level::Error, "accept_failed", &format!("{address}: can't accept: {error}"), &[]);
            }
        });
        Accepting { stop, task }
    }

    /// Waits until accepting has stopped and every connection has ended; to be called once the core drains. Handshakes
    /// that take longer than `grace_ms` are given up, like other connections without a request.
    pub(super) async fn drained(self, grace_ms: u64) {
        tokio::select! {
            () = self.accepting.none() => {}
            () = clock::sleep(grace_ms) => {}
        }
        self.connections.none().await;
    }
}

/// How many of something there are.
#[derive(Default)]
struct Count {
    count: Cell<usize>,
    ended: Notify,
}

impl Count {
    async fn none(&self) {
        while self.count.get() > 0 {
            self.ended.notified().await;
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

/// One of them.
struct Counted(Rc<Count>);

impl Counted {
    fn new(count: &Rc<Count>) -> Self {
        count.count.set(count.count.get() + 1);
        Self(Rc::clone(count))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.count.set(self.0.count.get().saturating_sub(1));
        self.0.ended.notify_one();
    }
}

/// A connection that is open, in the count of the core and in the metrics.
struct OpenConnection {
    _counted: Counted,
    service: Rc<Service<Rc<Gateway<CorePlugins>>>>,
}

impl OpenConnection {
    fn new(connections: &Rc<Count>, service: &Rc<Service<Rc<Gateway<CorePlugins>>>>) -> Self {
        service.current().handler.observer().core().connection_accepted();
        Self { _counted: Counted::new(connections), service: Rc::clone(service) }
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.service.current().handler.observer().core().connection_closed(None);
    }
}

fn protocol_of(protocol: Protocol) -> leat_serve::Protocol {
    match protocol {
        Protocol::Http1 => leat_serve::Protocol::Http1,
        Protocol::Http2 => leat_serve::Protocol::Http2,
        Protocol::Sniff => leat_serve::Protocol::Sniff,
    }
}
