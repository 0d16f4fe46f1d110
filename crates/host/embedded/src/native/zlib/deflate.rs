//! Deflate with the frames of zlib and gzip, and none.

use zlib_rs::{Deflate, DeflateConfig, DeflateFlush, Inflate, InflateError, InflateFlush, Status, Strategy};

use super::{Codec, Done, Flush, Step, failed, unexpected_end};
use crate::host::Failure;

const GUNZIP: i32 = 4;
const INFLATE_RAW: i32 = 6;
const UNZIP: i32 = 7;
const WINDOW_BITS: i32 = 15;

fn setting(settings: &[i32], at: usize, fallback: i32) -> i32 {
    settings.get(at).copied().unwrap_or(fallback)
}

fn strategy(number: i32) -> Strategy {
    match number {
        1 => Strategy::Filtered,
        2 => Strategy::HuffmanOnly,
        3 => Strategy::Rle,
        4 => Strategy::Fixed,
        _ => Strategy::Default,
    }
}

pub(super) struct Encoder(Deflate);

impl Encoder {
    /// Settings: window bits, level, memory level, strategy; they were checked.
    pub(super) fn new(mode: i32, settings: &[i32], dictionary: Option<Vec<u8>>) -> Done<Self> {
        let bits = setting(settings, 0, WINDOW_BITS).clamp(9, WINDOW_BITS);
        let window_bits = match mode {
            3 => bits + 16,
            5 => -bits,
            _ => bits,
        };
        let mut deflate = Deflate::new_with_config(DeflateConfig {
            window_bits,
            level: setting(settings, 1, -1).clamp(-1, 9),
            mem_level: setting(settings, 2, 8).clamp(1, 9),
            strategy: strategy(setting(settings, 3, 0)),
            ..DeflateConfig::default()
        });
        if let Some(dictionary) = dictionary {
            let set = deflate.set_dictionary(&dictionary);
            set.map_err(|_| failed("Failed to set dictionary", "Z_STREAM_ERROR", -2))?;
        }
        Ok(Self(deflate))
    }
}

impl Codec for Encoder {
    fn step(&mut self, input: &[u8], flush: Flush, output: &mut [u8]) -> Done<Step> {
        let flush = match flush {
            Flush::None => DeflateFlush::NoFlush,
            Flush::Partial => DeflateFlush::PartialFlush,
            Flush::Sync => DeflateFlush::SyncFlush,
            Flush::Full => DeflateFlush::FullFlush,
            Flush::Block => DeflateFlush::Block,
            Flush::Finish => DeflateFlush::Finish,
        };
        let (read, written) = (self.0.total_in(), self.0.total_out());
        let status = self.0.compress(input, output, flush);
        let status = status.map_err(|error| failed(error.as_str(), "Z_STREAM_ERROR", -2))?;
        Ok(Step {
            consumed: (self.0.total_in() - read) as usize,
            produced: (self.0.total_out() - written) as usize,
            ended: status == Status::StreamEnd,
        })
    }

    fn params(&mut self, level: i32, _strategy: i32) -> bool {
        self.0.set_level(level.clamp(-1, 9)).is_ok()
    }
}

pub(super) struct Decoder {
    inflate: Inflate,
    mode: i32,
    bits: u8,
    dictionary: Option<Vec<u8>>,
    /// The first bytes, until it is known what they begin (`unzip`).
    head: Vec<u8>,
    ended: bool,
}

impl Decoder {
    /// Settings: window bits.
    pub(super) fn new(mode: i32, settings: &[i32], dictionary: Option<Vec<u8>>) -> Self {
        let bits = match setting(settings, 0, WINDOW_BITS) {
            0 if mode != INFLATE_RAW => 0,
            bits => u8::try_from(bits.clamp(8, WINDOW_BITS)).unwrap_or(15),
        };
        let mut made = Self { inflate: inflate(mode, bits), mode, bits, dictionary, head: Vec::new(), ended: false };
        // A raw stream does not say that it wants a dictionary.
        if mode == INFLATE_RAW
            && let Some(dictionary) = &made.dictionary
        {
            let _ = made.inflate.set_dictionary(dictionary);
        }
        made
    }

    fn failure(&self, error: InflateError) -> Failure {
        let message = self.inflate.error_message();
        match error {
            InflateError::NeedDict { .. } => failed("Missing dictionary", "Z_NEED_DICT", 2),
            InflateError::DataError => failed(message.unwrap_or("invalid data"), "Z_DATA_ERROR", -3),
            InflateError::StreamError => failed(message.unwrap_or("stream error"), "Z_STREAM_ERROR", -2),
            InflateError::MemError => failed("insufficient memory", "Z_MEM_ERROR", -4),
        }
    }

    /// One call of the library: with the dictionary, if it asks for one.
    fn inflate(&mut self, input: &[u8], finish: bool, output: &mut [u8]) -> Done<Step> {
        // To finish is to fail where input is missing, which is checked below; the library would want all the room at once.
        let flush = if finish { InflateFlush::SyncFlush } else { InflateFlush::NoFlush };
        let (read, written) = (self.inflate.total_in(), self.inflate.total_out());
        let mut status = self.inflate.decompress(input, output, flush);
        if let (Err(InflateError::NeedDict { .. }), Some(dictionary)) = (&status, &self.dictionary) {
            let bad = |_| failed("Bad dictionary", "Z_NEED_DICT", 2);
            self.inflate.set_dictionary(dictionary).map_err(bad)?;
            let taken = (self.inflate.total_in() - read) as usize;
            let given = (self.inflate.total_out() - written) as usize;
            let rest = output.get_mut(given..).unwrap_or_default();
            status = self.inflate.decompress(input.get(taken..).unwrap_or_default(), rest, flush);
        }
        let status = status.map_err(|error| self.failure(error))?;
        Ok(Step {
            consumed: (self.inflate.total_in() - read) as usize,
            produced: (self.inflate.total_out() - written) as usize,
            ended: status == Status::StreamEnd,
        })
    }

    /// Members of gzip follow each other; zeros behind them are padding.
    fn members(&mut self, input: &[u8], finish: bool, output: &mut [u8]) -> Done<Step> {
        let (mut consumed, mut produced) = (0, 0);
        loop {
            if self.ended {
                let rest = input.get(consumed..).unwrap_or_default();
                match rest.first() {
                    Some(byte) if self.mode == GUNZIP && *byte != 0 => {
                        self.inflate = inflate(self.mode, self.bits);
                        self.ended = false;
                    }
                    // What is left is nobody's.
                    _ => return Ok(Step { consumed: input.len(), produced, ended: true }),
                }
            }
            let rest = input.get(consumed..).unwrap_or_default();
            let step = self.inflate(rest, finish, output.get_mut(produced..).unwrap_or_default())?;
            consumed += step.consumed;
            produced += step.produced;
            self.ended = step.ended;
            if !step.ended {
                return Ok(Step { consumed, produced, ended: false });
            }
            if self.mode != GUNZIP || consumed >= input.len() {
                return Ok(Step { consumed, produced, ended: true });
            }
        }
    }
}

fn inflate(mode: i32, bits: u8) -> Inflate {
    match mode {
        GUNZIP => Inflate::new(true, bits + 16),
        INFLATE_RAW => Inflate::new(false, bits),
        _ => Inflate::new(true, bits),
    }
}

impl Codec for Decoder {
    fn step(&mut self, input: &[u8], flush: Flush, output: &mut [u8]) -> Done<Step> {
        let finish = flush == Flush::Finish;
        let mut joined = Vec::new();
        let mut before = 0;
        if self.mode == UNZIP {
            // 1f 8b begins gzip; anything else is zlib's.
            let first = |at: usize| self.head.iter().chain(input).nth(at).copied();
            match (first(0), first(1)) {
                (Some(0x1f), Some(0x8b)) => self.mode = GUNZIP,
                (Some(0x1f), None) if !finish => {
                    self.head.extend_from_slice(input);
                    return Ok(Step { consumed: input.len(), produced: 0, ended: false });
                }
                (None, _) => {
                    return if finish {
                        Err(unexpected_end())
                    } else {
                        Ok(Step { consumed: 0, produced: 0, ended: false })
                    };
                }
                _ => self.mode = 2,
            }
            self.inflate = inflate(self.mode, self.bits);
            if !self.head.is_empty() {
                before = self.head.len();
                joined = std::mem::take(&mut self.head);
                joined.extend_from_slice(input);
            }
        }
        let from = if joined.is_empty() { input } else { &joined };
        let step = self.members(from, finish, output)?;
        if finish && !step.ended && step.produced < output.len() {
            return Err(unexpected_end());
        }
        Ok(Step { consumed: step.consumed.saturating_sub(before), ..step })
    }
}
