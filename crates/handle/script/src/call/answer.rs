//! A response on its way to the host.

use std::rc::Rc;
use std::task::{Context, Poll, ready};

use leat_dial::Call;
use leat_message::{Length, Piece, Reason, ResponseHead, Span};

use super::Failure;
use crate::lane::{Lane, Place, ROOM_BYTES_MIN};
use crate::out::Sink;
use crate::record::{BODY_BYTES_MIN, FIELD_WORDS, RESPONSE_WORDS, data, failure, response, to_script};

/// Bodies up to this length go with their head, in one record.
const INLINE_BYTES_MAX: usize = 16 * 1024;
/// Least room that a piece of a body is worth a record.
const PIECE_BYTES_MIN: usize = 1024;
/// Words of a piece of a body before its bytes.
const DATA_WORDS: usize = 5;

/// How far a response has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// Nothing of it was given to the host.
    Head,
    /// Its head was.
    Body,
}

impl Answer {
    /// Gives the response to the host. Ready once it is complete.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        lane: &Rc<Lane>,
        id: u32,
        call: &mut Call,
        place: &mut Option<Place>,
    ) -> Poll<Result<(), Failure>> {
        if *self == Self::Head {
            let status = loop {
                match ready!(call.poll_response(cx)) {
                    Ok(101) => return Poll::Ready(Err((failure::PROTOCOL, Reason::UpstreamUpgrade))),
                    Ok(100..200) => {}
                    Ok(status) => break status,
                    Err(reason) => return Poll::Ready(Err(failure_of(reason))),
                }
            };
            if ready!(poll_head(cx, lane, id, call, status, place)) {
                // Known to be the end: what is left is to make sure that the connection is in order for the next one.
                let _ = call.poll_body(cx);
                return Poll::Ready(Ok(()));
            }
            *self = Self::Body;
        }
        poll_body(cx, lane, id, call, place)
    }
}

/// Writes the head, with the body where it is there and short. Ready with whether that was all.
fn poll_head(
    cx: &mut Context<'_>,
    lane: &Rc<Lane>,
    id: u32,
    call: &mut Call,
    status: u16,
    place: &mut Option<Place>,
) -> Poll<bool> {
    let (body_len, is_whole) = match call.response().length() {
        Length::None | Length::Known(0) => (0, true),
        Length::Known(count) if count <= INLINE_BYTES_MAX as u64 => match call.poll_body(cx) {
            Poll::Ready(Ok(Piece::Data(bytes))) if bytes.len() as u64 == count => (bytes.len(), true),
            _ => (0, false),
        },
        _ => (0, false),
    };
    let head = call.response();
    let (span, fields_len) = (text_of(head), head.fields().len());
    let words = RESPONSE_WORDS + fields_len * FIELD_WORDS;
    let bytes_len = span.len() + body_len;
    let wanted = words * 4 + bytes_len.next_multiple_of(4);
    if lane.room(wanted) < wanted {
        lane.wait_for_room(cx.waker(), place);
        return Poll::Pending;
    }
    let flags = if is_whole { response::WHOLE } else { 0 };
    lane.write(to_script::RESPONSE, flags, words, bytes_len, |draft, at| {
        let head = call.response();
        let body_at = at + span.len() as u32;
        let counts = u32::from(status) | (fields_len as u32) << 16;
        [id, counts, at, span.len() as u32, body_at, body_len as u32].into_iter().for_each(|word| draft.word(word));
        for field in &head.lines().fields {
            draft.word(field.name.start.wrapping_sub(span.start));
            draft.word(field.name.len() as u32 | (field.id as u32) << 16);
            draft.word(field.value.start.wrapping_sub(span.start));
            draft.word(field.value.len() as u32);
        }
        draft.bytes(span.of(head.bytes()));
        // The same that was lent above.
        if body_len > 0
            && let Poll::Ready(Ok(Piece::Data(bytes))) = call.poll_body(cx)
        {
            draft.bytes(bytes);
        }
    });
    call.consume(body_len);
    Poll::Ready(is_whole)
}

/// From the first field's name to the end of the last one's value.
fn text_of(head: ResponseHead<'_>) -> Span {
    let fields = &head.lines().fields;
    match (fields.first(), fields.last()) {
        (Some(first), Some(last)) => Span { start: first.name.start, end: last.value.end.max(first.name.start) },
        _ => Span::default(),
    }
}

/// Gives the body to the host as fast as it asks for it.
fn poll_body(
    cx: &mut Context<'_>,
    lane: &Rc<Lane>,
    id: u32,
    call: &mut Call,
    place: &mut Option<Place>,
) -> Poll<Result<(), Failure>> {
    loop {
        let credit = lane.with_call(id, |mail| mail.credit).unwrap_or(0);
        if credit == 0 {
            return Poll::Pending;
        }
        let room = lane.room(PIECE_BYTES_MIN);
        if room < ROOM_BYTES_MIN {
            lane.wait_for_room(cx.waker(), place);
            return Poll::Pending;
        }
        let bytes = match ready!(call.poll_body(cx)) {
            Ok(Piece::Data(bytes)) => bytes.get(..credit).unwrap_or(bytes),
            Ok(Piece::End) => {
                lane.note(to_script::CALL_END, 0, &[id], &[]);
                return Poll::Ready(Ok(()));
            }
            Err(reason) => return Poll::Ready(Err(failure_of(reason))),
        };
        let own = if bytes.len() >= BODY_BYTES_MIN { lane.take_body() } else { None };
        let count = match own {
            Some((mut slab, number)) => {
                let count = Piece::Data(bytes).copy_to(slab.room(0, credit));
                write_piece(lane, data::OWN_SLAB, [id, number, count as u32], &[]);
                count
            }
            None => {
                // Both are multiples of four, so what fits does so with its padding.
                let bytes = bytes.get(..room - DATA_WORDS * 4).unwrap_or(bytes);
                write_piece(lane, 0, [id, 0, bytes.len() as u32], bytes);
                bytes.len()
            }
        };
        call.consume(count);
        lane.with_call(id, |mail| mail.credit = mail.credit.saturating_sub(count));
    }
}

/// Writes a piece of a body: a slab's number in `words`, or the offset of the bytes that are in the record.
fn write_piece(lane: &Rc<Lane>, flags: u32, [id, number, count]: [u32; 3], bytes: &[u8]) {
    lane.write(to_script::CALL_DATA, flags, DATA_WORDS, bytes.len(), |draft, bytes_at| {
        draft.word(id);
        draft.word(if flags & data::OWN_SLAB != 0 { number } else { bytes_at });
        draft.word(count);
        draft.bytes(bytes);
    });
}

/// What JavaScript is told of a connection that fails once the request is on its way.
fn failure_of(reason: Reason) -> Failure {
    let class = match reason {
        Reason::UpstreamInvalid | Reason::UpstreamHeadBytes | Reason::UpstreamUpgrade => failure::PROTOCOL,
        Reason::HandlerFailed => failure::REFUSED,
        _ => failure::BROKEN,
    };
    (class, reason)
}
