use std::cell::{Cell, OnceCell, RefCell};
use std::rc::{Rc, Weak};

use leat_listen::{Permit, Protocol};
use leat_message::{Handler, Peer};
use leat_script::{Arrival, Control, Group, Script};
use leat_serve::{OnError, Service, Site};
use leat_stream::Socket;
use tokio::task::AbortHandle;

use crate::settings::Settings;

/// A connection that JavaScript knows.
pub(crate) struct Connection<H> {
    handler: OnceCell<H>,
    service: OnceCell<Rc<Service<H>>>,
    task: RefCell<Option<AbortHandle>>,
    tls: bool,
    /// It may speak HTTP/2, whose peers are told of the end.
    may_be_h2: Cell<bool>,
}

impl<H: Handler + AsRef<Script> + Clone> Connection<H> {
    /// Gives the connection to one of the group's lanes; `None` where there is none left.
    pub(crate) fn open(
        group: &Rc<Group>,
        arrival: Arrival,
        peer: &Peer,
        settings: &Settings,
        make: &dyn Fn(Script, &Peer) -> H,
    ) -> Option<Rc<Self>> {
        let connection = Rc::new(Self {
            handler: OnceCell::new(),
            service: OnceCell::new(),
            task: RefCell::default(),
            tls: peer.tls.is_some(),
            may_be_h2: Cell::new(false),
        });
        let control: Rc<dyn Control> = Rc::new(Handle(Rc::downgrade(&connection)));
        let handler = make(group.connect(arrival, peer, control)?, peer);
        let _ = connection.service.set(Service::new(site(&handler, settings)));
        let _ = connection.handler.set(handler);
        Some(connection)
    }

    /// Serves it until it ends.
    pub(crate) fn run(self: Rc<Self>, socket: Socket, protocol: Protocol, peer: Rc<Peer>, permit: Permit) {
        let Some(service) = self.service.get().cloned() else { return };
        let protocol = match protocol {
            Protocol::Http1 => leat_serve::Protocol::Http1,
            Protocol::Http2 => leat_serve::Protocol::Http2,
            Protocol::Sniff => leat_serve::Protocol::Sniff,
        };
        self.may_be_h2.set(!matches!(protocol, leat_serve::Protocol::Http1));
        let connection = Rc::clone(&self);
        let task = tokio::task::spawn_local(async move {
            let _held = (permit, connection);
            leat_serve::serve(socket, Vec::new(), protocol, peer, service).await;
        });
        *self.task.borrow_mut() = Some(task.abort_handle());
    }

    /// New settings, from its next request on.
    pub(crate) fn change(&self, settings: &Settings) {
        if let (Some(handler), Some(service)) = (self.handler.get(), self.service.get()) {
            service.replace(site(handler, settings));
        }
    }

    fn close(&self) {
        let Some(service) = self.service.get() else { return };
        // One that has not begun yet may be in the middle of its first head.
        let busy = self.handler.get().is_some_and(|handler| {
            let script = handler.as_ref();
            script.is_busy() || !script.has_begun()
        });
        if busy || self.tls || self.may_be_h2.get() {
            service.retire();
        } else {
            self.destroy(false);
        }
    }

    fn destroy(&self, reset: bool) {
        if reset && let Some(service) = self.service.get() {
            service.reset();
        }
        if let Some(task) = &*self.task.borrow() {
            task.abort();
        }
    }
}

/// What the lane has of a connection: it ends with its task, not with the lane.
struct Handle<H>(Weak<Connection<H>>);

impl<H: Handler + AsRef<Script> + Clone> Control for Handle<H> {
    fn close(&self) {
        if let Some(connection) = self.0.upgrade() {
            connection.close();
        }
    }

    fn destroy(&self, reset: bool) {
        if let Some(connection) = self.0.upgrade() {
            connection.destroy(reset);
        }
    }
}

fn site<H: Clone>(handler: &H, settings: &Settings) -> Site<H> {
    Site {
        handler: handler.clone(),
        limits: settings.limits(),
        profile: settings.profile(),
        on_error: OnError::Close,
        drain_grace_ms: 0,
    }
}
