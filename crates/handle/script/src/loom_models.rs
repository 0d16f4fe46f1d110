//! Models of what two threads do to a lane: loom runs the code of this crate in every order that counts. What a model can't
//! have is a time, so a wake-up that is lost is a deadlock, which loom finds.
#![allow(unsafe_code, clippy::unwrap_used, clippy::panic)]

mod bodies;

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::ptr::NonNull;
use std::rc::Rc;
use std::task::Poll;

use loom::future::block_on;
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

use crate::batch::Batch;
use crate::connections::Control;
use crate::lane::{Lane, lane};
use crate::memory::Slab;
use crate::out::Out;
use crate::port::{Port, Published};
use crate::record::{REPLY_WORDS, SLAB_BYTES, SLABS_MAX, from_script, to_script};
use crate::ring::ring;
use crate::shared::Wake;
use crate::sync::UnsafeCell;

/// Runs a model with at most `preemptions` switches between threads that neither asked for.
fn model(preemptions: usize, run: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(run);
}

/// A host's thread that sleeps until it is woken. Two wake-ups at once are a failure.
#[derive(Default)]
struct Bell {
    rings: Mutex<bool>,
    on_ring: Condvar,
}

impl Bell {
    fn new() -> Arc<Self> {
        Arc::new(Self { rings: Mutex::new(false), on_ring: Condvar::new() })
    }

    fn wait(&self) {
        let mut rings = self.rings.lock().unwrap();
        while !std::mem::take(&mut *rings) {
            rings = self.on_ring.wait(rings).unwrap();
        }
    }
}

struct Ringer(Arc<Bell>);

impl Wake for Ringer {
    fn wake(&self) {
        let mut rings = self.0.rings.lock().unwrap();
        assert!(!*rings, "a second wake-up while one is on its way");
        *rings = true;
        self.0.on_ring.notify_one();
    }
}

/// Slabs that a host lends. They live until the end of a run.
#[derive(Default)]
struct Slabs(Vec<Box<[u32; SLAB_BYTES / 4]>>);

impl Slabs {
    /// Lends as many as may be.
    fn supply(&mut self, port: &mut Port) {
        loop {
            let mut memory = Box::new([0u32; SLAB_BYTES / 4]);
            let start = NonNull::new(memory.as_mut_ptr().cast()).unwrap();
            // SAFETY: it stays in place in `self`, and is read only as far as it was published.
            let slab = unsafe { Slab::new(start, SLAB_BYTES) };
            if port.supply(slab).is_err() {
                return;
            }
            self.0.push(memory);
        }
    }

    /// The third words of all records of a published part.
    fn records(&self, published: Published) -> Vec<u32> {
        let memory = &self.0[published.slab as usize];
        let (mut at, to) = (published.from as usize / 4, published.to as usize / 4);
        let mut found = Vec::new();
        while at < to {
            // SAFETY: inside of the memory.
            let word = |at: usize| unsafe { std::ptr::read_volatile(&memory[at]) };
            found.push(word(at + 2));
            assert!(word(at + 1) >= 3, "a record of no length");
            at += word(at + 1) as usize;
        }
        assert_eq!(at, to, "a record beyond what was published");
        found
    }
}

/// Runs a lane to its end as a runtime does that tells before it sleeps: where it must not, it looks at the lane again.
fn run_napping(lane: &Rc<Lane>) {
    let mut running = pin!(Rc::clone(lane).run());
    block_on(poll_fn(|cx| {
        lane.wake_up();
        while running.as_mut().poll(cx).is_pending() {
            if lane.fall_asleep() {
                return Poll::Pending;
            }
        }
        Poll::Ready(())
    }));
}

#[test]
fn a_thread_that_tells_before_it_sleeps_misses_nothing() {
    model(3, || {
        let (seed, mut port) = lane(Box::new(Ringer(Bell::new())));
        let lane = Lane::new(seed);
        let id = lane.open_exchange(0).unwrap();
        let host = thread::spawn(move || {
            let mut batch = port.batch();
            batch.words.extend([from_script::READ, id, 0, 0, 1, 0]);
            port.send(batch);
            // The other thing that the engine is asked for: the end.
            drop(port);
        });
        run_napping(&lane);
        host.join().unwrap();
        assert_eq!(lane.with_mail(id, |mail| mail.credit), Some(1));
    });
}

#[test]
fn a_ring_keeps_the_order_and_loses_nothing() {
    model(3, || {
        let (mut sender, mut receiver) = ring(2);
        let producer = thread::spawn(move || {
            for number in 0..3 {
                let mut value = Box::new(number);
                while let Err(back) = sender.push(value) {
                    value = back;
                    thread::yield_now();
                }
            }
        });
        for expected in 0..3 {
            let number = loop {
                match receiver.pop() {
                    Some(number) => break number,
                    None => thread::yield_now(),
                }
            };
            assert_eq!(*number, expected);
        }
        assert!(receiver.pop().is_none());
        producer.join().unwrap();
    });
}

#[test]
fn a_full_ring_gives_back_and_an_empty_one_gives_nothing() {
    model(3, || {
        let (mut sender, mut receiver) = ring(1);
        let producer = thread::spawn(move || (0..3).filter(|&number| sender.push(number).is_ok()).count());
        let mut taken = Vec::new();
        for _ in 0..2 {
            taken.extend(receiver.pop());
        }
        let put = producer.join().unwrap();
        while let Some(number) = receiver.pop() {
            taken.push(number);
        }
        assert_eq!(taken.len(), put);
        assert!(taken.is_sorted());
    });
}

#[test]
fn what_is_in_a_ring_is_dropped_once() {
    model(3, || {
        let value = Arc::new(());
        let (mut sender, mut receiver) = ring(2);
        let copies: Vec<_> = (0..3).map(|_| Arc::clone(&value)).collect();
        let producer = thread::spawn(move || {
            for copy in copies {
                let _ = sender.push(copy);
            }
        });
        drop(receiver.pop());
        drop(receiver);
        producer.join().unwrap();
        // Loom fails where a copy is left, or is dropped twice.
        assert!(Arc::try_unwrap(value).is_ok());
    });
}

/// The engine writes a record and publishes, several times; the host sleeps between its turns. Every record arrives, in
/// order, with what was written before it, also where a slab is full and another one takes its place.
fn records_arrive(preemptions: usize, records: usize, words: fn(u32) -> usize) {
    model(preemptions, move || {
        let bell = Bell::new();
        let (seed, mut port) = lane(Box::new(Ringer(Arc::clone(&bell))));
        let mut lent = Slabs::default();
        lent.supply(&mut port);
        // Stand for the bytes of the records: loom sees who touches them.
        let written: Arc<Vec<UnsafeCell<u32>>> = Arc::new((0..records).map(|_| UnsafeCell::new(0)).collect());
        let seen = Arc::clone(&written);
        let engine = thread::spawn(move || {
            let mut out = Out::new(seed.empties, seed.bodies);
            for number in 0..records as u32 {
                // SAFETY: not published yet.
                written[number as usize].with_mut(|cell| unsafe { *cell = number + 1 });
                let mut note = vec![0; words(number)];
                note[0] = number;
                out.note(to_script::GONE, 0, &note, &[], &seed.shared);
                out.publish(&seed.shared);
            }
            // What waits for a slab goes out as soon as the host has lent one.
            block_on(poll_fn(|cx| {
                seed.shared.attend(cx.waker(), false);
                out.publish(&seed.shared);
                if out.has_late() { Poll::Pending } else { Poll::Ready(()) }
            }));
        });
        let mut expected = 0;
        while expected < records {
            bell.wait();
            let until = port.begin_turn();
            while let Some(published) = port.take(until) {
                for number in lent.records(published) {
                    assert_eq!(number as usize, expected);
                    // SAFETY: published.
                    assert_eq!(seen[expected].with(|cell| unsafe { *cell }), number + 1);
                    expected += 1;
                }
            }
            lent.supply(&mut port);
            port.end_turn();
        }
        engine.join().unwrap();
        assert!(lent.0.len() > SLABS_MAX, "the places of the slabs are used again");
    });
}

#[test]
fn no_record_and_no_wake_up_is_lost() {
    // With the two words that each has: three records to a slab.
    records_arrive(3, 7, |_| 3);
}

#[test]
fn how_far_a_slab_was_filled_is_known_until_it_is_taken() {
    // A slab for each, filled differently.
    records_arrive(2, 6, |number| if number.is_multiple_of(2) { 9 } else { 10 });
}

/// A host that ends a turn it did not begin, as it does when a timer of its own sends something, causes no second wake-up
/// and loses none.
#[test]
fn a_flush_outside_of_a_turn_changes_nothing() {
    model(3, || {
        let bell = Bell::new();
        let (seed, mut port) = lane(Box::new(Ringer(Arc::clone(&bell))));
        let mut lent = Slabs::default();
        lent.supply(&mut port);
        let engine = thread::spawn(move || {
            let mut out = Out::new(seed.empties, seed.bodies);
            for number in 0..2 {
                out.note(to_script::GONE, 0, &[number], &[], &seed.shared);
                out.publish(&seed.shared);
            }
            (seed.replies, seed.recycled)
        });
        let mut expected = 0;
        port.end_turn();
        while expected < 2 {
            bell.wait();
            let until = port.begin_turn();
            while let Some(published) = port.take(until) {
                for number in lent.records(published) {
                    assert_eq!(number, expected);
                    expected += 1;
                }
            }
            port.end_turn();
            port.end_turn();
        }
        engine.join().unwrap();
    });
}

/// What the host says of connections, counted.
#[derive(Default)]
struct Told(Cell<usize>);

impl Control for Told {
    fn close(&self) {
        self.0.set(self.0.get() + 1);
    }

    fn destroy(&self, _reset: bool) {}
}

fn close(connection: u32) -> Batch {
    let mut words = vec![0; REPLY_WORDS];
    words[..2].copy_from_slice(&[from_script::CLOSE, connection]);
    Batch { words, ..Batch::default() }
}

/// The engine sleeps whenever nothing is there; the host sends batches, more than the queue has places for, and comes back
/// as often as it is woken for the rest. Every batch arrives.
#[test]
fn no_batch_of_replies_is_lost() {
    const BATCHES: usize = 3;
    model(3, || {
        let bell = Bell::new();
        let (seed, mut port) = lane(Box::new(Ringer(Arc::clone(&bell))));
        let engine = thread::spawn(move || {
            let lane = Lane::new(seed);
            let told = Rc::new(Told::default());
            assert_eq!(lane.open_connection(Rc::clone(&told) as Rc<dyn Control>), Some(0));
            let mut run = pin!(Rc::clone(&lane).run());
            block_on(poll_fn(|cx| match run.as_mut().poll(cx) {
                Poll::Pending if told.0.get() < BATCHES => Poll::Pending,
                _ => Poll::Ready(()),
            }));
            assert_eq!(told.0.get(), BATCHES);
        });
        for _ in 0..BATCHES {
            port.send(close(0));
        }
        port.end_turn();
        while !port.waiting.is_empty() {
            bell.wait();
            let until = port.begin_turn();
            assert_eq!(port.take(until), None);
            port.end_turn();
            // In a model only a thread that yields lets the other one go on for sure.
            thread::yield_now();
        }
        // What was sent before the end is no less handed out.
        drop(port);
        engine.join().unwrap();
    });
}

/// Once `close` has returned the engine touches no lent memory: it may be freed.
#[test]
fn lent_memory_is_the_hosts_again_after_close() {
    model(3, || {
        let bell = Bell::new();
        let (seed, mut port) = lane(Box::new(Ringer(bell)));
        let mut lent = Slabs::default();
        lent.supply(&mut port);
        // Stands for the lent memory.
        let memory = Arc::new(UnsafeCell::new(0));
        let engines = Arc::clone(&memory);
        let engine = thread::spawn(move || {
            let lane = Lane::new(seed);
            let mut run = pin!(Rc::clone(&lane).run());
            block_on(poll_fn(|cx| {
                if lane.room(1) > 0 {
                    // SAFETY: there is room only while the memory is lent.
                    engines.with_mut(|cell| unsafe { *cell += 1 });
                    lane.note(to_script::GONE, 0, &[0], &[]);
                }
                run.as_mut().poll(cx)
            }));
            assert_eq!(lane.room(1), 0);
        });
        port.close(|| unreachable!("a model has no time"));
        // SAFETY: the engine has let go of it.
        memory.with_mut(|cell| unsafe { *cell += 1 });
        engine.join().unwrap();
    });
}
