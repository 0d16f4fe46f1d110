//! Bodies in both directions at once, in pieces and with pauses as chance wills: every byte arrives, and nothing hangs.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use leat_testkit::Leat;

use crate::support::{BARE, config};

const CLIENTS: u64 = 4;
const EXCHANGES: u64 = 20;

/// Numbers that only look random: the same in every run (xorshift64).
struct Chance(u64);

impl Chance {
    fn below(&mut self, max: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % max as u64) as usize
    }

    /// A size of any magnitude up to 2^20.
    fn size(&mut self) -> usize {
        let magnitude = self.below(21);
        1 + self.below(1 << magnitude)
    }

    fn pause(&mut self) {
        if self.below(16) == 0 {
            std::thread::sleep(Duration::from_micros(self.below(2_000) as u64));
        }
    }
}

/// Reads a head and the pieces of the body behind it.
struct Message {
    reader: BufReader<TcpStream>,
    start: String,
    chunked: bool,
    left: usize,
    /// The connection ends with this message.
    last: bool,
}

impl Message {
    fn new(stream: TcpStream) -> Self {
        Self { reader: BufReader::new(stream), start: String::new(), chunked: false, left: 0, last: false }
    }

    /// The first line of the next head; `None` at the end of the connection.
    fn head(&mut self) -> Option<String> {
        (self.start, self.chunked, self.left) = (String::new(), false, 0);
        self.reader.read_line(&mut self.start).unwrap();
        loop {
            let mut line = String::new();
            self.reader.read_line(&mut line).unwrap();
            let line = line.trim_end().to_ascii_lowercase();
            if let Some(length) = line.strip_prefix("content-length: ") {
                self.left = length.parse().unwrap();
            }
            self.last |= line == "connection: close";
            self.chunked |= line == "transfer-encoding: chunked";
            if line.is_empty() {
                return (!self.start.is_empty()).then(|| self.start.trim_end().to_owned());
            }
        }
    }

    fn piece(&mut self) -> Option<Vec<u8>> {
        if self.chunked {
            let mut line = String::new();
            self.reader.read_line(&mut line).unwrap();
            let size = usize::from_str_radix(line.trim_end(), 16).unwrap();
            let mut chunk = vec![0; size + 2];
            self.reader.read_exact(&mut chunk).unwrap();
            chunk.truncate(size);
            return (size > 0).then_some(chunk);
        }
        if self.left == 0 {
            return None;
        }
        let here = self.reader.fill_buf().unwrap();
        assert!(!here.is_empty(), "the body is cut off, {} bytes are missing", self.left);
        let piece = here[..here.len().min(self.left)].to_vec();
        self.reader.consume(piece.len());
        self.left -= piece.len();
        Some(piece)
    }
}

fn send(stream: &mut TcpStream, chunked: bool, bytes: &[u8]) {
    if chunked {
        write!(stream, "{:x}\r\n", bytes.len()).unwrap();
    }
    stream.write_all(bytes).unwrap();
    if chunked {
        stream.write_all(b"\r\n").unwrap();
    }
}

/// Sends every body back, while it comes or once it is there.
fn echo(stream: TcpStream, mut chance: Chance) {
    let mut out = stream.try_clone().unwrap();
    let mut request = Message::new(stream);
    while let Some(line) = request.head() {
        let early = line.contains("/early");
        let mut whole = Vec::new();
        if early {
            out.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").unwrap();
        }
        while let Some(piece) = request.piece() {
            chance.pause();
            match early {
                true => send(&mut out, true, &piece),
                false => whole.extend_from_slice(&piece),
            }
        }
        if early {
            out.write_all(b"0\r\n\r\n").unwrap();
        } else {
            write!(out, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", whole.len()).unwrap();
            let mut left = &whole[..];
            while !left.is_empty() {
                let (piece, rest) = left.split_at(chance.size().min(left.len()));
                out.write_all(piece).unwrap();
                chance.pause();
                left = rest;
            }
        }
    }
}

fn client(address: SocketAddr, mut chance: Chance) {
    let connect = || {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(leat_testkit::DEADLINE)).unwrap();
        stream
    };
    let mut stream = connect();
    let mut response = Message::new(stream.try_clone().unwrap());
    for number in 0..EXCHANGES {
        let body: Vec<u8> = (0..chance.size()).map(|at| (at as u64 * 31 + number) as u8).collect();
        let chunked = chance.below(2) == 0;
        let path = if chance.below(2) == 0 { "early" } else { "late" };
        let framing =
            if chunked { "transfer-encoding: chunked".to_owned() } else { format!("content-length: {}", body.len()) };
        let mut pieces = Chance(chance.0);
        let (mut out, sent) = (stream.try_clone().unwrap(), body.clone());
        let sending = std::thread::spawn(move || {
            write!(out, "POST /{path} HTTP/1.1\r\nhost: h\r\n{framing}\r\n\r\n").unwrap();
            let mut left = &sent[..];
            while !left.is_empty() {
                let (piece, rest) = left.split_at(pieces.size().min(left.len()));
                send(&mut out, chunked, piece);
                pieces.pause();
                left = rest;
            }
            if chunked {
                out.write_all(b"0\r\n\r\n").unwrap();
            }
        });
        assert_eq!(response.head().as_deref(), Some("HTTP/1.1 200 OK"), "exchange {number}, {path}");
        let mut got = Vec::new();
        while let Some(piece) = response.piece() {
            chance.pause();
            got.extend_from_slice(&piece);
        }
        sending.join().unwrap();
        assert!(got == body, "exchange {number}, {path}: {} of {} bytes are not the same", got.len(), body.len());
        // An answer that begins before the end of a long body does not promise to keep the connection.
        if response.last {
            stream = connect();
            response = Message::new(stream.try_clone().unwrap());
        }
    }
}

fn upstream() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for (number, stream) in (1..).zip(listener.incoming()) {
            std::thread::spawn(move || echo(stream.unwrap(), Chance(number * 0x9e37_79b9)));
        }
    });
    address
}

fn clients(address: SocketAddr) {
    let clients: Vec<_> =
        (1..=CLIENTS).map(|seed| std::thread::spawn(move || client(address, Chance(seed * 0x2545_f491)))).collect();
    clients.into_iter().for_each(|client| client.join().unwrap());
}

#[test]
fn bodies_pass_whole_however_they_are_cut_and_delayed() {
    let leat = Leat::gateway(&config(format!("http://{}", upstream()), BARE, "", "", ""), 1);
    clients(leat.address(0));
}

#[test]
fn bodies_pass_whole_over_http2_between_two_gateways() {
    let back = Leat::gateway(&config(format!("http://{}", upstream()), BARE, "", "", ""), 1);
    let front = Leat::gateway(&config(format!("h2c://{}", back.address(0)), BARE, "", "", ""), 1);
    clients(front.address(0));
}
