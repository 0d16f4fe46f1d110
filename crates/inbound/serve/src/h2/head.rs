use std::cell::RefCell;

use bytes::Bytes;
use http::request::Parts;
use leat_h1::{BodyDecoder, Decoded, DecoderLimits, Progress, encode, parse_request};
use leat_message::{Head, Length, Limits, Method, Profile, Reason, RequestLines, Version};

use super::known;

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
    /// Brings an HTTP/2 head into the form of HTTP/1 and has it judged by the same parser, so that no handler and no
    /// upstream ever sees what that parser would refuse. `:authority` becomes Host; split cookies are joined again
    /// (RFC 9113 section 8.2.3). Copies the head once.
    ///
    /// # Errors
    /// The reasons of the HTTP/1 parser, and `host.conflict` where Host differs from `:authority`.
    pub(super) fn new(parts: &Parts, ended: bool, profile: Profile, limits: &Limits) -> Result<Self, Reason> {
        let mut head = SPARE.with_borrow_mut(Vec::pop).map(|(bytes, lines)| Self { bytes, lines }).unwrap_or_default();
        head.bytes.clear();
        head.write(parts)?;
        let Some(len) = parse_request(&head.bytes, &mut Progress::default(), profile, limits, &mut head.lines)? else {
            return Err(Reason::H2HeadInvalid);
        };
        if len != head.bytes.len() {
            return Err(Reason::H2HeadInvalid);
        }
        head.lines.version = Version::Http2;
        head.lines.keep_alive = true;
        head.lines.upgrade = false;
        // The parser has refused every other expectation; that a body follows it can't see in HTTP/2.
        head.lines.expect_continue = !ended && parts.headers.contains_key(http::header::EXPECT);
        if !ended && head.lines.method == Method::Trace {
            return Err(Reason::BodyNotAllowed);
        }
        head.lines.length = match head.lines.length {
            Length::Known(count) if !ended || count == 0 => Length::Known(count),
            Length::None if !ended => Length::Stream,
            Length::None => Length::None,
            _ => return Err(Reason::H2HeadInvalid),
        };
        Ok(head)
    }

    pub(super) fn view(&self) -> Head<'_> {
        Head::new(&self.bytes, &self.lines)
    }

    fn write(&mut self, parts: &Parts) -> Result<(), Reason> {
        let out = &mut self.bytes;
        let authority = parts.uri.authority().map(|authority| authority.as_str().as_bytes());
        out.extend_from_slice(parts.method.as_str().as_bytes());
        out.push(b' ');
        match (parts.uri.path_and_query(), authority) {
            (None, Some(authority)) if parts.method == http::Method::CONNECT => out.extend_from_slice(authority),
            (Some(target), _) => out.extend_from_slice(target.as_str().as_bytes()),
            (None, _) => return Err(Reason::LineTargetForm),
        }
        out.extend_from_slice(b" HTTP/1.1\r\n");
        if let Some(authority) = authority {
            let mut hosts = parts.headers.get_all(http::header::HOST).iter();
            if hosts.any(|host| !authority.eq_ignore_ascii_case(host.as_bytes())) {
                return Err(Reason::HostConflict);
            }
            encode::field(out, b"host", authority);
        }
        let mut cookies = parts.headers.get_all(http::header::COOKIE).iter();
        for (name, value) in &parts.headers {
            if name == http::header::HOST && authority.is_some() || name == http::header::COOKIE {
                continue;
            }
            encode::field(out, name.as_str().as_bytes(), value.as_bytes());
        }
        if let Some(first) = cookies.next() {
            out.extend_from_slice(b"cookie: ");
            out.extend_from_slice(first.as_bytes());
            for crumb in cookies {
                out.extend_from_slice(b"; ");
                out.extend_from_slice(crumb.as_bytes());
            }
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(b"\r\n");
        Ok(())
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
    /// Brings HTTP/2 trailers into the form of HTTP/1, so that what is refused there is refused here too. Copies them
    /// twice; trailers are small and rare.
    ///
    /// # Errors
    /// Those of a trailer section in HTTP/1.
    pub(super) fn new(map: &http::HeaderMap, profile: Profile, limits: &Limits) -> Result<Self, Reason> {
        let mut section = b"0\r\n".to_vec();
        for (name, value) in map {
            encode::field(&mut section, name.as_str().as_bytes(), value.as_bytes());
        }
        section.extend_from_slice(b"\r\n");
        let mut decoder = BodyDecoder::new(Length::Stream, DecoderLimits::new(limits, profile));
        match decoder.decode(&section)? {
            Decoded::End { .. } => Ok(Self(decoder)),
            Decoded::Data { .. } | Decoded::More { .. } => Err(Reason::TrailerInvalid),
        }
    }

    pub(super) fn view(&self) -> Option<leat_message::Fields<'_>> {
        self.0.trailers()
    }
}

/// A field for an h2 message; `None` where its name or value can't be one.
pub(super) fn to_field(name: &[u8], value: &[u8]) -> Option<(http::HeaderName, http::HeaderValue)> {
    let name = match known::name(name) {
        Some(name) => name,
        None => http::HeaderName::from_bytes(name).ok()?,
    };
    let value = match known::value(value) {
        Some(value) => value,
        None => http::HeaderValue::from_maybe_shared(Bytes::copy_from_slice(value)).ok()?,
    };
    Some((name, value))
}
