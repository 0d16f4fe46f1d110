use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use crate::DEADLINE;

const READ_BYTES: usize = 64 * 1024;

/// A TCP connection on which every wait has a deadline, and every failure is a sentence.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
    taken: usize,
    ended: bool,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> Self {
        // Each write is to leave as its own segment.
        stream.set_nodelay(true).expect("TCP_NODELAY can be set");
        stream.set_read_timeout(Some(DEADLINE)).expect("a read timeout can be set");
        stream.set_write_timeout(Some(DEADLINE)).expect("a write timeout can be set");
        Self { stream, received: Vec::new(), taken: 0, ended: false }
    }

    /// Closes the connection. Everything that has arrived since the start, without what was discarded.
    pub(crate) fn into_received(self) -> Vec<u8> {
        self.received
    }

    /// What has arrived and was not taken yet.
    pub(crate) fn waiting(&self) -> &[u8] {
        self.received.get(self.taken..).unwrap_or_default()
    }

    pub(crate) fn take(&mut self, count: usize) -> Vec<u8> {
        let bytes = self.waiting()[..count].to_vec();
        self.taken += count;
        bytes
    }

    /// Reads once. Whether the other end is still sending.
    pub(crate) fn fill(&mut self) -> Result<bool, String> {
        if self.ended {
            return Ok(false);
        }
        let start = self.received.len();
        self.received.resize(start + READ_BYTES, 0);
        let result = loop {
            match self.stream.read(&mut self.received[start..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => break result,
            }
        };
        self.received.truncate(start + *result.as_ref().unwrap_or(&0));
        match result {
            Ok(0) => {
                self.ended = true;
                Ok(false)
            }
            Ok(_) => Ok(true),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                Err(format!("nothing arrived within {DEADLINE:?}"))
            }
            Err(error) => Err(format!("reading failed: {error}")),
        }
    }

    pub(crate) fn expect(&mut self, bytes: &[u8]) -> Result<(), String> {
        while self.waiting().len() < bytes.len() {
            if !self.fill()? {
                return Err(format!("expected {}, then the end came after {}", shown(bytes), shown(self.waiting())));
            }
        }
        let got = self.take(bytes.len());
        if got == bytes { Ok(()) } else { Err(format!("expected {}, got {}", shown(bytes), shown(&got))) }
    }

    /// Takes everything up to and including `bytes`.
    pub(crate) fn until(&mut self, bytes: &[u8]) -> Result<Vec<u8>, String> {
        let mut looked = 0_usize;
        loop {
            // Only what is new, and what could be the start of a match before it.
            let from = looked.saturating_sub(bytes.len());
            let found = self.waiting()[from..].windows(bytes.len()).position(|window| window == bytes);
            if let Some(at) = found {
                return Ok(self.take(from + at + bytes.len()));
            }
            looked = self.waiting().len();
            let more = self.fill().map_err(|error| format!("{error}; waiting for {}", shown(bytes)))?;
            if !more {
                return Err(format!("expected {}, but the end came after {}", shown(bytes), shown(self.waiting())));
            }
        }
    }

    /// Takes `count` bytes without keeping them.
    pub(crate) fn discard(&mut self, count: u64) -> Result<(), String> {
        let mut left = count;
        loop {
            let here = usize::try_from(left).unwrap_or(usize::MAX).min(self.waiting().len());
            self.received.drain(self.taken..self.taken + here);
            left -= here as u64;
            if left == 0 {
                return Ok(());
            }
            if !self.fill()? {
                return Err(format!("expected {count} bytes, but the end came after {}", count - left));
            }
        }
    }

    pub(crate) fn expect_end(&mut self) -> Result<(), String> {
        while self.waiting().is_empty() && self.fill()? {}
        if self.waiting().is_empty() { Ok(()) } else { Err(format!("expected the end, got {}", shown(self.waiting()))) }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.stream.write_all(bytes).map_err(|error| format!("sending {} failed: {error}", shown(bytes)))
    }

    pub(crate) fn send_bytes(&mut self, count: u64) -> Result<(), String> {
        let block = [b'x'; 16 * 1024];
        let mut left = count;
        while left > 0 {
            let size = usize::try_from(left).unwrap_or(block.len()).min(block.len());
            self.stream
                .write_all(&block[..size])
                .map_err(|error| format!("sending failed after {} of {count} bytes: {error}", count - left))?;
            left -= size as u64;
        }
        Ok(())
    }

    pub(crate) fn close_write(&mut self) -> Result<(), String> {
        self.stream.shutdown(Shutdown::Write).map_err(|error| format!("closing the sending side failed: {error}"))
    }

    /// Makes the close that follows a reset.
    pub(crate) fn reset(&mut self) -> Result<(), String> {
        socket2::SockRef::from(&self.stream)
            .set_linger(Some(Duration::ZERO))
            .map_err(|error| format!("SO_LINGER cannot be set: {error}"))
    }

    /// Reads and keeps whatever comes until the other end closes; an error is an end too.
    pub(crate) fn hold(&mut self) {
        while let Ok(true) = self.fill() {}
    }
}

/// Bytes for a message: escaped, and cut if they are many.
pub(crate) fn shown(bytes: &[u8]) -> String {
    const BYTES_MAX: usize = 200;
    let start = &bytes[..bytes.len().min(BYTES_MAX)];
    let more =
        if bytes.len() > BYTES_MAX { format!(" and {} bytes more", bytes.len() - BYTES_MAX) } else { String::new() };
    format!("\"{}\"{more}", start.escape_ascii())
}
