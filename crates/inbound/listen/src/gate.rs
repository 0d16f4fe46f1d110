use std::collections::HashMap;
use std::collections::hash_map::{Entry, RandomState};
use std::hash::BuildHasher;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use leat_message::{Limits, Reason};
use leat_stream::memory;

/// Locks that the clients' counts are spread over, so that cores seldom meet.
const SHARDS: usize = 64;
/// How often a drain looks whether all connections have ended.
const EMPTY_POLL: Duration = Duration::from_millis(5);
/// Bits of an IPv6 address that stand for one client: a /64 is what one customer gets at the least.
const V6_CLIENT_BITS: u32 = 64;

/// Counts connections and handshakes of the whole process and says when there are too many. One for all cores and
/// listeners; a connection costs a handful of atomic operations and one short lock.
///
/// A [`Permit`] takes its place here and gives it back when it is dropped. The counters are what metrics read.
#[derive(Debug)]
pub struct Gate {
    connections: AtomicUsize,
    handshakes: AtomicUsize,
    accepted: AtomicU64,
    accept_pauses: AtomicU64,
    handshakes_done: AtomicU64,
    refused: [AtomicU64; Reason::ALL.len()],
    clients: [Mutex<HashMap<Client, usize>>; SHARDS],
    hasher: RandomState,
    connections_max: AtomicUsize,
    connections_per_client_max: AtomicUsize,
    handshakes_max: AtomicUsize,
    memory_bytes_max: AtomicUsize,
}

impl Gate {
    /// A gate with the connection, handshake and memory limits of `limits`.
    pub fn new(limits: &Limits) -> Arc<Self> {
        Arc::new(Self {
            connections: AtomicUsize::new(0),
            handshakes: AtomicUsize::new(0),
            accepted: AtomicU64::new(0),
            accept_pauses: AtomicU64::new(0),
            handshakes_done: AtomicU64::new(0),
            refused: [const { AtomicU64::new(0) }; Reason::ALL.len()],
            clients: std::array::from_fn(|_| Mutex::default()),
            hasher: RandomState::new(),
            connections_max: AtomicUsize::new(limits.connections_max),
            connections_per_client_max: AtomicUsize::new(limits.connections_per_client_max),
            handshakes_max: AtomicUsize::new(limits.handshakes_max),
            memory_bytes_max: AtomicUsize::new(limits.memory_bytes_max),
        })
    }

    /// Takes other limits on. Connections above a lowered limit stay; only new ones are refused.
    pub fn set_limits(&self, limits: &Limits) {
        self.connections_max.store(limits.connections_max, Relaxed);
        self.connections_per_client_max.store(limits.connections_per_client_max, Relaxed);
        self.handshakes_max.store(limits.handshakes_max, Relaxed);
        self.memory_bytes_max.store(limits.memory_bytes_max, Relaxed);
    }

    /// Connections open now, those in a handshake included.
    pub fn connections(&self) -> usize {
        self.connections.load(Relaxed)
    }

    /// Waits until no connection is open, at most for `within`; says how many are left. Blocks: for a control thread
    /// whose cores drain, before it ends the process.
    pub fn wait_empty(&self, within: Duration) -> usize {
        let deadline = Instant::now() + within;
        loop {
            let left = self.connections();
            let now = Instant::now();
            if left == 0 || now >= deadline {
                return left;
            }
            std::thread::sleep(EMPTY_POLL.min(deadline - now));
        }
    }

    /// TLS handshakes and PROXY headers waited for now.
    pub fn handshakes(&self) -> usize {
        self.handshakes.load(Relaxed)
    }

    /// TLS handshakes that succeeded since the start. Those that failed are [`Gate::refused`] for `tls.handshake` and
    /// `time.handshake`.
    pub fn handshakes_done(&self) -> u64 {
        self.handshakes_done.load(Relaxed)
    }

    pub(crate) fn count_handshake(&self) {
        self.handshakes_done.fetch_add(1, Relaxed);
    }

    /// Connections accepted since the start, refused ones included.
    pub fn accepted(&self) -> u64 {
        self.accepted.load(Relaxed)
    }

    /// How often accepting paused since the start because the process or the machine was out of descriptors or memory.
    pub fn accept_pauses(&self) -> u64 {
        self.accept_pauses.load(Relaxed)
    }

    /// Connections refused or lost before their first request since the start, for this reason.
    pub fn refused(&self, reason: Reason) -> u64 {
        self.refused.get(reason as usize).map_or(0, |count| count.load(Relaxed))
    }

    /// Counts a connection that ended before it got to a handler.
    pub(crate) fn count_refused(&self, reason: Reason) {
        if let Some(count) = self.refused.get(reason as usize) {
            count.fetch_add(1, Relaxed);
        }
    }

    pub(crate) fn count_accepted(&self) {
        self.accepted.fetch_add(1, Relaxed);
    }

    pub(crate) fn count_pause(&self) {
        self.accept_pauses.fetch_add(1, Relaxed);
    }

    /// Lets a connection in.
    pub(crate) fn admit(self: &Arc<Self>) -> Result<Permit, Reason> {
        if !take_place(&self.connections, self.connections_max.load(Relaxed)) {
            return Err(Reason::LimitConnections);
        }
        Ok(Permit { gate: Arc::clone(self), client: None })
    }

    /// Lets a handshake begin. Refused as well while buffers hold more than the memory limit: what has no connection
    /// yet goes first.
    pub(crate) fn admit_handshake(self: &Arc<Self>) -> Result<HandshakePermit, Reason> {
        if memory::in_use() > self.memory_bytes_max.load(Relaxed) {
            return Err(Reason::LimitMemory);
        }
        if !take_place(&self.handshakes, self.handshakes_max.load(Relaxed)) {
            return Err(Reason::LimitHandshakes);
        }
        Ok(HandshakePermit(Arc::clone(self)))
    }

    fn shard(&self, client: Client) -> Option<&Mutex<HashMap<Client, usize>>> {
        self.clients.get(self.hasher.hash_one(client) as usize % SHARDS)
    }
}

fn take_place(count: &AtomicUsize, count_max: usize) -> bool {
    if count.fetch_add(1, Relaxed) < count_max {
        return true;
    }
    count.fetch_sub(1, Relaxed);
    false
}

/// A client as the per-client limit sees it: an IPv4 address, or the /64 of an IPv6 address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Client(u128);

impl Client {
    fn new(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(v4) => Self(v4.to_ipv6_mapped().to_bits()),
            IpAddr::V6(v6) => Self(v6.to_bits() >> (128 - V6_CLIENT_BITS) << (128 - V6_CLIENT_BITS)),
        }
    }
}

/// A connection's place in the counts; gives it back when dropped. Kept for as long as the connection lives.
#[derive(Debug)]
pub struct Permit {
    gate: Arc<Gate>,
    client: Option<Client>,
}

impl Permit {
    /// Counts the connection for its client, once it is known.
    pub(crate) fn count_for(&mut self, address: IpAddr) -> Result<(), Reason> {
        self.forget_client();
        let client = Client::new(address);
        let count_max = self.gate.connections_per_client_max.load(Relaxed);
        if let Some(shard) = self.gate.shard(client) {
            let mut counts = shard.lock().unwrap_or_else(PoisonError::into_inner);
            let count = counts.entry(client).or_default();
            if *count >= count_max {
                if *count == 0 {
                    counts.remove(&client);
                }
                return Err(Reason::LimitConnectionsPerClient);
            }
            *count += 1;
        }
        self.client = Some(client);
        Ok(())
    }

    fn forget_client(&mut self) {
        let Some(client) = self.client.take() else { return };
        let Some(shard) = self.gate.shard(client) else { return };
        let mut counts = shard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Entry::Occupied(mut count) = counts.entry(client) {
            if *count.get() > 1 {
                *count.get_mut() -= 1;
            } else {
                count.remove();
            }
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.forget_client();
        self.gate.connections.fetch_sub(1, Relaxed);
    }
}

/// A handshake's place in the counts.
#[derive(Debug)]
pub(crate) struct HandshakePermit(Arc<Gate>);

impl Drop for HandshakePermit {
    fn drop(&mut self) {
        self.0.handshakes.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(connections_max: usize, connections_per_client_max: usize) -> Arc<Gate> {
        Gate::new(&Limits { connections_max, connections_per_client_max, handshakes_max: 1, ..Limits::default() })
    }

    #[test]
    fn a_place_is_free_again_when_its_permit_is_dropped() {
        let gate = gate(2, 2);
        let first = gate.admit().unwrap();
        let second = gate.admit().unwrap();
        assert_eq!(gate.admit().unwrap_err(), Reason::LimitConnections);
        assert_eq!(gate.connections(), 2);
        drop(first);
        let third = gate.admit().unwrap();
        drop((second, third));
        assert_eq!(gate.connections(), 0);
        let handshake = gate.admit_handshake().unwrap();
        assert_eq!(gate.admit_handshake().unwrap_err(), Reason::LimitHandshakes);
        drop(handshake);
        assert!(gate.admit_handshake().is_ok());
    }

    #[test]
    fn a_drain_waits_for_the_last_connection_or_the_deadline() {
        let gate = gate(9, 9);
        assert_eq!(gate.wait_empty(Duration::ZERO), 0);
        let permit = gate.admit().unwrap();
        assert_eq!(gate.wait_empty(Duration::from_millis(10)), 1);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| gate.wait_empty(Duration::from_secs(10)));
            drop(permit);
            assert_eq!(waiting.join().unwrap(), 0);
        });
    }

    #[test]
    fn clients_are_ipv4_addresses_and_ipv6_networks() {
        for (first, second, same) in [
            ("192.0.2.1", "192.0.2.1", true),
            ("192.0.2.1", "192.0.2.2", false),
            ("192.0.2.1", "::ffff:192.0.2.1", true),
            ("::ffff:192.0.2.1", "::ffff:192.0.2.2", false),
            ("2001:db8:0:1::1", "2001:db8:0:1:ffff::9", true),
            ("2001:db8:0:1::1", "2001:db8:0:2::1", false),
        ] {
            let gate = gate(9, 1);
            let mut one = gate.admit().unwrap();
            let mut two = gate.admit().unwrap();
            one.count_for(first.parse().unwrap()).unwrap();
            assert_eq!(two.count_for(second.parse().unwrap()).is_err(), same, "{first} {second}");
            drop(one);
            assert!(two.count_for(second.parse().unwrap()).is_ok());
        }
    }

    #[test]
    fn no_client_is_remembered_after_its_last_connection() {
        let gate = gate(9, 2);
        let mut permit = gate.admit().unwrap();
        permit.count_for([192, 0, 2, 1].into()).unwrap();
        permit.count_for([192, 0, 2, 2].into()).unwrap();
        drop(permit);
        gate.set_limits(&Limits { connections_per_client_max: 0, ..Limits::default() });
        assert!(gate.admit().unwrap().count_for([192, 0, 2, 3].into()).is_err());
        assert!(gate.clients.iter().all(|shard| shard.lock().unwrap().is_empty()));
    }
}
