//! How connections are kept, shared out, waited for and let go.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod scripted;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use leat_dial::{EndpointLimits, Protocol};
use leat_message::{Length, Reason};
use scripted::*;

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

fn limited(address: impl ToString, limits: EndpointLimits) -> Rc<leat_dial::Endpoint> {
    endpoint(address, Protocol::H1, limits)
}

fn one_connection() -> EndpointLimits {
    EndpointLimits { connections_max: 1, ..EndpointLimits::default() }
}

#[test]
fn one_connection_serves_requests_one_after_the_other() {
    on_core(async {
        let (pools, endpoint) = (pools(), h1(repeating(OK).await));
        for round in 0..10 {
            let mut call = match pools.try_lease(&endpoint) {
                Some(call) => call,
                None => pools.lease(&endpoint).await.unwrap(),
            };
            assert_eq!(call.was_reused(), round > 0);
            assert_eq!(drive(&mut call, &get("/")).await.unwrap().text(), "ok");
        }
        let stats = pools.stats_of(&endpoint);
        assert_eq!((stats.connects, stats.reuses, stats.open, stats.idle, stats.in_use), (1, 9, 1, 1, 0));
    });
}

#[test]
fn an_equal_endpoint_of_a_new_configuration_uses_the_same_connections() {
    on_core(async {
        let (pools, address) = (pools(), repeating(OK).await);
        fetch(&pools, &h1(address), &get("/")).await.unwrap();
        let reloaded = h1(address);
        fetch(&pools, &reloaded, &get("/")).await.unwrap();
        assert_eq!((pools.stats_of(&reloaded).connects, pools.stats_of(&reloaded).reuses), (1, 1));
        assert_eq!(pools.stats().len(), 1);
    });
}

#[test]
fn a_connection_that_the_peer_has_closed_or_written_to_is_not_used() {
    on_core(async {
        for stray in ["", "HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n"] {
            let address = peer(move |number, mut conn| async move {
                conn.head().await;
                conn.send(OK).await;
                if number == 0 {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    conn.send(stray).await;
                    if stray.is_empty() {
                        return;
                    }
                }
                conn.hold().await;
            })
            .await;
            let (pools, endpoint) = (pools(), h1(address));
            fetch(&pools, &endpoint, &get("/")).await.unwrap();
            assert_eq!(pools.stats_of(&endpoint).idle, 1);
            eventually("the connection is found out", || pools.try_lease(&endpoint).is_none()).await;
            assert_eq!(fetch(&pools, &endpoint, &get("/")).await.unwrap().text(), "ok");
            assert_eq!(pools.stats_of(&endpoint).connects, 2);
        }
    });
}

#[test]
fn a_peer_that_closes_as_the_request_arrives_is_told_from_one_that_answered() {
    on_core(async {
        for reset in [false, true] {
            let address = peer(move |_, mut conn| async move {
                conn.head().await;
                conn.send(OK).await;
                conn.head().await;
                if reset {
                    conn.reset();
                }
            })
            .await;
            let (pools, endpoint) = (pools(), h1(address));
            fetch(&pools, &endpoint, &get("/")).await.unwrap();
            let mut call = pools.try_lease(&endpoint).unwrap();
            assert_eq!(drive(&mut call, &post("/", Length::Known(0), "")).await, Err(Reason::UpstreamReset));
            assert!(call.was_reused() && !call.response_started() && !call.body_taken());
            drop(call);
            assert_eq!(pools.stats_of(&endpoint).open, 0);
        }
    });
}

#[test]
fn unused_connections_close_after_their_time() {
    let announced = "HTTP/1.1 200 OK\r\nKeep-Alive: max=5, timeout=1\r\ncontent-length: 2\r\n\r\nok";
    for (answer, idle_time_ms) in [(OK, 100), (announced, 60_000)] {
        on_core(async {
            let closed = Rc::new(Cell::new(false));
            let seen = Rc::clone(&closed);
            let address = peer(move |_, mut conn| {
                let seen = Rc::clone(&seen);
                async move {
                    conn.head().await;
                    conn.send(answer).await;
                    conn.hold().await;
                    seen.set(true);
                }
            })
            .await;
            let endpoint = limited(address, EndpointLimits { idle_time_ms, ..EndpointLimits::default() });
            let pools = pools();
            fetch(&pools, &endpoint, &get("/")).await.unwrap();
            assert_eq!(pools.stats_of(&endpoint).idle, 1);
            eventually("the connection is closed", || closed.get()).await;
            assert_eq!(pools.stats_of(&endpoint).open, 0);
        });
    }
}

#[test]
fn the_connection_that_was_used_last_is_used_first() {
    on_core(async {
        let address = peer(|number, mut conn| async move {
            while !conn.head().await.is_empty() {
                conn.send(format!("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n{number}")).await;
            }
        })
        .await;
        let (pools, endpoint) = (pools(), h1(address));
        let (mut first, mut second) = (pools.lease(&endpoint).await.unwrap(), pools.lease(&endpoint).await.unwrap());
        drive(&mut first, &get("/")).await.unwrap();
        drive(&mut second, &get("/")).await.unwrap();
        drop(second);
        drop(first);
        for _ in 0..3 {
            assert_eq!(fetch(&pools, &endpoint, &get("/")).await.unwrap().text(), "0");
        }
    });
}

#[test]
fn requests_wait_for_a_connection_in_their_order() {
    on_core(async {
        let (pools, endpoint) = (pools(), limited(repeating(OK).await, one_connection()));
        let order = Rc::new(RefCell::new(Vec::new()));
        let mut first = pools.lease(&endpoint).await.unwrap();
        let waiting: Vec<_> = (0..5)
            .map(|number| {
                let (pools, endpoint, order) = (Rc::clone(&pools), Rc::clone(&endpoint), Rc::clone(&order));
                tokio::task::spawn_local(async move {
                    fetch(&pools, &endpoint, &get("/")).await.unwrap();
                    order.borrow_mut().push(number);
                })
            })
            .collect();
        settle().await;
        assert_eq!(pools.stats_of(&endpoint).waiting, 5);
        drive(&mut first, &get("/")).await.unwrap();
        drop(first);
        for task in waiting {
            task.await.unwrap();
        }
        assert_eq!(*order.borrow(), [0, 1, 2, 3, 4]);
        assert_eq!((pools.stats_of(&endpoint).connects, pools.stats_of(&endpoint).reuses), (1, 5));
    });
}

#[test]
fn a_broken_connection_makes_room_for_the_next_who_waits() {
    on_core(async {
        let (pools, endpoint) = (pools(), limited(repeating(OK).await, one_connection()));
        let mut first = pools.lease(&endpoint).await.unwrap();
        begin(&mut first, &get("/"));
        let waiting = {
            let (pools, endpoint) = (Rc::clone(&pools), Rc::clone(&endpoint));
            tokio::task::spawn_local(async move { fetch(&pools, &endpoint, &get("/")).await.unwrap().text() })
        };
        settle().await;
        // Its response is still to come, so nobody else can use it.
        drop(first);
        assert_eq!(waiting.await.unwrap(), "ok");
        assert_eq!(pools.stats_of(&endpoint).connects, 2);
    });
}

#[test]
fn the_queue_is_bounded_in_length_and_in_time() {
    on_core(async {
        let limits = EndpointLimits { queue_max: 1, queue_time_ms: 100, ..one_connection() };
        let (pools, endpoint) = (pools(), limited(repeating(OK).await, limits));
        let _held = pools.lease(&endpoint).await.unwrap();
        let waiting = {
            let (pools, endpoint) = (Rc::clone(&pools), Rc::clone(&endpoint));
            tokio::task::spawn_local(async move { pools.lease(&endpoint).await.err().map(|fault| fault.reason) })
        };
        settle().await;
        assert_eq!(pools.lease(&endpoint).await.unwrap_err().reason, Reason::UpstreamPool);
        assert_eq!(waiting.await.unwrap(), Some(Reason::UpstreamPool));
        assert_eq!(pools.stats_of(&endpoint).waiting, 0);
    });
}

#[test]
fn who_gives_up_waiting_passes_on_what_was_offered() {
    on_core(async {
        let (pools, endpoint) = (pools(), limited(repeating(OK).await, one_connection()));
        let mut held = pools.lease(&endpoint).await.unwrap();
        drive(&mut held, &get("/")).await.unwrap();
        let mut first = Box::pin(pools.lease(&endpoint));
        let mut second = Box::pin(pools.lease(&endpoint));
        assert!(futures_are_pending(&mut first, &mut second).await);
        // Offered to the first, which never looks.
        drop(held);
        drop(first);
        assert!(second.await.unwrap().was_reused());
    });
}

async fn futures_are_pending<F: Future>(first: &mut std::pin::Pin<Box<F>>, second: &mut std::pin::Pin<Box<F>>) -> bool {
    std::future::poll_fn(|cx| {
        let both = [first.as_mut().poll(cx).is_pending(), second.as_mut().poll(cx).is_pending()];
        std::task::Poll::Ready(both == [true, true])
    })
    .await
}

#[test]
fn giving_up_while_connecting_frees_the_place() {
    on_core(async {
        let (pools, endpoint) = (pools(), limited(repeating(OK).await, one_connection()));
        let mut first = Box::pin(pools.lease(&endpoint));
        let mut second = Box::pin(pools.lease(&endpoint));
        assert!(futures_are_pending(&mut first, &mut second).await);
        assert_eq!(pools.stats_of(&endpoint).open, 1);
        drop(first);
        assert!(!second.await.unwrap().was_reused());
        assert_eq!((pools.stats_of(&endpoint).open, pools.stats_of(&endpoint).waiting), (1, 0));
    });
}

#[test]
fn a_connection_that_was_taken_and_not_used_goes_back() {
    on_core(async {
        let limits = EndpointLimits { idle_time_ms: 400, ..EndpointLimits::default() };
        let (pools, endpoint) = (pools(), limited(repeating(OK).await, limits));
        drop(pools.lease(&endpoint).await.unwrap());
        assert_eq!(pools.stats_of(&endpoint).idle, 1);
        // Looking at it does not make it younger.
        eventually("its time is over", || pools.try_lease(&endpoint).is_none()).await;
        assert_eq!(pools.stats_of(&endpoint).connects, 1);
    });
}

#[test]
fn retired_endpoints_lose_their_connections_but_not_their_requests() {
    on_core(async {
        let (pools, kept, gone) = (pools(), h1(repeating(OK).await), h1(repeating(OK).await));
        let mut under_way = pools.lease(&gone).await.unwrap();
        fetch(&pools, &gone, &get("/")).await.unwrap();
        fetch(&pools, &kept, &get("/")).await.unwrap();
        pools.retire(|identity| identity == &**kept.identity());
        assert_eq!(pools.stats().len(), 1);
        assert_eq!(pools.stats_of(&kept).idle, 1);
        assert_eq!(drive(&mut under_way, &get("/")).await.unwrap().text(), "ok");
        drop(under_way);
        assert_eq!(pools.stats_of(&gone).open, 0);
        // A request that still holds the old configuration gets through.
        assert_eq!(fetch(&pools, &gone, &get("/")).await.unwrap().text(), "ok");
    });
}

#[test]
fn many_requests_at_once_share_the_connections_there_may_be() {
    on_core(async {
        let limits = EndpointLimits { connections_max: 8, ..EndpointLimits::default() };
        let (pools, endpoint) = (pools(), limited(repeating(OK).await, limits));
        let tasks: Vec<_> = (0..200)
            .map(|_| {
                let (pools, endpoint) = (Rc::clone(&pools), Rc::clone(&endpoint));
                tokio::task::spawn_local(async move { fetch(&pools, &endpoint, &get("/")).await.unwrap().text() })
            })
            .collect();
        for task in tasks {
            assert_eq!(task.await.unwrap(), "ok");
        }
        let stats = pools.stats_of(&endpoint);
        assert_eq!((stats.connects, stats.reuses, stats.idle, stats.in_use, stats.waiting), (8, 192, 8, 0, 0));
    });
}
