//! A bounded queue with one producer and one consumer.
#![allow(unsafe_code)]

use std::mem::MaybeUninit;

use crate::sync::{Arc, AtomicUsize, Ordering, UnsafeCell};

struct Ring<T> {
    slots: Box<[UnsafeCell<MaybeUninit<T>>]>,
    /// Where the consumer takes next. Counts on without end; the slot is the count modulo the capacity.
    head: AtomicUsize,
    /// Where the producer puts next.
    tail: AtomicUsize,
}

// SAFETY: a slot is touched by the producer before `tail` is moved past it and by the consumer after; `Sender` and
// `Receiver` are the only ones that do, there is one of each, and both need `&mut` for it.
unsafe impl<T: Send> Send for Ring<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Ring<T> {}

/// The producer's end.
pub(crate) struct Sender<T>(Arc<Ring<T>>);

/// The consumer's end.
pub(crate) struct Receiver<T>(Arc<Ring<T>>);

/// A queue of `capacity` places (at least 1). One allocation; `push` and `pop` make none.
pub(crate) fn ring<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let slots = (0..capacity.max(1)).map(|_| UnsafeCell::new(MaybeUninit::uninit())).collect();
    let ring = Arc::new(Ring { slots, head: AtomicUsize::new(0), tail: AtomicUsize::new(0) });
    (Sender(Arc::clone(&ring)), Receiver(ring))
}

impl<T> Ring<T> {
    fn slot(&self, count: usize) -> Option<&UnsafeCell<MaybeUninit<T>>> {
        self.slots.get(count % self.slots.len())
    }
}

impl<T> Sender<T> {
    /// Puts a value in; gives it back where there is no place.
    pub(crate) fn push(&mut self, value: T) -> Result<(), T> {
        let ring = &*self.0;
        let tail = ring.tail.load(Ordering::Relaxed);
        // Acquire: the consumer has read the slot before it said that it is free.
        if tail.wrapping_sub(ring.head.load(Ordering::Acquire)) >= ring.slots.len() {
            return Err(value);
        }
        let Some(slot) = ring.slot(tail) else { return Err(value) };
        // SAFETY: the slot lies at `tail`, which the consumer does not touch before the store below.
        slot.with_mut(|slot| unsafe { (*slot).write(value) });
        ring.tail.store(tail.wrapping_add(1), Ordering::Release);
        Ok(())
    }
}

impl<T> Receiver<T> {
    /// Whether there is nothing to take.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.head.load(Ordering::Relaxed) == self.0.tail.load(Ordering::Acquire)
    }

    /// Takes the oldest value.
    pub(crate) fn pop(&mut self) -> Option<T> {
        let ring = &*self.0;
        let head = ring.head.load(Ordering::Relaxed);
        if head == ring.tail.load(Ordering::Acquire) {
            return None;
        }
        let slot = ring.slot(head)?;
        // SAFETY: the slot lies between `head` and `tail`: it was written, and the producer does not touch it before the
        // store below. It is read once, since `head` moves past it.
        let value = slot.with(|slot| unsafe { (*slot).assume_init_read() });
        ring.head.store(head.wrapping_add(1), Ordering::Release);
        Some(value)
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        // What the producer puts in from now on is dropped with the ring, by the one below.
        while self.pop().is_some() {}
    }
}

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        // Both ends are gone.
        let (head, tail) = (self.head.load(Ordering::Relaxed), self.tail.load(Ordering::Relaxed));
        for count in 0..tail.wrapping_sub(head) {
            if let Some(slot) = self.slot(head.wrapping_add(count)) {
                // SAFETY: written and not taken.
                slot.with_mut(|slot| unsafe { (*slot).assume_init_drop() });
            }
        }
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;

    #[test]
    fn values_come_out_in_order_and_a_full_ring_gives_back() {
        let (mut sender, mut receiver) = ring(2);
        assert_eq!(receiver.pop(), None);
        for round in 0..10 {
            assert_eq!(sender.push(round), Ok(()));
            assert_eq!(sender.push(round + 100), Ok(()));
            assert_eq!(sender.push(0), Err(0));
            assert_eq!(receiver.pop(), Some(round));
            assert_eq!(receiver.pop(), Some(round + 100));
        }
    }

    #[test]
    fn what_was_not_taken_is_dropped() {
        let value = std::rc::Rc::new(());
        let (mut sender, receiver) = ring(4);
        for _ in 0..3 {
            assert!(sender.push(std::rc::Rc::clone(&value)).is_ok());
        }
        drop(receiver);
        assert!(sender.push(std::rc::Rc::clone(&value)).is_ok());
        drop(sender);
        assert_eq!(std::rc::Rc::strong_count(&value), 1);
    }

    #[test]
    fn two_threads_lose_nothing() {
        let count = if cfg!(miri) { 200 } else { 100_000 };
        let (mut sender, mut receiver) = ring(8);
        let producer = std::thread::spawn(move || {
            for number in 0..count {
                let mut value = number;
                while let Err(back) = sender.push(value) {
                    value = back;
                    std::thread::yield_now();
                }
            }
        });
        let mut expected = 0;
        while expected < count {
            match receiver.pop() {
                Some(number) => {
                    assert_eq!(number, expected);
                    expected += 1;
                }
                None => std::thread::yield_now(),
            }
        }
        producer.join().unwrap();
    }
}
