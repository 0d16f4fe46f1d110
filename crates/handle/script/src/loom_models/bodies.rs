//! The memory of bodies: slabs for long pieces of requests, and long buffers of replies that stay where the host has them.
//! Loom does not see who reads and writes through a pointer, so a cell stands for each piece of memory.

use std::pin::pin;

use super::*;
use crate::batch::Buffer;
use crate::memory::Lent;
use crate::record::{BODIES_MAX, data};

type Witness = Arc<UnsafeCell<u32>>;

fn witness() -> Witness {
    Arc::new(UnsafeCell::new(0))
}

fn touch(witness: &Witness) {
    // SAFETY: what the models prove; loom fails where it is not so.
    witness.with_mut(|cell| unsafe { *cell += 1 });
}

fn look(witness: &Witness) -> u32 {
    // SAFETY: as above.
    witness.with(|cell| unsafe { *cell })
}

fn never_late() {
    unreachable!("a model has no time");
}

fn lane_and_bell() -> (crate::lane::LaneSeed, Port, Arc<Bell>) {
    let bell = Bell::new();
    let (seed, port) = lane(Box::new(Ringer(Arc::clone(&bell))));
    (seed, port, bell)
}

static BYTES: [u8; 8] = [7; 8];

/// A batch whose one record is a piece of a reply in a long buffer.
fn long_reply(exchange: u32, token: usize) -> Batch {
    let start = NonNull::from(&BYTES).cast();
    // SAFETY: it is there for ever.
    let lent = unsafe { Lent::new(start, BYTES.len(), token) };
    let mut words = vec![0; REPLY_WORDS];
    words[..4].copy_from_slice(&[from_script::DATA, exchange, 0, 1]);
    Batch { words, buffers: vec![Buffer::Lent(lent)], ..Batch::default() }
}

/// An engine that runs a lane with one exchange, and looks at what was sent for it as an exchange does; says how often it
/// found bytes.
fn reads_replies(seed: crate::lane::LaneSeed, memory: &Witness) -> usize {
    let lane = Lane::new(seed);
    assert_eq!(lane.open_exchange(0), Some(0));
    let mut run = pin!(Rc::clone(&lane).run());
    let mut found = 0;
    block_on(poll_fn(|cx| {
        let ended = run.as_mut().poll(cx);
        while let Some(item) = lane.with_mail(0, |mail| mail.items.pop_front()).flatten() {
            if let Some(bytes) = item.batch.rest(item.buffers.clone(), item.data, 0) {
                look(memory);
                assert_eq!(bytes, BYTES);
                found += 1;
            }
        }
        ended
    }));
    found
}

#[test]
fn a_long_buffer_is_the_hosts_again_once_its_token_is_back() {
    model(3, || {
        let (seed, mut port, _bell) = lane_and_bell();
        let memory = witness();
        let engines = Arc::clone(&memory);
        let engine = thread::spawn(move || reads_replies(seed, &engines));
        port.send(long_reply(0, 5));
        let mut back = port.returned();
        while back.is_empty() {
            thread::yield_now();
            back = port.returned();
        }
        assert_eq!(back, [5]);
        touch(&memory);
        port.close(never_late);
        assert_eq!(engine.join().unwrap(), 1);
        assert!(port.returned().is_empty(), "once");
    });
}

#[test]
fn a_long_buffer_is_the_hosts_again_after_close() {
    model(3, || {
        let (seed, mut port, _bell) = lane_and_bell();
        let memory = witness();
        let engines = Arc::clone(&memory);
        let engine = thread::spawn(move || reads_replies(seed, &engines));
        port.send(long_reply(0, 5));
        port.close(never_late);
        touch(&memory);
        engine.join().unwrap();
        assert_eq!(port.returned(), [5], "though nobody may have read it");
    });
}

/// Lends memory for a body. Nothing of it is written in the models.
fn supply_body(port: &mut Port) -> bool {
    // SAFETY: nobody writes through it.
    port.supply_body(unsafe { Slab::new(NonNull::from(&BYTES).cast(), BYTES.len()) }).is_ok()
}

#[test]
fn a_slab_of_a_body_is_the_hosts_once_a_record_tells_its_number() {
    const BODIES: usize = BODIES_MAX + 1;
    model(2, || {
        let (seed, mut port, bell) = lane_and_bell();
        let mut slabs = Slabs::default();
        slabs.supply(&mut port);
        let lent = std::iter::from_fn(|| supply_body(&mut port).then_some(())).count();
        assert_eq!(lent, BODIES_MAX);
        let bodies: [Witness; BODIES] = std::array::from_fn(|_| witness());
        let engines = bodies.clone();
        let engine = thread::spawn(move || {
            let mut out = Out::new(seed.empties, seed.bodies);
            for expected in 0..BODIES as u32 {
                let number = loop {
                    match out.take_body() {
                        Some((_, number)) => break number,
                        None => thread::yield_now(),
                    }
                };
                assert_eq!(number, expected);
                touch(&engines[number as usize]);
                out.note(to_script::DATA, data::OWN_SLAB, &[number, 0, 0], &[], &seed.shared);
                out.publish(&seed.shared);
            }
        });
        let mut expected = 0;
        while expected < BODIES {
            bell.wait();
            let until = port.begin_turn();
            while let Some(published) = port.take(until) {
                for number in slabs.records(published) {
                    assert_eq!(number as usize, expected);
                    assert_eq!(look(&bodies[expected]), 1);
                    touch(&bodies[expected]);
                    expected += 1;
                    assert!(supply_body(&mut port), "its place is free");
                }
            }
            port.end_turn();
        }
        engine.join().unwrap();
    });
}

#[test]
fn a_slab_of_a_body_is_the_hosts_again_after_close() {
    model(3, || {
        let (seed, mut port, _bell) = lane_and_bell();
        assert!(supply_body(&mut port));
        let body = witness();
        let engines = Arc::clone(&body);
        let engine = thread::spawn(move || {
            let lane = Lane::new(seed);
            let mut run = pin!(Rc::clone(&lane).run());
            block_on(poll_fn(|cx| {
                if lane.take_body().is_some() {
                    touch(&engines);
                }
                run.as_mut().poll(cx)
            }));
            assert!(lane.take_body().is_none());
        });
        port.close(never_late);
        touch(&body);
        engine.join().unwrap();
    });
}
