mod begin;

use std::rc::Rc;
use std::task::{Context, Poll, ready};

use leat_message::{Exchange, Fault, Fields, Name, Piece, Reason};
use leat_stream::Timer;

use crate::exchanges::Item;
use crate::lane::{Lane, Place, ROOM_BYTES_MIN};
use crate::memory::Slab;
use crate::out::{Draft, Sink};
use crate::record::{BODY_BYTES_MIN, END_WORDS, FIELD_WORDS, SLAB_BYTES, cut, data, from_script, reply, to_script};
use crate::script::Plan;
use begin::Long;

/// How long JavaScript may take to confirm that it has heard of a client's end, in milliseconds.
const LAST_WORD_MS: u64 = 30_000;
/// How long JavaScript may take nothing of a request whose reply has ended, in milliseconds: a stream that nobody reads is
/// not its client's to keep.
const UNREAD_MS: u64 = 30_000;
/// Least room that a piece of a body is worth a record.
const PIECE_BYTES_MIN: usize = 1024;
/// Words of a piece of a body before its bytes.
const DATA_WORDS: usize = 5;

/// One exchange between a client and JavaScript, in both directions.
pub(crate) struct Flow {
    lane: Rc<Lane>,
    connection: u32,
    plan: Plan,
    id: Option<u32>,
    input: Input,
    output: Output,
    /// The record from JavaScript that is being written, and how many of its bytes were.
    item: Option<(Item, usize)>,
    /// Why nobody waits any more, once JavaScript was told.
    gone: Option<Reason>,
    /// Whether something was written that may still lie in the connection's buffer.
    unflushed: bool,
    /// Whether the request announced a body that is worth slabs of its own.
    bulk: bool,
    /// Whether there is more to write once the client's direction had its turn.
    again: bool,
    /// Where this exchange waits for room.
    place: Option<Place>,
    /// What is left of a request that is longer than a slab.
    long: Option<Box<Long>>,
    /// Whether something waits until the timer is due: the request for room, or its rest for somebody to take it.
    waiting: bool,
    timer: Timer,
}

/// The direction from the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Input {
    /// The request itself was not given to JavaScript yet.
    Head,
    /// A body, or opaque bytes, may follow.
    Body,
    /// Everything was given.
    Done,
}

/// The direction to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Output {
    /// Nothing of the final reply was written.
    Waiting,
    /// The head was.
    Body,
    /// All of it was; JavaScript still reads the request.
    Ended,
    /// Opaque bytes.
    Opaque,
    /// Opaque, and our direction was ended.
    OpaqueEnded,
}

impl Flow {
    pub(crate) fn new<X: Exchange>(lane: Rc<Lane>, connection: u32, plan: Plan, exchange: &mut X) -> Self {
        let output = match plan {
            Plan::Request | Plan::Begun(_) | Plan::Heard(_) => {
                exchange.waive_continue();
                Output::Waiting
            }
            Plan::Refused(_) => Output::Opaque,
        };
        let mut flow = Self {
            lane,
            connection,
            plan,
            id: None,
            input: Input::Head,
            output,
            item: None,
            gone: None,
            unflushed: false,
            bulk: false,
            again: false,
            place: None,
            long: None,
            waiting: false,
            timer: Timer::default(),
        };
        if let Plan::Begun(id) | Plan::Heard(id) = plan {
            flow.id = Some(id);
            flow.admit(exchange.request());
        }
        if let Plan::Heard(_) = plan {
            flow.input = Input::Done;
        }
        flow
    }

    pub(crate) fn poll<X: Exchange>(&mut self, cx: &mut Context<'_>, exchange: &mut X) -> Poll<Result<(), Fault>> {
        self.lane.heed();
        if self.lane.is_closed() {
            return self.poll_closed(cx, exchange).map_err(Fault::from);
        }
        let id = match self.id {
            Some(id) if self.long.is_none() => id,
            _ => match ready!(self.poll_begin(cx, exchange)) {
                Ok(id) => id,
                Err(reason) => return Poll::Ready(Err(self.id.map_or(reason.into(), |id| self.gone(id, reason)))),
            },
        };
        loop {
            let polled = self.poll_both(cx, exchange, id);
            if polled.is_ready() || !std::mem::take(&mut self.again) {
                return polled;
            }
        }
    }

    fn poll_both<X: Exchange>(&mut self, cx: &mut Context<'_>, exchange: &mut X, id: u32) -> Poll<Result<(), Fault>> {
        match self.poll_out(cx, exchange, id) {
            Poll::Ready(Ok(())) => return Poll::Ready(Ok(())),
            Poll::Ready(Err(reason)) => return Poll::Ready(Err(self.gone(id, reason))),
            Poll::Pending => {}
        }
        match self.poll_in(cx, exchange, id) {
            Poll::Ready(Ok(())) => return Poll::Ready(Ok(())),
            Poll::Ready(Err(reason)) if self.output == Output::Ended => {
                self.leave_rest(exchange, id, reason);
                return Poll::Ready(Ok(()));
            }
            Poll::Ready(Err(reason)) if self.input == Input::Body && self.faults(exchange, id, reason) => {
                cx.waker().wake_by_ref();
            }
            Poll::Ready(Err(reason)) => return Poll::Ready(Err(self.gone(id, reason))),
            Poll::Pending => {}
        }
        self.listen(cx, id);
        Poll::Pending
    }

    /// The host has ended: what it had said still goes out; what it had not is answered by the engine, or cut off.
    fn poll_closed<X: Exchange>(&mut self, cx: &mut Context<'_>, exchange: &mut X) -> Poll<Result<(), Reason>> {
        let Some(id) = self.id else { return Poll::Ready(Err(Reason::LaneGone)) };
        match self.poll_out(cx, exchange, id) {
            Poll::Pending if self.output == Output::Ended => Poll::Ready(Ok(())),
            Poll::Pending if self.item.is_none() => Poll::Ready(Err(Reason::LaneGone)),
            outcome => outcome,
        }
    }

    /// Asks to be woken by the next record from JavaScript.
    fn listen(&self, cx: &Context<'_>, id: u32) {
        self.lane.with_mail(id, |mail| {
            if !mail.items.is_empty() && self.item.is_none() {
                cx.waker().wake_by_ref();
            }
            mail.listen(cx.waker());
        });
    }

    /// A body that breaks off or breaks the rules, with no reply begun: JavaScript may answer with bytes of its own, as to a
    /// head that does. Says whether that is possible.
    fn faults<X: Exchange>(&mut self, exchange: &mut X, id: u32, reason: Reason) -> bool {
        if self.output != Output::Waiting || reason.status() == 0 || !exchange.take_over() {
            return false;
        }
        self.plan = Plan::Refused(reason);
        (self.input, self.output) = (Input::Done, Output::Opaque);
        let words = [id, self.connection, reason as u32 + 1, 0, 0];
        self.lane.note(to_script::FAULT, 0, &words, &[]);
        true
    }

    /// What is left of a request does not come to JavaScript, whose reply is whole all the same.
    fn leave_rest<X: Exchange>(&self, exchange: &mut X, id: u32, reason: Reason) {
        self.gone(id, reason);
        // A client that has its reply may go.
        if reason.status() != 0 {
            exchange.record().reason = Some(reason);
        }
    }

    fn gone(&self, id: u32, reason: Reason) -> Fault {
        if self.gone.is_some() {
            return reason.into();
        }
        self.lane.note(to_script::GONE, 0, &[id, reason as u32 + 1], &[]);
        reason.into()
    }

    /// Writes what JavaScript has sent. Ready once the reply is complete.
    fn poll_out<X: Exchange>(&mut self, cx: &mut Context<'_>, exchange: &mut X, id: u32) -> Poll<Result<(), Reason>> {
        loop {
            let (item, sent) = match self.item.take() {
                Some(item) => item,
                None => match self.lane.with_mail(id, |mail| mail.items.pop_front()).flatten() {
                    // Nobody wants the rest of the request any more.
                    Some(Item { kind: from_script::END | from_script::ABORT, .. }) if self.output == Output::Ended => {
                        return Poll::Ready(Ok(()));
                    }
                    Some(item) => {
                        if item.kind == from_script::ABORT {
                            if item.flags & cut::RESET != 0 {
                                exchange.reset();
                            }
                            // What was said before it still goes out, as far as the client takes it at once.
                            let _ = exchange.poll_flush(cx);
                        }
                        match self.begin_item(exchange, &item) {
                            Ok(sent) => (item, sent),
                            Err(reason) => return Poll::Ready(Err(reason)),
                        }
                    }
                    // Whatever was written leaves now; the exchange goes on.
                    None => {
                        if self.unflushed {
                            ready!(exchange.poll_flush(cx))?;
                            self.unflushed = false;
                        }
                        return Poll::Pending;
                    }
                },
            };
            self.unflushed = true;
            let (sent, outcome) = send(cx, exchange, &item, sent);
            match outcome {
                Poll::Pending => {
                    self.item = Some((item, sent));
                    return Poll::Pending;
                }
                Poll::Ready(outcome) => outcome?,
            }
            if item.flags & reply::ACK != 0 {
                self.lane.note(to_script::WRITABLE, 0, &[id], &[]);
            }
            if self.ends(exchange, &item) {
                return Poll::Ready(Ok(()));
            }
            if item.kind == from_script::OPAQUE {
                // What the client has sent already is told before anything that JavaScript said after taking over.
                self.again = true;
                return Poll::Pending;
            }
        }
    }

    /// Does what a record says before any of its bytes is written; says how many of these that has taken. `Err` where the
    /// record has no place at this point of the reply, which would be a bug of the host.
    fn begin_item<X: Exchange>(&mut self, exchange: &mut X, item: &Item) -> Result<usize, Reason> {
        let head = item.batch.bytes(item.text.start, item.text.start + item.head_len);
        match (item.kind, self.output) {
            (from_script::HEAD, Output::Waiting) if item.flags & reply::INTERIM != 0 => {
                exchange.interim_verbatim(item.status, head);
            }
            // Too late: the final head was written.
            (from_script::HEAD, _) if item.flags & reply::INTERIM != 0 => {}
            (from_script::HEAD, Output::Waiting) => {
                // Whether the connection goes on is said by the record that ends the reply.
                if item.flags & reply::END != 0 {
                    exchange.keep_alive(item.flags & reply::KEEP_ALIVE != 0);
                }
                exchange.verbatim(item.status, head);
                self.output = Output::Body;
                return Ok(item.head_len);
            }
            // A reply that met, on its way here, the end of the request it belongs to: raw bytes by now.
            (from_script::HEAD, Output::Opaque) => {}
            (from_script::OPAQUE, Output::Waiting | Output::Body) => {
                if !exchange.take_over() {
                    return Err(Reason::UpgradeInvalid);
                }
                self.output = Output::Opaque;
                self.input = Input::Body;
            }
            (from_script::DATA | from_script::END, Output::Body | Output::Opaque) => {}
            // It asks only when all is taken.
            (from_script::DATA, Output::Ended) if item.is_empty() => {}
            // Of both sides that may end a tunnel, one is enough.
            (from_script::END, Output::OpaqueEnded) | (from_script::OPAQUE, Output::Opaque) => {}
            // What has no head can't be ended: it is cut off.
            (from_script::ABORT, _) | (from_script::END, Output::Waiting) => return Err(Reason::LaneAborted),
            _ => return Err(Reason::HandlerFailed),
        }
        Ok(0)
    }

    /// Ends the reply where a record says so; says whether the exchange is over.
    fn ends<X: Exchange>(&mut self, exchange: &mut X, item: &Item) -> bool {
        let ends = item.kind == from_script::END || item.flags & reply::END != 0;
        match self.output {
            _ if !ends || item.flags & reply::INTERIM != 0 => false,
            Output::Opaque => {
                exchange.end(None);
                self.output = Output::OpaqueEnded;
                // A refusal ends with our last word; the client of a tunnel may still have something to say.
                matches!(self.plan, Plan::Refused(_)) || self.input == Input::Done
            }
            Output::OpaqueEnded => self.input == Input::Done,
            Output::Waiting | Output::Ended => false,
            Output::Body => {
                exchange.keep_alive(item.flags & reply::KEEP_ALIVE != 0);
                let trailers = if item.kind == from_script::END { trailers_of(item) } else { Vec::new() };
                let text = item.batch.bytes(item.text.start, item.text.end);
                exchange.end((!trailers.is_empty()).then(|| Fields::new(text, &trailers)));
                if item.flags & reply::READS_ON == 0 || self.input == Input::Done {
                    return true;
                }
                self.output = Output::Ended;
                self.waiting = false;
                if !exchange.reads_on()
                    && let Some(id) = self.id
                {
                    // It waits for the request's end, which it would not hear of.
                    self.gone(id, Reason::HandlerFailed);
                    return true;
                }
                false
            }
        }
    }

    /// Gives body bytes to JavaScript. Ready once an opaque exchange is over, or with what went wrong.
    fn poll_in<X: Exchange>(&mut self, cx: &mut Context<'_>, exchange: &mut X, id: u32) -> Poll<Result<(), Reason>> {
        while self.input == Input::Body {
            let credit = self.lane.with_mail(id, |mail| mail.credit).unwrap_or(0);
            if self.output == Output::Ended
                && let Poll::Ready(reason) = self.poll_unread(cx, exchange, credit)
            {
                return Poll::Ready(Err(reason));
            }
            if credit == 0 {
                return Poll::Pending;
            }
            let room = self.lane.room(PIECE_BYTES_MIN);
            if room < ROOM_BYTES_MIN {
                self.lane.wait_for_room(cx.waker(), &mut self.place);
                return Poll::Pending;
            }
            let opaque = matches!(self.output, Output::Opaque | Output::OpaqueEnded);
            if self.bulk
                && !opaque
                && let Some((slab, number)) = self.lane.take_body()
            {
                if ready!(self.poll_read_own(cx, exchange, id, credit, slab, number))? {
                    ready!(self.poll_end_input(cx, exchange, id));
                }
                continue;
            }
            match ready!(exchange.poll_body(cx))? {
                Piece::Data(bytes) => {
                    let bytes = bytes.get(..credit).unwrap_or(bytes);
                    let own = if bytes.len() >= BODY_BYTES_MIN { self.lane.take_body() } else { None };
                    if let Some((mut slab, number)) = own {
                        let count = Piece::Data(bytes).copy_to(slab.room(0, credit));
                        exchange.consume(count);
                        self.write_own(id, number, count);
                    } else {
                        let count = self.write_piece(id, bytes, room);
                        exchange.consume(count);
                        self.lane.with_mail(id, |mail| mail.credit = mail.credit.saturating_sub(count));
                    }
                }
                Piece::End if opaque => {
                    self.input = Input::Done;
                    self.lane.note(to_script::EOF, 0, &[id], &[]);
                    if self.output == Output::OpaqueEnded {
                        return Poll::Ready(Ok(()));
                    }
                }
                Piece::End => ready!(self.poll_end_input(cx, exchange, id)),
            }
        }
        match self.output {
            Output::Opaque | Output::OpaqueEnded => return Poll::Pending,
            Output::Ended => return Poll::Ready(Ok(())),
            Output::Waiting | Output::Body => {}
        }
        let reason = match self.gone {
            Some(reason) => reason,
            None => {
                let reason = ready!(exchange.poll_gone(cx));
                self.gone = Some(reason);
                self.lane.note(to_script::GONE, 0, &[id, reason as u32 + 1], &[]);
                self.timer.set_after(LAST_WORD_MS);
                reason
            }
        };
        // What JavaScript has said before it heard of this still goes out; then it says that it has heard.
        self.timer.poll_due(cx).map(|()| Err(reason))
    }

    /// Looks after a request whose reply has ended while nobody takes what is left of it, which no deadline of the client's
    /// does. Ready with why nobody will.
    fn poll_unread<X: Exchange>(&mut self, cx: &mut Context<'_>, exchange: &mut X, credit: usize) -> Poll<Reason> {
        if credit > 0 {
            self.waiting = false;
            return Poll::Pending;
        }
        if let Poll::Ready(reason) = exchange.poll_gone(cx) {
            return Poll::Ready(reason);
        }
        if !std::mem::replace(&mut self.waiting, true) {
            self.timer.set_after(UNREAD_MS);
        }
        self.timer.poll_due(cx).map(|()| Reason::LaneAborted)
    }

    /// Writes a piece of a body into the stream of records; says how many bytes of it there was room for.
    fn write_piece(&self, id: u32, bytes: &[u8], room: usize) -> usize {
        // Both are multiples of four, so what fits does so with its padding.
        let bytes = bytes.get(..room - DATA_WORDS * 4).unwrap_or(bytes);
        self.lane.write(to_script::DATA, 0, DATA_WORDS, bytes.len(), |draft, bytes_at| {
            draft.word(id);
            draft.word(bytes_at);
            draft.word(bytes.len() as u32);
            draft.bytes(bytes);
        });
        bytes.len()
    }

    /// Reads as much of the body as is there to where JavaScript will have it, and tells of it. Ready with whether that was the
    /// end.
    fn poll_read_own<X: Exchange>(
        &self,
        cx: &mut Context<'_>,
        exchange: &mut X,
        id: u32,
        credit: usize,
        mut slab: Slab,
        number: u32,
    ) -> Poll<Result<bool, Reason>> {
        let mut filled = 0;
        let outcome = loop {
            let room = slab.room(filled, credit - filled);
            if room.is_empty() {
                break Poll::Ready(Ok(false));
            }
            match exchange.poll_read(cx, room) {
                Poll::Ready(Ok(0)) => break Poll::Ready(Ok(true)),
                Poll::Ready(Ok(count)) => filled += count,
                Poll::Ready(Err(reason)) => break Poll::Ready(Err(reason)),
                Poll::Pending => break Poll::Pending,
            }
        };
        if filled == 0 {
            self.lane.put_body_back(slab, number);
        } else {
            self.write_own(id, number, filled);
        }
        outcome
    }

    /// Tells JavaScript that a slab of its own holds a piece of a body.
    fn write_own(&self, id: u32, number: u32, count: usize) {
        self.lane.with_mail(id, |mail| mail.credit = mail.credit.saturating_sub(count));
        self.lane.write(to_script::DATA, data::OWN_SLAB, DATA_WORDS, 0, |draft, _| {
            draft.word(id);
            draft.word(number);
            draft.word(count as u32);
        });
    }

    /// Tells JavaScript that the body is complete, once there is room for its trailers.
    fn poll_end_input<X: Exchange>(&mut self, cx: &Context<'_>, exchange: &X, id: u32) -> Poll<()> {
        if !self.write_end(exchange, id) {
            self.lane.wait_for_room(cx.waker(), &mut self.place);
            return Poll::Pending;
        }
        self.input = Input::Done;
        Poll::Ready(())
    }

    /// Writes the end of the body with its trailers; says whether there was room for it.
    fn write_end<X: Exchange>(&self, exchange: &X, id: u32) -> bool {
        let trailers = exchange.trailers().unwrap_or(Fields::new(&[], &[]));
        let text_len: usize = trailers.iter().map(|(_, name, value)| name.len() + value.len()).sum();
        let words = END_WORDS + trailers.len() * FIELD_WORDS;
        let wanted = words * 4 + text_len.next_multiple_of(4);
        if trailers.is_empty() || wanted > SLAB_BYTES {
            self.lane.note(to_script::END, 0, &[id, 0], &[]);
            return true;
        }
        if self.lane.room(wanted) < wanted {
            return false;
        }
        self.lane.write(to_script::END, 0, words, text_len, |draft, text_at| {
            draft.word(id);
            draft.word(trailers.len() as u32);
            write_spans(draft, trailers, text_at);
        });
        true
    }
}

impl Drop for Flow {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            self.lane.close_exchange(id);
        }
    }
}

fn write_spans(draft: &mut Draft<'_>, fields: Fields<'_>, text_at: u32) {
    let mut at = text_at;
    for (id, name, value) in fields {
        draft.word(at);
        draft.word(name.len() as u32 | (id as u32) << 16);
        at += name.len() as u32;
        draft.word(at);
        draft.word(value.len() as u32);
        at += value.len() as u32;
    }
    for (_, name, value) in fields {
        draft.bytes(name);
        draft.bytes(value);
    }
}

/// Sends a record's bytes from `sent` on, text before data. Copies nothing that the connection does not.
fn send<X: Exchange>(
    cx: &mut Context<'_>,
    exchange: &mut X,
    item: &Item,
    mut sent: usize,
) -> (usize, Poll<Result<(), Reason>>) {
    if item.flags & reply::INTERIM != 0 || item.kind == from_script::END && item.status != 0 {
        return (sent, Poll::Ready(Ok(())));
    }
    let text_len = item.text.len();
    loop {
        let bytes = if sent < text_len {
            Some(item.batch.bytes(item.text.start + sent, item.text.end))
        } else {
            item.batch.rest(item.buffers.clone(), item.data, sent - text_len)
        };
        let Some(bytes) = bytes else { return (sent, Poll::Ready(Err(Reason::LaneGone))) };
        if bytes.is_empty() {
            return (sent, Poll::Ready(Ok(())));
        }
        match exchange.poll_send(cx, bytes) {
            Poll::Ready(Ok(count)) => sent += count,
            Poll::Ready(Err(reason)) => return (sent, Poll::Ready(Err(reason))),
            Poll::Pending => return (sent, Poll::Pending),
        }
    }
}

/// The trailers of an HTTP/2 reply, which came as lines.
fn trailers_of(item: &Item) -> Vec<leat_message::Field> {
    use leat_message::{Field, Span};
    if item.status == 0 {
        return Vec::new();
    }
    let text = item.batch.bytes(item.text.start, item.text.end);
    let mut fields = Vec::new();
    let mut at = 0;
    for line in text.split(|&byte| byte == b'\n') {
        let end = at + line.strip_suffix(b"\r").unwrap_or(line).len();
        if let Some(colon) = line.iter().position(|&byte| byte == b':') {
            let spaces = line.iter().skip(colon + 1).take_while(|&&byte| byte == b' ').count();
            let name = Span::new(at, at + colon);
            let value = Span::new((at + colon + 1 + spaces).min(end), end);
            fields.push(Field { id: Name::from_bytes(name.of(text)), name, value });
        }
        at += line.len() + 1;
    }
    fields
}
