//! Calls out: a request of the host's goes to an endpoint, and its response comes back, over the records of the lane.

mod answer;
mod ask;
mod destination;
mod table;

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use leat_dial::Call;
use leat_message::{Fault, Length, Reason};

pub use destination::Given;
pub(crate) use destination::{Destination, Destinations, Known};
pub(crate) use table::Calls;

use crate::exchanges::Item;
use crate::lane::{Lane, Place};
use crate::record::{call, failure, reply, to_script};
use answer::Answer;
use ask::Ask;

/// One call, from the record that begins it to the one that ends it. Dropped before that, its connection is closed (HTTP/2:
/// its stream is reset).
pub(crate) struct Outgoing {
    lane: Rc<Lane>,
    id: u32,
    destination: Rc<Destination>,
    stage: Stage,
    /// How much of the request's body is on its way.
    body: Body,
    /// The record whose bytes are being sent, and how many of them were.
    item: Option<(Item, usize)>,
    /// Whether something was sent that may still lie in the connection's buffer.
    unflushed: bool,
    answer: Answer,
    /// Where this call waits for room.
    place: Option<Place>,
}

enum Stage {
    /// There is no connection yet. How many lines the head has.
    New(usize),
    /// One is being waited for, or made.
    Lease(usize, Lease),
    Open(Call),
}

type Lease = Pin<Box<dyn Future<Output = Result<Call, Fault>>>>;

/// The request's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Body {
    /// It is in the record that began the call.
    Whole,
    /// It comes in records of its own.
    Pieces,
    /// All of it was taken.
    Done,
}

/// How a call failed: one of `record::failure`, and why.
type Failure = (u32, Reason);

impl Outgoing {
    pub(crate) fn new(lane: &Rc<Lane>, id: u32, destination: Rc<Destination>, item: Item) -> Self {
        let lines = (item.flags >> call::LINES_SHIFT) as usize;
        let body = if item.flags & call::STREAM == 0 { Body::Whole } else { Body::Pieces };
        Self {
            lane: Rc::clone(lane),
            id,
            destination,
            stage: Stage::New(lines),
            body,
            item: Some((item, 0)),
            unflushed: false,
            answer: Answer::Head,
            place: None,
        }
    }

    /// Ready once the call is over, whichever way.
    fn poll_call(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        if !matches!(self.stage, Stage::Open(_)) {
            ready!(self.poll_open(cx))?;
        }
        if let Poll::Ready(Err(failure)) = self.poll_request(cx) {
            return Poll::Ready(Err(failure));
        }
        let Stage::Open(call) = &mut self.stage else { return Poll::Pending };
        self.answer.poll(cx, &self.lane, self.id, call, &mut self.place)
    }

    /// Finds a connection, and writes the head to it.
    fn poll_open(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        let (call, lines) = match &mut self.stage {
            Stage::New(lines) => {
                let lines = *lines;
                // Before anything is opened for it.
                if self.ask(lines).and_then(|ask| self.length(&ask)).is_none() {
                    return Poll::Ready(Err((failure::REFUSED, Reason::HandlerFailed)));
                }
                match self.destination.pools.try_lease(&self.destination.endpoint) {
                    Some(call) => (call, lines),
                    None => {
                        let destination = Rc::clone(&self.destination);
                        let lease = Box::pin(async move { destination.pools.lease(&destination.endpoint).await });
                        self.stage = Stage::Lease(lines, lease);
                        return self.poll_open(cx);
                    }
                }
            }
            Stage::Lease(lines, lease) => match ready!(lease.as_mut().poll(cx)) {
                Ok(call) => (call, *lines),
                Err(fault) => return Poll::Ready(Err((failure::NOT_SENT, fault.reason))),
            },
            Stage::Open(_) => return Poll::Ready(Ok(())),
        };
        self.begin(call, lines)
    }

    fn ask(&self, lines: usize) -> Option<Ask<'_>> {
        let (item, _) = self.item.as_ref()?;
        Ask::parse(item.batch.bytes(item.text.start, item.text.start + item.head_len), lines)
    }

    fn begin(&mut self, mut call: Call, lines: usize) -> Poll<Result<(), Failure>> {
        let refused = Poll::Ready(Err((failure::REFUSED, Reason::HandlerFailed)));
        let Some(ask) = self.ask(lines) else { return refused };
        let Some(length) = self.length(&ask) else { return refused };
        let Destination { endpoint, authority, .. } = &*self.destination;
        let scheme = if endpoint.protocol().is_tls() { "https" } else { "http" };
        call.request(ask.method, ask.host.unwrap_or(authority.as_bytes()), scheme, ask.target);
        ask.fields().for_each(|(name, value)| call.field(name, value));
        call.length(length);
        let head_len = self.item.as_ref().map_or(0, |(item, _)| item.head_len);
        match (self.body, length) {
            (Body::Whole, Length::Known(1..)) => {
                self.item.iter_mut().for_each(|(_, sent)| *sent = head_len);
            }
            // Its head is written, and it has no more.
            (Body::Pieces, _) => self.item = None,
            (Body::Whole | Body::Done, _) => (self.item, self.body) = (None, Body::Done),
        }
        self.unflushed = true;
        self.stage = Stage::Open(call);
        Poll::Ready(Ok(()))
    }

    /// How the body is delimited; `None` where its length is not what the program says it is.
    fn length(&self, ask: &Ask<'_>) -> Option<Length> {
        if self.body == Body::Pieces {
            return Some(ask.length.map_or(Length::Stream, Length::Known));
        }
        let (item, _) = self.item.as_ref()?;
        let count =
            (item.text.len() - item.head_len.min(item.text.len()) + item.batch.len_of(item.buffers.clone())) as u64;
        if ask.length.is_some_and(|length| length != count) {
            return None;
        }
        let announced = count > 0 || ask.length.is_some() || ask.announces_nothing();
        Some(if announced { Length::Known(count) } else { Length::None })
    }

    /// Sends what there is of the request. Never ready but with what is wrong with it: the response tells the rest.
    fn poll_request(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        loop {
            if self.body != Body::Done && self.item.is_none() {
                self.item = self.lane.with_call(self.id, |mail| mail.items.pop_front()).flatten().map(|item| (item, 0));
            }
            let Stage::Open(call) = &mut self.stage else { return Poll::Pending };
            let Some((item, sent)) = &mut self.item else {
                if self.unflushed {
                    ready!(call.poll_flush(cx)).map_err(|reason| (failure::REFUSED, reason))?;
                    self.unflushed = false;
                }
                return Poll::Pending;
            };
            self.unflushed = true;
            ready!(poll_item(cx, call, item, sent))?;
            let (is_last, wants_word) = match self.body {
                Body::Pieces => (item.flags & reply::END != 0, item.flags & reply::ACK != 0),
                Body::Whole | Body::Done => (true, false),
            };
            self.item = None;
            if wants_word {
                self.lane.note(to_script::CALL_WRITABLE, 0, &[self.id], &[]);
            }
            if is_last {
                if self.body == Body::Pieces {
                    call.end(None);
                }
                self.body = Body::Done;
            }
        }
    }

    fn fail(&self, (class, reason): Failure) {
        let (mut class, mut detail) = (class, None);
        if let Stage::Open(call) = &self.stage {
            detail = call.detail();
            if class != failure::REFUSED && call.was_refused() {
                class = failure::NOT_PROCESSED;
            }
        }
        let words = [self.id, reason as u32 + 1, detail.map_or(0, |detail| detail as u32 + 1)];
        self.lane.note(to_script::CALL_FAILED, class, &words, &[]);
    }
}

impl Future for Outgoing {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        this.lane.heed();
        // Nobody is there to be told, or JavaScript has given it up.
        if this.lane.is_closed() || !this.lane.listens_to_call(this.id, cx.waker()) {
            return Poll::Ready(());
        }
        if let Err(failure) = ready!(this.poll_call(cx)) {
            this.fail(failure);
        }
        Poll::Ready(())
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        self.lane.close_call(self.id);
    }
}

/// Sends a record's bytes from `sent` on, text before buffers.
fn poll_item(cx: &mut Context<'_>, call: &mut Call, item: &Item, sent: &mut usize) -> Poll<Result<(), Failure>> {
    let text_len = item.text.len();
    loop {
        let bytes = if *sent < text_len {
            Some(item.batch.bytes(item.text.start + *sent, item.text.end))
        } else {
            item.batch.rest(item.buffers.clone(), item.data, *sent - text_len)
        };
        // The host has ended, and its memory with it.
        let Some(bytes) = bytes else { return Poll::Pending };
        if bytes.is_empty() {
            return Poll::Ready(Ok(()));
        }
        match ready!(call.poll_send(cx, bytes)) {
            Ok(count) => *sent += count,
            Err(reason) => return Poll::Ready(Err((failure::REFUSED, reason))),
        }
    }
}
