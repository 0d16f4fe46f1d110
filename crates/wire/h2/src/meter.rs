use crate::Code;
use crate::frame::{Header, kind};

/// Frames that serve no request, above which a connection is flooding, in one window: PING, SETTINGS, PRIORITY and the
/// like. One more for each stream that was opened and each DATA frame that we sent: gRPC clients measure with a PING how
/// fast data comes.
const IDLE_FRAMES_MAX: u32 = 200;
/// WINDOW_UPDATE frames in one window, beyond those that what was sent pays for.
const WINDOW_UPDATES_MAX: u32 = 20_000;
/// Body bytes of ours that pay for a WINDOW_UPDATE. Go's clients give back 4 KiB at a time, to the stream and to the connection.
const BYTES_AN_UPDATE: u64 = 1024;
/// What a DATA frame of ours pays beside its bytes: some clients answer each with two updates, however small.
const BYTES_A_FRAME: u64 = 2 * BYTES_AN_UPDATE;
/// Streams reset by the client in one window, soon after they began, beyond half of those it opened (rapid reset: CVE-2023-44487).
/// A server's resets of streams that we opened are none of these: each costs a request of ours.
const RESETS_MAX: u32 = 200;
/// Age of a stream in milliseconds from which on a reset is none of those: so many streams as may be open bound them.
const RAPID_MS: u64 = 100;
/// Streams that the client reset before anybody looked at them, of one read.
const UNSEEN_RESETS_MAX: u32 = 20;
/// Streams that we reset for the client's errors in one window (CVE-2025-8671, MadeYouReset); for a server's, only those that
/// it had no business with any more.
const LOCAL_RESETS_MAX: u32 = 64;
/// CONTINUATION frames of one head (CVE-2024-27316): with 16 KiB frames any legal head fits in a few.
const CONTINUATIONS_MAX: u32 = 16;
/// DATA frames without data in one window, and one more for each stream that was opened (CVE-2019-9518).
const EMPTY_DATA_MAX: u32 = 200;
/// DATA and heads in one window for streams that we had reset, beside those for each of our resets in this window and the one
/// before: what is under way when a peer hears of it, in small frames.
const LATE_FRAMES_MAX: u32 = 20_000;
const LATE_FRAMES_OF_A_RESET: u32 = 2_000;
/// Length of a window in milliseconds.
const WINDOW_MS: u64 = 10_000;

/// Counts what no exchange needs (RFC 9113 section 10.5).
#[derive(Debug, Default)]
pub(crate) struct Meter {
    now_ms: u64,
    window_start_ms: u64,
    idle_frames: u32,
    window_updates: u32,
    /// What our body bytes and frames still pay for. Lasts longer than a window: a client may read late what was sent early.
    unpaid_bytes: u64,
    opened: u32,
    data_sent: u32,
    resets: u32,
    unseen_resets: u32,
    local_resets: u32,
    /// Streams that we reset for whatever reason.
    own_resets: u32,
    own_resets_before: u32,
    late_frames: u32,
    continuations: u32,
    empty_data: u32,
}

impl Meter {
    /// A read begins at `now_ms`; old counts are forgotten.
    pub(crate) fn turn(&mut self, now_ms: u64) {
        self.now_ms = now_ms;
        self.unseen_resets = 0;
        if now_ms.saturating_sub(self.window_start_ms) >= WINDOW_MS {
            let (continuations, unpaid_bytes, own_resets_before) =
                (self.continuations, self.unpaid_bytes, self.own_resets);
            *self = Self {
                now_ms,
                window_start_ms: now_ms,
                continuations,
                unpaid_bytes,
                own_resets_before,
                ..Self::default()
            };
        }
    }

    /// Counts a frame of the peer, but for DATA and RST_STREAM, of which more has to be known.
    ///
    /// # Errors
    /// ENHANCE_YOUR_CALM above a limit, for this and the others.
    pub(crate) fn frame(&mut self, header: Header) -> Result<(), Code> {
        match header.kind {
            kind::DATA | kind::RST_STREAM => {}
            kind::HEADERS => self.continuations = 0,
            kind::WINDOW_UPDATE => match self.unpaid_bytes.checked_sub(BYTES_AN_UPDATE) {
                Some(left) => self.unpaid_bytes = left,
                None => self.window_updates += 1,
            },
            kind::CONTINUATION => self.continuations += 1,
            // PRIORITY, SETTINGS, PUSH_PROMISE, PING, GOAWAY and whatever else.
            _ => self.idle_frames += 1,
        }
        self.judge()
    }

    /// Counts a DATA frame without data that does not end its stream.
    pub(crate) fn empty_data(&mut self) -> Result<(), Code> {
        self.empty_data += 1;
        self.judge()
    }

    /// Counts a stream that was taken, and says what time it is: trailers and refused heads are no leave to reset.
    #[inline]
    pub(crate) fn opened(&mut self) -> u64 {
        self.opened = self.opened.saturating_add(1);
        self.now_ms
    }

    /// Counts a reset by the client. `began_ms`: when its stream did, if that was owed a reply. gRPC clients reset every stream
    /// that the server ended first.
    pub(crate) fn reset(&mut self, began_ms: Option<u64>) -> Result<(), Code> {
        if began_ms.is_some_and(|began_ms| self.now_ms.saturating_sub(began_ms) < RAPID_MS) {
            self.resets += 1;
        } else {
            self.idle_frames += 1;
        }
        self.judge()
    }

    /// Counts a stream that the client reset before anybody looked at it.
    pub(crate) fn unseen_reset(&mut self) -> Result<(), Code> {
        self.unseen_resets += 1;
        self.judge()
    }

    /// Counts a stream that we reset for the peer's error.
    pub(crate) fn local_reset(&mut self) -> Result<(), Code> {
        self.local_resets += 1;
        self.judge()
    }

    /// Counts a stream that we reset, for whatever reason.
    pub(crate) fn own_reset(&mut self) {
        self.own_resets = self.own_resets.saturating_add(1);
    }

    /// Counts a frame for a stream that we had reset.
    pub(crate) fn late(&mut self) -> Result<(), Code> {
        self.late_frames = self.late_frames.saturating_add(1);
        self.judge()
    }

    /// Counts a DATA frame of ours.
    #[inline]
    pub(crate) fn data_sent(&mut self) {
        self.data_sent = self.data_sent.saturating_add(1);
        self.sent(BYTES_A_FRAME);
    }

    /// Counts body bytes of ours.
    #[inline]
    pub(crate) fn sent(&mut self, bytes: u64) {
        self.unpaid_bytes = self.unpaid_bytes.saturating_add(bytes);
    }

    fn judge(&self) -> Result<(), Code> {
        let known_resets = self.own_resets.saturating_add(self.own_resets_before);
        let late_frames_max = LATE_FRAMES_MAX.saturating_add(known_resets.saturating_mul(LATE_FRAMES_OF_A_RESET));
        let is_flood = self.idle_frames > IDLE_FRAMES_MAX.saturating_add(self.opened).saturating_add(self.data_sent)
            || self.window_updates > WINDOW_UPDATES_MAX
            || self.resets > RESETS_MAX.saturating_add(self.opened / 2)
            || self.unseen_resets > UNSEEN_RESETS_MAX
            || self.local_resets > LOCAL_RESETS_MAX
            || self.late_frames > late_frames_max
            || self.continuations > CONTINUATIONS_MAX
            || self.empty_data > EMPTY_DATA_MAX.saturating_add(self.opened);
        if is_flood { Err(Code::ENHANCE_YOUR_CALM) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::flag;

    /// Kind, flags and length of frames.
    type Frames<'a> = &'a [(u8, u8, usize)];

    /// A reset is of a stream that began just now.
    fn floods(frames: Frames<'_>, times: usize, every_ms: u64) -> bool {
        let mut meter = Meter::default();
        (0..times).any(|time| {
            meter.turn(time as u64 * every_ms);
            frames.iter().any(|&(kind, flags, len)| {
                if kind == kind::HEADERS {
                    meter.opened();
                }
                let extra = match kind {
                    kind::DATA if len == 0 && flags & flag::END_STREAM == 0 => meter.empty_data(),
                    kind::RST_STREAM => meter.reset(Some(time as u64 * every_ms)),
                    _ => Ok(()),
                };
                extra.and_then(|()| meter.frame(Header { len, kind, flags, stream: 1 })).is_err()
            })
        })
    }

    #[test]
    fn floods_are_found_and_honest_traffic_is_not() {
        let request: Frames<'_> = &[(1, 5, 4), (0, 0, 4), (0, 1, 0)];
        let cases: [(&str, Frames<'_>, usize, u64, bool); 12] = [
            ("requests", request, 2_000, 0, false),
            ("pings", &[(6, 0, 8)], 300, 0, true),
            ("a ping a request", &[(1, 5, 4), (6, 0, 8)], 5_000, 0, false),
            ("pings now and then", &[(6, 0, 8)], 3_000, 100, false),
            ("settings", &[(4, 0, 0)], 300, 0, true),
            ("rapid reset", &[(1, 5, 4), (3, 0, 4)], 1_000, 0, true),
            ("some resets", &[(1, 5, 4), (1, 5, 4), (1, 5, 4), (3, 0, 4)], 1_000, 0, false),
            ("continuations", &[(9, 0, 1)], 20, 0, true),
            ("empty data", &[(0, 0, 0)], 300, 0, true),
            ("empty data in every request", &[(1, 4, 4), (0, 0, 0), (0, 1, 3)], 5_000, 0, false),
            ("empty ends", &[(0, 1, 0)], 300, 0, false),
            ("window updates", &[(8, 0, 4)], 30_000, 0, true),
        ];
        for (name, frames, times, every_ms, flood) in cases {
            assert_eq!(floods(frames, times, every_ms), flood, "{name}");
        }
    }

    /// Gives back `every` bytes of what is sent, `updates` times each, for a gigabyte in frames of `frame` bytes.
    fn reads_a_gigabyte(frame: usize, every: usize, updates: usize) -> Result<(), Code> {
        let mut meter = Meter::default();
        let update = Header { len: 4, kind: kind::WINDOW_UPDATE, flags: 0, stream: 0 };
        (0..(1 << 30) / frame).try_for_each(|_| {
            meter.data_sent();
            meter.sent(frame as u64);
            (0..frame.div_ceil(every) * updates).try_for_each(|_| meter.frame(update))
        })
    }

    #[test]
    fn updates_are_a_flood_only_beyond_what_was_sent() {
        // Go: 4 KiB at a time, to the stream and to the connection. Others answer every frame.
        assert_eq!(reads_a_gigabyte(16 * 1024, 4 * 1024, 2), Ok(()));
        assert_eq!(reads_a_gigabyte(16 * 1024, 16 * 1024, 2), Ok(()));
        assert_eq!(reads_a_gigabyte(1_000, 1_000, 2), Ok(()));
        assert_eq!(reads_a_gigabyte(16 * 1024, 100, 1), Err(Code::ENHANCE_YOUR_CALM));
        // What was sent in one window may be read in the next.
        let mut meter = Meter::default();
        meter.turn(1);
        meter.sent(100 << 20);
        meter.turn(1 + WINDOW_MS);
        let update = Header { len: 4, kind: kind::WINDOW_UPDATE, flags: 0, stream: 1 };
        let more = (0..).find(|_| meter.frame(update).is_err());
        assert_eq!(more, Some((100 << 10) + WINDOW_UPDATES_MAX));
    }

    #[test]
    fn resets_of_streams_that_were_served_or_lasted_are_paid_for() {
        let reset = |began_ms: Option<u64>| {
            let mut meter = Meter::default();
            meter.turn(WINDOW_MS + RAPID_MS);
            (0..2_000_u32).find(|_| {
                meter.opened();
                meter.reset(began_ms).is_err()
            })
        };
        assert_eq!(reset(None), None);
        assert_eq!(reset(Some(WINDOW_MS)), None);
        assert!(reset(Some(WINDOW_MS + 1)).is_some_and(|count| count < 500));
        // One stream pays for one.
        let mut meter = Meter::default();
        assert!((0..IDLE_FRAMES_MAX).all(|_| meter.reset(None).is_ok()) && meter.reset(None).is_err());
    }

    #[test]
    fn frames_for_streams_that_we_reset_are_late_for_a_while() {
        let mut meter = Meter::default();
        meter.own_reset();
        let allowed = LATE_FRAMES_MAX + LATE_FRAMES_OF_A_RESET;
        for now_ms in [0, WINDOW_MS] {
            meter.turn(now_ms);
            assert!((0..allowed).all(|_| meter.late().is_ok()) && meter.late().is_err(), "{now_ms}");
        }
        meter.turn(2 * WINDOW_MS);
        assert!((0..LATE_FRAMES_MAX).all(|_| meter.late().is_ok()) && meter.late().is_err());
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
