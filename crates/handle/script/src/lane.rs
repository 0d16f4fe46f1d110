use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use leat_message::Reason;

use crate::batch::{Batch, Held};
use crate::call::{Calls, Destinations, Known, Outgoing};
use crate::connections::{Connections, Control};
use crate::exchanges::{Exchanges, Item, Mail};
use crate::memory::Slab;
use crate::nap;
use crate::out::{Draft, Out};
use crate::port::Port;
use crate::record::{BODIES_MAX, CREDIT_BYTES, REPLY_WORDS, SLABS_MAX, cut, failure, from_script, to_script};
use crate::ring::{Receiver, Sender, ring};
use crate::shared::{Counts, Hold, Shared, Wake, add, subtract};
use crate::sync::Arc;

/// Batches of replies that may wait for the engine; further ones wait at the host.
const BATCHES_MAX: usize = if cfg!(feature = "loom") { 1 } else { 256 };
/// Room that is worth waking those who wait for it.
pub(crate) const ROOM_BYTES_MIN: usize = 512;
/// Batches whose memory is kept for another use.
const RECYCLED_MAX: usize = 16;

/// The engine's side of a lane on its way to the engine's thread.
pub struct LaneSeed {
    pub(crate) shared: Hold,
    pub(crate) empties: Receiver<Slab>,
    pub(crate) bodies: Receiver<Slab>,
    pub(crate) replies: Receiver<Batch>,
    pub(crate) recycled: Sender<Batch>,
    pub(crate) destinations: Destinations,
}

/// Makes a lane; `wake` is called on the engine's thread.
pub fn lane(wake: Box<dyn Wake>) -> (LaneSeed, Port) {
    let shared = Shared::new(wake);
    let (empties, lent) = ring(SLABS_MAX);
    let (bodies, for_bodies) = ring(BODIES_MAX);
    let (replies, received) = ring(BATCHES_MAX);
    let (recycled, done) = ring(RECYCLED_MAX);
    let destinations = Destinations::default();
    let port = Port {
        shared: Arc::clone(&shared),
        destinations: destinations.clone(),
        destinations_made: 0,
        empties,
        bodies,
        replies,
        recycled: done,
        lent: 0,
        taken: (0, 0),
        waiting: std::collections::VecDeque::new(),
        in_turn: false,
    };
    let shared = Hold::new(&shared);
    (LaneSeed { shared, empties: lent, bodies: for_bodies, replies: received, recycled, destinations }, port)
}

/// The engine's side of a lane. Belongs to one engine thread.
pub struct Lane {
    pub(crate) shared: Hold,
    out: RefCell<Out>,
    replies: RefCell<Receiver<Batch>>,
    recycled: Rc<RefCell<Sender<Batch>>>,
    exchanges: RefCell<Exchanges>,
    connections: RefCell<Connections>,
    calls: RefCell<Calls>,
    /// Where calls go.
    known: RefCell<Known>,
    /// Who waits for room in the slabs.
    waiting: RefCell<Vec<Waker>>,
    /// How often those who wait were woken: a place in `waiting` is good for one round.
    rounds: Cell<u64>,
    /// Publishes, once everybody else had their turn.
    publisher: RefCell<Option<Waker>>,
    woken: Cell<bool>,
    /// Whether this thread tells before it sleeps.
    naps: Cell<bool>,
}

impl Lane {
    /// Takes its place on this thread.
    pub fn new(seed: LaneSeed) -> Rc<Self> {
        let LaneSeed { shared, empties, bodies, replies, recycled, destinations } = seed;
        Rc::new(Self {
            shared,
            out: RefCell::new(Out::new(empties, bodies)),
            replies: RefCell::new(replies),
            recycled: Rc::new(RefCell::new(recycled)),
            exchanges: RefCell::default(),
            connections: RefCell::default(),
            calls: RefCell::default(),
            known: RefCell::new(Known::new(destinations)),
            waiting: RefCell::default(),
            rounds: Cell::new(0),
            publisher: RefCell::default(),
            woken: Cell::new(false),
            naps: Cell::new(false),
        })
    }

    /// Hands replies out and publishes records; runs until the host has closed the lane. To be spawned on the thread that
    /// runs the exchanges: a task that is woken is run after those that were ready before, so one wake-up of the host
    /// carries the requests of all sockets that were ready.
    pub async fn run(self: Rc<Self>) {
        nap::join(&self);
        let running = Running(self);
        poll_fn(|cx| running.0.poll(cx)).await;
    }

    fn poll(self: &Rc<Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.woken.set(false);
        let mut publisher = self.publisher.borrow_mut();
        if !publisher.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            *publisher = Some(cx.waker().clone());
        }
        drop(publisher);
        self.shared.attend(cx.waker(), self.naps.get());
        // Looked at first: what the host has sent before it ended is handed out nevertheless.
        let closed = self.shared.is_closed();
        while let Some(batch) = self.next_batch() {
            self.hand_out(batch);
        }
        if closed {
            return Poll::Ready(());
        }
        self.out.borrow_mut().publish(&self.shared);
        self.give_room();
        Poll::Pending
    }

    /// This thread is about to sleep. Where the host has sent something meanwhile, the lane's task is woken instead.
    pub(crate) fn fall_asleep(&self) -> bool {
        self.naps.set(true);
        let sleeps = self.shared.fall_asleep();
        if !sleeps {
            self.wake_publisher();
        }
        sleeps
    }

    /// This thread has slept.
    pub(crate) fn wake_up(&self) {
        self.shared.wake_up();
    }

    fn next_batch(&self) -> Option<Batch> {
        self.replies.borrow_mut().pop()
    }

    /// Wakes those who wait for room, if there may be any now. All of them: each knows itself how much it needs, and those
    /// that find none wait again in the same order.
    fn give_room(&self) {
        if !self.waiting.borrow().is_empty() && self.out.borrow_mut().may_have_room(ROOM_BYTES_MIN, &self.shared) {
            self.wake_waiting();
        }
    }

    fn wake_waiting(&self) {
        self.rounds.set(self.rounds.get() + 1);
        std::mem::take(&mut *self.waiting.borrow_mut()).into_iter().for_each(Waker::wake);
    }

    fn hand_out(self: &Rc<Self>, batch: Batch) {
        let held = Held::new(batch, &self.recycled, &self.shared);
        let batch = held.batch();
        // What a record says of its lengths is held against what is there, so that no record reaches into another one's.
        let text_max = batch.text_bytes.min(batch.bytes.len());
        let (mut text, mut data, mut buffer) = (0, text_max, 0);
        for words in batch.words.chunks_exact(REPLY_WORDS) {
            let &[word, target, text_len, buffer_count, status, head_len] = words else { continue };
            let text_end = (text + text_len as usize).min(text_max);
            let buffers = buffer..(buffer + buffer_count as usize).min(batch.buffers.len());
            let data_end = data + batch.copied_bytes(buffers.clone());
            let item = |kind| Item {
                kind,
                flags: word >> 8,
                status: u16::try_from(status).unwrap_or(0),
                head_len: (head_len as usize).min(text_end - text),
                batch: held.clone(),
                text: text..text_end,
                data,
                buffers: buffers.clone(),
            };
            match word & 0xff {
                from_script::CLOSE => self.control(target, |control| control.close()),
                from_script::DESTROY => self.control(target, |control| control.destroy(word >> 8 & cut::RESET != 0)),
                from_script::READ => {
                    self.deliver(target, |mail| mail.credit = mail.credit.saturating_add(status as usize))
                }
                from_script::CALL => self.begin_call(target, status, item(from_script::CALL)),
                kind @ from_script::CALL_DATA => self.tell_call(target, |mail| mail.items.push_back(item(kind))),
                from_script::CALL_READ => {
                    self.tell_call(target, |mail| mail.credit = mail.credit.saturating_add(status as usize))
                }
                from_script::CALL_ABORT => self.close_call(target),
                from_script::HANG_UP => self.known.borrow_mut().forget(target),
                kind => self.deliver(target, |mail| mail.items.push_back(item(kind))),
            }
            (text, data, buffer) = (text_end, data_end, buffers.end);
        }
    }

    fn deliver(&self, exchange: u32, put: impl FnOnce(&mut Mail)) {
        // An exchange that is over hears nothing any more; JavaScript learns of its end by a record.
        if let Some(mail) = self.exchanges.borrow_mut().mail(exchange) {
            mail.tell(put);
        }
    }

    fn tell_call(&self, call: u32, put: impl FnOnce(&mut Mail)) {
        if let Some(mail) = self.calls.borrow_mut().mail(call) {
            mail.tell(put);
        }
    }

    /// Begins a call, on a task of its own.
    fn begin_call(self: &Rc<Self>, id: u32, destination: u32, item: Item) {
        if !self.calls.borrow_mut().open(id, CREDIT_BYTES) {
            return;
        }
        add(&self.shared.counts.calls, 1);
        let found = self.known.borrow_mut().get(destination);
        match found {
            Some(destination) => {
                tokio::task::spawn_local(Outgoing::new(self, id, destination, item));
            }
            None => {
                self.note(to_script::CALL_FAILED, failure::REFUSED, &[id, Reason::HandlerFailed as u32 + 1, 0], &[]);
                self.close_call(id);
            }
        }
    }

    /// Looks at what was sent for a call; `None` once it is over.
    pub(crate) fn with_call<R>(&self, id: u32, look: impl FnOnce(&mut Mail) -> R) -> Option<R> {
        self.calls.borrow_mut().mail(id).map(look)
    }

    /// Has a call's task woken by the next record of its own; says whether the call is still under way.
    pub(crate) fn listens_to_call(&self, id: u32, waker: &Waker) -> bool {
        self.with_call(id, |mail| mail.listen(waker)).is_some()
    }

    /// Ends a call; its task, where it still runs, learns of it.
    pub(crate) fn close_call(&self, id: u32) {
        let waker = self.calls.borrow_mut().close(id);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn control(&self, connection: u32, tell: impl FnOnce(&dyn Control)) {
        let control = self.connections.borrow().get(connection);
        if let Some(control) = control {
            tell(&*control);
        }
    }

    /// Lets go of the host's memory and ends all exchanges.
    fn detach(&self) {
        self.out.borrow_mut().detach();
        self.shared.detach();
        self.exchanges.borrow_mut().wake_all();
        self.calls.borrow_mut().wake_all();
        self.wake_waiting();
    }

    /// Whether the host has ended.
    pub fn is_closed(&self) -> bool {
        self.shared.is_closed()
    }

    /// For how long the host has been woken without coming, in microseconds.
    pub fn late_us(&self) -> u64 {
        self.shared.late_us()
    }

    /// What is counted of this lane.
    pub fn counts(&self) -> &Counts {
        &self.shared.counts
    }

    pub(crate) fn open_exchange(&self, credit: usize) -> Option<u32> {
        let id = self.exchanges.borrow_mut().open(credit)?;
        add(&self.shared.counts.exchanges, 1);
        Some(id)
    }

    pub(crate) fn close_exchange(&self, id: u32) {
        if self.exchanges.borrow_mut().close(id) {
            subtract(&self.shared.counts.exchanges, 1);
        }
    }

    /// Looks at what was sent for an exchange; `None` once it is closed.
    pub(crate) fn with_mail<R>(&self, id: u32, look: impl FnOnce(&mut Mail) -> R) -> Option<R> {
        self.exchanges.borrow_mut().mail(id).map(look)
    }

    pub(crate) fn open_connection(&self, control: Rc<dyn Control>) -> Option<u32> {
        let id = self.connections.borrow_mut().open(control)?;
        add(&self.shared.counts.connections, 1);
        Some(id)
    }

    pub(crate) fn close_connection(&self, id: u32, reason: u32) {
        if self.connections.borrow_mut().close(id) {
            subtract(&self.shared.counts.connections, 1);
            self.note(to_script::CLOSED, 0, &[id, reason], &[]);
        }
    }

    /// Writes a record of a few words, now or as soon as there is room.
    pub(crate) fn note(&self, kind: u32, flags: u32, words: &[u32], bytes: &[u8]) {
        if self.is_closed() {
            return;
        }
        self.out.borrow_mut().note(kind, flags, words, bytes, &self.shared);
        self.wake_publisher();
    }

    /// Bytes that a record may have now, up to what is wanted.
    pub(crate) fn room(&self, wanted: usize) -> usize {
        if self.is_closed() { 0 } else { self.out.borrow_mut().room(wanted, &self.shared) }
    }

    /// Writes a record for which there is room.
    pub(crate) fn write(
        &self,
        kind: u32,
        flags: u32,
        words_len: usize,
        bytes_len: usize,
        write: impl FnOnce(&mut Draft<'_>, u32),
    ) {
        if self.is_closed() {
            return;
        }
        let mut out = self.out.borrow_mut();
        let begun = out.begin(kind, flags, words_len, bytes_len);
        debug_assert!(begun.is_some(), "the caller has asked for room");
        if let Some((mut draft, bytes_at)) = begun {
            write(&mut draft, bytes_at);
        }
        drop(out);
        self.wake_publisher();
    }

    /// Memory for a long piece of a body, if the host has lent any, and its number.
    pub(crate) fn take_body(&self) -> Option<(Slab, u32)> {
        if self.is_closed() { None } else { self.out.borrow_mut().take_body() }
    }

    /// Gives back what [`Lane::take_body`] gave, unused.
    pub(crate) fn put_body_back(&self, slab: Slab, number: u32) {
        if !self.is_closed() {
            self.out.borrow_mut().put_body_back(slab, number);
        }
    }

    /// Calls the waker once there may be room again. `place` is where the caller waits already, if it does.
    pub(crate) fn wait_for_room(&self, waker: &Waker, place: &mut Option<Place>) {
        let mut waiting = self.waiting.borrow_mut();
        let round = self.rounds.get();
        let known = place.filter(|place| place.round == round).and_then(|place| waiting.get_mut(place.index));
        match known {
            Some(known) => known.clone_from(waker),
            None => {
                *place = Some(Place { round, index: waiting.len() });
                waiting.push(waker.clone());
            }
        }
    }

    /// Looks at what the host has sent, if it asked for that, once others had their turn: this thread may not sleep for long.
    #[inline]
    pub(crate) fn heed(&self) {
        if self.shared.is_asked() {
            self.wake_publisher();
        }
    }

    fn wake_publisher(&self) {
        if !self.woken.replace(true)
            && let Some(waker) = &*self.publisher.borrow()
        {
            waker.wake_by_ref();
        }
    }
}

/// A place among those who wait for room.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    round: u64,
    index: usize,
}

/// Ends a lane with the task that runs it: by the host's word, or because the task failed or was dropped.
struct Running(Rc<Lane>);

impl Drop for Running {
    fn drop(&mut self) {
        // First, since from then on no exchange looks for memory any more.
        self.0.shared.close();
        self.0.detach();
    }
}
