use std::mem::MaybeUninit;
use std::task::{Context, Poll, ready};

use leat_message::{Exchange, Fields, Head, Layer, Length, Name, Piece, Reason, RequestLines};
use leat_stream::memory::Held;

use super::codings::coding_of;
use super::decoder::{Decoder, Moved};
use crate::config::Decompression;

/// What is decoded at one go, and lent on in one piece: a bound on the time that others wait, and on what is held.
const PIECE_BYTES: usize = 16 * 1024;

/// Below so many decoded bytes no ratio is asked for: nobody is harmed by them, and short texts of one letter are legal.
const RATIO_FROM_BYTES: u64 = 256 * 1024;

/// Fields that speak of the coded bytes (RFC 9530 and its forerunners): nobody behind here can check them.
const DIGESTS: [&[u8]; 4] = [b"digest", b"content-digest", b"repr-digest", b"content-md5"];

/// An exchange whose request has no coding: its body is decoded as it comes, its head says nothing of the coding and the
/// length. Both limits are kept while it streams, so a bomb costs what was let through before they were reached.
///
/// Costs one decoder, [`PIECE_BYTES`], and a copy of the head's ranges. Without a configuration, or a coding in the request, all passes.
pub(crate) struct Decompressed<'a, X> {
    inner: &'a mut X,
    decoding: Option<Box<Decoding>>,
}

struct Decoding {
    lines: RequestLines,
    decoder: Decoder,
    bytes_max: u64,
    ratio_max: u64,
    taken: u64,
    made: u64,
    /// Decoded bytes; those of `lent` are not consumed yet.
    piece: Vec<u8>,
    lent: std::ops::Range<usize>,
    /// The decoder had no room for all that it has made.
    has_more: bool,
    is_ended: bool,
    _held: Held,
}

impl<'a, X: Exchange> Decompressed<'a, X> {
    /// # Errors
    /// `CodingUnknown`, as [`coding_of`]; `LimitBodyBytes` where the coded body is announced as longer; `CodingBusy` where the core can't decode any more at a time.
    pub(crate) fn new(inner: &'a mut X, config: Option<&Decompression>, body_bytes_max: u64) -> Result<Self, Reason> {
        let Some(config) = config else { return Ok(Self { inner, decoding: None }) };
        let head = inner.request();
        let Some(coding) = coding_of(config, head)? else { return Ok(Self { inner, decoding: None }) };
        if matches!(head.length(), Length::Known(count) if count > body_bytes_max) {
            return Err(Reason::LimitBodyBytes);
        }
        let mut lines = head.lines().clone();
        lines.length = Length::Stream;
        lines.fields.retain(|field| {
            let of_the_coding = matches!(field.id, Name::ContentEncoding | Name::ContentLength);
            let name = field.name.of(head.bytes());
            !of_the_coding && !DIGESTS.iter().any(|digest| name.eq_ignore_ascii_case(digest))
        });
        let mut held = Held::default();
        held.set(PIECE_BYTES);
        let decoding = Decoding {
            lines,
            decoder: Decoder::new(coding)?,
            bytes_max: config.bytes_max().unwrap_or(body_bytes_max),
            ratio_max: config.ratio_max(),
            taken: 0,
            made: 0,
            piece: vec![0; PIECE_BYTES],
            lent: 0..0,
            has_more: false,
            is_ended: false,
            _held: held,
        };
        Ok(Self { inner, decoding: Some(Box::new(decoding)) })
    }

    /// The client may have begun to send the body that it was to wait with.
    fn look_at_expect(&mut self) {
        if let Some(decoding) = &mut self.decoding {
            decoding.lines.expect_continue = self.inner.request().lines().expect_continue;
        }
    }
}

impl Decoding {
    /// Ready when there is something to lend, or the body has ended.
    fn poll_fill<X: Exchange>(&mut self, inner: &mut X, cx: &mut Context<'_>) -> Poll<Result<(), Reason>> {
        while self.lent.is_empty() && !self.is_ended {
            if self.has_more {
                self.step(&[])?;
                continue;
            }
            match ready!(inner.poll_body(cx))? {
                Piece::Data(bytes) => {
                    let bytes = bytes.get(..bytes.len().min(PIECE_BYTES)).unwrap_or_default();
                    let taken = self.step(bytes)?;
                    inner.consume(taken);
                }
                Piece::End if self.decoder.is_whole() => self.is_ended = true,
                Piece::End => return Poll::Ready(Err(Reason::CodingCutOff)),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Feeds the decoder; says how much it took.
    fn step(&mut self, bytes: &[u8]) -> Result<usize, Reason> {
        let moved = self.decoder.step(bytes, &mut self.piece)?;
        // It has room and bytes, and does nothing: no decoder should, and this loop must end.
        if moved == (Moved { taken: 0, made: 0 }) && !bytes.is_empty() {
            return Err(Reason::CodingInvalid);
        }
        self.has_more = moved.made == self.piece.len();
        self.lent = 0..moved.made;
        self.taken += moved.taken as u64;
        self.made += moved.made as u64;
        if self.made > self.bytes_max {
            return Err(Reason::CodingBytes);
        }
        if self.made > RATIO_FROM_BYTES && self.made / self.ratio_max > self.taken {
            return Err(Reason::CodingRatio);
        }
        Ok(moved.taken)
    }
}

impl<X: Exchange> Layer for Decompressed<'_, X> {
    type Inner = X;

    fn inner(&self) -> &X {
        self.inner
    }

    fn inner_mut(&mut self) -> &mut X {
        self.inner
    }

    fn request(&self) -> Head<'_> {
        let head = self.inner.request();
        match &self.decoding {
            // The same bytes, and ranges of their own.
            Some(decoding) => Head::new(head.bytes(), &decoding.lines),
            None => head,
        }
    }

    fn poll_body(&mut self, cx: &mut Context<'_>) -> Poll<Result<Piece<'_>, Reason>> {
        self.look_at_expect();
        let Some(decoding) = &mut self.decoding else { return self.inner.poll_body(cx) };
        ready!(decoding.poll_fill(self.inner, cx))?;
        Poll::Ready(Ok(match decoding.piece.get(decoding.lent.clone()) {
            Some(bytes) if !bytes.is_empty() => Piece::Data(bytes),
            _ => Piece::End,
        }))
    }

    fn consume(&mut self, count: usize) {
        match &mut self.decoding {
            Some(decoding) => decoding.lent.start = (decoding.lent.start + count).min(decoding.lent.end),
            None => self.inner.consume(count),
        }
    }

    fn poll_read(&mut self, cx: &mut Context<'_>, into: &mut [MaybeUninit<u8>]) -> Poll<Result<usize, Reason>> {
        if self.decoding.is_none() {
            return self.inner.poll_read(cx, into);
        }
        let count = ready!(Layer::poll_body(self, cx))?.copy_to(into);
        Layer::consume(self, count);
        Poll::Ready(Ok(count))
    }

    fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<Reason> {
        let gone = self.inner.poll_gone(cx);
        self.look_at_expect();
        gone
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Reason>> {
        let flushed = self.inner.poll_flush(cx);
        self.look_at_expect();
        flushed
    }

    fn interim(&mut self, status: u16, fields: Fields<'_>) {
        self.inner.interim(status, fields);
        self.look_at_expect();
    }
}
