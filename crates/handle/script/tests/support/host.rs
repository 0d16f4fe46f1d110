#![allow(unsafe_code)]

use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::mpsc::{Receiver, Sender, channel};

use leat_script::{LaneSeed, Port, SLAB_BYTES, Slab, Wake, lane};
use leat_testkit::DEADLINE;

use super::record::{Record, decode};
use super::replies::Replies;

/// A host's thread: takes records, sends replies.
pub struct Host {
    // Dropped before the memory that it has lent.
    pub port: Port,
    bell: Receiver<()>,
    slabs: Vec<Box<[u32]>>,
    records: VecDeque<Record>,
    /// How many slabs it keeps lent.
    ahead: usize,
    /// The slab that is being read.
    reading: usize,
}

struct Ringer(Sender<()>);

impl Wake for Ringer {
    fn wake(&self) {
        // A host that has ended hears nothing.
        let _ = self.0.send(());
    }
}

impl Host {
    /// A lane, its host with four slabs lent.
    pub fn lane() -> (LaneSeed, Self) {
        Self::with_slabs(4)
    }

    pub fn with_slabs(ahead: usize) -> (LaneSeed, Self) {
        let (ring, bell) = channel();
        let (seed, port) = lane(Box::new(Ringer(ring)));
        let mut host = Self { port, bell, slabs: Vec::new(), records: VecDeque::new(), ahead, reading: 0 };
        host.supply();
        (seed, host)
    }

    /// Lends `ahead` slabs from now on.
    pub fn lend(&mut self, ahead: usize) {
        self.ahead = ahead;
        self.supply();
    }

    fn supply(&mut self) {
        while self.slabs.len() < self.reading + self.ahead {
            let mut memory = vec![0u32; SLAB_BYTES / 4].into_boxed_slice();
            let start = NonNull::new(memory.as_mut_ptr().cast()).unwrap();
            // SAFETY: the memory stays in `self.slabs` behind its box; `drop` waits for the engine to let go of it.
            let slab = unsafe { Slab::new(start, SLAB_BYTES) };
            self.port.supply(slab).unwrap();
            self.slabs.push(memory);
        }
    }

    /// One turn: everything that was published up to now.
    pub fn turn(&mut self) {
        let until = self.port.begin_turn();
        while let Some(published) = self.port.take(until) {
            let slab = &self.slabs[published.slab as usize];
            self.records.extend(decode(slab, published.from, published.to));
            self.reading = published.slab as usize;
            self.supply();
        }
        self.port.end_turn();
    }

    /// The next record, as soon as there is one.
    pub fn next(&mut self) -> Record {
        loop {
            if let Some(record) = self.records.pop_front() {
                return record;
            }
            let rung = self.bell.recv_timeout(DEADLINE);
            assert!(rung.is_ok(), "no record within {DEADLINE:?}");
            self.turn();
        }
    }

    /// The next record that is there now.
    pub fn now(&mut self) -> Option<Record> {
        if self.records.is_empty() && self.bell.try_recv().is_ok() {
            self.turn();
        }
        self.records.pop_front()
    }

    /// The next record, which must be a request: its exchange. Passes over what is said of connections.
    pub fn request(&mut self) -> u32 {
        match self.next() {
            Record::Request { exchange, .. } => exchange,
            Record::Open { .. } | Record::Closed { .. } => self.request(),
            other => panic!("a request was expected, not {other:?}"),
        }
    }

    /// The next request, once its body of at most `bytes_max` has come.
    pub fn request_with_body(&mut self, bytes_max: usize) -> u32 {
        let mut body = None;
        loop {
            match self.next() {
                Record::Request { exchange, flags, .. } if flags & 2 == 0 => return exchange,
                Record::Request { exchange, length, .. } => {
                    assert!(length as usize <= bytes_max, "a body without credit");
                    body = Some(exchange);
                }
                Record::End { exchange, .. } if body == Some(exchange) => return exchange,
                Record::Fault { .. } | Record::Gone { .. } => panic!("no request"),
                _ => {}
            }
        }
    }

    /// The next record that is not about a connection's beginning or end.
    pub fn about_exchange(&mut self) -> Record {
        loop {
            match self.next() {
                Record::Open { .. } | Record::Closed { .. } => {}
                other => return other,
            }
        }
    }

    /// Body bytes until `count` are there.
    pub fn body(&mut self, exchange: u32, count: usize) -> Vec<u8> {
        let mut body = Vec::new();
        while body.len() < count {
            match self.next() {
                Record::Data { exchange: of, bytes } if of == exchange => body.extend(bytes),
                other => panic!("body bytes were expected after {}, not {other:?}", body.len()),
            }
        }
        body
    }

    pub fn send(&mut self, replies: Replies) {
        let mut batch = self.port.batch();
        replies.fill(&mut batch);
        self.port.send(batch);
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.port.close(|| assert!(std::thread::panicking(), "the engine did not let go of the lent memory"));
    }
}
