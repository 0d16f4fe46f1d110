use std::cell::RefCell;

use leat_h1::{BodyDecoder, Decoded, DecoderLimits, Progress, parse_request};
use leat_message::{Fields, Head, Length, Limits, Method, Profile, Reason, RequestLines, Version};

thread_local! {
    /// Emptied buffers and line tables of heads that are gone.
    static SPARE: RefCell<Vec<(Vec<u8>, RequestLines)>> = const { RefCell::new(Vec::new()) };
}

/// Heads whose memory a core keeps for reuse.
const SPARE_MAX: usize = 256;

/// A request head that owns its bytes.
#[derive(Debug, Default)]
pub(super) struct OwnedHead {
    bytes: Vec<u8>,
    lines: RequestLines,
}

impl OwnedHead {
    /// One without a text.
    pub(super) fn spare() -> Self {
        let mut head = SPARE.with_borrow_mut(Vec::pop).map(|(bytes, lines)| Self { bytes, lines }).unwrap_or_default();
        head.bytes.clear();
        head
    }

    /// The text, to be put here.
    pub(super) fn text(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Whether the text is of a HEAD request, parsed or not.
    pub(super) fn is_head_request(&self) -> bool {
        self.bytes.starts_with(b"HEAD ")
    }

    /// Has a head in the form of HTTP/1 judged by the same parser, so that no handler and no upstream ever sees what that
    /// parser would refuse. `ended`: no body follows.
    ///
    /// # Errors
    /// The reasons of the HTTP/1 parser.
    pub(super) fn parse(&mut self, ended: bool, profile: Profile, limits: &Limits) -> Result<(), Reason> {
        let Some(len) = parse_request(&self.bytes, &mut Progress::default(), profile, limits, &mut self.lines)? else {
            return Err(Reason::H2HeadInvalid);
        };
        if len != self.bytes.len() {
            return Err(Reason::H2HeadInvalid);
        }
        let lines = &mut self.lines;
        lines.version = Version::Http2;
        lines.keep_alive = true;
        lines.upgrade = false;
        // The parser has refused every other expectation; that a body follows it can't see in HTTP/2.
        lines.expect_continue = !ended && Fields::new(&self.bytes, &lines.fields).get_named(b"expect").is_some();
        if !ended && lines.method == Method::Trace {
            return Err(Reason::BodyNotAllowed);
        }
        // One without a length is nothing that the parser could see.
        let is_meaningless = matches!(lines.method, Method::Get | Method::Head | Method::Options | Method::Delete);
        let is_refused = is_meaningless && profile == Profile::Strict;
        lines.length = match lines.length {
            Length::Known(count) if !ended || count == 0 => Length::Known(count),
            Length::None if !ended && is_refused => return Err(Reason::BodyNotAllowed),
            Length::None if !ended => Length::Stream,
            Length::None => Length::None,
            _ => return Err(Reason::H2HeadInvalid),
        };
        Ok(())
    }

    pub(super) fn view(&self) -> Head<'_> {
        Head::new(&self.bytes, &self.lines)
    }
}

impl Drop for OwnedHead {
    fn drop(&mut self) {
        let pair = (std::mem::take(&mut self.bytes), std::mem::take(&mut self.lines));
        // The thread may be ending, its spares gone.
        let _ = SPARE.try_with(|spare| {
            if let Ok(mut spare) = spare.try_borrow_mut()
                && spare.len() < SPARE_MAX
                && pair.0.capacity() > 0
            {
                spare.push(pair);
            }
        });
    }
}

/// The trailers of a request, judged by HTTP/1's own decoder.
#[derive(Debug)]
pub(super) struct Trailers(BodyDecoder);

impl Trailers {
    /// Takes trailers in the form of HTTP/1, so that what is refused there is refused here too. Copies them once.
    ///
    /// # Errors
    /// Those of a trailer section in HTTP/1.
    pub(super) fn new(section: &[u8], profile: Profile, limits: &Limits) -> Result<Self, Reason> {
        let mut decoder = BodyDecoder::new(Length::Stream, DecoderLimits::new(limits, profile));
        match decoder.decode(section)? {
            Decoded::End { .. } => Ok(Self(decoder)),
            Decoded::Data { .. } | Decoded::More { .. } => Err(Reason::TrailerInvalid),
        }
    }

    pub(super) fn view(&self) -> Option<Fields<'_>> {
        self.0.trailers()
    }
}
