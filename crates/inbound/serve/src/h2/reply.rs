use std::cell::RefCell;
use std::task::{Context, Poll};

use leat_h2::{Code, FieldList, Key};
use leat_message::{Blame, Fields, Fixed, Length, Reason, Record, Reply, decimal};
use leat_stream::clock;

use super::field::push;
use super::link::{Direction, Link};

/// Body bytes gathered before they are given to the stream together with the head: until then it can be taken back.
pub(super) const GATHERED_BYTES_MAX: usize = 16 * 1024;

/// Rest of a body that is left to its stream: no task waits for the client's window, as none would for less than this in
/// the socket's buffer.
const LEFT_BYTES_MAX: usize = 1024;

/// Interim responses of one exchange; further ones are left out. They are hints, and are queued whatever the client reads.
const INTERIMS_MAX: u32 = 64;

/// Replies whose memory a core keeps for reuse.
const SPARE_MAX: usize = 64;

/// Memory that is kept of one of their buffers, in bytes.
const SPARE_BYTES_MAX: usize = 16 * 1024;

thread_local! {
    /// Emptied buffers of replies that are gone.
    static SPARE: RefCell<Vec<(FieldList, Vec<u8>)>> = const { RefCell::new(Vec::new()) };
}

/// How far a reply has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Waiting,
    Head,
    /// The head is complete; it leaves with the first body bytes, or at the next flush.
    HeadReady,
    Body,
    /// The reply was ended; its rest waits in the stream for the client's window.
    Ending,
    Done,
}

/// Turns one reply into the frames of one stream. Its end is that of the stream's exchange.
pub(super) struct H2Reply {
    pub(super) record: Record,
    pub(super) link: Link,
    pub(super) key: Key,
    status: u16,
    fields: FieldList,
    phase: Phase,
    /// Whether body bytes go nowhere (HEAD, 204, 304).
    pub(super) bodiless: bool,
    pub(super) head_request: bool,
    /// Body bytes that were announced and not taken yet; `None` where the length is not known.
    left: Option<u64>,
    /// Whether a body was given whole, so that nothing but the end can follow.
    whole: bool,
    /// Whether the handler formatted the head: then only its call ends the reply.
    verbatim: bool,
    date_seen: bool,
    length_seen: bool,
    /// Body bytes behind a head that has not left.
    gathered: Vec<u8>,
    interims: u32,
    /// The error code that the handler chose for a reply that is cut off.
    pub(super) reset_code: Option<u32>,
}

impl H2Reply {
    pub(super) fn new(link: Link, key: Key, head_request: bool) -> Self {
        let (fields, gathered) = SPARE.with_borrow_mut(Vec::pop).unwrap_or_default();
        Self {
            record: Record::default(),
            link,
            key,
            status: 200,
            fields,
            phase: Phase::Waiting,
            bodiless: false,
            head_request,
            left: None,
            whole: false,
            verbatim: false,
            date_seen: false,
            length_seen: false,
            gathered,
            interims: 0,
            reset_code: None,
        }
    }

    /// Whether everything was given to the stream.
    pub(super) fn is_done(&self) -> bool {
        self.phase == Phase::Done
    }

    /// Whether it was ended as it was announced; what the client's window has no room for may wait.
    pub(super) fn has_ended(&self) -> bool {
        matches!(self.phase, Phase::Ending | Phase::Done)
    }

    /// Whether a handler that returned now has given all of its reply: all announced bytes, if not the call to end it.
    pub(super) fn is_whole(&self) -> bool {
        match self.phase {
            Phase::Ending | Phase::Done => true,
            Phase::HeadReady | Phase::Body if self.verbatim => false,
            Phase::HeadReady | Phase::Body => self.bodiless || self.whole || self.left == Some(0),
            Phase::Waiting | Phase::Head => false,
        }
    }

    pub(super) fn head_sent(&self) -> bool {
        matches!(self.phase, Phase::Body | Phase::Ending | Phase::Done)
    }

    /// Takes back what was written of the reply; says whether that was possible.
    pub(super) fn take_back(&mut self) -> bool {
        if self.head_sent() {
            return false;
        }
        self.fields.clear();
        self.gathered.clear();
        self.left = None;
        self.whole = false;
        self.verbatim = false;
        self.date_seen = false;
        self.length_seen = false;
        self.bodiless = false;
        self.phase = Phase::Waiting;
        self.record.bytes_out = 0;
        true
    }

    /// Whether `count` more body bytes fit what was announced.
    pub(super) fn has_room_for(&self, count: usize) -> bool {
        matches!(self.phase, Phase::HeadReady | Phase::Body)
            && !self.whole
            && self.left.is_none_or(|left| count as u64 <= left)
    }

    /// Gathers body bytes behind the head.
    fn gather(&mut self, bytes: &[u8]) {
        self.left = self.left.map(|left| left.saturating_sub(bytes.len() as u64));
        self.gathered.extend_from_slice(bytes);
    }

    /// What was gathered is with the stream. The memory of a large body is let go: the stream may hold it for a while.
    fn clear_gathered(&mut self) {
        self.gathered.clear();
        if self.gathered.capacity() > SPARE_BYTES_MAX {
            self.gathered = Vec::new();
        }
    }

    /// Bytes that have not left for the output.
    pub(super) fn held_bytes(&self) -> usize {
        self.gathered.len() + self.link.look(|h2| h2.held_bytes(self.key))
    }

    /// Whether nothing of the final reply was written.
    pub(super) fn is_waiting(&self) -> bool {
        self.phase == Phase::Waiting
    }

    /// The fields of a head that is not there yet, to be filled by [`H2Reply::give_head`] or [`H2Reply::send_interim`].
    pub(super) fn fields(&mut self) -> &mut FieldList {
        &mut self.fields
    }

    /// Takes a whole final head, to whose fields nothing is added.
    pub(super) fn give_head(&mut self, status: u16, length: Length) {
        self.record.status = status;
        self.status = status;
        self.verbatim = true;
        self.open_body(length);
    }

    /// Whether there is a place for an interim response.
    pub(super) fn takes_interim(&self, status: u16) -> bool {
        self.is_waiting() && (100..200).contains(&status) && status != 101 && self.interims < INTERIMS_MAX
    }

    /// Sends an interim response with the fields that are there.
    pub(super) fn send_interim(&mut self, status: u16) {
        self.interims += 1;
        let (key, fields) = (self.key, &self.fields);
        // A stream that the client reset is noticed by the next call that can say so.
        self.link.act(|h2, out| h2.interim(key, status, fields, out));
        self.fields.clear();
    }

    pub(super) fn interim(&mut self, status: u16, fields: Fields<'_>) {
        if self.takes_interim(status) {
            fields.iter().for_each(|(_, name, value)| push(&mut self.fields, name, value));
            self.send_interim(status);
        }
    }

    /// Ready once the stream was reset, or its connection is gone.
    pub(super) fn poll_reset(&mut self, cx: &Context<'_>) -> Poll<Reason> {
        let (is_lost, is_reset) = self.link.look(|h2| (h2.is_lost(), h2.is_reset(self.key)));
        if is_lost || is_reset {
            return Poll::Ready(if is_lost { Reason::PeerReset } else { Reason::PeerCancelled });
        }
        self.link.wait(self.key, Direction::Receive, cx);
        Poll::Pending
    }

    /// Takes body bytes into the stream, as far as it has room; behind the head, which leaves with them. Ready with the
    /// number that it took.
    pub(super) fn poll_body(&mut self, cx: &Context<'_>, bytes: &[u8]) -> Poll<Result<usize, Reason>> {
        if self.phase == Phase::HeadReady {
            if self.gathered.len() + bytes.len() <= GATHERED_BYTES_MAX {
                self.gather(bytes);
                return Poll::Ready(Ok(bytes.len()));
            }
            self.send_gathered()?;
        }
        let key = self.key;
        let taken = self.link.act(|h2, out| {
            let taken = bytes.len().min(h2.room(key));
            h2.send(key, bytes.get(..taken).unwrap_or_default(), out).then_some(taken)
        });
        match taken {
            None => Poll::Ready(Err(Reason::PeerCancelled)),
            Some(0) => {
                self.link.wait(key, Direction::Send, cx);
                Poll::Pending
            }
            Some(taken) => {
                self.left = self.left.map(|left| left.saturating_sub(taken as u64));
                Poll::Ready(Ok(taken))
            }
        }
    }

    /// Gives everything gathered to the stream. Ready once that has given it to the output.
    pub(super) fn poll_push(&mut self, cx: &Context<'_>) -> Poll<Result<(), Reason>> {
        if self.phase == Phase::HeadReady {
            self.send_gathered()?;
        }
        let (is_reset, held) = self.link.look(|h2| (h2.is_reset(self.key), h2.held_bytes(self.key)));
        if is_reset && self.phase != Phase::Done {
            return Poll::Ready(Err(Reason::PeerCancelled));
        }
        if held > 0 {
            self.link.wait(self.key, Direction::Send, cx);
            return Poll::Pending;
        }
        if self.phase == Phase::Ending {
            self.phase = Phase::Done;
        }
        Poll::Ready(Ok(()))
    }

    /// The head leaves, with what was gathered behind it.
    fn send_gathered(&mut self) -> Result<(), Reason> {
        let (key, status, fields, gathered) = (self.key, self.status, &self.fields, &self.gathered);
        let sent = self.link.act(|h2, out| {
            h2.head(key, status, fields, false, out) && (gathered.is_empty() || h2.send(key, gathered, out))
        });
        self.fields.clear();
        self.clear_gathered();
        self.phase = Phase::Body;
        if sent { Ok(()) } else { Err(Reason::PeerCancelled) }
    }

    /// Ends the reply. What the client's window has no room for stays in the stream: [`H2Reply::poll_push`] waits for it,
    /// unless the reply is done now.
    ///
    /// # Errors
    /// `handler.failed` where announced bytes are missing, `peer.cancelled` where the stream is gone.
    pub(super) fn end(&mut self, trailers: Option<Fields<'_>>) -> Result<(), Reason> {
        if self.has_ended() {
            return Ok(());
        }
        if !matches!(self.phase, Phase::HeadReady | Phase::Body)
            || self.left.is_some_and(|left| left > 0) && !self.bodiless
        {
            return Err(Reason::HandlerFailed);
        }
        let trailers = trailers.filter(|trailers| !trailers.is_empty());
        let (key, status, gathered) = (self.key, self.status, &self.gathered);
        let has_head = self.phase == Phase::Body;
        let fields = &mut self.fields;
        let held = self.link.act(|h2, out| {
            if !has_head {
                let nothing_follows = gathered.is_empty() && trailers.is_none();
                if !h2.head(key, status, fields, nothing_follows, out) {
                    return None;
                }
                if nothing_follows {
                    return Some(0);
                }
            }
            fields.clear();
            if let Some(trailers) = trailers {
                trailers.iter().for_each(|(_, name, value)| push(fields, name, value));
            }
            let sent = gathered.is_empty() || h2.send(key, gathered, out);
            (sent && h2.end(key, trailers.is_some().then_some(fields), out)).then(|| h2.held_bytes(key))
        });
        self.fields.clear();
        self.clear_gathered();
        let held = held.ok_or(Reason::PeerCancelled)?;
        self.phase = if held > LEFT_BYTES_MAX { Phase::Ending } else { Phase::Done };
        Ok(())
    }

    /// Cuts the reply off, so that the client sees it incomplete.
    pub(super) fn cut(&mut self, reason: Reason) {
        let code = match (self.reset_code, reason.blame()) {
            (Some(code), _) => Code(code),
            (None, Blame::Peer) => Code::CANCEL,
            (None, _) => Code::INTERNAL_ERROR,
        };
        self.link.reset(self.key, code);
    }

    fn close_head(&mut self, length: Length) {
        if !self.date_seen {
            self.fields.push(b"date", &clock::date());
        }
        if let Length::Known(count) = length
            && self.status != 204
            && !self.length_seen
        {
            self.gathered.clear();
            decimal(count, &mut self.gathered);
            self.fields.push(b"content-length", &self.gathered);
            self.gathered.clear();
        }
        self.open_body(length);
    }

    /// The head is complete: what follows is a body of `length`.
    fn open_body(&mut self, length: Length) {
        self.bodiless = self.head_request || matches!(self.status, 204 | 304);
        self.left = match length {
            Length::Known(count) => Some(count),
            Length::None if !self.bodiless => Some(0),
            _ => None,
        };
        self.phase = Phase::HeadReady;
    }
}

impl Drop for H2Reply {
    fn drop(&mut self) {
        self.link.release(self.key);
        let (mut fields, mut gathered) = (std::mem::take(&mut self.fields), std::mem::take(&mut self.gathered));
        if fields.capacity() > SPARE_BYTES_MAX || gathered.capacity() > SPARE_BYTES_MAX {
            return;
        }
        fields.clear();
        gathered.clear();
        // The thread may be ending, its spares gone.
        let _ = SPARE.try_with(|spare| {
            if let Ok(mut spare) = spare.try_borrow_mut()
                && spare.len() < SPARE_MAX
            {
                spare.push((fields, gathered));
            }
        });
    }
}

impl Reply for H2Reply {
    fn status(&mut self, status: u16) {
        if self.phase != Phase::Waiting {
            return;
        }
        self.record.status = status;
        self.status = if (100..1_000).contains(&status) { status } else { 500 };
        self.phase = Phase::Head;
    }

    #[inline]
    fn field(&mut self, name: &[u8], value: &[u8]) {
        if self.phase != Phase::Head {
            return;
        }
        match name.len() {
            4 => self.date_seen |= name.eq_ignore_ascii_case(b"date"),
            14 => self.length_seen |= name.eq_ignore_ascii_case(b"content-length"),
            _ => {}
        }
        push(&mut self.fields, name, value);
    }

    fn length(&mut self, length: Length) {
        if self.phase == Phase::Head {
            self.close_head(length);
        }
    }

    fn body(&mut self, bytes: &[u8]) {
        if self.bodiless {
            return;
        }
        if self.has_room_for(bytes.len()) {
            self.record.bytes_out += bytes.len() as u64;
            self.gather(bytes);
            self.whole = self.left.is_none_or(|left| left == 0);
        } else {
            // More than was announced, or a second body: the reply stays unfinished, as the handler's failure.
            self.whole = false;
            self.left = Some(u64::MAX);
        }
    }

    fn body_with_trailers(&mut self, parts: &[&[u8]], trailers: Fields<'_>) {
        let count: usize = parts.iter().map(|part| part.len()).sum();
        if !self.bodiless && self.has_room_for(count) {
            self.record.bytes_out += count as u64;
            self.gathered.reserve(count);
            parts.iter().for_each(|part| self.gather(part));
        }
        // What fails is a reply that is not done, which is noticed where it is looked at.
        let _ = self.end(Some(trailers));
    }

    fn fixed(&mut self, reply: &Fixed) {
        self.status(reply.status());
        for (name, value) in reply.fields() {
            self.field(name.as_bytes(), value.as_bytes());
        }
        self.length(Length::whole(reply.status(), reply.body().len()));
        self.body(reply.body());
    }

    fn record(&mut self) -> &mut Record {
        &mut self.record
    }
}

#[cfg(test)]
mod tests {
    use leat_message::Limits;

    use super::*;

    #[test]
    fn a_large_body_that_waits_for_the_window_is_held_once() {
        let link = Link::new(&Limits::default());
        // SETTINGS with a window of 0, and a GET for `/` of `a`.
        let frames = b"\0\0\x06\x04\0\0\0\0\0\0\x04\0\0\0\0\0\0\x06\x01\x05\0\0\0\x01\x82\x86\x84\x01\x01a";
        let input = [leat_h2::PREFACE, frames].concat();
        assert_eq!(link.act(|h2, out| h2.receive(&input, 0, out)), Ok(input.len()));
        let (key, problem) = link.act(leat_h2::Connection::next_request).expect("a request");
        assert_eq!(problem, Ok(()));
        let mut reply = H2Reply::new(link, key, false);
        reply.status(200);
        reply.length(Length::Stream);
        reply.body(&[b'x'; 100_000]);
        assert!(reply.gathered.capacity() >= 100_000);
        assert_eq!(reply.end(None), Ok(()));
        assert_eq!((reply.held_bytes(), reply.gathered.capacity()), (100_000, 0));
    }
}
