//! Brotli.

use std::io::Write;

use brotli::enc::backward_references::BrotliEncoderMode;
use brotli::enc::{BrotliEncoderParams, StandardAlloc};
use brotli::{BrotliDecompressStream, BrotliResult, BrotliState, CompressorWriter};

use super::{Codec, Done, Flush, Step, failed, unexpected_end};

/// Numbers of `BROTLI_PARAM_…`, at which the settings stand; -1 is not given.
const MODE: usize = 0;
const QUALITY: usize = 1;
const WINDOW: usize = 2;
const BLOCK: usize = 3;
const SIZE_HINT: usize = 5;

const BUFFER_BYTES: usize = 4096;

pub(super) struct Encoder {
    /// `None` once it has finished.
    writer: Option<CompressorWriter<Vec<u8>>>,
    /// What was made and not taken yet, and how much of it was.
    made: Vec<u8>,
    taken: usize,
    /// What was asked for and done, so that a step which only fetches does not flush again.
    flushed: bool,
}

impl Encoder {
    pub(super) fn new(settings: &[i32]) -> Self {
        let given =
            |at: usize, fallback: i32| settings.get(at).copied().filter(|value| *value >= 0).unwrap_or(fallback);
        let params = BrotliEncoderParams {
            quality: given(QUALITY, 11).clamp(0, 11),
            lgwin: given(WINDOW, 22).clamp(10, 24),
            lgblock: given(BLOCK, 0),
            size_hint: given(SIZE_HINT, 0) as usize,
            mode: match given(MODE, 0) {
                1 => BrotliEncoderMode::BROTLI_MODE_TEXT,
                2 => BrotliEncoderMode::BROTLI_MODE_FONT,
                _ => BrotliEncoderMode::BROTLI_MODE_GENERIC,
            },
            ..BrotliEncoderParams::default()
        };
        let writer = Some(CompressorWriter::with_params(Vec::new(), BUFFER_BYTES, &params));
        Self { writer, made: Vec::new(), taken: 0, flushed: true }
    }

    fn take(&mut self, output: &mut [u8]) -> usize {
        let left = self.made.get(self.taken..).unwrap_or_default();
        let length = left.len().min(output.len());
        if let (Some(to), Some(from)) = (output.get_mut(..length), left.get(..length)) {
            to.copy_from_slice(from);
        }
        self.taken += length;
        if self.taken == self.made.len() {
            self.made.clear();
            self.taken = 0;
        }
        length
    }
}

impl Codec for Encoder {
    fn step(&mut self, input: &[u8], flush: Flush, output: &mut [u8]) -> Done<Step> {
        let broken = |_| failed("Compression failed", "ERR_BROTLI_COMPRESSION_FAILED", -1);
        if let Some(writer) = &mut self.writer {
            if !input.is_empty() {
                writer.write_all(input).map_err(broken)?;
                self.flushed = false;
            }
            if flush == Flush::Finish {
                if let Some(writer) = self.writer.take() {
                    self.made.extend_from_slice(&writer.into_inner());
                }
            } else {
                if flush != Flush::None && !self.flushed {
                    writer.flush().map_err(broken)?;
                    self.flushed = true;
                }
                self.made.append(writer.get_mut());
            }
        }
        let produced = self.take(output);
        Ok(Step { consumed: input.len(), produced, ended: self.writer.is_none() && self.made.is_empty() })
    }
}

pub(super) struct Decoder {
    state: Box<BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>>,
    ended: bool,
}

impl Decoder {
    pub(super) fn new() -> Self {
        let alloc = StandardAlloc::default;
        Self { state: Box::new(BrotliState::new(alloc(), alloc(), alloc())), ended: false }
    }
}

impl Codec for Decoder {
    fn step(&mut self, input: &[u8], flush: Flush, output: &mut [u8]) -> Done<Step> {
        if self.ended {
            return Ok(Step { consumed: input.len(), produced: 0, ended: true });
        }
        let (mut left, mut consumed, mut room, mut produced, mut total) = (input.len(), 0, output.len(), 0, 0);
        let result = BrotliDecompressStream(
            &mut left,
            &mut consumed,
            input,
            &mut room,
            &mut produced,
            output,
            &mut total,
            &mut self.state,
        );
        match result {
            BrotliResult::ResultFailure => Err(failed("Decompression failed", "ERR_BROTLI_DECODER_ERROR", -2)),
            BrotliResult::NeedsMoreInput if flush == Flush::Finish && produced < output.len() => Err(unexpected_end()),
            BrotliResult::ResultSuccess => {
                self.ended = true;
                Ok(Step { consumed, produced, ended: true })
            }
            _ => Ok(Step { consumed, produced, ended: false }),
        }
    }
}
