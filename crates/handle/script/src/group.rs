use std::cell::{Cell, RefCell};
use std::rc::Rc;

use leat_message::{Peer, Reason};

use crate::connections::Control;
use crate::lane::Lane;
use crate::record::{connection, to_script};
use crate::script::Script;

/// A host that has been woken for so long without coming gets no new connection while another one comes in time.
const BLOCKED_US: u64 = 250_000;

/// Longest client certificate that JavaScript is told of; usual ones have 1 to 2 KiB.
const CERTIFICATE_BYTES_MAX: usize = 16 * 1024;

/// The servers that share an address: one, or one on each of several lanes.
#[derive(Default)]
pub struct Group {
    members: RefCell<Vec<Rc<Member>>>,
    turn: Cell<usize>,
}

/// One server on one lane.
pub(crate) struct Member {
    pub(crate) lane: Rc<Lane>,
    server: u32,
    connections: Cell<usize>,
}

/// What JavaScript is told of a connection.
#[derive(Clone, Debug, Default)]
pub struct Arrival {
    /// The client's address, as text; empty on a Unix socket.
    pub remote: String,
    /// The client's port.
    pub remote_port: u16,
    /// Our address.
    pub local: String,
    /// Our port.
    pub local_port: u16,
    /// Whether the addresses are of IPv6.
    pub ipv6: bool,
    /// Whether it came by a Unix socket.
    pub unix: bool,
    /// Whether it speaks HTTP/2, settled by ALPN.
    pub http2: bool,
    /// The protocol that ALPN settled; empty without.
    pub alpn: String,
}

impl Arrival {
    fn flags(&self) -> u32 {
        let flag = |set, flag| if set { flag } else { 0 };
        flag(self.http2, connection::H2) | flag(self.ipv6, connection::IPV6) | flag(self.unix, connection::UNIX)
    }
}

impl Group {
    /// Adds a server.
    pub fn join(&self, lane: &Rc<Lane>, server: u32) {
        let member = Member { lane: Rc::clone(lane), server, connections: Cell::new(0) };
        self.members.borrow_mut().push(Rc::new(member));
    }

    /// Takes a server out; says whether any is left. Its connections go on.
    pub fn leave(&self, lane: &Rc<Lane>, server: u32) -> bool {
        let mut members = self.members.borrow_mut();
        members.retain(|member| {
            let leaves = Rc::ptr_eq(&member.lane, lane) && member.server == server;
            !leaves && !member.lane.is_closed()
        });
        !members.is_empty()
    }

    /// Gives a connection to the server with the fewest; `None` where there is none left.
    pub fn connect(self: &Rc<Self>, arrival: Arrival, peer: &Peer, control: Rc<dyn Control>) -> Option<Script> {
        let seat = self.seat(&arrival, peer, &control)?;
        Some(Script::new(Rc::clone(self), arrival, control, seat))
    }

    /// Tells one of the servers of a connection whose TLS handshake failed: with `code`, which is explained in `words`.
    pub fn unshaken(&self, arrival: &Arrival, code: &str, words: &str) {
        let Some(member) = self.pick() else { return };
        let text = [arrival.remote.as_str(), &arrival.local, code, words];
        let [remote_len, local_len, code_len, words_len] = text.map(|part| part.len() as u32);
        let (remote_port, local_port) = (arrival.remote_port.into(), arrival.local_port.into());
        let fields = [member.server, remote_port, local_port, 0, remote_len, local_len, code_len, words_len];
        member.lane.note(to_script::UNSHAKEN, arrival.flags(), &fields, text.concat().as_bytes());
    }

    /// A place on one of the lanes.
    pub(crate) fn seat(&self, arrival: &Arrival, peer: &Peer, control: &Rc<dyn Control>) -> Option<Seat> {
        let member = self.pick()?;
        let id = member.lane.open_connection(Rc::clone(control))?;
        member.connections.set(member.connections.get() + 1);
        let seat = Seat { member, connection: id, reason: Cell::new(0) };
        seat.announce(arrival, peer);
        Some(seat)
    }

    fn pick(&self) -> Option<Rc<Member>> {
        let members = self.members.borrow();
        let count = members.len();
        let start = self.turn.get();
        self.turn.set(start.wrapping_add(1));
        let turn = (0..count).filter_map(|offset| members.get((start.wrapping_add(offset)) % count));
        let alive = turn.filter(|member| !member.lane.is_closed());
        alive.min_by_key(|member| (count > 1 && member.lane.late_us() > BLOCKED_US, member.connections.get())).cloned()
    }
}

/// A connection's place on a lane. Gives it back when dropped.
pub(crate) struct Seat {
    member: Rc<Member>,
    pub(crate) connection: u32,
    /// Why the connection ended, where it was somebody's fault: a reason's number plus one.
    pub(crate) reason: Cell<u32>,
}

impl Seat {
    pub(crate) fn lane(&self) -> &Rc<Lane> {
        &self.member.lane
    }

    fn announce(&self, arrival: &Arrival, peer: &Peer) {
        let tls = peer.tls.as_ref();
        let server_name = tls.and_then(|tls| tls.server_name.as_deref()).unwrap_or_default();
        let (version, cipher) = tls.map_or(("", ""), |tls| (tls.version, tls.cipher));
        let client = tls.and_then(|tls| tls.client.as_deref());
        let problem = client.and_then(|client| client.problem).unwrap_or_default();
        let certificate = client.and_then(|client| client.chain.first()).map_or(&[][..], |leaf| leaf);
        // One that is too long to be told is one that nobody can have wanted to show.
        let certificate = if certificate.len() > CERTIFICATE_BYTES_MAX { &[] } else { certificate };
        let flags = arrival.flags() | if peer.tls.is_some() { connection::TLS } else { 0 };
        let words = [
            self.connection,
            self.member.server,
            arrival.remote_port.into(),
            arrival.local_port.into(),
            // Where the text is.
            0,
            arrival.remote.len() as u32,
            arrival.local.len() as u32,
            server_name.len() as u32,
            arrival.alpn.len() as u32,
            version.len() as u32,
            cipher.len() as u32,
            problem.len() as u32,
            certificate.len() as u32,
        ];
        let mut text = Vec::with_capacity(128);
        for part in [&*arrival.remote, &*arrival.local, server_name, &*arrival.alpn, version, cipher, problem] {
            text.extend_from_slice(part.as_bytes());
        }
        text.extend_from_slice(certificate);
        self.lane().note(to_script::OPEN, flags, &words, &text);
    }

    pub(crate) fn blame(&self, reason: Reason) {
        self.reason.set(reason as u32 + 1);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.member.connections.set(self.member.connections.get().saturating_sub(1));
        self.lane().close_connection(self.connection, self.reason.get());
    }
}
