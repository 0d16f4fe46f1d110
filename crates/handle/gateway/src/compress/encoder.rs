use std::cell::Cell;
use std::io::{self, Write};

use leat_files::Coding;

/// gzip's level: half way between its fastest and its smallest; beyond it the time doubles for a percent.
const GZIP_LEVEL: u32 = 5;
/// Brotli's quality for what is made while somebody waits; from 5 on it takes several times as long.
const BR_QUALITY: u32 = 4;
/// Brotli's window, 2^18 bytes: that of its memory too.
const BR_WINDOW_BITS: u32 = 18;
const BR_BUFFER_BYTES: usize = 4096;
/// zstd's own default.
const ZSTD_LEVEL: i32 = 3;

/// Encoders of one core at a time: clients that read slowly must not take the machine's memory. Replies beyond them go as
/// they are.
const ENCODERS_MAX: usize = 64;

thread_local! {
    static ENCODERS: Cell<usize> = const { Cell::new(0) };
}

/// A coding under way. What it has made so far lies in [`Encoder::made`].
///
/// Memory of one: gzip 0.3 MB, Brotli and zstd about 1 MB.
pub(super) struct Encoder {
    writer: Writer,
    /// Given back when the coding ends, however that is.
    _place: Place,
}

/// One of the places of [`ENCODERS_MAX`].
struct Place;

impl Place {
    fn take() -> Option<Self> {
        ENCODERS.with(|taken| {
            let free = taken.get() < ENCODERS_MAX;
            taken.set(taken.get() + usize::from(free));
            free.then_some(Self)
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        ENCODERS.with(|taken| taken.set(taken.get().saturating_sub(1)));
    }
}

enum Writer {
    Gzip(flate2::write::GzEncoder<Vec<u8>>),
    Br(Box<brotli::CompressorWriter<Vec<u8>>>),
    Zstd(zstd::stream::write::Encoder<'static, Vec<u8>>),
}

impl Encoder {
    /// `None` where all places are taken, or there is no memory for zstd's state.
    pub(super) fn new(coding: Coding) -> Option<Self> {
        let place = Place::take()?;
        let out = Vec::new();
        let writer = match coding {
            Coding::Gzip => Writer::Gzip(flate2::write::GzEncoder::new(out, flate2::Compression::new(GZIP_LEVEL))),
            Coding::Br => {
                let writer = brotli::CompressorWriter::new(out, BR_BUFFER_BYTES, BR_QUALITY, BR_WINDOW_BITS);
                Writer::Br(Box::new(writer))
            }
            Coding::Zstd => Writer::Zstd(zstd::stream::write::Encoder::new(out, ZSTD_LEVEL).ok()?),
        };
        Some(Self { writer, _place: place })
    }

    /// Takes all of `bytes`.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.writer.any().write_all(bytes)
    }

    /// Makes all that was taken readable for the peer, at the cost of a few bytes.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.writer.any().flush()
    }

    /// Ends the coding; all that it has made and nobody has taken yet.
    pub(super) fn finish(self) -> io::Result<Vec<u8>> {
        match self.writer {
            Writer::Gzip(writer) => writer.finish(),
            Writer::Br(writer) => Ok(writer.into_inner()),
            Writer::Zstd(writer) => writer.finish(),
        }
    }

    /// What was made and nobody has taken yet.
    pub(super) fn made(&mut self) -> &mut Vec<u8> {
        match &mut self.writer {
            Writer::Gzip(writer) => writer.get_mut(),
            Writer::Br(writer) => writer.get_mut(),
            Writer::Zstd(writer) => writer.get_mut(),
        }
    }
}

impl Writer {
    fn any(&mut self) -> &mut dyn Write {
        match self {
            Self::Gzip(writer) => writer,
            Self::Br(writer) => writer,
            Self::Zstd(writer) => writer,
        }
    }
}
