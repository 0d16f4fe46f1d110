use std::task::{Context, Poll, ready};

use leat_h1::{BodyDecoder, Decoded, DecoderLimits, Progress, ResponseLimits, parse_response};
use leat_message::{Fields, Length, Method, Name, Piece, Profile, Reason, ResponseHead, ResponseLines};
use leat_stream::{BULK_BYTES, Buffer, Socket};

use crate::EndpointLimits;

/// The response's direction of an exchange.
#[derive(Debug)]
pub(crate) struct Receive {
    buffer: Buffer,
    lines: ResponseLines,
    progress: Progress,
    decoder: BodyDecoder,
    state: State,
    method: Method,
    /// Whether the request asks for another protocol.
    may_switch: bool,
    interims: usize,
    /// Whether an interim response leaves doubts about where the next one begins.
    doubtful: bool,
    started: bool,
    detail: Option<Reason>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The head of a response is awaited.
    Head,
    /// An interim response was given out; its head lies in front of the buffer.
    Interim,
    /// The final head lies in front of the buffer, its body is being read.
    Body,
    /// The response is complete.
    Done,
    /// The connection is at its end, as the framing wanted it or as a tunnel does.
    Eof,
    Failed(Reason),
}

impl Receive {
    pub(crate) fn new() -> Self {
        Self {
            buffer: Buffer::default(),
            lines: ResponseLines::default(),
            progress: Progress::default(),
            decoder: BodyDecoder::new(Length::None, DecoderLimits::default()),
            state: State::Head,
            method: Method::Get,
            may_switch: false,
            interims: 0,
            doubtful: false,
            started: false,
            detail: None,
        }
    }

    /// Makes ready for the next response; holds no buffer then.
    pub(crate) fn reset(&mut self) {
        self.buffer.release();
        self.progress = Progress::default();
        self.state = State::Head;
        self.interims = 0;
        self.doubtful = false;
        self.started = false;
    }

    /// Says what the response will be the answer to.
    #[inline]
    pub(crate) fn expect(&mut self, method: Method) {
        self.method = method;
        self.may_switch = false;
    }

    /// The response may be one that switches to another protocol.
    pub(crate) fn expect_switch(&mut self) {
        self.may_switch = true;
    }

    /// Whether any byte of a response has arrived.
    #[inline]
    pub(crate) fn has_started(&self) -> bool {
        self.started
    }

    /// Whether the response has opened a tunnel.
    #[inline]
    pub(crate) fn is_tunnel(&self) -> bool {
        self.lines.length == Length::Tunnel && matches!(self.state, State::Body | State::Eof)
    }

    /// What the parser found wrong with the response.
    pub(crate) fn detail(&self) -> Option<Reason> {
        self.detail
    }

    /// Whether nothing was received yet.
    pub(crate) fn is_untouched(&self) -> bool {
        self.state == State::Head && !self.started
    }

    /// Whether the response is complete and the connection may carry another one.
    pub(crate) fn is_reusable(&self) -> bool {
        let complete = match self.state {
            State::Done => true,
            State::Body => self.decoder.is_done(),
            State::Head | State::Interim | State::Eof | State::Failed(_) => false,
        };
        complete && self.lines.keep_alive && !self.doubtful && self.buffer.is_empty()
    }

    /// How long the peer says it keeps an unused connection, in milliseconds (`Keep-Alive: timeout`, RFC 2068 section
    /// 19.7.1.1, as servers still send it).
    pub(crate) fn keep_alive_ms(&self) -> Option<u64> {
        let value = self.head().fields().get(Name::KeepAlive)?;
        let digits = value.split(|&b| b == b',').find_map(|part| {
            let part = part.trim_ascii();
            part.get(..8).filter(|name| name.eq_ignore_ascii_case(b"timeout=")).and_then(|_| part.get(8..))
        })?;
        let seconds: u32 = std::str::from_utf8(digits).ok()?.parse().ok()?;
        Some(u64::from(seconds) * 1_000)
    }

    #[inline]
    pub(crate) fn head(&self) -> ResponseHead<'_> {
        ResponseHead::new(self.buffer.pinned(), &self.lines)
    }

    /// The next head: interim ones first, then the final one, again and again.
    pub(crate) fn poll_head(
        &mut self,
        socket: &mut Socket,
        cx: &mut Context<'_>,
        limits: &EndpointLimits,
    ) -> Poll<Result<u16, Reason>> {
        match self.state {
            State::Head => {}
            State::Interim => {
                self.buffer.unpin();
                self.progress = Progress::default();
                self.state = State::Head;
            }
            State::Body | State::Done | State::Eof => return Poll::Ready(Ok(self.lines.status)),
            State::Failed(reason) => return Poll::Ready(Err(reason)),
        }
        let head = ResponseLimits { head_bytes_max: limits.head_bytes_max, fields_max: limits.fields_max };
        let len = loop {
            if !self.buffer.is_empty() {
                let parsed =
                    parse_response(self.buffer.bytes(), &mut self.progress, &head, self.method, &mut self.lines);
                match parsed {
                    Ok(Some(len)) => break len,
                    Ok(None) => {}
                    Err(reason) => return Poll::Ready(Err(self.refuse(reason))),
                }
            }
            match self.buffer.poll_fill(socket, cx, limits.head_bytes_max.saturating_add(BULK_BYTES)) {
                Poll::Ready(Ok(0) | Err(_)) => return Poll::Ready(Err(self.fail(Reason::UpstreamReset))),
                Poll::Ready(Ok(_)) => self.started = true,
                Poll::Pending => {
                    // Whoever waits for an answer holds no memory for it: all that wait take turns with few blocks, which are
                    // then in the processor's caches.
                    if self.buffer.is_empty() {
                        self.buffer.release();
                    }
                    return Poll::Pending;
                }
            }
        };
        self.buffer.pin(len);
        // RFC 9110 section 15.2.2: the protocol is one that the request names. Whoever names none waits for a head behind this one.
        if self.lines.status == 101 && !self.may_switch {
            return Poll::Ready(Err(self.fail(Reason::UpstreamUpgrade)));
        }
        if self.lines.status < 200 && self.lines.status != 101 {
            self.interims += 1;
            self.doubtful |= !self.lines.keep_alive;
            if self.interims > limits.interim_max {
                return Poll::Ready(Err(self.fail(Reason::UpstreamInvalid)));
            }
            self.state = State::Interim;
        } else {
            self.decoder = BodyDecoder::new(self.lines.length, decoder_limits(limits));
            self.state = State::Body;
        }
        Poll::Ready(Ok(self.lines.status))
    }

    pub(crate) fn poll_body(&mut self, socket: &mut Socket, cx: &mut Context<'_>) -> Poll<Result<Piece<'_>, Reason>> {
        let len = loop {
            match self.state {
                State::Body => {}
                State::Done | State::Eof => return Poll::Ready(Ok(Piece::End)),
                State::Failed(reason) => return Poll::Ready(Err(reason)),
                State::Head | State::Interim => return Poll::Ready(Err(Reason::HandlerFailed)),
            }
            match self.decoder.decode(self.buffer.bytes()) {
                Ok(Decoded::Data { skip, data }) => {
                    self.buffer.consume(skip);
                    break data;
                }
                Ok(Decoded::End { skip }) => {
                    self.buffer.consume(skip);
                    self.state = State::Done;
                    continue;
                }
                Ok(Decoded::More { skip }) => self.buffer.consume(skip),
                Err(reason) => return Poll::Ready(Err(self.refuse(reason))),
            }
            let bytes_max = self.buffer.pinned().len() + BULK_BYTES;
            match ready!(self.buffer.poll_fill(socket, cx, bytes_max)) {
                Ok(0) if self.decoder.end_of_input().is_ok() => self.state = State::Eof,
                Ok(0) | Err(_) => return Poll::Ready(Err(self.fail(Reason::UpstreamReset))),
                Ok(_) => {}
            }
        };
        Poll::Ready(Ok(Piece::Data(self.buffer.bytes().get(..len).unwrap_or_default())))
    }

    pub(crate) fn consume(&mut self, count: usize) {
        self.decoder.consumed(count);
        self.buffer.consume(count);
    }

    pub(crate) fn trailers(&self) -> Option<Fields<'_>> {
        self.decoder.trailers()
    }

    /// The endpoint's response is not one that may be passed on.
    fn refuse(&mut self, reason: Reason) -> Reason {
        self.detail = Some(reason);
        self.fail(match reason {
            Reason::LimitHeadBytes | Reason::LimitFields | Reason::LimitFieldBytes => Reason::UpstreamHeadBytes,
            _ => Reason::UpstreamInvalid,
        })
    }

    fn fail(&mut self, reason: Reason) -> Reason {
        self.state = State::Failed(reason);
        reason
    }
}

/// A response body may be of any length: nothing holds more than a piece of it.
fn decoder_limits(limits: &EndpointLimits) -> DecoderLimits {
    DecoderLimits {
        body_bytes_max: u64::MAX,
        trailer_bytes_max: limits.trailer_bytes_max,
        chunk_extension_bytes_max: limits.chunk_extension_bytes_max,
        fields_max: limits.fields_max,
        profile: Profile::Compatible,
    }
}
