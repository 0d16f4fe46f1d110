//! Zstandard.

use zstd::stream::raw::{self, CParameter, InBuffer, Operation, OutBuffer};

use super::{Codec, Done, Flush, Step, failed, unexpected_end};

/// The level if none is given, as in the library.
const LEVEL: i32 = 3;

fn broken(error: std::io::Error) -> crate::host::Failure {
    failed(&error.to_string(), "ZSTD_error_GENERIC", -1)
}

pub(super) struct Encoder(raw::Encoder<'static>);

impl Encoder {
    /// Settings: the level, and whether there is a checksum; -1000 is not given.
    pub(super) fn new(settings: &[i32], dictionary: Option<Vec<u8>>) -> Done<Self> {
        let level = settings.first().copied().filter(|level| *level > -1000).unwrap_or(LEVEL);
        let made = match dictionary {
            Some(dictionary) => raw::Encoder::with_dictionary(level, &dictionary),
            None => raw::Encoder::new(level),
        };
        let mut encoder = made.map_err(broken)?;
        if settings.get(1) == Some(&1) {
            encoder.set_parameter(CParameter::ChecksumFlag(true)).map_err(broken)?;
        }
        Ok(Self(encoder))
    }
}

impl Codec for Encoder {
    fn step(&mut self, input: &[u8], flush: Flush, output: &mut [u8]) -> Done<Step> {
        let room = output.len();
        let mut from = InBuffer::around(input);
        let mut to = OutBuffer::around(output);
        let mut ended = false;
        while from.pos() < input.len() && to.pos() < room {
            self.0.run(&mut from, &mut to).map_err(broken)?;
        }
        if from.pos() == input.len() && to.pos() < room {
            match flush {
                Flush::None => {}
                Flush::Finish => ended = self.0.finish(&mut to, true).map_err(broken)? == 0,
                _ => _ = self.0.flush(&mut to).map_err(broken)?,
            }
        }
        Ok(Step { consumed: from.pos(), produced: to.pos(), ended })
    }
}

pub(super) struct Decoder {
    decoder: raw::Decoder<'static>,
    /// A frame has begun and not ended.
    within: bool,
    began: bool,
}

impl Decoder {
    pub(super) fn new(_settings: &[i32], dictionary: Option<Vec<u8>>) -> Done<Self> {
        let made = match dictionary {
            Some(dictionary) => raw::Decoder::with_dictionary(&dictionary),
            None => raw::Decoder::new(),
        };
        Ok(Self { decoder: made.map_err(broken)?, within: false, began: false })
    }
}

impl Codec for Decoder {
    fn step(&mut self, input: &[u8], flush: Flush, output: &mut [u8]) -> Done<Step> {
        let room = output.len();
        let mut from = InBuffer::around(input);
        let mut to = OutBuffer::around(output);
        loop {
            let (read, written) = (from.pos(), to.pos());
            let left = self.decoder.run(&mut from, &mut to).map_err(broken)?;
            self.began |= from.pos() > 0;
            self.within = left != 0;
            if to.pos() == room || from.pos() == input.len() || (from.pos(), to.pos()) == (read, written) {
                break;
            }
        }
        if flush == Flush::Finish && self.within && self.began && to.pos() < room {
            return Err(unexpected_end());
        }
        Ok(Step { consumed: from.pos(), produced: to.pos(), ended: false })
    }
}
