//! Replies that end before their requests, which JavaScript reads on.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use leat_message::{Exchange, Handler, Reason};
use leat_script::{Arrival, CREDIT_BYTES, Control, Group, Lane, Plan};
use leat_testkit::RecordedExchange;
use support::{END, Host, KEEP, READS_ON, Record, Replies, head};
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{Instant, sleep};

struct Nobody;

impl Control for Nobody {
    fn close(&self) {}

    fn destroy(&self, _reset: bool) {}
}

/// What became of an exchange.
struct Outcome {
    exchange: RecordedExchange,
    result: Result<(), Reason>,
    /// What the host was told, behind the request.
    told: Vec<Record>,
    waited: Duration,
}

impl Outcome {
    fn bytes(&self) -> usize {
        let bytes = |record: &Record| if let Record::Data { bytes, .. } = record { bytes.len() } else { 0 };
        self.told.iter().map(bytes).sum()
    }

    fn gone(&self) -> Option<u32> {
        self.told.iter().find_map(|record| if let Record::Gone { reason, .. } = record { Some(*reason) } else { None })
    }

    fn has_ended(&self) -> bool {
        self.told.iter().any(|record| matches!(record, Record::End { .. }))
    }
}

/// Plays an exchange with a host that says what `answer` makes of each record, on a clock that jumps.
fn played(mut exchange: RecordedExchange, mut answer: impl FnMut(u32, &Record) -> Option<Replies>) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    LocalSet::new().block_on(&runtime, async {
        spawn_local(leat_stream::clock::run());
        let (seed, mut host) = Host::with_slabs(4);
        let lane = Lane::new(seed);
        spawn_local(Rc::clone(&lane).run());
        let group = Rc::new(Group::default());
        group.join(&lane, 0);
        let script = group.connect(Arrival::default(), exchange.peer(), Rc::new(Nobody)).unwrap();
        let (mut id, mut told) = (u32::MAX, Vec::new());
        let start = Instant::now();
        let result = {
            let mut run = pin!(script.exchange(Plan::Request, &mut exchange));
            loop {
                if let Poll::Ready(result) = poll_fn(|cx| Poll::Ready(run.as_mut().poll(cx))).await {
                    break result.map_err(|fault| fault.reason);
                }
                assert!(start.elapsed() < Duration::from_secs(100), "the exchange does not end");
                sleep(Duration::from_millis(20)).await;
                while let Some(record) = host.now() {
                    if let Record::Request { exchange, .. } = record {
                        id = exchange;
                    }
                    if let Some(replies) = answer(id, &record) {
                        host.send(replies);
                    }
                    told.push(record);
                }
            }
        };
        let waited = start.elapsed();
        sleep(Duration::from_millis(20)).await;
        while let Some(record) = host.now() {
            told.push(record);
        }
        // A host that ends waits for the engine's thread, which would be its own.
        std::mem::forget(host);
        Outcome { exchange, result, told, waited }
    })
}

fn upload(bytes: usize) -> RecordedExchange {
    RecordedExchange::new("POST", "/").with_streamed_body(vec![b'x'; bytes]).with_slow_upload(1_000)
}

/// Answers the request at once.
fn early(id: u32, record: &Record) -> Option<Replies> {
    matches!(record, Record::Request { .. }).then(|| {
        let head = head(2);
        Replies::new().head(id, END | KEEP | READS_ON, &head, "ok")
    })
}

#[test]
fn a_request_is_read_to_its_end_behind_a_reply_in_pieces() {
    let mut begun = false;
    let outcome = played(upload(5_000).with_directions_apart(), |id, record| match record {
        Record::Request { .. } => Some(Replies::new().head(id, 0, &head(2), "o")),
        Record::Data { .. } if !std::mem::replace(&mut begun, true) => {
            Some(Replies::new().data(id, 0, "k", &[]).end(id, END | KEEP | READS_ON))
        }
        _ => None,
    });
    assert_eq!((outcome.result, outcome.bytes(), outcome.has_ended()), (Ok(()), 5_000, true));
    assert_eq!((outcome.gone(), outcome.exchange.reply_body()), (None, &b"ok"[..]));
    assert!(outcome.exchange.is_complete() && outcome.exchange.recorded_reason().is_none());
}

#[test]
fn a_reply_that_came_whole_leaves_the_request_readable_where_directions_are_apart() {
    let outcome = played(upload(5_000).with_directions_apart(), early);
    assert_eq!((outcome.result, outcome.bytes(), outcome.has_ended()), (Ok(()), 5_000, true));
    assert_eq!((outcome.gone(), outcome.exchange.reply_body()), (None, &b"ok"[..]));
    // Elsewhere the exchange is over with its reply, and who wanted to read on is told.
    let outcome = played(upload(5_000), early);
    assert_eq!((outcome.result, outcome.has_ended()), (Ok(()), false));
    assert!(outcome.bytes() < 5_000);
    assert_eq!(outcome.gone(), Some(Reason::HandlerFailed as u32 + 1));
}

#[test]
fn javascript_leaves_the_rest_of_a_request_by_another_end() {
    for leave in [
        (|id| Replies::new().end(id, END)) as fn(u32) -> Replies,
        |id| Replies::new().abort(id),
        |id| Replies::new().data(id, 0, "", &[]).abort(id),
    ] {
        let mut pieces = 0;
        let outcome = played(upload(50_000).with_directions_apart(), |id, record| match record {
            Record::Data { .. } => {
                pieces += 1;
                (pieces == 3).then(|| leave(id))
            }
            _ => early(id, record),
        });
        assert_eq!((outcome.result, outcome.gone(), outcome.has_ended()), (Ok(()), None, false));
        assert!(outcome.bytes() < 10_000 && outcome.exchange.is_complete(), "{}", outcome.bytes());
        assert_eq!(outcome.exchange.recorded_reason(), None);
    }
}

#[test]
fn a_request_that_breaks_off_behind_its_reply_is_told_and_the_reply_stays_whole() {
    // Whom a limit stops is in the record; a client that has its reply may go.
    for (reason, recorded) in [
        (Reason::PeerCancelled, None),
        (Reason::LimitBodyBytes, Some(Reason::LimitBodyBytes)),
        (Reason::TimeBody, Some(Reason::TimeBody)),
    ] {
        let outcome = played(upload(5_000).with_directions_apart().with_broken_upload(reason), early);
        assert_eq!((outcome.result, outcome.bytes(), outcome.gone()), (Ok(()), 5_000, Some(reason as u32 + 1)));
        assert_eq!((outcome.exchange.is_complete(), outcome.exchange.recorded_reason()), (true, recorded));
    }
}

#[test]
fn a_request_that_nobody_takes_behind_its_reply_is_left_after_thirty_seconds() {
    let outcome = played(upload(CREDIT_BYTES + 5_000).with_directions_apart(), early);
    assert_eq!((outcome.result, outcome.bytes(), outcome.has_ended()), (Ok(()), CREDIT_BYTES, false));
    assert_eq!(outcome.gone(), Some(Reason::LaneAborted as u32 + 1));
    assert!(outcome.exchange.is_complete() && outcome.exchange.recorded_reason().is_none());
    assert!((Duration::from_secs(30)..Duration::from_secs(50)).contains(&outcome.waited), "{:?}", outcome.waited);
    // A client that goes meanwhile is not waited for.
    let outcome = played(upload(CREDIT_BYTES + 5_000).with_directions_apart().with_client_gone_after(2), early);
    assert_eq!((outcome.result, outcome.gone()), (Ok(()), Some(Reason::PeerReset as u32 + 1)));
    assert!(outcome.waited < Duration::from_secs(20), "{:?}", outcome.waited);
}

#[test]
fn a_request_that_is_taken_now_and_then_is_not_left() {
    let mut asked = 0;
    let total = CREDIT_BYTES + 5_000;
    let outcome = played(upload(total).with_directions_apart(), |id, record| {
        if let Record::Data { .. } = record {
            asked += 1;
            return (asked * 1_000 >= CREDIT_BYTES).then(|| Replies::new().read(id, 1_000));
        }
        early(id, record)
    });
    assert_eq!((outcome.result, outcome.bytes(), outcome.has_ended(), outcome.gone()), (Ok(()), total, true, None));
}
