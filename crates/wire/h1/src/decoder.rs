use leat_message::{Fields, Length, Profile, Reason};

use crate::extension::Extension;
use crate::limits::DecoderLimits;
use crate::trailers::Trailers;

/// Extension bytes of a whole body, as a multiple of what one chunk may have: a body of tiny chunks cannot be mostly
/// extensions (CVE-2023-39326).
const EXTENSION_TOTAL_FACTOR: usize = 16;
/// Digits of a chunk size, leading zeros included.
const SIZE_DIGITS_MAX: u8 = 16;

/// Framing of an incoming body. It has no buffer of its own: it looks at what the caller holds and says which bytes are
/// framing and which are data.
#[derive(Clone, Debug)]
pub struct BodyDecoder {
    state: State,
    limits: DecoderLimits,
    /// Data bytes announced or seen so far.
    total: u64,
    /// Extension bytes of this chunk, and of the body.
    extension: usize,
    extension_total: usize,
    trailers: Option<Box<Trailers>>,
}

/// What comes next in the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// So many bytes of data, then the end.
    Known(u64),
    /// Data until the connection ends.
    UntilClose,
    /// Opaque bytes.
    Tunnel,
    /// A chunk size, of which so many digits were read.
    Size {
        size: u64,
        digits: u8,
    },
    /// An extension of a chunk of this size.
    Extension {
        size: u64,
        place: Extension,
    },
    /// The LF that ends the size line.
    SizeLf {
        size: u64,
        extended: bool,
    },
    /// So many bytes of a chunk's data.
    Data(u64),
    /// The CR, then the LF, behind a chunk's data.
    DataCr,
    DataLf,
    /// The trailer section.
    Trailers,
    /// Nothing more belongs to this body.
    Done,
}

/// What to do with the input that was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// Consume `skip` bytes of framing; the `data` bytes right behind them belong to the body. Report those that were
    /// taken with [`BodyDecoder::consumed`]; the next `decode` starts behind them.
    Data {
        /// Framing bytes.
        skip: usize,
        /// Data bytes; at least one.
        data: usize,
    },
    /// Consume `skip` bytes; the body is complete. What follows belongs to the next message.
    End {
        /// Framing bytes.
        skip: usize,
    },
    /// Consume `skip` bytes (all of the input), then come back with more.
    More {
        /// Framing bytes.
        skip: usize,
    },
}

impl BodyDecoder {
    /// A decoder for a body of this length.
    pub fn new(length: Length, limits: DecoderLimits) -> Self {
        let state = match length {
            Length::None | Length::Known(0) => State::Done,
            Length::Known(bytes) => State::Known(bytes),
            Length::Stream => State::Size { size: 0, digits: 0 },
            Length::Close => State::UntilClose,
            Length::Tunnel => State::Tunnel,
        };
        Self { state, limits, total: 0, extension: 0, extension_total: 0, trailers: None }
    }

    /// Changes the longest body that is accepted, for a handler that knows better than the connection.
    pub fn limit(&mut self, body_bytes_max: u64) {
        self.limits.body_bytes_max = body_bytes_max;
    }

    /// Looks at `input`, the bytes behind all that was consumed, and says what to do next. Copies no data; trailer
    /// lines, where there are any, are kept in a small buffer.
    ///
    /// # Errors
    /// Malformed framing and passed limits; a body whose announced length is over `body_bytes_max` is refused at once,
    /// before its first byte. The decoder must not be used after an error.
    pub fn decode(&mut self, input: &[u8]) -> Result<Decoded, Reason> {
        match self.state {
            State::Known(left) if self.total + left > self.limits.body_bytes_max => Err(Reason::LimitBodyBytes),
            State::Known(left) | State::Data(left) => Ok(lend(0, left, input.len())),
            State::UntilClose if self.total + (input.len() as u64) > self.limits.body_bytes_max => {
                Err(Reason::LimitBodyBytes)
            }
            State::UntilClose | State::Tunnel => Ok(lend(0, u64::MAX, input.len())),
            State::Done => Ok(Decoded::End { skip: 0 }),
            _ => self.framing(input),
        }
    }

    /// Notes that the caller took the first `data` of the bytes that were lent.
    pub fn consumed(&mut self, data: usize) {
        let data = data as u64;
        match &mut self.state {
            State::Known(left) => {
                *left = left.saturating_sub(data);
                self.total += data;
                if *left == 0 {
                    self.state = State::Done;
                }
            }
            State::Data(left) => {
                *left = left.saturating_sub(data);
                if *left == 0 {
                    self.state = State::DataCr;
                }
            }
            State::UntilClose => self.total += data,
            _ => {}
        }
    }

    /// How many of the bytes to come are data for certain, with no framing between them. Good once [`BodyDecoder::decode`] has
    /// asked for more: that is where limits are checked.
    #[inline]
    pub fn unframed(&self) -> u64 {
        if let State::Known(left) = self.state { left } else { 0 }
    }

    /// Whether the body is complete. False for a body that only the end of the connection ends.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// The trailers, once the body is complete, if there were any.
    pub fn trailers(&self) -> Option<Fields<'_>> {
        match &self.trailers {
            Some(trailers) if self.is_done() => Some(trailers.fields()),
            _ => None,
        }
    }

    /// Notes that the connection ended.
    ///
    /// # Errors
    /// `body.cut_off` if the framing says that more was to come.
    pub fn end_of_input(&mut self) -> Result<(), Reason> {
        match self.state {
            State::UntilClose | State::Tunnel | State::Done => {
                self.state = State::Done;
                Ok(())
            }
            _ => Err(Reason::BodyCutOff),
        }
    }

    /// Reads chunked framing (RFC 9112 section 7.1) up to the next data byte, the end of the body or of the input.
    fn framing(&mut self, input: &[u8]) -> Result<Decoded, Reason> {
        let mut at = 0;
        loop {
            match self.state {
                State::Data(left) => return Ok(lend(at, left, input.len())),
                State::Done => return Ok(Decoded::End { skip: at }),
                State::Trailers => {
                    at += self.trailer_lines(input.get(at..).unwrap_or_default())?;
                    if self.state != State::Done {
                        return Ok(Decoded::More { skip: at });
                    }
                    continue;
                }
                _ => {}
            }
            let Some(&byte) = input.get(at) else {
                return Ok(Decoded::More { skip: at });
            };
            at += 1;
            self.state = self.step(byte)?;
        }
    }

    /// The state behind one byte of framing.
    fn step(&mut self, byte: u8) -> Result<State, Reason> {
        Ok(match self.state {
            State::Size { size, digits } => match byte {
                b'0'..=b'9' => self.grow(size, digits, byte - b'0')?,
                b'a'..=b'f' => self.grow(size, digits, byte - b'a' + 10)?,
                b'A'..=b'F' => self.grow(size, digits, byte - b'A' + 10)?,
                _ if digits == 0 => return Err(Reason::ChunkSizeInvalid),
                b'\r' => State::SizeLf { size, extended: false },
                b'\n' => return Err(Reason::ChunkEndMissing),
                b';' if self.limits.profile == Profile::Compatible => {
                    self.extension = 0;
                    self.count_extension()?;
                    State::Extension { size, place: Extension::BeforeName }
                }
                b';' => return Err(Reason::ChunkExtensionInvalid),
                _ => return Err(Reason::ChunkSizeInvalid),
            },
            State::Extension { size, place } => match byte {
                b'\r' if place.may_end() => State::SizeLf { size, extended: true },
                _ => {
                    let place = place.step(byte).ok_or(Reason::ChunkExtensionInvalid)?;
                    self.count_extension()?;
                    State::Extension { size, place }
                }
            },
            State::SizeLf { size, extended } => match byte {
                b'\n' if size == 0 => State::Trailers,
                b'\n' => self.open(size)?,
                _ if extended => return Err(Reason::ChunkExtensionInvalid),
                _ => return Err(Reason::ChunkEndMissing),
            },
            State::DataCr if byte == b'\r' => State::DataLf,
            State::DataLf if byte == b'\n' => State::Size { size: 0, digits: 0 },
            State::DataCr | State::DataLf => return Err(Reason::ChunkEndMissing),
            other => other,
        })
    }

    /// Adds a digit to a chunk size.
    fn grow(&self, size: u64, digits: u8, digit: u8) -> Result<State, Reason> {
        let leading_zero = digits > 0 && size == 0;
        if leading_zero && self.limits.profile == Profile::Strict {
            return Err(Reason::ChunkSizeInvalid);
        }
        // Others keep sizes in signed 64-bit integers.
        if digits >= SIZE_DIGITS_MAX || size >> 59 != 0 {
            return Err(Reason::ChunkSizeOverflow);
        }
        Ok(State::Size { size: size << 4 | u64::from(digit), digits: digits + 1 })
    }

    /// Starts a chunk's data.
    fn open(&mut self, size: u64) -> Result<State, Reason> {
        self.total = self.total.saturating_add(size);
        if self.total > self.limits.body_bytes_max {
            return Err(Reason::LimitBodyBytes);
        }
        Ok(State::Data(size))
    }

    /// Counts a byte of an extension.
    fn count_extension(&mut self) -> Result<(), Reason> {
        let max = self.limits.chunk_extension_bytes_max;
        self.extension += 1;
        self.extension_total += 1;
        if self.extension > max || self.extension_total > max.saturating_mul(EXTENSION_TOTAL_FACTOR) {
            return Err(Reason::LimitChunkExtension);
        }
        Ok(())
    }

    /// Takes trailer lines from the front of `input`; returns how many bytes of it.
    fn trailer_lines(&mut self, input: &[u8]) -> Result<usize, Reason> {
        if self.trailers.is_none() && input.starts_with(b"\r\n") {
            self.state = State::Done;
            return Ok(2);
        }
        let mut taken = 0;
        while self.state != State::Done && taken < input.len() {
            let rest = input.get(taken..).unwrap_or_default();
            let trailers = self.trailers.get_or_insert_default();
            taken += trailers.take_line(rest, &self.limits)?;
            if trailers.is_complete() {
                self.state = State::Done;
                if trailers.is_empty() {
                    self.trailers = None;
                }
            }
        }
        Ok(taken)
    }
}

fn lend(skip: usize, left: u64, input_len: usize) -> Decoded {
    let here = input_len - skip;
    match usize::try_from(left).unwrap_or(usize::MAX).min(here) {
        0 => Decoded::More { skip },
        data => Decoded::Data { skip, data },
    }
}
