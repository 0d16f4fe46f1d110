//! Bodies in memory that a host lends: each piece of it is freed as soon as the host may, so that Miri sees who uses it later.
#![allow(unsafe_code, clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::future::Future;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use leat_message::{Fault, Reason};
use leat_testkit::RecordedExchange;

use crate::batch::{Batch, Buffer};
use crate::flow::Flow;
use crate::lane::{Lane, lane};
use crate::memory::{Lent, Slab};
use crate::out::Out;
use crate::port::Port;
use crate::record::{BODIES_MAX, BODY_BYTES_MIN, SLAB_BYTES, SLABS_MAX, data, from_script, reply, to_script};
use crate::script::Plan;
use crate::shared::Wake;

struct Quiet;

impl Wake for Quiet {
    fn wake(&self) {}
}

/// Memory of the host, which knows nothing of what the engine does with it.
struct Memory {
    start: NonNull<u8>,
    len: usize,
}

impl Memory {
    fn new(len: usize) -> Self {
        let memory = Box::into_raw(Box::<[u8]>::new_uninit_slice(len));
        Self { start: NonNull::new(memory.cast()).unwrap(), len }
    }

    fn of(bytes: &[u8]) -> Self {
        let memory = Self::new(bytes.len());
        // SAFETY: it is as long.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), memory.start.as_ptr(), bytes.len()) };
        memory
    }

    fn slab(&self) -> Slab {
        // SAFETY: the tests keep it for as long as a host must.
        unsafe { Slab::new(self.start, self.len) }
    }

    fn lent(&self, token: usize) -> Buffer {
        // SAFETY: as above.
        Buffer::Lent(unsafe { Lent::new(self.start, self.len, token) })
    }

    /// A copy of what the engine has published.
    fn bytes(&self, at: u32, len: u32) -> Vec<u8> {
        assert!(at as usize + len as usize <= self.len);
        // SAFETY: inside, and written.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().add(at as usize), len as usize) }.to_vec()
    }

    fn word(&self, at: u32) -> u32 {
        u32::from_le_bytes(self.bytes(at, 4).try_into().unwrap())
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let memory = ptr::slice_from_raw_parts_mut(self.start.as_ptr().cast::<MaybeUninit<u8>>(), self.len);
        // SAFETY: from `new`.
        drop(unsafe { Box::from_raw(memory) });
    }
}

/// A piece of a request's body, as the host got it.
#[derive(Debug, PartialEq, Eq)]
enum Piece {
    /// Among the records.
    Beside(Vec<u8>),
    /// In a slab of its own.
    Own(Vec<u8>),
}

/// One exchange, its lane and its host, on this thread.
struct Rig {
    lane: Rc<Lane>,
    exchange: RecordedExchange,
    flow: Flow,
    run: Pin<Box<dyn Future<Output = ()>>>,
    port: Port,
    slabs: Vec<Option<Memory>>,
    bodies: Vec<Option<Memory>>,
    id: u32,
    pieces: Vec<Piece>,
    ended: bool,
}

impl Rig {
    fn new(mut exchange: RecordedExchange) -> Self {
        let (seed, port) = lane(Box::new(Quiet));
        let lane = Lane::new(seed);
        let flow = Flow::new(Rc::clone(&lane), 0, Plan::Request, &mut exchange);
        let mut rig = Self {
            exchange,
            flow,
            run: Box::pin(Rc::clone(&lane).run()),
            lane,
            port,
            slabs: Vec::new(),
            bodies: Vec::new(),
            id: u32::MAX,
            pieces: Vec::new(),
            ended: false,
        };
        (0..SLABS_MAX).for_each(|_| rig.lend_slab());
        rig
    }

    fn lend_slab(&mut self) {
        let memory = Memory::new(SLAB_BYTES);
        self.port.supply(memory.slab()).unwrap();
        self.slabs.push(Some(memory));
    }

    fn lend_bodies(&mut self, count: usize, bytes: usize) {
        for _ in 0..count {
            let memory = Memory::new(bytes);
            self.port.supply_body(memory.slab()).unwrap();
            self.bodies.push(Some(memory));
        }
    }

    /// A turn of the exchange, then one of the lane, then one of the host.
    fn turn(&mut self) -> Poll<Result<(), Fault>> {
        let mut cx = Context::from_waker(Waker::noop());
        let polled = self.flow.poll(&mut cx, &mut self.exchange);
        let _ = self.run.as_mut().poll(&mut cx);
        self.take();
        polled
    }

    /// The host ends, and the lane with it; says what becomes of the exchange.
    fn end(&mut self, freed: impl Sized) -> Result<(), Reason> {
        self.port.shared.close();
        let mut cx = Context::from_waker(Waker::noop());
        assert!(self.run.as_mut().poll(&mut cx).is_ready());
        self.port.close(|| panic!("the engine has let go"));
        drop(freed);
        for _ in 0..1_000 {
            if let Poll::Ready(outcome) = self.flow.poll(&mut cx, &mut self.exchange) {
                return outcome.map_err(|fault| fault.reason);
            }
        }
        panic!("the exchange does not end");
    }

    fn take(&mut self) {
        let until = self.port.begin_turn();
        while let Some(published) = self.port.take(until) {
            // What was left is freed at once.
            self.slabs[..published.slab as usize].fill_with(|| None);
            let mut at = published.from;
            while at < published.to {
                at += self.record(published.slab as usize, at);
            }
            while self.slabs.iter().flatten().count() < SLABS_MAX {
                self.lend_slab();
            }
        }
        self.port.end_turn();
    }

    /// Takes one record; says how long it is.
    fn record(&mut self, slab: usize, at: u32) -> u32 {
        let memory = self.slabs[slab].as_ref().unwrap();
        let word = |index: u32| memory.word(at + index * 4);
        match (word(0) & 0xff, word(0) >> 8) {
            (to_script::REQUEST, _) => self.id = word(2),
            (to_script::DATA, 0) => self.pieces.push(Piece::Beside(memory.bytes(word(3), word(4)))),
            (to_script::DATA, data::OWN_SLAB) => {
                let own = self.bodies[word(3) as usize].take().unwrap();
                self.pieces.push(Piece::Own(own.bytes(0, word(4))));
            }
            (to_script::END, _) => self.ended = true,
            (kind, flags) => panic!("a record of kind {kind} with {flags}"),
        }
        word(1) * 4
    }

    /// Sends a batch of the port's, as the addon does.
    fn send(&mut self, replies: Replies) {
        let mut batch = self.port.batch();
        assert!(is_empty(&batch));
        batch.words = replies.words;
        batch.bytes = [replies.text.as_bytes(), &replies.copied].concat();
        batch.text_bytes = replies.text.len();
        batch.buffers = replies.buffers;
        self.port.send(batch);
    }

    fn body(&self) -> Vec<u8> {
        let bytes = |piece: &Piece| match piece {
            Piece::Beside(bytes) | Piece::Own(bytes) => bytes.clone(),
        };
        // Whole pieces at a time, here and below: Miri takes its time for each byte that is looked at by itself.
        self.pieces.iter().map(bytes).collect::<Vec<_>>().concat()
    }
}

fn bytes(len: usize) -> Vec<u8> {
    let mut bytes = (0..251).collect::<Vec<u8>>().repeat(len / 251 + 1);
    bytes.truncate(len);
    bytes
}

fn upload(len: usize) -> Rig {
    Rig::new(RecordedExchange::new("POST", "/").with_body(bytes(len)))
}

/// A slab's size, of which only whole words are used.
const OWN_BYTES: usize = 20_000;

/// Gives a body to a host that lends many slabs; checks in which pieces it comes.
fn comes_in_pieces(len: usize, exchange: RecordedExchange, is_own: impl Fn(&[u8]) -> bool) {
    let mut rig = Rig::new(exchange);
    rig.lend_bodies(BODIES_MAX, OWN_BYTES + 3);
    assert!(rig.turn().is_pending());
    assert!(rig.ended, "{len}");
    let sent = bytes(len);
    let pieces = sent.chunks(OWN_BYTES).map(<[u8]>::to_vec);
    let expected: Vec<_> =
        pieces.map(|piece| if is_own(&piece) { Piece::Own(piece) } else { Piece::Beside(piece) }).collect();
    assert!(rig.pieces == expected, "{len}");
}

/// Fewer under Miri, which takes its time for each byte that is copied into a slab.
const LENGTHS: &[usize] = if cfg!(miri) {
    &[1, BODY_BYTES_MIN]
} else {
    &[1, BODY_BYTES_MIN - 1, BODY_BYTES_MIN, OWN_BYTES, OWN_BYTES + 1, OWN_BYTES + BODY_BYTES_MIN, 50_003]
};

#[test]
fn a_long_body_fills_slabs_of_its_own() {
    for &len in LENGTHS {
        let exchange = RecordedExchange::new("POST", "/").with_body(bytes(len));
        comes_in_pieces(len, exchange, |_| len >= BODY_BYTES_MIN);
    }
}

#[test]
fn long_pieces_of_a_body_of_unknown_length_fill_slabs_of_their_own() {
    for &len in LENGTHS {
        let exchange = RecordedExchange::new("POST", "/").with_streamed_body(bytes(len));
        comes_in_pieces(len, exchange, |piece| piece.len() >= BODY_BYTES_MIN);
    }
}

#[test]
fn long_pieces_come_beside_the_records_where_no_slab_is_lent() {
    let len = if cfg!(miri) { 25_000 } else { 100_000 };
    for lent in [0, 1, 2] {
        let mut rig = upload(len);
        rig.lend_bodies(lent, OWN_BYTES);
        while !rig.ended {
            assert!(rig.turn().is_pending());
        }
        assert!(rig.body() == bytes(len), "{lent}");
        assert_eq!(rig.pieces.iter().filter(|piece| matches!(piece, Piece::Own(_))).count(), lent);
    }
}

/// As a connection does that reads as much as there is.
#[test]
fn a_slab_is_filled_by_what_is_there_and_kept_while_nothing_is() {
    let mut rig = Rig::new(RecordedExchange::new("POST", "/").with_body(bytes(30_000)).with_slow_upload(7_001));
    rig.lend_bodies(BODIES_MAX, OWN_BYTES);
    while !rig.ended {
        assert!(rig.turn().is_pending());
    }
    assert!(rig.body() == bytes(30_000));
    assert!(rig.pieces.iter().all(|piece| matches!(piece, Piece::Own(_))));
    let next = rig.lane.take_body().unwrap().1;
    assert_eq!(next as usize, rig.pieces.len(), "no slab is lost");
}

// A quarter of a megabyte takes Miri minutes.
#[cfg(not(miri))]
#[test]
fn slabs_of_their_own_count_as_credit() {
    use crate::record::CREDIT_BYTES;
    let mut rig = upload(CREDIT_BYTES + BODY_BYTES_MIN + 5);
    rig.lend_bodies(BODIES_MAX, OWN_BYTES);
    for _ in 0..4 {
        assert!(rig.turn().is_pending());
    }
    assert_eq!(rig.body().len(), CREDIT_BYTES);
    for (more, total) in [(3, 3), (BODY_BYTES_MIN as u32, BODY_BYTES_MIN + 3), (9, BODY_BYTES_MIN + 5)] {
        let mut read = Replies::default();
        read.record(from_script::READ, 0, rig.id, "", vec![], more);
        rig.send(read);
        for _ in 0..3 {
            assert!(rig.turn().is_pending());
        }
        assert_eq!(rig.body().len(), CREDIT_BYTES + total);
    }
    assert!(rig.ended && rig.body() == bytes(CREDIT_BYTES + BODY_BYTES_MIN + 5));
}

/// Records to the engine, and what they speak of.
#[derive(Default)]
struct Replies {
    words: Vec<u32>,
    text: String,
    copied: Vec<u8>,
    buffers: Vec<Buffer>,
}

impl Replies {
    fn record(&mut self, kind: u32, flags: u32, id: u32, text: &str, buffers: Vec<Buffer>, fourth: u32) {
        let head_len = if kind == from_script::HEAD { text.len() as u32 } else { 0 };
        self.words.extend([kind | flags << 8, id, text.len() as u32, buffers.len() as u32, fourth, head_len]);
        self.text.push_str(text);
        self.buffers.extend(buffers);
    }

    fn copied(&mut self, bytes: &[u8]) -> Buffer {
        self.copied.extend_from_slice(bytes);
        Buffer::Copied(bytes.len())
    }
}

fn is_empty(batch: &Batch) -> bool {
    batch.words.is_empty() && batch.bytes.is_empty() && batch.buffers.is_empty() && batch.text_bytes == 0
}

const HEAD: &str = "HTTP/1.1 200 OK\r\n\r\n";

fn download(slow_by: usize) -> Rig {
    let mut rig = Rig::new(RecordedExchange::new("GET", "/").with_slow_client(slow_by));
    assert!(rig.turn().is_pending());
    rig
}

/// A reply of two records, whose bytes are copied, lent, and both.
fn mixed(rig: &mut Rig, first: &Memory, second: &Memory) {
    let mut replies = Replies::default();
    let buffers = vec![replies.copied(b"abc"), first.lent(1), replies.copied(b""), replies.copied(b"de")];
    replies.record(from_script::HEAD, 0, rig.id, HEAD, buffers, 200);
    let buffers = vec![second.lent(2), replies.copied(b"!")];
    replies.record(from_script::DATA, reply::END | reply::KEEP_ALIVE, rig.id, "text", buffers, 0);
    rig.send(replies);
}

#[test]
fn lent_and_copied_bytes_go_out_in_order_however_slow_the_client_is() {
    for slow_by in [1, 2, 3, 5, 7, 64, usize::MAX] {
        let mut rig = download(slow_by);
        let (first, second) = (Memory::of(b"0123456789"), Memory::of(b"xyz"));
        mixed(&mut rig, &first, &second);
        let mut turns = 0;
        while rig.turn().is_pending() {
            assert!(rig.port.returned().is_empty(), "the reply is not out");
            turns += 1;
            assert!(turns < 100);
        }
        assert_eq!(rig.exchange.reply_body(), b"abc0123456789detextxyz!");
        assert!(rig.exchange.is_complete() && rig.exchange.keeps_alive());
        assert_eq!(rig.port.returned(), [1, 2]);
        drop((first, second));
        rig.take();
        assert!(rig.port.returned().is_empty(), "once");
    }
}

#[test]
fn buffers_of_a_reply_that_nobody_waits_for_are_given_back() {
    let mut rig = download(1);
    let memory = Memory::of(b"nobody");
    let mut replies = Replies::default();
    let buffers = vec![memory.lent(7), replies.copied(b"copied"), memory.lent(8)];
    replies.record(from_script::DATA, 0, rig.id + 1, "", buffers, 0);
    rig.send(replies);
    let _ = rig.turn();
    assert_eq!(rig.port.returned(), [7, 8]);
    assert!(rig.port.returned().is_empty(), "once");
}

#[test]
fn lent_bytes_of_a_host_that_has_ended_are_not_looked_at() {
    let mut rig = download(2);
    let (first, second) = (Memory::of(b"0123456789"), Memory::of(b"xyz"));
    mixed(&mut rig, &first, &second);
    while rig.exchange.reply_body().len() < 6 {
        assert!(rig.turn().is_pending());
    }
    let sent = rig.exchange.reply_body().to_vec();
    assert_eq!(rig.end((first, second)), Err(Reason::LaneGone));
    assert_eq!(rig.exchange.reply_body(), sent, "nothing of it goes out any more");
    assert!(!rig.exchange.is_complete());
}

#[test]
fn copied_bytes_of_a_host_that_has_ended_go_out() {
    let mut rig = download(2);
    let mut replies = Replies::default();
    let buffers = vec![replies.copied(b"0123456789")];
    replies.record(from_script::HEAD, reply::END, rig.id, HEAD, buffers, 200);
    rig.send(replies);
    assert_eq!(rig.end(()), Ok(()));
    assert_eq!(rig.exchange.reply_body(), b"0123456789");
}

#[test]
fn a_batch_comes_back_empty_and_not_too_large() {
    const LONG_BYTES: usize = 4 * 1024 * 1024;
    let mut rig = download(1);
    for len in [10, LONG_BYTES] {
        let mut replies = Replies::default();
        let buffers = vec![replies.copied(&vec![b'x'; len])];
        replies.record(from_script::DATA, 0, rig.id + 1, "text", buffers, 0);
        rig.send(replies);
        let _ = rig.turn();
    }
    let back = [rig.port.batch(), rig.port.batch()];
    for batch in &back {
        assert!(is_empty(batch));
    }
    let kept = back.iter().map(|batch| batch.bytes.capacity()).max().unwrap();
    assert!(kept > 0 && kept < LONG_BYTES, "{kept}");
}

#[test]
fn nothing_is_written_beyond_a_slab() {
    let memory = Memory::of(&[0; 10]);
    let mut slab = memory.slab();
    for (from, max, room) in [(0, 9, 8), (0, 3, 3), (5, 9, 3), (8, 1, 0), (9, 1, 0), (usize::MAX, usize::MAX, 0)] {
        assert_eq!(slab.room(from, max).len(), room, "{from}, {max}");
    }
    assert_eq!(slab.len(), 8, "whole words");
    assert!(slab.write(4, &[1; 4]));
    assert!(!slab.write(5, &[2; 4]));
    assert!(!slab.write(9, &[]));
    assert!(!slab.write(usize::MAX, &[2]));
    slab.room(5, 1)[0].write(3);
    assert_eq!(memory.bytes(0, 10), [0, 0, 0, 0, 1, 3, 1, 1, 0, 0]);
}

#[test]
fn an_engine_that_has_let_go_has_no_memory_left() {
    let (seed, mut port) = lane(Box::new(Quiet));
    let mut out = Out::new(seed.empties, seed.bodies);
    let lent = [Memory::new(SLAB_BYTES), Memory::new(SLAB_BYTES), Memory::new(8)];
    port.supply(lent[0].slab()).unwrap();
    port.supply(lent[1].slab()).unwrap();
    port.supply_body(lent[2].slab()).unwrap();
    assert_eq!(out.room(1, &seed.shared), SLAB_BYTES);
    out.detach();
    assert_eq!(out.room(1, &seed.shared), 0);
    assert!(out.take_body().is_none());
}
