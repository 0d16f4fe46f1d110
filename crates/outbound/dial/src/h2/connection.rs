use std::cell::{Cell, RefCell};
use std::net::IpAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use h2::client::{Builder, SendRequest};
use leat_message::Reason;
use leat_stream::Socket;
use leat_stream::clock::now_ms;
use tokio::sync::oneshot;

use super::driver::{Doubt, Driver};
use super::values::Values;
use crate::EndpointLimits;
use crate::pool::Pool;

/// A connection that carries many exchanges. A task of its own reads and writes; it ends with the last reference.
pub(crate) struct Connection {
    requests: RefCell<SendRequest<Bytes>>,
    values: RefCell<Values>,
    ip: Option<IpAddr>,
    streams: Cell<usize>,
    /// Whether it takes no new streams: the peer said so, it is dead, or it is not wanted any more.
    leaving: Cell<bool>,
    served: Cell<bool>,
    unused_since_ms: Cell<u64>,
    doubt: Rc<Doubt>,
    _alive: oneshot::Sender<()>,
}

impl Connection {
    /// Starts HTTP/2 on a socket, and waits for the peer's settings: a burst that goes out before they are known would be
    /// refused beyond a limit that nobody knew, and a peer that speaks something else is found out while no request can
    /// be lost. Servers send them at once (RFC 9113 section 3.4), so this costs a round trip at most, once.
    ///
    /// # Errors
    /// `UpstreamConnect` where the socket breaks, `UpstreamInvalid` where the peer does not speak HTTP/2.
    pub(crate) async fn start(
        socket: Socket,
        ip: Option<IpAddr>,
        limits: &EndpointLimits,
        pool: &Rc<Pool>,
    ) -> Result<Rc<Self>, Reason> {
        let mut builder = Builder::new();
        builder
            .enable_push(false)
            .initial_window_size(limits.h2_stream_window_bytes)
            .initial_connection_window_size(limits.h2_connection_window_bytes)
            .max_header_list_size(u32::try_from(limits.head_bytes_max).unwrap_or(u32::MAX))
            .max_send_buffer_size(limits.h2_send_buffer_bytes)
            // None until the settings have come: this is how they are seen to come.
            .initial_max_send_streams(0);
        let (requests, mut driver) =
            builder.handshake::<_, Bytes>(socket).await.map_err(|_| Reason::UpstreamConnect)?;
        std::future::poll_fn(|cx| match Pin::new(&mut driver).poll(cx) {
            Poll::Ready(Err(error)) if error.is_library() => Poll::Ready(Err(Reason::UpstreamInvalid)),
            Poll::Ready(_) => Poll::Ready(Err(Reason::UpstreamConnect)),
            Poll::Pending if driver.max_concurrent_send_streams() == 0 => Poll::Pending,
            Poll::Pending => Poll::Ready(Ok(())),
        })
        .await?;
        let doubt = Rc::new(Doubt::default());
        let driver = Driver::new(driver, Rc::clone(&doubt), limits.h2_ping_time_ms);
        let (alive, gone) = oneshot::channel();
        let this = Rc::new(Self {
            requests: RefCell::new(requests),
            values: RefCell::default(),
            ip,
            streams: Cell::new(0),
            leaving: Cell::new(false),
            served: Cell::new(false),
            unused_since_ms: Cell::new(now_ms()),
            doubt,
            _alive: alive,
        });
        tokio::task::spawn_local(driver.run(gone, Rc::downgrade(&this), Rc::downgrade(pool)));
        Ok(this)
    }

    pub(crate) fn ip(&self) -> Option<IpAddr> {
        self.ip
    }

    /// Exchanges under way.
    pub(crate) fn streams(&self) -> usize {
        self.streams.get()
    }

    pub(crate) fn is_leaving(&self) -> bool {
        self.leaving.get()
    }

    /// Takes no new streams from here on.
    pub(crate) fn leave(&self) {
        self.leaving.set(true);
    }

    pub(crate) fn is_unused_for(&self, time_ms: u64, now: u64) -> bool {
        self.streams.get() == 0 && now.saturating_sub(self.unused_since_ms.get()) >= time_ms
    }

    /// Whether one more stream may be opened. A connection whose peer has said goodbye is found out here.
    fn has_room(&self, streams_max: usize) -> bool {
        if self.leaving.get() {
            return false;
        }
        let mut requests = self.requests.borrow_mut();
        if let Poll::Ready(Err(_)) = requests.poll_ready(&mut Context::from_waker(Waker::noop())) {
            self.leaving.set(true);
            return false;
        }
        self.streams.get() < streams_max.min(requests.current_max_send_streams())
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("h2::Connection")
            .field("ip", &self.ip)
            .field("streams", &self.streams.get())
            .finish_non_exhaustive()
    }
}

/// The right to one stream on a connection. Dropped, the room goes to the next who waits.
pub(crate) struct Seat {
    connection: Rc<Connection>,
    pool: Rc<Pool>,
    reused: bool,
}

impl Seat {
    /// A seat on a connection that has room.
    pub(crate) fn take(connection: &Rc<Connection>, pool: &Rc<Pool>, streams_max: usize) -> Option<Self> {
        connection.has_room(streams_max).then(|| Self::first(connection, pool))
    }

    /// A seat on a connection that was just made.
    pub(crate) fn first(connection: &Rc<Connection>, pool: &Rc<Pool>) -> Self {
        let reused = connection.served.replace(true);
        connection.streams.set(connection.streams.get() + 1);
        pool.begin(reused);
        Self { connection: Rc::clone(connection), pool: Rc::clone(pool), reused }
    }

    pub(crate) fn pool(&self) -> &Rc<Pool> {
        &self.pool
    }

    pub(crate) fn was_reused(&self) -> bool {
        self.reused
    }

    /// Notes that a request got no answer at all.
    pub(super) fn raise_doubt(&self) {
        self.connection.doubt.raise();
    }

    /// Lends what values are made from.
    pub(super) fn with_values<T>(&self, fill: impl FnOnce(&mut Values) -> T) -> T {
        fill(&mut self.connection.values.borrow_mut())
    }

    pub(super) fn requests(&self) -> SendRequest<Bytes> {
        self.connection.requests.borrow().clone()
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.connection.streams.set(self.connection.streams.get() - 1);
        if self.connection.streams.get() == 0 {
            self.connection.unused_since_ms.set(now_ms());
        }
        self.pool.leave_seat(&self.connection);
    }
}
