use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::net::IpAddr;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use leat_message::{Fault, Reason};
use leat_stream::{Plain, Socket, clock};

use crate::connect::{connect_tcp, connect_unix, secure};
use crate::pool::{Admission, Pool, Slot};
use crate::queue::Offer;
use crate::within::within;
use crate::{Call, Endpoint, Host, Resolver, Target, h1, h2};

/// How often unused connections are looked at, in milliseconds: one that its peer has closed goes within this time.
const SWEEP_MS: u64 = 500;

/// All connections of one core to endpoints. They are kept by [`Endpoint::identity`], outside of any configuration.
#[derive(Debug)]
pub struct Pools {
    resolver: Resolver,
    pools: RefCell<HashMap<Arc<str>, Rc<Pool>>>,
    sweeping: Cell<bool>,
}

/// What one core holds for one endpoint, and what it did so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndpointStats {
    /// Connections, including those that are being made.
    pub open: usize,
    /// Connections that nothing uses.
    pub idle: usize,
    /// Exchanges under way.
    pub in_use: usize,
    /// Requests that wait for a connection.
    pub waiting: usize,
    /// Connections made.
    pub connects: u64,
    /// Exchanges that went over a connection that had served one before.
    pub reuses: u64,
}

impl Pools {
    /// A core's pools, empty.
    pub fn new(resolver: Resolver) -> Rc<Self> {
        Rc::new(Self { resolver, pools: RefCell::default(), sweeping: Cell::new(false) })
    }

    /// A connection that is there already, believed to be alive. No system call unless the peer has sent or closed
    /// something; no allocation over HTTP/1.1.
    #[inline]
    pub fn try_lease(self: &Rc<Self>, endpoint: &Rc<Endpoint>) -> Option<Call> {
        Self::take(&self.pool(endpoint))
    }

    /// A connection: one that is there, a new one, or the next that becomes free. Dropping the future gives up all claims.
    ///
    /// # Errors
    /// `UpstreamPool` where the queue is full or takes too long; `UpstreamResolve`, `UpstreamConnect`,
    /// `UpstreamConnectTime` and `UpstreamTls` where no connection could be made.
    pub async fn lease(self: &Rc<Self>, endpoint: &Rc<Endpoint>) -> Result<Call, Fault> {
        self.lease_telling(endpoint, &Cell::new(false)).await
    }

    /// The same, and says in `connecting` when it begins to connect: until then it waits for others' connections.
    ///
    /// # Errors
    /// As of [`Pools::lease`].
    pub async fn lease_telling(
        self: &Rc<Self>,
        endpoint: &Rc<Endpoint>,
        connecting: &Cell<bool>,
    ) -> Result<Call, Fault> {
        let pool = self.pool(endpoint);
        if let Some(call) = Self::take(&pool) {
            return Ok(call);
        }
        let limits = endpoint.limits();
        let slot = match pool.admit() {
            Admission::Connect(slot) => slot,
            Admission::Refuse => return Err(Reason::UpstreamPool.into()),
            Admission::Wait(place) => match place.wait(limits.queue_time_ms).await {
                Some(Offer::H1(connection)) => return Ok(Call::h1(pool, connection, true)),
                Some(Offer::H2(seat)) => return Ok(Call::h2(seat)),
                Some(Offer::Connect(slot)) => slot,
                Some(Offer::Failed(fault)) => return Err(fault),
                None => return Err(Reason::UpstreamPool.into()),
            },
        };
        connecting.set(true);
        let made = within(limits.connect_time_ms, self.connect(endpoint, &pool, slot)).await;
        let call = made.unwrap_or(Err(Reason::UpstreamConnectTime.into()));
        match call {
            Ok(call) => {
                self.sweep();
                Ok(call)
            }
            Err(fault) => {
                pool.fail_waiting(fault);
                Err(fault)
            }
        }
    }

    fn take(pool: &Rc<Pool>) -> Option<Call> {
        if pool.is_h2() {
            return pool.take_seat().map(Call::h2);
        }
        let connection = pool.take_idle()?;
        Some(Call::h1(Rc::clone(pool), connection, true))
    }

    async fn connect(&self, endpoint: &Rc<Endpoint>, pool: &Rc<Pool>, slot: Slot) -> Result<Call, Fault> {
        let is_h2 = endpoint.protocol().is_h2();
        let (plain, ip) = match endpoint.target() {
            Target::Unix(path) => (Plain::Unix(connect_unix(path).await?), None),
            Target::Tcp { host: Host::Ip(ip), port } => {
                let (stream, ip) = connect_tcp(&[*ip], *port, 0).await?;
                (Plain::Tcp(stream), Some(ip))
            }
            Target::Tcp { host: Host::Name(_), port } => {
                let (stream, ip) = self.connect_name(pool, *port, slot.turn()).await?;
                (Plain::Tcp(stream), Some(ip))
            }
        };
        let socket = match endpoint.tls() {
            Some(tls) => secure(plain, tls, is_h2).await?,
            None => Socket::Plain(plain),
        };
        if !is_h2 {
            slot.connected();
            return Ok(Call::h1(Rc::clone(pool), Box::new(h1::Connection::new(socket, ip)), false));
        }
        let connection = h2::Connection::start(socket, ip, endpoint.limits(), pool).await?;
        let seat = h2::Seat::first(&connection, pool);
        pool.join(connection);
        slot.connected();
        pool.serve_waiting();
        Ok(Call::h2(seat))
    }

    async fn connect_name(
        &self,
        pool: &Rc<Pool>,
        port: u16,
        turn: usize,
    ) -> Result<(tokio::net::TcpStream, IpAddr), Reason> {
        let name = pool.name.as_ref().ok_or(Reason::UpstreamResolve)?;
        let addresses = self.resolver.addresses(name).await?;
        pool.set_addresses(Arc::clone(&addresses));
        connect_tcp(&addresses.list, port, turn).await
    }

    fn pool(&self, endpoint: &Rc<Endpoint>) -> Rc<Pool> {
        if let Some(pool) = self.pools.borrow().get(endpoint.identity()) {
            pool.adopt(endpoint);
            return Rc::clone(pool);
        }
        let name = match endpoint.target() {
            Target::Tcp { host: Host::Name(name), .. } => Some(self.resolver.name(name)),
            _ => None,
        };
        let pool = Pool::new(endpoint, name);
        self.pools.borrow_mut().insert(Arc::clone(endpoint.identity()), Rc::clone(&pool));
        pool
    }

    /// Looks after unused connections for as long as there are any.
    fn sweep(self: &Rc<Self>) {
        if self.sweeping.replace(true) {
            return;
        }
        let pools = Rc::downgrade(self);
        tokio::task::spawn_local(sweep(pools));
    }

    /// What this core holds for each endpoint, by identity.
    pub fn stats(&self) -> Vec<(Arc<str>, EndpointStats)> {
        self.pools.borrow().iter().map(|(identity, pool)| (Arc::clone(identity), pool.stats())).collect()
    }

    /// What this core holds for one endpoint.
    pub fn stats_of(&self, endpoint: &Endpoint) -> EndpointStats {
        self.pools.borrow().get(endpoint.identity()).map(|pool| pool.stats()).unwrap_or_default()
    }

    /// After a reload: lets go of every endpoint whose identity is not to be kept. Its unused connections close now, the
    /// others after their exchange; requests that hold the endpoint still get through.
    pub fn retire(&self, keep: impl Fn(&str) -> bool) {
        let mut gone = Vec::new();
        self.pools.borrow_mut().retain(|identity, pool| {
            let kept = keep(identity);
            if !kept {
                gone.push(Rc::clone(pool));
            }
            kept
        });
        gone.iter().for_each(Pool::retire);
    }
}

async fn sweep(pools: Weak<Pools>) {
    loop {
        clock::sleep(SWEEP_MS).await;
        let Some(pools) = pools.upgrade() else { return };
        let all: Vec<Rc<Pool>> = pools.pools.borrow().values().map(Rc::clone).collect();
        let mut any = false;
        for pool in all {
            if let Some(addresses) =
                pool.name.as_ref().filter(|_| pool.is_open()).and_then(|name| pools.resolver.current(name))
            {
                pool.set_addresses(addresses);
            }
            any |= pool.sweep();
        }
        if !any {
            pools.sweeping.set(false);
            return;
        }
    }
}
