use std::cell::{Cell, RefCell};
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;

use leat_message::Fault;
use leat_stream::clock::now_ms;

use crate::queue::{Offer, Place, Queue};
use crate::resolve::{Addresses, Name};
use crate::{Endpoint, EndpointStats, h1, h2};

/// What one core holds for one endpoint: its connections and the requests that wait for one.
pub(crate) struct Pool {
    /// The endpoint as the newest configuration has it.
    endpoint: RefCell<Rc<Endpoint>>,
    is_h2: bool,
    /// The name that its addresses come from, where it has one.
    pub(crate) name: Option<Arc<Name>>,
    /// The addresses that connections may stay with; `None` where there is no name or nothing is known yet.
    addresses: RefCell<Option<Arc<Addresses>>>,
    /// Unused HTTP/1.1 connections, the one used last at the end: it is the likeliest to be alive, and the others may
    /// become old and go. Boxed, since they move between here and their calls.
    #[expect(clippy::vec_box)]
    idle: RefCell<Vec<Box<h1::Connection>>>,
    /// HTTP/2 connections that take new streams or still carry some.
    shared: RefCell<Vec<Rc<h2::Connection>>>,
    queue: Queue,
    /// Connections, including those that are being made.
    open: Cell<usize>,
    connecting: Cell<usize>,
    in_use: Cell<usize>,
    connects: Cell<u64>,
    reuses: Cell<u64>,
    retired: Cell<bool>,
}

/// The right to have one connection open, while it is being made. Dropped, the right goes to the next who waits.
pub(crate) struct Slot {
    pool: Rc<Pool>,
    used: bool,
}

/// What a request that found no connection has to do.
pub(crate) enum Admission {
    Connect(Slot),
    Wait(Place),
    Refuse,
}

impl Pool {
    pub(crate) fn new(endpoint: &Rc<Endpoint>, name: Option<Arc<Name>>) -> Rc<Self> {
        Rc::new(Self {
            endpoint: RefCell::new(Rc::clone(endpoint)),
            is_h2: endpoint.protocol().is_h2(),
            name,
            addresses: RefCell::default(),
            idle: RefCell::default(),
            shared: RefCell::default(),
            queue: Queue::default(),
            open: Cell::new(0),
            connecting: Cell::new(0),
            in_use: Cell::new(0),
            connects: Cell::new(0),
            reuses: Cell::new(0),
            retired: Cell::new(false),
        })
    }

    /// Takes over the limits of a newer configuration.
    #[inline]
    pub(crate) fn adopt(&self, endpoint: &Rc<Endpoint>) {
        if !Rc::ptr_eq(&self.endpoint.borrow(), endpoint) {
            self.endpoint.replace(Rc::clone(endpoint));
        }
    }

    pub(crate) fn queue(&self) -> &Queue {
        &self.queue
    }

    #[inline]
    pub(crate) fn is_h2(&self) -> bool {
        self.is_h2
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open.get() > 0
    }

    #[inline]
    pub(crate) fn endpoint(&self) -> Rc<Endpoint> {
        Rc::clone(&self.endpoint.borrow())
    }

    /// An unused connection that is believed to be alive. Asks the system nothing unless it has announced something.
    #[inline]
    pub(crate) fn take_idle(&self) -> Option<Box<h1::Connection>> {
        let now = now_ms();
        loop {
            let mut connection = self.idle.borrow_mut().pop()?;
            if connection.is_fresh(now) {
                return Some(connection);
            }
            self.open.set(self.open.get() - 1);
        }
    }

    /// A stream on a connection that has room.
    pub(crate) fn take_seat(self: &Rc<Self>) -> Option<h2::Seat> {
        let streams_max = self.endpoint.borrow().limits().h2_streams_max;
        self.shared.borrow().iter().find_map(|connection| h2::Seat::take(connection, self, streams_max))
    }

    /// Counts an exchange that begins.
    #[inline]
    pub(crate) fn begin(&self, reused: bool) {
        self.in_use.set(self.in_use.get() + 1);
        if reused {
            self.reuses.set(self.reuses.get() + 1);
        }
    }

    /// Decides what a request does that found no connection.
    pub(crate) fn admit(self: &Rc<Self>) -> Admission {
        if self.may_connect() {
            return Admission::Connect(self.slot());
        }
        if self.queue.len() >= self.endpoint.borrow().limits().queue_max {
            return Admission::Refuse;
        }
        Admission::Wait(self.queue.enter(self))
    }

    /// Takes an HTTP/1.1 connection back after an exchange.
    pub(crate) fn give_back(self: &Rc<Self>, mut connection: Box<h1::Connection>, reusable: bool) {
        self.in_use.set(self.in_use.get() - 1);
        let limits_idle_ms = self.endpoint.borrow().limits().idle_time_ms;
        if !reusable || self.retired.get() || leat_stream::is_draining() || !self.stays(connection.ip()) {
            drop(connection);
            self.vacate();
            return;
        }
        connection.rest(limits_idle_ms);
        self.place(connection);
    }

    /// Gives a connection to the first who waits, or keeps it.
    pub(crate) fn place(&self, connection: Box<h1::Connection>) {
        match self.queue.next() {
            Some(waiter) => waiter.offer(Offer::H1(connection)),
            None => self.idle.borrow_mut().push(connection),
        }
    }

    /// Takes up a new HTTP/2 connection; its maker takes the first seat.
    pub(crate) fn join(self: &Rc<Self>, connection: Rc<h2::Connection>) {
        self.shared.borrow_mut().push(connection);
    }

    /// Lets an HTTP/2 connection go that takes no more streams and carries none, or that is dead.
    pub(crate) fn part(self: &Rc<Self>, connection: &Rc<h2::Connection>) {
        let found = {
            let mut shared = self.shared.borrow_mut();
            let before = shared.len();
            shared.retain(|other| !Rc::ptr_eq(other, connection));
            before != shared.len()
        };
        if found {
            self.vacate();
        }
    }

    /// Counts the end of an exchange on HTTP/2, and lets those who wait have the room.
    pub(crate) fn leave_seat(self: &Rc<Self>, connection: &Rc<h2::Connection>) {
        self.in_use.set(self.in_use.get() - 1);
        let unwanted = self.retired.get() || leat_stream::is_draining() || !self.stays(connection.ip());
        if unwanted || connection.is_leaving() {
            connection.leave();
            if connection.streams() == 0 {
                self.part(connection);
            }
        }
        self.serve_waiting();
    }

    /// Gives what there is to those who wait, first come, first served.
    pub(crate) fn serve_waiting(self: &Rc<Self>) {
        while !self.queue.is_empty() {
            let offer = match self.take_seat() {
                Some(seat) => Offer::H2(seat),
                None if self.may_connect() => Offer::Connect(self.slot()),
                None => return,
            };
            match self.queue.next() {
                Some(waiter) => waiter.offer(offer),
                None => return,
            }
        }
    }

    /// Tells all who wait for an HTTP/2 connection that there will be none, unless another one may still serve them.
    pub(crate) fn fail_waiting(&self, fault: Fault) {
        if !self.is_h2 || !self.shared.borrow().is_empty() {
            return;
        }
        while let Some(waiter) = self.queue.next() {
            waiter.offer(Offer::Failed(fault));
        }
    }

    fn may_connect(&self) -> bool {
        let endpoint = self.endpoint.borrow();
        let limits = endpoint.limits();
        if self.is_h2 {
            // One at a time: what is being made will carry many. Those that only see their last streams out don't count.
            let staying = self.shared.borrow().iter().filter(|connection| !connection.is_leaving()).count();
            self.connecting.get() == 0 && staying < limits.h2_connections_max
        } else {
            self.open.get() < limits.connections_max
        }
    }

    fn slot(self: &Rc<Self>) -> Slot {
        self.open.set(self.open.get() + 1);
        self.connecting.set(self.connecting.get() + 1);
        Slot { pool: Rc::clone(self), used: false }
    }

    /// One connection less.
    fn vacate(self: &Rc<Self>) {
        self.open.set(self.open.get() - 1);
        self.serve_waiting();
    }

    /// Takes up the addresses that the endpoint's name has now.
    pub(crate) fn set_addresses(&self, addresses: Arc<Addresses>) {
        self.addresses.replace(Some(addresses));
    }

    /// Whether a connection to `ip` may be kept: the name still has this address.
    fn stays(&self, ip: Option<IpAddr>) -> bool {
        match (&*self.addresses.borrow(), ip) {
            (Some(addresses), Some(ip)) => addresses.list.contains(&ip),
            _ => true,
        }
    }

    /// Closes what is too old, was closed by the peer, or belongs to an address that the name has no more. Says whether
    /// there is anything left to look after.
    pub(crate) fn sweep(self: &Rc<Self>) -> bool {
        let now = now_ms();
        let before = self.idle.borrow().len();
        let unwanted = self.retired.get() || leat_stream::is_draining();
        self.idle
            .borrow_mut()
            .retain_mut(|connection| !unwanted && connection.is_fresh(now) && self.stays(connection.ip()));
        let closed = before - self.idle.borrow().len();
        self.open.set(self.open.get() - closed);
        let shared = self.shared.borrow().clone();
        let idle_time_ms = self.endpoint.borrow().limits().idle_time_ms;
        for connection in shared {
            if unwanted || !self.stays(connection.ip()) || connection.is_unused_for(idle_time_ms, now) {
                connection.leave();
            }
            if connection.is_leaving() && connection.streams() == 0 {
                self.part(&connection);
            }
        }
        self.serve_waiting();
        self.open.get() > 0
    }

    /// The endpoint is no more in the configuration: exchanges end, then their connections.
    pub(crate) fn retire(self: &Rc<Self>) {
        self.retired.set(true);
        self.sweep();
    }

    pub(crate) fn stats(&self) -> EndpointStats {
        let idle = if self.is_h2 {
            self.shared.borrow().iter().filter(|connection| connection.streams() == 0).count()
        } else {
            self.idle.borrow().len()
        };
        EndpointStats {
            open: self.open.get(),
            idle,
            in_use: self.in_use.get(),
            waiting: self.queue.len(),
            connects: self.connects.get(),
            reuses: self.reuses.get(),
        }
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("stats", &self.stats()).finish_non_exhaustive()
    }
}

impl Slot {
    /// How many connections were made before this one.
    pub(crate) fn turn(&self) -> usize {
        self.pool.connects.get() as usize
    }

    /// The connection is made, and is counted until it goes.
    pub(crate) fn connected(mut self) {
        self.used = true;
        self.pool.connects.set(self.pool.connects.get() + 1);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.pool.connecting.set(self.pool.connecting.get() - 1);
        if !self.used {
            self.pool.vacate();
        }
    }
}
