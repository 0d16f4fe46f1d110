use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use leat_policy::concurrency::{Raw, Settings};

use super::{Entry, Gate, GateReport, Place, Slot};
use crate::config::Concurrency;

fn gate(limit: u32, queue_max: usize) -> Arc<Gate> {
    let raw = Raw { min: limit, max: limit, ..Raw::default() };
    Arc::new(Gate::new(&Concurrency::new(Settings::new(&raw).unwrap(), queue_max, 1_000)))
}

fn slot(gate: &Arc<Gate>) -> Slot {
    match gate.enter() {
        Entry::In(slot) => slot,
        Entry::Wait(_) | Entry::Full => panic!("there is room"),
    }
}

fn place(gate: &Arc<Gate>) -> Place {
    match gate.enter() {
        Entry::Wait(place) => place,
        Entry::In(_) | Entry::Full => panic!("it must wait"),
    }
}

#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn poll(place: &mut Place, woken: &Arc<Woken>) -> Poll<Slot> {
    place.poll(&mut Context::from_waker(&Waker::from(Arc::clone(woken))))
}

#[test]
fn who_waits_gets_in_in_order_and_nobody_goes_past_them() {
    let gate = gate(1, 2);
    let first = slot(&gate);
    let (mut second, mut third) = (place(&gate), place(&gate));
    assert!(matches!(gate.enter(), Entry::Full));
    assert!(gate.try_enter().is_none());
    let woken = [Arc::<Woken>::default(), Arc::default()];
    assert!(poll(&mut second, &woken[0]).is_pending() && poll(&mut third, &woken[1]).is_pending());
    first.answered(Duration::from_millis(1));
    assert_eq!(woken.each_ref().map(|woken| woken.0.load(Ordering::SeqCst)), [1, 0]);
    assert!(gate.try_enter().is_none(), "the room is the second's, though it has not looked yet");
    let Poll::Ready(in_second) = poll(&mut second, &woken[0]) else { panic!("its turn has come") };
    assert!(poll(&mut third, &woken[1]).is_pending());
    drop(in_second);
    assert!(poll(&mut third, &woken[1]).is_ready());
    assert_eq!(gate.report(), GateReport { limit: 1, in_flight: 0, waiting: 0, refused: 1 });
}

#[test]
fn a_place_that_is_given_up_goes_to_the_next_even_if_its_turn_had_come() {
    let gate = gate(1, 3);
    let first = slot(&gate);
    let (given_up, let_in, mut last) = (place(&gate), place(&gate), place(&gate));
    drop(given_up);
    assert_eq!(gate.report().waiting, 2);
    drop(first);
    drop(let_in);
    let woken = Arc::default();
    let Poll::Ready(slot) = poll(&mut last, &woken) else { panic!("its turn has come") };
    assert_eq!(gate.report().in_flight, 1);
    drop(slot);
    assert_eq!(gate.report().in_flight, 0);
}

#[test]
fn cores_that_fight_for_it_never_are_more_than_the_limit_and_all_come_through() {
    let gate = gate(3, 1_000);
    let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..500 {
                    let slot = match gate.enter() {
                        Entry::In(slot) => slot,
                        Entry::Wait(mut place) => {
                            struct Unpark(std::thread::Thread);
                            impl Wake for Unpark {
                                fn wake(self: Arc<Self>) {
                                    self.0.unpark();
                                }
                            }
                            let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
                            loop {
                                if let Poll::Ready(slot) = place.poll(&mut Context::from_waker(&waker)) {
                                    break slot;
                                }
                                std::thread::park_timeout(Duration::from_secs(5));
                            }
                        }
                        Entry::Full => panic!("there is room for all to wait"),
                    };
                    most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::yield_now();
                    inside.fetch_sub(1, Ordering::SeqCst);
                    slot.answered(Duration::from_micros(1));
                }
            });
        }
    });
    assert!((1..=3).contains(&most.load(Ordering::SeqCst)), "{most:?}");
    assert_eq!(gate.report(), GateReport { limit: 3, in_flight: 0, waiting: 0, refused: 0 });
}
