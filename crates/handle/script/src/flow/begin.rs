//! How a request comes to JavaScript: in one record, or in parts where it is longer than a slab.

use std::task::{Context, Poll};

use leat_message::{Exchange, Head, Length, Method, Piece, Reason, Version};

use super::{Flow, Input, PIECE_BYTES_MIN};
use crate::out::Sink;
use crate::record::{BODY_BYTES_MIN, CREDIT_BYTES, FIELD_WORDS, REQUEST_WORDS, SLAB_BYTES, request, to_script};
use crate::script::Plan;

/// How long a request waits for room in a lane whose host does not come, in milliseconds.
const BLOCKED_MS: u64 = 30_000;
/// Words of a part of a long record before its bytes.
const PART_WORDS: usize = 7;
/// Longest name of a field that its word can tell.
const NAME_BYTES_MAX: usize = 0xffff;

/// A record that goes out in parts.
pub(super) struct Long {
    record: Vec<u8>,
    sent: usize,
}

impl Flow {
    /// Gives the request to JavaScript, once there is room for it.
    pub(super) fn poll_begin<X: Exchange>(
        &mut self,
        cx: &mut Context<'_>,
        exchange: &mut X,
    ) -> Poll<Result<u32, Reason>> {
        if let Some(id) = self.id {
            return self.poll_parts(cx, exchange, id);
        }
        let head = exchange.request();
        let wanted = match self.plan {
            Plan::Request => {
                let lines = head.lines();
                let words = REQUEST_WORDS + lines.fields.len() * FIELD_WORDS;
                words * 4 + text_of(head).len().next_multiple_of(4)
            }
            Plan::Refused(_) | Plan::Begun(_) | Plan::Heard(_) => PIECE_BYTES_MIN,
        };
        if wanted > SLAB_BYTES && head.lines().fields.iter().any(|field| field.name.len() > NAME_BYTES_MAX) {
            return Poll::Ready(Err(Reason::LimitFieldBytes));
        }
        if wanted <= SLAB_BYTES && self.lane.room(wanted) < wanted {
            return self.poll_room(cx, exchange).map(Err);
        }
        // JavaScript says first whether it is a body, or the first bytes of another protocol.
        let credit = if head.lines().upgrade && has_body(head) { 0 } else { CREDIT_BYTES };
        let Some(id) = self.lane.open_exchange(credit) else {
            return Poll::Ready(Err(Reason::LaneBlocked));
        };
        self.id = Some(id);
        match self.plan {
            Plan::Request if wanted > SLAB_BYTES => {
                self.put_together(exchange.request(), id, wanted);
                return self.poll_parts(cx, exchange, id);
            }
            Plan::Request => self.write_request(exchange.request(), id),
            Plan::Refused(reason) => ready_fault(self, cx, exchange, id, reason),
            // They have a number from the start, so they do not come here.
            Plan::Begun(_) | Plan::Heard(_) => {}
        }
        Poll::Ready(Ok(id))
    }

    /// Waits for room for a request, which may be in vain.
    fn poll_room<X: Exchange>(&mut self, cx: &mut Context<'_>, exchange: &mut X) -> Poll<Reason> {
        self.lane.wait_for_room(cx.waker(), &mut self.place);
        if let Poll::Ready(reason) = exchange.poll_gone(cx) {
            return Poll::Ready(reason);
        }
        if !self.waiting {
            self.waiting = true;
            self.timer.set_after(BLOCKED_MS);
        }
        self.timer.poll_due(cx).map(|()| Reason::LaneBlocked)
    }

    /// Gives the parts of a long request to JavaScript, as far as there is room for them.
    fn poll_parts<X: Exchange>(
        &mut self,
        cx: &mut Context<'_>,
        exchange: &mut X,
        id: u32,
    ) -> Poll<Result<u32, Reason>> {
        while let Some(long) = &mut self.long {
            let left = long.record.get(long.sent..).unwrap_or_default();
            if left.is_empty() {
                self.long = None;
                break;
            }
            let wanted = (PART_WORDS * 4 + left.len()).min(PIECE_BYTES_MIN);
            let room = self.lane.room(wanted);
            if room < wanted {
                return self.poll_room(cx, exchange).map(Err);
            }
            let part = left.get(..room - PART_WORDS * 4).unwrap_or(left);
            let (total, at) = (long.record.len() as u32, long.sent as u32);
            self.lane.write(to_script::PART, 0, PART_WORDS, part.len(), |draft, bytes_at| {
                [id, self.connection, total, at, bytes_at].into_iter().for_each(|word| draft.word(word));
                draft.bytes(part);
            });
            long.sent += part.len();
        }
        Poll::Ready(Ok(id))
    }

    /// Puts a request together that is longer than a slab; its offsets count from its own start.
    fn put_together(&mut self, head: Head<'_>, id: u32, len: usize) {
        let flags = self.admit(head);
        let words = REQUEST_WORDS + head.lines().fields.len() * FIELD_WORDS;
        let mut record = Vec::with_capacity(len);
        record.word(to_script::REQUEST | flags << 8);
        record.word((len / 4) as u32);
        self.fill_request(head, id, &mut record, (words * 4) as u32);
        record.resize(len, 0);
        self.long = Some(Box::new(Long { record, sent: 0 }));
    }

    fn write_request(&mut self, head: Head<'_>, id: u32) {
        let flags = self.admit(head);
        let words = REQUEST_WORDS + head.lines().fields.len() * FIELD_WORDS;
        self.lane.write(to_script::REQUEST, flags, words, text_of(head).len(), |draft, text_at| {
            self.fill_request(head, id, draft, text_at);
        });
    }

    /// Begins with a request; gives the flags of its record.
    pub(super) fn admit(&mut self, head: Head<'_>) -> u32 {
        let lines = head.lines();
        let has_body = has_body(head);
        self.input = if has_body { Input::Body } else { Input::Done };
        self.bulk = matches!(lines.length, Length::Known(count) if count >= BODY_BYTES_MIN as u64);
        let mut flags = 0;
        for (set, flag) in [
            (lines.keep_alive, request::KEEP_ALIVE),
            (has_body, request::HAS_BODY),
            (lines.upgrade || lines.method == Method::Connect, request::UPGRADE),
            (lines.version == Version::Http2, request::H2),
        ] {
            flags |= if set { flag } else { 0 };
        }
        crate::shared::add(&self.lane.counts().requests, 1);
        flags
    }

    /// Writes what a request's record has behind its first two words.
    #[inline]
    fn fill_request(&self, head: Head<'_>, id: u32, draft: &mut impl Sink, text_at: u32) {
        let lines = head.lines();
        let text = text_of(head);
        // Spans count from the start of the head's buffer; the text begins with the method.
        let at = text_at.wrapping_sub(lines.method_span.start);
        let method = match lines.method {
            Method::Other => 0,
            known => known as u32 + 1,
        };
        let minor = u32::from(lines.version == Version::Http11);
        let length = match lines.length {
            Length::Known(count) => u32::try_from(count).unwrap_or(u32::MAX),
            _ => u32::MAX,
        };
        draft.word(id);
        draft.word(self.connection);
        draft.word(method | (lines.fields.len() as u32) << 8 | minor << 24);
        draft.word(at.wrapping_add(lines.target.start));
        draft.word(lines.target.len() as u32);
        draft.word(text_at);
        draft.word(text.len() as u32);
        draft.word(length);
        for field in &lines.fields {
            draft.word(at.wrapping_add(field.name.start));
            draft.word(field.name.len() as u32 | (field.id as u32) << 16);
            draft.word(at.wrapping_add(field.value.start));
            draft.word(field.value.len() as u32);
        }
        draft.bytes(text);
    }
}

fn has_body(head: Head<'_>) -> bool {
    !matches!(head.lines().length, Length::None | Length::Known(0))
}

/// Tells JavaScript of bytes that are no request.
fn ready_fault<X: Exchange>(flow: &mut Flow, cx: &mut Context<'_>, exchange: &mut X, id: u32, reason: Reason) {
    flow.input = Input::Body;
    let bytes: &[u8] = match exchange.poll_body(cx) {
        Poll::Ready(Ok(Piece::Data(bytes))) => bytes,
        _ => &[],
    };
    let room = flow.lane.room(PIECE_BYTES_MIN).saturating_sub(7 * 4);
    let bytes = bytes.get(..room & !3).unwrap_or(bytes);
    let words = [id, flow.connection, reason as u32 + 1, 0, bytes.len() as u32];
    flow.lane.note(to_script::FAULT, 0, &words, bytes);
    let count = bytes.len();
    exchange.consume(count);
}

/// The head from its method on: empty lines before it are nobody's business.
fn text_of(head: Head<'_>) -> &[u8] {
    head.bytes().get(head.lines().method_span.start as usize..).unwrap_or_default()
}
