use leat_stream::clock::TICK_MS;

/// Frames that serve no request, above which a connection is flooding: in one window, and for each frame that does serve
/// one. PING, SETTINGS, PRIORITY and the like are rare in honest traffic; WINDOW_UPDATE comes about once per DATA frame
/// sent, and RST_STREAM once per request at the very worst.
const IDLE_FRAMES_MAX: u32 = 200;
/// WINDOW_UPDATE frames in one window.
const WINDOW_UPDATES_MAX: u32 = 20_000;
/// Streams reset by the client in one window beyond half of those it opened (rapid reset: CVE-2023-44487).
const RESETS_MAX: u32 = 200;
/// CONTINUATION frames of one head (CVE-2024-27316): with 16 KiB frames any legal head fits in a few.
const CONTINUATIONS_MAX: u32 = 16;
/// Empty DATA frames in one window (CVE-2019-9518).
const EMPTY_DATA_MAX: u32 = 200;
/// Length of a window in milliseconds.
const WINDOW_MS: u64 = 500 * TICK_MS;

/// Reads along with the frames that a client sends, and counts what no request needs (RFC 9113 section 10.5). It looks
/// at frame headers only and never changes a byte.
#[derive(Debug, Default)]
pub(super) struct Meter {
    /// Bytes of the preface that were not passed yet.
    preface_left: usize,
    /// Payload bytes of the current frame that were not passed yet.
    payload_left: usize,
    header: [u8; 9],
    header_len: usize,
    window_start_ms: u64,
    idle_frames: u32,
    window_updates: u32,
    opened: u32,
    resets: u32,
    continuations: u32,
    empty_data: u32,
    /// Since when a head has begun and not ended.
    in_head_since_ms: Option<u64>,
}

impl Meter {
    pub(super) fn new() -> Self {
        Self { preface_left: super::PREFACE.len(), ..Self::default() }
    }

    /// Since when a head has begun whose end has not come.
    pub(super) fn in_head_since_ms(&self) -> Option<u64> {
        self.in_head_since_ms
    }

    /// Reads along. `true`: this is a flood.
    pub(super) fn is_flood(&mut self, mut bytes: &[u8], now_ms: u64) -> bool {
        if now_ms.saturating_sub(self.window_start_ms) >= WINDOW_MS {
            self.window_start_ms = now_ms;
            self.idle_frames = 0;
            self.window_updates = 0;
            self.opened = 0;
            self.resets = 0;
            self.empty_data = 0;
        }
        bytes = skip(bytes, &mut self.preface_left);
        loop {
            bytes = skip(bytes, &mut self.payload_left);
            if bytes.is_empty() {
                break;
            }
            let wanted = self.header.len() - self.header_len;
            let taken = wanted.min(bytes.len());
            if let (Some(slot), Some(part)) =
                (self.header.get_mut(self.header_len..self.header_len + taken), bytes.get(..taken))
            {
                slot.copy_from_slice(part);
            }
            self.header_len += taken;
            bytes = bytes.get(taken..).unwrap_or_default();
            if self.header_len == self.header.len() {
                self.header_len = 0;
                self.count(now_ms);
            }
        }
        self.idle_frames > IDLE_FRAMES_MAX
            || self.window_updates > WINDOW_UPDATES_MAX
            || self.resets > RESETS_MAX + self.opened / 2
            || self.continuations > CONTINUATIONS_MAX
            || self.empty_data > EMPTY_DATA_MAX
    }

    /// Counts the frame whose header is complete (RFC 9113 section 4.1: length, type, flags, stream).
    fn count(&mut self, now_ms: u64) {
        const END_STREAM: u8 = 0x1;
        const END_HEADERS: u8 = 0x4;
        let [l0, l1, l2, kind, flags, ..] = self.header;
        self.payload_left = usize::from(l0) << 16 | usize::from(l1) << 8 | usize::from(l2);
        match kind {
            0x0 if self.payload_left == 0 && flags & END_STREAM == 0 => self.empty_data += 1,
            0x0 => {}
            0x1 => {
                self.opened += 1;
                self.continuations = 0;
                self.in_head_since_ms = (flags & END_HEADERS == 0).then_some(now_ms);
            }
            0x3 => self.resets += 1,
            0x8 => self.window_updates += 1,
            0x9 => {
                self.continuations += 1;
                self.in_head_since_ms = self.in_head_since_ms.filter(|_| flags & END_HEADERS == 0);
            }
            // PRIORITY, SETTINGS, PUSH_PROMISE, PING, GOAWAY and whatever else.
            _ => self.idle_frames += 1,
        }
    }
}

fn skip<'a>(bytes: &'a [u8], left: &mut usize) -> &'a [u8] {
    let count = bytes.len().min(*left);
    *left -= count;
    bytes.get(count..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
        let len = payload.len() as u32;
        let mut frame = vec![(len >> 16) as u8, (len >> 8) as u8, len as u8, kind, flags, 0, 0, 0, 1];
        frame.extend_from_slice(payload);
        frame
    }

    fn floods(frames: &[u8], piece: usize) -> bool {
        let mut meter = Meter::new();
        let mut bytes = super::super::PREFACE.to_vec();
        bytes.extend_from_slice(frames);
        bytes.chunks(piece).any(|piece| meter.is_flood(piece, 0))
    }

    #[test]
    fn floods_are_found_in_pieces_of_any_size_and_honest_traffic_is_not() {
        let request = [frame(1, 5, b"head"), frame(0, 0, b"body"), frame(0, 1, b"")].concat();
        let cases: [(&str, Vec<u8>, bool); 8] = [
            ("requests", request.repeat(2_000), false),
            ("pings", frame(6, 0, &[0; 8]).repeat(300), true),
            ("settings", frame(4, 0, &[]).repeat(300), true),
            ("rapid reset", [frame(1, 5, b"head"), frame(3, 0, &[0; 4])].concat().repeat(1_000), true),
            ("some resets", [request.repeat(3), frame(3, 0, &[0; 4])].concat().repeat(1_000), false),
            ("continuations", [frame(1, 0, b"head"), frame(9, 0, b"x").repeat(20)].concat(), true),
            ("empty data", frame(0, 0, b"").repeat(300), true),
            ("window updates", frame(8, 0, &[0; 4]).repeat(30_000), true),
        ];
        for (name, frames, flood) in cases {
            for piece in [1, 7, 4_096] {
                assert_eq!(floods(&frames, piece), flood, "{name} in pieces of {piece}");
            }
        }
    }
}
