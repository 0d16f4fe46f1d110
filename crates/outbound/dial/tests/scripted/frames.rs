//! HTTP/2 peers that send frames by hand.

use std::future::Future;
use std::net::SocketAddr;

use leat_dial::Call;
use leat_message::Piece;
use tokio::io::AsyncReadExt;

use super::{Conn, peer};

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PUSH_PROMISE: u8 = 5;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;

pub const END_STREAM: u8 = 1;
pub const END_HEADERS: u8 = 4;

pub const NO_ERROR: u32 = 0;
pub const PROTOCOL_ERROR: u32 = 1;
pub const FLOW_CONTROL_ERROR: u32 = 3;
pub const FRAME_SIZE_ERROR: u32 = 6;
pub const REFUSED_STREAM: u32 = 7;
pub const CANCEL: u32 = 8;
pub const COMPRESSION_ERROR: u32 = 9;
pub const ENHANCE_YOUR_CALM: u32 = 11;

const PREFACE_BYTES: usize = 24;

pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    frame.extend_from_slice(&[kind, flags]);
    frame.extend_from_slice(&stream.to_be_bytes());
    frame.extend_from_slice(payload);
    frame
}

pub fn setting(id: u16, value: u32) -> Vec<u8> {
    frame(SETTINGS, 0, 0, &[&id.to_be_bytes()[..], &value.to_be_bytes()].concat())
}

pub fn data(stream: u32, bytes: &[u8], ends: bool) -> Vec<u8> {
    frame(DATA, u8::from(ends), stream, bytes)
}

pub fn reset(stream: u32, code: u32) -> Vec<u8> {
    frame(RST_STREAM, 0, stream, &code.to_be_bytes())
}

pub fn go_away(last_stream: u32, code: u32) -> Vec<u8> {
    frame(GOAWAY, 0, 0, &[last_stream.to_be_bytes(), code.to_be_bytes()].concat())
}

pub fn window_update(stream: u32, bytes: u32) -> Vec<u8> {
    frame(WINDOW_UPDATE, 0, stream, &bytes.to_be_bytes())
}

/// A block without use of a table.
pub fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        for text in [name, value] {
            if text == name {
                block.push(0x10);
            }
            match text.len() {
                len @ 0..127 => block.push(len as u8),
                len => block.extend_from_slice(&[127, (len - 127) as u8 & 127 | 128, ((len - 127) >> 7) as u8]),
            }
            block.extend_from_slice(text.as_bytes());
        }
    }
    block
}

/// A response's head.
pub fn answer(stream: u32, status: &str, fields: &[(&str, &str)], ends: bool) -> Vec<u8> {
    let fields = [&[(":status", status)], fields].concat();
    frame(HEADERS, END_HEADERS | u8::from(ends), stream, &block(&fields))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

impl Frame {
    pub fn number(&self, at: usize) -> u32 {
        u32::from_be_bytes(self.payload[at..at + 4].try_into().unwrap())
    }
}

/// The frames at the front of `bytes`.
pub fn frames(bytes: &[u8]) -> Vec<Frame> {
    let (mut frames, mut rest) = (Vec::new(), bytes);
    while let Some((&[l0, l1, l2, kind, flags, s0, s1, s2, s3], after)) = rest.split_first_chunk() {
        let Some((payload, after)) = after.split_at_checked(u32::from_be_bytes([0, l0, l1, l2]) as usize) else {
            break;
        };
        frames.push(Frame { kind, flags, stream: u32::from_be_bytes([s0, s1, s2, s3]), payload: payload.to_vec() });
        rest = after;
    }
    frames
}

/// A peer of HTTP/2: `script` is called for each connection with its number, behind the preface, with `settings` sent.
pub async fn framed<F, Fut>(settings: Vec<u8>, script: F) -> SocketAddr
where
    F: Fn(usize, Conn) -> Fut + Clone + 'static,
    Fut: Future<Output = ()> + 'static,
{
    peer(move |number, mut conn| {
        let (settings, script) = (settings.clone(), script.clone());
        async move {
            conn.bytes(PREFACE_BYTES).await;
            conn.send(settings).await;
            script(number, conn).await;
        }
    })
    .await
}

impl Conn {
    /// The next frame; `None` at the end of the connection.
    pub async fn frame(&mut self) -> Option<Frame> {
        let mut header = [0; 9];
        self.0.read_exact(&mut header).await.ok()?;
        let [l0, l1, l2, kind, flags, s0, s1, s2, s3] = header;
        let mut payload = vec![0; u32::from_be_bytes([0, l0, l1, l2]) as usize];
        self.0.read_exact(&mut payload).await.ok()?;
        Some(Frame { kind, flags, stream: u32::from_be_bytes([s0, s1, s2, s3]), payload })
    }

    /// The next frame of a kind; others before it are left out. `None` at the end of the connection.
    pub async fn next(&mut self, kind: u8) -> Option<Frame> {
        loop {
            let frame = self.frame().await?;
            if frame.kind == kind {
                return Some(frame);
            }
        }
    }
}

pub fn ok(stream: u32) -> Vec<u8> {
    [answer(stream, "200", &[], false), data(stream, b"ok", true)].concat()
}

/// How many bytes of the body are lent; 0 at its end.
pub async fn lent(call: &mut Call) -> usize {
    std::future::poll_fn(|cx| {
        call.poll_body(cx).map(|piece| match piece.unwrap() {
            Piece::Data(bytes) => bytes.len(),
            Piece::End => 0,
        })
    })
    .await
}

/// Answers each request with `ok`.
pub async fn serve(mut conn: Conn) {
    while let Some(frame) = conn.next(HEADERS).await {
        conn.send(ok(frame.stream)).await;
    }
}

/// A peer that answers each request with the same frames, made for its stream, and keeps the connection.
pub async fn answering(frames: impl Fn(u32) -> Vec<u8> + Clone + 'static) -> std::net::SocketAddr {
    framed(frame(SETTINGS, 0, 0, &[]), move |_, mut conn| {
        let frames = frames.clone();
        async move {
            while let Some(request) = conn.next(HEADERS).await {
                conn.send(frames(request.stream)).await;
            }
        }
    })
    .await
}

pub fn frame_of_trailers(stream: u32) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | END_STREAM, stream, &block(&[("x", "y")]))
}
