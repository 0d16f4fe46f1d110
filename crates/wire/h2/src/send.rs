//! What we send: replies and requests, framed straight into the output.

use crate::closed::Cause;
use crate::connection::{Connection, REST_BYTES, Tail};
use crate::frame::{self, HEADER_BYTES, Header, flag, kind};
use crate::role::Role;
use crate::stream::{Key, Sending};
use crate::{Code, FieldList};

/// Bytes of one stream that may wait for the peer's windows and for room in the output.
pub(crate) const HELD_BYTES_MAX: usize = 64 * 1024;

/// What a field block is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Block<'a> {
    /// With its pseudo-header fields.
    Request(&'a FieldList),
    Head {
        status: u16,
        fields: &'a FieldList,
    },
    Trailers(&'a FieldList),
}

impl Connection {
    /// Appends an interim response (RFC 9113 section 8.1); nothing where the stream is gone or the final head was sent.
    pub fn interim(&mut self, key: Key, status: u16, fields: &FieldList, out: &mut Vec<u8>) {
        if self.sending(key) == Some(Sending::Waiting) {
            self.put_block(key.id, 0, Block::Head { status, fields }, out);
        }
    }

    /// Appends the final head; `ends`: there is no body. `false`: the stream is gone, or has its head.
    pub fn head(&mut self, key: Key, status: u16, fields: &FieldList, ends: bool, out: &mut Vec<u8>) -> bool {
        if self.sending(key) != Some(Sending::Waiting) {
            return false;
        }
        self.put_block(key.id, if ends { flag::END_STREAM } else { 0 }, Block::Head { status, fields }, out);
        self.set_sending(key, if ends { Sending::Ended } else { Sending::Open });
        if ends {
            self.settle(key, out);
        }
        true
    }

    /// Takes body bytes: appends them as far as the windows and the output have room, and holds the rest. `false`: the
    /// stream is gone, or is not open. How much is held is the caller's to bound, with [`Connection::room`].
    pub fn send(&mut self, key: Key, bytes: &[u8], out: &mut Vec<u8>) -> bool {
        if self.sending(key) != Some(Sending::Open) {
            return false;
        }
        let sent = self.send_now(key, bytes, out);
        let rest = bytes.get(sent..).unwrap_or_default();
        if !rest.is_empty()
            && let Some(stream) = self.streams.get_mut(key)
        {
            if stream.held_start > 0 {
                stream.held.drain(..stream.held_start);
                stream.held_start = 0;
            }
            stream.held.extend_from_slice(rest);
            self.waiting_bytes += rest.len();
            self.line_up(key);
        }
        true
    }

    /// Ends the body, with trailers if there are any. `false`: the stream is gone, or is not open.
    pub fn end(&mut self, key: Key, trailers: Option<&FieldList>, out: &mut Vec<u8>) -> bool {
        let trailers = trailers.filter(|trailers| !trailers.is_empty());
        let Some(stream) = self.streams.get_mut(key) else { return false };
        if stream.closed.is_some() || stream.sending != Sending::Open {
            return false;
        }
        if stream.held_bytes() > 0 {
            stream.sending = Sending::Ending;
            if let Some(trailers) = trailers {
                stream.own_trailers.clone_from(trailers);
            }
            self.line_up(key);
            return true;
        }
        match trailers {
            Some(trailers) => self.put_block(key.id, flag::END_STREAM, Block::Trailers(trailers), out),
            None => self.put_end(key, out),
        }
        self.set_sending(key, Sending::Ended);
        self.settle(key, out);
        true
    }

    /// Bytes that are held for the stream; 0 where it is gone.
    pub fn held_bytes(&self, key: Key) -> usize {
        self.streams.get(key).map_or(0, |stream| stream.held_bytes())
    }

    /// Bytes that [`Connection::send`] may still take without holding more than 64 KiB. Of a client, no more than the stream's
    /// window has room for either: a request that is refused is sent again from where its bytes still are.
    pub fn room(&self, key: Key) -> usize {
        let Some(stream) = self.streams.get(key) else { return HELD_BYTES_MAX };
        let held = stream.held_bytes();
        let bytes_max = match self.role {
            Role::Server => HELD_BYTES_MAX,
            Role::Client { .. } => usize::try_from(stream.send_window).unwrap_or(0).min(HELD_BYTES_MAX),
        };
        bytes_max.saturating_sub(held)
    }

    /// Resets the stream, whatever is held of it.
    pub fn reset(&mut self, key: Key, code: Code, out: &mut Vec<u8>) {
        if self.streams.get(key).is_some_and(|stream| stream.closed.is_none()) {
            frame::reset(out, key.id, code);
            self.meter.own_reset();
            self.end_stream(key, Cause::ResetByUs);
        }
    }

    /// To be called before bytes of the output are written: they are not changed any more.
    pub fn flushing(&mut self) {
        self.tail = None;
    }

    /// Appends what is held, as far as the windows and the output have room: one frame of each stream in turn.
    pub fn pump(&mut self, out: &mut Vec<u8>) {
        while !self.line.is_empty() && self.pump_round(out) {}
    }

    /// Gives the first in line its turn; `false` where nothing can be sent.
    fn pump_round(&mut self, out: &mut Vec<u8>) -> bool {
        let Some(&key) = self.line.front() else { return false };
        let Some(stream) = self.streams.get_mut(key).filter(|stream| stream.closed.is_none()) else {
            self.line.pop_front();
            return true;
        };
        if stream.held_bytes() > 0 {
            if stream.send_window <= 0 {
                // Its next WINDOW_UPDATE lines it up again.
                stream.is_in_line = false;
                self.line.pop_front();
                return true;
            }
            if self.send_window <= 0 || out.len() >= self.own.output_bytes_max {
                return false;
            }
        }
        self.line.pop_front();
        self.send_held(key, out);
        true
    }

    /// Sends one frame of what the stream holds, and its end where that was all.
    fn send_held(&mut self, key: Key, out: &mut Vec<u8>) {
        let Some(stream) = self.streams.get_mut(key) else { return };
        stream.is_in_line = false;
        let mut held = std::mem::take(&mut stream.held);
        let start = std::mem::take(&mut stream.held_start);
        let waiting = held.get(start..).unwrap_or_default();
        let one_frame = waiting.get(..self.peer.frame_bytes_max as usize).unwrap_or(waiting);
        let sent = self.send_now(key, one_frame, out);
        self.waiting_bytes -= sent;
        let Some(stream) = self.streams.get_mut(key) else { return };
        stream.held_start = start + sent;
        if stream.held_start == held.len() {
            held.clear();
            stream.held_start = 0;
            if held.capacity() > REST_BYTES {
                held = Vec::new();
            }
        }
        stream.held = held;
        if stream.held_bytes() > 0 {
            self.line_up(key);
        } else if stream.sending == Sending::Ending {
            let trailers = std::mem::take(&mut stream.own_trailers);
            stream.sending = Sending::Open;
            self.end(key, Some(&trailers), out);
            if let Some(stream) = self.streams.get_mut(key) {
                stream.own_trailers = trailers;
                stream.own_trailers.clear();
            }
        }
        self.tell(key);
    }

    /// Appends DATA frames as far as there is room; says how many of the bytes that were.
    fn send_now(&mut self, key: Key, bytes: &[u8], out: &mut Vec<u8>) -> usize {
        let Some(stream) = self.streams.get_mut(key) else { return 0 };
        if stream.held_bytes() > 0 {
            return 0;
        }
        let windows = usize::try_from(stream.send_window.min(self.send_window)).unwrap_or(0);
        // Once more than its limit is no harm to the output, and many small frames are.
        let room = if out.len() < self.own.output_bytes_max { self.own.output_bytes_max } else { 0 };
        let count = bytes.len().min(windows).min(room);
        if count == 0 {
            return 0;
        }
        stream.send_window -= count as i64;
        self.send_window -= count as i64;
        self.meter.sent(count as u64);
        let frame_bytes_max = self.peer.frame_bytes_max as usize;
        let mut rest = bytes.get(..count).unwrap_or_default();
        rest = self.lengthen_tail(key, rest, frame_bytes_max, out);
        for piece in rest.chunks(frame_bytes_max.max(1)) {
            let start = out.len();
            frame::put(out, kind::DATA, 0, key.id, piece);
            self.tail = Some(Tail { key, start, end: out.len() });
            self.meter.data_sent();
        }
        count
    }

    /// Adds to the DATA frame at the end of the output, if it is this stream's; returns what did not fit.
    fn lengthen_tail<'a>(&mut self, key: Key, bytes: &'a [u8], frame_bytes_max: usize, out: &mut Vec<u8>) -> &'a [u8] {
        let Some(tail) = self.tail.filter(|tail| tail.key == key && tail.end == out.len()) else { return bytes };
        let len = tail.end - tail.start - HEADER_BYTES;
        let count = bytes.len().min(frame_bytes_max.saturating_sub(len));
        let (more, rest) = bytes.split_at_checked(count).unwrap_or((&[], bytes));
        out.extend_from_slice(more);
        let header = Header { len: len + count, kind: kind::DATA, flags: 0, stream: key.id };
        if let Some(slot) = out.get_mut(tail.start..tail.start + HEADER_BYTES) {
            slot.copy_from_slice(&header.bytes());
        }
        self.tail = Some(Tail { end: out.len(), ..tail });
        rest
    }

    /// Ends a stream with DATA: the frame at the end of the output, if it is this stream's, or an empty one.
    fn put_end(&mut self, key: Key, out: &mut Vec<u8>) {
        let tail = self.tail.take().filter(|tail| tail.key == key && tail.end == out.len());
        if let Some(tail) = tail
            && let Some(flags) = out.get_mut(tail.start + 4)
        {
            *flags |= flag::END_STREAM;
        } else {
            frame::put(out, kind::DATA, flag::END_STREAM, key.id, &[]);
        }
    }

    /// Appends HEADERS, with CONTINUATION behind it where the block is longer than a frame of the peer may be.
    pub(crate) fn put_block(&mut self, id: u32, flags: u8, block: Block<'_>, out: &mut Vec<u8>) {
        self.tail = None;
        let start = out.len();
        out.extend_from_slice(&[0; HEADER_BYTES]);
        let fields = match block {
            Block::Head { status, fields } => {
                self.encoder.status(out, status);
                fields
            }
            Block::Request(fields) | Block::Trailers(fields) => fields,
        };
        let encoder = &mut self.encoder;
        for (name, value, is_secret) in fields.iter_marked() {
            match is_secret {
                true => encoder.secret(out, name, value),
                false if name.first() == Some(&b':') => encoder.pseudo(out, name, value),
                false => encoder.field(out, name, value),
            }
        }
        let len = out.len() - start - HEADER_BYTES;
        let frame_bytes_max = self.peer.frame_bytes_max as usize;
        let is_whole = len <= frame_bytes_max;
        let rest = if is_whole { Vec::new() } else { out.split_off(start + HEADER_BYTES + frame_bytes_max) };
        let header = Header {
            len: len.min(frame_bytes_max),
            kind: kind::HEADERS,
            flags: flags | if is_whole { flag::END_HEADERS } else { 0 },
            stream: id,
        };
        if let Some(slot) = out.get_mut(start..start + HEADER_BYTES) {
            slot.copy_from_slice(&header.bytes());
        }
        let mut pieces = rest.chunks(frame_bytes_max.max(1)).peekable();
        while let Some(piece) = pieces.next() {
            let flags = if pieces.peek().is_none() { flag::END_HEADERS } else { 0 };
            frame::put(out, kind::CONTINUATION, flags, id, piece);
        }
    }

    /// How far our side is; `None` where the stream is gone.
    fn sending(&self, key: Key) -> Option<Sending> {
        self.streams.get(key).filter(|stream| stream.closed.is_none()).map(|stream| stream.sending)
    }

    fn set_sending(&mut self, key: Key, sending: Sending) {
        if let Some(stream) = self.streams.get_mut(key) {
            stream.sending = sending;
        }
    }

    /// Puts a stream that holds something and has a window at the end of the line.
    pub(crate) fn line_up(&mut self, key: Key) {
        if let Some(stream) = self.streams.get_mut(key)
            && !stream.is_in_line
            && stream.held_bytes() > 0
            && stream.send_window > 0
        {
            stream.is_in_line = true;
            self.line.push_back(key);
        }
    }

    /// The same for every stream.
    pub(crate) fn line_up_all(&mut self) {
        for (key, stream) in self.streams.each_live() {
            if !stream.is_in_line && stream.held_bytes() > 0 && stream.send_window > 0 {
                stream.is_in_line = true;
                self.line.push_back(key);
            }
        }
    }
}
