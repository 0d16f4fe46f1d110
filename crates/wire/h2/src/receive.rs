//! What the peer sends (RFC 9113 sections 5 and 6).

use leat_message::Reason;

use crate::Code;
use crate::closed::Cause;
use crate::code::Fault;
use crate::connection::{Arriving, Connection, Goodbye, Incoming, PREFACE};
use crate::frame::{self, HEADER_BYTES, Header, PAYLOAD_BYTES_MAX, flag, kind, number, unpad};
use crate::hpack::DecodeError;
use crate::role::Role;
use crate::settings::{WINDOW_BYTES_MAX, table_sizes};
use crate::stream::{Handle, Key, Receiving, Sending};

/// Longest field block in several frames, beyond what a list may have: room for what a coding wastes.
const BLOCK_BYTES_SPARE: usize = 16 * 1024;

impl Connection {
    /// Takes what was read, as far as its frames are whole, and says how many bytes that is; the rest is to be given again,
    /// with what follows it. Appends what has to be answered. `now_ms` is any clock that does not go back.
    ///
    /// # Errors
    /// The code that ended the connection: GOAWAY is appended, and every stream reset.
    pub fn receive(&mut self, input: &[u8], now_ms: u64, out: &mut Vec<u8>) -> Result<usize, Code> {
        self.meter.turn(now_ms);
        let mut taken = 0;
        loop {
            let rest = input.get(taken..).unwrap_or_default();
            if rest.is_empty() {
                return Ok(taken);
            }
            match self.step(rest, now_ms, out) {
                Ok(0) => return Ok(taken),
                Ok(count) => taken += count,
                Err(code) => {
                    self.abort(code, out);
                    return Err(code);
                }
            }
        }
    }

    /// Takes one thing from the front of `input`; 0 where it is not whole.
    fn step(&mut self, input: &[u8], now_ms: u64, out: &mut Vec<u8>) -> Result<usize, Code> {
        match self.arriving {
            Arriving::Frames | Arriving::FirstSettings => {}
            Arriving::Data(incoming) => return self.data(incoming, input, out),
            Arriving::Nothing => return Ok(input.len()),
            Arriving::Preface(seen) => {
                let wanted = PREFACE.get(seen..).unwrap_or_default();
                let count = wanted.len().min(input.len());
                if input.get(..count) != wanted.get(..count) {
                    return Err(Code::PROTOCOL_ERROR);
                }
                let is_whole = count == wanted.len();
                self.arriving = if is_whole { Arriving::FirstSettings } else { Arriving::Preface(seen + count) };
                return Ok(count);
            }
        }
        let Some(header) = Header::parse(input) else { return Ok(0) };
        if header.len > PAYLOAD_BYTES_MAX {
            return Err(Code::FRAME_SIZE_ERROR);
        }
        if self.arriving == Arriving::FirstSettings && (header.kind != kind::SETTINGS || header.has(flag::ACK)) {
            return Err(Code::PROTOCOL_ERROR);
        }
        // Nothing comes between the frames of one block (section 6.10).
        let continues = self.block.stream != 0;
        if continues != (header.kind == kind::CONTINUATION) || continues && header.stream != self.block.stream {
            return Err(Code::PROTOCOL_ERROR);
        }
        if header.kind == kind::DATA {
            let padding = match (header.has(flag::PADDED), input.get(HEADER_BYTES)) {
                (false, _) => None,
                (true, _) if header.len == 0 => return Err(Code::FRAME_SIZE_ERROR),
                (true, None) => return Ok(0),
                (true, Some(&padding)) => Some(usize::from(padding)),
            };
            let begun = self.begin_data(header, padding, out);
            self.judge(begun, out)?;
            return Ok(HEADER_BYTES + usize::from(padding.is_some()));
        }
        let end = HEADER_BYTES + header.len;
        let Some(payload) = input.get(HEADER_BYTES..end) else {
            if matches!(header.kind, kind::HEADERS | kind::CONTINUATION) {
                self.in_head_since_ms.get_or_insert(now_ms);
            }
            return Ok(0);
        };
        self.meter.frame(header)?;
        let result = match header.kind {
            kind::HEADERS | kind::CONTINUATION => self.headers(header, payload, now_ms, out),
            kind::PRIORITY => self.priority(header, payload),
            kind::RST_STREAM => self.reset_by_peer(header, payload),
            kind::SETTINGS => self.settings(header, payload, out),
            kind::PUSH_PROMISE => Err(Code::PROTOCOL_ERROR.into()),
            kind::PING => self.ping(header, payload, out),
            kind::GOAWAY if header.stream != 0 => Err(Code::PROTOCOL_ERROR.into()),
            kind::GOAWAY if header.len < 8 => Err(Code::FRAME_SIZE_ERROR.into()),
            kind::GOAWAY => self.leave_by_peer(payload),
            kind::WINDOW_UPDATE => self.window_update(header, payload, out),
            // Unknown kinds are ignored (section 4.1).
            _ => Ok(()),
        };
        self.judge(result, out)?;
        Ok(end)
    }

    /// Resets the stream that a fault is of, or tells that the connection ends.
    fn judge(&mut self, result: Result<(), Fault>, out: &mut Vec<u8>) -> Result<(), Code> {
        match result {
            Ok(()) => Ok(()),
            Err(Fault::Connection(code)) => Err(code),
            Err(Fault::Stream(id, code)) => {
                let key = self.streams.find(id);
                // A server can't make us reset more streams of ours than we open.
                if key.is_none() || self.role == Role::Server {
                    self.meter.local_reset()?;
                }
                frame::reset(out, id, code);
                self.meter.own_reset();
                match key {
                    Some(key) => self.end_stream(key, Cause::Faulty),
                    None => self.closed.push(id, Cause::Faulty),
                }
                Ok(())
            }
        }
    }

    /// What is wrong with a frame for a stream that does not live; `Ok` where it is to be ignored (section 5.1).
    fn is_late(&mut self, id: u32) -> Result<(), Fault> {
        if id > self.last_stream || id.is_multiple_of(2) {
            return Err(Code::PROTOCOL_ERROR.into());
        }
        match self.closed.cause(id) {
            Some(Cause::ResetByUs | Cause::Faulty) => self.meter.late().map_err(Fault::Connection),
            Some(Cause::Ended) => Err(Code::STREAM_CLOSED.into()),
            Some(Cause::ResetByPeer(_) | Cause::Unprocessed | Cause::Lost) | None => {
                Err(Fault::Stream(id, Code::STREAM_CLOSED))
            }
        }
    }

    fn begin_data(&mut self, header: Header, padding: Option<usize>, out: &mut Vec<u8>) -> Result<(), Fault> {
        if header.stream == 0 {
            return Err(Code::PROTOCOL_ERROR.into());
        }
        let left = header.len - usize::from(padding.is_some());
        let data = left.checked_sub(padding.unwrap_or(0)).ok_or(Fault::Connection(Code::PROTOCOL_ERROR))?;
        let len = header.len as u32;
        self.receive_window =
            self.receive_window.checked_sub(len).ok_or(Fault::Connection(Code::FLOW_CONTROL_ERROR))?;
        let ends = header.has(flag::END_STREAM);
        if data == 0 && !ends {
            self.meter.empty_data()?;
        }
        let mut incoming = Incoming { stream: header.stream, key: None, data, padding: left - data, ends };
        let key = self.data_for(header.stream, data, len);
        if let Ok(Some(key)) = key {
            incoming.key = Some(key);
            self.give_back(Some(key), len - data as u32, out);
        } else {
            self.give_back(None, len, out);
        }
        self.arriving = Arriving::Data(incoming);
        match key {
            Ok(_) if left == 0 => self.end_data(incoming, out),
            Ok(_) => Ok(()),
            Err(fault) => {
                self.arriving = if left == 0 { Arriving::Frames } else { self.arriving };
                Err(fault)
            }
        }
    }

    /// The stream that DATA is for; `None` where it is to be ignored.
    fn data_for(&mut self, id: u32, data: usize, len: u32) -> Result<Option<Key>, Fault> {
        let Some(key) = self.streams.find(id) else { return self.is_late(id).map(|()| None) };
        let Some(stream) = self.streams.get_mut(key) else { return Ok(None) };
        match stream.receiving {
            Receiving::Ended => return Err(Fault::Stream(id, Code::STREAM_CLOSED)),
            Receiving::Head => return Err(Fault::Stream(id, Code::PROTOCOL_ERROR)),
            Receiving::Open => {}
        }
        let window = stream.receive_window.checked_sub(len);
        stream.receive_window = window.ok_or(Fault::Stream(id, Code::FLOW_CONTROL_ERROR))?;
        if let Some(announced) = &mut stream.announced {
            // Other lengths than announced are malformed (section 8.1.1).
            *announced = announced.checked_sub(data as u64).ok_or(Fault::Stream(id, Code::PROTOCOL_ERROR))?;
        }
        if stream.handle != Handle::Released {
            stream.unconsumed += data as u32;
            return Ok(Some(key));
        }
        Ok(None)
    }

    /// Takes what has come of a DATA frame's payload.
    fn data(&mut self, mut incoming: Incoming, input: &[u8], out: &mut Vec<u8>) -> Result<usize, Code> {
        let data = incoming.data.min(input.len());
        let padding = incoming.padding.min(input.len() - data);
        let bytes = input.get(..data).unwrap_or_default();
        let stream = incoming.key.and_then(|key| self.streams.get_mut(key));
        if let Some(stream) = stream.filter(|stream| stream.closed.is_none() && stream.handle != Handle::Released) {
            stream.body.extend_from_slice(bytes);
            self.waiting_bytes += bytes.len();
        } else {
            // Nobody wants it any more. It was counted as unconsumed when the frame began, and given back with the stream.
            incoming.key = None;
        }
        incoming.data -= data;
        incoming.padding -= padding;
        self.arriving = Arriving::Data(incoming);
        if incoming.data == 0 && incoming.padding == 0 {
            let ended = self.end_data(incoming, out);
            self.judge(ended, out)?;
        } else if let Some(key) = incoming.key {
            self.tell(key);
        }
        Ok(data + padding)
    }

    /// A DATA frame has come whole.
    fn end_data(&mut self, incoming: Incoming, out: &mut Vec<u8>) -> Result<(), Fault> {
        self.arriving = Arriving::Frames;
        if let Some(key) = incoming.key {
            self.tell(key);
        }
        match self.streams.find(incoming.stream) {
            Some(key) if incoming.ends => self.end_receiving(key, out),
            _ => Ok(()),
        }
    }

    /// The peer ended its side of a stream.
    pub(crate) fn end_receiving(&mut self, key: Key, out: &mut Vec<u8>) -> Result<(), Fault> {
        let Some(stream) = self.streams.get_mut(key) else { return Ok(()) };
        if stream.announced.is_some_and(|left| left > 0) {
            return Err(Fault::Stream(key.id, Code::PROTOCOL_ERROR));
        }
        stream.receiving = Receiving::Ended;
        self.tell(key);
        self.settle(key, out);
        Ok(())
    }

    /// Ends a stream that both sides have ended, and one that nobody looks at any more: our side of it has been ended, or
    /// will never be.
    pub(crate) fn settle(&mut self, key: Key, out: &mut Vec<u8>) {
        let Some(stream) = self.streams.get(key) else { return };
        let is_server = self.role == Role::Server;
        let code = match (stream.receiving, stream.sending, stream.handle) {
            _ if stream.closed.is_some() => return,
            (Receiving::Ended, Sending::Ended, _) => return self.end_stream(key, Cause::Ended),
            (_, _, Handle::Queued | Handle::Held) => return,
            // What is left of a request is of no use to one that wants no response.
            _ if !is_server => Code::CANCEL,
            (_, Sending::Ending, _) => return,
            // The reply is whole without the rest of the request (section 8.1).
            (_, Sending::Ended, Handle::Released) => Code::NO_ERROR,
            (_, Sending::Waiting | Sending::Open, Handle::Released) => Code::CANCEL,
        };
        self.reset(key, code, out);
    }

    /// HEADERS, and CONTINUATION behind it (sections 6.2 and 6.10).
    fn headers(&mut self, header: Header, payload: &[u8], now_ms: u64, out: &mut Vec<u8>) -> Result<(), Fault> {
        if header.kind == kind::CONTINUATION {
            let block_bytes_max = self.own.head_bytes_max.saturating_add(BLOCK_BYTES_SPARE);
            if self.block.bytes.len() + payload.len() > block_bytes_max {
                return Err(Code::ENHANCE_YOUR_CALM.into());
            }
            self.block.bytes.extend_from_slice(payload);
            if !header.has(flag::END_HEADERS) {
                return Ok(());
            }
            self.in_head_since_ms = None;
            let mut block = std::mem::take(&mut self.block);
            let result = self.fields(block.stream, block.ends, block.depends_on_itself, &block.bytes, out);
            block.bytes.clear();
            block.bytes.shrink_to(PAYLOAD_BYTES_MAX);
            block.stream = 0;
            self.block = block;
            return result;
        }
        if header.stream == 0 || header.stream.is_multiple_of(2) {
            return Err(Code::PROTOCOL_ERROR.into());
        }
        let mut fragment = unpad(header, payload).ok_or(Fault::Connection(Code::PROTOCOL_ERROR))?;
        let mut depends_on_itself = false;
        if header.has(flag::PRIORITY) {
            let (priority, rest) = fragment.split_at_checked(5).ok_or(Fault::Connection(Code::FRAME_SIZE_ERROR))?;
            depends_on_itself = is_own_dependency(header.stream, priority);
            fragment = rest;
        }
        let ends = header.has(flag::END_STREAM);
        if header.has(flag::END_HEADERS) {
            self.in_head_since_ms = None;
            return self.fields(header.stream, ends, depends_on_itself, fragment, out);
        }
        self.in_head_since_ms.get_or_insert(now_ms);
        self.block.stream = header.stream;
        self.block.ends = ends;
        self.block.depends_on_itself = depends_on_itself;
        self.block.bytes.extend_from_slice(fragment);
        Ok(())
    }

    /// A whole field block: a request, its trailers, a response, or what only keeps the table in step.
    fn fields(
        &mut self,
        id: u32,
        ends: bool,
        depends_on_itself: bool,
        block: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let live = self.streams.find(id);
        if self.role != Role::Server {
            return match live {
                Some(key) if !depends_on_itself => self.response(key, ends, block, out),
                _ => {
                    self.response.begin_nothing();
                    self.decode(block)?;
                    live.map_or_else(|| self.is_late(id), |_| Err(Fault::Stream(id, Code::PROTOCOL_ERROR)))
                }
            };
        }
        if let Some(key) = live {
            return self.trailers(key, ends, block, out);
        }
        let is_new = id > self.last_stream;
        let is_late = matches!(self.goodbye, Goodbye::Said { .. });
        let is_crowded = self.streams.live() >= self.own.streams_max as usize;
        if !is_new || is_late || is_crowded {
            self.request.begin_nothing();
            self.decode(block)?;
            return match is_new {
                // An id is never smaller than one before (section 5.1.1); one that was used is closed.
                false if self.closed.cause(id).is_none() => Err(Code::PROTOCOL_ERROR.into()),
                false => self.is_late(id),
                true => {
                    self.last_stream = id;
                    if !is_late {
                        frame::reset(out, id, Code::REFUSED_STREAM);
                        self.meter.own_reset();
                    }
                    self.closed.push(id, Cause::ResetByUs);
                    Ok(())
                }
            };
        }
        self.last_stream = id;
        self.request.begin_head();
        let is_whole = self.decode(block)?;
        let written = self.request.finish();
        let malformed = Fault::Stream(id, Code::PROTOCOL_ERROR);
        let (content_length, problem) = match (is_whole, written) {
            (false, _) => (None, Some(Reason::LimitHeadBytes)),
            (true, Ok(written)) => (written.content_length, written.problem),
            (true, Err(_)) => return Err(malformed),
        };
        if depends_on_itself || ends && content_length.is_some_and(|length| length > 0) {
            return Err(malformed);
        }
        let send_window = i64::from(self.peer.window_bytes);
        let stream_window_bytes = self.own.stream_window_bytes;
        let began_ms = self.meter.opened();
        let key = self.streams.insert(id);
        if let Some(stream) = self.streams.get_mut(key) {
            std::mem::swap(&mut stream.head, &mut self.request.text);
            stream.problem = problem;
            stream.began_ms = began_ms;
            stream.announced = content_length;
            stream.receive_window = stream_window_bytes;
            stream.send_window = send_window;
            stream.receiving = if ends { Receiving::Ended } else { Receiving::Open };
        }
        self.opened.push_back(key);
        Ok(())
    }

    fn trailers(&mut self, key: Key, ends: bool, block: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        self.request.begin_trailers();
        let is_whole = self.decode(block)?;
        let written = self.request.finish();
        let Some(stream) = self.streams.get_mut(key) else { return Ok(()) };
        if stream.receiving == Receiving::Ended {
            return Err(Fault::Stream(key.id, Code::STREAM_CLOSED));
        }
        // A second head that does not end the stream is malformed (section 8.1).
        if !is_whole || written.is_err() || !ends {
            return Err(Fault::Stream(key.id, Code::PROTOCOL_ERROR));
        }
        std::mem::swap(&mut stream.trailers, &mut self.request.text);
        self.end_receiving(key, out)
    }

    /// Decodes into the text; `false` where the list is too long.
    pub(crate) fn decode(&mut self, block: &[u8]) -> Result<bool, Fault> {
        let (request, response, list_bytes_max) = (&mut self.request, &mut self.response, self.own.head_bytes_max);
        let decoded = match self.role {
            Role::Server => {
                self.decoder.decode(block, list_bytes_max, &mut |name, value, _| request.field(name, value))
            }
            Role::Client { .. } => {
                self.decoder.decode(block, list_bytes_max, &mut |name, value, _| response.field(name, value))
            }
        };
        match decoded {
            Ok(()) => Ok(true),
            Err(DecodeError::ListTooLong) => Ok(false),
            Err(_) => Err(Code::COMPRESSION_ERROR.into()),
        }
    }

    /// Priorities have no effect (section 5.3); their form is still checked.
    fn priority(&mut self, header: Header, payload: &[u8]) -> Result<(), Fault> {
        let code = match payload.len() {
            _ if header.stream == 0 => return Err(Code::PROTOCOL_ERROR.into()),
            5 if is_own_dependency(header.stream, payload) => Code::PROTOCOL_ERROR,
            5 => return Ok(()),
            _ => Code::FRAME_SIZE_ERROR,
        };
        // No frame may be sent for a stream that is idle.
        let is_live = self.streams.find(header.stream).is_some();
        Err(if is_live { Fault::Stream(header.stream, code) } else { code.into() })
    }

    fn reset_by_peer(&mut self, header: Header, payload: &[u8]) -> Result<(), Fault> {
        if payload.len() != 4 {
            return Err(Code::FRAME_SIZE_ERROR.into());
        }
        let Some(key) = self.streams.find(header.stream) else {
            self.is_idle(header.stream)?;
            return self.meter.reset(None).map_err(Fault::Connection);
        };
        let stream = self.streams.get(key);
        let is_unseen = stream.is_some_and(|stream| stream.handle == Handle::Queued);
        let owed = stream.filter(|stream| stream.sending != Sending::Ended);
        let began_ms = owed.map(|stream| stream.began_ms);
        self.end_stream(key, Cause::ResetByPeer(Code(number(payload).unwrap_or_default())));
        // A server can't reset more streams of ours than we open.
        if self.role == Role::Server {
            self.meter.reset(began_ms)?;
        }
        if is_unseen { self.meter.unseen_reset().map_err(Fault::Connection) } else { Ok(()) }
    }

    /// Frames for a stream that was never opened are no late ones.
    fn is_idle(&self, id: u32) -> Result<(), Fault> {
        if id == 0 || id.is_multiple_of(2) || id > self.last_stream { Err(Code::PROTOCOL_ERROR.into()) } else { Ok(()) }
    }

    fn settings(&mut self, header: Header, payload: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        if header.stream != 0 {
            return Err(Code::PROTOCOL_ERROR.into());
        }
        if header.has(flag::ACK) {
            return if payload.is_empty() { Ok(()) } else { Err(Code::FRAME_SIZE_ERROR.into()) };
        }
        let before = i64::from(self.peer.window_bytes);
        self.peer.apply(self.role, payload)?;
        table_sizes(payload).for_each(|bytes| self.encoder.set_table_bytes_max(bytes));
        self.arriving = Arriving::Frames;
        frame::put(out, kind::SETTINGS, flag::ACK, 0, &[]);
        let change = i64::from(self.peer.window_bytes) - before;
        if change != 0 {
            for (_, stream) in self.streams.each_live() {
                stream.send_window += change;
                if stream.send_window > i64::from(WINDOW_BYTES_MAX) {
                    return Err(Code::FLOW_CONTROL_ERROR.into());
                }
            }
            self.line_up_all();
            self.pump(out);
            if self.role != Role::Server && change > 0 {
                self.streams.keys().into_iter().for_each(|key| self.tell(key));
            }
        }
        Ok(())
    }

    fn ping(&mut self, header: Header, payload: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        match payload.len() {
            _ if header.stream != 0 => return Err(Code::PROTOCOL_ERROR.into()),
            8 if header.has(flag::ACK) => {
                self.answered(payload);
                self.farewell(payload, out);
            }
            8 => frame::put(out, kind::PING, flag::ACK, 0, payload),
            _ => return Err(Code::FRAME_SIZE_ERROR.into()),
        }
        Ok(())
    }

    fn window_update(&mut self, header: Header, payload: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        let increment = match number(payload).filter(|_| payload.len() == 4) {
            Some(number) => i64::from(number & WINDOW_BYTES_MAX),
            None => return Err(Code::FRAME_SIZE_ERROR.into()),
        };
        let max = i64::from(WINDOW_BYTES_MAX);
        if header.stream == 0 {
            self.send_window += increment;
            match increment {
                0 => return Err(Code::PROTOCOL_ERROR.into()),
                _ if self.send_window > max => return Err(Code::FLOW_CONTROL_ERROR.into()),
                _ => self.pump(out),
            }
            return Ok(());
        }
        let Some(key) = self.streams.find(header.stream) else {
            return self.is_idle(header.stream);
        };
        let Some(stream) = self.streams.get_mut(key) else { return Ok(()) };
        stream.send_window += increment;
        match increment {
            0 => return Err(Fault::Stream(key.id, Code::PROTOCOL_ERROR)),
            _ if stream.send_window > max => return Err(Fault::Stream(key.id, Code::FLOW_CONTROL_ERROR)),
            _ => self.line_up(key),
        }
        self.pump(out);
        // A client waits for room in the window itself; see [`Connection::room`].
        if self.role != Role::Server {
            self.tell(key);
        }
        Ok(())
    }
}

/// Whether the first bytes of a priority name their own stream.
fn is_own_dependency(id: u32, priority: &[u8]) -> bool {
    number(priority).is_some_and(|dependency| dependency & 0x7fff_ffff == id)
}
