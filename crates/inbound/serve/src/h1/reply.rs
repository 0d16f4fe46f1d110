use leat_h1::{BodyEncoder, encode};
use leat_message::{Fields, Fixed, Length, Method, Reason, Record, Reply, RequestLines, Version};
use leat_stream::{Output, clock};

/// Waiting output above which interim responses are left out, in bytes: they are hints, and an upstream may send them
/// without end to a client that reads nothing.
const INTERIM_BACKLOG_BYTES_MAX: usize = 64 * 1024;

/// How far a reply has come.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nothing of the final reply was written.
    Waiting,
    /// Between `status` and `length`.
    Head,
    /// Body bytes go through the encoder.
    Body,
    /// The reply has no body (HEAD, 204, 304): bytes are counted out, not sent.
    Bodiless,
    /// Everything is in the output.
    Done,
    /// The handler gave a body where it had announced none, or a second one.
    Broken,
}

/// Who has formatted the final head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Head {
    /// The encoder, with the framing that the body then gets.
    Encoded,
    /// The handler. The end of its body may be the end of the connection.
    Given,
    /// The handler, with framing of its own: a body that is cut off can be told from a whole one.
    GivenFramed,
}

/// Encodes one reply after the other into the connection's outgoing buffer.
#[derive(Debug)]
pub(super) struct H1Reply {
    pub(super) output: Output,
    pub(super) record: Record,
    /// Whether the connection goes on after this reply; announced in its head.
    pub(super) keep_alive: bool,
    /// Whether an unread request body means the end of the connection.
    pub(super) close_if_unread: bool,
    /// Whether both directions are opaque bytes now.
    pub(super) tunnel: bool,
    pub(super) phase: Phase,
    pub(super) encoder: BodyEncoder,
    /// How the body is delimited.
    pub(super) length: Length,
    /// Where this reply's final head begins in the output, while nothing of it was written out.
    pub(super) mark: usize,
    /// Whether some of this reply's final head was written out.
    pub(super) sent: bool,
    pub(super) status: u16,
    http10: bool,
    method: Method,
    date_seen: bool,
    length_seen: bool,
    pub(super) head: Head,
}

impl H1Reply {
    pub(super) fn new() -> Self {
        Self {
            output: Output::default(),
            record: Record::default(),
            keep_alive: true,
            close_if_unread: false,
            tunnel: false,
            phase: Phase::Done,
            encoder: BodyEncoder::new(Length::None),
            length: Length::None,
            mark: 0,
            sent: false,
            status: 0,
            http10: false,
            method: Method::Get,
            date_seen: false,
            length_seen: false,
            head: Head::Encoded,
        }
    }

    /// Gets ready for the reply to `request`.
    pub(super) fn begin(&mut self, request: &RequestLines, keep_alive: bool, close_if_unread: bool) {
        self.record = Record::default();
        self.keep_alive = keep_alive;
        self.close_if_unread = close_if_unread;
        self.tunnel = false;
        self.phase = Phase::Waiting;
        self.mark = self.output.mark();
        self.sent = false;
        self.status = 0;
        self.http10 = request.version == Version::Http10;
        self.method = request.method;
        self.date_seen = false;
        self.length_seen = false;
        self.head = Head::Encoded;
    }

    /// Gets ready for an error reply where there is no request to answer.
    pub(super) fn begin_refusal(&mut self) {
        self.begin(&RequestLines::default(), false, false);
    }

    /// Takes back what was written of the final reply, so that another can be written; says whether that was possible.
    pub(super) fn take_back(&mut self) -> bool {
        if self.sent {
            return false;
        }
        self.output.truncate(self.mark);
        self.phase = Phase::Waiting;
        self.tunnel = false;
        self.date_seen = false;
        self.length_seen = false;
        self.head = Head::Encoded;
        self.record.bytes_out = 0;
        true
    }

    /// To be called before bytes of the output go to the socket.
    #[inline]
    pub(super) fn begin_write(&mut self) {
        self.sent |= self.phase != Phase::Waiting;
    }

    /// To be called after that: an output that was written whole starts from its beginning again. Until then, replies to
    /// earlier requests may wait before the mark.
    #[inline]
    pub(super) fn end_write(&mut self) {
        if self.output.is_empty() {
            self.mark = 0;
        }
    }

    pub(super) fn head_sent(&self) -> bool {
        self.sent
    }

    /// Whether the reply was ended: all of it is in the output or was written.
    pub(super) fn is_done(&self) -> bool {
        self.phase == Phase::Done
    }

    /// Whether a handler that returned now has given all of its reply: all announced bytes, if not the call to end it.
    pub(super) fn is_whole(&self) -> bool {
        match self.phase {
            Phase::Done | Phase::Bodiless => true,
            Phase::Body => matches!(self.length, Length::Known(_)) && self.left() == 0,
            Phase::Waiting | Phase::Head | Phase::Broken => false,
        }
    }

    /// Whether body bytes go nowhere because this reply has no body.
    pub(super) fn is_bodiless(&self) -> bool {
        self.phase == Phase::Bodiless
    }

    /// Whether each piece has framing around it.
    pub(super) fn is_chunked(&self) -> bool {
        self.length == Length::Stream
    }

    /// Whether only the end of the connection ends the body.
    pub(super) fn ends_with_connection(&self) -> bool {
        self.phase == Phase::Body && self.length == Length::Close && self.head != Head::GivenFramed
    }

    /// Body bytes that may still be sent.
    pub(super) fn left(&self) -> u64 {
        match self.length {
            _ if self.phase != Phase::Body => 0,
            Length::Known(count) => count.saturating_sub(self.record.bytes_out),
            _ => u64::MAX,
        }
    }

    /// The framing around a piece of `len` body bytes.
    pub(super) fn frame(&mut self, len: usize) -> Result<leat_h1::Framed, Reason> {
        if self.phase != Phase::Body {
            return Err(Reason::HandlerFailed);
        }
        self.encoder.piece(len).map_err(|_| Reason::HandlerFailed)
    }

    /// Whether there is a place for an interim response.
    pub(super) fn takes_interim(&self, status: u16) -> bool {
        let is_sensible = !self.http10 && (100..200).contains(&status) && status != 101;
        let has_room = status == 100 || self.output.len() < INTERIM_BACKLOG_BYTES_MAX;
        is_sensible && self.phase == Phase::Waiting && has_room
    }

    /// Appends an interim response; says whether there was still a place for it.
    pub(super) fn interim(&mut self, status: u16, fields: Fields<'_>) -> bool {
        if !self.takes_interim(status) {
            return false;
        }
        let out = self.output.buffer();
        encode::status_line(out, status);
        for (_, name, value) in fields {
            encode::field(out, name, value);
        }
        out.extend_from_slice(b"\r\n");
        self.mark = self.output.mark();
        true
    }

    /// Ends the body; `Err` where bytes that were announced are missing.
    pub(super) fn end(&mut self, trailers: Option<Fields<'_>>) -> Result<(), Reason> {
        match self.phase {
            Phase::Body => {
                let out = self.output.buffer();
                // A trailer that HTTP/1 must not carry is left out with the others (RFC 9110 section 6.5.1): an upstream over
                // HTTP/2 may have sent one.
                let ended = self.encoder.end(trailers, out).or_else(|_| self.encoder.end(None, out));
                ended.map_err(|_| Reason::HandlerFailed)?;
                self.phase = Phase::Done;
                Ok(())
            }
            Phase::Bodiless | Phase::Done => {
                self.phase = Phase::Done;
                Ok(())
            }
            Phase::Waiting | Phase::Head | Phase::Broken => Err(Reason::HandlerFailed),
        }
    }

    /// What the connection adds to every head, and the framing.
    fn close_head(&mut self, length: Length) {
        if self.close_if_unread {
            self.keep_alive = false;
        }
        // An HTTP/1.0 client knows no chunks: the end of the connection ends the body (RFC 9112 section 6.3).
        let length = match length {
            Length::Stream if self.http10 => Length::Close,
            // A handler that wrote a length and then streams: never both framings in one head.
            Length::Stream if self.length_seen => Length::Close,
            other => other,
        };
        let may_have_body =
            !(self.method == Method::Head || self.status == 204 || self.status == 304 || self.status < 200);
        if length == Length::Close && may_have_body || length == Length::Tunnel {
            self.keep_alive = false;
        }
        let (date_seen, length_seen) = (self.date_seen, self.length_seen);
        let out = self.output.buffer();
        if !date_seen {
            out.extend_from_slice(b"date: ");
            out.extend_from_slice(&clock::date());
            out.extend_from_slice(b"\r\n");
        }
        match length {
            Length::Tunnel if self.status == 101 => out.extend_from_slice(b"connection: upgrade\r\n"),
            Length::Tunnel => {}
            _ if !self.keep_alive => out.extend_from_slice(b"connection: close\r\n"),
            _ if self.http10 => out.extend_from_slice(b"connection: keep-alive\r\n"),
            _ => {}
        }
        match length {
            // No framing field in 1xx and 204 (RFC 9110 section 8.6, RFC 9112 section 6.1).
            _ if self.status < 200 || self.status == 204 => {}
            Length::Known(_) | Length::None if length_seen => {}
            Length::Known(count) => encode::content_length(out, count),
            Length::Stream => out.extend_from_slice(b"transfer-encoding: chunked\r\n"),
            Length::None if may_have_body => encode::content_length(out, 0),
            Length::None | Length::Close | Length::Tunnel => {}
        }
        out.extend_from_slice(b"\r\n");
        self.length = length;
        self.tunnel = length == Length::Tunnel;
        self.phase = match length {
            Length::Tunnel => Phase::Body,
            _ if !may_have_body => Phase::Bodiless,
            Length::None | Length::Known(0) => Phase::Done,
            Length::Known(_) | Length::Stream | Length::Close => Phase::Body,
        };
        if self.phase == Phase::Body {
            self.encoder = BodyEncoder::new(length);
        }
    }
}

impl Reply for H1Reply {
    #[inline]
    fn status(&mut self, status: u16) {
        debug_assert_eq!(self.phase, Phase::Waiting, "status() comes first and once");
        if self.phase != Phase::Waiting {
            return;
        }
        self.status = status;
        self.record.status = status;
        self.phase = Phase::Head;
        encode::status_line(self.output.buffer(), status);
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
        encode::field(self.output.buffer(), name, value);
    }

    #[inline]
    fn length(&mut self, length: Length) {
        if self.phase == Phase::Head {
            self.close_head(length);
        }
    }

    #[inline]
    fn body(&mut self, bytes: &[u8]) {
        if self.phase != Phase::Body {
            // A body where none was announced, or more of it than one: the reply is not whole.
            if self.phase == Phase::Done && !bytes.is_empty() {
                self.phase = Phase::Broken;
            }
            return;
        }
        // Other bytes than announced: the reply stays unfinished, and is answered as the handler's failure.
        let Ok(framed) = self.frame(bytes.len()) else { return };
        let out = self.output.buffer();
        out.extend_from_slice(framed.prefix());
        out.extend_from_slice(bytes);
        out.extend_from_slice(framed.suffix);
        self.record.bytes_out += bytes.len() as u64;
        let _ = self.end(None);
    }

    fn body_with_trailers(&mut self, parts: &[&[u8]], trailers: Fields<'_>) {
        for part in parts.iter().filter(|part| !part.is_empty()) {
            let Ok(framed) = self.frame(part.len()) else { break };
            let out = self.output.buffer();
            out.extend_from_slice(framed.prefix());
            out.extend_from_slice(part);
            out.extend_from_slice(framed.suffix);
            self.record.bytes_out += part.len() as u64;
        }
        // What can't be ended is no whole reply, and answered as the handler's failure.
        let _ = self.end(Some(trailers));
    }

    #[inline]
    fn fixed(&mut self, reply: &Fixed) {
        self.status(reply.status());
        self.output.buffer().extend_from_slice(reply.lines());
        self.close_head(Length::whole(reply.status(), reply.body().len()));
        if self.phase == Phase::Body {
            self.record.bytes_out = reply.body().len() as u64;
            self.output.buffer().extend_from_slice(reply.body());
        }
        self.phase = Phase::Done;
    }

    #[inline]
    fn whole(&mut self, status: u16, head: &[u8], body: &[u8], keep: bool) -> bool {
        H1Reply::whole(self, status, head, body, keep)
    }

    fn record(&mut self) -> &mut Record {
        &mut self.record
    }
}
