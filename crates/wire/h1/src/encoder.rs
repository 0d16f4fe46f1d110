use std::fmt;

use leat_message::{Fields, Length};

use crate::encode;
use crate::trailers::is_forbidden;

/// Framing of an outgoing body: what to put around each piece of data.
#[derive(Clone, Copy, Debug)]
pub struct BodyEncoder {
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// So many more bytes were announced.
    Known(u64),
    Chunked,
    /// Until the connection closes, or a tunnel.
    Raw,
    Ended,
}

/// The framing around one piece of data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Framed {
    prefix: [u8; PREFIX_BYTES_MAX],
    prefix_start: u8,
    /// What follows the data.
    pub suffix: &'static [u8],
}

/// Sixteen digits and CRLF.
const PREFIX_BYTES_MAX: usize = 18;

impl Framed {
    /// What precedes the data.
    #[inline]
    pub fn prefix(&self) -> &[u8] {
        if self.suffix.is_empty() {
            return &[];
        }
        self.prefix.get(usize::from(self.prefix_start)..).unwrap_or_default()
    }
}

/// The caller's mistake in sending a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncodeError {
    /// More bytes than were announced, or any where there is no body.
    TooLong {
        /// Bytes that would have gone out beyond the announced length.
        excess: u64,
    },
    /// The body was ended before all announced bytes were sent.
    TooShort {
        /// Bytes that are missing.
        missing: u64,
    },
    /// A trailer that is not a legal field line, or that must not be a trailer.
    TrailerInvalid,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { excess } => write!(f, "the body is {excess} bytes longer than its announced length"),
            Self::TooShort { missing } => write!(f, "the body ended {missing} bytes before its announced length"),
            Self::TrailerInvalid => f.write_str("a trailer is malformed, or is a field that belongs into the head"),
        }
    }
}

impl std::error::Error for EncodeError {}

impl BodyEncoder {
    /// An encoder for a body of this length.
    pub fn new(length: Length) -> Self {
        let state = match length {
            Length::None => State::Known(0),
            Length::Known(bytes) => State::Known(bytes),
            Length::Stream => State::Chunked,
            Length::Close | Length::Tunnel => State::Raw,
        };
        Self { state }
    }

    /// The framing for a piece of `len` bytes of data. An empty piece has none: an empty chunk would end the body.
    ///
    /// # Errors
    /// [`EncodeError::TooLong`]; nothing of the piece may go out then.
    #[inline]
    pub fn piece(&mut self, len: usize) -> Result<Framed, EncodeError> {
        match &mut self.state {
            State::Known(left) => match left.checked_sub(len as u64) {
                Some(rest) => {
                    *left = rest;
                    Ok(Framed::default())
                }
                None => Err(EncodeError::TooLong { excess: len as u64 - *left }),
            },
            State::Chunked if len > 0 => Ok(chunk(len)),
            State::Chunked | State::Raw => Ok(Framed::default()),
            State::Ended if len == 0 => Ok(Framed::default()),
            State::Ended => Err(EncodeError::TooLong { excess: len as u64 }),
        }
    }

    /// Ends the body: appends the last chunk and the trailers to `out` where the framing is chunked; elsewhere trailers
    /// are left out. Ending twice is harmless.
    ///
    /// # Errors
    /// [`EncodeError::TooShort`], and [`EncodeError::TrailerInvalid`] with nothing appended.
    pub fn end(&mut self, trailers: Option<Fields<'_>>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        match self.state {
            State::Known(missing) if missing > 0 => return Err(EncodeError::TooShort { missing }),
            State::Chunked => last_chunk(trailers, out)?,
            _ => {}
        }
        self.state = State::Ended;
        Ok(())
    }
}

#[inline]
fn chunk(len: usize) -> Framed {
    let mut prefix = [b'\n'; PREFIX_BYTES_MAX];
    let mut at = PREFIX_BYTES_MAX - 2;
    let mut rest = len;
    if let Some(cr) = prefix.get_mut(at) {
        *cr = b'\r';
    }
    while rest > 0 {
        at -= 1;
        if let Some(slot) = prefix.get_mut(at) {
            let digit = (rest & 15) as u8;
            *slot = if digit < 10 { b'0' + digit } else { b'a' + digit - 10 };
        }
        rest >>= 4;
    }
    Framed { prefix, prefix_start: at as u8, suffix: b"\r\n" }
}

fn last_chunk(trailers: Option<Fields<'_>>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let before = out.len();
    out.extend_from_slice(b"0\r\n");
    for (id, name, value) in trailers.into_iter().flatten() {
        if is_forbidden(id, name) || !encode::is_field(name, value) {
            out.truncate(before);
            return Err(EncodeError::TrailerInvalid);
        }
        encode::field(out, name, value);
    }
    out.extend_from_slice(b"\r\n");
    Ok(())
}
