use std::cell::RefCell;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

/// Bytes that one read gives at most: whatever a compressed body grows to, no more than this is held.
const PIECE_BYTES_MAX: usize = 64 * 1024;
/// Largest window of a zstd frame, as a power of 2: 8 MiB, as RFC 9659 allows for HTTP.
const ZSTD_WINDOW_LOG_MAX: u32 = 23;
/// Codings that may be applied one upon the other.
pub(super) const CODINGS_MAX: usize = 5;

/// Undoes a response's content codings, piece by piece.
pub(super) struct Inflate {
    input: Input,
    reader: Box<dyn Read>,
    piece: Box<[u8]>,
}

/// Compressed bytes that arrived and were not read yet.
#[derive(Clone, Default)]
struct Input(Rc<RefCell<Arrived>>);

#[derive(Default)]
struct Arrived {
    bytes: Vec<u8>,
    read: usize,
    is_ended: bool,
}

/// What came of a read.
pub(super) enum Inflated {
    Data(Vec<u8>),
    /// More compressed bytes are needed.
    More,
    End,
}

impl Inflate {
    /// What undoes `codings` (the value of Content-Encoding); `None` where one of them is unknown or they are too many, so
    /// that the body is left as it is.
    pub(super) fn new(codings: &str) -> Option<Self> {
        let list: Vec<String> = codings.split(',').map(|coding| coding.trim().to_ascii_lowercase()).collect();
        if list.len() > CODINGS_MAX {
            return None;
        }
        let input = Input::default();
        let mut reader: Box<dyn Read> = Box::new(input.clone());
        // The last one was applied last.
        for coding in list.iter().rev() {
            reader = match coding.as_str() {
                "gzip" | "x-gzip" => Box::new(flate2::read::MultiGzDecoder::new(reader)),
                "deflate" => Box::new(Deflate::Unknown(Some(reader))),
                "br" => Box::new(brotli::Decompressor::new(reader, 4096)),
                "zstd" => {
                    let mut decoder = zstd::stream::read::Decoder::new(reader).ok()?;
                    decoder.window_log_max(ZSTD_WINDOW_LOG_MAX).ok()?;
                    Box::new(decoder)
                }
                "identity" | "" => reader,
                _ => return None,
            };
        }
        Some(Self { input, reader, piece: vec![0; PIECE_BYTES_MAX].into_boxed_slice() })
    }

    /// Takes compressed bytes.
    pub(super) fn push(&self, bytes: &[u8]) {
        let mut arrived = self.input.0.borrow_mut();
        if arrived.read == arrived.bytes.len() {
            arrived.bytes.clear();
            arrived.read = 0;
        }
        arrived.bytes.extend_from_slice(bytes);
    }

    /// No more come.
    pub(super) fn end(&self) {
        self.input.0.borrow_mut().is_ended = true;
    }

    /// The next piece.
    ///
    /// # Errors
    /// What is malformed.
    pub(super) fn read(&mut self) -> io::Result<Inflated> {
        match self.reader.read(&mut self.piece) {
            Ok(0) => Ok(Inflated::End),
            Ok(count) => Ok(Inflated::Data(self.piece.get(..count).unwrap_or_default().to_vec())),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Inflated::More),
            // As with Node: what was cut off ends where it was cut off, and an empty body is none.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(Inflated::End),
            Err(error) => Err(error),
        }
    }
}

impl Read for Input {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut arrived = self.0.borrow_mut();
        let from = arrived.read;
        let count = {
            let rest = arrived.bytes.get(from..).unwrap_or_default();
            let count = rest.len().min(into.len());
            if let (Some(place), Some(bytes)) = (into.get_mut(..count), rest.get(..count)) {
                place.copy_from_slice(bytes);
            }
            count
        };
        arrived.read += count;
        if count == 0 && !into.is_empty() && !arrived.is_ended {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        Ok(count)
    }
}

/// `deflate` is zlib's format, and from some servers the bare one (RFC 9110 section 8.4.1.2): the first byte tells.
enum Deflate {
    Unknown(Option<Box<dyn Read>>),
    Zlib(flate2::read::ZlibDecoder<io::BufReader<Box<dyn Read>>>),
    Bare(flate2::read::DeflateDecoder<io::BufReader<Box<dyn Read>>>),
}

impl Read for Deflate {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match self {
                Self::Zlib(reader) => return reader.read(into),
                Self::Bare(reader) => return reader.read(into),
                Self::Unknown(source) => {
                    let Some(inner) = source.take() else { return Ok(0) };
                    let mut peeked = io::BufReader::new(inner);
                    let first = match peeked.fill_buf() {
                        Ok(bytes) => bytes.first().copied(),
                        Err(error) => {
                            *source = Some(Box::new(peeked));
                            return Err(error);
                        }
                    };
                    *self = match first {
                        Some(byte) if byte & 0x0F == 8 => Self::Zlib(flate2::read::ZlibDecoder::new(peeked)),
                        Some(_) => Self::Bare(flate2::read::DeflateDecoder::new(peeked)),
                        None => return Ok(0),
                    };
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn all(inflate: &mut Inflate, compressed: &[u8], step: usize) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        let mut pieces = compressed.chunks(step);
        for _ in 0..1_000_000 {
            match inflate.read()? {
                Inflated::Data(bytes) => text.extend_from_slice(&bytes),
                Inflated::End => return Ok(text),
                Inflated::More => match pieces.next() {
                    Some(bytes) => inflate.push(bytes),
                    None => inflate.end(),
                },
            }
        }
        panic!("no end");
    }

    #[test]
    fn every_coding_is_undone_from_pieces_of_any_length() {
        let text = b"leat ".repeat(50_000);
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        zlib.write_all(&text).unwrap();
        let mut bare = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
        bare.write_all(&text).unwrap();
        let mut br = Vec::new();
        brotli::CompressorWriter::new(&mut br, 4096, 5, 20).write_all(&text).unwrap();
        let cases = [
            ("gzip", gzip(&text)),
            ("gzip, gzip", gzip(&gzip(&text))),
            ("deflate", zlib.finish().unwrap()),
            ("deflate", bare.finish().unwrap()),
            ("br", br),
            ("zstd", zstd::encode_all(&text[..], 3).unwrap()),
            ("identity", text.clone()),
        ];
        for (codings, compressed) in &cases {
            for step in [1, 7, 100_000] {
                let got = all(&mut Inflate::new(codings).unwrap(), compressed, step).unwrap();
                assert!(got == text, "{codings} by {step}: {} bytes", got.len());
            }
        }
    }

    #[test]
    fn what_is_no_compressed_body_is_an_error_and_what_is_unknown_is_left_alone() {
        assert!(all(&mut Inflate::new("gzip").unwrap(), b"hello, hello, hello", 5).is_err());
        assert!(all(&mut Inflate::new("gzip").unwrap(), b"", 5).unwrap().is_empty());
        assert!(Inflate::new("secret").is_none());
        assert!(Inflate::new("gzip,gzip,gzip,gzip,gzip,gzip").is_none());
    }
}
