use std::cell::Cell;
use std::net::IpAddr;
use std::rc::Rc;

use leat_message::Reason;
use leat_stream::Socket;
use leat_stream::clock::now_ms;

use super::driver::Driver;
use super::link::Link;
use crate::EndpointLimits;
use crate::pool::Pool;

/// A connection that carries many exchanges. A task of its own reads and writes; it ends with the last reference.
pub(crate) struct Connection {
    link: Link,
    ip: Option<IpAddr>,
    streams: Cell<usize>,
    /// Whether it takes no new streams: the peer said so, it is dead, or it is not wanted any more.
    leaving: Cell<bool>,
    served: Cell<bool>,
    unused_since_ms: Cell<u64>,
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
        let link = Link::new(limits);
        let mut driver = Driver::new(link.clone(), socket, limits.h2_ping_time_ms);
        std::future::poll_fn(|cx| driver.poll_begin(cx)).await?;
        let this = Rc::new(Self {
            link,
            ip,
            streams: Cell::new(0),
            leaving: Cell::new(false),
            served: Cell::new(false),
            unused_since_ms: Cell::new(now_ms()),
        });
        tokio::task::spawn_local(driver.run(Rc::downgrade(&this), Rc::downgrade(pool)));
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
        let (takes_streams, peers_max) = self.link.look(|h2| (h2.takes_streams(), h2.streams_max()));
        if !takes_streams {
            self.leaving.set(true);
        }
        takes_streams && self.streams.get() < streams_max.min(peers_max as usize)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.link.abandon();
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

    pub(super) fn link(&self) -> &Link {
        &self.connection.link
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
