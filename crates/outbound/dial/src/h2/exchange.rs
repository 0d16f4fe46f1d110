use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use h2::client::ResponseFuture;
use h2::{RecvStream, SendStream};
use http::{HeaderMap, HeaderValue, Request, Uri, header};
use leat_message::{Fields, Length, Method, Piece, Reason, ResponseHead};

use super::connection::Seat;
use super::head::{self, Head};
use super::values::Values;
use crate::EndpointLimits;

/// Bytes that are copied for one DATA frame at most.
const PIECE_BYTES_MAX: usize = 64 * 1024;

/// Fields of a request that there is room for at once: most have no more.
const FIELDS: usize = 12;

/// One exchange: a stream. Dropped before it is complete, the stream is reset with CANCEL.
pub(crate) struct Exchange {
    request: Request<()>,
    method: Method,
    sending: Sending,
    receiving: Receiving,
    head: Head,
    trailers: Option<Head>,
    piece: Bytes,
    /// Body bytes that the response announced and that did not arrive yet.
    missing: Option<u64>,
    interims: usize,
    started: bool,
    body_taken: bool,
    refused: bool,
    /// Last, so that the stream is given up before its room is.
    seat: Seat,
}

enum Sending {
    /// The head is being put together.
    Head,
    /// Something in the head cannot be sent over HTTP/2.
    Unfit(Reason),
    /// So many bytes of the body are still to come.
    Known(SendStream<Bytes>, u64),
    /// The body, or a tunnel's bytes, until they end.
    Stream(SendStream<Bytes>),
    /// The request is complete.
    Done,
    /// The peer takes no more; how the exchange ended is for the other direction to tell.
    Broken,
    /// More or fewer bytes were sent than announced: our own fault.
    Wrong,
}

enum Receiving {
    /// The request did not go out.
    Nothing,
    Head(ResponseFuture),
    Body(RecvStream),
    Trailers(RecvStream),
    Done,
    Failed(Reason),
}

impl Exchange {
    pub(crate) fn new(seat: Seat) -> Self {
        Self {
            request: Request::new(()),
            method: Method::Get,
            sending: Sending::Head,
            receiving: Receiving::Nothing,
            head: Head::default(),
            trailers: None,
            piece: Bytes::new(),
            missing: None,
            interims: 0,
            started: false,
            body_taken: false,
            refused: false,
            seat,
        }
    }

    pub(crate) fn seat(&self) -> &Seat {
        &self.seat
    }

    pub(crate) fn request(&mut self, method: &[u8], authority: &[u8], scheme: &str, target: &[u8]) {
        self.method = Method::from_bytes(method);
        let uri = Uri::builder().authority(authority);
        // RFC 9113 section 8.5: CONNECT has neither scheme nor path.
        let uri = match self.method {
            Method::Connect => uri.build(),
            _ => uri.scheme(scheme).path_and_query(target).build(),
        };
        match (http::Method::from_bytes(method), uri) {
            (Ok(method), Ok(uri)) => {
                *self.request.method_mut() = method;
                *self.request.uri_mut() = uri;
                *self.request.version_mut() = http::Version::HTTP_2;
                *self.request.headers_mut() = HeaderMap::with_capacity(FIELDS);
            }
            _ => self.sending = Sending::Unfit(Reason::LineTargetInvalid),
        }
    }

    pub(crate) fn field(&mut self, name: &[u8], value: &[u8]) {
        if !self.seat.with_values(|values| head::add(self.request.headers_mut(), values, name, value)) {
            self.sending = Sending::Unfit(Reason::HeadControlByte);
        }
    }

    pub(crate) fn length(&mut self, length: Length) {
        if let Sending::Unfit(reason) = self.sending {
            self.receiving = Receiving::Failed(reason);
            return;
        }
        let mut request = std::mem::take(&mut self.request);
        if let Length::Known(count) = length {
            request.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(count));
        }
        let is_tunnel = self.method == Method::Connect;
        let ended = !is_tunnel && !matches!(length, Length::Known(1..) | Length::Stream);
        match self.seat.requests().send_request(request, ended) {
            Ok((response, stream)) => {
                self.receiving = Receiving::Head(response);
                self.sending = match length {
                    _ if is_tunnel => Sending::Stream(stream),
                    Length::Known(count @ 1..) => Sending::Known(stream, count),
                    Length::Stream => Sending::Stream(stream),
                    _ => Sending::Done,
                };
            }
            Err(_) => {
                // Nothing went out: the connection has ended since the seat was taken, or counts no more streams.
                self.refused = true;
                self.sending = Sending::Broken;
                self.receiving = Receiving::Failed(Reason::UpstreamReset);
            }
        }
    }

    pub(crate) fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize, Reason>> {
        let (stream, left) = match &mut self.sending {
            _ if bytes.is_empty() => return Poll::Ready(Ok(0)),
            Sending::Known(stream, left) if bytes.len() as u64 <= *left => (stream, Some(left)),
            Sending::Stream(stream) => (stream, None),
            Sending::Broken => return Poll::Ready(Ok(bytes.len())),
            Sending::Unfit(reason) => return Poll::Ready(Err(*reason)),
            Sending::Head | Sending::Known(..) | Sending::Done | Sending::Wrong => {
                self.sending = Sending::Wrong;
                return Poll::Ready(Err(Reason::HandlerFailed));
            }
        };
        let wanted = bytes.len().min(PIECE_BYTES_MAX);
        stream.reserve_capacity(wanted);
        while stream.capacity() == 0 {
            match ready!(stream.poll_capacity(cx)) {
                Some(Ok(_)) => {}
                Some(Err(_)) | None => {
                    self.sending = Sending::Broken;
                    return Poll::Ready(Ok(bytes.len()));
                }
            }
        }
        let taken = stream.capacity().min(wanted);
        let last = left.is_some_and(|left| {
            *left -= taken as u64;
            *left == 0
        });
        let sent = stream.send_data(Bytes::copy_from_slice(bytes.get(..taken).unwrap_or_default()), last);
        if sent.is_err() {
            self.sending = Sending::Broken;
        } else if last {
            self.sending = Sending::Done;
        }
        self.body_taken = true;
        Poll::Ready(Ok(taken))
    }

    pub(crate) fn end(&mut self, trailers: Option<Fields<'_>>) {
        self.sending = match std::mem::replace(&mut self.sending, Sending::Done) {
            Sending::Stream(mut stream) => {
                let trailers = trailers.map(header_map).filter(|trailers| !trailers.is_empty());
                let sent = match trailers {
                    Some(trailers) => stream.send_trailers(trailers),
                    None => stream.send_data(Bytes::new(), true),
                };
                if sent.is_ok() { Sending::Done } else { Sending::Broken }
            }
            unfit @ Sending::Unfit(_) => unfit,
            Sending::Head | Sending::Known(..) | Sending::Wrong => Sending::Wrong,
            Sending::Done => Sending::Done,
            Sending::Broken => Sending::Broken,
        };
    }

    /// The connection's own task writes; there is nothing to wait for here.
    pub(crate) fn poll_flush(&mut self) -> Poll<Result<(), Reason>> {
        match self.sending {
            Sending::Unfit(reason) => Poll::Ready(Err(reason)),
            Sending::Wrong => Poll::Ready(Err(Reason::HandlerFailed)),
            _ => Poll::Ready(Ok(())),
        }
    }

    pub(crate) fn poll_response(&mut self, cx: &mut Context<'_>, limits: &EndpointLimits) -> Poll<Result<u16, Reason>> {
        let response = match &mut self.receiving {
            Receiving::Head(response) => response,
            Receiving::Failed(reason) => return Poll::Ready(Err(*reason)),
            Receiving::Nothing => return Poll::Ready(Err(Reason::HandlerFailed)),
            Receiving::Body(_) | Receiving::Trailers(_) | Receiving::Done => {
                return Poll::Ready(Ok(self.head.response().status()));
            }
        };
        match response.poll_informational(cx) {
            Poll::Ready(Some(Ok(interim))) => {
                self.started = true;
                self.interims += 1;
                // RFC 9113 section 8.6: HTTP/2 has no such status.
                if interim.status().as_u16() == 101 {
                    return Poll::Ready(Err(self.fail(Reason::UpstreamUpgrade)));
                }
                self.head.fill(interim.status().as_u16(), interim.headers(), self.method, false);
                if self.interims > limits.interim_max || interim.headers().len() > limits.fields_max {
                    return Poll::Ready(Err(self.fail(Reason::UpstreamInvalid)));
                }
                return Poll::Ready(Ok(interim.status().as_u16()));
            }
            Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(self.broken(&error))),
            Poll::Ready(None) | Poll::Pending => {}
        }
        let (parts, body) = match ready!(Pin::new(response).poll(cx)) {
            Ok(response) => response.into_parts(),
            Err(error) => return Poll::Ready(Err(self.broken(&error))),
        };
        self.started = true;
        let status = parts.status.as_u16();
        if parts.headers.len() > limits.fields_max {
            return Poll::Ready(Err(self.fail(Reason::UpstreamHeadBytes)));
        }
        if !(200..=599).contains(&status) {
            return Poll::Ready(Err(self.fail(Reason::UpstreamInvalid)));
        }
        self.head.fill(status, &parts.headers, self.method, body.is_end_stream());
        if let Length::Known(count) = self.head.response().length() {
            self.missing = Some(count);
        }
        self.receiving = Receiving::Body(body);
        Poll::Ready(Ok(status))
    }

    pub(crate) fn response(&self) -> ResponseHead<'_> {
        self.head.response()
    }

    pub(crate) fn poll_body(&mut self, cx: &mut Context<'_>) -> Poll<Result<Piece<'_>, Reason>> {
        while self.piece.is_empty() {
            match &mut self.receiving {
                Receiving::Body(body) => match ready!(body.poll_data(cx)) {
                    Some(Ok(piece)) => {
                        self.missing = self.missing.map(|missing| missing.saturating_sub(piece.len() as u64));
                        self.piece = piece;
                    }
                    // RFC 9113 section 8.1: a response may be complete although the rest of the request is not wanted.
                    Some(Err(error)) if error.is_reset() && error.reason() == Some(h2::Reason::NO_ERROR) => {
                        if self.missing.unwrap_or(0) > 0 {
                            return Poll::Ready(Err(self.fail(Reason::UpstreamReset)));
                        }
                        self.receiving = Receiving::Done;
                    }
                    Some(Err(error)) => return Poll::Ready(Err(self.broken(&error))),
                    None => match std::mem::replace(&mut self.receiving, Receiving::Done) {
                        Receiving::Body(body) => self.receiving = Receiving::Trailers(body),
                        other => self.receiving = other,
                    },
                },
                Receiving::Trailers(body) => match ready!(body.poll_trailers(cx)) {
                    Ok(trailers) => {
                        self.trailers = trailers.map(|trailers| {
                            let mut head = Head::default();
                            head.fill_fields(&trailers);
                            head
                        });
                        self.receiving = Receiving::Done;
                    }
                    Err(error) if error.is_reset() && error.reason() == Some(h2::Reason::NO_ERROR) => {
                        self.receiving = Receiving::Done;
                    }
                    Err(error) => return Poll::Ready(Err(self.broken(&error))),
                },
                Receiving::Done => return Poll::Ready(Ok(Piece::End)),
                Receiving::Failed(reason) => return Poll::Ready(Err(*reason)),
                Receiving::Nothing | Receiving::Head(_) => return Poll::Ready(Err(Reason::HandlerFailed)),
            }
        }
        Poll::Ready(Ok(Piece::Data(&self.piece)))
    }

    pub(crate) fn consume(&mut self, count: usize) {
        let count = count.min(self.piece.len());
        self.piece.advance(count);
        if let Receiving::Body(body) | Receiving::Trailers(body) = &mut self.receiving {
            // Fails only for more than was received.
            let _ = body.flow_control().release_capacity(count);
        }
    }

    pub(crate) fn trailers(&self) -> Option<Fields<'_>> {
        match self.receiving {
            Receiving::Done => self.trailers.as_ref().map(Head::fields),
            _ => None,
        }
    }

    pub(crate) fn response_started(&self) -> bool {
        self.started
    }

    pub(crate) fn body_taken(&self) -> bool {
        self.body_taken
    }

    pub(crate) fn was_refused(&self) -> bool {
        self.refused
    }

    /// Notes why the stream ended early.
    fn broken(&mut self, error: &h2::Error) -> Reason {
        // RFC 9113 section 8.7: the peer says that it did nothing with this request.
        let refused = error.is_go_away() || error.reason() == Some(h2::Reason::REFUSED_STREAM);
        self.refused |= error.is_remote() && refused && !self.started;
        self.fail(if error.is_library() { Reason::UpstreamInvalid } else { Reason::UpstreamReset })
    }

    fn fail(&mut self, reason: Reason) -> Reason {
        self.receiving = Receiving::Failed(reason);
        reason
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if let Receiving::Head(_) = self.receiving {
            self.seat.raise_doubt();
        }
    }
}

fn header_map(fields: Fields<'_>) -> HeaderMap {
    let mut map = HeaderMap::new();
    let mut values = Values::default();
    for (_, name, value) in fields {
        // One that cannot be sent is left out: RFC 9110 section 6.5.1 lets trailers be dropped.
        head::add(&mut map, &mut values, name, value);
    }
    map
}
