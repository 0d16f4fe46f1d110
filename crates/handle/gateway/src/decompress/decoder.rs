use std::cell::Cell;

use brotli::{BrotliDecompressStream, BrotliResult, BrotliState, HeapAlloc, HuffmanCode};
use flate2::{Decompress, FlushDecompress, Status};
use leat_message::Reason;
use leat_stream::memory::Held;
use zstd::zstd_safe::{self, DCtx, DParameter, InBuffer, OutBuffer};

use crate::config::RequestCoding;

/// How far back a body may refer, as a power of two: 8 MiB, what RFC 9659 asks every decoder of zstd for, and the same for
/// Brotli, whose windows reach to 16 MiB. A decoder holds as much memory.
const WINDOW_BITS_MAX: u32 = 23;

/// What the decoders of one core may hold together, in bytes: 64 MiB are eight of the largest windows, or a thousand gzips.
/// Requests beyond it are refused: senders of declared windows must not take the machine's memory.
const CORE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// What a gzip or deflate decoder holds: 32 KiB of window and its tables.
const INFLATE_BYTES: usize = 48 * 1024;

/// What a Brotli decoder holds beside its window.
const BR_TABLES_BYTES: usize = 64 * 1024;
/// What it takes for each tree of prefix codes: 1,080 entries of four bytes, whatever the code.
const BR_TREE_BYTES: usize = 4 * 1080;

/// Members of one gzip body (RFC 1952 section 2.2). Block compressors make one of 64 KiB each; each costs a new decoder.
const MEMBERS_MAX: u32 = 4_096;

/// zstd's error for a window over the limit.
const WINDOW_TOO_LARGE: usize = 16;

thread_local! {
    static CORE_BYTES: Cell<usize> = const { Cell::new(0) };
}

/// A decoding under way. The memory that it holds is counted, for the core and for the process.
pub(super) struct Decoder {
    state: State,
    /// Whether what was decoded so far is whole: the body may end here.
    is_whole: bool,
    held: CoreHeld,
}

enum State {
    Gzip { inflate: Decompress, members: u32 },
    Deflate(Decompress),
    Br(Box<Brotli>),
    Zstd(DCtx<'static>),
}

type Brotli = BrotliState<HeapAlloc<u8>, HeapAlloc<u32>, HeapAlloc<HuffmanCode>>;

/// What one step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moved {
    /// Bytes of the input that are done with.
    pub(super) taken: usize,
    /// Bytes that were put to the output.
    pub(super) made: usize,
}

impl Decoder {
    /// # Errors
    /// `CodingBusy` where the core's decoders hold all they may, or there is no memory.
    pub(super) fn new(coding: RequestCoding) -> Result<Self, Reason> {
        let state = match coding {
            RequestCoding::Gzip => State::Gzip { inflate: Decompress::new_gzip(15), members: 1 },
            RequestCoding::Deflate => State::Deflate(Decompress::new(true)),
            RequestCoding::Br => {
                let (bytes, words) = (HeapAlloc::new(0), HeapAlloc::new(0));
                // Strict: without the windows of up to a gigabyte that are no part of RFC 7932.
                State::Br(Box::new(BrotliState::new_strict(bytes, words, HeapAlloc::new(HuffmanCode::default()))))
            }
            RequestCoding::Zstd => {
                let mut context = DCtx::try_create().ok_or(Reason::CodingBusy)?;
                context.set_parameter(DParameter::WindowLogMax(WINDOW_BITS_MAX)).map_err(|_| Reason::CodingBusy)?;
                State::Zstd(context)
            }
        };
        let mut decoder = Self { state, is_whole: false, held: CoreHeld::default() };
        decoder.count()?;
        Ok(decoder)
    }

    /// Whether the body may end here.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Decodes some of `input` to the front of `out`. An empty input asks for what is made already and had no room.
    ///
    /// # Errors
    /// `CodingInvalid`: that is no such coding, or goes on behind its end; `CodingWindow`; `CodingBusy`.
    pub(super) fn step(&mut self, input: &[u8], out: &mut [u8]) -> Result<Moved, Reason> {
        if input.is_empty() && self.is_whole {
            return Ok(Moved { taken: 0, made: 0 });
        }
        let moved = match &mut self.state {
            State::Gzip { inflate, members } => {
                if self.is_whole {
                    *members += 1;
                    if *members > MEMBERS_MAX {
                        return Err(Reason::CodingInvalid);
                    }
                    *inflate = Decompress::new_gzip(15);
                }
                let (moved, ended) = step_inflate(inflate, input, out)?;
                self.is_whole = ended;
                moved
            }
            State::Deflate(_) | State::Br(_) if self.is_whole => return Err(Reason::CodingInvalid),
            State::Deflate(inflate) => {
                let (moved, ended) = step_inflate(inflate, input, out)?;
                self.is_whole = ended;
                moved
            }
            State::Br(state) => {
                let (moved, ended) = step_br(state, input, out)?;
                self.is_whole = ended;
                moved
            }
            State::Zstd(context) => {
                let (moved, ended) = step_zstd(context, input, out)?;
                // A step that had nothing to take says only what would begin another frame.
                self.is_whole = ended || self.is_whole && moved.taken == 0;
                moved
            }
        };
        self.count()?;
        Ok(moved)
    }

    /// Counts what the decoder holds: that grows when it learns its window.
    fn count(&mut self) -> Result<(), Reason> {
        let bytes = match &self.state {
            State::Gzip { .. } | State::Deflate(_) => INFLATE_BYTES,
            State::Br(state) => {
                // The stream says how many trees it has, in some bits each.
                let groups = [&state.literal_hgroup, &state.insert_copy_hgroup, &state.distance_hgroup];
                let trees: usize = groups.into_iter().map(|group| usize::from(group.num_htrees)).sum();
                let ring = usize::try_from(state.ringbuffer_size).unwrap_or_default();
                BR_TABLES_BYTES + trees * BR_TREE_BYTES + ring
            }
            State::Zstd(context) => context.sizeof(),
        };
        self.held.set(bytes)
    }
}

fn step_inflate(inflate: &mut Decompress, input: &[u8], out: &mut [u8]) -> Result<(Moved, bool), Reason> {
    let (taken, made) = (inflate.total_in(), inflate.total_out());
    let status = inflate.decompress(input, out, FlushDecompress::None).map_err(|_| Reason::CodingInvalid)?;
    let moved = Moved { taken: (inflate.total_in() - taken) as usize, made: (inflate.total_out() - made) as usize };
    Ok((moved, status == Status::StreamEnd))
}

fn step_br(state: &mut Brotli, input: &[u8], out: &mut [u8]) -> Result<(Moved, bool), Reason> {
    let (mut input_left, mut taken) = (input.len(), 0);
    let (mut out_left, mut made, mut total) = (out.len(), 0, 0);
    let result =
        BrotliDecompressStream(&mut input_left, &mut taken, input, &mut out_left, &mut made, out, &mut total, state);
    if state.window_bits > WINDOW_BITS_MAX {
        return Err(Reason::CodingWindow);
    }
    match result {
        BrotliResult::ResultFailure => Err(Reason::CodingInvalid),
        BrotliResult::ResultSuccess => Ok((Moved { taken, made }, true)),
        BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => Ok((Moved { taken, made }, false)),
    }
}

fn step_zstd(context: &mut DCtx<'static>, input: &[u8], out: &mut [u8]) -> Result<(Moved, bool), Reason> {
    let mut input = InBuffer::around(input);
    let mut output = OutBuffer::around(out);
    let result = context.decompress_stream(&mut output, &mut input);
    let moved = Moved { taken: input.pos(), made: output.pos() };
    match result {
        // 0: a frame is whole and all of it was handed out; else how much would be good to have next.
        Ok(wants) => Ok((moved, wants == 0)),
        Err(code) if is_window(code) => Err(Reason::CodingWindow),
        Err(_) => Err(Reason::CodingInvalid),
    }
}

fn is_window(code: zstd_safe::ErrorCode) -> bool {
    code == 0usize.wrapping_sub(WINDOW_TOO_LARGE)
}

/// What a decoder holds, as a part of what those of its core may hold.
#[derive(Debug, Default)]
struct CoreHeld(Held);

impl CoreHeld {
    fn set(&mut self, bytes: usize) -> Result<(), Reason> {
        if bytes == self.0.bytes() {
            return Ok(());
        }
        let others = CORE_BYTES.get().saturating_sub(self.0.bytes());
        self.0.set(bytes);
        CORE_BYTES.set(others + bytes);
        if others + bytes > CORE_BYTES_MAX { Err(Reason::CodingBusy) } else { Ok(()) }
    }
}

impl Drop for CoreHeld {
    fn drop(&mut self) {
        CORE_BYTES.set(CORE_BYTES.get().saturating_sub(self.0.bytes()));
    }
}

#[cfg(test)]
#[path = "decoder_tests.rs"]
mod tests;
