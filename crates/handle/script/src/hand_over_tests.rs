//! Both sides of a lane on two threads, with memory that Miri watches.
#![allow(unsafe_code, clippy::unwrap_used, clippy::panic)]

use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::task::{Context, Waker};
use std::time::Duration;

use crate::lane::{Lane, lane};
use crate::memory::Slab;
use crate::out::Out;
use crate::port::Port;
use crate::record::{SLAB_BYTES, SLABS_MAX, to_script};
use crate::shared::Wake;

struct Ringer(Sender<()>);

impl Wake for Ringer {
    fn wake(&self) {
        let _ = self.0.send(());
    }
}

/// Lends a slab of uninitialised memory; gives its start.
fn lend(port: &mut Port) -> Option<NonNull<u8>> {
    let memory = Box::leak(Box::<[u8; SLAB_BYTES]>::new_uninit());
    let start = NonNull::new(memory.as_mut_ptr().cast()).unwrap();
    // SAFETY: it is never freed before the test ends, and read only as far as it was published.
    let lent = port.supply(unsafe { Slab::new(start, SLAB_BYTES) });
    if lent.is_err() {
        free(start);
    }
    lent.is_ok().then_some(start)
}

fn free(start: NonNull<u8>) {
    // SAFETY: from `lend`, and nobody uses it any more.
    drop(unsafe { Box::from_raw(start.as_ptr().cast::<std::mem::MaybeUninit<[u8; SLAB_BYTES]>>()) });
}

/// Every record that is published can be read, whole, while later ones are being written to the same slab; each slab is
/// freed as soon as it was taken to its end.
#[test]
fn what_is_published_is_there_while_more_is_written() {
    let records: u32 = if cfg!(miri) { 24 } else { 20_000 };
    let (ring, bell) = channel();
    let (seed, mut port) = lane(Box::new(Ringer(ring)));
    let mut slabs: Vec<Option<NonNull<u8>>> = (0..SLABS_MAX).map(|_| lend(&mut port)).collect();
    assert!(lend(&mut port).is_none(), "more than can be told apart");
    let engine = std::thread::spawn(move || {
        let mut out = Out::new(seed.empties, seed.bodies);
        let bytes = vec![7; 9_001];
        for number in 0..records {
            // OPEN: its seventh word tells where the bytes are.
            let words = [number, 0, 0, 0, 0, bytes.len() as u32];
            out.note(to_script::OPEN, 0, &words, &bytes, &seed.shared);
            out.publish(&seed.shared);
            while out.room(1, &seed.shared) == 0 {
                std::thread::yield_now();
            }
            // What had waited for room stands in a slab by now.
            out.publish(&seed.shared);
        }
    });
    let sent = vec![7; 9_001];
    let mut expected = 0;
    while expected < records {
        bell.recv().unwrap();
        let until = port.begin_turn();
        while let Some(published) = port.take(until) {
            let start = slabs[published.slab as usize].unwrap();
            // SAFETY: published, and the slab was not freed.
            let word = |at: u32| unsafe { start.as_ptr().add(at as usize).cast::<u32>().read_unaligned() };
            let mut at = published.from;
            while at < published.to {
                assert_eq!(word(at + 8), expected);
                let (bytes_at, bytes_len) = (word(at + 24), word(at + 28));
                // SAFETY: as above.
                let bytes =
                    unsafe { std::slice::from_raw_parts(start.as_ptr().add(bytes_at as usize), bytes_len as usize) };
                assert_eq!(bytes, sent);
                expected += 1;
                at += word(at + 4) * 4;
            }
            for left in slabs.iter_mut().take(published.slab as usize) {
                left.take().into_iter().for_each(free);
            }
            while let Some(start) = lend(&mut port) {
                slabs.push(Some(start));
            }
        }
        port.end_turn();
    }
    engine.join().unwrap();
    slabs.into_iter().flatten().for_each(free);
    assert_eq!(Arc::strong_count(&port.shared), 1);
}

#[test]
fn a_slab_that_is_too_small_is_given_back() {
    let (ring, _bell) = channel();
    let (_seed, mut port) = lane(Box::new(Ringer(ring)));
    let mut memory = vec![0u8; SLAB_BYTES - 1];
    // SAFETY: it is given back.
    let slab = unsafe { Slab::new(NonNull::new(memory.as_mut_ptr()).unwrap(), memory.len()) };
    assert!(port.supply(slab).is_err());
}

/// A lane whose host has a place to put wake-ups that nobody hears.
fn quiet_lane() -> (crate::LaneSeed, Port) {
    lane(Box::new(Ringer(channel().0)))
}

fn never_late() {
    panic!("the engine holds on to the memory");
}

#[test]
fn a_host_that_ends_waits_for_the_engine_however_long() {
    let (seed, port) = quiet_lane();
    let (let_go, told) = channel();
    let engine = std::thread::spawn(move || {
        told.recv().unwrap();
        drop(seed);
    });
    let mut late = 0;
    port.close_every(Duration::from_millis(1), || {
        late += 1;
        if late == 3 {
            let_go.send(()).unwrap();
        }
    });
    assert!(late >= 3, "it waited until it was let go of, and said so meanwhile");
    engine.join().unwrap();
}

#[test]
fn an_engine_that_never_took_the_lane_holds_nothing() {
    let (seed, port) = quiet_lane();
    drop(seed);
    port.close(never_late);
}

#[test]
fn a_lane_that_is_run_no_more_writes_nothing_and_holds_nothing() {
    let (seed, mut port) = quiet_lane();
    let memory = lend(&mut port).unwrap();
    let lane = Lane::new(seed);
    let mut run = Box::pin(Rc::clone(&lane).run());
    let mut cx = Context::from_waker(Waker::noop());
    assert!(run.as_mut().poll(&mut cx).is_pending());
    assert_eq!(lane.room(1), SLAB_BYTES);
    drop(run);
    assert!(lane.is_closed());
    assert_eq!(lane.room(1), 0);
    port.close(never_late);
    free(memory);
    // Exchanges that are still there find it closed, and what they would say goes nowhere.
    lane.note(to_script::GONE, 0, &[0, 0], &[]);
}
