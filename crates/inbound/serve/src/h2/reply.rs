use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use h2::server::SendResponse;
use h2::{Reason as Code, SendStream};
use http::header::{CONTENT_LENGTH, DATE, Entry};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use leat_message::{Fields, Fixed, Length, Reason, Record, Reply};
use leat_stream::clock;

use super::head::to_field;

/// Body bytes gathered before they are offered to the stream: the end of a small body leaves with its last bytes.
pub(super) const HELD_BYTES_MAX: usize = 16 * 1024;

/// Rest of a body that is given to its stream without a look at the client's window: less than the stream costs anyway.
const UNASKED_BYTES_MAX: usize = 1024;

/// Interim responses of one exchange; further ones are left out. They are hints, and are queued whatever the client reads.
const INTERIMS_MAX: u32 = 64;

/// Trailers for which room is made at once.
const RESERVED_FIELDS_MAX: usize = 64;

/// How far a reply has come.
#[derive(Debug)]
enum Phase {
    Waiting,
    Head,
    /// The head is complete; it leaves with the first body bytes, or at the next flush.
    HeadReady,
    Body,
    /// The handler ended the reply; what is held waits for the client's window, and then these trailers.
    Ending(Option<HeaderMap>),
    Done,
}

/// Turns one reply into the frames of one stream.
pub(super) struct H2Reply {
    pub(super) record: Record,
    respond: SendResponse<Bytes>,
    stream: Option<SendStream<Bytes>>,
    status: StatusCode,
    fields: HeaderMap,
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
    held: BytesMut,
    interims: u32,
    /// The error code that the handler chose for a reply that is cut off.
    pub(super) reset_code: Option<u32>,
}

impl H2Reply {
    pub(super) fn new(respond: SendResponse<Bytes>, head_request: bool) -> Self {
        Self {
            record: Record::default(),
            respond,
            stream: None,
            status: StatusCode::OK,
            fields: HeaderMap::new(),
            phase: Phase::Waiting,
            bodiless: false,
            head_request,
            left: None,
            whole: false,
            verbatim: false,
            held: BytesMut::new(),
            interims: 0,
            reset_code: None,
        }
    }

    /// Whether everything was given to the stream.
    pub(super) fn is_done(&self) -> bool {
        matches!(self.phase, Phase::Done)
    }

    /// Whether a handler that returned now has given all of its reply: all announced bytes, if not the call to end it.
    pub(super) fn is_whole(&self) -> bool {
        match self.phase {
            Phase::Ending(_) | Phase::Done => true,
            Phase::HeadReady | Phase::Body if self.verbatim => false,
            Phase::HeadReady | Phase::Body => self.bodiless || self.whole || self.left == Some(0),
            Phase::Waiting | Phase::Head => false,
        }
    }

    pub(super) fn head_sent(&self) -> bool {
        self.stream.is_some() || self.is_done()
    }

    /// Takes back what was written of the reply; says whether that was possible.
    pub(super) fn take_back(&mut self) -> bool {
        if self.head_sent() {
            return false;
        }
        self.fields.clear();
        self.held.clear();
        self.left = None;
        self.whole = false;
        self.verbatim = false;
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

    /// Holds body bytes back.
    pub(super) fn hold(&mut self, bytes: &[u8]) {
        self.left = self.left.map(|left| left.saturating_sub(bytes.len() as u64));
        self.held.extend_from_slice(bytes);
    }

    pub(super) fn held_bytes(&self) -> usize {
        self.held.len()
    }

    /// Whether nothing of the final reply was written.
    pub(super) fn is_waiting(&self) -> bool {
        matches!(self.phase, Phase::Waiting)
    }

    /// Takes a whole final head, to which nothing is added.
    pub(super) fn give_head(&mut self, status: StatusCode, fields: HeaderMap, length: Length) {
        self.record.status = status.as_u16();
        self.status = status;
        self.fields = fields;
        self.verbatim = true;
        self.open_body(length);
    }

    /// Whether there is a place for an interim response.
    pub(super) fn takes_interim(&self, status: u16) -> bool {
        self.is_waiting() && status != 101 && self.interims < INTERIMS_MAX
    }

    pub(super) fn send_interim(&mut self, head: Response<()>) {
        self.interims += 1;
        // A stream that the client reset is noticed by the next call that can say so.
        let _ = self.respond.send_informational(head);
    }

    pub(super) fn interim(&mut self, status: u16, fields: Fields<'_>) {
        if !self.takes_interim(status) {
            return;
        }
        let mut head = Response::new(());
        let Ok(status) = StatusCode::from_u16(status) else { return };
        *head.status_mut() = status;
        for (name, value) in fields.iter().filter_map(|(_, name, value)| to_field(name, value)) {
            head.headers_mut().append(name, value);
        }
        self.send_interim(head);
    }

    /// Ready once the client reset the stream.
    pub(super) fn poll_reset(&mut self, cx: &mut Context<'_>) -> Poll<Reason> {
        let reset = match &mut self.stream {
            Some(stream) => stream.poll_reset(cx),
            None if matches!(self.phase, Phase::Done) => return Poll::Pending,
            None => self.respond.poll_reset(cx),
        };
        reset.map(|code| if code.is_ok() { Reason::PeerCancelled } else { Reason::PeerReset })
    }

    /// Bytes held for the client's window, and those that its stream may hold at most.
    pub(super) fn stuck_bytes(&self) -> usize {
        self.held.len() + super::connection::SEND_BUFFER_BYTES
    }

    /// Gives everything held back to the stream, as its window allows, and the end behind it. Ready once nothing is held.
    pub(super) fn poll_push(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Reason>> {
        if matches!(self.phase, Phase::HeadReady) {
            self.send_head(false)?;
        }
        while !self.held.is_empty() {
            let Some(stream) = &mut self.stream else { return Poll::Ready(Err(Reason::HandlerFailed)) };
            stream.reserve_capacity(self.held.len());
            let capacity = match stream.capacity() {
                0 => match ready!(stream.poll_capacity(cx)) {
                    Some(Ok(capacity)) => capacity,
                    _ => return Poll::Ready(Err(Reason::PeerCancelled)),
                },
                capacity => capacity,
            };
            let piece = self.held.split_to(capacity.min(self.held.len())).freeze();
            if !piece.is_empty() {
                stream.send_data(piece, false).map_err(|_| Reason::PeerCancelled)?;
            }
        }
        if matches!(self.phase, Phase::Ending(_)) {
            self.send_end()?;
        }
        Poll::Ready(Ok(()))
    }

    /// Ends the reply. What the client's window has no room for stays held: [`H2Reply::poll_push`] goes on with it, unless
    /// the reply is done now.
    ///
    /// # Errors
    /// `handler.failed` where announced bytes are missing, `peer.cancelled` where the stream is gone.
    pub(super) fn end(&mut self, trailers: Option<Fields<'_>>) -> Result<(), Reason> {
        if matches!(self.phase, Phase::Ending(_) | Phase::Done) {
            return Ok(());
        }
        if !matches!(self.phase, Phase::HeadReady | Phase::Body)
            || self.left.is_some_and(|left| left > 0) && !self.bodiless
        {
            return Err(Reason::HandlerFailed);
        }
        let trailers = trailers.filter(|trailers| !trailers.is_empty());
        if matches!(self.phase, Phase::HeadReady) {
            let nothing_follows = self.held.is_empty() && trailers.is_none();
            self.send_head(nothing_follows)?;
            if nothing_follows {
                self.phase = Phase::Done;
                return Ok(());
            }
        }
        self.phase = Phase::Ending(trailers.map(to_map));
        if self.held.len() > UNASKED_BYTES_MAX
            && let Some(stream) = &mut self.stream
        {
            stream.reserve_capacity(self.held.len());
            if stream.capacity() < self.held.len() {
                return Ok(());
            }
        }
        self.send_end()
    }

    /// Gives all that is held, and the end, to the stream.
    fn send_end(&mut self) -> Result<(), Reason> {
        let Phase::Ending(trailers) = std::mem::replace(&mut self.phase, Phase::Done) else { return Ok(()) };
        let Some(stream) = &mut self.stream else { return Err(Reason::HandlerFailed) };
        let body = std::mem::take(&mut self.held);
        if !body.is_empty() || trailers.is_none() {
            stream.send_data(body.freeze(), trailers.is_none()).map_err(|_| Reason::PeerCancelled)?;
        }
        if let Some(trailers) = trailers {
            stream.send_trailers(trailers).map_err(|_| Reason::PeerCancelled)?;
        }
        Ok(())
    }

    /// Cuts the reply off, so that the client sees it incomplete.
    pub(super) fn cut(&mut self, reason: Reason) {
        let code = match (self.reset_code, reason.blame()) {
            (Some(code), _) => Code::from(code),
            (None, leat_message::Blame::Peer) => Code::CANCEL,
            (None, _) => Code::INTERNAL_ERROR,
        };
        match &mut self.stream {
            Some(stream) => stream.send_reset(code),
            None => self.respond.send_reset(code),
        }
    }

    fn send_head(&mut self, ended: bool) -> Result<(), Reason> {
        let mut head = Response::new(());
        *head.status_mut() = self.status;
        *head.headers_mut() = std::mem::take(&mut self.fields);
        let stream = self.respond.send_response(head, ended).map_err(|_| Reason::PeerCancelled)?;
        self.stream = Some(stream);
        self.phase = Phase::Body;
        Ok(())
    }

    fn close_head(&mut self, length: Length) {
        if let Entry::Vacant(place) = self.fields.entry(DATE) {
            place.insert(date());
        }
        if let Length::Known(count) = length
            && self.status != StatusCode::NO_CONTENT
            && let Entry::Vacant(place) = self.fields.entry(CONTENT_LENGTH)
        {
            place.insert(decimal(count));
        }
        self.open_body(length);
    }

    /// The head is complete: what follows is a body of `length`.
    fn open_body(&mut self, length: Length) {
        self.bodiless = self.head_request || matches!(self.status.as_u16(), 204 | 304);
        self.left = match length {
            Length::Known(count) => Some(count),
            Length::None if !self.bodiless => Some(0),
            _ => None,
        };
        self.phase = Phase::HeadReady;
    }
}

impl Reply for H2Reply {
    fn status(&mut self, status: u16) {
        if !matches!(self.phase, Phase::Waiting) {
            return;
        }
        self.record.status = status;
        self.status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        self.phase = Phase::Head;
    }

    fn field(&mut self, name: &[u8], value: &[u8]) {
        if matches!(self.phase, Phase::Head)
            && let Some((name, value)) = to_field(name, value)
        {
            self.fields.append(name, value);
        }
    }

    fn length(&mut self, length: Length) {
        if matches!(self.phase, Phase::Head) {
            self.close_head(length);
        }
    }

    fn body(&mut self, bytes: &[u8]) {
        if self.bodiless {
            return;
        }
        if self.has_room_for(bytes.len()) {
            self.record.bytes_out += bytes.len() as u64;
            self.hold(bytes);
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
            self.held.reserve(count);
            parts.iter().for_each(|part| self.hold(part));
        }
        // What fails is a reply that is not done, which is noticed where it is looked at.
        let _ = self.end(Some(trailers));
    }

    fn fixed(&mut self, reply: &Fixed) {
        self.status(reply.status());
        for (name, value) in reply.fields() {
            self.field(name.as_bytes(), value.as_bytes());
        }
        self.length(Length::Known(reply.body().len() as u64));
        self.body(reply.body());
    }

    fn record(&mut self) -> &mut Record {
        &mut self.record
    }
}

/// A number as a field's value. One allocation: `HeaderValue::from` makes two.
fn decimal(mut number: u64) -> HeaderValue {
    let mut digits = [0; 20];
    let mut start = digits.len();
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
        start -= 1;
        if number == 0 {
            break;
        }
    }
    let digits = Bytes::copy_from_slice(digits.get(start..).unwrap_or_default());
    HeaderValue::from_maybe_shared(digits).unwrap_or(const { HeaderValue::from_static("0") })
}

fn to_map(fields: Fields<'_>) -> HeaderMap {
    let mut map = HeaderMap::with_capacity(fields.len().min(RESERVED_FIELDS_MAX));
    for (name, value) in fields.iter().filter_map(|(_, name, value)| to_field(name, value)) {
        map.append(name, value);
    }
    map
}

/// The Date field, made once a second.
fn date() -> HeaderValue {
    thread_local! {
        static DATE: std::cell::RefCell<([u8; 29], HeaderValue)> =
            const { std::cell::RefCell::new(([0; 29], HeaderValue::from_static(""))) };
    }
    let now = clock::date();
    DATE.with_borrow_mut(|(text, value)| {
        if *text != now {
            *text = now;
            if let Ok(fresh) = HeaderValue::from_maybe_shared(Bytes::copy_from_slice(&now)) {
                *value = fresh;
            }
        }
        value.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::decimal;

    #[test]
    fn numbers_are_written_in_decimal() {
        for number in [0, 7, 10, 65_535, u64::MAX] {
            assert_eq!(decimal(number).as_bytes(), number.to_string().as_bytes());
        }
    }
}
