use std::io::{self, Read, Write};
use std::net::TcpStream;

/// Largest reply that is read, head and body.
const REPLY_BYTES_MAX: usize = 1 << 20;

/// The bytes of a keep-alive GET.
pub(crate) fn request(authority: &str, path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: {authority}\r\nuser-agent: bench-load\r\naccept: */*\r\n\r\n").into_bytes()
}

/// Sends one request on a blocking socket and reads the whole reply; says whether it was a 200.
pub(crate) fn ask(socket: &mut TcpStream, request: &[u8], buffer: &mut Vec<u8>) -> io::Result<bool> {
    socket.write_all(request)?;
    buffer.clear();
    let mut piece = [0; 4096];
    loop {
        let count = socket.read(&mut piece)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        buffer.extend_from_slice(piece.get(..count).unwrap_or_default());
        match Progress::of(buffer) {
            Progress::More => {}
            Progress::Whole { ok } => return Ok(ok),
            Progress::Wrong => {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "a reply without content-length"));
            }
        }
    }
}

/// How much of a reply is there. Only replies with a content length are understood: every subject sends them so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Read on.
    More,
    /// All of it; `ok` for status 200.
    Whole { ok: bool },
    /// Not a reply that this generator understands, or a larger one than it reads.
    Wrong,
}

impl Progress {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        if bytes.len() > REPLY_BYTES_MAX {
            return Self::Wrong;
        }
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { return Self::More };
        let head = bytes.get(..end).unwrap_or_default();
        let Some(length) = content_length(head) else { return Self::Wrong };
        if bytes.len() < end + 4 + length {
            return Self::More;
        }
        Self::Whole { ok: head.starts_with(b"HTTP/1.1 200") }
    }
}

fn content_length(head: &[u8]) -> Option<usize> {
    head.split(|&b| b == b'\n').find_map(|line| {
        let (name, value) = line.split_at_checked(15)?;
        if !name.eq_ignore_ascii_case(b"content-length:") {
            return None;
        }
        std::str::from_utf8(value).ok()?.trim().parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::Progress;

    #[test]
    fn a_reply_is_whole_when_head_and_body_are_there() {
        let cases: [(&[u8], Progress); 6] = [
            (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", Progress::Whole { ok: true }),
            (b"HTTP/1.1 200 OK\r\ncontent-length:0\r\n\r\n", Progress::Whole { ok: true }),
            (b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n", Progress::Whole { ok: false }),
            (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nh", Progress::More),
            (b"HTTP/1.1 200 OK\r\ncontent-le", Progress::More),
            (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", Progress::Wrong),
        ];
        for (bytes, expected) in cases {
            assert_eq!(Progress::of(bytes), expected, "{}", String::from_utf8_lossy(bytes));
        }
    }
}
