use crate::Code;
use crate::frame::{Header, flag, kind};

/// Frames that serve no request, above which a connection is flooding, in one window: PING, SETTINGS, PRIORITY and the
/// like. One more for each stream that was opened and each DATA frame that we sent: gRPC clients measure with a PING how
/// fast data comes.
const IDLE_FRAMES_MAX: u32 = 200;
/// WINDOW_UPDATE frames in one window: honest ones come about once per DATA frame sent.
const WINDOW_UPDATES_MAX: u32 = 20_000;
/// Streams reset by the client in one window beyond half of those it opened (rapid reset: CVE-2023-44487).
const RESETS_MAX: u32 = 200;
/// Streams that the client reset before anybody looked at them, of one read.
const UNSEEN_RESETS_MAX: u32 = 20;
/// Streams that we reset for the client's errors in one window (CVE-2025-8671, MadeYouReset).
const LOCAL_RESETS_MAX: u32 = 64;
/// CONTINUATION frames of one head (CVE-2024-27316): with 16 KiB frames any legal head fits in a few.
const CONTINUATIONS_MAX: u32 = 16;
/// Empty DATA frames in one window (CVE-2019-9518).
const EMPTY_DATA_MAX: u32 = 200;
/// Length of a window in milliseconds.
const WINDOW_MS: u64 = 10_000;

/// Counts what no request needs (RFC 9113 section 10.5).
#[derive(Debug, Default)]
pub(crate) struct Meter {
    window_start_ms: u64,
    idle_frames: u32,
    window_updates: u32,
    opened: u32,
    data_sent: u32,
    resets: u32,
    unseen_resets: u32,
    local_resets: u32,
    continuations: u32,
    empty_data: u32,
}

impl Meter {
    /// A read begins at `now_ms`; old counts are forgotten.
    pub(crate) fn turn(&mut self, now_ms: u64) {
        self.unseen_resets = 0;
        if now_ms.saturating_sub(self.window_start_ms) >= WINDOW_MS {
            *self = Self { window_start_ms: now_ms, continuations: self.continuations, ..Self::default() };
        }
    }

    /// Counts a frame of the client.
    ///
    /// # Errors
    /// ENHANCE_YOUR_CALM above a limit, for this and the others.
    pub(crate) fn frame(&mut self, header: Header) -> Result<(), Code> {
        match header.kind {
            kind::DATA if header.len == 0 && !header.has(flag::END_STREAM) => self.empty_data += 1,
            kind::DATA => {}
            kind::HEADERS => self.continuations = 0,
            kind::RST_STREAM => self.resets += 1,
            kind::WINDOW_UPDATE => self.window_updates += 1,
            kind::CONTINUATION => self.continuations += 1,
            // PRIORITY, SETTINGS, PUSH_PROMISE, PING, GOAWAY and whatever else.
            _ => self.idle_frames += 1,
        }
        self.judge()
    }

    /// Counts a stream that was taken: trailers and refused heads are no leave to reset.
    #[inline]
    pub(crate) fn opened(&mut self) {
        self.opened = self.opened.saturating_add(1);
    }

    /// Counts a stream that the client reset before anybody looked at it.
    pub(crate) fn unseen_reset(&mut self) -> Result<(), Code> {
        self.unseen_resets += 1;
        self.judge()
    }

    /// Counts a stream that we reset for the client's error.
    pub(crate) fn local_reset(&mut self) -> Result<(), Code> {
        self.local_resets += 1;
        self.judge()
    }

    /// Counts a DATA frame of ours.
    #[inline]
    pub(crate) fn data_sent(&mut self) {
        self.data_sent = self.data_sent.saturating_add(1);
    }

    fn judge(&self) -> Result<(), Code> {
        let is_flood = self.idle_frames > IDLE_FRAMES_MAX.saturating_add(self.opened).saturating_add(self.data_sent)
            || self.window_updates > WINDOW_UPDATES_MAX
            || self.resets > RESETS_MAX.saturating_add(self.opened / 2)
            || self.unseen_resets > UNSEEN_RESETS_MAX
            || self.local_resets > LOCAL_RESETS_MAX
            || self.continuations > CONTINUATIONS_MAX
            || self.empty_data > EMPTY_DATA_MAX;
        if is_flood { Err(Code::ENHANCE_YOUR_CALM) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kind, flags and length of frames.
    type Frames<'a> = &'a [(u8, u8, usize)];

    fn floods(frames: Frames<'_>, times: usize, every_ms: u64) -> bool {
        let mut meter = Meter::default();
        (0..times).any(|time| {
            meter.turn(time as u64 * every_ms);
            frames.iter().any(|&(kind, flags, len)| {
                if kind == kind::HEADERS {
                    meter.opened();
                }
                meter.frame(Header { len, kind, flags, stream: 1 }).is_err()
            })
        })
    }

    #[test]
    fn floods_are_found_and_honest_traffic_is_not() {
        let request: Frames<'_> = &[(1, 5, 4), (0, 0, 4), (0, 1, 0)];
        let cases: [(&str, Frames<'_>, usize, u64, bool); 11] = [
            ("requests", request, 2_000, 0, false),
            ("pings", &[(6, 0, 8)], 300, 0, true),
            ("a ping a request", &[(1, 5, 4), (6, 0, 8)], 5_000, 0, false),
            ("pings now and then", &[(6, 0, 8)], 3_000, 100, false),
            ("settings", &[(4, 0, 0)], 300, 0, true),
            ("rapid reset", &[(1, 5, 4), (3, 0, 4)], 1_000, 0, true),
            ("some resets", &[(1, 5, 4), (1, 5, 4), (1, 5, 4), (3, 0, 4)], 1_000, 0, false),
            ("continuations", &[(9, 0, 1)], 20, 0, true),
            ("empty data", &[(0, 0, 0)], 300, 0, true),
            ("empty ends", &[(0, 1, 0)], 300, 0, false),
            ("window updates", &[(8, 0, 4)], 30_000, 0, true),
        ];
        for (name, frames, times, every_ms, flood) in cases {
            assert_eq!(floods(frames, times, every_ms), flood, "{name}");
        }
    }

    #[test]
    fn resets_of_both_sides_have_their_limits() {
        let mut meter = Meter::default();
        assert!((0..LOCAL_RESETS_MAX).all(|_| meter.local_reset().is_ok()) && meter.local_reset().is_err());
        meter.turn(WINDOW_MS);
        assert!((0..UNSEEN_RESETS_MAX).all(|_| meter.unseen_reset().is_ok()) && meter.unseen_reset().is_err());
        meter.turn(WINDOW_MS);
        assert_eq!(meter.unseen_reset(), Ok(()));
    }
}
