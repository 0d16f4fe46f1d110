//! How single messages are compressed. The protocols name the codings alike and differ only in the field that tells them.

use std::cell::RefCell;
use std::io::{self, Read, Write};

use brotli::enc::StandardAlloc;
use brotli::{BrotliDecompressStream, BrotliResult, BrotliState};
use flate2::bufread::{GzDecoder, ZlibDecoder};

/// A coding of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Coding {
    /// As it is.
    #[default]
    Identity,
    /// RFC 1952.
    Gzip,
    /// The zlib form, RFC 1950, as HTTP means by this name (RFC 9110 section 8.4.1.2).
    Deflate,
    /// RFC 7932.
    Br,
    /// RFC 8878.
    Zstd,
}

/// Why a message could not be decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompressionError {
    /// It is not what its coding makes, is cut off, or goes on behind its end.
    Invalid,
    /// It would be longer than the limit.
    TooLarge,
}

/// The codings that we read and write, as a list for `grpc-accept-encoding` and its like.
pub const ALL_NAMES: &str = "gzip,br,zstd,deflate";

/// Windows that a zstd message may ask for, as a power of two: 8 MiB, what RFC 8878 section 3.1.1.1.2 recommends to support.
const ZSTD_WINDOW_LOG_MAX: u32 = 23;
/// Fast settings: the messages are short, and the other side waits.
const GZIP_LEVEL: u32 = 5;
const BROTLI_QUALITY: i32 = 3;
const BROTLI_WINDOW_LOG: i32 = 18;
const ZSTD_LEVEL: i32 = 1;
const BLOCK_BYTES: usize = 8 * 1024;

thread_local! {
    /// A compressor of each kind that is dear to make.
    static GZIP: RefCell<Option<flate2::Compress>> = const { RefCell::new(None) };
}

impl Coding {
    /// The name that all protocols use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Br => "br",
            Self::Zstd => "zstd",
        }
    }

    /// The coding of this name. An empty one is identity.
    pub fn from_name(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"" | b"identity" => Self::Identity,
            b"gzip" => Self::Gzip,
            b"deflate" => Self::Deflate,
            b"br" => Self::Br,
            b"zstd" => Self::Zstd,
            _ => return None,
        })
    }

    /// Appends `message` to `out`, compressed. Allocates what the library needs.
    pub fn compress(self, message: &[u8], out: &mut Vec<u8>) {
        // Writing to a Vec fails for nobody.
        let _ = match self {
            Self::Identity => out.write_all(message),
            Self::Gzip => gzip(message, out),
            Self::Deflate => {
                let mut encoder = flate2::write::ZlibEncoder::new(out, flate2::Compression::new(GZIP_LEVEL));
                encoder.write_all(message).and_then(|()| encoder.finish().map(drop))
            }
            Self::Br => {
                let mut encoder =
                    brotli::CompressorWriter::new(out, BLOCK_BYTES, BROTLI_QUALITY as u32, BROTLI_WINDOW_LOG as u32);
                encoder.write_all(message).and_then(|()| encoder.flush())
            }
            Self::Zstd => zstd::stream::write::Encoder::new(out, ZSTD_LEVEL).and_then(|mut encoder| {
                encoder.include_contentsize(true)?;
                encoder.set_pledged_src_size(Some(message.len() as u64))?;
                encoder.write_all(message)?;
                encoder.finish().map(drop)
            }),
        };
    }

    /// Appends what `message` was to `out`, of at most `bytes_max` bytes. Nothing is nothing in every coding.
    ///
    /// # Errors
    /// See [`CompressionError`]; `out` then has something behind its old end.
    pub fn decompress(self, message: &[u8], bytes_max: usize, out: &mut Vec<u8>) -> Result<(), CompressionError> {
        if message.is_empty() {
            return Ok(());
        }
        let mut rest = message;
        match self {
            Self::Identity => return take(message, bytes_max, out),
            Self::Gzip => take(GzDecoder::new(&mut rest), bytes_max, out)?,
            Self::Deflate => take(ZlibDecoder::new(&mut rest), bytes_max, out)?,
            Self::Br => return unbrotli(message, bytes_max, out),
            Self::Zstd => {
                let mut decoder =
                    zstd::stream::read::Decoder::with_buffer(&mut rest).map_err(|_| CompressionError::Invalid)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX).map_err(|_| CompressionError::Invalid)?;
                take(decoder.single_frame(), bytes_max, out)?;
            }
        }
        if rest.is_empty() { Ok(()) } else { Err(CompressionError::Invalid) }
    }
}

fn take(reader: impl Read, bytes_max: usize, out: &mut Vec<u8>) -> Result<(), CompressionError> {
    let before = out.len();
    let limit = (bytes_max as u64).saturating_add(1);
    reader.take(limit).read_to_end(out).map_err(|_| CompressionError::Invalid)?;
    if out.len() - before > bytes_max { Err(CompressionError::TooLarge) } else { Ok(()) }
}

/// One Brotli stream, step by step: the library's reader does not tell where the stream ended.
fn unbrotli(message: &[u8], bytes_max: usize, out: &mut Vec<u8>) -> Result<(), CompressionError> {
    let alloc = StandardAlloc::default;
    let mut state = BrotliState::new(alloc(), alloc(), alloc());
    let (mut rest, mut at, mut total) = (message.len(), 0, 0);
    let mut block = [0; BLOCK_BYTES];
    loop {
        let (mut room, mut made) = (BLOCK_BYTES, 0);
        let step = BrotliDecompressStream(
            &mut rest, &mut at, message, &mut room, &mut made, &mut block, &mut total, &mut state,
        );
        out.extend_from_slice(block.get(..made).unwrap_or_default());
        if total > bytes_max {
            return Err(CompressionError::TooLarge);
        }
        match step {
            BrotliResult::ResultSuccess if rest == 0 => return Ok(()),
            BrotliResult::NeedsMoreOutput => {}
            _ => return Err(CompressionError::Invalid),
        }
    }
}

/// One gzip member, by a compressor that is used again: its tables cost more than a short message.
fn gzip(message: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
    /// RFC 1952 section 2.3: magic, deflate, no flags, no time, no hints, unknown system.
    const HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    out.extend_from_slice(&HEAD);
    GZIP.with_borrow_mut(|slot| {
        let deflate = slot.get_or_insert_with(|| flate2::Compress::new(flate2::Compression::new(GZIP_LEVEL), false));
        deflate.reset();
        loop {
            let taken = usize::try_from(deflate.total_in()).unwrap_or(usize::MAX);
            out.reserve(BLOCK_BYTES.min(message.len() / 2 + 64));
            let rest = message.get(taken..).unwrap_or_default();
            let status = deflate.compress_vec(rest, out, flate2::FlushCompress::Finish)?;
            if status == flate2::Status::StreamEnd {
                return io::Result::Ok(());
            }
        }
    })?;
    let mut sum = flate2::Crc::new();
    sum.update(message);
    out.extend_from_slice(&sum.sum().to_le_bytes());
    out.extend_from_slice(&sum.amount().to_le_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODINGS: [Coding; 5] = [Coding::Identity, Coding::Gzip, Coding::Deflate, Coding::Br, Coding::Zstd];

    #[test]
    fn what_is_compressed_comes_back() {
        let long: Vec<u8> = (0..100_000u32).flat_map(|n| (n % 977).to_le_bytes()).collect();
        for coding in CODINGS {
            for message in [&b""[..], b"a", b"some text, some text", &long] {
                let mut packed = b"before".to_vec();
                coding.compress(message, &mut packed);
                let mut out = b"x".to_vec();
                coding.decompress(&packed[6..], message.len(), &mut out).unwrap();
                assert!(out[1..] == *message, "{coding:?} of {} bytes", message.len());
                assert_eq!(Coding::from_name(coding.name().as_bytes()), Some(coding));
            }
        }
        for name in ALL_NAMES.split(',') {
            assert!(Coding::from_name(name.as_bytes()).is_some());
        }
        assert_eq!(Coding::from_name(b"snappy"), None);
    }

    #[test]
    fn bombs_are_stopped_at_the_limit() {
        let zeros = vec![0; 10_000_000];
        for coding in &CODINGS[1..] {
            let mut packed = Vec::new();
            coding.compress(&zeros, &mut packed);
            assert!(packed.len() < 100_000, "{coding:?} {}", packed.len());
            let mut out = Vec::new();
            assert_eq!(coding.decompress(&packed, 1000, &mut out), Err(CompressionError::TooLarge), "{coding:?}");
            assert!(out.capacity() < 100_000, "{coding:?} held {}", out.capacity());
        }
    }

    #[test]
    fn what_is_not_of_its_coding_is_invalid() {
        for coding in &CODINGS[1..] {
            let mut packed = Vec::new();
            coding.compress(b"a message that is long enough to be cut off somewhere in it", &mut packed);
            let mut longer = packed.clone();
            longer.push(0);
            for (what, bytes) in [("text", &b"plain text"[..]), ("cut", &packed[..packed.len() - 1]), ("more", &longer)]
            {
                let result = coding.decompress(bytes, 1000, &mut Vec::new());
                assert_eq!(result, Err(CompressionError::Invalid), "{coding:?} {what}");
            }
        }
    }
}
